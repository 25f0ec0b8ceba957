"""A researcher as the investigator sees it: a question goes out, a reply comes back, whatever happens to the server.

A client's cancel scopes may not leave the task that opened it, so one task owns each connection. A server that dies
costs what it was asked then, and is started once more.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from tempfile import TemporaryFile
from typing import Any, Protocol, TextIO, cast
from urllib.parse import urlsplit

import anyio

from marchwarden.contract import Depth, ResearchResult
from marchwarden.environment import without_credentials
from marchwarden.errors import InvalidRequest, leaves
from marchwarden.observations import plain_line
from marchwarden.server.call_ids import CALL_META, REPEATED_META, TEAMS_META
from marchwarden.server.messages import ALLOWANCE_SPENT, SERVER_BUSY

# Seconds in which a server must be there. Starting one without compiled files took 4 s. A guess.
CONNECT_S = 60.0
# Seconds of silence after which a researcher counts as hung: servers tell of their progress every 8 seconds. A guess.
SILENCE_S = 60.0
# Seconds for one stored page or trace. A guess: 10 MB took 8.5 s.
READ_S = 30.0
# Times that a server is started again after it died.
RESTARTS = 1
# Codes of JSON-RPC for calls that no server begins: invalid params, no such method.
_NOT_TAKEN = (-32602, -32601)
# Line with which a Marchwarden names the trace of a call that it had begun.
_TRACE_LINE = re.compile(r"^.*trace://[0-9a-f-]{36}.*$\n?", re.MULTILINE)
# Reason of a call whose connection ended, and what to do about a program that is not there.
_DIED = "its process died during the call"
_CORRECT = "correct `command` in the team file"
# Characters of a reason that a server gives. A guess.
_REASON_CHARS = 300

logger = logging.getLogger(__name__)

# Callback for what a researcher is doing now.
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Call:
    """A question to one researcher."""

    call_id: str
    """UUID that the researcher's trace is to have."""
    question: str
    context: str | None
    depth: Depth
    tokens: int
    """Tokens that it may use."""
    constraints: dict[str, Any] = field(default_factory=dict)
    """Other limits; one that the researcher does not know is not sent."""
    teams: tuple[str, ...] = ()
    """Hashes of the teams whose investigations ask, the outermost first."""


@dataclass(frozen=True)
class Reply:
    """End of a call: `result`, or the reason why there is none."""

    result: ResearchResult | None = None
    reason: str = ""
    sent: bool = True
    """False where the question never left, or was not taken: nothing can have been spent."""
    final: bool = False
    """True where the same question would meet the same end: a refusal, or a program that is not there."""
    repeated: bool = False
    """True where the server had run the call before, and returned what came of it."""
    seconds: float = 0.0


class Member(Protocol):
    async def run(self) -> None:
        """Hold the connection until it is cancelled."""
        ...

    async def ask(self, call: Call, tell: Tell) -> Reply:
        """Ask, and return what came of it. Only cancellation passes through."""
        ...

    async def read(self, uri: str) -> bytes | None:
        """Return a resource of the server, such as `content://sha256:…`; None where it has none."""
        ...


class Place(Protocol):
    """Place of a server, which knows more about a failure than the SDK's error tells."""

    def explained(self, said: str) -> str:
        """Return a failure with what a person needs to mend it."""
        ...

    def close(self) -> None:
        """Let go of what is held."""
        ...


class Program:
    """Standard error of a server that a command starts."""

    def __init__(self) -> None:
        self._written = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 (closed by close)

    def stream(self) -> TextIO:
        """Return a stream for what the next process writes, without what is there already."""
        self._written.seek(0)
        self._written.truncate()
        return cast(TextIO, self._written)

    def explained(self, said: str) -> str:
        self._written.seek(0)
        lines = [line for line in self._written.read().splitlines() if line.strip()]
        for line in lines:
            logger.debug("%s", line)
        return f"{said}; its program wrote: {plain_line(lines[-1], _REASON_CHARS)}" if lines else said

    def close(self) -> None:
        self._written.close()


class Endpoint:
    """Address of a server over HTTP, and how it, or a proxy before it, last refused a message."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.refused: int | None = None
        """HTTP status, which the SDK's errors do not tell; None where every message was taken."""

    async def note(self, response: Any) -> None:
        """Remember the status of a response, as a hook of an HTTP client."""
        # A GET asks for a stream, which not every server has.
        if response.request.method == "POST":
            self.refused = response.status_code if response.status_code >= 400 else None

    def explained(self, said: str) -> str:
        """Return a failure with the address, the status and the proxy that it came by."""
        if self.refused:
            said = f"HTTP status {self.refused}"
            if self.refused in (401, 403):
                said += ": does it need a token in `headers` of the team file?"
        parts = urlsplit(self.url)
        proxy = urllib.request.getproxies().get(parts.scheme)
        if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
            variable = f"{parts.scheme.upper()}_PROXY"
            said += (
                f" (through the proxy {without_credentials(proxy)} of {variable}; NO_PROXY names hosts without one)"
            )
        return f"{without_credentials(self.url)}: {said}"

    def close(self) -> None:
        """Hold nothing."""


