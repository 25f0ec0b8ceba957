"""Examples of single stages, and their metrics, derived from labelled questions: nothing is labelled a second time.

`STAGE_SETS[name]` has a stage's; scoring.py runs a stage over them. The confidence is code, and has none. Where
labels give away how an example is rightly answered, a model can be shown it, in words that the example itself has.
To add a stage: a module here, with its examples, its metric and its right answers, and a line below.
"""

from __future__ import annotations

from marchwarden.evaluation.stage_sets.discoveries import DISCOVERIES_SET
from marchwarden.evaluation.stage_sets.examples import AnyStageSet, Example, Feedback, StageSet
from marchwarden.evaluation.stage_sets.extract import EXTRACT_SET
from marchwarden.evaluation.stage_sets.gaps import GAPS_SET
from marchwarden.evaluation.stage_sets.labelled_web import LabelledWeb, labelled_web
from marchwarden.evaluation.stage_sets.open_questions import OPEN_QUESTIONS_SET
from marchwarden.evaluation.stage_sets.plan import PLAN_SET
from marchwarden.evaluation.stage_sets.synthesize import SYNTHESIZE_SET

STAGE_SETS: dict[str, AnyStageSet] = {
    each.stage.name: each
    for each in (PLAN_SET, EXTRACT_SET, SYNTHESIZE_SET, GAPS_SET, DISCOVERIES_SET, OPEN_QUESTIONS_SET)
}

__all__ = ["STAGE_SETS", "AnyStageSet", "Example", "Feedback", "LabelledWeb", "StageSet", "labelled_web"]
