"""Right answers of stage sets: they score, they show a model nothing that its inputs don't hold, and they are plain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import anyio
import pytest

from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.labels.scoring_text import bare_identifier
from marchwarden.ledger import Ledger, Pointer
from marchwarden.optimization.examples.discovery_examples import DISCOVERIES_SET, DiscoveriesGold
from marchwarden.optimization.examples.labelled_web import labelled_web
from marchwarden.optimization.examples.stage_example import Example
from marchwarden.optimization.examples.wording import as_phrase, clause, keywords, sentences_of
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.settings import load_settings, shipped
from marchwarden.stages.discoveries import DiscoveriesGiven

ANSWERED = ["plan", "extract", "synthesize", "verify", "gaps", "discoveries", "confidence"]
TOPICS = ("coffee", "history-of-ai")
NO_WORDING = {"category", "stance"}


def examples(stage: str) -> list[Example[Any, Any]]:
    return every_example()[stage]


@cache
def every_example() -> dict[str, list[Example[Any, Any]]]:
    """Those of all stages: a page is read once for all of them."""
    settings = load_settings(model="extractive", source="snapshot", semantic=False)
    questions = [each for each in load_questions(shipped("questions") / "train.jsonl") if each.topic in TOPICS]

    async def build() -> dict[str, list[Example[Any, Any]]]:
        async with labelled_web(settings) as web:
            return {name: await each.examples_on(questions, web) for name, each in STAGE_SETS.items()}

    return anyio.run(build)


@cache
def demonstrations(stage: str) -> list[tuple[Example[Any, Any], dict[str, Any]]]:
    found = [(example, STAGE_SETS[stage].demonstration(example)) for example in examples(stage)]
    return [(example, told) for example, told in found if told is not None]


def worded(value: Any) -> Iterator[str]:
    """The texts of an answer that a model words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from worded(each)
    elif isinstance(value, dict):
        for name, each in value.items():
            if name not in NO_WORDING:
                yield from worded(each)


def long_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{5,}", text.casefold()))


