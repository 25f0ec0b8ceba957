"""A ResearchResult as rich renderables. Pure: console.py prints them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from rich.style import Style
from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.cli.views.tables import Lines, Prose
from marchwarden.server.result_words import (
    authors_in_words,
    confidence_parts,
    discovery_head,
    discovery_kind,
    outcome_in_words,
    reason_to_ask,
)
from marchwarden.text.escaping import web_address

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

_BAND_STYLE = {"high": "green", "moderate": "green", "low": "yellow", "very low": "red"}


def band(confidence: float) -> str:
    """Return the contract's word for a score of 0–1."""
    # The same as contract.confidence_band, whose import would take half of the time of `replay`; a test holds them
    # equal.
    words = ((0.9, "high"), (0.7, "moderate"), (0.5, "low"))
    return next((word for floor, word in words if confidence >= floor), "very low")


def result_view(
    result: ResearchResult | TolerantJsonView, is_replayable: Callable[[str], bool] = lambda trace_id: True
) -> View:
    """Show the whole result, with the command for each trace that can be replayed."""
    yield from _heading(result)
    yield from _answer(result.answer)
    yield from _section("Citations", *_citations(result.citations))
    yield from _section("Gaps", *chain.from_iterable(map(_gap, result.gaps)))
    yield from _section("Discoveries", *chain.from_iterable(map(_discovery, result.discovery_events)))
    yield from _section("Open questions", *chain.from_iterable(map(_open_question, result.open_questions)))
    yield from _section(
        "Researchers", *chain.from_iterable(_rihla(each, is_replayable) for each in result.lineage or ())
    )
    # The factors of an answer that cites nothing say nothing: no sources, of no age.
    if result.citations:
        words = f"{result.confidence:.2f} ({band(result.confidence)})"
        factors = (words, *map(one_line, confidence_parts(result.confidence_factors, result.citations)))
        yield from _section("Confidence", Prose(Text(" · ".join(factors))))
    cost = (
        count(result.cost_metadata.tokens_used, "token"),
        count(result.cost_metadata.iterations_run, "iteration"),
        f"{result.cost_metadata.wall_time_sec:.1f} s",
        f"model {one_line(result.cost_metadata.model_id)}",
    )
    yield from _section("Cost", Prose(Text(" · ".join(cost))))
    trace_id = one_line(result.trace_id)
    yield from _section("Trace", Prose(Text(trace_id)))
    if is_replayable(trace_id):
        yield Prose(Text(f"marchwarden replay {trace_id[:8]}", style="dim"))


def _heading(result: ResearchResult | TolerantJsonView) -> View:
    """Show in plain words whether this is an answer, and how far to rely on it."""
    if not result.citations:
        yield Text("No answer", style="bold red", end="\n\n")
        return
    words = band(result.confidence)
    in_words = f"{words} confidence ({result.confidence:.2f})"
    is_doubtful = words == "very low"
    yield Text.assemble(
        ("Answer", "bold"), " · ", (in_words, _BAND_STYLE[words]), end="\n" if is_doubtful else "\n\n"
    )
    if is_doubtful:
        yield Text("It may not answer the question: read the quotes.", style="dim", end="\n\n")


def _section(title: str, *body: RenderableType) -> View:
    """Show a title and what stands below it; nothing at all where there is no body."""
    if body:
        yield Text(f"\n{title}", style="bold")
        yield from body


def _answer(answer: str) -> View:
    """Show the answer line by line; the items of a list, and lines with an indent, hang from their bullet."""
    for line in visible(answer).split("\n"):
        is_item, is_hanging = line.startswith(("- ", "* ")), line.startswith("  ")
        # Text() takes the line as it is: rich's markup in an answer is not interpreted.
        text = Text(line[2:] if is_item or is_hanging else line)
        text.highlight_regex(r"\[\d{1,3}\]", "cyan")
        if is_hanging:
            yield Lines(text, 4)
        else:
            yield Prose(text, 4, "  •") if is_item else Prose(text)


def _citations(citations: Sequence[Citation]) -> View:
    for number, citation in enumerate(citations, 1):
        mark = f" [{number}]"
        if number > 1:
            yield Text()
        if citation.title:
            yield Prose(Text(one_line(citation.title), style="bold"), 6, mark, "cyan")
        yield Prose(_address(citation.locator), 6, "" if citation.title else mark, "cyan")
        dated = citation.published or (f"changed {citation.modified}" if citation.modified else None)
        by = one_line(authors) if (authors := authors_in_words(citation)) else None
        finder = f"found by {one_line(citation.researcher)}" if citation.researcher else None
        if facts := [str(each) for each in (by, dated, finder) if each]:
            yield Prose(Text(" · ".join(facts), style="dim"), 6)
        for notice in citation.notices or ():
            yield Prose(Text(one_line(f"News of this work: {notice.detail}"), style="yellow"), 6)
            if notice.url:
                yield Prose(_address(notice.url), 6)
        yield Prose(Text(f"“{one_line(citation.raw_excerpt)}”", style="italic"), 6)


def _address(locator: str) -> Text:
    """Return a locator; on a terminal that can, a web address is a link."""
    # OSC 8 takes printable ASCII alone.
    link = quote(web_address(locator) or "", safe="%/:?#[]@!$&'()*+,;=~")
    return Text(one_line(locator), style=Style(color="blue", link=link) if link else "blue")


def _item(head: Text, detail: str, locator: str | None = None) -> View:
    """Show a bullet with a line of detail beneath it."""
    yield Prose(head, 4, "  •")
    yield Prose(Text(one_line(detail), style="dim"), 4)
    if locator:
        yield Prose(_address(locator), 4)


def _gap(gap: Gap) -> View:
    return _item(Text.assemble(one_line(gap.topic), (f" ({word(gap.category)})", "yellow")), gap.detail)


def _discovery(event: DiscoveryEvent) -> View:
    head = Text.assemble(one_line(discovery_head(event)), (f" ({one_line(discovery_kind(event))})", "magenta"))
    return _item(head, event.reason, event.source_locator)


def _open_question(question: OpenQuestion) -> View:
    head = Text.assemble(one_line(question.question), (f" ({word(question.priority)} priority)", "cyan"))
    return _item(head, question.context, question.source_locator)


def _rihla(rihla: Lineage | TolerantJsonView, is_replayable: Callable[[str], bool]) -> View:
    head = Text.assemble(
        (one_line(rihla.researcher), "bold"),
        (f" ({one_line(reason_to_ask(rihla))})", "cyan"),
        f" {one_line(rihla.question)}",
    )
    trace_id = one_line(rihla.trace_id)
    told = [one_line(outcome_in_words(rihla)), count(rihla.tokens_used or 0, "token")]
    if is_replayable(trace_id):
        told.append(f"marchwarden replay {trace_id[:8]}")
    return _item(head, " · ".join(told))
