"""Matches of a question's labels with its result, for people who look at a run.

The scorers decide them (metrics.py), asked about one label or one citation at a time, so that what is shown and what
is scored can't differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory
from marchwarden.errors import TraceError
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.pairing import paired
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, Nugget
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evaluation.scoring.aggregates import MISSED, Cells
from marchwarden.evaluation.scoring.answer_scorers import (
    abstention,
    evidence_precision,
    evidence_recall,
    injection_resistance,
    nugget_recall,
)
from marchwarden.evaluation.scoring.finding_scorers import (
    contradictions,
    discoveries,
    gap_categories,
    paired_gaps,
    unpaired_gaps,
)
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace, read_trace

if TYPE_CHECKING:
    from marchwarden.evaluation.runs.run import Record

# `allowed` and `not reported`: what became of a label that is not required. What is reported of a label beyond the
# report that meets it is allowed, too.
Verdict: TypeAlias = Literal["matched", "wrong category", "missed", "not labelled", "allowed", "not reported"]


@dataclass(frozen=True)
class Said:
    """A label or a report, as it is shown."""

    kind: str
    """Category of the gap, or type of the discovery."""
    text: str
    detail: str = ""
    url: str | None = None


@dataclass(frozen=True)
class Match:
    """A label beside what was reported for it; one of the two may be missing."""

    label: Said | None
    reported: Said | None
    verdict: Verdict


@dataclass(frozen=True)
class NuggetMatch:
    nugget: Nugget
    said: bool
    """True where the answer says the nugget."""
    evidenced: bool | None
    """True where a citation gives evidence for the nugget; None where the labels name no evidence of it."""


@dataclass(frozen=True)
class Wanted:
    """Something that the labels ask for, and whether the result met it."""

    what: Literal["nugget", "evidence", "gap", "discovery", "contradiction", "abstention", "injection"]
    name: str
    met: bool


@dataclass(frozen=True)
class Matches:
    """The matches of one question."""

    nuggets: list[NuggetMatch]
    citations: list[bool | None]
    """True for each citation that the labels call evidence, else False; None for each where none is labelled."""
    gaps: list[Match]
    discoveries: list[Match]
    contradictions: list[Match]
    abstained: bool | None
    """True where nothing was claimed; None where the question can be answered."""
    clean: bool | None
    """True where no forbidden string was said; None where the labels name none."""

    @property
    def wanted(self) -> list[Wanted]:
        """Everything required, in an order that the labels alone decide."""
        vital = [(f"{each.nugget.id}: {each.nugget.text}", each) for each in self.nuggets if each.nugget.vital]
        wanted = [Wanted("nugget", name, each.said) for name, each in vital]
        wanted += [Wanted("evidence", name, each.evidenced) for name, each in vital if each.evidenced is not None]
        wanted += [Wanted("gap", name, met) for name, met in _required(self.gaps)]
        wanted += [Wanted("discovery", name, met) for name, met in _required(self.discoveries)]
        wanted += [Wanted("contradiction", name, met) for name, met in _required(self.contradictions)]
        if self.abstained is not None:
            wanted.append(Wanted("abstention", "nothing is claimed", self.abstained))
        if self.clean is not None:
            wanted.append(Wanted("injection", "nothing that a prompt injection asks for is said", self.clean))
        return wanted


def _required(matches: Sequence[Match]) -> Iterator[tuple[str, bool]]:
    """Yield the name of each required label, and whether it was met."""
    for each in matches:
        if each.label and each.verdict in ("matched", "wrong category", "missed"):
            kind = "" if each.label.kind == DiscoveryType.CONTRADICTION.value else f"{each.label.kind}: "
            yield f"{kind}{each.label.text}", each.verdict == "matched"


def as_words(wanted: Sequence[Wanted]) -> list[str]:
    """Return a line for each name, such as `nugget and evidence n1: 400 mg a day`."""
    by_name: dict[str, list[str]] = {}
    for each in wanted:
        by_name.setdefault(each.name, []).append(each.what)
    return [f"{' and '.join(whats)} {name}" for name, whats in by_name.items()]


def matches_of(record: Record, traces: Path) -> Matches:
    """Return the matches of a record's labels. `traces` is the run's folder of traces.

    Where the pages that were read are gone from it, an excerpt and a quote are one piece of evidence only where one
    contains the other.
    """
    texts: dict[str, str] = {}
    with suppress(TraceError):
        texts = texts_of(read_trace(traces / f"{record.trace_id}.jsonl"), Store(traces / "store"))
    case = Case(record.question, record.result, texts=texts)
    nuggets = []
    for nugget in case.question.nuggets:
        alone = _narrowed(case, {"nuggets": [nugget.model_copy(update={"vital": True})]})
        nuggets.append(NuggetMatch(nugget, bool(_whole(nugget_recall(alone))), _whole(evidence_recall(alone))))
    return Matches(
        nuggets=nuggets,
        citations=[
            _whole(evidence_precision(_narrowed(case, {}, {"citations": [citation]}))) for citation in case.citations
        ],
        gaps=list(_gaps(case)),
        discoveries=list(_discoveries(case)),
        contradictions=list(_contradictions(case)),
        abstained=_whole(abstention(case)),
        clean=_whole(injection_resistance(case)),
    )


def texts_of(trace: Trace, store: Store) -> dict[str, str]:
    """Return the texts that were read, by the addresses that citations can name; texts that are lost are left out."""
    texts = {}
    for fetch in trace.fetches:
        with suppress(TraceError):
            text = store.get(fetch.text_hash or "").decode("utf-8")
            texts.update({address(url): text for url in (fetch.url, fetch.final_url) if url})
    return texts


def _whole(cells: Cells | None) -> bool | None:
    """Return whether all that a scorer asks for was met; None where it has nothing to score."""
    return None if cells is None else cells["hits"] == cells["of"]


def _narrowed(case: Case, labels: dict[str, Any], reported: dict[str, Any] | None = None) -> Case:
    """Return the same case with these labels and reports alone."""
    result = case.result.model_copy(update=reported) if case.result and reported else case.result
    return replace(case, question=case.question.model_copy(update=labels), result=result)


# Gaps


def _gaps(case: Case) -> Iterator[Match]:
    """Yield a match for each labelled gap, then for each reported gap that is left."""
    pairs = paired_gaps(case)
    # Pairs of (labelled category, reported category); those of the required labels come first, in their order.
    categories = iter((gap_categories(case) or {"pairs": []})["pairs"])
    for gold in case.question.gaps:
        gap = next((gap for other, gap in pairs if other is gold), None)
        verdict: Verdict
        if gold.required:
            labelled, reported = next(categories)
            verdict = "missed" if reported == MISSED else "matched" if reported == labelled else "wrong category"
        else:
            verdict = "allowed" if gap else "not reported"
        yield Match(Said(gold.category.value, gold.topic, url=gold.url), _gap(gap) if gap else None, verdict)
    spare, again = unpaired_gaps(case)
    yield from (Match(None, _gap(gap), "allowed") for gap in again)
    yield from (Match(None, _gap(gap), "not labelled") for gap in spare)


def _gap(gap: Gap) -> Said:
    return Said(gap.category.value, gap.topic, gap.detail)


# Discoveries and contradictions


def _discoveries(case: Case) -> Iterator[Match]:
    """Yield a match for each labelled discovery, then for each reported one that is left."""

    def is_one(gold: GoldDiscovery, event: DiscoveryEvent) -> bool:
        labels = {"discoveries": [gold.model_copy(update={"required": True})]}
        return bool(discoveries(_narrowed(case, labels, {"discovery_events": [event]}))["met"])

    reported = case.result.discovery_events if case.result else []
    events = [event for event in reported if event.type is not DiscoveryType.CONTRADICTION]
    labels = []
    for gold in case.question.discoveries:
        text = gold.identifier or gold.suggested_researcher or gold.source_locator or "any"
        labels.append((gold, Said(gold.type.value, text, url=gold.source_locator), gold.required))
    yield from _matched(labels, [(event, _event(event)) for event in events], is_one)


def _contradictions(case: Case) -> Iterator[Match]:
    """Yield a match for each labelled contradiction, then for each reported one that is left."""

    def is_one(gold: GoldContradiction, reported: DiscoveryEvent | Gap) -> bool:
        labels = {"contradictions": [gold.model_copy(update={"required": True})]}
        events = [reported] if isinstance(reported, DiscoveryEvent) else []
        gaps = [] if events else [reported]
        return bool(contradictions(_narrowed(case, labels, {"discovery_events": events, "gaps": gaps}))["met"])

    events = case.result.discovery_events if case.result else []
    reported: list[tuple[DiscoveryEvent | Gap, Said]] = [
        (event, _event(event)) for event in events if event.type is DiscoveryType.CONTRADICTION
    ]
    if case.result and case.question.contradictions and not reported:
        in_gaps = [gap for gap in case.result.gaps if gap.category is GapCategory.CONTRADICTORY_SOURCES]
        reported = [(gap, _gap(gap)) for gap in in_gaps]
    labels = []
    for gold in case.question.contradictions:
        sides = " ↔ ".join(f"“{side.quote}”" for side in gold.sides)
        labels.append((gold, Said(DiscoveryType.CONTRADICTION.value, gold.about, sides), gold.required))
    yield from _matched(labels, reported, is_one)


def _matched(
    labels: Sequence[tuple[Any, Said, bool]],
    reported: Sequence[tuple[Any, Said]],
    is_one: Callable[[Any, Any], bool],
) -> Iterator[Match]:
    """Yield every label with the report that meets it, then the reports that are left, paired as the scorers do.

    `labels` holds (label, the same as shown, whether it is required), `reported` (report, the same as shown).
    """

    def fits(label: tuple[Any, Said, bool], report: tuple[Any, Said]) -> bool:
        return is_one(label[0], report[0])

    # Required labels come first, so that a report which fits both kinds meets the one that counts.
    required = [label for label in labels if label[2]]
    pairs = paired(required, reported, fits)
    left = [report for report in reported if not any(report is other for _, other in pairs)]
    for label in labels:
        if label[2]:
            met = next((report for other, report in pairs if other is label), None)
            yield Match(label[1], met and met[1], "matched" if met else "missed")
        else:
            met = next((report for report in left if fits(label, report)), None)
            left = [report for report in left if report is not met]
            yield Match(label[1], met and met[1], "allowed" if met else "not reported")
    for report in left:
        is_labelled = any(fits(label, report) for label in labels)
        yield Match(None, report[1], "allowed" if is_labelled else "not labelled")


def _event(event: DiscoveryEvent) -> Said:
    return Said(event.type.value, event.query, event.reason, event.source_locator)
