"""Last stages of a call as its trace recorded them: what a model worded stands as it is, the rest is made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from marchwarden.agent.conclusion import Checkpoint
from marchwarden.contract import DiscoveryEvent, Gap, OpenQuestion
from marchwarden.stages.discoveries import DISCOVERIES, DiscoveriesGiven
from marchwarden.stages.gaps import GAPS, GapsGiven, find_decided_gaps, undecided
from marchwarden.stages.open_questions import OPEN_QUESTIONS
from marchwarden.stages.score_confidence import CONFIDENCE, Estimate
from marchwarden.stages.stage import Form, Given, Output, Stage
from marchwarden.stages.synthesize import SYNTHESIZE, Claim

Line = Mapping[str, Any]

# Stages that run once the answer is there. Each runs once.
_AFTER_THE_ANSWER = frozenset({GAPS.name, DISCOVERIES.name, OPEN_QUESTIONS.name, CONFIDENCE.name})


class RecordedStages:
    """Runs the last stages of a call: one that the model answered gives what is recorded, any other runs by rules."""

    def __init__(self, lines: Sequence[Line], state: Checkpoint, recorded: Line) -> None:
        """Make the stages of the call that ended in `state`; `recorded` is its line `conclude`."""
        self.exhausted, self.unpaid = state.exhausted, state.unpaid
        self.trouble, self.has_answered = state.model_trouble, state.has_model_answered
        resumed = max((at for at, line in enumerate(lines) if line["action"] == "resume"), default=0)
        ran = lines[resumed:]
        calls = [line for line in ran if line["action"] == "model_call"]
        fell_back = [line for line in ran if line["action"] == "fallback"]
        by_rules = {line["stage"] for line in fell_back} & _AFTER_THE_ANSWER
        self._answered = {line["stage"] for line in calls if line["error"] is None} - by_rules
        assessed = next(line for line in reversed(lines) if line["action"] == "assess")
        self.gaps = [Gap.model_validate(each) for each in assessed["gaps"]]
        self.questions = [OpenQuestion.model_validate(each) for each in assessed["open_questions"]]
        self._discoveries = [DiscoveryEvent.model_validate(each) for each in assessed["discovery_events"]]
        self._claims = [Claim.model_validate(claim) for claim in recorded["claims"]]
        self._form = next(line["stage_form"] for line in reversed(lines) if line["action"] == "synthesize")
        self._estimate = recorded["estimate"]
        later = [line for line in calls if line["stage"] in _AFTER_THE_ANSWER]
        failed = [line for line in fell_back if line["limit"] is None]
        self.are_gaps_certain = not by_rules and not (later and failed)
        """False where the call may have ended in another state than its gaps were found in: a limit was reached or
        the model failed, perhaps after them, and a gap tells of it."""
        self.tokens_used = state.tokens_used
        """Tokens that were used when the gaps were found."""
        if later:
            before = ran[: ran.index(later[0])]
            spent = [line["tokens_used"] for line in before if line["action"] in ("model_call", "return", "lost")]
            self.tokens_used = max(spent, default=0)

    async def run(self, stage: Stage[Given, Output], given: Given) -> tuple[Output, Form]:
        said = self._said(stage.name, given) if stage.name in self._answered else None
        return (stage.model_free(given), "model_free") if said is None else (cast(Output, said), "model")

    def _said(self, stage: str, given: object) -> object:
        """Return what the model said by the trace; None where it can't have said that."""
        if stage == SYNTHESIZE.name:
            return self._claims if self._form == "model" else None
        if stage == GAPS.name:
            return self._worded_gaps(cast(GapsGiven, given))
        if stage == DISCOVERIES.name:
            return self._worded_discoveries(cast(DiscoveriesGiven, given))
        if stage == OPEN_QUESTIONS.name:
            return self.questions
        if stage == CONFIDENCE.name and (told := self._estimate):
            return Estimate(tuple(told["of_claims"]), told["of_whole"], told["would_change"])
        return None

    def _worded_gaps(self, given: GapsGiven) -> list[Gap] | None:
        """Return the gaps behind those that facts decide: one for each part that they leave undecided."""
        worded = self.gaps[len(find_decided_gaps(given)) :]
        topics = [aspect.text for aspect in undecided(given)]
        return worded if [gap.topic for gap in worded] == topics else None

    def _worded_discoveries(self, given: DiscoveriesGiven) -> list[DiscoveryEvent] | None:
        """Return the discoveries of what the pages point at: a model chooses their words, and nothing else."""
        by_rules = DISCOVERIES.model_free(given)
        worded = self._discoveries[: len(by_rules)]
        plain = [
            told.model_copy(update={"query": rule.query, "reason": rule.reason})
            for told, rule in zip(worded, by_rules, strict=False)
        ]
        return worded if plain == by_rules else None

    def give_back(self, stage: Stage[Any, Any]) -> None:
        pass

    def repeat(self, events: Sequence[object]) -> None:
        pass
