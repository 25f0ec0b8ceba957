"""Evaluation as rich renderables: scores, labels, differences. Pure: what is printed, and where, is render.py's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from marchwarden.cli.plain import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.evaluation.check import Problem
    from marchwarden.evaluation.metrics import Metric
    from marchwarden.evaluation.scores import Score, Scores

    View: TypeAlias = Iterable[RenderableType]

MAIN = ("evidence_recall", "nugget_recall", "gap_category_accuracy", "discovery_f1", "contradiction_f1")
"""The metrics that are shown for each kind."""


def scores_view(scores: Scores) -> View:
    """A run's figures with their intervals, then the main ones by kind."""
    info = scores.info
    program = f", program {info.program}" if info.program else ""
    failed = f", {scores.failed} failed" if scores.failed else ""
    yield Text(f"{info.model_id}{program}: {scores.questions} questions{failed}", style="bold")
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
