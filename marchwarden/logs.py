"""Logging, configured once in a process: everything to stderr where debugging is on, silence otherwise."""

from __future__ import annotations

import logging
import sys

_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"
_CHATTY = ("bm25s", "httpcore", "hpack", "asyncio", "markdown_it", "trafilatura", "urllib3")


def configure(*, debug: bool) -> None:
    """Send the records of this process to stderr, or drop them. Calling it again replaces what was set up before."""
    logging.basicConfig(
        level=logging.DEBUG if debug else logging.CRITICAL,
        format=_FORMAT,
        handlers=[logging.StreamHandler(sys.stderr) if debug else logging.NullHandler()],
        force=True,
    )
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.INFO if debug else logging.NOTSET)
