"""The research server as a child of this process, spoken to over its stdin and stdout.

It is spawned before this process imports the MCP library, so that both load at the same time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anyio import Event
    from typing_extensions import Self

SERVE = (sys.executable, "-m", "marchwarden", "serve")
_GRACE_SECONDS = 2.0
"""How long it may take to end after its stdin has closed, and again after SIGTERM."""
_TAIL_BYTES = 4000
_CHECKOUT = Path(__file__).parents[3]


class ChildServer:
    """A server's process, with `overrides` of settings in its environment; ends with the `with` block."""

    def __init__(self, command: Sequence[str], overrides: Mapping[str, object], *, debug: bool) -> None:
        """Raises OSError where no process can be started."""
        self._stderr: IO[bytes] | None = None if debug else tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        try:
            self._process = self._spawn(command, overrides)
        except BaseException:
            self._close_stderr()
            raise

    def _spawn(self, command: Sequence[str], overrides: Mapping[str, object]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(overrides),
            start_new_session=True,  # Ctrl-C is for this process, which tells the server
        )

    def _close_stderr(self) -> None:
        if self._stderr is not None:
            self._stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._close_stderr()

    def stop(self) -> str:
        """Close its stdin, which ends it; terminate, then kill it where it goes on. Doing it again is harmless.
        Returns how it ended, in words."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        for insist in (self._process.terminate, self._process.kill):
            if self._ended():
                break
            insist()
        self._ended()
        status = self._process.returncode
        return f"signal {-status}" if status and status < 0 else f"exit status {status}"

    def _ended(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_SECONDS)
        return self._process.poll() is not None

    def _kill_what_it_left(self) -> None:
        """Processes of its own that outlived it and hold its stdout: reading on would never end."""
        if sys.platform != "win32":
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The end of what it wrote to stderr; empty where that went to the terminal."""
        if self._stderr is None:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL_BYTES))
        return self._stderr.read().decode("utf-8", "replace").strip()

    @asynccontextmanager
    async def transport(self) -> AsyncIterator[tuple[Any, Any]]:
        """Its pipes as an mcp transport: the streams of messages from and to it. The end of its stdout is the end of
        the first; leaving stops the server."""
        import anyio
        from anyio.to_thread import run_sync

        to_session, from_server = anyio.create_memory_object_stream[Any](16)
        to_server, from_session = anyio.create_memory_object_stream[Any](16)
        drained = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, to_session, drained)
            group.start_soon(self._write, from_session)
            try:
                yield from_server, to_server
            finally:
                with anyio.CancelScope(shield=True):
                    from_server.close()
                    to_server.close()
                    await run_sync(self.stop)
                    with anyio.move_on_after(_GRACE_SECONDS):
                        await drained.wait()
                if not drained.is_set():
                    self._kill_what_it_left()

    async def _read(self, inbox: Any, drained: Event) -> None:
        """One message a line; after the session is gone the rest is drained, so that the server can end."""
        import anyio
        from mcp.shared.message import SessionMessage
        from mcp_types import jsonrpc_message_adapter

        assert self._process.stdout is not None
        async with inbox:
            async for line in anyio.wrap_file(self._process.stdout):
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    try:
                        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                    except ValueError as error:
                        await inbox.send(error)
                    else:
                        await inbox.send(SessionMessage(message))
        drained.set()

    async def _write(self, outbox: Any) -> None:
        from anyio.to_thread import run_sync

        async with outbox:
            async for each in outbox:
                line = each.message.model_dump_json(by_alias=True, exclude_unset=True) + "\n"
                with suppress(OSError, ValueError):  # a server that is gone ends the stream that is read
                    await run_sync(self._send, line.encode())

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()


def _environment(overrides: Mapping[str, object]) -> dict[str, str]:
    """This process's variables, handed on, with the settings that the command line overrides.

    `python -m` would import from the working directory first, whatever lies there; only a checkout is run from it.
    """
    given = {f"MARCHWARDEN_{name.upper()}": str(value) for name, value in overrides.items() if value is not None}
    safe = {} if Path.cwd() == _CHECKOUT else {"PYTHONSAFEPATH": "1"}
    return {**os.environ, **safe, **given}
