"""One research call over MCP, from the caller's side: progress, cancellation, and what can go wrong on the way."""

from __future__ import annotations

import gc
import logging
import math
import re
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marchwarden.cli.early import server_token, trace_folder
from marchwarden.environment import without_credentials
from marchwarden.errors import MarchwardenError

if TYPE_CHECKING:
    import anyio
    from mcp import Client
    from mcp.server.lowlevel import Server

    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.settings import Settings

# Seconds of silence after which a server is given up. It reports its progress every 10 seconds. A guess.
SILENCE_SECONDS = 90.0
# Seconds that a cancelled call may take to write the end of its trace. A guess.
_TRACE_SECONDS = 2.0

_TRACE_LINE = re.compile(r"^.*trace://([0-9a-f-]{36}).*$\n?", re.MULTILINE)

logger = logging.getLogger(__name__)


class Interrupted(MarchwardenError):
    """The user pressed Ctrl-C; the message says where the trace is."""


def _own_server(settings: Settings) -> Server[Any]:
    from marchwarden.server.mcp import build

    return build(settings)


class Conversation:
    """One call: `request` to the server at `url`, or to one of its own in this process, made under `overrides`.

    The SDK joins both in memory. A server in a child process imported the SDK a second time: 1.3 s of CPU a question.
    """

    def __init__(
        self,
        request: ResearchRequest,
        url: str | None,
        overrides: Mapping[str, object],
        *,
        make_server: Callable[[Settings], Server[Any]] = _own_server,
    ) -> None:
        self.request = request
        self.traces: Path = trace_folder()
        self.fell_back_to_frozen_web = False
        """True where the frozen web was searched only because there is no network, or none is wanted."""
        self._url = url
        self._overrides = overrides
        self._make_server = make_server
        self._began = time.time()
        self._interrupted = False
        self._scope: anyio.CancelScope | None = None

    def hold(self, tell: Callable[[str], None], *, silence: float = SILENCE_SECONDS) -> ResearchResult:
        """Ask, and wait for the answer; `tell` hears what is happening.

        Raises Interrupted, ConfigurationError, and MarchwardenError where the server fails or is not there.
        """
        shown = without_credentials(self._url or "")
        tell(f"connecting to {shown}" if shown else "starting the research server")
        settings = self._read_settings() if self._url is None else None
        if settings is not None:
            from marchwarden.server.worker import warm_up

            warm_up(settings, quiet=not settings.debug)  # its imports run beside ours
            settings = self._with_reachable_sources(settings)
        import anyio

        # One question leaves little to collect; looking for it while the SDK builds its types costs 0.18 of 0.97 s:
        # /usr/bin/time python -c "import gc; gc.disable(); import mcp".
        gc.disable()
        try:
            return anyio.run(self._interruptibly, settings, tell, silence)
        except BaseException as error:
            if self._interrupted or any(isinstance(each, KeyboardInterrupt) for each in _leaves(error)):
                raise self._interruption() from None
            if not isinstance(error, Exception):
                raise
            logger.debug("the call failed", exc_info=True)
            raise self._explained(error) from error
        finally:
            gc.enable()

    def _read_settings(self) -> Settings:
        from marchwarden.settings import load_settings

        settings = load_settings(**self._overrides)
        self.traces = settings.traces
        # What is wrong for certain is said at once, before a server is started for it.
        settings.require_claude_key()
        settings.require_search_key()
        if named := [source.partition(":")[2] for source in settings.sources if source.startswith("corpus:")]:
            from marchwarden.corpus.corpora import open_corpus

            for name in named:
                open_corpus(name)
        return settings

    def _with_reachable_sources(self, settings: Settings) -> Settings:
        from marchwarden.sources.reachability import with_reachable_sources

        found = with_reachable_sources(settings)
        named = settings.source or settings.web
        self.fell_back_to_frozen_web = found.source_name == "snapshot" and not named
        return found

    async def _interruptibly(
        self, settings: Settings | None, tell: Callable[[str], None], silence: float
    ) -> ResearchResult:
        import anyio

        async with anyio.create_task_group() as group:
            group.start_soon(self._listen_for_interrupts, group.cancel_scope)
            try:
                return await self._call(settings, tell, silence)
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

    async def _call(self, settings: Settings | None, tell: Callable[[str], None], silence: float) -> ResearchResult:
        import anyio

        with anyio.CancelScope(deadline=anyio.current_time() + silence) as connecting:
            async with self._client(settings, silence) as client:
                connecting.deadline = math.inf
                with anyio.CancelScope(deadline=anyio.current_time() + silence) as self._scope:
                    return await self._answer(client, self._scope, tell, silence)
                if self._interrupted:
                    tell("waiting for the end of the trace")
                    with anyio.move_on_after(_TRACE_SECONDS):
                        # The trace is a file: nothing tells of its end.
                        while (trace := self._own_trace()) is None or trace[1] == "unfinished":  # noqa: ASYNC110
                            await anyio.sleep(0.05)
                    raise self._interruption()
        raise MarchwardenError(
            f"the server has been silent for {silence:.0f} seconds",
            hint="Ask again; `marchwarden traces` has what was done.",
        )

    async def _answer(
        self, client: Client, patience: anyio.CancelScope, tell: Callable[[str], None], silence: float
    ) -> ResearchResult:
        """Every sign of life moves the deadline of `patience`."""
        import anyio

        newest = 0.0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal newest
            patience.deadline = anyio.current_time() + silence
            if message and progress >= newest:  # over stdio they can come out of order
                newest = progress
                tell(message)

        arguments = self.request.model_dump(mode="json", exclude_none=True)
        return self._result(await client.call_tool("research", arguments, progress_callback=on_progress))

    def _result(self, answer: Any) -> ResearchResult:
        """Return a tool's result. Raises MarchwardenError for an error, and for what is not a result."""
        from pydantic import ValidationError

        from marchwarden.contract import ResearchResult

        if answer.is_error:
            raise self._failure("\n".join(block.text for block in answer.content if block.type == "text"))
        try:
            return ResearchResult.model_validate(answer.structured_content)
        except ValidationError as error:
            raise MarchwardenError(
                "the server's answer is not a research result",
                hint="Is it a Marchwarden server, and of this version?",
            ) from error

    def _failure(self, text: str) -> MarchwardenError:
        """Return a failure in the server's words. A trace that it names and that is here can be replayed."""
        named = _TRACE_LINE.search(text)
        if named and (self.traces / f"{named[1]}.jsonl").is_file():
            return MarchwardenError(
                _TRACE_LINE.sub("", text).strip(), hint=f"How far it came: marchwarden replay {named[1][:8]}"
            )
        return MarchwardenError(text or "the research failed")

    @asynccontextmanager
    async def _client(self, settings: Settings | None, silence: float) -> AsyncIterator[Client]:
        from mcp import Client

        token = None if settings else server_token()
        if token is None:
            async with Client(self._make_server(settings) if settings else self._url or "") as client:
                yield client
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=httpx2.Timeout(silence)) as http,
            Client(streamable_http_client(self._url or "", http_client=http)) as client,
        ):
            yield client

    def _own_trace(self) -> tuple[str, str] | None:
        """(id, outcome) of the trace that this call is writing, where it can be seen from here."""
        from marchwarden.trace.reader import list_traces

        mine = (
            each
            for each in list_traces(self.traces)
            if each.question == self.request.question and each.path.stat().st_mtime >= self._began
        )
        found = next(mine, None)
        return (found.trace_id, found.outcome) if found else None

    def _interruption(self) -> Interrupted:
        trace = self._own_trace() if self._url is None else None
        if trace is None:
            where = None if self._url is None else "The server keeps the call's trace."
            return Interrupted("Interrupted.", hint=where)
        path = self.traces / f"{trace[0]}.jsonl"
        return Interrupted(
            f"Interrupted. What was done is in {path}", hint=f"See it: marchwarden replay {trace[0][:8]}"
        )

    def _explained(self, error: Exception) -> MarchwardenError:
        """A failure between client and server in one line, with what to do about it."""
        from marchwarden.server.messages import ALLOWANCE_SPENT, SERVER_BUSY

        causes = list(_leaves(error))
        if ours := next((cause for cause in causes if isinstance(cause, MarchwardenError)), None):
            return ours
        cause = causes[0]
        if getattr(cause, "code", None) in (SERVER_BUSY, ALLOWANCE_SPENT):
            return MarchwardenError(getattr(cause, "message", str(cause)))
        if self._url is None:
            return MarchwardenError(f"the research server failed: {_sentence(cause)}", hint=_DOCTOR)
        hint = "Is it running, does the address end in /mcp, and does it want a token (MARCHWARDEN_SERVER_TOKEN)? "
        hint += "Start one: marchwarden serve --transport http"
        return MarchwardenError(
            f"no answer from {without_credentials(self._url)}: {without_credentials(_sentence(cause))}", hint=hint
        )


_DOCTOR = "`marchwarden doctor` checks the set-up; MARCHWARDEN_DEBUG=1 shows the server's log."


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions in a task group's group of exceptions."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        yield error
    else:
        for each in inner:
            yield from _leaves(each)


def _sentence(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__
