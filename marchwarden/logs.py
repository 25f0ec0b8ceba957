"""Logging, configured once in a process: everything to stderr where debugging is on, silence otherwise.

That holds for processes that are started too, from their first import on.

Text of servers and models can be part of a message or of a traceback. It is escaped, so that no character acts on a
terminal and no line can be taken for a record.
"""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from marchwarden.environment import without_credentials

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
# Libraries whose debug records would drown ours.
_CHATTY = ("bm25s", "httpcore", "hpack", "asyncio", "markdown_it", "trafilatura", "urllib3")


class EscapingFormatter(logging.Formatter):
    """A formatter that writes a record on one line, and a traceback on lines that begin with a bar."""

    def format(self, record: logging.LogRecord) -> str:
        told = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None, "stack_info": None})
        traceback = self.formatException(record.exc_info) if record.exc_info else record.exc_text
        after = [line for part in (traceback, record.stack_info) if part for line in part.splitlines()]
        return "\n".join([_escaped(super().format(told)), *(f"  | {_escaped(line)}" for line in after)])


def _escaped(text: str) -> str:
    # HTTP clients log the addresses that they ask, with the password of a server or a proxy.
    text = without_credentials(text)
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def configure(*, debug: bool) -> None:
    """Send the records of this process to stderr, or drop them. Calling it again replaces what was set up before."""
    handler = logging.StreamHandler(sys.stderr) if debug else logging.NullHandler()
    handler.setFormatter(EscapingFormatter(_FORMAT))
    logging.basicConfig(level=logging.DEBUG if debug else logging.CRITICAL, handlers=[handler], force=True)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.INFO if debug else logging.NOTSET)


@contextmanager
def unheard_interrupts(*, forks: bool = False) -> Iterator[None]:
    """Start processes inside: Ctrl-C, which a terminal sends to them too, reaches none of them.

    Each is to ignore it, but first imports modules, and would end with a traceback of that. `forks`: they are forked
    from this process, and nothing else is started.
    """
    if sys.platform == "win32":
        yield
        return
    if not forks:
        from multiprocessing import resource_tracker

        # Where it is started inside, it unblocks the signal.
        resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
