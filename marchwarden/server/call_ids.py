"""Calls under ids that their callers give: the same id again never runs, or pays for, the same research twice.

It waits for the call that is running, or gets what came of it out of its trace.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import anyio

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import InvalidRequest, TraceError
from marchwarden.trace.reader import read_trace

# Key in a call's `_meta`: a UUID, which becomes the id of the call's trace.
CALL_META = "io.marchwarden/call"
# Key in a call's `_meta`: the id of the trace that the call follows up. The contract has no such argument.
CONTINUES_META = "io.marchwarden/continues"
# Key in a call's `_meta`: the hashes of the teams whose investigations it comes from, the outermost first.
TEAMS_META = "io.marchwarden/teams"
# Key in the `_meta` of a result: true where the call had been run before.
REPEATED_META = "io.marchwarden/repeated"


def call_id_of(meta: Mapping[str, Any] | None, key: str = CALL_META) -> str | None:
    """Return the id that a caller gave; None where there is none. Raises InvalidRequest for one that is no UUID."""
    given = (meta or {}).get(key)
    if given is None:
        return None
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise InvalidRequest([(key, "must be a UUID")]) from None


def teams_of(meta: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return the hashes of the teams whose investigations a call comes from, the outermost first.

    Raises InvalidRequest for what is no list of texts.
    """
    given = (meta or {}).get(TEAMS_META, [])
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise InvalidRequest([(TEAMS_META, "must be a list of texts")])
    return tuple(given)


class Calls:
    """The calls that run in this server, by the ids that their callers gave."""

    def __init__(self, traces: Path) -> None:
        self._traces = traces
        self._running: dict[str, anyio.Event] = {}

    async def once(
        self, call_id: str, request: ResearchRequest, run: Callable[[], Awaitable[ResearchResult]]
    ) -> tuple[ResearchResult, bool]:
        """Return the result under an id, and whether it had been there before; `run` makes it where it was not.

        Raises InvalidRequest where another question was asked under the id.
        """
        while running := self._running.get(call_id):
            await running.wait()
        done = self._running[call_id] = anyio.Event()
        try:
            if (found := await anyio.to_thread.run_sync(self._finished, call_id, request)) is not None:
                return found, True
            return await run(), False
        finally:
            del self._running[call_id]
            done.set()

    def _finished(self, call_id: str, request: ResearchRequest) -> ResearchResult | None:
        """Return the result in a call's trace; None where there is none. A trace without one is put aside."""
        path = self._traces / f"{call_id}.jsonl"
        try:
            trace = read_trace(path)
        except TraceError:
            with suppress(OSError):
                path.unlink(missing_ok=True)  # it has no whole line
            return None
        if trace.raw[0].get("question", request.question) != request.question:
            raise InvalidRequest([(CALL_META, "another question was asked under this id")])
        if trace.result is None:
            number = sum(1 for _ in self._traces.glob(f"{call_id}.jsonl.*"))
            with suppress(OSError):
                path.replace(path.with_name(f"{path.name}.unfinished-{number + 1}"))
        return trace.result
