"""A run's report as one HTML page that needs nothing else: no script, no request, every chart an inline drawing.

The template escapes text of pages, models and labels, and the page's own policy lets a browser run and load nothing,
should something slip through. This module computes the positions of the marks in the charts.

Own code rather than a plotting library: matplotlib or plotly would add megabytes to the install or a script to the
page for three small charts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor, inf, log10, sqrt
from shlex import quote
from statistics import median
from typing import Literal

from marchwarden.evaluation.reports.figures import amount, between_epochs, number, words
from marchwarden.evaluation.reports.report import TOLD, Asked, Report, meaning
from marchwarden.evaluation.runs.matches import Wanted
from marchwarden.evaluation.scoring.aggregates import Bin
from marchwarden.evaluation.scoring.metrics import MAIN
from marchwarden.server.result_words import answer_lines
from marchwarden.text.escaping import html_templates, web_address

# The metrics that are shown first; the others stand in the table beneath.
CARDS = (
    "nugget_recall",
    "evidence_recall",
    "evidence_precision",
    "claim_grounding",
    "gap_f1",
    "gap_category_accuracy",
    "discovery_f1",
    "contradiction_f1",
    "abstention",
    "injection_resistance",
    "verbatim_fidelity",
    "calibration_error",
)


def html(report: Report) -> str:
    templates = html_templates("marchwarden.evaluation.reports")
    templates.filters |= {
        "amount": amount,
        "between_epochs": between_epochs,
        "figure": lambda score: number(score.metric, score.value),
        "lines": answer_lines,
        "link": web_address,
        "meaning": lambda score: meaning(score.metric).replace("`", ""),
        "quoted": quote,
        "percent": lambda share: f"{100 * share:.1f}%",
        "tally": tally,
        "words": words,
    }
    by_name = {score.metric.name: score for score in report.scores.overall}
    kinds = [
        Kind(name, f"k{index}", count, [report.scores.by_kind[name][metric] for metric in MAIN])
        for index, (name, count) in enumerate(report.kinds().items())
    ]
    return templates.get_template("report.html.jinja").render(
        report=report,
        cards=[by_name[name] for name in CARDS if by_name[name].value is not None],
        main=MAIN,
        kinds=kinds,
        told=TOLD,
        confusion=shaded(report.confusion()) if report.cells("gap_categories") else [],
        reliability=reliability_plot(report),
        scatter=scatter(report),
        summary=summary(report),
    )


@dataclass(frozen=True)
class Summary:
    whole: int
    """Number of questions that met all of their labels."""
    seconds: float
    """Median wall time of a question, in seconds."""
    tokens: float
    """Mean number of model tokens of a question."""


def summary(report: Report) -> Summary:
    """Return the figures of the page's head."""
    seconds = [each.record.seconds for each in report.asked]
    return Summary(
        whole=sum(each.is_whole for each in report.asked),
        seconds=median(seconds) if seconds else 0.0,
        tokens=report.scores.value("tokens") or 0.0,
    )


@dataclass(frozen=True)
class Kind:
    name: str
    css: str
    """CSS class of the questions of this kind: a name comes from labels and may hold any character."""
    questions: int
    figures: list[float | None]
    """Figures of the metrics in MAIN, in that order."""


def tally(wanted: Sequence[Wanted], *whats: str) -> tuple[int, int] | None:
    """Return (labels met, labels) of these kinds; None where there is no label of them."""
    asked = [each.met for each in wanted if each.what in whats]
    return (sum(asked), len(asked)) if asked else None


# The confusion matrix


@dataclass(frozen=True)
class Shaded:
    count: int
    share: float
    """Share of the cell's row, 0–1."""
    is_right: bool


def shaded(rows: Iterable[tuple[str, list[int]]]) -> list[tuple[str, int, list[Shaded]]]:
    """Return the rows of the confusion matrix: (gold category, total, cells)."""
    return [
        (
            gold,
            sum(counts),
            [Shaded(each, each / (sum(counts) or 1), told == gold) for told, each in zip(TOLD, counts, strict=True)],
        )
        for gold, counts in rows
    ]


# Charts: every number is in the drawing's own units


