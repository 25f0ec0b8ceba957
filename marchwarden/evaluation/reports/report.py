"""A run's report as data; report_markdown.py and report_html.py write it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cached_property
from inspect import getdoc
from itertools import islice
from statistics import fmean, median
from typing import Any

from marchwarden.contract import GapCategory
from marchwarden.evaluation.runs.matches import Matches, Wanted, matches_of
from marchwarden.evaluation.runs.run import Record, Run, RunInfo
from marchwarden.evaluation.runs.scores import Scores, scores_of
from marchwarden.evaluation.scoring.aggregates import MISSED, NONE_GOLD, Bin, Cells, confusion, reliability
from marchwarden.evaluation.scoring.metrics import Metric

# The scorers that measure a question's cost, with their units.
COSTS = {"tokens": "tokens", "pages": "pages", "seconds": "seconds", "dollars": "US dollars"}
# Questions in the list of the worst. A guess.
WORST = 10


@dataclass(frozen=True)
class Asked:
    """One question of a run, beside its labels."""

    record: Record
    matches: Matches

    @cached_property
    def wanted(self) -> list[Wanted]:
        return self.matches.wanted

    @property
    def met(self) -> int:
        return sum(each.met for each in self.wanted)

    @property
    def missed(self) -> list[Wanted]:
        return [each for each in self.wanted if not each.met]

    @property
    def failed(self) -> bool:
        return self.record.result is None

    @property
    def is_whole(self) -> bool:
        """True where there is a result that meets all of the labels."""
        return not self.failed and not self.missed

    @property
    def share_met(self) -> float:
        """Share of the labels that were met, 0–1; 0 for a failed question, 1 for one without labels to meet."""
        if self.failed:
            return 0.0
        return self.met / len(self.wanted) if self.wanted else 1.0


@dataclass(frozen=True)
class Spent:
    """Cost of a run's questions in one unit."""

    unit: str
    questions: int
    answers: int
    """Number of answers with a figure, which the others are of: of questions times epochs."""
    mean: float
    median: float
    most: float
    total: float


@dataclass(frozen=True)
class Report:
    name: str
    """Name of the run's folder."""
    traces: str
    """Path of the folder of the run's traces, relative as the run's was given."""
    scores: Scores
    asked: list[Asked]
    """Questions in the order in which they were asked."""

    @property
    def info(self) -> RunInfo:
        return self.scores.info

    @property
    def failed(self) -> list[Asked]:
        return [each for each in self.asked if each.failed]

    @property
    def from_worst(self) -> list[Asked]:
        """Questions, the one that met the smallest share of its labels first."""
        return sorted(self.asked, key=lambda each: (each.share_met, -len(each.wanted), each.record.name))

    def cells(self, scorer: str) -> list[Cells]:
        """Return the cells of one scorer, of the questions that have something for it to score."""
        found = (each.record.cells.get(scorer) for each in self.asked)
        return [cells for cells in found if cells is not None]

    def kinds(self) -> dict[str, int]:
        """Count the questions that carry each tag, in alphabetical order; one of several epochs counts once."""
        questions = {each.record.id: each.record.question for each in self.asked}
        return dict(sorted(Counter(tag for each in questions.values() for tag in each.tags).items()))

    def confusion(self) -> list[tuple[str, list[int]]]:
        """Return a row for each gold category (the last for gaps without a label), with a count for each of
        `TOLD`."""
        counted = confusion(self.cells("gap_categories"))
        return [(gold, [counted[gold, told] for told in TOLD]) for gold in GOLD]

    def reliability(self, which: str = "confidence") -> list[Bin]:
        return reliability(self.cells("forecast"), which)

    def costs(self) -> list[Spent]:
        """Return the cost in each unit that any question has a figure of."""
        found = []
        for name, unit in COSTS.items():
            records = [each.record for each in self.asked if each.record.cells.get(name) is not None]
            if values := [cell["value"] for cell in self.cells(name)]:
                questions = len({each.id for each in records})
                figures = fmean(values), median(values), max(values), sum(values)
                found.append(Spent(unit, questions, len(values), *figures))
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            **self.scores.as_json(),
            "gap_confusion": {gold: dict(zip(TOLD, counts, strict=True)) for gold, counts in self.confusion()},
            "reliability": [asdict(each) for each in self.reliability()],
            "costs": {each.unit: asdict(each) for each in self.costs()},
            "failures": [{"id": each.record.name, "reason": each.record.error} for each in self.failed],
            "not_met": {each.record.name: [asdict(one) for one in each.missed] for each in self.asked if each.missed},
        }


_CATEGORIES = [category.value for category in GapCategory]
# Rows and columns of the confusion matrix.
GOLD, TOLD = [*_CATEGORIES, NONE_GOLD], [*_CATEGORIES, MISSED]


def report_of(run: Run) -> Report:
    """Score the run again from its cells, and look at its traces for what became of each label."""
    asked = [Asked(each, matches_of(each, run.traces)) for each in run.records]
    return Report(run.name, str(run.traces), scores_of(run), asked)


def meaning(metric: Metric) -> str:
    """Return a line that says what a metric measures.

    It is the first sentence of its scorer's docstring, and the one that defines this metric where several share the
    scorer.
    """
    first, *others = _SENTENCE_END.split(" ".join((getdoc(metric.scorer) or "").split()))
    name = metric.name.rpartition("_")[2]
    named = (each for each in others if name in re.findall(r"\w+", each.partition(":")[0].casefold()))
    return " ".join([first, *islice(named, 1)])


# A full stop before a capital, a formula (Σ), or the meaning of a value ("0: …").
_SENTENCE_END = re.compile(r"(?<=\.)\s+(?=[A-ZΣ]|[01]: )")
