"""A result as Markdown for a model or a person to read, within a limit; it says where the rest is if it does not fit.

The order is that of worth: the answer, what is missing, how sure it is, then the evidence and what to look at next.
"""

from __future__ import annotations

from collections.abc import Iterator

from marchwarden.contract import (
    Citation,
    DiscoveryEvent,
    Gap,
    OpenQuestion,
    ResearchResult,
    confidence_band,
    next_step,
)

TEXT_TOKENS = 25_000
"""What clients take of one tool result."""
_ROOM_FOR_THE_REST = 200


def tokens_at_most(text: str) -> int:
    """More tokens than any usual tokenizer makes of `text`: one for two ASCII characters, one for each other byte."""
    size = len(text.encode("utf-8", "replace"))
    ascii_size = sum(character.isascii() for character in text)
    return (ascii_size + 1) // 2 + size - ascii_size


def as_markdown(result: ResearchResult, *, limit: int = TEXT_TOKENS) -> str:
    """The whole result where it fits into `limit` tokens; else what comes first, and where the rest is."""
    blocks = list(_blocks(result))
    kept: list[str] = []
    room = limit - _ROOM_FOR_THE_REST
    for number, block in enumerate(blocks):
        cost = tokens_at_most(block) + 2
        if cost > room:
            kept.append(_cut(block, room) if not kept else "")
            kept.append(_rest(result, len(blocks) - number - (len(kept) == 1)))
            break
        kept.append(block)
        room -= cost
    return "\n\n".join(block for block in kept if block) + "\n"


def _rest(result: ResearchResult, blocks: int) -> str:
    missing = f"{blocks} more parts did not fit here. " if blocks else "The answer was cut here. "
    return f"*{missing}The whole result: the structured content of this call, or the resource trace://{result.trace_id}.*"


def _cut(block: str, room: int) -> str:
    """The longest start of `block` that surely fits."""
    low, high = 0, len(block)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_at_most(block[:middle]) <= room else (low, middle - 1)
    return block[:low]


def _blocks(result: ResearchResult) -> Iterator[str]:
    yield result.answer
    yield from _section("Gaps", [_gap(gap) for gap in result.gaps])
    yield _confidence(result)
    yield from _section("Citations", [_citation(number, each) for number, each in enumerate(result.citations, 1)])
    yield from _section("Discoveries", [_discovery(event) for event in result.discovery_events])
    yield from _section("Open questions", [_question(question) for question in result.open_questions])
    yield _cost(result)


def _section(title: str, parts: list[str]) -> Iterator[str]:
    """The title stands with the first part, so that it is never left alone."""
    for number, part in enumerate(parts):
        yield part if number else f"## {title}\n\n{part}"


def _citation(number: int, citation: Citation) -> str:
    title = _one_line(citation.title or citation.locator)
    dated = f", published {citation.published.isoformat()}" if citation.published else ""
    lines = [
        f"[{number}] {title}",
        f"{citation.locator} ({citation.source}, confidence {citation.confidence:.2f}{dated})",
    ]
    quoted = "\n".join(f"> {line}" for line in citation.raw_excerpt.splitlines())
    return "\n".join([*lines, "", quoted])


def _gap(gap: Gap) -> str:
    told = f"- **{gap.category.value}**: {_one_line(gap.topic)}. {_one_line(gap.detail)}"
    return f"{told} ({next_step(gap.category)})"


def _discovery(event: DiscoveryEvent) -> str:
    researcher = f" (for: {_one_line(event.suggested_researcher)})" if event.suggested_researcher else ""
    where = f" {event.source_locator}" if event.source_locator else ""
    return f"- **{event.type.value}**{researcher}: {_one_line(event.query)}. {_one_line(event.reason)}{where}"


def _question(question: OpenQuestion) -> str:
    return f"- **{question.priority.value}**: {_one_line(question.question)} ({_one_line(question.context)})"


def _confidence(result: ResearchResult) -> str:
    factors = result.confidence_factors
    parts = [
        f"{factors.num_corroborating_sources} corroborating sources",
        f"source authority {factors.source_authority.value}",
        f"contradictions {'found' if factors.contradiction_detected else 'none'}",
        f"question matched {factors.query_specificity_match:.2f}",
        f"budget {'exhausted' if factors.budget_exhausted else 'sufficient'}",
        f"recency {factors.recency.value if factors.recency else 'unknown'}",
    ]
    return f"Confidence: {result.confidence:.2f} ({confidence_band(result.confidence)}): {', '.join(parts)}."


def _cost(result: ResearchResult) -> str:
    cost = result.cost_metadata
    spent = (
        f"{cost.tokens_used} tokens, {cost.iterations_run} iterations, {cost.wall_time_sec:.1f} s, {cost.model_id}"
    )
    return f"Cost: {spent}. Trace: trace://{result.trace_id}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
