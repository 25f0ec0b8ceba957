"""The queue of next steps: what each is worth, what the last ones gained, and when the best is worth too little.

    utility  prior × (0.4 + 0.6 × share of the question's terms in the step) × 0.6^generation
             × (0.3 + 0.7 × the larger of need and min(1, mean gain of the last three rihlas / 0.1))
    need     0.5^(independent organisations that answer the step's sub-question)
    gain     by how much the mean over the sub-questions of 1 − need rose

Without the need, nothing was followed where the first researchers found nothing, which is where it is worth most: 10
of 22 moved nuggets were found (evals/investigations/follow_ups.py). Pure. The other numbers are a prototype's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marchwarden.budget import SYNTHESIS_SHARE, VERIFY_SHARE
from marchwarden.ledger import Ledger
from marchwarden.orchestrator.rihla import Step
from marchwarden.text.ranking import coverage, terms

# Least utility of a step that is taken.
LEAST_UTILITY = 0.08
# Share of the worth that a step keeps which has no term of the question; factor for each generation; share that is
# kept when nothing was gained; rihlas that the gain is the mean of; gain from which on nothing is taken off.
_FAR_OFF, _GENERATION, _NO_GAIN, _REMEMBERED, _GOOD_GAIN = 0.4, 0.6, 0.3, 3, 0.1
# Tokens that a rihla has at least where no model is known to need more: the contract's minimum.
LEAST_TOKENS = 500


@dataclass(frozen=True)
class Valued:
    step: Step
    utility: float


def utility(step: Step, question: str, gains: Sequence[float], need: float = 0.0) -> float:
    """Return the expected worth of a step, 0–1; `need` is that of its sub-question, 0–1."""
    share = coverage(set(terms(question)), set(terms(step.question)), {})
    last = gains[-_REMEMBERED:]
    gained = min(1.0, sum(last) / len(last) / _GOOD_GAIN) if last else 1.0
    worth = step.prior * (_FAR_OFF + (1 - _FAR_OFF) * share) * _GENERATION**step.generation
    return float(round(worth * (_NO_GAIN + (1 - _NO_GAIN) * max(need, gained)), 4))


def ranked(steps: Iterable[Step], question: str, gains: Sequence[float], ledger: Ledger) -> list[Valued]:
    """Return the steps by their utility, best first; of two that ask the same of the same, the better one."""
    best: dict[object, Valued] = {}
    needs = needs_of(ledger)
    for step in steps:
        valued = Valued(step, utility(step, question, gains, needs.get(step.aspect, 0.0)))
        known = best.setdefault(step.key, valued)
        if valued.utility > known.utility:
            best[step.key] = valued
    return sorted(best.values(), key=lambda each: (-each.utility, each.step.researcher, each.step.question))


def progress_of(ledger: Ledger) -> float:
    """Return how well the sub-questions are answered, 0–1."""
    needs = needs_of(ledger)
    return sum(1 - need for need in needs.values()) / len(needs) if needs else 0.0


def needs_of(ledger: Ledger) -> dict[int, float]:
    """Return how much each sub-question, by number, still needs an answer, 0–1."""
    return {
        aspect.number: float(0.5 ** len(ledger.separate_texts(ledger.evidence_for(aspect.number))))
        for aspect in ledger.aspects
    }


def least_tokens(first_call: int) -> int:
    """Return the tokens with which a researcher can make its first model call, whose prompt and answer need
    `first_call` of them: it sets the rest aside for its answer before. 0 where no model is asked.

    The investigator's own first call is the same as a researcher's: the plan for the question.
    """
    return max(LEAST_TOKENS, math.ceil(first_call / (1 - SYNTHESIS_SHARE - VERIFY_SHARE)))


def shares(weights: Sequence[float], tokens: int, least: int = LEAST_TOKENS) -> list[int]:
    """Return the tokens of each of several rihlas by their weights, `least` at least. Where those do not suffice, a
    rihla gets LEAST_TOKENS, with which it answers without the model; none where these do not suffice either."""
    total = sum(weights)
    given: list[int] = []
    left = tokens
    for others, weight in zip(reversed(range(len(weights))), weights, strict=True):
        # Everybody is asked before anybody is asked with the model: one source of three finds less.
        share = min(left - others * LEAST_TOKENS, max(least, int(tokens * weight / total)))
        if share < least:
            share = LEAST_TOKENS if left >= LEAST_TOKENS else 0
        given.append(share)
        left -= share
    return given
