"""The program `marchwarden`, also as `python -m marchwarden`: the command line, which Ctrl-C ends quietly while it is
still being imported, too."""

from __future__ import annotations

import os
import signal

# As of a process that SIGINT ended (128 + 2).
_INTERRUPTED = 130


def main() -> None:
    """Import the command line, and run it."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        # An exception would end in a traceback, or in a library that drops it.
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(_INTERRUPTED))
    from marchwarden.cli import main as run

    signal.signal(signal.SIGINT, usual)
    run()


if __name__ == "__main__":
    main()
