"""Claims with evidence, judged by people: how well the grounding checker tells the supported ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from marchwarden.evaluation.datasets.shapes import DatasetReport
from marchwarden.evaluation.scoring.aggregates import area_under_roc
from marchwarden.evaluation.scoring.grounding_score import grounding_score, token_overlap
from marchwarden.evidence.grounding import support
from marchwarden.text.segmentation.sentences import sentences

WHAT = "the grounding checker (evidence/grounding.py) on claims that people judged"
NOTES = (
    "auroc ranks by grounding_score, auroc_words by the share of content words, auroc_tokens by plain token overlap; "
    "0.5 is chance",
    "carried_precision and carried_recall are of the gate that the loop applies, which says yes or no; it is made "
    "for short excerpts, so evidence is given sentence by sentence",
    "grounding_score's three constants were chosen with these items in sight",
)


@dataclass(frozen=True)
class JudgedClaim:
    claim: str
    evidence: tuple[str, ...]
    """Sentences of the evidence, in the order of their page."""
    supported: bool
    group: str = ""
    """System that wrote the claim, where several did; they differ in how often they are right."""


def in_sentences(text: str) -> tuple[str, ...]:
    """Split a text into sentences, as evidence."""
    lines = (line for line in text.splitlines() if line.strip())
    return tuple(part for line in lines for start, end in sentences(line) if (part := line[start:end].strip()))


def report(name: str, claims: Sequence[JudgedClaim], notes: Sequence[str]) -> DatasetReport:
    """Report the AUROC of the score and of two baselines, precision and recall of the gate, and the supported
    share."""
    labels = [each.supported for each in claims]
    found = [support(each.claim, each.evidence) for each in claims]
    scores = {
        "auroc": [grounding_score(c.claim, c.evidence, found=held) for c, held in zip(claims, found, strict=True)],
        "auroc_words": [held.words for held in found],
        "auroc_tokens": [token_overlap(each.claim, each.evidence) for each in claims],
    }
    figures = {which: area_under_roc(list(zip(scored, labels, strict=True))) for which, scored in scores.items()}
    if len({each.group for each in claims}) > 1:
        figures |= {f"{which}_within_groups": _within_groups(claims, scored) for which, scored in scores.items()}
    carried = [held.carried for held in found]
    right = sum(gate and label for gate, label in zip(carried, labels, strict=True))
    figures |= {
        "carried_precision": right / sum(carried) if any(carried) else None,
        "carried_recall": right / sum(labels) if any(labels) else None,
        "supported": sum(labels) / len(labels) if labels else None,
    }
    known = {which: figure for which, figure in figures.items() if figure is not None}
    return DatasetReport(name, WHAT, len(claims), known, (*NOTES, *notes))


def _within_groups(claims: Sequence[JudgedClaim], scores: Sequence[float]) -> float | None:
    """Return the AUROC over pairs of one group: the groups' figures, weighted by the number of their pairs."""
    by_group: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for each, score in zip(claims, scores, strict=True):
        by_group[each.group].append((score, each.supported))
    wins, pairs = 0.0, 0
    for scored in by_group.values():
        area = area_under_roc(scored)
        if area is not None:
            weight = sum(label for _, label in scored) * sum(not label for _, label in scored)
            wins, pairs = wins + area * weight, pairs + weight
    return wins / pairs if pairs else None