class McpMember:
    """A researcher behind an MCP server: `target` makes what the SDK's client connects to."""

    def __init__(
        self,
        name: str,
        target: Callable[[], Any],
        *,
        place: Place | None = None,
        silence_s: float = SILENCE_S,
    ) -> None:
        """`place`: where the server is; None for one in this process."""
        self.name = name
        self._target, self._place = target, place
        self._silence_s = silence_s
        self._client: Any = None
        self._known: set[str] = set()
        """Names of the constraints that the server knows."""
        self._reason = "it could not be reached: it was not started"
        self._died = _DIED
        self._is_missing = False
        """True where its program is not there, so that it can't be started again."""
        self._starts_left = 1 + RESTARTS
        self._is_starting = False
        """True while a connection is being made."""
        self._wanted = anyio.Event()
        self._changed = anyio.Event()
        """Set, and made anew, whenever the connection is there or gone."""
        self._broken = anyio.Event()

    async def run(self) -> None:
        try:
            await self._run()
        finally:
            if self._place:
                self._place.close()

    async def _run(self) -> None:
        while self._starts_left:
            await self._wanted.wait()
            self._wanted = anyio.Event()
            self._starts_left -= 1
            self._is_starting = True
            try:
                await self._connected()
            except Exception as error:
                leaf = next(leaves(error), error)
                if isinstance(leaf, FileNotFoundError) and leaf.filename:
                    self._is_missing, self._starts_left = True, 0
                    missing = plain_line(str(leaf.filename), _REASON_CHARS)
                    self._reason = f"{missing} could not be started: there is no such program; {_CORRECT}"
                else:
                    said = plain_line(str(leaf) or type(leaf).__name__, _REASON_CHARS).rstrip(".")
                    self._reason = f"it could not be reached: {self._explained(said)}"
                logger.debug("the researcher %s is gone", self.name, exc_info=True)
            self._died = self._explained(_DIED)
            self._client, self._is_starting = None, False
            self._tell_change()
        if not self._is_missing:
            self._reason += ", although it was tried again"

    def _explained(self, said: str) -> str:
        return self._place.explained(said) if self._place else said

    async def _connected(self) -> None:
        from mcp import Client

        self._broken = anyio.Event()
        with anyio.CancelScope(deadline=anyio.current_time() + CONNECT_S) as connecting:
            async with Client(self._target(), cache=None) as client:
                tools = await client.list_tools()
                tool = next((each for each in tools.tools if each.name == "research"), None)
                if tool is None:
                    raise LookupError("the server has no tool `research`")
                self._known = _constraints_of(tool.input_schema)
                connecting.deadline = float("inf")
                self._client, self._is_starting = client, False
                self._tell_change()
                await self._broken.wait()
        if connecting.cancelled_caught:
            self._reason = f"it could not be reached within {CONNECT_S:.0f} s"

    def _give_up(self, client: Any) -> None:
        """Let go of a connection that is of no more use; whoever asks next waits for another."""
        if self._client is client:
            self._client = None
            self._broken.set()

    def _tell_change(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def _open(self) -> Any:
        """Return the client; None where the server can't be started."""
        with anyio.move_on_after(2 * CONNECT_S):
            # A change may be the end of the connection before.
            while self._client is None and (self._starts_left or self._is_starting):
                changed = self._changed
                self._wanted.set()
                await changed.wait()
        return self._client

    async def ask(self, call: Call, tell: Tell) -> Reply:
        began = time.monotonic()
        client = await self._open()
        if client is None:
            return Reply(reason=self._reason, sent=False, final=self._is_missing)
        reply: Reply | None = None
        newest = 0.0

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            nonlocal newest
            patience.deadline = anyio.current_time() + self._silence_s
            if message and progress >= newest:  # over stdio they can come out of order
                newest = progress
                tell(message)

        async def until_gone(changed: anyio.Event) -> None:
            await changed.wait()
            group.cancel_scope.cancel()

        constraints = {**call.constraints, "token_budget": call.tokens}
        arguments: dict[str, Any] = {"question": call.question, "depth": call.depth.value}
        arguments["constraints"] = {name: value for name, value in constraints.items() if name in self._known}
        if call.context:
            arguments["context"] = call.context
        meta: Any = {CALL_META: call.call_id, TEAMS_META: list(call.teams)}
        with anyio.CancelScope(deadline=anyio.current_time() + self._silence_s) as patience:
            async with anyio.create_task_group() as group:
                group.start_soon(until_gone, self._changed)
                try:
                    answer = await client.call_tool("research", arguments, progress_callback=on_progress, meta=meta)
                    reply = _read_reply(answer)
                except Exception as error:  # whatever a server sends is its own loss
                    leaf = next(leaves(error), error)
                    text = plain_line(str(leaf) or type(leaf).__name__, _REASON_CHARS)
                    if isinstance(self._place, Endpoint) and self._place.refused:
                        text = self._place.explained(text)
                    code = getattr(leaf, "code", None)
                    final = code in (ALLOWANCE_SPENT, *_NOT_TAKEN)
                    taken = not final and code != SERVER_BUSY
                    reason = f"the call failed: {text}" if taken else f"it refused: {text}"
                    reply = Reply(reason=reason, sent=taken, final=final)
                    if _is_closed(leaf):
                        self._give_up(client)
                group.cancel_scope.cancel()
        if patience.cancelled_caught:
            reply = Reply(reason=f"it did not answer for {self._silence_s:.0f} s")
            self._give_up(client)
        return replace(reply or Reply(reason=self._died), seconds=time.monotonic() - began)

    async def read(self, uri: str) -> bytes | None:
        client = await self._open()
        if client is None:
            return None
        with anyio.move_on_after(READ_S):
            try:
                found = await client.read_resource(uri)
                contents = found.contents[0]
                if getattr(contents, "blob", None) is not None:
                    return base64.b64decode(contents.blob, validate=True)
                return str(contents.text).encode("utf-8")
            except (binascii.Error, IndexError, AttributeError, UnicodeError):
                return None
            except Exception as error:  # a server without this resource says so in many ways
                logger.debug("%s has no %s: %s", self.name, uri, error)
                return None
        return None


def _read_reply(answer: Any) -> Reply:
    from pydantic import ValidationError

    if answer.is_error:
        text = "\n".join(block.text for block in answer.content if block.type == "text")
        began = _TRACE_LINE.search(text) is not None
        # The lines of an error and its hint become sentences on one line.
        lines = [line.strip() for line in _TRACE_LINE.sub("", text).splitlines() if line.strip()]
        sentences = [line if line.endswith((".", "!", "?", ":")) else f"{line}." for line in lines]
        said = plain_line(" ".join(sentences), _REASON_CHARS) or "without a word"
        return Reply(reason=f"{'the call failed' if began else 'it refused'}: {said}", sent=began, final=not began)
    structured = answer.structured_content
    if structured is None and (structured := _json_of(answer)) is None:
        return Reply(reason="its result does not follow the contract: it is not JSON")
    try:
        result = ResearchResult.model_validate(structured)
    except ValidationError as error:
        (name, problem), *more = InvalidRequest.of(error).problems
        others = f", and {len(more)} more" if more else ""
        said = plain_line(f"{name} {problem}{others}", _REASON_CHARS)
        return Reply(reason=f"its result does not follow the contract: {said}")
    meta = answer.meta or {}
    return Reply(result=result, repeated=meta.get(REPEATED_META) is True)


def _json_of(answer: Any) -> Any:
    """Return the JSON in a result's text, which is where servers of MCP before 2025-06-18 have it; None for none."""
    for block in answer.content:
        if block.type == "text":
            try:
                return json.loads(block.text)
            except ValueError:
                continue
    return None


def _constraints_of(schema: dict[str, Any]) -> set[str]:
    """Return the names of the constraints that a tool takes, from the schema of its arguments."""
    described: Any = schema.get("properties", {}).get("constraints", {})
    for _ in range(3):
        options = [described, *described.get("anyOf", []), *described.get("allOf", [])]
        reference = next((each["$ref"] for each in options if "$ref" in each), None)
        found = next((each["properties"] for each in options if "properties" in each), None)
        if found is not None or reference is None:
            return set(found or ())
        described = schema.get("$defs", {}).get(str(reference).rpartition("/")[2], {})
    return set()


def _is_closed(error: BaseException) -> bool:
    from mcp_types import CONNECTION_CLOSED

    failed = getattr(getattr(error, "error", None), "code", None)
    return failed == CONNECTION_CLOSED or isinstance(error, (anyio.ClosedResourceError, anyio.BrokenResourceError))
