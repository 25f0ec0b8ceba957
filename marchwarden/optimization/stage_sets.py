"""Sets of examples by stage, and the score of a stage over its set.

To add a stage: a module in examples/, with its examples, its metric and its right answers, and a line below. Where
labels give away how an example is rightly answered, a model can be shown it, in words that the example has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.run import labels_fingerprint, pages_fingerprint
from marchwarden.optimization.examples.discovery_examples import DISCOVERIES_SET
from marchwarden.optimization.examples.example_scoring import Connect, ExampleScore, StageReport, StageRun
from marchwarden.optimization.examples.extract_examples import EXTRACT_SET
from marchwarden.optimization.examples.gap_examples import GAPS_SET
from marchwarden.optimization.examples.judgements.confidence_examples import CONFIDENCE_SET
from marchwarden.optimization.examples.judgements.verify_examples import VERIFY_SET
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.examples.open_question_examples import OPEN_QUESTIONS_SET
from marchwarden.optimization.examples.plan_examples import PLAN_SET
from marchwarden.optimization.examples.queries.query_examples import WRITE_QUERY_SET
from marchwarden.optimization.examples.stage_example import AnyStageSet
from marchwarden.optimization.examples.synthesize_examples import SYNTHESIZE_SET
from marchwarden.settings import Settings
from marchwarden.stages.registry import program_in_force
from marchwarden.stages.stage import Stage

STAGE_SETS: dict[str, AnyStageSet] = {
    each.stage.name: each
    for each in (
        PLAN_SET,
        EXTRACT_SET,
        SYNTHESIZE_SET,
        VERIFY_SET,
        GAPS_SET,
        DISCOVERIES_SET,
        OPEN_QUESTIONS_SET,
        CONFIDENCE_SET,
        WRITE_QUERY_SET,
    )
}


async def score_stage(
    name: str,
    questions: Sequence[Question],
    settings: Settings,
    *,
    connect: Connect | None = None,
    stage: Stage[Any, Any] | None = None,
    on_start: Callable[[int], None] = lambda examples: None,
    on_example: Callable[[ExampleScore], None] = lambda scored: None,
) -> StageReport:
    """Run the stage on the examples that the questions give, with the model of the settings and its program.

    `connect` makes another model than the settings name; `stage` is another form than the one in force, such as a
    compiled one. `on_start` is called with the number of examples, `on_example` with each as it is done; the report
    has them in order. `settings.model_calls` of them run side by side.

    Raises EvaluationError for a name that has no set, or where the model's service can't be used at all;
    ConfigurationError where a key, a model or the frozen web is missing.
    """
    stage_set = STAGE_SETS.get(name)
    if stage_set is None:
        raise EvaluationError(f"there is no stage {name} to score", hint=f"Stages: {', '.join(STAGE_SETS)}.")
    async with labelled_web(settings) as web:
        examples = await stage_set.examples_on(questions, web)
    on_start(len(examples))
    from marchwarden import lm

    program = program_in_force(settings) if stage is None else None
    by = program.stages.get(name) if program else None
    form = stage or (stage_set.stage.compiled(by) if by else stage_set.stage)
    run = StageRun(stage_set, form, connect or partial(lm.connect, settings), on_example)
    scored = await run.all(examples, at_once=settings.model_calls)
    labels, pages = labels_fingerprint(questions), pages_fingerprint(settings.frozen_web)
    return StageReport(name, run.model_id, labels, pages, scored, program.fingerprint if program and by else None)
