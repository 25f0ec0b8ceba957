"""Serves the research tool over MCP: on stdin and stdout, or as streamable HTTP (http/app.py). Heeds signals.

Over stdio nothing but the protocol reaches stdout: its descriptor is taken away from the process before anything
heavy is imported, so whatever a library prints, now or at its exit, goes to stderr.
"""

from __future__ import annotations

import faulthandler
import ipaddress
import json
import os
import re
import select
import signal
import socket
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from marchwarden.errors import ConfigurationError, MarchwardenError
from marchwarden.server.messages import MAX_LINE_BYTES, screened
from marchwarden.settings import Settings

if TYPE_CHECKING:
    import anyio
    from mcp.server.lowlevel import Server

    from marchwarden.server.mcp import Investigate
    from marchwarden.server.service import Service

HOST, PORT = "127.0.0.1", 8111
RESEARCH = "marchwarden.agent.research:research"
# An escape in a JSON string; `half` where it is one surrogate without the other.
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(?P<half>\\u[dD][89a-fA-F][\da-fA-F]{2})|\\."
)
# Bytes that a pipe which is ready takes without blocking. POSIX warrants 512.
_PIPE_BUF = getattr(select, "PIPE_BUF", 512)

# The id of a response, as the SDK writes it; a notification has none.
_RESPONSE_ID = re.compile(r'\{"jsonrpc":"2\.0","id":(-?\d+|"(?:[^"\\]|\\.)*")[,}]')

# Seconds for calls that were stopped to answer with what they know. A guess.
FINISH_S = 5.0
# Seconds for those answers to be read. A guess.
FLUSH_S = 1.0


# Seconds for publishing traces of calls that were cancelled. A guess.
PUBLISH_S = 5.0

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
    investigate: Investigate | None = None,
    reload: Callable[[], Settings] | None = None,
) -> None:
    """Serve until stdin ends and what came is answered (stdio), or SIGTERM or SIGINT comes.

    After SIGTERM no call is begun. Those that run over HTTP may go on for `server_drain` seconds, then they answer
    with what they know, as they do at once over stdio and after SIGINT. A second signal ends the server at once.
    SIGHUP calls `reload` for the settings of later calls. SIGQUIT writes what all threads and tasks do to stderr.

    Raises ConfigurationError where the address can't be listened on, or where it is not loopback, callers need no
    token, and `allow_remote` is not set: whoever reaches it can spend the keys. `announce` is called with the URL
    once it is listened on. `warn` is called, at the start and with each call, with each part of the model's program
    that is not used. `research` names the function that workers run, as `module:name`; `investigate` gives what
    answers a call in this process instead.
    """
    if transport == "stdio":
        with _wire() as wire:
            _run(settings, research, investigate, warn, reload, partial(_serve_stdio, wire), over_http=False)
    else:
        with _listening(settings, host, port, allow_remote) as listener:

            async def serve_on(server: Server[Any], service: Service, leave: anyio.Event) -> None:
                from marchwarden.server.http.app import serve_http

                await serve_http(server, service, listener, host, announce, leave)

            _run(settings, research, investigate, warn, reload, serve_on, over_http=True)


