"""Calls from the command line: in processes of our own, or over MCP to a running server; their failures in words."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from marchwarden.cli.client.frozen_web_note import frozen_web_note
from marchwarden.cli.early import server_token, trace_folder
from marchwarden.environment import without_credentials
from marchwarden.errors import MarchwardenError, ResearchFailed, leaves

if TYPE_CHECKING:
    import anyio
    from mcp import Client

    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.server.mcp import Research
    from marchwarden.settings import Settings

# Seconds of silence after which a server is given up. It reports its progress at least every 8 seconds. A guess.
SILENCE_SECONDS = 90.0
# Seconds for a connection to be made: as long as the SDK's own client waits.
_CONNECT_SECONDS = 30.0

_TRACE_LINE = re.compile(r"^.*trace://([0-9a-f-]{36}).*$\n?", re.MULTILINE)
# Seconds that a server adds to a message which it repeats. The caller's own clock is the one that is shown.
_SECONDS = re.compile(r" \(\d+ s\)$")

logger = logging.getLogger(__name__)


class Ask(Protocol):
    def __call__(
        self,
        request: ResearchRequest,
        tell: Callable[[str], None],
        *,
        continues: str | None = None,
        silence: float = SILENCE_SECONDS,
    ) -> Awaitable[ResearchResult]:
        """Ask one question; every sign of life gives the call `silence` seconds more.

        `continues` is the id of the trace that it follows up. Raises MarchwardenError for a failed call, and for one
        that fell silent.
        """
        ...


class Connection:
    """The server at `url`, or, without one, calls of our own under `overrides`.

    Our own calls do without MCP: its types alone cost 0.8 of 1.2 s of CPU a question.
    """

    def __init__(self, url: str | None, overrides: Mapping[str, object], research: Research | None = None) -> None:
        """`research` runs a call of our own; by default, in a process of its own."""
        self.is_own = url is None
        self.traces: Path = trace_folder()
        self.frozen_web_note: tuple[str, str] | None = None
        """Reason for which the frozen web is searched though nobody named it, and what to do; None where it isn't."""
        self._url = url or ""
        self._overrides = overrides
        self._research = research
        self._begun: Settings | None = None
        """Settings that a call is being prepared with; None where none is."""
        self._settings: Settings | None = None
        self._failed_status: int | None = None
        """HTTP status with which the server at `url`, or a proxy before it, refused the last message; None where it
        took it, or did not answer."""

    @property
    def is_model_free(self) -> bool:
        """True where no call can use tokens; of a running server, that is not known."""
        from marchwarden.settings import EXTRACTIVE

        return self._settings is not None and self._settings.model_id == EXTRACTIVE

    @property
    def address(self) -> str:
        """Address of a running server, without what is secret in it; empty for calls of our own."""
        return without_credentials(self._url)

    @contextmanager
    def prepared_for_one(self) -> Iterator[None]:
        """Begin preparing for a single call, before this process has threads. Raises as `prepare`, which follows."""
        if not self.is_own:
            yield
            return
        from marchwarden.server.worker import prepared_call

        self._begun = self._checked_settings()
        with prepared_call(self._begun, quiet=not self._begun.debug):
            yield

    def prepare(self) -> None:
        """Read the settings, and begin importing what calls need. Raises ConfigurationError where something lacks."""
        if not self.is_own:
            return
        settings, self._begun = self._begun, None
        if settings is None:
            from marchwarden.server.worker import warm_up

            settings = self._checked_settings()
            warm_up(settings, quiet=not settings.debug)  # its imports run beside ours
        from marchwarden.sources.reachability import with_reachable_sources

        self._settings = with_reachable_sources(settings)
        self.frozen_web_note = frozen_web_note(settings, self._settings)

    def _checked_settings(self) -> Settings:
        """Return the settings. Raises ConfigurationError for what is wrong with them for certain."""
        from marchwarden.settings import load_settings

        settings = load_settings(**self._overrides)
        self.traces = settings.traces
        # What is wrong for certain is said at once, before a process is started for it.
        settings.require_model()
        settings.require_search_key()
        if settings.store is not None:
            from marchwarden.sharing.object_store import open_store

            open_store(settings.store)
        if named := [source.partition(":")[2] for source in settings.sources if source.startswith("corpus:")]:
            from marchwarden.corpus.corpora import open_corpus

            for name in named:
                open_corpus(name, settings.store)
        return settings

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Ask]:
        """Connect, for any number of calls side by side."""
        if self._settings:
            import anyio

            from marchwarden.server.admission import places

            yield partial(self._ask_here, self._settings, anyio.CapacityLimiter(places(self._settings)))
            return
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async def forget(request: httpx2.Request) -> None:
            if request.method == "POST":
                self._failed_status = None

        async def note(response: httpx2.Response) -> None:
            # The SDK's error does not say the status. A GET asks for a stream, which not every server has.
            if response.request.method == "POST" and response.status_code >= 400:
                self._failed_status = response.status_code

        token = server_token()
        headers = {"authorization": f"Bearer {token}"} if token else {}
        timeout = httpx2.Timeout(SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        async with (
            httpx2.AsyncClient(
                headers=headers, timeout=timeout, event_hooks={"request": [forget], "response": [note]}
            ) as http,
            Client(streamable_http_client(self._url, http_client=http)) as client,
        ):
            yield partial(self._ask_server, client)

    async def _ask_here(
        self,
        settings: Settings,
        limiter: anyio.CapacityLimiter,
        request: ResearchRequest,
        tell: Callable[[str], None],
        *,
        continues: str | None = None,
        silence: float = SILENCE_SECONDS,
    ) -> ResearchResult:
        import anyio

        from marchwarden.server.admission import Ending
        from marchwarden.server.worker import research_in_worker

        def on_progress(message: str) -> None:
            patience.deadline = anyio.current_time() + silence
            tell(_SECONDS.sub("", message))

        research = self._research or research_in_worker
        trace_id = str(uuid4())
        async with limiter:
            with anyio.CancelScope(deadline=anyio.current_time() + silence) as patience:
                try:
                    return await research(
                        request,
                        settings=settings,
                        trace_id=trace_id,
                        on_progress=on_progress,
                        ending=Ending(),
                        continues=continues,
                    )
                except ResearchFailed:  # its hint names the trace
                    raise
                except MarchwardenError as error:
                    told = f"{error}\n{error.hint}" if error.hint else str(error)
                    raise self._failure(told, trace_id) from error
        raise silent(silence)

    async def _ask_server(
        self,
        client: Client,
        request: ResearchRequest,
        tell: Callable[[str], None],
        *,
        continues: str | None = None,
        silence: float = SILENCE_SECONDS,
    ) -> ResearchResult:
        import anyio

        from marchwarden.server.call_ids import CONTINUES_META

        newest = 0.0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal newest
            patience.deadline = anyio.current_time() + silence
            if message and progress >= newest:  # over stdio they can come out of order
                newest = progress
                tell(_SECONDS.sub("", message))

        arguments = request.model_dump(mode="json", exclude_none=True)
        meta: Any = {CONTINUES_META: continues} if continues else None
        with anyio.CancelScope(deadline=anyio.current_time() + silence) as patience:
            return self._result(
                await client.call_tool("research", arguments, progress_callback=on_progress, meta=meta)
            )
        raise silent(silence)

    def _result(self, answer: Any) -> ResearchResult:
        """Return a tool's result. Raises MarchwardenError for an error, and for what is not a result."""
        from pydantic import ValidationError

        from marchwarden.contract import ResearchResult

        if answer.is_error:
            text = "\n".join(block.text for block in answer.content if block.type == "text")
            named = _TRACE_LINE.search(text)
            raise self._failure(text, named[1] if named else None)
        try:
            return ResearchResult.model_validate(answer.structured_content)
        except ValidationError as error:
            raise MarchwardenError(
                "the server's answer is not a research result",
                hint="Check that it is a Marchwarden server of this version.",
            ) from error

    def _failure(self, text: str, trace_id: str | None) -> MarchwardenError:
        """Return a failure in the researcher's words. A trace that is here can be replayed."""
        with suppress(OSError):  # the folder may be one that can't be looked into
            if trace_id and (self.traces / f"{trace_id}.jsonl").is_file():
                return MarchwardenError(
                    _TRACE_LINE.sub("", text).strip(),
                    hint=f"To see how far it got: marchwarden replay {trace_id[:8]}",
                )
        return MarchwardenError(text or "the research failed")

    def explained(self, error: Exception) -> MarchwardenError:
        """Return a failure between client and server in one line, with what to do about it."""
        from marchwarden.server.messages import ALLOWANCE_SPENT, SERVER_BUSY

        logger.debug("the call failed", exc_info=error)
        causes = list(leaves(error))
        if ours := next((cause for cause in causes if isinstance(cause, MarchwardenError)), None):
            return ours
        cause = causes[0]
        if getattr(cause, "code", None) in (SERVER_BUSY, ALLOWANCE_SPENT):
            return MarchwardenError(getattr(cause, "message", str(cause)))
        said = str(cause).strip() or type(cause).__name__
        if self.is_own:
            return MarchwardenError(
                f"the research failed: {said}",
                hint="`marchwarden doctor` checks the set-up; MARCHWARDEN_DEBUG=1 shows the server's log.",
            )
        if self._failed_status == 401:
            refused = "refused the token" if server_token() else "wants a token, and none is set"
            return MarchwardenError(
                f"{self.address} {refused}",
                hint="Set MARCHWARDEN_SERVER_TOKEN to the token that the server's operator gave you, "
                "or keep it: marchwarden keys set server_token",
            )
        if self._failed_status:
            said = f"HTTP {self._failed_status}"
        hint = (
            "Is it running, is the address right, and does it want a token (MARCHWARDEN_SERVER_TOKEN)? "
            "Start one: marchwarden serve --transport http"
        )
        parts = urlsplit(self.address)
        if not parts.path.endswith("/mcp"):
            hint = f"Most servers answer at /mcp: --server {parts.scheme}://{parts.netloc}/mcp"
        return MarchwardenError(f"no answer from {self.address}: {without_credentials(said)}", hint=hint)


def silent(seconds: float) -> MarchwardenError:
    """Return the error of a server that gave no sign of life for so long."""
    return MarchwardenError(
        f"the server has been silent for {seconds:.0f} seconds",
        hint="Ask again. `marchwarden history` lists the call, as far as it got.",
    )
