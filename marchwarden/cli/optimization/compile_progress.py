"""Progress of a compile: calls done of calls to do, the work in hand, the best score so far; and, once a stage's
first calls have shown the pace, about how long the stage will take."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr

from marchwarden.cli.views import console
from marchwarden.cli.views.safe_text import count
from marchwarden.optimization.estimate import Estimate
from marchwarden.optimization.stage_search import Progress
from marchwarden.programs import StageRecord

# Calls after which the pace is told. A guess: fewer say little about the pace.
PACE_CALLS = 4
# Seconds between lines where no terminal shows a bar. A guess.
LINE_SECONDS = 30.0


@contextmanager
def shown_progress(estimates: Sequence[Estimate]) -> Iterator[Progress]:
    """Show a bar on a terminal; to a pipe print a line now and then. All on stderr."""
    with console.counting(sum(each.calls for each in estimates)) as bar:
        yield _Shown({each.stage: each for each in estimates}, bar)


class _Shown(Progress):
    def __init__(self, estimates: Mapping[str, Estimate], bar: console.Bar) -> None:
        self._estimates, self._bar = estimates, bar
        self._name = self._phase = ""
        self._best: float | None = None
        self._calls = 0
        self._began = self._told = time.monotonic()
        self._stderr = sys.stderr

    def stage(self, name: str) -> None:
        self._name, self._best, self._calls = name, None, 0
        self._began = time.monotonic()

    def phase(self, text: str) -> None:
        self._phase = text
        self._line(f"{self._where}…")

    def best(self, score: float) -> None:
        self._best = score

    def call(self) -> None:
        self._calls += 1
        self._bar.advance(lambda: self._said)
        if self._calls == PACE_CALLS:
            pace = (time.monotonic() - self._began) / self._calls
            most = self._estimates[self._name].calls
            # Answers that were recorded before come at once, and say nothing about the pace.
            if pace > 0.05:
                minutes = max(1, round(most * pace / 60))
                self._say(f"{self._name}: at most {most} calls, about {minutes} min at {pace:.1f} s a call")
        elif time.monotonic() - self._told >= LINE_SECONDS:
            self._line(f"{self._said}: {count(self._calls, 'call')}")

    def question(self) -> None:
        self._bar.advance(lambda: self._said)

    def stage_done(self, name: str, record: StageRecord) -> None:
        console.done(f"{name}: {record.verdict}. {record.reason}")

    @property
    def _where(self) -> str:
        return f"{self._name}: {self._phase}" if self._name else self._phase

    @property
    def _said(self) -> str:
        best = "" if self._best is None else f" · best {self._best:.2f}"
        return f"{self._where}{best}"

    def _line(self, text: str) -> None:
        self._told = time.monotonic()
        if self._bar.is_silent:
            self._say(text)

    def _say(self, text: str) -> None:
        """Print a line to stderr."""
        # An optimizer is kept quiet by replacing sys.stderr; this line must be seen all the same.
        with redirect_stderr(self._stderr):
            console.done(text)
