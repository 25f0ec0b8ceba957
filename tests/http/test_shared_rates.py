"""A service is asked no more often than its rule says, by all processes that share the folder."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import anyio
import httpx
import pytest

from marchwarden.http.download import download
from marchwarden.http.rate_limits import NotInTime
from marchwarden.http.shared_rates import RATE_RULE, RateRule, SharedRateTransport

pytestmark = pytest.mark.anyio

EVERY_S = 0.05


class Service:
    """A service that notes when it is asked, and how many requests it has at once."""

    def __init__(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.times: list[float] = []
        self.now = self.most = 0
        self._answer = httpx.Response(status, headers=headers)

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        self.times.append(time.monotonic())
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.02)
        self.now -= 1
        return httpx.Response(self._answer.status_code, headers=self._answer.headers)


def transport(service: Service, folder: Path) -> SharedRateTransport:
    """One process's way to the service: each has an object of its own, and the folder is what they share."""
    return SharedRateTransport(httpx.MockTransport(service), folder)


def request(rule: RateRule) -> httpx.Request:
    return httpx.Request("GET", "https://api.example/", extensions={RATE_RULE: rule})


@pytest.mark.parametrize("one_at_a_time", [False, True])
async def test_processes_take_turns(tmp_path: Path, one_at_a_time: bool) -> None:
    service, rule = Service(), RateRule("example", EVERY_S, one_at_a_time=one_at_a_time)
    begun = time.monotonic()
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(download, transport(service, tmp_path), request(rule), 1000)
    assert len(service.times) == 4
    # A busy machine makes each later, and none earlier. The clock of the file and that of the test differ by less than
    # a hundredth of a second.
    assert all(time_ - begun > place * EVERY_S - 0.01 for place, time_ in enumerate(service.times))
    # On a busy machine an answer may still be on its way when the next one is asked for.
    assert service.most == 1 or not one_at_a_time
    if one_at_a_time:  # counted from each answer, so that a request which comes late pushes back the next
        assert all(later - earlier > EVERY_S - 0.01 for earlier, later in pairwise(service.times))


async def test_a_turn_past_the_deadline_is_refused_at_once(tmp_path: Path) -> None:
    service, rule = Service(), RateRule("example", 60.0)
    await download(transport(service, tmp_path), request(rule), 1000)
    with pytest.raises(NotInTime, match="example takes its next request in"), anyio.fail_after(5):
        await download(transport(service, tmp_path), request(rule), 1000)
    assert len(service.times) == 1


async def test_a_pause_that_the_service_asks_for_holds_for_the_others(tmp_path: Path) -> None:
    service, rule = Service(429, {"retry-after": "60"}), RateRule("example", 0.0)
    await download(transport(service, tmp_path), request(rule), 1000)
    with pytest.raises(NotInTime), anyio.fail_after(5):
        await download(transport(service, tmp_path), request(rule), 1000)


@pytest.mark.parametrize("written", ["", "{", '{"next": "soon"}', '{"next": 1e30}'])
async def test_a_damaged_file_or_a_clock_that_was_set_back_blocks_nobody(tmp_path: Path, written: str) -> None:
    (tmp_path / "example.json").write_text(written, encoding="utf-8")
    service = Service()
    with anyio.fail_after(5):
        await download(transport(service, tmp_path), request(RateRule("example", EVERY_S)), 1000)
    assert len(service.times) == 1


async def test_a_request_without_a_rule_does_not_wait(tmp_path: Path) -> None:
    service = Service()
    await download(transport(service, tmp_path), httpx.Request("GET", "https://api.example/"), 1000)
    assert len(service.times) == 1
