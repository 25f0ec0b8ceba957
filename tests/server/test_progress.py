"""What a caller hears of a running call: in order, and no more than can be read."""

from __future__ import annotations

import anyio
import pytest

from marchwarden.server.capabilities.progress import News

pytestmark = pytest.mark.anyio


async def heard(*messages: str, kept: str = "") -> list[tuple[int, str]]:
    """Return what is sent of messages that are told at once, after a first one."""
    sent: list[tuple[int, str]] = []

    async def send(number: int, message: str) -> None:
        sent.append((number, message))

    news = News(send, every_s=3600)
    async with anyio.create_task_group() as group:
        group.start_soon(news.relay)
        news.tell("waiting")
        await anyio.wait_all_tasks_blocked()
        assert sent == [(1, "waiting")], "the first one is told at once"
        if kept:
            news.tell("overtaken")
            news.tell(kept, keep=True)
        for message in messages:
            news.tell(message)
        news.end()
    return sent[1:]


async def test_of_news_that_comes_at_once_the_last_is_told_and_the_end_waits_for_nothing() -> None:
    with anyio.fail_after(60):
        assert await heard("planning", "searching", "reading") == [(2, "reading")]


async def test_news_that_must_be_told_is_never_overtaken() -> None:
    told = await heard("planning", "reading", kept="the trace is trace://1")
    assert told == [(2, "the trace is trace://1"), (3, "reading")]


async def test_a_message_that_comes_late_waits_for_nothing_and_none_follows_another_at_once() -> None:
    sent: list[tuple[float, str]] = []

    async def send(number: int, message: str) -> None:
        sent.append((anyio.current_time(), message))

    news = News(send, every_s=0.3)
    async with anyio.create_task_group() as group:
        group.start_soon(news.relay)
        news.tell("planning")
        await anyio.sleep(0.4)
        told_at = anyio.current_time()
        news.tell("searching")
        await anyio.wait_all_tasks_blocked()
        assert [message for _, message in sent] == ["planning", "searching"]
        news.tell("reading")
        await anyio.sleep(0.6)
        assert [message for _, message in sent] == ["planning", "searching", "reading"]
        assert sent[2][0] - told_at >= 0.25
        news.end()
