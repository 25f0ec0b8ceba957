"""A stage's scores as rich renderables. Pure: what is printed, and where, is console.py's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.cli.views.tables import NO_BREAK, Figures, Indented
from marchwarden.evaluation.reports.figures import FEW

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.optimization.examples.example_scoring import ExampleScore, StageReport

    View: TypeAlias = Iterable[RenderableType]

WORST = 5
# Characters shown of what was wrong with an example.
FEEDBACK = 400


def stage_view(report: StageReport) -> View:
    """The score with its interval, what it took, each kind, and the worst examples with what was wrong."""
    compiled = f", compiled ({visible(report.program)})" if report.program else ""
    yield Text(
        f"{report.stage}, {visible(report.model_id)}{compiled}: {count(len(report.examples), 'example')}",
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


def _figures(report: StageReport) -> Figures:
    low, high = report.interval or (0.0, 0.0)
    seconds = sum(each.seconds for each in report.examples)
    figures = {
        "score": f"{report.score:.3f}",
        f"95{NO_BREAK}% interval": f"{low:.2f} – {high:.2f}" if len(report.examples) >= FEW else "–",
        "valid output": "–" if report.valid_rate is None else f"{report.valid_rate:.3f}",
        "tokens": f"{sum(each.tokens for each in report.examples):,}",
        "seconds": f"{seconds:.1f}",
    }
    return Figures(list(figures), [list(figures.values())])


def _kinds(report: StageReport) -> Figures:
    numbers = Counter(each.kind for each in report.examples)
    rows = [(word(kind), str(numbers[kind]), f"{score:.3f}") for kind, score in report.by_kind.items()]
    return Figures(("kind", "examples", "score"), rows)


def _example(each: ExampleScore) -> View:
    yield Text.assemble((f"{each.score:.2f} ", "red"), (one_line(each.id), "bold"))
    yield Indented(Text(one_line(each.feedback, FEEDBACK)))
    if each.fell_back:
        yield Indented(Text(f"Without the model: {one_line(each.fell_back, FEEDBACK)}", style="dim"))