def parts(stage: str, told: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What the model is shown, as one text, and what it answers."""
    signature = STAGE_SETS[stage].stage.signature()
    shown = "\n".join(worded([told[name] for name in signature.input_fields]))
    return shown, {name: told[name] for name in signature.output_fields}


@pytest.mark.parametrize("stage", ANSWERED)
def test_every_kind_of_example_has_demonstrations_that_hold_the_fields_of_the_signature(stage: str) -> None:
    told = demonstrations(stage)
    assert {example.kind for example, _ in told} == {example.kind for example in examples(stage)}
    signature = STAGE_SETS[stage].stage.signature()
    for _, fields in told:
        assert list(fields) == [*signature.input_fields, *signature.output_fields]
        assert json.loads(json.dumps(fields)) == fields


@pytest.mark.parametrize(("stage", "field", "text"), [("extract", "picks", "says"), ("synthesize", "claims", "text")])
def test_what_is_said_is_said_in_words_that_the_model_was_shown(stage: str, field: str, text: str) -> None:
    for _, fields in demonstrations(stage):
        shown, _ = parts(stage, fields)
        for each in fields[field]:
            assert long_words(each[text]) <= long_words(shown)


# plan


def test_queries_are_in_words_of_the_question_and_not_of_its_answers() -> None:
    for example, fields in demonstrations("plan"):
        assert 1 <= len(fields["queries"]) <= 3
        for query in fields["queries"]:
            assert long_words(query) <= long_words(example.given.ledger.question)
            assert example.given.ledger.is_new_query(query)


def test_the_candidates_to_read_are_those_that_hold_what_is_left() -> None:
    (fields,) = [fields for example, fields in demonstrations("plan") if example.id == "coffee-02/later"]
    (number,) = fields["read"]
    assert f"{number}. " in fields["candidates"]
    assert "Procope" in fields["candidates"].partition(f"{number}. ")[2].partition("\n")[0]
    assert fields["thought"].endswith(f"it may stand in candidate {number}.")


def test_a_plan_names_what_the_question_asks_for_and_is_never_done() -> None:
    (fields,) = [fields for example, fields in demonstrations("plan") if example.id == "coffee-02/first"]
    assert fields["aspects"] == [
        "who opened London's first coffee house, in which year",
        "when did the Café Procope in Paris open",
    ]
    assert fields["thought"] == "It asks for 2 things."
    assert not any(fields["done"] for _, fields in demonstrations("plan"))


# extract


def test_of_a_page_without_an_answer_nothing_is_picked_and_of_others_something() -> None:
    for example, fields in demonstrations("extract"):
        assert bool(fields["picks"]) == (example.kind == "evidence")


def test_a_passage_that_denies_what_the_question_assumes_contradicts() -> None:
    (picks,) = [
        fields["picks"]
        for example, fields in demonstrations("extract")
        if example.question == "coffee-07" and example.kind == "evidence"
    ]
    assert [(pick["says"], pick["stance"]) for pick in picks] == [
        ("Dark roasting does not add caffeine", "contradicts")
    ]


def test_a_passage_that_merely_answers_supports() -> None:
    stances = {
        pick["stance"]
        for example, fields in demonstrations("extract")
        if example.question == "coffee-01"
        for pick in fields["picks"]
    }
    assert stances == {"supports"}


# synthesize


def test_claims_are_single_sentences_that_stand_alone_and_point_at_labelled_excerpts() -> None:
    for example, fields in demonstrations("synthesize"):
        for claim in fields["claims"]:
            assert sentences_of(claim["text"]) == [claim["text"]]
            assert not re.match(r"(It|They|This|These|On the same day) ", claim["text"])
            assert set(claim["excerpts"]) <= example.gold.excerpts


def test_a_claim_points_at_every_labelled_excerpt_that_carries_it() -> None:
    (fields,) = [fields for example, fields in demonstrations("synthesize") if example.id == "coffee-03"]
    assert [claim["excerpts"] for claim in fields["claims"]] == [[1, 2]]


def test_there_is_no_right_answer_where_a_nugget_stands_only_in_another_language() -> None:
    (example,) = [each for each in examples("synthesize") if each.id == "coffee-02"]
    assert STAGE_SETS["synthesize"].demonstration(example) is None


# verify and confidence


def test_a_right_verdict_is_one_on_each_claim_and_a_part_is_in_words_of_its_claim() -> None:
    for example, fields in demonstrations("verify"):
        assert [each["claim"] for each in fields["verdicts"]] == list(range(1, len(example.given.claims) + 1))
        for verdict, claim in zip(fields["verdicts"], example.given.claims, strict=True):
            assert bool(verdict["part"]) is (verdict["verdict"] == "partly")
            assert long_words(verdict["part"]) <= long_words(claim.text)


def test_a_right_estimate_is_never_certain_and_has_a_number_for_each_claim() -> None:
    for example, fields in demonstrations("confidence"):
        assert fields["probability"] == (0.9 if example.gold else 0.1)
        assert len(fields["claim_probabilities"]) == min(10, len(example.given.claims))


# discoveries and open questions


def test_every_pointer_is_asked_for_by_its_name_and_in_words_that_the_model_was_shown() -> None:
    for example, fields in demonstrations("discoveries"):
        shown, _ = parts("discoveries", fields)
        assert [event["pointer"] for event in fields["events"]] == list(range(1, len(example.given.pointers) + 1))
        for event, pointer in zip(fields["events"], example.given.pointers, strict=True):
            assert event["query"].startswith(pointer.value)
            assert long_words(event["query"]) <= long_words(shown)


def test_a_locator_in_a_pointers_sentence_is_left_out_of_the_reason() -> None:
    sentence = "The guideline is at doi.org/10.5555/halden.77."
    pointer = Pointer(
        kind="doi", value="10.5555/halden.77", sentence=sentence, locator="https://a.org", relevance=1.0
    )
    given = DiscoveriesGiven(Ledger(question="How old is the Halden Bridge?", pointers=[pointer]))
    example = Example(
        "a", "a", "required", given, DiscoveriesGold(("10.5555/halden.77",), (), ("age of the bridge",))
    )
    answer = DISCOVERIES_SET.answer(example)
    assert answer == {
        "events": [
            {
                "pointer": 1,
                "query": "10.5555/halden.77 old Halden Bridge",
                "reason": "It is a published paper that a page on this names.",
            }
        ]
    }


def test_nobody_labelled_which_open_questions_are_right() -> None:
    assert examples("open_questions")
    assert demonstrations("open_questions") == []


# wording


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        ("Rust reached Ceylon in 1869; the planters turned to tea.", "Rust reached Ceylon in 1869"),
        ("The bridge was built in 1931, when steel was dear.", "The bridge was built in 1931, when steel was dear"),
        ("The bridge was built in 1931, although steel was dear.", "The bridge was built in 1931"),
        ("Note: it was built in 1931.", "Note: it was built in 1931"),
        ("Bridges (of steel; of stone) were built in 1931.", "Bridges (of steel; of stone) were built in 1931"),
    ],
)
def test_a_clause_is_the_shortest_whole_beginning_of_a_sentence(sentence: str, short: str) -> None:
    assert clause(sentence, lambda text: "19" in text or "18" in text) == short


@pytest.mark.parametrize(
    ("passage", "said"),
    [
        ("It is green [3]. It is old (doi:10.5555/a).", ["It is green.", "It is old."]),
        ("Colour | green", []),
        ("The colour of the bridge", []),
        (
            "Er fiel am 9. November 1989 in der Nacht und war nicht alt.",
            ["Er fiel am 9. November 1989 in der Nacht und war nicht alt."],
        ),
    ],
)
def test_sentences_are_those_that_can_be_said_as_they_stand(passage: str, said: list[str]) -> None:
    assert sentences_of(passage) == said


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ("What is the surface area of Lake Geneva", "surface area of Lake Geneva"),
        ("How long is it", "how long is it"),
        ("Casgevy's dose", "Casgevy's dose"),
        ("What is it", "what is it"),
    ],
)
def test_a_phrase_is_what_a_clause_asks_for(asked: str, phrase: str) -> None:
    assert as_phrase(asked) == phrase


@pytest.mark.parametrize(
    ("asked", "query"),
    [
        ("How many cars cross the Halden Bridge's deck a day?", "cars cross Halden Bridge deck day"),
        ("A dose of vitamin D that I need?", "dose vitamin D need"),
        ("What is the best time?", ""),
    ],
)
def test_keywords_are_the_telling_words_of_a_question(asked: str, query: str) -> None:
    assert keywords(asked) == query


# gaps


def test_a_gap_that_another_researcher_could_close_names_what_holds_it() -> None:
    told = [(example, fields) for example, fields in demonstrations("gaps") if example.kind == "scope_exceeded"]
    for example, fields in told:
        (gap,) = fields["gaps"]
        shown = [bare for holder in example.gold.holders if (bare := bare_identifier(holder)) in fields["pointers"]]
        assert gap["category"] == "scope_exceeded"
        assert any(bare in gap["detail"] for bare in shown) == bool(shown)
