"""Words for the parts of a result, for the terminal, Markdown and HTML alike. Imports nothing that starts slowly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from marchwarden.observations import without_place

if TYPE_CHECKING:
    from marchwarden.contract import Citation, ConfidenceFactors, DiscoveryEvent, Lineage
    from marchwarden.trace.json_view import TolerantJsonView

# The age of the newest cited source, by the contract's limits.
_AGES = {
    "current": "newest source under 1 year old",
    "recent": "newest source 1 to 3 years old",
    "dated": "newest source over 3 years old",
}
# Names of identifiers by their form, which begin the query of a discovery.
_IDENTIFIERS = tuple(
    (name, re.compile(rf"({form})\s+(?=\S)"))
    for name, form in (
        ("DOI", r"10\.\d{4,9}/\S+"),
        ("arXiv", r"\d{4}\.\d{4,5}(?:v\d+)?"),
        ("Trial", r"(?:NCT|ISRCTN)\d{8}"),
        (
            "Court case",
            r"[CT][-‑–]\d{1,4}/\d{2}|\d{4,5}/\d{2}|No\.\s?\d{2}-\d{2,5}|\d{1,3} (?:U\.S\.|F\.[23]d) \d{1,4}",
        ),
        ("Data set", r"(?:[A-Z][\w-]+ ){1,6}(?:Data ?[Ss]et|Database|Data Archive|Data Repository|Data Portal)"),
    )
)

# Reasons to ask a researcher, by `Lineage.origin`, and what came of it, by `Lineage.outcome`.
_REASONS = {
    "sub_question": "at first",
    "source_not_found": "others found nothing",
    "access_denied": "a page was closed",
    "scope_exceeded": "another could not look it up",
    "budget_exhausted": "with a larger budget",
    "discovery": "another came upon it",
    "tie_break": "sources disagree",
    "retry": "a second time",
}
_OUTCOMES = {"nothing": "found nothing", "lost": "gave no result"}

# Authors that a citation names one by one. A guess.
_MOST_NAMES = 3

# A citation's marker. With a group: re.split then gives texts and citation numbers in turn.
_MARKER = re.compile(r"\s*\[(\d{1,3})\]")


@dataclass(frozen=True)
class Line:
    """A line of an answer, with those that hang from it.

    Texts stand at even places of `parts`, numbers of citations at odd ones.
    """

    is_item: bool
    parts: list[str]


def answer_lines(answer: str) -> list[Line]:
    """Split an answer into lines, and each line at its markers. A line with an indent belongs to the one before."""
    found: list[str] = []
    for line in answer.splitlines():
        if line.startswith("  ") and found:
            found[-1] += f"\n{line[2:].rstrip()}"
        else:
            found.append(line.strip())
    return [Line(each.startswith(("- ", "* ")), _MARKER.split(re.sub(r"^[-*] ", "", each))) for each in found if each]


def authors_in_words(citation: Citation | TolerantJsonView) -> str | None:
    """Return the names of the authors of a citation, of more than three the first and "et al."; None for none."""
    names = [str(name) for name in citation.authors or ()]
    between = "; " if any("," in name for name in names) else ", "  # "Doe, Jane; Lee, Ann"
    return (f"{names[0]} et al." if len(names) > _MOST_NAMES else between.join(names)) or None


def in_words(value: object) -> str:
    """Return an enum's value, or a string read from a trace, as words: `source_not_found` → `source not found`."""
    return str(value.value if isinstance(value, Enum) else value).replace("_", " ")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 page`, `3 pages`, `2 queries`."""
    if number == 1:
        return f"1 {noun}"
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {plural}"


def discovery_head(event: DiscoveryEvent | TolerantJsonView) -> str:
    """Return the query of a discovery, with the kind of its identifier first: `DOI 10.5555/12: Which crops …`."""
    for name, form in _IDENTIFIERS:
        if found := form.match(event.query):
            return f"{name} {found[1]}: {event.query[found.end() :]}"
    return event.query


def discovery_kind(event: DiscoveryEvent | TolerantJsonView) -> str:
    """Return the type of a discovery with the researcher that it is for: `related research → academic`."""
    researcher = f" → {event.suggested_researcher}" if event.suggested_researcher else ""
    return f"{in_words(event.type)}{researcher}"


def reason_to_ask(rihla: Lineage | TolerantJsonView) -> str:
    """Return in words why a researcher was asked."""
    return _REASONS.get(rihla.origin) or in_words(rihla.origin)


def outcome_in_words(rihla: Lineage | TolerantJsonView) -> str:
    """Return in words what came of a question to a researcher."""
    return _OUTCOMES.get(rihla.outcome) or in_words(rihla.outcome)


def confidence_parts(
    factors: ConfidenceFactors | TolerantJsonView, citations: Sequence[Citation | TolerantJsonView] = ()
) -> list[str]:
    """Return what a confidence was computed from, a phrase each, for an answer with these citations."""
    # The files of a corpus may have one author, and count as one source: they need not confirm each other.
    files = {without_place(str(each.locator)) for each in citations if in_words(each.source) == "file"}
    are_files = bool(citations) and all(in_words(each.source) == "file" for each in citations)
    number = factors.num_corroborating_sources
    recency = in_words(factors.recency) if factors.recency else ""
    parts = [
        f"quotes from {counted(len(files), 'file')}" if are_files else counted(number, "corroborating source"),
        f"source authority {in_words(factors.source_authority)}",
        _AGES.get(recency, recency) or "age of the sources unknown",
        f"match with the question {factors.query_specificity_match:.2f}",
        "sources contradict each other" if factors.contradiction_detected else "no contradiction found",
        "a limit was reached" if factors.budget_exhausted else "no limit was reached",
    ]
    if factors.calibration:
        before = "" if factors.uncalibrated is None else f" (uncalibrated {factors.uncalibrated:.2f})"
        parts.insert(0, factors.calibration + before)
    if factors.estimated is not None:
        parts.append(f"the model's own estimate {factors.estimated:.2f}")
    if factors.would_change:
        parts.append(f"would change it most: {factors.would_change}")
    return parts
