"""`marchwarden eval --stage`: score one stage alone, on the examples that the labels give."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.optimization.examples.example_scoring import ExampleScore
    from marchwarden.settings import Settings


def check_name(stage: str) -> None:
    """Raise BadParameter, which names the known stages, for a stage that has no examples."""
    from marchwarden.optimization.stage_sets import STAGE_SETS

    if stage not in STAGE_SETS:
        raise typer.BadParameter(f"--stage {stage}: there is no such stage; there are {', '.join(STAGE_SETS)}")


def score(stage: str, questions: Sequence[Question], settings: Settings, jobs: int | None, *, json: bool) -> None:
    """Run the stage on the questions' examples, `jobs` model calls side by side, and show its scores."""
    import anyio

    from marchwarden.cli.views import console
    from marchwarden.optimization.stage_sets import score_stage

    # A stage is scored by model calls, and the settings bound how many run side by side.
    own = settings.model_copy(update={"model_calls": jobs}) if jobs else settings
    scored: list[float] = []
    with console.counting(None) as bar:

        def tell(example: ExampleScore) -> None:
            scored.append(example.score)
            bar.advance(lambda: f"{stage} score {sum(scored) / len(scored):.2f}")

        report = anyio.run(partial(score_stage, stage, questions, own, on_start=bar.of, on_example=tell))
    if json:
        console.json(report.as_json())
    else:
        console.stage(report)
