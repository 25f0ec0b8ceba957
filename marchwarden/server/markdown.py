"""A result as Markdown for a model or a person to read. Where it does not fit a limit, it says where the rest is.

The most useful parts come first: the answer, what is missing, how sure it is, then the evidence and the next steps.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from marchwarden.contract import (
    Citation,
    DiscoveryEvent,
    Gap,
    Lineage,
    OpenQuestion,
    ResearchResult,
    confidence_band,
    next_step,
)
from marchwarden.server.result_words import (
    authors_in_words,
    confidence_parts,
    counted,
    discovery_head,
    discovery_kind,
    in_words,
    outcome_in_words,
    reason_to_ask,
)
from marchwarden.text.escaping import markdown_address, markdown_line, markdown_text

# Tokens that clients take of one tool result: the default limit of Claude Code.
TEXT_TOKENS = 25_000
# Tokens that are kept for the sentence that says where the rest is. A guess.
_ROOM_FOR_THE_REST = 200


def tokens_at_most(text: str) -> int:
    """Return an upper bound of the tokens that any usual tokenizer makes of `text`."""
    # One token for two ASCII characters, and one for each other byte. tiktoken would count one vendor's tokens.
    size = len(text.encode("utf-8", "replace"))
    ascii_size = len(text.encode("ascii", "ignore"))
    return (ascii_size + 1) // 2 + size - ascii_size


FROZEN_WEB = (
    "*These pages come from a frozen web, not from the live one. The pages that ship with Marchwarden were written "
    "for it, on invented hosts, to try it out.*"
)


def as_markdown(result: ResearchResult, *, limit: int = TEXT_TOKENS) -> str:
    """Return the whole result where it fits into `limit` tokens; else its first parts, and where the rest is."""
    parts = list(blocks(result))
    kept: list[str] = []
    room = limit - _ROOM_FOR_THE_REST
    for number, block in enumerate(parts):
        cost = tokens_at_most(block) + 2
        if cost > room:
            # Of a first part that is too long, the longest start that surely fits.
            ends = range(len(block) + 1)
            end = bisect_right(ends, room, key=lambda end: tokens_at_most(block[:end])) - 1
            kept.append(block[: max(0, end)] if not kept else "")
            missing = len(parts) - number - (len(kept) == 1)
            cut = f"{missing} more parts did not fit here. " if missing else "The answer was cut here. "
            rest = f"the structured content of this call, or the resource trace://{result.trace_id}"
            kept.append(f"*{cut}The whole result: {rest}.*")
            break
        kept.append(block)
        room -= cost
    return "\n\n".join(block for block in kept if block) + "\n"


def document(result: ResearchResult, question: str | None = None) -> str:
    """Return the whole result as a Markdown document, with the question as its title where it is given."""
    title = [f"# {markdown_line(question)}"] if question else []
    return "\n\n".join([*title, *blocks(result, hashes=True)]) + "\n"


def blocks(result: ResearchResult, *, hashes: bool = False) -> Iterator[str]:
    """Yield the result's paragraphs, the most useful first; a blank line belongs between any two.

    With `hashes`, each citation is shown with the hash of its page.
    """
    # A line with an indent belongs to the one before it: a break, its own indent, and no item of a list.
    yield re.sub(r"\n  ( *)([-+]|\d+[.)])?", _hanging, markdown_text(result.answer, markers=True))
    if any(citation.source == "snapshot" for citation in result.citations):
        yield FROZEN_WEB
    yield from _section("Gaps", [_gap(gap) for gap in result.gaps])
    yield _confidence(result)
    citations = [_citation(number, citation, hashes) for number, citation in enumerate(result.citations, start=1)]
    yield from _section("Citations", citations)
    yield from _section("Discoveries", [_discovery(event) for event in result.discovery_events])
    yield from _section("Open questions", [_question(question) for question in result.open_questions])
    yield from _section("Researchers", [_rihla(each) for each in result.lineage or ()])
    cost = result.cost_metadata
    used = f"{counted(cost.tokens_used, 'token')}, {counted(cost.iterations_run, 'iteration')}"
    yield f"Cost: {used}, {cost.wall_time_sec:.1f} s, {markdown_line(cost.model_id)}. Trace: trace://{result.trace_id}"


def _hanging(start: re.Match[str]) -> str:
    blanks, mark = start[1].replace(" ", "&nbsp;"), start[2] or ""
    return f"  \n  {blanks}{mark[:-1]}\\{mark[-1]}" if mark else f"  \n  {blanks}"


def _section(title: str, parts: list[str]) -> Iterator[str]:
    # The title stands with the first part, so that it is never left alone where the rest is cut.
    for number, part in enumerate(parts):
        yield part if number else f"## {title}\n\n{part}"


def _citation(number: int, citation: Citation, hashes: bool) -> str:
    dated = f", published {citation.published.isoformat()}" if citation.published else ""
    if citation.modified and not citation.published:
        dated = f", changed {citation.modified.isoformat()}"
    authors = authors_in_words(citation)
    by = f", by {markdown_line(authors)}" if authors else ""
    finder = f", found by {markdown_line(citation.researcher)}" if citation.researcher else ""
    facts = f"{markdown_line(citation.source)}{by}{finder}, confidence {citation.confidence:.2f}{dated}"
    notices = [
        f"News of this work: {markdown_line(each.detail)}" + (f" {markdown_address(each.url)}" if each.url else "")
        for each in citation.notices or ()
    ]
    lines = [
        f"[{number}] {markdown_line(citation.title or citation.locator)}",
        f"{markdown_address(citation.locator)} ({facts})",
        *notices,
        "",
        *(f"> {line}" for line in markdown_text(citation.raw_excerpt).splitlines()),
    ]
    if hashes and citation.content_hash:
        lines += ["", f"`{citation.content_hash}`"]
    return "\n".join(lines)


def _rihla(rihla: Lineage) -> str:
    asked = f"- **{markdown_line(rihla.researcher)}** ({markdown_line(reason_to_ask(rihla))}): "
    spent = f"{outcome_in_words(rihla)}, {counted(rihla.tokens_used, 'token')}, trace {markdown_line(rihla.trace_id)}"
    return f"{asked}{markdown_line(rihla.question)} ({spent})"


def _gap(gap: Gap) -> str:
    told = f"- **{in_words(gap.category)}**: {_sentence(gap.topic)} {markdown_line(gap.detail)}"
    return f"{told} ({next_step(gap.category, gap.cause)})"


def _discovery(event: DiscoveryEvent) -> str:
    where = f" {markdown_address(event.source_locator)}" if event.source_locator else ""
    head = _sentence(discovery_head(event))
    return f"- **{markdown_line(discovery_kind(event))}**: {head} {markdown_line(event.reason)}{where}"


def _sentence(text: str) -> str:
    return markdown_line(text) + ("" if text.rstrip().endswith((".", "?", "!", "…")) else ".")


def _question(question: OpenQuestion) -> str:
    asked = f"{markdown_line(question.question)} ({markdown_line(question.context)})"
    return f"- **{in_words(question.priority)} priority**: {asked}"


def _confidence(result: ResearchResult) -> str:
    parts = [markdown_line(part) for part in confidence_parts(result.confidence_factors, result.citations)]
    return f"Confidence: {result.confidence:.2f} ({confidence_band(result.confidence)}): {', '.join(parts)}."