def _run(
    settings: Settings,
    research: str,
    investigate: Investigate | None,
    warn: Callable[[str], None],
    reload: Callable[[], Settings] | None,
    serve_on: Callable[[Server[Any], Service, anyio.Event], Awaitable[None]],
    *,
    over_http: bool,
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
    from marchwarden.server.service import Service, descriptors_wanted, raise_descriptor_limit
    from marchwarden.sharing.index_database import open_database
    from marchwarden.sharing.publication import publish_left

    descriptors, wanted = raise_descriptor_limit(), descriptors_wanted(settings)
    if over_http and descriptors is not None and descriptors < wanted:
        warn(
            f"The server may have {descriptors} files and connections open, and wants {wanted}: raise the limit "
            "(ulimit -Hn, LimitNOFILE), or lower MARCHWARDEN_SERVER_CONNECTIONS."
        )
    service = Service(settings, asks_others=investigate is not None)
    server = build(
        settings,
        research=partial(research_in_worker, research=research, on_program_note=warn),
        investigate=investigate,
        service=service,
    )

    async def main() -> None:
        leave = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(_watch_signals, service, reload, warn, leave, over_http)
            await serve_on(server, service, leave)
            group.cancel_scope.cancel()

    if settings.store is not None:
        index_url = settings.trace_index.get_secret_value() if settings.trace_index else None
        publish_left(settings.traces, settings.store, index_url)
        if index_url:
            # What is wrong is logged.
            open_database(index_url).check_later()
    # libuv takes files for stdin and stdout otherwise than asyncio's loop, which is used over stdio.
    anyio.run(main, backend_options={"use_uvloop": over_http and find_spec("uvloop") is not None})
    if service.settings.store is not None:
        # Also of calls that were cancelled: it may be all that other machines get to see of them.
        given = service.settings.trace_index
        publish_left(
            service.settings.traces, service.settings.store, given.get_secret_value() if given else None
        ).join(PUBLISH_S)


async def _watch_signals(
    service: Service,
    reload: Callable[[], Settings] | None,
    warn: Callable[[str], None],
    leave: anyio.Event,
    drains: bool,
) -> None:
    import anyio

    names = [name for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT") if hasattr(signal, name)]
    try:
        with anyio.open_signal_receiver(*(signal.Signals[name] for name in names)) as signals:
            if "SIGQUIT" in names:
                # At once, in whatever code a thread hangs; the receiver adds the tasks, if it still can.
                with suppress(OSError, ValueError):
                    faulthandler.register(signal.SIGQUIT, file=2, all_threads=True, chain=True)
            async with anyio.create_task_group() as group:
                async for number in signals:
                    if number.name == "SIGQUIT":
                        _dump_tasks()
                    elif number.name == "SIGHUP":
                        _reload(service, reload, warn)
                    elif service.stop.is_asked:
                        leave.set()
                    else:
                        seconds = service.settings.server_drain if drains and number == signal.SIGTERM else 0.0
                        group.start_soon(_drain, service, seconds, leave)
    except NotImplementedError:
        # Windows has no such signals.
        return


async def _drain(service: Service, seconds: float, leave: anyio.Event) -> None:
    """Begin nothing any more, let what runs end, and leave."""
    import anyio

    service.admission.close()
    service.stop.ask(seconds)
    if service.admission.running:
        with anyio.move_on_after(seconds + FINISH_S):
            while service.admission.running:  # noqa: ASYNC110  it is a number, and nobody is in a hurry
                await anyio.sleep(0.02)
        # A client may ask for the tool's schema to check the answer.
        with anyio.move_on_after(FLUSH_S):
            await service.answered()
    leave.set()


def _reload(service: Service, reload: Callable[[], Settings] | None, warn: Callable[[str], None]) -> None:
    if reload is None:
        return
    try:
        service.reload(reload())
    except MarchwardenError as error:
        warn(f"The settings were not changed: {error}")


def _dump_tasks() -> None:
    import asyncio

    for task in asyncio.all_tasks():
        with suppress(OSError, ValueError):
            task.print_stack(limit=20, file=sys.__stderr__)


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


async def _serve_stdio(wire: Wire, server: Server[Any], service: Service, leave: anyio.Event) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    async def until_told(scope: anyio.CancelScope) -> None:
        await leave.wait()
        scope.cancel()

    out = _Outgoing(wire.outgoing, leave)
    service.answered = out.answered
    incoming = cast("anyio.AsyncFile[str]", _readable(_incoming(wire.incoming), out))
    outgoing = cast("anyio.AsyncFile[str]", out)
    async with anyio.create_task_group() as group:
        group.start_soon(until_told, group.cancel_scope)
        async with stdio_server(incoming, outgoing) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        group.cancel_scope.cancel()


async def _readable(lines: AsyncIterator[str], out: _Outgoing) -> AsyncIterator[str]:
    """Yield the messages that the SDK can read; answer the others. End once all is answered."""
    async for line in lines:
        for message, is_readable in screened(line):
            if is_readable:
                out.expect(message)
                yield message
            else:
                await out.write(f"{message}\n")
    # The SDK drops what it is working on when this ends.
    await out.answered_or_unread()


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
        # What is beyond the limit is dropped: the line is not JSON then, and is answered as such.
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
    """Writes UTF-8 without ever blocking. Sets `leave` where nobody is there to read any more.

    Knows which requests have no answer yet.
    """

    def __init__(self, descriptor: int, leave: anyio.Event) -> None:
        from anyio import Lock

        self._descriptor = descriptor
        self._leave = leave
        # A message is written in parts: another must not come between.
        self._turn = Lock()
        # Ids as JSON: 1 and "1" are two.
        self._open: set[str] = set()

    def expect(self, message: str) -> None:
        """Note a request, which is to be answered, or that one was taken back, and gets no answer."""
        read = json.loads(message)
        if read.get("method") == "notifications/cancelled":
            params = read.get("params")
            self._open.discard(json.dumps(params.get("requestId") if isinstance(params, dict) else None))
        elif "method" in read and "id" in read:
            self._open.add(json.dumps(read["id"], ensure_ascii=False))

    async def answered(self) -> None:
        """Return once every request is answered."""
        from anyio import sleep

        while self._open:  # noqa: ASYNC110  it happens once, at the end
            await sleep(0.02)

    async def answered_or_unread(self) -> None:
        """Return once every request is answered, or nobody is there to read."""
        from anyio import create_task_group, wait_readable

        async def watch_reader() -> None:
            # What is only written to becomes readable, with an error or an end, when its reader is gone.
            with suppress(OSError):
                await wait_readable(self._descriptor)
                group.cancel_scope.cancel()

        async with create_task_group() as group:
            mode = os.fstat(self._descriptor).st_mode
            if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                group.start_soon(watch_reader)
            await self.answered()
            group.cancel_scope.cancel()

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
        if found := _RESPONSE_ID.match(text):
            self._open.discard(found[1])

    async def flush(self) -> None:
        pass


async def _when_ready(wait: Callable[[int], Awaitable[None]], descriptor: int, act: Callable[[], T]) -> T:
    # Regular files can't be waited for (PermissionError), and are always ready.
    with suppress(PermissionError):
        await wait(descriptor)
    return act()


# HTTP


@contextmanager
def _listening(settings: Settings, host: str, port: int, allow_remote: bool) -> Iterator[socket.socket]:
    has_tokens = settings.server_tokens is not None or settings.server_issuer is not None
    if not (allow_remote or has_tokens or _is_loopback(host)):
        raise ConfigurationError(
            f"{host} can be reached from other machines, and whoever reaches the server can spend its keys",
            hint=f"Listen on {HOST}, give callers tokens (MARCHWARDEN_SERVER_TOKENS), or allow everybody "
            "(--allow-remote).",
        )
    if host in ("", "0.0.0.0", "::") and settings.server_url is None:
        raise ConfigurationError(
            f"{host} is not a name that callers use, and every request must name this server",
            hint="Set MARCHWARDEN_SERVER_URL to the address that callers use, or listen only on that address.",
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"can't listen on {host}:{port}: {error.strerror or error}", hint="Choose another port."
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
