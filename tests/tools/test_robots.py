"""robots.txt, as RFC 9309 has it."""

from __future__ import annotations

import asyncio
import json

import pytest
from protego import Protego

from marchwarden.observations import Failure, FailureKind
from marchwarden.tools.robots import Robots, RobotsFile
from tests.shared_data import SHARED_DATA

RULES = b"""
User-agent: *
Disallow: /private/
Disallow: /*.pdf$

User-agent: Marchwarden
User-agent: Other
Disallow: /drafts/
Allow: /drafts/public/
"""


class Origin:
    """Answers for robots.txt, and how often it was asked."""

    def __init__(self, *answers: RobotsFile | Failure) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, url: str) -> RobotsFile | Failure:
        self.asked.append(url)
        await asyncio.sleep(0)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/drafts/a", False),
        ("/drafts/public/a", True),
        ("/private/", True),  # its own group counts, not that for everyone
        ("/a.pdf", True),
    ],
)
async def test_the_group_of_our_name_counts_and_the_longest_rule_wins(path: str, allowed: bool) -> None:
    refusal = await Robots(Origin(RobotsFile(200, RULES))).refusal(f"https://example.org{path}")
    assert (refusal is None) is allowed
    if refusal is not None:
        assert refusal.kind is FailureKind.ROBOTS_DISALLOWED


@pytest.mark.anyio
async def test_without_a_group_of_our_own_the_one_for_everyone_counts() -> None:
    robots = Robots(Origin(RobotsFile(200, RULES.split(b"User-agent: Marchwarden")[0])))
    assert await robots.refusal("https://example.org/private/a") is not None
    assert await robots.refusal("https://example.org/a.pdf") is not None
    assert await robots.refusal("https://example.org/a.pdf?page=2") is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("answer", "allowed"),
    [
        (RobotsFile(404, b"User-agent: *\nDisallow: /"), True),
        (RobotsFile(403), True),
        (RobotsFile(500), False),
        (RobotsFile(503, b"User-agent: *\nAllow: /"), False),
        (RobotsFile(200, b""), True),
        (RobotsFile(200, b"<!doctype html><html><p>Welcome</html>"), True),
        (RobotsFile(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"), False),
        (RobotsFile(200, b"User-agent: *\nDisallow: /\n" + b"#" * 600_000), False),
        (RobotsFile(200, b"#" * 600_000 + b"\nUser-agent: *\nDisallow: /\n"), True),
        (RobotsFile(200, b"\xff\xfe\x00junk"), True),
    ],
)
async def test_a_missing_file_allows_all_and_a_failing_server_nothing(answer: RobotsFile, allowed: bool) -> None:
    assert (await Robots(Origin(answer)).refusal("https://example.org/a") is None) is allowed


@pytest.mark.anyio
async def test_an_origin_is_asked_once_even_by_many_at_a_time() -> None:
    origin = Origin(RobotsFile(200, RULES))
    robots = Robots(origin)
    await asyncio.gather(*(robots.refusal(f"https://example.org/{n}") for n in range(10)))
    await robots.refusal("http://example.org:8080/a")
    assert origin.asked == ["https://example.org/robots.txt", "http://example.org:8080/robots.txt"]


@pytest.mark.anyio
async def test_an_origin_that_did_not_answer_is_asked_again() -> None:
    broken = Failure(FailureKind.NETWORK, "the connection to example.org broke")
    robots = Robots(Origin(broken, RobotsFile(404)))
    assert await robots.refusal("https://example.org/a") == broken
    assert await robots.refusal("https://example.org/a") is None


@pytest.mark.anyio
async def test_who_waits_for_an_answer_gets_it_though_the_first_to_ask_is_cancelled() -> None:
    asked = asyncio.Event()

    async def slow(url: str) -> RobotsFile:
        asked.set()
        await asyncio.sleep(0.05)
        return RobotsFile(404)

    robots = Robots(slow)
    first = asyncio.create_task(robots.refusal("https://example.org/a"))
    await asked.wait()
    second = asyncio.create_task(robots.refusal("https://example.org/b"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is None
    with pytest.raises(asyncio.CancelledError):
        await first


CASES = SHARED_DATA / "robots-google/cases.json"


@pytest.mark.skipif(not CASES.is_file(), reason=f"the public set of robots.txt cases is not at {CASES}")
def test_the_parser_follows_the_standard_in_the_cases_of_a_public_set() -> None:
    """62 of the 72 cases that RFC 9309 settles, as measured with protego 0.7.0."""
    cases = [case for case in json.loads(CASES.read_text("utf-8")) if not case["google_specific"]]
    right = sum(Protego.parse(c["robots_txt"]).can_fetch(c["url"], c["user_agent"]) == c["allowed"] for c in cases)
    assert right >= 62
