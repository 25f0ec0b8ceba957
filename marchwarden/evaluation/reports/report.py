"""What a run's report says, as data; report_markdown.py and report_html.py write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
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

# The metrics that are shown for each kind.
MAIN = ("evidence_recall", "nugget_recall", "gap_category_accuracy", "discovery_f1", "contradiction_f1")
# What a question took: the scorers that measure it, and their units.
COSTS = {"tokens": "tokens", "pages": "pages", "seconds": "seconds", "dollars": "US dollars"}
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
        """Whether it came to a result that does all that its labels ask for."""
        return not self.failed and not self.missed

    @property
    def share_met(self) -> float:
        """Of what its labels ask for; a failed question met nothing, one that asks for nothing met all."""
        if self.failed:
            return 0.0
        return self.met / len(self.wanted) if self.wanted else 1.0


@dataclass(frozen=True)
class Spent:
    """What the questions of a run took of one thing."""

    unit: str
    questions: int
    mean: float
    median: float
    most: float
    total: float


@dataclass(frozen=True)
class Report:
    name: str
    """Of the run's folder."""
    traces: str
    """The folder of its traces, from where the report was asked for."""
    scores: Scores
    asked: list[Asked]
    """In the order in which they were asked."""

    @property
    def info(self) -> RunInfo:
        return self.scores.info

    @property
    def failed(self) -> list[Asked]:
        return [each for each in self.asked if each.failed]

    @property
    def from_worst(self) -> list[Asked]:
        """Every question, the smallest share of what its labels ask for first."""
        return sorted(self.asked, key=lambda each: (each.share_met, -len(each.wanted), each.record.id))

    def cells(self, scorer: str) -> list[Cells]:
        """What one scorer found, of the questions that have something for it to score."""
        found = (each.record.cells.get(scorer) for each in self.asked)
        return [cells for cells in found if cells is not None]

    def kinds(self) -> dict[str, int]:
        """How many questions carry each tag."""
        return dict(sorted(Counter(tag for each in self.asked for tag in each.record.question.tags).items()))

    def confusion(self) -> list[tuple[str, list[int]]]:
        """A row for each gold category (the last for gaps that no label has), a count for each of `TOLD`."""
        counted = confusion(self.cells("gap_categories"))
        return [(gold, [counted[gold, told] for told in TOLD]) for gold in GOLD]

    def reliability(self, which: str = "confidence") -> list[Bin]:
        return reliability(self.cells("forecast"), which)

    def costs(self) -> list[Spent]:
        return [spent for name, unit in COSTS.items() if (spent := _spent(unit, self.cells(name)))]

    def as_json(self) -> dict[str, Any]:
        return {
            **self.scores.as_json(),
            "gap_confusion": {gold: dict(zip(TOLD, counts, strict=True)) for gold, counts in self.confusion()},
            "reliability": [asdict(each) for each in self.reliability()],
            "costs": {each.unit: asdict(each) for each in self.costs()},
            "failures": [{"id": each.record.id, "reason": each.record.error} for each in self.failed],
            "not_met": {each.record.id: [asdict(one) for one in each.missed] for each in self.asked if each.missed},
        }


_CATEGORIES = [category.value for category in GapCategory]
# Rows and columns of the confusion matrix.
GOLD, TOLD = [*_CATEGORIES, NONE_GOLD], [*_CATEGORIES, MISSED]


def report_of(run: Run) -> Report:
    """Scores the run again from its cells, and looks at its traces for what became of each label."""
    asked = [Asked(each, matches_of(each, run.traces)) for each in run.records]
    return Report(run.name, str(run.traces), scores_of(run), asked)


def _spent(unit: str, cells: Sequence[Cells]) -> Spent | None:
    values = [cell["value"] for cell in cells]
    if not values:
        return None
    return Spent(unit, len(values), fmean(values), median(values), max(values), sum(values))


def meaning(metric: Metric) -> str:
    """What a metric measures, in a line: the first sentence of its scorer's docstring, and the one that defines this
    metric where several share the scorer."""
    first, *others = _sentences(getdoc(metric.scorer) or "")
    name = metric.name.rpartition("_")[2]
    named = (each for each in others if name in re.findall(r"\w+", each.partition(":")[0].casefold()))
    return " ".join([first, *islice(named, 1)])


def _sentences(text: str) -> list[str]:
    return _SENTENCE_END.split(" ".join(text.split()))


_SENTENCE_END = re.compile(r"(?<=\.)\s+(?=[A-ZΣ]|[01]: )")