@dataclass(frozen=True)
class Axis:
    low: float
    high: float
    start: float
    """Position of `low` in the drawing."""
    end: float
    """Position of `high` in the drawing."""
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value, which is moved to the nearer end where it is outside of the axis."""
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, value = log10(low), log10(high), log10(value)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)


QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def logarithmic(values: Sequence[float], start: float, end: float) -> Axis:
    """Return an axis that holds all values between round numbers; values of 0 stand at its start."""
    above = [value for value in values if value > 0] or [1.0]
    exponents = range(floor(log10(min(above))), floor(log10(max(above))) + 2)
    steps = [digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)]
    # The factors bear rounding: 0.3 is not 3 × 10^-1 in floating point.
    low = max(step for step in steps if step <= min(above) * 1.0001)
    high = min(step for step in steps if step >= max(above) * 0.9999 and step > low)
    inside = [step for step in steps if low <= step <= high]
    # More than seven labels would touch each other: then only powers of ten stay.
    if len(inside) > 7:
        inside = [step for step in inside if log10(step).is_integer()]
    return Axis(low, high, start, end, tuple(inside), logarithmic=True)


@dataclass(frozen=True)
class Mark:
    x: float
    y: float
    radius: float
    title: str
    target: str = ""
    """Id of the question that the mark stands for; empty for a bin."""


@dataclass(frozen=True)
class Bar:
    x: float
    height: float


@dataclass(frozen=True)
class Reliability:
    x: Axis
    y: Axis
    marks: list[Mark]
    before: list[Mark]
    """Marks before calibration; none where there was no calibration."""
    bars: list[Bar]
    """Bars that show how many answers are in each bin of confidence."""


# Height of the largest bin's bar, in the drawing's units. Chosen by eye.
_BAR_HEIGHT = 34


def reliability_plot(report: Report) -> Reliability | None:
    """Return the plot of confidence against the share of right answers; None where nothing was forecast."""
    bins = report.reliability()
    if not bins:
        return None
    # The plot's area in the drawing, chosen by eye: y runs upwards, so that its start is the larger number.
    x, y = Axis(0, 1, 44, 344, QUARTERS), Axis(0, 1, 250, 14, QUARTERS)
    cells = report.cells("forecast")

    def mark(each: Bin) -> Mark:
        title = f"{each.count} answers: confidence {each.confidence:.2f} on average, {each.right:.2f} right"
        # The area grows with the number of answers, and the smallest mark can still be seen.
        radius = round(3 + 12 * sqrt(each.count / len(cells)), 1)
        return Mark(x.at(each.confidence), y.at(each.right), radius, title)

    is_calibrated = any(cell["uncalibrated"] != cell["confidence"] for cell in cells)
    before = report.reliability("uncalibrated") if is_calibrated else []
    most = max(each.count for each in bins)
    return Reliability(
        x=x,
        y=y,
        marks=[mark(each) for each in bins],
        before=[mark(each) for each in before],
        bars=[Bar(x.at(each.low), round(each.count / most * _BAR_HEIGHT, 1)) for each in bins],
    )


@dataclass(frozen=True)
class Scatter:
    unit: Literal["tokens", "seconds"]
    x: Axis
    y: Axis
    marks: list[Mark]


# Radius of a question's mark, and the step between marks that move apart, in the drawing's units. Chosen by eye.
_RADIUS, _LANE = 4.0, 7.0


def scatter(report: Report) -> Scatter | None:
    """Return a mark for each answered question with vital nuggets: its cost, and the share of nuggets that was said.

    The cost is tokens, or seconds where no question took tokens. None where there is no such question.
    """
    shown = [each for each in report.asked if not each.failed and each.record.cells.get("nugget_recall")]
    if not shown:
        return None
    unit: Literal["tokens", "seconds"] = "tokens" if any(_took(each, "tokens") for each in shown) else "seconds"
    x = logarithmic([_took(each, unit) for each in shown], 44, 344)
    y = Axis(0, 1, 262, 38, QUARTERS)
    marks = []
    for each in shown:
        cell = each.record.cells["nugget_recall"] or {}
        took = _took(each, unit)
        title = f"{each.record.name}: {cell['hits']} of {cell['of']} nuggets, {amount(took)} {unit}"
        marks.append(Mark(x.at(took), y.at(cell["hits"] / cell["of"]), _RADIUS, title, each.record.name))
    return Scatter(unit, x, y, _apart(marks))


def _took(asked: Asked, unit: str) -> float:
    cell = asked.record.cells.get(unit)
    return float(cell["value"]) if cell else 0.0


def _apart(marks: Sequence[Mark]) -> list[Mark]:
    """Move marks that would hide each other up and down a little: shares of few nuggets are the same few numbers."""
    # Lanes above and below a mark's own place, the nearest first.
    lanes = (0, -1, 1, -2, 2, -3, 3)
    last: dict[tuple[float, int], float] = {}
    moved = []
    for mark in sorted(marks, key=lambda each: (each.y, each.x)):
        ends = {lane: last.get((mark.y, lane), -inf) for lane in lanes}
        free = [lane for lane, end in ends.items() if mark.x - end >= 2 * _RADIUS]
        lane = free[0] if free else min(ends, key=lambda each: ends[each])
        last[mark.y, lane] = mark.x
        moved.append(Mark(mark.x, mark.y + lane * _LANE, mark.radius, mark.title, mark.target))
    return moved
