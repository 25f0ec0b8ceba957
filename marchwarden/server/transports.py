"""Serves the research tool over MCP: on stdin and stdout, or as streamable HTTP on loopback.

Over stdio nothing but the protocol reaches stdout: its descriptor is taken away from the process before anything
heavy is imported, so whatever a library prints, now or at its exit, goes to stderr.
"""

from __future__ import annotations

import ipaddress
import os
import re
import select
import signal
import socket
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from marchwarden.errors import ConfigurationError
from marchwarden.server.messages import screened
from marchwarden.settings import Settings

if TYPE_CHECKING:
    import anyio
    from mcp.server.lowlevel import Server

    from marchwarden.server.mcp import Research

HOST, PORT, PATH = "127.0.0.1", 8111, "/mcp"
RESEARCH = "marchwarden.agent.research:research"
# An escape in a JSON string; `half` where it is one surrogate without the other.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][\da-fA-F]{2})|\\."
)
# Bytes that a pipe which is ready takes without blocking. POSIX warrants 512.
_PIPE_BUF = getattr(select, "PIPE_BUF", 512)

# Bytes of one message from a client. A guess: the longest request that the contract allows has 20,000.
MAX_LINE_BYTES = 4_000_000

T = TypeVar("T")


def serve(
    settings: Settings,
    *,
    transport: Literal["stdio", "http"] = "stdio",
    host: str = HOST,
    port: int = PORT,
    allow_remote: bool = False,
    announce: Callable[[str], None] | None = None,
    warn: Callable[[str], None] = lambda note: None,
    research: str = RESEARCH,
    investigate: Research | None = None,
) -> None:
    """Serve until stdin ends (stdio), or SIGTERM or SIGINT comes; then running calls end, and their traces say so.

    Raises ConfigurationError where the address can't be listened on, or where it is not loopback and `allow_remote`
    is not set: whoever reaches it can spend the keys. `announce` is called with the URL once it is listened on.
    `warn` is called, at the start and with each call, with each part of the model's program that is not used.
    `research` names the function that workers run, as `module:name`; `investigate` runs calls in this process.
    """
    if transport == "stdio":
        with _wire() as wire:
            _run(settings, research, warn, lambda server, leave: _serve_stdio(server, wire, leave), investigate)
    else:
        with _listening(host, port, allow_remote) as listener:
            _run(
                settings,
                research,
                warn,
                lambda server, leave: _serve_http(server, listener, host, announce, leave),
                investigate,
            )


def _run(
    settings: Settings,
    research: str,
    warn: Callable[[str], None],
    serve_on: Callable[[Server[Any], anyio.Event], Any],
    investigate: Research | None,
) -> None:
    from marchwarden.server.worker import prepare_sources, research_in_worker, warm_up

    # Its imports run beside ours.
    warm_up(settings)
    prepare_sources(settings)
    from marchwarden.programs import load_program

    # These notes need no DSPy. A call knows the rest, and fails where a program is named that can't be used.
    with suppress(ConfigurationError):
        program = load_program(settings)
        for note in program.notes if program else ():
            warn(str(note))
    import anyio

    from marchwarden.server.mcp import build

    stopped: list[int] = []
    """Signal that the operator sent; empty while the server runs, or where its client has gone."""
    server = build(
        settings,
        research=investigate
        or partial(research_in_worker, research=research, on_program_note=warn, is_stopping=lambda: bool(stopped)),
    )

    async def main() -> None:
        leave = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_watch_signals, leave, stopped)
            await serve_on(server, leave)
            group.cancel_scope.cancel()

    anyio.run(main)


async def _watch_signals(leave: anyio.Event, stopped: list[int]) -> None:
    import anyio

    try:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for number in signals:
                stopped.append(number)
                leave.set()
    except NotImplementedError:
        # Windows has no such signals.
        return


# stdio


@dataclass(frozen=True)
class Wire:
    """Descriptors that were those of stdin and stdout."""

    incoming: int
    outgoing: int


@contextmanager
def _wire() -> Iterator[Wire]:
    """Take stdin and stdout for the protocol alone: everybody else reads nothing, and writes to stderr."""
    # For good, since libraries still print when the interpreter exits.
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield wire
    finally:
        os.close(wire.incoming)
        with suppress(OSError):
            os.close(wire.outgoing)


