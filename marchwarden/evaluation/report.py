"""What a run's report says, as data and as Markdown; report_html.py draws the same as a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from inspect import getdoc
from itertools import islice
from statistics import fmean, median
from typing import Any

from marchwarden.contract import GapCategory
from marchwarden.evaluation.matches import Matches, Wanted, as_words, matches_of
from marchwarden.evaluation.metrics import Metric
from marchwarden.evaluation.reductions import MISSED, NONE_GOLD, Bin, Cells, confusion, reliability
from marchwarden.evaluation.runs import Record, Run, RunInfo
from marchwarden.evaluation.scores import Score, Scores, scores_of

MAIN = ("evidence_recall", "nugget_recall", "gap_category_accuracy", "discovery_f1", "contradiction_f1")
"""The metrics that are shown for each kind."""
COSTS = {"tokens": "tokens", "pages": "pages", "seconds": "seconds", "dollars": "US dollars"}
"""What a question took: the scorers that measure it, and their units."""
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
GOLD, TOLD = [*_CATEGORIES, NONE_GOLD], [*_CATEGORIES, MISSED]
"""Rows and columns of the confusion matrix."""


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


def number(metric: Metric, value: float | None) -> str:
    """A figure as people read it: shares with three decimals, amounts as they are."""
    if value is None:
        return "–"
    return f"{value:.3f}" if metric.is_share else amount(value)


def amount(value: float) -> str:
    """`12,345`, `3.78`, `0.0042`: about three digits that count."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def words(name: str) -> str:
    """`gap_f1` → `gap F1`."""
    return name.replace("_", " ").replace("f1", "F1").replace("auroc", "AUROC")


# Markdown


def markdown(report: Report) -> str:
    """The report as a Markdown document; what came from pages, models and labels is escaped."""
    return "\n\n".join(block for block in _blocks(report) if block) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    yield f"# {_escaped(report.info.model_id)} on {len(report.asked)} questions"
    yield _set_up(report)
    yield "## Scores\n\n" + _table(
        ["metric", "score", "95 % interval", "n", "what it is"], [_score_row(each) for each in report.scores.overall]
    )
    yield "## By kind\n\n" + _by_kind(report)
    if report.cells("gap_categories"):
        rows = [[words(gold), *map(str, counts)] for gold, counts in report.confusion()]
        yield "## Gap categories\n\nA row is what the labels say, a column what was reported."
        yield _table(["labelled ↓ · reported →", *map(words, TOLD)], rows)
    if report.cells("forecast"):
        yield "## Confidence\n\n" + _confidence(report)
    if costs := report.costs():
        rows = [[each.unit, str(each.questions), *map(amount, _amounts(each))] for each in costs]
        yield "## Cost of a question\n\n" + _table(["", "n", "mean", "median", "most", "total"], rows)
    yield _failures(report)
    yield _worst(report)


def _set_up(report: Report) -> str:
    info = report.info
    facts = {
        "model": info.model_id,
        "program": info.program or "none",
        "pages read by": info.reads_by,
        "version": info.version,
        "date": f"{info.started:%Y-%m-%d %H:%M} UTC",
        "questions": f"{info.questions}{f' ({info.split})' if info.split else ''}",
        "labels": info.labels,
        "pages": info.pages,
    }
    return " · ".join(f"{name} {_escaped(value)}" for name, value in facts.items())


def _score_row(score: Score) -> list[str]:
    between = "" if score.low is None else f"{score.low:.2f} – {score.high:.2f}"
    what = meaning(score.metric).replace("|", r"\|")
    return [words(score.metric.name), number(score.metric, score.value), between, str(score.questions), what]


def _by_kind(report: Report) -> str:
    kinds, by_kind = report.kinds(), report.scores.by_kind
    rows = [
        [
            _escaped(kind),
            str(count),
            *("" if (value := by_kind[kind][name]) is None else f"{value:.2f}" for name in MAIN),
        ]
        for kind, count in kinds.items()
    ]
    return _table(["kind", "n", *map(words, MAIN)], rows)


def _confidence(report: Report) -> str:
    figures = [(name, report.scores.value(name)) for name in ("brier", "calibration_error", "confidence_auroc")]
    said = " · ".join(f"{words(name)} {value:.3f}" for name, value in figures if value is not None)
    rows = [
        [f"{each.low:.1f} – {each.high:.1f}", str(each.count), f"{each.confidence:.2f}", f"{each.right:.2f}"]
        for each in report.reliability()
    ]
    return f"{said}\n\n" + _table(["confidence", "answers", "mean confidence", "share right"], rows)


def _amounts(spent: Spent) -> tuple[float, ...]:
    return spent.mean, spent.median, spent.most, spent.total


def _failures(report: Report) -> str:
    rows = [f"- `{each.record.id}`: {_escaped(each.record.error or 'no reason is known')}" for each in report.failed]
    return "## Questions that failed\n\n" + "\n".join(rows) if rows else ""


def _worst(report: Report) -> str:
    worst = [each for each in report.from_worst if not each.is_whole][:WORST]
    rows = [
        [
            f"`{each.record.id}`",
            _escaped(each.record.question.question),
            f"{each.met} of {len(each.wanted)}",
            _left(each),
        ]
        for each in worst
    ]
    head = "## Worst questions\n\nThose of whose labels the smallest share was met.\n\n"
    return head + _table(["id", "question", "met", "not met"], rows) if rows else ""


def _left(asked: Asked) -> str:
    return "the call failed" if asked.failed else _escaped(" · ".join(as_words(asked.missed)))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of figures are set to the right."""
    rows = list(rows)
    rule = ["--:" if _is_figures([row[column] for row in rows]) else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def _is_figures(cells: Sequence[str]) -> bool:
    return any(cells) and all(re.fullmatch(r"[\d.,–\s-]*", cell) for cell in cells)


_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
