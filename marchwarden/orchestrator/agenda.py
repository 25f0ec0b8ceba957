"""The queue of next steps: what each is worth, what the last ones gained, and when the best is worth too little.

    utility  prior × (0.4 + 0.6 × share of the question's terms in the step) × 0.6^generation
             × (0.3 + 0.7 × min(1, mean gain of the last three rihlas / 0.1))
    gain     by how much the mean over the sub-questions of 1 − 0.5^(independent organisations) rose

Pure. The numbers are those of a prototype; evals/investigations/follow_ups.py measures what others change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marchwarden.ledger import Ledger
from marchwarden.orchestrator.rihla import Step
from marchwarden.text.ranking import coverage, terms

# Least utility of a step that is taken.
LEAST_UTILITY = 0.08
# Share of the worth that a step keeps which has no term of the question; factor for each generation; share that is
# kept when nothing was gained; rihlas that the gain is the mean of; gain from which on nothing is taken off.
_FAR_OFF, _GENERATION, _NO_GAIN, _REMEMBERED, _GOOD_GAIN = 0.4, 0.6, 0.3, 3, 0.1
# Tokens that a rihla has at least: the contract's minimum.
LEAST_TOKENS = 500


@dataclass(frozen=True)
class Valued:
    step: Step
    utility: float


def utility(step: Step, question: str, gains: Sequence[float]) -> float:
    """Return the expected worth of a step, 0–1."""
    share = coverage(set(terms(question)), set(terms(step.question)), {})
    last = gains[-_REMEMBERED:]
    gained = min(1.0, sum(last) / len(last) / _GOOD_GAIN) if last else 1.0
    worth = step.prior * (_FAR_OFF + (1 - _FAR_OFF) * share) * _GENERATION**step.generation
    return float(round(worth * (_NO_GAIN + (1 - _NO_GAIN) * gained), 4))


def ranked(steps: Iterable[Step], question: str, gains: Sequence[float]) -> list[Valued]:
    """Return the steps by their utility, best first; of two that ask the same of the same, the better one."""
    best: dict[object, Valued] = {}
    for step in steps:
        valued = Valued(step, utility(step, question, gains))
        known = best.setdefault(step.key, valued)
        if valued.utility > known.utility:
            best[step.key] = valued
    return sorted(best.values(), key=lambda each: (-each.utility, each.step.researcher, each.step.question))


def progress_of(ledger: Ledger) -> float:
    """Return how well the sub-questions are answered, 0–1."""
    if not ledger.aspects:
        return 0.0
    found = [len(ledger.organisations(ledger.evidence_for(aspect.number))) for aspect in ledger.aspects]
    return sum(1 - 0.5**organisations for organisations in found) / len(found)


def shares(weights: Sequence[float], tokens: int) -> list[int]:
    """Return the tokens of each of several rihlas by their weights: LEAST_TOKENS at least, and none where they do
    not suffice."""
    total = sum(weights)
    given: list[int] = []
    left = tokens
    for weight in weights:
        share = min(left, max(LEAST_TOKENS, int(tokens * weight / total)))
        given.append(share if share >= LEAST_TOKENS else 0)
        left -= given[-1]
    return given
