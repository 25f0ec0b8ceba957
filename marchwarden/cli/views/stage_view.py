"""A stage's scores as rich renderables. Pure: console.py prints them."""

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

    from marchwarden.optimization.examples.example_scoring import StageReport

    View: TypeAlias = Iterable[RenderableType]

# Examples shown. A guess.
WORST_EXAMPLES = 5
# Characters shown of what was wrong with an example. A guess: about five lines of a terminal.
FEEDBACK_CHARS = 400


def stage_view(report: StageReport) -> View:
    """Show the score with its interval, the cost, each kind, and the worst examples with what was wrong in them."""
    compiled = f", compiled ({visible(report.program)})" if report.program else ""
    yield Text(
        f"{report.stage}, {visible(report.model_id)}{compiled}: {count(len(report.examples), 'example')}",
        style="bold",
    )
    if report.score is None:
        yield Text("The labels of these questions give no example of this stage.")
        return
    low, high = report.interval or (0.0, 0.0)
    seconds = sum(each.seconds for each in report.examples)
    figures = {
        "score": f"{report.score:.3f}",
        f"95{NO_BREAK}% interval": f"{low:.2f} – {high:.2f}" if len(report.examples) >= FEW else "–",
        "valid output": "–" if report.valid_rate is None else f"{report.valid_rate:.3f}",
        **({} if report.auroc is None else {"AUROC": f"{report.auroc:.3f}"}),
        "tokens": f"{sum(each.tokens for each in report.examples):,}",
        "seconds": f"{seconds:.1f}",
    }
    yield Figures(list(figures), [list(figures.values())])
    numbers = Counter(each.kind for each in report.examples)
    rows = [(word(kind), str(numbers[kind]), f"{score:.3f}") for kind, score in report.by_kind.items()]
    yield Figures(("kind", "examples", "score"), rows)
    worst = sorted((each for each in report.examples if each.score < 1), key=lambda each: each.score)[:WORST_EXAMPLES]
    if worst:
        yield Text("The worst examples", style="bold")
    for each in worst:
        yield Text.assemble((f"{each.score:.2f} ", "red"), (one_line(each.id), "bold"))
        yield Indented(Text(one_line(each.feedback, FEEDBACK_CHARS)))
        if each.fell_back:
            yield Indented(Text(f"Without the model: {one_line(each.fell_back, FEEDBACK_CHARS)}", style="dim"))
