"""Evaluation as rich renderables: scores, labels, differences. Pure: what is printed, and where, is render.py's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from marchwarden.cli.plain import count, one_line, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.evaluation.bootstrap import Difference
    from marchwarden.evaluation.calibration import BeforeAfter, CalibrationReport, Quality
    from marchwarden.evaluation.check import Problem
    from marchwarden.evaluation.compare import Comparison, Moved
    from marchwarden.evaluation.datasets import DatasetReport
    from marchwarden.evaluation.judge import Agreement
    from marchwarden.evaluation.metrics import Metric
    from marchwarden.evaluation.runs import Grade, RunInfo
    from marchwarden.evaluation.scores import Score, Scores

    View: TypeAlias = Iterable[RenderableType]

MAIN = ("evidence_recall", "nugget_recall", "gap_category_accuracy", "discovery_f1", "contradiction_f1")
"""The metrics that are shown for each kind."""
GRADES: tuple[Grade, ...] = ("supported", "partly", "not")


def scores_view(scores: Scores) -> View:
    """A run's figures with their intervals, then the main ones by kind."""
    info = scores.info
    program = f", program {info.program}" if info.program else ""
    failed = f", {scores.failed} failed" if scores.failed else ""
    asked = count(scores.questions, "question")
    yield Text(f"{info.model_id}, reading by {info.reads_by}{program}: {asked}{failed}", style="bold")
    yield _figures(scores.overall)
    yield _by_kind(scores)


