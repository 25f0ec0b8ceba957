"""A stage's scores as rich renderables. Pure: what is printed, and where, is render.py's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from marchwarden.cli.plain import count, one_line, visible, word

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.evaluation.stage_sets.scoring import ExampleScore, StageReport

    View: TypeAlias = Iterable[RenderableType]

WORST = 5
FEEDBACK = 400
"""Characters shown of what was wrong with an example."""


def stage_view(report: StageReport) -> View:
    """The score with its interval, what it took, each kind, and the worst examples with what was wrong."""
    yield Text(
        f"{report.stage}, {visible(report.model_id)}: {count(len(report.examples), 'example')}",
        style="bold",
    )
    if report.score is None:
        yield Text("The labels of these questions give no example of this stage.")
        return
    yield _figures(report)
    yield _kinds(report)
    worst = sorted((each for each in report.examples if each.score < 1), key=lambda each: each.score)[:WORST]
    if worst:
        yield Text("The worst", style="bold")
    for each in worst:
        yield from _example(each)


def _figures(report: StageReport) -> Table:
    low, high = report.interval or (0.0, 0.0)
    seconds = sum(each.seconds for each in report.examples)
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("score", "95 % interval", "valid output", "tokens", "seconds"):
        table.add_column(name, justify="right")
    table.add_row(
        f"{report.score:.3f}",
        f"{low:.2f} – {high:.2f}",
        "–" if report.valid_rate is None else f"{report.valid_rate:.3f}",
        f"{sum(each.tokens for each in report.examples):,}",
        f"{seconds:.1f}",
    )
    return table


def _kinds(report: StageReport) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("kind")
    table.add_column("examples", justify="right")
    table.add_column("score", justify="right")
    for kind, score in report.by_kind.items():
        number = sum(each.kind == kind for each in report.examples)
        table.add_row(word(kind), str(number), f"{score:.3f}")
    return table


def _example(each: ExampleScore) -> View:
    yield Text.assemble((f"{each.score:.2f} ", "red"), (one_line(each.id), "bold"))
    yield Padding(Text(one_line(each.feedback, FEEDBACK)), (0, 0, 0, 2))
    if each.fell_back:
        yield Padding(Text(f"Without the model: {one_line(each.fell_back, FEEDBACK)}", style="dim"), (0, 0, 0, 2))
