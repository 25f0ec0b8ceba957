"""What became of every label of a question, and what was reported beside the labels: for people who look at a run.

The scorers decide it (metrics.py), asked about one label or one citation at a time, so that what is shown and what is
scored can't differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from marchwarden.contract import Citation, DiscoveryEvent, DiscoveryType, Gap, GapCategory, ResearchResult
from marchwarden.errors import TraceError
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.pairing import paired
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, GoldGap, Nugget
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evaluation.runs.run import Record
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
from marchwarden.trace.reader import read_trace

# `allowed` and `not reported`: what became of a label that is not required. What is reported of a label beyond the
# report that meets it is allowed, too.
Verdict: TypeAlias = Literal["matched", "wrong category", "missed", "not labelled", "allowed", "not reported"]


@dataclass(frozen=True)
class Said:
    """A label or a report, as it is shown."""

    kind: str
    """The gap's category, the discovery's type."""
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
    """Whether the answer says it."""
    evidenced: bool
    """Whether a citation gives evidence for it."""


@dataclass(frozen=True)
class Wanted:
    """Something that the labels ask for, and whether it was done."""

    what: Literal["nugget", "evidence", "gap", "discovery", "contradiction", "abstention", "injection"]
    name: str
    met: bool


@dataclass(frozen=True)
class Matches:
    """Of one question."""

    nuggets: list[NuggetMatch]
    citations: list[bool | None]
    """Whether each citation bears on the question as labelled; None where no evidence is labelled."""
    gaps: list[Match]
    discoveries: list[Match]
    contradictions: list[Match]
    abstained: bool | None
    """None where the question can be answered."""
    clean: bool | None
    """Whether nothing forbidden was said; None where nothing is."""

    @property
    def wanted(self) -> list[Wanted]:
        """Everything required, in an order that the labels alone decide."""
        vital = [each for each in self.nuggets if each.nugget.vital]
        wanted = [Wanted("nugget", _named(each.nugget), each.said) for each in vital]
        wanted += [Wanted("evidence", _named(each.nugget), each.evidenced) for each in vital]
        wanted += [Wanted("gap", name, met) for name, met in _required(self.gaps)]
        wanted += [Wanted("discovery", name, met) for name, met in _required(self.discoveries)]
        wanted += [Wanted("contradiction", name, met) for name, met in _required(self.contradictions)]
        if self.abstained is not None:
            wanted.append(Wanted("abstention", "nothing is claimed", self.abstained))
        if self.clean is not None:
            wanted.append(Wanted("injection", "nothing that a page instructs is said", self.clean))
        return wanted


def _named(nugget: Nugget) -> str:
    return f"{nugget.id}: {nugget.text}"


def _required(matches: Sequence[Match]) -> Iterator[tuple[str, bool]]:
    for each in matches:
        if each.label and each.verdict in ("matched", "wrong category", "missed"):
            kind = "" if each.label.kind == DiscoveryType.CONTRADICTION.value else f"{each.label.kind}: "
            yield f"{kind}{each.label.text}", each.verdict == "matched"


def as_words(wanted: Sequence[Wanted]) -> list[str]:
    """`nugget and evidence n1: 400 mg a day`: a line for each, what is wanted of one nugget on one line."""
    by_name: dict[str, list[str]] = {}
    for each in wanted:
        by_name.setdefault(each.name, []).append(each.what)
    return [f"{' and '.join(whats)} {name}" for name, whats in by_name.items()]


def matches_of(record: Record, traces: Path) -> Matches:
    """What became of a record's labels. `traces` is the run's folder of traces; where the pages that were read are
    gone from it, an excerpt and a quote are one piece of evidence only where one contains the other."""
    case = Case(record.question, record.result, texts=_texts(record.trace_id, traces))
    return Matches(
        nuggets=[_nugget(case, nugget) for nugget in case.question.nuggets],
        citations=[_is_gold(case, citation) for citation in case.citations],
        gaps=list(_gaps(case)),
        discoveries=list(_discoveries(case)),
        contradictions=list(_contradictions(case)),
        abstained=_whole(abstention(case)),
        clean=_whole(injection_resistance(case)),
    )


def _texts(trace_id: str, traces: Path) -> dict[str, str]:
    """The texts that were read, by the addresses that citations can name; what is lost is left out."""
    store = Store(traces / "store")
    texts = {}
    with suppress(TraceError):
        for fetch in read_trace(traces / f"{trace_id}.jsonl").fetches:
            with suppress(TraceError):
                text = store.get(fetch.text_hash or "").decode("utf-8")
                texts.update({address(url): text for url in (fetch.url, fetch.final_url) if url})
    return texts


def _whole(cells: Cells | None) -> bool | None:
    return None if cells is None else cells["hits"] == cells["of"]


def _narrowed(case: Case, labels: dict[str, Any], reported: dict[str, Any] | None = None) -> Case:
    """The same case with these labels and reports alone."""
    result = case.result.model_copy(update=reported) if case.result and reported else case.result
    return replace(case, question=case.question.model_copy(update=labels), result=result)


def _nugget(case: Case, nugget: Nugget) -> NuggetMatch:
    alone = _narrowed(case, {"nuggets": [nugget.model_copy(update={"vital": True})]})
    return NuggetMatch(nugget, bool(_whole(nugget_recall(alone))), bool(_whole(evidence_recall(alone))))


def _is_gold(case: Case, citation: Citation) -> bool | None:
    return _whole(evidence_precision(_narrowed(case, {}, {"citations": [citation]})))


# Gaps


def _gaps(case: Case) -> Iterator[Match]:
    pairs = paired_gaps(case)
    told = iter((gap_categories(case) or {"pairs": []})["pairs"])  # first those of the labels that are required
    for gold in case.question.gaps:
        gap = next((gap for other, gap in pairs if other is gold), None)
        verdict = _gap_verdict(*next(told)) if gold.required else _optional(gap)
        yield Match(_gold_gap(gold), _gap(gap) if gap else None, verdict)
    spare, again = unpaired_gaps(case)
    yield from (Match(None, _gap(gap), "allowed") for gap in again)
    yield from (Match(None, _gap(gap), "not labelled") for gap in spare)


def _gap_verdict(gold: str, told: str) -> Verdict:
    if told == MISSED:
        return "missed"
    return "matched" if told == gold else "wrong category"


def _optional(reported: object | None) -> Verdict:
    return "allowed" if reported else "not reported"


def _gold_gap(gold: GoldGap) -> Said:
    return Said(gold.category.value, gold.topic, url=gold.url)


def _gap(gap: Gap) -> Said:
    return Said(gap.category.value, gap.topic, gap.detail)


# Discoveries and contradictions


def _discoveries(case: Case) -> Iterator[Match]:
    def is_one(gold: GoldDiscovery, event: DiscoveryEvent) -> bool:
        labels = {"discoveries": [gold.model_copy(update={"required": True})]}
        return bool(discoveries(_narrowed(case, labels, {"discovery_events": [event]}))["met"])

    events = [event for event in _events(case.result) if event.type is not DiscoveryType.CONTRADICTION]
    labels = [(gold, _gold_discovery(gold), gold.required) for gold in case.question.discoveries]
    yield from _matched(labels, [(event, _event(event)) for event in events], is_one)


def _contradictions(case: Case) -> Iterator[Match]:
    def is_one(gold: GoldContradiction, reported: DiscoveryEvent | Gap) -> bool:
        labels = {"contradictions": [gold.model_copy(update={"required": True})]}
        events = [reported] if isinstance(reported, DiscoveryEvent) else []
        gaps = [] if events else [reported]
        return bool(contradictions(_narrowed(case, labels, {"discovery_events": events, "gaps": gaps}))["met"])

    reported: list[tuple[DiscoveryEvent | Gap, Said]] = [
        (event, _event(event)) for event in _events(case.result) if event.type is DiscoveryType.CONTRADICTION
    ]
    if case.result and case.question.contradictions and not reported:
        in_gaps = [gap for gap in case.result.gaps if gap.category is GapCategory.CONTRADICTORY_SOURCES]
        reported = [(gap, _gap(gap)) for gap in in_gaps]
    labels = [(gold, _gold_contradiction(gold), gold.required) for gold in case.question.contradictions]
    yield from _matched(labels, reported, is_one)


def _matched(
    labels: Sequence[tuple[Any, Said, bool]],
    reported: Sequence[tuple[Any, Said]],
    is_one: Callable[[Any, Any], bool],
) -> Iterator[Match]:
    """Every label with the report that meets it, then the reports that are left: paired as the scorers do."""

    def fits(label: tuple[Any, Said, bool], report: tuple[Any, Said]) -> bool:
        return is_one(label[0], report[0])

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
            yield Match(label[1], met and met[1], _optional(met))
    for report in left:
        is_labelled = any(fits(label, report) for label in labels)
        yield Match(None, report[1], "allowed" if is_labelled else "not labelled")


def _events(result: ResearchResult | None) -> list[DiscoveryEvent]:
    return result.discovery_events if result else []


def _event(event: DiscoveryEvent) -> Said:
    return Said(event.type.value, event.query, event.reason, event.source_locator)


def _gold_discovery(gold: GoldDiscovery) -> Said:
    text = gold.identifier or gold.suggested_researcher or gold.source_locator or "any"
    return Said(gold.type.value, text, url=gold.source_locator)


def _gold_contradiction(gold: GoldContradiction) -> Said:
    sides = " ↔ ".join(f"“{side.quote}”" for side in gold.sides)
    return Said(DiscoveryType.CONTRADICTION.value, gold.about, sides)
