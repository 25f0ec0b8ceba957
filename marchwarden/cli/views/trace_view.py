"""A trace's timeline, and a list of traces, as rich renderables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.cells import cell_len
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from marchwarden.cli.views.result_view import band
from marchwarden.cli.views.safe_text import count, one_line
from marchwarden.cli.views.tables import line_breaks

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from marchwarden.audit.verdict import Verdict
    from marchwarden.trace.reader import Outcome, Trace, TraceSummary
    from marchwarden.trace.timeline import Entry

    View: TypeAlias = Iterable[RenderableType]

# Digits of a hash that are shown: as many as tell the pages of a store apart.
_HASH_DIGITS = 12
# Characters of one detail: a timeline is read at a glance, `--json` has the rest. A guess.
_DETAIL_CHARS = 400
# Columns of the terminal below which figures, and below which the outcome, move under the question. A guess.
_NARROW, _NARROWEST = 100, 60
# Characters of a question in the list. A guess: about two lines.
_QUESTION_CHARS = 120

_ENDINGS: dict[Outcome, tuple[str, str]] = {
    "finished": ("finished", "green"),
    "cancelled": ("cancelled: there is no result", "yellow"),
    "failed": ("failed: there is no result", "red"),
    "unfinished": ("unfinished: the call is still running, or its process was killed", "yellow"),
}
_KIND_STYLE = {
    "fallback": "yellow",
    "drop": "yellow",
    "cancelled": "yellow",
    "killed": "red",
    "failed": "red",
    "result": "green",
}

_STATE_STYLE = {"verified": "green", "damaged": "red", "missing": "red", "newer": "yellow", "unchecked": "yellow"}


def timeline_view(trace: Trace, entries: Sequence[Entry]) -> View:
    """Show every step with its time, its reason and its details; then how the call ended."""
    when = f" · {trace.started:%Y-%m-%d %H:%M:%S} UTC" if trace.started else ""
    yield Text.assemble(("Trace ", "bold"), one_line(trace.trace_id), (when, "dim"), end="\n\n")
    yield _Steps(entries)
    words, style = _ENDINGS[trace.outcome]
    yield Text(f"\n{count(len(entries), 'step')}, {words}\n", style=style)


@dataclass(frozen=True)
class _Steps:
    """The steps, each with a hanging indent. Not a rich table: that would take most of the time of a replay."""

    entries: Sequence[Entry]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        digits = max((len(str(entry.step)) for entry in self.entries), default=1)
        dim = console.get_style("dim")
        for entry in self.entries:
            # Step and time stand in a margin; further lines of the step are indented below them.
            head = f"{entry.step:>{digits}} {entry.offset:>5.1f}s "
            margin, below = head, " " * (len(head) + 2)
            for text, style in _lines(entry):
                width = options.max_width - len(below)
                pieces = [text]
                if cell_len(text) > width:  # wrapping takes time, and most lines fit
                    ends = [0, *line_breaks(text, max(width, 20)), len(text)]
                    pieces = [text[start:end].rstrip() for start, end in pairwise(ends)]
                for piece in pieces:
                    yield Segment(margin, dim)
                    yield Segment(f"{piece}\n", console.get_style(style))
                    margin = below


def _lines(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield (text, style) for each line of a step: what happened, the reason, the details."""
    yield one_line(entry.line), _KIND_STYLE.get(entry.kind, "none")
    if entry.decision:
        yield f"why: {one_line(entry.decision, _DETAIL_CHARS)}", "italic"
    for label, value in entry.details:
        yield f"{label}: {short_hash(value) if label == 'hash' else one_line(value, _DETAIL_CHARS)}", "dim"


def short_hash(value: str) -> str:
    """Return `sha256:` and the first digits of a hash, as many as tell pages apart."""
    name, _, digits = one_line(value).partition(":")
    return f"{name}:{digits[:_HASH_DIGITS]}" if digits else name


def verdict_view(verdict: Verdict) -> View:
    """Show how many citations hold, the checks that did not pass or could not be made, and the verdict."""
    cited = [finding for finding in verdict.findings if finding.check.startswith("citation ")]
    good = sum(finding.state == "verified" for finding in cited)
    yield Text()
    if cited:
        style = "green" if good == len(cited) else "red"
        yield Text(f"{good} of {count(len(cited), 'excerpt')} verified against the stored pages", style=style)
    for finding in verdict.findings:
        if finding.state != "verified" or finding not in cited:
            style = _STATE_STYLE[finding.state]
            yield Text(f"{finding.state:<9} {finding.check}: {one_line(finding.detail, _DETAIL_CHARS)}", style=style)
    yield Text(f"\n{verdict.in_words}", style=f"bold {_STATE_STYLE[verdict.state]}")


def trace_list_view(summaries: Sequence[TraceSummary], width: int) -> View:
    """Show a row for each trace; on a narrow terminal the outcome stands under the question."""
    aside = 3 if width >= _NARROW else 0
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("Trace", style="cyan", no_wrap=True)
    if width >= _NARROWEST:
        table.add_column("When", no_wrap=True)
    table.add_column("Question", ratio=1, overflow="fold")
    if width >= _NARROWEST:
        table.add_column("Outcome", no_wrap=True)
    for name in ("Confidence", "Tokens", "Seconds")[:aside]:
        table.add_column(name, justify="left" if name == "Confidence" else "right", no_wrap=True)
    for each in summaries:
        when = f"{each.started.astimezone():%Y-%m-%d %H:%M}" if each.started else "–"
        confidence = "–" if each.confidence is None else f"{each.confidence:.2f} {band(each.confidence)}"
        tokens = "–" if each.tokens_used is None else f"{each.tokens_used:,}"
        seconds = "–" if each.seconds is None else f"{each.seconds:.1f}"
        question = Text(one_line(each.question or "–", _QUESTION_CHARS))
        if each.rerun_of:
            question = Text(f"re-run of {one_line(each.rerun_of[:8])}: ", style="dim").append_text(question)
        if each.is_investigation:
            question = Text("investigation: ", style="dim").append_text(question)
        if width < _NARROWEST:
            question.append(f"\n{when} · ", style="dim").append_text(_outcome(each))
        if not aside and each.confidence is not None:
            question.append(f"\n{confidence} · {tokens} tokens · {seconds} s", style="dim")
        outer = ((when,), (_outcome(each),)) if width >= _NARROWEST else ((), ())
        table.add_row(each.trace_id[:8], *outer[0], question, *outer[1], *(confidence, tokens, seconds)[:aside])
    yield table


def _outcome(summary: TraceSummary) -> Text:
    style = _ENDINGS[summary.outcome][1]
    if summary.outcome == "finished" and summary.status != "answered":
        style = "yellow" if summary.status == "nothing_found" else "red"
    return Text(summary.ending, style=style)
