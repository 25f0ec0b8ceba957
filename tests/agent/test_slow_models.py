"""Models that take too long, over real HTTP: what runs out is theirs, and the call goes on without them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from marchwarden.settings import load_settings
from tests.runs import run
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio
BRIDGE = {"https://bridges.halden-county.gov/": article("Halden Bridge", "The Halden Bridge was built in 1931.")}


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return (
        b"data: " + json.dumps({"id": "1", "object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"
    )


class _Service:
    """Cuts its first answer off, and drips every later one without an end."""

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")
            )
            await reader.readexactly(length)
            self.asked += 1
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            writer.write(_event({"role": "assistant", "content": "{"}))
            if self.asked == 1:
                writer.write(_event({"content": '"thought": "'}, "length") + b"data: [DONE]\n\n")
            else:
                while True:
                    writer.write(_event({"content": " and"}))
                    await writer.drain()
                    await asyncio.sleep(0.05)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def test_a_second_attempt_that_takes_too_long_ends_as_a_first_one_does() -> None:
    service = _Service()
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = load_settings(
        model="openai/slow",
        api_base=f"http://127.0.0.1:{port}/v1",
        api_key="x",
        max_seconds=8,
        source="snapshot",
        web=make_web(Path.cwd() / "web", BRIDGE),
    )
    done = await run("When was the Halden Bridge built?", settings=settings)
    server.close()
    assert service.asked > 1
    assert "1931" in done.result.answer
    assert any("took longer than" in event.reason for event in done.events("fallback"))
    (told,) = [gap.detail for gap in done.result.gaps if gap.topic == "the model"]
    assert "no answer of the model c" in told
    assert done.result.worded_by == "program"


async def test_a_call_whose_every_model_call_failed_says_so_and_not_only_that_time_ran_out() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 503 Unavailable\r\nretry-after: 3\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    settings = load_settings(
        model="openai/down",
        api_base=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1",
        max_seconds=5,
        source="snapshot",
        web=make_web(Path.cwd() / "web", BRIDGE),
    )
    done = await run("When was the Halden Bridge built?", settings=settings)
    server.close()
    assert "1931" in done.result.answer
    (told,) = [gap.detail for gap in done.result.gaps if gap.topic == "the model"]
    assert "the model service failed" in told
