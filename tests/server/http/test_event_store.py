"""Events that are kept for clients that were cut off: within a bound, and no longer than their session."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCResponse

from marchwarden.server.http.event_store import SessionEvents, session
from marchwarden.settings import Settings
from tests.server.http.serving import URL, a_client, an_app, call, initialize

pytestmark = pytest.mark.anyio


async def replayed(events: SessionEvents, last: str) -> list[JSONRPCMessage]:
    sent: list[JSONRPCMessage] = []

    async def send(message: object) -> None:
        sent.append(message.message)  # type: ignore[attr-defined]

    await events.replay_events_after(last, send)
    return sent


async def test_what_came_after_the_last_event_is_sent_again_as_it_was() -> None:
    events, answer = SessionEvents(), JSONRPCResponse(jsonrpc="2.0", id=1, result={"text": "July ⟨1⟩"})
    session.set("mine")
    first = await events.store_event("1", None)
    told = JSONRPCNotification(jsonrpc="2.0", method="notifications/progress", params={"progress": 1})
    await events.store_event("1", told)
    await events.store_event("1", answer)
    assert await replayed(events, first) == [told, answer]


async def test_many_short_streams_are_bounded_by_what_they_take() -> None:
    events = SessionEvents(max_bytes=100_000)
    session.set("mine")
    names = [await events.store_event(str(number), None) for number in range(1_000)]
    assert events.size <= 100_000
    assert sum(name.partition("-")[0] in events.streams for name in names) < 200


async def test_a_session_that_its_client_ends_leaves_no_event(tmp_path: Path) -> None:
    async with an_app(Settings(trace_dir=tmp_path)) as app, a_client(app) as client:
        kept = app.state.events
        for _ in range(3):
            mine = await initialize(client)
            await client.post(URL, json=call("What grows?", 7), headers=mine)
            assert kept.size > 0
            assert (await client.delete(URL, headers=mine)).status_code == 200
        assert (kept.size, len(kept.streams)) == (0, 0)