async def _serve_stdio(server: Server[Any], wire: Wire, leave: anyio.Event) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def until_told(scope: anyio.CancelScope) -> None:
        await leave.wait()
        scope.cancel()

    out = _Outgoing(wire.outgoing, leave)
    incoming = cast("anyio.AsyncFile[str]", _readable(_incoming(wire.incoming), out))
    outgoing = cast("anyio.AsyncFile[str]", out)
    async with anyio.create_task_group() as group:
        group.start_soon(until_told, group.cancel_scope)
        async with stdio_server(incoming, outgoing) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _readable(lines: AsyncIterator[str], out: _Outgoing) -> AsyncIterator[str]:
    """Yield the messages that the SDK can read; answer the others."""
    async for line in lines:
        for message, is_readable in screened(line):
            if is_readable:
                yield message
            else:
                await out.write(f"{message}\n")


async def _incoming(descriptor: int) -> AsyncIterator[str]:
    """Yield lines of UTF-8, whatever the locale."""
    # Unlike the SDK's own reader, which is a thread, this can be cancelled while nothing comes.
    from anyio import wait_readable

    # Joined only when a line ends, so that a long one is read in linear time.
    begun: list[bytes] = []
    size = 0
    while received := await _when_ready(wait_readable, descriptor, lambda: os.read(descriptor, 65_536)):
        *ended, rest = received.split(b"\n")
        for end in ended:
            yield _decode_line(b"".join([*begun, end] if size < MAX_LINE_BYTES else begun))
            begun, size = [], 0
        # What is beyond the limit is dropped: the line is no JSON then, and is answered as such.
        if rest and size < MAX_LINE_BYTES:
            begun.append(rest)
            size += len(rest)
    if begun:
        yield _decode_line(b"".join(begun))


def _decode_line(line: bytes) -> str:
    """Decode a line of JSON, also where half of a surrogate pair is escaped in it."""
    # JavaScript's strings can hold such. A message that can't be read is not answered, and its caller would wait for
    # ever.
    # A mark at the start of what a client sends is no JSON either (RFC 8259, 8.1, lets readers ignore it).
    text = line.removeprefix(BOM_UTF8).decode("utf-8", "replace")
    return _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)


class _Outgoing:
    """Writes UTF-8 without ever blocking. Sets `leave` where nobody is there to read any more."""

    def __init__(self, descriptor: int, leave: anyio.Event) -> None:
        from anyio import Lock

        self._descriptor = descriptor
        self._leave = leave
        # A message is written in parts: another must not come between.
        self._turn = Lock()

    async def write(self, text: str) -> None:
        from anyio import wait_writable

        rest = memoryview(text.encode("utf-8", "replace"))
        async with self._turn:
            try:
                while rest:
                    write_part = partial(os.write, self._descriptor, rest[:_PIPE_BUF])
                    rest = rest[await _when_ready(wait_writable, self._descriptor, write_part) :]
            except OSError:
                self._leave.set()

    async def flush(self) -> None:
        pass


async def _when_ready(wait: Callable[[int], Awaitable[None]], descriptor: int, act: Callable[[], T]) -> T:
    # Regular files can't be waited for (PermissionError), and are always ready.
    with suppress(PermissionError):
        await wait(descriptor)
    return act()


# HTTP


@contextmanager
def _listening(host: str, port: int, allow_remote: bool) -> Iterator[socket.socket]:
    if not allow_remote and not _is_loopback(host):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and whoever reaches the server can spend its keys",
            hint=f"Listen on {HOST}, or allow remote callers (--allow-remote).",
        )
    if host in ("", "0.0.0.0", "::"):
        raise ConfigurationError(
            f"{host} is no name that callers use, and requests are checked for naming this server",
            hint="Listen on the one address or host name that callers use.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"{host}:{port} can't be listened on: {error.strerror or error}", hint="Choose another port."
        ) from error
    with listener:
        yield listener


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def _serve_http(
    server: Server[Any],
    listener: socket.socket,
    host: str,
    announce: Callable[[str], None] | None,
    leave: anyio.Event,
) -> None:
    import anyio
    import uvicorn

    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=_who_may_call(host))
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1)
    runner = uvicorn.Server(config)
    runner.capture_signals = nullcontext  # type: ignore[assignment, method-assign]  # they are watched here

    async def until_told() -> None:
        await leave.wait()
        runner.should_exit = True

    if announce:
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}{PATH}")
    async with anyio.create_task_group() as group:
        group.start_soon(until_told)
        await runner.serve(sockets=[listener])
        group.cancel_scope.cancel()


def _who_may_call(host: str) -> Any:
    """Return the checks of requests: they name this server in `Host`, and come from no page of another site."""
    # Against DNS rebinding, by which a page in a browser could call a server on this machine.
    from mcp.server.transport_security import TransportSecuritySettings

    names = ["127.0.0.1", "localhost", "[::1]"]
    if not _is_loopback(host):
        names.append(f"[{host}]" if ":" in host else host)
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
