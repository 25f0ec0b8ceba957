"""Next steps of an investigation: those worth their cost, and the reason why each other one is not taken.

Steps are suggested by results (rihla.py) and ranked by their worth (agenda.py); each decision is recorded here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from marchwarden.agent.depths import SOURCES_WANTED
from marchwarden.contract import GapCategory, ResearchRequest
from marchwarden.ledger import Ledger
from marchwarden.orchestrator.agenda import LEAST_TOKENS, LEAST_UTILITY, Valued, progress_of, ranked, shares
from marchwarden.orchestrator.dispatch import Surroundings
from marchwarden.orchestrator.rihla import Rihla, Step, Unserved, follow_ups, tie_breaks, to_unasked
from marchwarden.orchestrator.team import Team
from marchwarden.trace import events

# Share of the tokens left that a round of follow-ups may take.
_FOLLOW_UP_SHARE = 0.5
# Follow-ups of one round, at most: what one brings makes others unneeded. A guess.
FOLLOW_UPS_A_ROUND = 4
# Origins of steps that are for whoever may know: nobody is asked any more where others have answered.
_ANYBODYS = (GapCategory.SOURCE_NOT_FOUND.value, "too_few_sources")
# Gain of a follow-up that brought evidence, besides that of the sub-questions. A guess.
_CLOSED_GAIN = 0.1


class NextSteps:
    """Chooses what is asked next, and remembers what was asked and gained before."""

    def __init__(self, request: ResearchRequest, team: Team, around: Surroundings) -> None:
        self._request, self._team = request, team
        self._budget, self._recorder, self._journal = around.budget, around.recorder, around.journal
        self.least_tokens = LEAST_TOKENS
        """Tokens that a rihla has at least."""
        self.unserved: list[Unserved] = []
        """Steps for which nobody in the team can be asked."""
        self._asked: set[object] = set()
        self._skipped: set[tuple[str | None, str, str]] = set()
        self._gains: list[float] = []
        self._progress = 0.0

    def sent(self, rihlas: Sequence[Rihla], ledger: Ledger) -> None:
        """Remember the rihlas of a round, and how much they gained, by the ledger after it."""
        self._asked.update(rihla.step.key for rihla in rihlas)
        now = progress_of(ledger)
        for rihla in rihlas:
            closed = rihla.step.origin not in ("sub_question", "retry") and bool(rihla.evidence)
            self._gains.append(max(0.0, now - self._progress) / len(rihlas) + _CLOSED_GAIN * closed)
        self._progress = max(now, self._progress)

    def choose(self, rihlas: Sequence[Rihla], ledger: Ledger) -> list[tuple[Valued, int]]:
        """Return the steps that are worth their cost, with their tokens; record why each other one is not taken."""
        still_open = ledger.open_aspects(SOURCES_WANTED[self._request.depth])
        open_ = {aspect.number for aspect in still_open}
        steps = list(tie_breaks(self._team, ledger))
        for rihla in rihlas:
            for found in follow_ups(rihla, rihlas, self._team, ledger, context=self._request.context):
                if isinstance(found, Step):
                    steps.append(found)
                    continue
                nobody = Step("", found.question, found.origin, found.aspect, found.reason, parent=found.parent)
                if self.skip(nobody, found.reason, None):
                    self.unserved.append(found)
        heard = {each.researcher for each in [*steps, *(rihla.step for rihla in rihlas)]}
        steps += to_unasked(heard, self._team, ledger, still_open, self._request.context)
        worthy: list[Valued] = []
        for valued in ranked(steps, self._request.question, self._gains, ledger):
            step = valued.step
            if step.key in self._asked:
                self.skip(step, "it was asked already", valued.utility)
            elif step.origin in _ANYBODYS and step.aspect not in open_:
                self.skip(step, "others have answered it", valued.utility)
            elif valued.utility < LEAST_UTILITY:
                self.skip(step, f"its value is {valued.utility:.3f}, less than {LEAST_UTILITY}", valued.utility)
            else:
                worthy.append(valued)
        if not worthy:
            covered = not open_
            self.stop(
                "covered" if covered else "low_utility",
                "Every sub-question is covered, and no next step is worth its cost."
                if covered
                else "No next step is worth its cost.",
            )
            return []
        chosen = worthy[:FOLLOW_UPS_A_ROUND]
        weights = [2.0 if each.step.doubles else 1.0 for each in chosen]
        given = [
            (valued, tokens)
            for valued, tokens in self.allot(chosen, weights, lambda left, steps: int(left * _FOLLOW_UP_SHARE))
            if tokens >= self.least_tokens or self._journal.number_of(valued.step)
        ]
        if not any(tokens for _, tokens in given):
            for valued in worthy:
                self.skip(valued.step, "no tokens are left for it", valued.utility)
            self._budget.ran_out("tokens")
            self.stop("tokens", "Too few tokens are left for another researcher.")
            return []
        return given

    def allot(
        self, steps: Sequence[Valued], weights: Sequence[float], part: Callable[[int, int], int]
    ) -> list[tuple[Valued, int]]:
        """Return the steps of a round, each with its tokens, 0 for none; `part` says how many of the tokens left so
        many new steps may have.

        A step that was taken before the investigation was resumed has the tokens that it had then. Where more rounds
        followed, no other step of this round is taken: there were no tokens for it.
        """
        pasts = {
            at: self._journal.rihlas[number]
            for at, each in enumerate(steps)
            if (number := self._journal.number_of(each.step))
        }
        tokens: dict[int, int] = {}
        left = self._budget.tokens_left("rihla")
        for at, past in pasts.items():
            had = past.dispatched.tokens
            # It is asked again with what is left, where that is enough to begin.
            tokens[at] = had if past.is_over or had <= left else left if left >= LEAST_TOKENS else 0
            left -= 0 if past.is_over else tokens[at]
        if pasts and self._journal.goes_on_after([each.step for each in steps]):
            return [(steps[at], tokens[at]) for at in sorted(pasts)]
        new = [at for at in range(len(steps)) if at not in pasts]
        least = self.least_tokens
        if left >= LEAST_TOKENS and new:
            given = max(part(left, len(new)), min(left, least))
            tokens |= dict(zip(new, shares([weights[at] for at in new], given, least), strict=True))
        return [(each, tokens.get(at, 0)) for at, each in enumerate(steps)]

    def skip(self, step: Step, why: str, worth: float | None) -> bool:
        """Record a step that is not taken, once; return whether it was new."""
        key = (step.researcher, step.question, why.partition(",")[0])
        if key in self._skipped:
            return False
        self._skipped.add(key)
        self._recorder.record(
            events.Skipped(
                researcher=step.researcher or None,
                question=step.question,
                origin=step.origin,
                parent=step.parent,
                utility=worth,
                decision=f"{why[:1].upper()}{why[1:]}.",
            )
        )
        return True

    def stop(self, reason: str, why: str) -> None:
        """Record why nothing more is asked."""
        self._recorder.record(
            events.Stopped.model_validate(
                {"reason": reason, "iterations_run": self._budget.iterations_run, "decision": why}
            )
        )
