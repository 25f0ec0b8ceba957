"""The two stages that judge an answer, in whole calls with scripted models: neither can make a result look better."""

from __future__ import annotations

import json
from typing import Any

import pytest

from marchwarden.lm.scripted import Reply
from tests.agent.test_researcher_with_a_model import but, good, run, shown, stage_of
from tests.profiles import within
from tests.runs import Run

pytestmark = pytest.mark.anyio

TRUE = "The Halden Bridge was built in 1931."
SUBTLE = "Many workers built the Halden Bridge between 1929 and 1931."
FALSE = "The Halden Bridge was built in 1941."


def writing(*claims: str, **others: Any) -> Any:
    """A model that writes these claims, and answers other stages as `others` say."""

    def script(request: Any) -> Any:
        stage = stage_of(request)
        if stage == "synthesize":
            return json.dumps({"claims": [{"text": text, "excerpts": shown(request)} for text in claims]})
        return others.get(stage) or good(request)

    return script


def verdicts(*words: str, **fields: str) -> str:
    told = [{"claim": number, "verdict": word, **fields} for number, word in enumerate(words, start=1)]
    return json.dumps({"verdicts": told})


def estimate(*shares: float, whole: float) -> str:
    told = {"claim_probabilities": shares, "probability": whole, "would_change": "official_source"}
    return json.dumps(told)


def dropped(done: Run) -> dict[str, str]:
    return {drop.text: drop.decision for drop in done.events("drop")}


async def test_a_claim_that_the_check_refuses_is_not_shown_and_the_trace_says_why() -> None:
    done = await run(writing(TRUE, SUBTLE, verify=verdicts("supported", "not_stated", missing="how many")))
    assert "Many workers" not in done.result.answer
    assert done.result.answer.startswith("The Halden Bridge was built in 1931 [")
    assert dropped(done)[SUBTLE] == "the model finds that its quotes do not state it: how many"
    assert done.events("synthesize")[0].dropped == 1


async def test_a_model_that_calls_everything_supported_brings_back_nothing_that_the_rules_refuse() -> None:
    lying = await run(writing(TRUE, FALSE, verify=verdicts("supported", "supported", "supported")))
    honest = await run(writing(TRUE, FALSE))
    assert "1941" not in lying.result.answer
    assert FALSE in dropped(lying)
    assert lying.result.answer == honest.result.answer


async def test_a_claim_is_cut_to_the_part_that_its_quotes_support() -> None:
    part = "workers built the Halden Bridge between 1929 and 1931"
    done = await run(writing(SUBTLE, verify=verdicts("partly", part=part)))
    assert done.result.answer.startswith(f"W{part[1:]} [")
    assert part[1:] in dropped(done)[SUBTLE]


async def test_where_no_claim_is_left_the_answer_is_copied() -> None:
    done = await run(writing(TRUE, verify=verdicts("contradicted")))
    assert done.events("synthesize")[0].stage_form == "model_free"
    assert "1931" in done.result.answer
    assert done.problems == []


async def test_copied_sentences_are_not_sent_to_the_check() -> None:
    done = await run(writing("The Halden Bridge was built in 1931 over the river Tista."))
    assert "verify" not in {call.stage for call in done.events("model_call")}


@pytest.mark.parametrize("answer", ["no JSON", '{"verdicts": []}', Reply("never", delay=60.0)], ids=str)
async def test_a_check_that_gives_nothing_leaves_the_claims_that_the_rules_let_pass(answer: Any) -> None:
    done = await run(but("verify", answer), seconds=6.0)
    assert [event.stage for event in done.events("fallback")] == ["verify"]
    assert done.events("synthesize")[0].stage_form == "model"
    assert done.result.answer.startswith("The Halden Bridge was built in 1931 [1]")
    assert done.result.open_questions[0].question == "Who designed the Halden Bridge?"  # there was time left for it
    assert done.result.cost_metadata.wall_time_sec < within(6.0)
    assert not done.result.cost_metadata.budget_exhausted


async def test_the_estimate_is_in_the_factors_with_what_would_change_it() -> None:
    done = await run(writing(TRUE, confidence=estimate(0.9, whole=0.31)))
    factors = done.result.confidence_factors
    assert (factors.estimated, factors.calibration) == (0.31, None)
    assert factors.would_change == "an official or peer-reviewed source"
    assert 0.31 < done.result.confidence < (factors.uncalibrated or 0)
    assert done.events("assess")[0].uncalibrated == factors.uncalibrated


async def test_a_model_that_is_sure_of_everything_lifts_no_confidence() -> None:
    sure = await run(writing(TRUE, confidence=estimate(1.0, whole=1.0)))
    silent = await run(writing(TRUE, confidence="no JSON"))
    assert sure.result.confidence == silent.result.confidence
    assert silent.result.confidence_factors.estimated is None
    assert (sure.result.confidence_factors.estimated, sure.result.confidence_factors.uncalibrated) == (
        1.0,
        silent.result.confidence,
    )


@pytest.mark.parametrize("answer", ["85 %", estimate(whole=85)])
async def test_an_estimate_that_is_none_leaves_the_confidence_to_the_rules(answer: Any) -> None:
    done = await run(but("confidence", answer))
    assert done.result.confidence_factors.estimated is None
    assert [event.stage for event in done.events("fallback")] == ["confidence"]
    assert done.events("synthesize")[0].stage_form == "model"


@pytest.mark.parametrize("stage", ["open_questions", "confidence"])
async def test_a_closing_stage_that_is_too_slow_costs_only_itself(stage: str) -> None:
    done = await run(but(stage, Reply("never", delay=60.0)), seconds=6.0)
    assert [event.stage for event in done.events("fallback")] == [stage]
    assert done.events("synthesize")[0].stage_form == "model"
    assert not done.result.cost_metadata.budget_exhausted