def _figures(found: Sequence[Score]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric")
    table.add_column("score", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("questions", justify="right")
    for score in found:
        if score.value is not None:
            between = "" if score.low is None else f"{score.low:.2f} – {score.high:.2f}"
            table.add_row(_name(score.metric.name), number(score.metric, score.value), between, str(score.questions))
    return table


def _by_kind(scores: Scores) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("kind")
    for name in MAIN:
        table.add_column(_name(name), justify="right")
    for kind, figures in scores.by_kind.items():
        table.add_row(kind, *(_two_decimals(figures[name]) for name in MAIN))
    return table


def running(figures: Mapping[str, float | None]) -> str:
    """The main scores so far, on one line."""
    names = ("evidence_recall", "nugget_recall", "gap_category_accuracy")
    return " · ".join(f"{_name(name)} {value:.2f}" for name in names if (value := figures[name]) is not None)


def number(metric: Metric, value: float | None) -> str:
    """A figure as people read it: shares with three decimals, amounts as they are."""
    if value is None:
        return "–"
    if metric.is_share:
        return f"{value:.3f}"
    if metric.name == "dollars":
        return f"{value:.4f}"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _two_decimals(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _name(metric: str) -> str:
    return metric.replace("_", " ")


def labels_view(
    counts: Mapping[str, Mapping[str, int]], shared: Mapping[str, set[str]], problems: Sequence[Problem]
) -> View:
    """How often what is labelled, which pages splits share, and what does not hold."""
    for what, counted in counts.items():
        yield Text.assemble((f"{what}: ", "bold"), " · ".join(f"{name} {count}" for name, count in counted.items()))
    for page, splits in shared.items():
        yield Text(f"shared: {visible(page)} by {', '.join(sorted(splits))}", style="yellow")
    for problem in problems:
        yield Text.assemble((f"{problem.question}: ", "bold red"), visible(problem.what))
    yield Text("Every label holds." if not problems else f"{len(problems)} labels don't hold.")


def comparison_view(comparison: Comparison) -> View:
    """How every metric of B differs from A's, then what each question gained and lost."""
    for letter, name, info in zip("AB", comparison.names, (comparison.a, comparison.b), strict=True):
        yield Text.assemble((f"{letter} {visible(name)}: ", "bold"), _set_up(info))
    yield Text(_compared(comparison), "bold")
    for caution in comparison.cautions:
        yield Text(f"Not the same in both: {caution}.", style="yellow")
    yield _differences(comparison.differences)
    if not comparison.moved:
        yield Text("No question moved.")
        return
    better = sum(len(moved.gained) > len(moved.lost) for moved in comparison.moved)
    worse = sum(len(moved.gained) < len(moved.lost) for moved in comparison.moved)
    yield Text(f"{count(len(comparison.moved), 'question')} moved: {better} better, {worse} worse in B", style="bold")
    for moved in comparison.moved:
        yield from _moved(moved)


def _set_up(info: RunInfo) -> str:
    program = f"program {info.program}" if info.program else "no program"
    return visible(f"{info.model_id}, reading by {info.reads_by}, {program}")


def _compared(comparison: Comparison) -> str:
    left = comparison.left_out
    reasons = ((left.only_in_a, "only in A"), (left.only_in_b, "only in B"), (left.labels_differ, "labels differ"))
    said = ", ".join(f"{number} {reason}" for number, reason in reasons if number)
    return count(comparison.questions, "question") + (f" compared; left out: {said}" if said else " compared")


def _differences(found: Sequence[Difference]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    for name in ("A", "B", "B − A", "95 % interval", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each in found:
        word, style = _judged(each)
        between = "" if each.low is None else f"{_signed(each, each.low)} … {_signed(each, each.high)}"
        figures = (number(each.metric, each.a), number(each.metric, each.b), _signed(each, each.value), between)
        table.add_row(_name(each.metric.name), *figures, str(each.questions), word, style=style)
    return table


def _signed(difference: Difference, value: float | None) -> str:
    if not value:
        return "" if value is None else "0"
    if difference.metric.is_share:
        return f"{value:+.3f}"
    return f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.2g}"


def _judged(difference: Difference) -> tuple[str, str]:
    """A word for a difference that is certain, and its style."""
    if not difference.is_certain:
        return "", "dim"
    if difference.is_better is None:
        return "changed", ""
    return ("better", "green") if difference.is_better else ("worse", "red")


def _moved(moved: Moved) -> View:
    yield Text.assemble((moved.question.id, "bold"), f" {one_line(moved.question.question)}")
    lines = [("+", "green", each) for each in moved.gains] + [("−", "red", each) for each in moved.losses]
    for sign, style, each in lines:
        yield Padding(Text(f"{sign} {one_line(each)}", style=style), (0, 0, 0, 2))


SAMPLE_SCORES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


def calibration_view(report: CalibrationReport) -> View:
    """Before and after on either set of questions, then what the calibration makes of a few scores."""
    fitted = report.calibration
    yield Text(f"{visible(fitted.model_id)}: confidence {visible(fitted.described)}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in ("answers", "right", "Brier", "calibration error", "AUROC"):
        table.add_column(name, justify="right")
    _add_before_after(table, report.own, "cross-validated")
    if report.test:
        _add_before_after(table, report.test, "calibrated")
    yield table
    told = " · ".join(f"{score:.2f} → {fitted.apply(score):.2f}" for score in SAMPLE_SCORES)
    yield Text(f"What a score becomes: {told}")


def _add_before_after(table: Table, measured: BeforeAfter, after: str) -> None:
    where = visible(measured.questions)
    table.add_row(
        f"{where}: uncalibrated", str(measured.forecasts), f"{measured.right:.3f}", *_qualities(measured.before)
    )
    table.add_row(f"{where}: {after}", "", "", *_qualities(measured.after))


def _qualities(quality: Quality) -> tuple[str, str, str]:
    auroc = "–" if quality.auroc is None else f"{quality.auroc:.3f}"
    return f"{quality.brier:.3f}", f"{quality.calibration_error:.3f}", auroc


def agreement_view(found: Agreement) -> View:
    """How a judge's marks compare with the string labels."""
    left_out = ((found.unreadable, "not readable"), (found.unasked, "not marked"))
    said = "".join(f", {number} {what}" for number, what in left_out if number)
    yield Text(f"Judge {visible(found.model_id)}: {count(found.answers, 'answer')} marked{said}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("by the labels")
    for grade in GRADES:
        table.add_column(grade, justify="right")
    for labelled, name in ((True, "said"), (False, "not said")):
        table.add_row(name, *(str(found.grades.get((labelled, grade), 0)) for grade in GRADES))
    yield table
    agreed = "–" if found.agreement is None else f"{found.agreement:.3f}"
    kappa = "–" if found.kappa is None else f"{found.kappa:.3f}"
    yield Text(f"Agreement with the labels on {count(found.facts, 'fact')}: {agreed}, Cohen's kappa {kappa}")


def dataset_view(found: DatasetReport) -> View:
    """Figures, and how they are meant."""
    yield Text(f"{found.name}: {found.what}, {count(found.items, 'item')}", style="bold")
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("figure")
    table.add_column("", justify="right")
    for name, value in found.figures.items():
        table.add_row(_name(name), f"{value:.3f}")
    yield table
    for note in found.notes:
        yield Text(f"– {note}", style="dim")
