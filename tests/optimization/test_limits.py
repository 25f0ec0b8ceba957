"""What a compile may spend: never more, the share of validation kept apart, and what was validated by then put in place."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15

from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import Reply
from marchwarden.optimization.program_records import Outcome
from tests.optimization.compiled import (
    EVERY,
    answering,
    examples,
    has_demonstrations,
    order,
    run,
    stage_shown,
    writing,
)

BUDGETS = [9_000, 16_001, 30_000]
CALLS = [7, 20, 33]


def spent_within(outcome: Outcome, paid: Any, tokens: int | None = None, calls: int | None = None) -> None:
    """Within the limits, and where they cut it short it says so and what allows more."""
    assert paid.spent.tokens == paid.budget.tokens_used
    assert tokens is None or paid.spent.tokens <= tokens
    assert calls is None or paid.spent.calls == len(paid.engine.requests) <= calls
    assert (outcome.file is not None) == bool(outcome.stages)
    if not outcome.stages:
        assert outcome.stopped is not None
    if outcome.stopped:
        option = "--token-budget" if tokens else "--max-calls"
        assert outcome.stopped.short_of == option
        assert option in str(outcome.stopped.hint)
        assert outcome.info.stages["gaps"].reason.count(outcome.stopped.reason) == 1


# Each optimizer meets each size of a limit: half of them in tokens and half in calls, the other half by another one.
@pytest.mark.parametrize(("optimizer", "tokens"), [*product(EVERY, BUDGETS)][::2])
def test_tokens_are_never_exceeded(tmp_path: Path, optimizer: str, tokens: int) -> None:
    judge = answering(lambda request: "Say scope" in str(request.system)) if optimizer in ("gepa", "mipro") else None
    outcome, paid = run(tmp_path, order(optimizer, jobs=1 + tokens % 2), writing(judge=judge), tokens=tokens)
    spent_within(outcome, paid, tokens=tokens)


@pytest.mark.parametrize(("optimizer", "calls"), [*product(EVERY, CALLS)][1::2])
def test_calls_are_never_exceeded(tmp_path: Path, optimizer: str, calls: int) -> None:
    outcome, paid = run(tmp_path, order(optimizer, jobs=1 + calls % 2), calls=calls)
    spent_within(outcome, paid, calls=calls)


@pytest.mark.parametrize(("limit", "jobs"), [({"tokens": 50_000}, 4), ({"calls": 60}, 1)])
def test_a_search_that_would_eat_everything_leaves_the_proof_payable(
    tmp_path: Path, limit: dict[str, int], jobs: int
) -> None:
    from marchwarden.optimization.optimizers import Effort

    of = order("random-search", effort=Effort(candidates=40, demos=2, train=8, choose=6, dev=8), jobs=jobs)
    hard = stage_shown(examples(of)["gaps"].choose[0].given)
    mostly = answering(lambda request: has_demonstrations(request) and hard not in last(request))
    outcome, paid = run(tmp_path, of, mostly, **limit)
    assert outcome.stopped is not None
    assert outcome.info.stages["gaps"].compiled is not None, outcome.info.stages["gaps"].reason
    assert outcome.file is not None
    spent_within(outcome, paid, **limit)


def last(request: Any) -> str:
    return list(prompt_texts(request))[-1]


@pytest.mark.parametrize("optimizer", ["random-search", "gepa"])
def test_a_provider_that_reports_more_than_can_have_been_does_not_break_the_budget(
    tmp_path: Path, optimizer: str
) -> None:
    helped = writing()

    def answer(request: Any) -> Reply:
        return Reply(helped(request), usage=lm15.Usage(input_tokens=30_000, output_tokens=9_000))

    outcome, paid = run(tmp_path, order(optimizer, jobs=2), answer, tokens=100_000)
    assert paid.spent.tokens <= 100_000
    assert outcome.stopped is not None
    assert outcome.file is None


def test_no_answer_is_cut_for_lack_of_tokens(tmp_path: Path) -> None:
    """It would count against the prompt."""
    for tokens in BUDGETS:
        outcome, paid = run(tmp_path / str(tokens), order("random-search", jobs=2), tokens=tokens)
        caps = {request.config.max_tokens for request in paid.engine.requests}
        assert len(caps) <= 1
        assert outcome.stopped or outcome.file


def test_what_an_earlier_stage_proved_is_kept_where_the_budget_ends_in_the_next(tmp_path: Path) -> None:
    of = order("bootstrap")
    _, alone = run(tmp_path / "alone", of)
    twice = order("bootstrap", stages=("gaps", "discoveries"))
    gaps = writing()

    def answer(request: Any) -> Any:
        try:
            return gaps(request)
        except StopIteration:
            return "{}"

    outcome, _ = run(tmp_path, twice, answer, calls=alone.spent.calls + 8 + 4)
    assert outcome.stopped is not None
    assert set(outcome.stages) == {"gaps"}
    assert outcome.file is not None
    assert not outcome.info.stages["discoveries"].kept
