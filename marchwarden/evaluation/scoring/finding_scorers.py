"""Scorers of gaps, discoveries and contradictions against their labels. metrics.py says what a scorer is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory
from marchwarden.evaluation.labels.pairing import paired
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, GoldGap
from marchwarden.evaluation.labels.scoring_text import (
    SAME_TOPIC,
    address,
    addresses_in,
    bare_identifier,
    normalised,
    topic_similarity,
)
from marchwarden.evaluation.scoring.aggregates import MISSED, NONE_GOLD, Cells

if TYPE_CHECKING:
    from marchwarden.evaluation.labels.case import Case

Label = TypeVar("Label", GoldDiscovery, GoldContradiction)
Report = TypeVar("Report")


# Gaps, discoveries, contradictions


def gaps(case: Case) -> Cells:
    """Gaps found against gaps labelled, whatever their category.

    A reported gap is a labelled one where it names its URL, else where their topics share most content words; each is
    matched once, the best fit first. What matches a label that is not required counts neither way, nor does a second
    gap of one label's topic and category: what a label names together may be told one by one.
    Precision: found and labelled / found. Recall: labelled and found / labelled. F1: their harmonic mean. 0: no label
    is met. 1: every label is met (recall), and nothing else is reported (precision).
    """
    pairs = paired_gaps(case)
    required = [gap for gap in case.question.gaps if gap.required]
    optional = sum(not gold.required for gold, _ in pairs)
    met = len(pairs) - optional
    found = len(case.result.gaps) if case.result else 0
    again = len(unpaired_gaps(case)[1])
    return {"found": found - optional - again, "right": met, "wanted": len(required), "met": met}


def gap_categories(case: Case) -> Cells | None:
    """The category reported for each labelled gap, `missed` where it was not reported; and the categories of reported
    gaps that no label matches (`not labelled`), for the confusion matrix.

    Accuracy: the mean over gold categories of the share of their gaps that got the right one (macro recall; a missed
    gap is a wrong one, and so is one that is reported again, in the same words, with another category). 0: no gap is
    told for what it is. 1: all are.
    """
    required = [gap for gap in case.question.gaps if gap.required]
    spare = unpaired_gaps(case)[0]
    reported: dict[int, str] = {}
    for gold, found in paired_gaps(case):
        # A spare report that fits as well and has a wrong category counts instead of the paired one: naming every
        # category tells nothing.
        fit = _gap_similarity(gold, found)
        rivals = [gap.category for gap in spare if _gap_similarity(gold, gap) >= fit]
        wrong = (category for category in rivals if category is not gold.category)
        reported[id(gold)] = min(wrong, default=found.category).value
    labelled = [[gap.category.value, reported.get(id(gap), MISSED)] for gap in required]
    rows = labelled + [[NONE_GOLD, gap.category.value] for gap in spare]
    return {"pairs": rows} if rows else None


def paired_gaps(case: Case) -> list[tuple[GoldGap, Gap]]:
    """Return each label with the reported gap that meets it: every one at most once, the best fit first.

    Of equal fits, the right category, then a required label, then the order of their JSON decides, so that the pairs
    do not depend on the order of labels or reports.
    """
    found = case.result.gaps if case.result else []
    fits = [
        (
            similarity,
            gold.category is gap.category,
            gold.required,
            gold.model_dump_json(),
            gap.model_dump_json(),
            gold,
            gap,
        )
        for gold in case.question.gaps
        for gap in found
        if (similarity := _gap_similarity(gold, gap)) >= SAME_TOPIC
    ]
    pairs: list[tuple[GoldGap, Gap]] = []
    for *_, gold, gap in sorted(fits, key=lambda fit: fit[:5], reverse=True):
        if not any(gold is other or gap is another for other, another in pairs):
            pairs.append((gold, gap))
    return pairs


def unpaired_gaps(case: Case) -> tuple[list[Gap], list[Gap]]:
    """Return the reported gaps that are paired with no label: those without a label, and those that repeat one."""
    matched = {id(found) for _, found in paired_gaps(case)}
    unpaired = [gap for gap in (case.result.gaps if case.result else []) if id(gap) not in matched]
    again = [
        gap
        for gap in unpaired
        if any(
            gold.category is gap.category and _gap_similarity(gold, gap) >= SAME_TOPIC for gold in case.question.gaps
        )
    ]
    return [gap for gap in unpaired if gap not in again], again


def _gap_similarity(gold: GoldGap, gap: Gap) -> float:
    """Return how well a reported gap fits a label, 0–1; 1 where it names the label's URL."""
    named = addresses_in(f"{gap.topic} {gap.detail}")
    if gold.url and address(gold.url) in named:
        return 1.0
    if gold.url and named and gap.category is GapCategory.ACCESS_DENIED:
        return 0.0  # it is about another closed page
    return min(0.99, topic_similarity(gold.topic, gap.topic))


def discoveries(case: Case) -> Cells:
    """Discoveries (`related_research`, `new_source`) against those labelled.

    A reported one is a labelled one where it names its identifier (DOI, arXiv id, trial, case, data set) in its query
    or its reason, or, where the label has none, points at its page. Each meets one label, each label is met once, and
    what fits a label beyond that counts neither way. Precision, recall and F1 as for gaps.
    """

    def fits(gold: GoldDiscovery, event: DiscoveryEvent) -> bool:
        if gold.identifier:
            return bare_identifier(gold.identifier) in normalised(f"{event.query} {event.reason}")
        same_place = address(event.source_locator or "") == address(gold.source_locator or "")
        return same_place and event.type is gold.type

    events = case.result.discovery_events if case.result else []
    found = [event for event in events if event.type is not DiscoveryType.CONTRADICTION]
    return _counted(case.question.discoveries, found, fits)


def contradictions(case: Case) -> Cells:
    """Contradictions reported (as discovery events, else, where any is labelled, as gaps) against those labelled.

    A reported one is a labelled one where it names two of its pages, or one of them and most words of what it is
    about. Each meets one label, as for discoveries. Precision, recall and F1 as for gaps.
    """

    def fits(gold: GoldContradiction, report: tuple[str, set[str]]) -> bool:
        text, named = report
        shared = len(named & {address(side.url) for side in gold.sides})
        return shared > 1 or (shared == 1 and topic_similarity(gold.about, text) >= SAME_TOPIC)

    events = case.result.discovery_events if case.result else []
    found = [
        (f"{event.query} {event.reason}", addresses_in(f"{event.source_locator} {event.reason}"))
        for event in events
        if event.type is DiscoveryType.CONTRADICTION
    ]
    labels = case.question.contradictions
    in_gaps = case.result.gaps if case.result and labels and not found else []
    found += [
        (f"{gap.topic} {gap.detail}", addresses_in(gap.detail))
        for gap in in_gaps
        if gap.category is GapCategory.CONTRADICTORY_SOURCES
    ]
    return _counted(labels, found, fits)


def _counted(labels: Sequence[Label], reports: Sequence[Report], fits: Callable[[Label, Report], bool]) -> Cells:
    """Return the cells for precision and recall. A report that fits a label beyond the one it meets counts
    nothing."""
    required = [label for label in labels if label.required]
    met = len(paired(required, reports, fits))
    strange = sum(not any(fits(label, report) for label in labels) for report in reports)
    return {"found": met + strange, "right": met, "wanted": len(required), "met": met}
