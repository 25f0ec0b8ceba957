"""Examples of single stages, and their metrics, derived from labelled questions: nothing is labelled a second time.

`STAGE_SETS[name]` has a stage's; example_scoring.py runs a stage over them. Where
labels give away how an example is rightly answered, a model can be shown it, in words that the example has.
To add a stage: a module here, with its examples, its metric and its right answers, and a line below.
"""

from __future__ import annotations

from marchwarden.optimization.examples.discovery_examples import DISCOVERIES_SET
from marchwarden.optimization.examples.extract_examples import EXTRACT_SET
from marchwarden.optimization.examples.gap_examples import GAPS_SET
from marchwarden.optimization.examples.judgements.confidence_examples import CONFIDENCE_SET
from marchwarden.optimization.examples.judgements.verify_examples import VERIFY_SET
from marchwarden.optimization.examples.labelled_web import LabelledWeb, labelled_web
from marchwarden.optimization.examples.open_question_examples import OPEN_QUESTIONS_SET
from marchwarden.optimization.examples.plan_examples import PLAN_SET
from marchwarden.optimization.examples.queries.query_examples import WRITE_QUERY_SET
from marchwarden.optimization.examples.stage_example import AnyStageSet, Example, Feedback, StageSet
from marchwarden.optimization.examples.synthesize_examples import SYNTHESIZE_SET

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

__all__ = ["STAGE_SETS", "AnyStageSet", "Example", "Feedback", "LabelledWeb", "StageSet", "labelled_web"]
