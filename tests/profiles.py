"""How much is tried: little in each check, so that it takes minutes, and much in `make nightly`."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

PROFILE = os.environ.get("MARCHWARDEN_TEST_PROFILE", "check")
IS_NIGHTLY = PROFILE == "nightly"
# Processes that a test kills, each at another moment. 20 find a write that is not whole, at 0.1 CPU seconds each.
KILLS = 60 if IS_NIGHTLY else 20
# Of each property. 20 find what a changed rule breaks: docs/wiki/DevelopmentGuide.md has the mutation scores.
EXAMPLES = 300 if IS_NIGHTLY else 20
# Of a property each of whose examples is a whole research call, at 0.1 to 0.2 CPU seconds each.
CALLS = 100 if IS_NIGHTLY else 8


def within(promised_s: float) -> float:
    """Return the seconds that something may take: those promised at night, on a machine of its own; in a check, which
    shares it with whatever else runs, only so many that it surely hangs."""
    return promised_s if IS_NIGHTLY else promised_s + 30.0


@contextmanager
def cpu_clock() -> Iterator[Callable[[], float]]:
    """Give the CPU seconds since the block began, of this thread alone, and without collecting others' garbage."""
    began = time.thread_time()
    gc.disable()
    try:
        yield lambda: time.thread_time() - began
    finally:
        gc.enable()


@contextmanager
def a_moment(cpu_s: float = 3.0) -> Iterator[None]:
    """Bound what a block takes: far above what is measured, and far below what a slow algorithm needs."""
    with cpu_clock() as spent:
        yield
        assert spent() < cpu_s


def some(cases: Sequence[T], step: int) -> list[T]:
    """Return all cases at night, and every so many-th, from the first on, in a check: for cases that are many of a kind."""
    return list(cases[:: 1 if IS_NIGHTLY else step])
