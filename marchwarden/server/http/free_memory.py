"""Memory that is free inside the heap goes back to the system.

glibc keeps it: in a server that ran for minutes, all growth was of this kind (evals/reports/endurance.md).
"""

from __future__ import annotations

import ctypes
from contextlib import suppress

# Seconds between two times. A guess: it takes milliseconds, and an hour brought 12 MB.
EVERY_S = 60.0


def give_back() -> bool:
    """Give whole free pages of the heap back; return whether there were any. Only glibc can."""
    # Windows has no library without a name, and other C libraries no such function.
    with suppress(OSError, TypeError, AttributeError):
        return bool(ctypes.CDLL(None).malloc_trim(0))
    return False
