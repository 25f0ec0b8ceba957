"""The queue of next steps: what each is worth, what the last ones gained, and when the best is worth too little.

    utility  prior × (0.4 + 0.6 × share of the question's terms in the step) × 0.6^(generation − 1)
             × (0.3 + 0.7 × the larger of need and min(1, mean gain of the last three rihlas / 0.1))
    need     0.5^(independent organisations that answer the step's sub-question)
    gain     by how much the mean over the sub-questions of 1 − need rose

The priors (rihla.py) are fitted to labels; with them, the other numbers make next to no difference there
(evals/reports/investigations.md), and are a prototype's. Without the need, nothing was followed where the first
researchers found nothing, which is where it is worth most. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marchwarden.budget import SYNTHESIS_SHARE, VERIFY_SHARE
from marchwarden.ledger import Ledger
from marchwarden.orchestrator.rihla import Step
from marchwarden.text.ranking import coverage, terms

# Least utility of a step that is taken: what a call costs, where a nugget counts 1. A guess. Of labelled questions 74
# nuggets are found from 0.01 on, by 185 follow-ups, 72 from 0.02 on, by 103, and 72 from 0.03 on, by 72.
LEAST_UTILITY = 0.02
# Rihlas that the gain is the mean of; gain from which on nothing is taken off. A prototype's.
_REMEMBERED, _GOOD_GAIN = 3, 0.1
# Tokens that a rihla has at least where no model is known to need more: the contract's minimum.
LEAST_TOKENS = 500


@dataclass(frozen=True)
class Factors:
    """Parts of a prior that are left, each 0–1."""

    far_off: float = 0.4
    """Share that a step keeps which has no term of the question."""
    generation: float = 0.6
    """Factor for each generation after the first follow-up."""
    no_gain: float = 0.3
    """Share that is kept when nothing was gained, and nothing is needed."""


FACTORS = Factors()


@dataclass(frozen=True)
class Valued:
    step: Step
    utility: float


def utility(step: Step, question: str, gains: Sequence[float], need: float = 0.0) -> float:
    """Return the expected worth of a step, 0–1; `need` is that of its sub-question, 0–1."""
    return worth(step.prior, share_of(step, question), step.generation, need, gained_of(gains), FACTORS)


def worth(prior: float, share: float, generation: int, need: float, gained: float, factors: Factors) -> float:
    """Return the utility of a step with these features, each 0–1 but for the generation."""
    near = prior * (factors.far_off + (1 - factors.far_off) * share) * factors.generation ** max(0, generation - 1)
    return float(round(near * (factors.no_gain + (1 - factors.no_gain) * max(need, gained)), 4))


def share_of(step: Step, question: str) -> float:
    """Return the share of the question's terms that a step has, 0–1."""
    return coverage(set(terms(question)), set(terms(step.question)), {})


def gained_of(gains: Sequence[float]) -> float:
    """Return how good the gain of the last rihlas was, 0–1; 1 where there were none."""
    last = gains[-_REMEMBERED:]
    return min(1.0, sum(last) / len(last) / _GOOD_GAIN) if last else 1.0


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
