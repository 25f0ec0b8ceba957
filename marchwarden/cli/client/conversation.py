"""One research call, from the caller's side: progress, and Ctrl-C."""

from __future__ import annotations

import gc
import math
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from marchwarden.cli.client.server_connection import SILENCE_SECONDS, Connection, silent
from marchwarden.errors import MarchwardenError, leaves

if TYPE_CHECKING:
    import anyio

    from marchwarden.contract import ResearchRequest, ResearchResult

# Seconds that a cancelled call may take to write the end of its trace. A guess.
_TRACE_SECONDS = 2.0


class Interrupted(MarchwardenError):
    """The user pressed Ctrl-C; the message says where the trace is."""


class Conversation:
    """One call: `request` over a connection; `continues` is the id of the trace that it follows up."""

    def __init__(self, request: ResearchRequest, connection: Connection, *, continues: str | None = None) -> None:
        self._request = request
        self._connection = connection
        self._continues = continues
        self._began = time.time()
        self._interrupted = False
        self._scope: anyio.CancelScope | None = None

    def hold(self, tell: Callable[[str], None], *, silence: float = SILENCE_SECONDS) -> ResearchResult:
        """Ask, and wait for the answer; `tell` hears what is happening.

        Raises Interrupted, ConfigurationError, and MarchwardenError where the server fails or is not there.
        """
        address = self._connection.address
        tell(f"connecting to {address}" if address else "getting ready")
        self._connection.prepare()
        import anyio

        # One question leaves little to collect; looking for it while the SDK of a running server builds its types
        # costs 0.18 of 0.97 s: /usr/bin/time python -c "import gc; gc.disable(); import mcp".
        gc.disable()
        try:
            return anyio.run(self._interruptibly, tell, silence)
        except BaseException as error:
            if self._interrupted or any(isinstance(each, KeyboardInterrupt) for each in leaves(error)):
                raise self._interruption() from None
            if not isinstance(error, Exception):
                raise
            raise self._connection.explained(error) from error
        finally:
            gc.enable()

    async def _interruptibly(self, tell: Callable[[str], None], silence: float) -> ResearchResult:
        import anyio

        async with anyio.create_task_group() as group:
            group.start_soon(self._listen_for_interrupts, group.cancel_scope)
            try:
                return await self._call(tell, silence)
            finally:
                group.cancel_scope.cancel()
        raise Interrupted("Interrupted before the research began.")

    async def _listen_for_interrupts(self, everything: anyio.CancelScope) -> None:
        """The first Ctrl-C takes the call back, the second one leaves at once."""
        import anyio

        try:
            with anyio.open_signal_receiver(signal.SIGINT) as signals:
                async for _ in signals:
                    scope = everything if self._interrupted or self._scope is None else self._scope
                    self._interrupted = True
                    scope.cancel()
        except NotImplementedError:  # no such thing on Windows: there Ctrl-C arrives as KeyboardInterrupt
            return

    async def _call(self, tell: Callable[[str], None], silence: float) -> ResearchResult:
        import anyio

        with anyio.CancelScope(deadline=anyio.current_time() + silence) as connecting:
            async with self._connection.opened() as ask:
                connecting.deadline = math.inf
                with anyio.CancelScope() as self._scope:
                    return await ask(self._request, tell, continues=self._continues, silence=silence)
                tell("waiting for the trace to be complete")
                with anyio.move_on_after(_TRACE_SECONDS):
                    # The trace is a file: nothing tells of its end.
                    while (trace := self._own_trace()) is None or trace[1] == "unfinished":  # noqa: ASYNC110
                        await anyio.sleep(0.05)
                raise self._interruption()
        raise silent(silence)

    def _own_trace(self) -> tuple[str, str] | None:
        """(id, outcome) of the trace that this call is writing, where it can be seen from here."""
        from marchwarden.trace.reader import list_traces

        mine = (
            each
            for each in list_traces(self._connection.traces)
            if each.question == self._request.question and each.path.stat().st_mtime >= self._began
        )
        found = next(mine, None)
        return (found.trace_id, found.outcome) if found else None

    def _interruption(self) -> Interrupted:
        trace = self._own_trace() if self._connection.is_own else None
        if trace is None:
            where = None if self._connection.is_own else "The server keeps the call's trace."
            return Interrupted("Interrupted.", hint=where)
        path = self._connection.traces / f"{trace[0]}.jsonl"
        return Interrupted(
            f"Interrupted. The steps so far are in {path}", hint=f"To see them: marchwarden replay {trace[0][:8]}"
        )
