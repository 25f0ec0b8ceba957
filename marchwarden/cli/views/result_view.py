"""A ResearchResult as rich renderables. Pure: console.py prints them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.console import Group
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.server.result_words import confidence_parts, discovery_head, discovery_kind

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.contract import (
        Citation,
        DiscoveryEvent,
        Gap,
        Lineage,
        OpenQuestion,
        ResearchResult,
    )
    from marchwarden.trace.json_view import TolerantJsonView

    View: TypeAlias = Iterable[RenderableType]

# Lines of running text are not longer than this, however wide the terminal.
PROSE_WIDTH = 100
# From this width on the citations have columns of their own for date and excerpt.
_WIDE = 100

_BAND_STYLE = {"high": "green", "moderate": "green", "low": "yellow", "very low": "red"}


def band(confidence: float) -> str:
    """Return the contract's word for a score of 0–1."""
    # The same as contract.confidence_band, whose import would take half of the time of `replay`; a test holds them
    # equal.
    words = ((0.9, "high"), (0.7, "moderate"), (0.5, "low"))
    return next((word for floor, word in words if confidence >= floor), "very low")


def result_view(result: ResearchResult | TolerantJsonView, width: int) -> View:
    """Show the whole result on a terminal that is `width` cells wide."""
    words = band(result.confidence)
    in_words = f"{words} confidence ({result.confidence:.2f})"
    yield Text.assemble(("Answer", "bold"), " · ", (in_words, _BAND_STYLE[words]), end="\n\n")
    yield _prose(_answer(result.answer))
    if result.citations:
        yield from _section("Citations", _columns(result.citations) if width >= _WIDE else _stack(result.citations))
    yield from _section("Gaps", *map(_gap, result.gaps))
    yield from _section("Discoveries", *map(_discovery, result.discovery_events))
    yield from _section("Open questions", *map(_open_question, result.open_questions))
    yield from _section("Researchers", *map(_rihla, result.lineage or ()))
    factors = (f"{result.confidence:.2f} ({words})", *map(one_line, confidence_parts(result.confidence_factors)))
    yield from _section("Confidence", _prose(Text(" · ".join(factors))))
    cost = (
        count(result.cost_metadata.tokens_used, "token"),
        count(result.cost_metadata.iterations_run, "iteration"),
        f"{result.cost_metadata.wall_time_sec:.1f} s",
        f"model {one_line(result.cost_metadata.model_id)}",
    )
    yield from _section("Cost", _prose(Text(" · ".join(cost))))
    trace_id = one_line(result.trace_id)
    replay = (f"\nmarchwarden replay {trace_id[:8]}", "dim")
    yield from _section("Trace", _prose(Text.assemble(trace_id, replay)))


def _section(title: str, *body: RenderableType) -> View:
    """Show a title and what stands below it; nothing at all where there is no body."""
    if body:
        yield Text(f"\n{title}", style="bold")
        yield from body


def _prose(text: RenderableType) -> RenderableType:
    return Constrain(Padding(text, (0, 2)), PROSE_WIDTH)


def _answer(answer: str) -> Group:
    """Return the answer line by line; the items of a list hang from their bullet."""
    lines: list[RenderableType] = []
    for line in visible(answer).split("\n"):
        is_item = line.startswith(("- ", "* "))
        # Text() takes the line as it is: rich's markup in an answer is not interpreted.
        text = Text(line[2:] if is_item else line)
        text.highlight_regex(r"\[\d{1,3}\]", "cyan")
        lines.append(_hanging("•", text) if is_item else text)
    return Group(*lines)


def _hanging(mark: str, text: Text) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(mark, text)
    return grid


def _columns(citations: list[Citation]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, leading=1, pad_edge=False)
    table.add_column("", justify="right", style="cyan", no_wrap=True)
    table.add_column("Source", ratio=2, overflow="fold")
    table.add_column("Date", no_wrap=True)
    table.add_column("Excerpt", ratio=3, overflow="fold")
    for number, citation in enumerate(citations, 1):
        date = Text(str(citation.published or "–"), style="dim")
        table.add_row(f"[{number}]", _source(citation), date, _excerpt(citation))
    return table


def _stack(citations: list[Citation]) -> Table:
    table = Table(box=None, show_header=False, leading=1, padding=(0, 1, 0, 1))
    table.add_column("", justify="right", style="cyan", no_wrap=True)
    table.add_column("Source", overflow="fold")
    for number, citation in enumerate(citations, 1):
        date = Text(f"\n{citation.published}", style="dim") if citation.published else Text()
        source = Text.assemble(_source(citation), date, "\n", _excerpt(citation))
        table.add_row(f"[{number}]", source)
    return table


def _source(citation: Citation) -> Text:
    title = one_line(citation.title) if citation.title else ""
    locator = Text(one_line(citation.locator), style="blue")
    return Text.assemble((title, "bold"), "\n" if title else "", locator)


def _excerpt(citation: Citation) -> Text:
    return Text(f"“{one_line(citation.raw_excerpt)}”", style="italic")


def _item(head: Text, detail: str) -> RenderableType:
    """Return a bullet with a line of detail beneath it."""
    return _prose(_hanging("•", Text.assemble(head, "\n", (one_line(detail), "dim"))))


def _gap(gap: Gap) -> RenderableType:
    return _item(Text.assemble(one_line(gap.topic), (f" ({word(gap.category)})", "yellow")), gap.detail)


def _discovery(event: DiscoveryEvent) -> RenderableType:
    head = Text.assemble(one_line(discovery_head(event)), (f" ({one_line(discovery_kind(event))})", "magenta"))
    return _item(head, _and_where(event.reason, event.source_locator))


def _open_question(question: OpenQuestion) -> RenderableType:
    head = Text.assemble(one_line(question.question), (f" ({word(question.priority)} priority)", "cyan"))
    return _item(head, _and_where(question.context, question.source_locator))


def _rihla(rihla: Lineage | TolerantJsonView) -> RenderableType:
    head = Text.assemble(
        (one_line(rihla.researcher), "bold"), (f" ({word(rihla.origin)})", "cyan"), f" {one_line(rihla.question)}"
    )
    spent = count(rihla.tokens_used or 0, "token")
    return _item(head, f"{word(rihla.outcome)} · {spent} · marchwarden replay {one_line(rihla.trace_id)[:8]}")


def _and_where(detail: str, locator: str | None) -> str:
    return f"{detail} {locator}" if locator else detail
