"""Examples and metric of `confidence`: answers to labelled questions, made without a model, right or wrong by labels.

Each question is answered twice: from the labelled pages, and from pages on its subject that answer nothing. An answer
is right where it says every vital nugget and nothing forbidden; an answer to an unanswerable question is wrong.

Score: 1 − (probability − right)², that is 1 less the Brier score. The report of a stage has the AUROC besides. The
probability is the model's own, before code lets it lower the rules' confidence: so it is the feature that is judged.
"""

from __future__ import annotations

from typing import Any

from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import normalised, says_one_of
from marchwarden.evidence.confidence import assess
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.optimization.examples.labelled_web import LabelledWeb
from marchwarden.optimization.examples.ledgers import (
    Filled,
    begun,
    filled,
    given_to_extract,
    pages_without_answer,
    read,
)
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet
from marchwarden.stages.extract import EXTRACT
from marchwarden.stages.score_confidence import CONFIDENCE, MOST_CLAIMS, ConfidenceGiven, Estimate, WouldChange
from marchwarden.stages.synthesize import SYNTHESIZE, SynthesizeGiven, check_grounding, evidence

# Pages without an answer that are read, at most. A guess.
PAGES_READ = 3
# Probabilities of a right and of a wrong answer in what a model is shown to learn from: labels may be wrong, too.
SURE, UNSURE = 0.9, 0.1


async def build(question: Question, web: LabelledWeb) -> list[Example[ConfidenceGiven, bool]]:
    withheld = await begun(question, web)
    for url in await pages_without_answer(withheld, web, PAGES_READ):
        if page := await read(withheld, web, url):
            for excerpt in EXTRACT.model_free(await given_to_extract(withheld, web, page)):
                withheld.ledger.add_excerpt(excerpt)
    states = {"found": await filled(question, web), "withheld": withheld}
    return [example for name, state in states.items() if (example := _example(f"{question.id}/{name}", state, web))]


def _example(name: str, state: Filled, web: LabelledWeb) -> Example[ConfidenceGiven, bool] | None:
    """Return the example of an answer from what a ledger holds; None where nothing can be answered from it."""
    ledger, question = state.ledger, state.question
    ledger.conflicts = find_conflicts(ledger, web.parameters)
    given = SynthesizeGiven(ledger, question.depth, parameters=web.parameters)
    claims, _ = check_grounding(ledger, SYNTHESIZE.model_free(given))
    if not claims or (question.answerable and not question.vital):
        return None
    said = " ".join(claim.text for claim in claims)
    right = (
        bool(question.vital)
        and all(says_one_of(said, nugget.answers) for nugget in question.vital)
        and not any(normalised(text) in normalised(said) for text in question.forbidden)
    )
    assessment = assess(
        ledger, evidence(ledger, claims), budget_exhausted=False, today=web.as_of, parameters=web.parameters
    )
    kind = "right" if right else "wrong"
    return Example(name, question.id, kind, ConfidenceGiven(ledger, tuple(claims), assessment), right)


def score(example: Example[ConfidenceGiven, bool], estimate: Estimate) -> Feedback:
    probability, right = forecast(example, estimate)
    is_right = "right" if right else "wrong"
    return Feedback(
        1 - (probability - right) ** 2, f"The answer is {is_right}, and its probability was said to be {probability}."
    )


def forecast(example: Example[ConfidenceGiven, bool], estimate: Estimate) -> tuple[float, bool]:
    return estimate.probability, example.gold


def answer(example: Example[ConfidenceGiven, bool]) -> dict[str, Any]:
    probability = SURE if example.gold else UNSURE
    claims = example.given.claims[:MOST_CLAIMS]
    factors = example.given.assessment.factors
    would_change: WouldChange
    if factors.contradiction_detected:
        would_change = "settled_contradiction"
    elif not example.gold:
        would_change = "direct_statement"
    else:
        would_change = "independent_source" if factors.num_corroborating_sources < 2 else "newer_source"
    return {
        "claim_probabilities": [probability] * len(claims),
        "probability": probability,
        "would_change": would_change,
    }


CONFIDENCE_SET: StageSet[ConfidenceGiven, Estimate, bool] = StageSet(
    CONFIDENCE, build, score, answer=answer, forecast=forecast
)
