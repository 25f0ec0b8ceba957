"""Verdicts on claims: what a model may take away, and what it can't bring back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from marchwarden.budget import Budget
from marchwarden.contract import Constraints, SourceAuthority
from marchwarden.ledger import Excerpt, Ledger, Source
from marchwarden.lm import Model
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.stages.stage import Form, StageRunner
from marchwarden.stages.synthesize import Claim
from marchwarden.stages.verify_claims import (
    VERIFY,
    Verdict,
    VerifyGiven,
    apply_verdicts,
    cut,
    needs_verdict,
    show,
)
from tests.lm.conftest import MemoryRecorder

pytestmark = pytest.mark.anyio

QUOTES = (
    "The Halden Bridge was built in 1931 over the river Tista.",
    "It may close for repairs in winter, if the county agrees.",
)
BUILT = "The Halden Bridge was built in 1931."
BUILT_BY = "The Halden Bridge was built in 1931 over the river Tista by county workers."


def given(*claims: str, excerpt: int = 1) -> VerifyGiven:
    ledger = Ledger(question="When was the Halden Bridge built?")
    ledger.set_aspects([ledger.question])
    ledger.sources.append(
        Source(
            locator="https://a.gov/", organisation="a.gov", title="Halden Bridge", published=None, modified=None,
            content_hash="sha256:0", text_hash="0", authority=SourceAuthority.HIGH, standing=None, language="en",
            has_text=True,
        )
    )  # fmt: skip
    for start, text in enumerate(QUOTES):
        ledger.add_excerpt(
            Excerpt(number=0, locator="https://a.gov/", aspect=1, start=start, end=start + len(text), text=text)
        )
    return VerifyGiven(ledger, tuple(Claim(text=text, excerpts=[excerpt]) for text in claims))


async def asked(
    of: VerifyGiven, *answers: str, token_budget: int = 20_000
) -> tuple[list[Verdict], Form, MemoryRecorder]:
    recorder = MemoryRecorder()
    budget = Budget(Constraints(token_budget=token_budget), 60.0)
    runner = StageRunner(
        Model("scripted/model", ScriptedEngine(answers), budget, recorder, retries=0), budget, recorder
    )
    verdicts, form = await runner.run(VERIFY, of)
    assert budget.tokens_used <= token_budget
    return verdicts, form, recorder


def said(*verdicts: Mapping[str, Any]) -> str:
    return json.dumps({"verdicts": verdicts})


async def left(of: VerifyGiven, *verdicts: Mapping[str, Any]) -> list[str | None]:
    found, form, _ = await asked(of, said(*verdicts))
    assert form == "model"
    return [claim and claim.text for claim in apply_verdicts(of, found)[0]]


async def test_a_supported_claim_stays_and_refused_ones_go_with_their_reason() -> None:
    of = given(BUILT, "Workers built the bridge.", "The bridge was built over a lake.")
    found, _, _ = await asked(
        of,
        said(
            {"claim": 1, "verdict": "supported"},
            {"claim": 2, "verdict": "not_stated", "missing": "who built it"},
            {"claim": 3, "verdict": "contradicted", "missing": "it is a river"},
        ),
    )
    kept, dropped = apply_verdicts(of, found)
    assert kept == [of.claims[0], None, None]
    assert [(drop.text, drop.decision) for drop in dropped] == [
        (of.claims[1].text, "the model finds that its quotes do not state it: who built it"),
        (of.claims[2].text, "the model finds that its quotes contradict it: it is a river"),
    ]


@pytest.mark.parametrize(
    "false",
    [
        "The Halden Bridge was built in 1941.",
        "The Halden Bridge was not built in 1931.",
        "Otto Krag built it in 1931.",
    ],
)
async def test_a_model_that_says_supported_brings_back_no_claim_that_a_rule_refuses(false: str) -> None:
    assert await left(given(false, BUILT), *({"claim": n, "verdict": "supported"} for n in (1, 2))) == [None, BUILT]


async def test_a_claim_that_is_supported_in_part_is_cut_to_its_own_words() -> None:
    part = "the halden bridge was built in 1931 over the river Tista"
    assert await left(given(BUILT_BY), {"claim": 1, "verdict": "partly", "part": part}) == [QUOTES[0]]


@pytest.mark.parametrize(
    "part",
    [
        "The Halden Bridge was built in 1931 over the river Tista by Otto Krag.",  # words of its own
        "The Halden Bridge was built by county workers",  # words that do not follow each other
        BUILT_BY,  # nothing left out
        "built in 1931",  # no sentence
        "over the river Tista by county workers",  # still not supported
        "",
    ],
)
async def test_a_claim_is_dropped_whose_part_cannot_be_used(part: str) -> None:
    assert await left(given(BUILT_BY), {"claim": 1, "verdict": "partly", "part": part}) == [None]


async def test_a_cut_that_loses_a_condition_is_refused_by_the_rules() -> None:
    claim = "It will close for repairs in winter, if the county agrees and pays."
    part = {"claim": 1, "verdict": "partly", "part": "It will close for repairs in winter"}
    assert await left(given(claim, excerpt=2), part) == [None]


async def test_of_two_verdicts_on_a_claim_the_harder_counts_and_one_left_out_changes_nothing() -> None:
    of = given(BUILT, QUOTES[0])
    verdicts = ({"claim": 1, "verdict": "supported"}, {"claim": 1, "verdict": "contradicted"})
    assert await left(of, *verdicts) == [None, QUOTES[0]]


async def test_a_broken_verdict_costs_only_itself_and_a_long_reason_nothing() -> None:
    of = given(BUILT, QUOTES[0])
    verdicts = (
        {"claim": "first", "verdict": "contradicted"},
        {"claim": 1, "verdict": "maybe"},
        {"claim": 7, "verdict": "contradicted"},
        {"claim": 2, "verdict": "Not stated", "part": None, "missing": "so much " * 90},
    )
    assert await left(of, *verdicts) == [BUILT, None]


@pytest.mark.parametrize("answers", [("no JSON",) * 2, ('{"verdicts": []}',) * 2, ('{"verdicts": "all"}',) * 2])
async def test_where_nothing_can_be_read_the_rules_decide_alone(answers: tuple[str, ...]) -> None:
    found, form, recorder = await asked(given(BUILT, "It was built in 1941."), *answers)
    assert [(each.claim, each.verdict) for each in found] == [(1, "supported"), (2, "not_stated")]
    assert form == "model_free"
    assert [event.stage for event in recorder.events if event.action == "fallback"] == ["verify"]


async def test_where_the_budget_cannot_pay_no_model_is_asked_and_nothing_counts_as_exhausted() -> None:
    found, form, recorder = await asked(given(BUILT), said({"claim": 1, "verdict": "contradicted"}), token_budget=600)
    assert (form, [each.verdict for each in found]) == ("model_free", ["supported"])
    assert not recorder.calls


def test_a_model_is_shown_each_claim_with_the_quotes_that_it_cites() -> None:
    assert show(given(BUILT, BUILT)) == {
        "claims": "\n".join(f"{number}. {BUILT}\n   > (Halden Bridge) {QUOTES[0]}" for number in (1, 2))
    }


@pytest.mark.parametrize(("claim", "needed"), [(QUOTES[0], False), (QUOTES[0].rstrip("."), False), (BUILT, True)])
def test_a_copied_sentence_needs_no_verdict(claim: str, *, needed: bool) -> None:
    of = given(claim)
    assert needs_verdict(of.ledger, of.claims[0]) is needed


@pytest.mark.parametrize(
    ("claim", "part", "run"),
    [
        ("In May, Ada met Bo, who was ill.", "Ada met Bo, who", "Ada met Bo, who."),
        ("Ada met Bo, who was ill.", "ada met BO who was", "Ada met Bo, who was."),
        ("Ada met Bo and left at once.", "met Bo and left", "Met Bo and left."),
        ("Ada met Bo.", "Ada met Bo", None),
    ],
)
def test_a_part_is_a_run_of_the_claims_words_as_they_stand_there(claim: str, part: str, run: str | None) -> None:
    assert cut(claim, part) == run
