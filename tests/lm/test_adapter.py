"""Answers parse as models really write them: thinking aloud, fenced, with prose around them, or a draft first."""

from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.lm.adapter import JSONAnswers, ShortJSONAnswers, json_objects, whole_items, without_thinking
from marchwarden.stages.registry import STAGES


class Plan(dspy.Signature):  # type: ignore[misc]
    """Plan."""

    question: str = dspy.InputField()
    queries: list[str] = dspy.OutputField()
    done: bool = dspy.OutputField()


WANTED = {"queries": ["ideal crops Utah"], "done": False}
JSON = '{"queries": ["ideal crops Utah"], "done": false}'


def parse(text: str) -> dict[str, Any]:
    return JSONAnswers().parse(Plan, text)


@pytest.mark.parametrize(
    "text",
    [
        JSON,
        f"```json\n{JSON}\n```",
        f"Sure! Here is the plan:\n\n```\n{JSON}\n```\nI hope that this helps {{smile}}.",
        f'<think>Maybe {{\'queries\': []}}? or {{"queries": ["x"], "done": true}}</think>\n{JSON}',
        f"<thinking>\nHm.\n</thinking>{JSON}",
        f"The template opened the block itself.</think>{JSON}",
        f'{JSON}\n\nNote: {{"done": true}} would be too early.',
        f'A draft: {{"queries": ["a"], "done": true}}. Better: {JSON}',
        '{"queries": ["ideal crops Utah"], "done": false,}',
        "{'queries': ['ideal crops Utah'], 'done': False}",
        '{"queries": ["ideal crops Utah"], "done": false, "extra": {"a": 1}}',
        '{"queries": ["ideal crops\u0020Utah"],\n "done": "false"}',
    ],
)
def test_an_answer_parses(text: str) -> None:
    assert parse(text) == WANTED


@pytest.mark.parametrize("text", ["", "I don't know.", "<think>never ends", '{"queries": 3, "done": false}', "[]"])
def test_an_answer_without_the_fields_is_an_error(text: str) -> None:
    with pytest.raises(AdapterParseError):
        parse(text)


def test_braces_without_end_are_no_object() -> None:
    assert list(json_objects("{" * 50 + "text")) == []
    assert list(json_objects('{"a": 1} {broken {"b": {"c": 2}}')) == [{"b": {"c": 2}}, {"a": 1}]


CLAIMS = {"claims": [{"text": 'He said "a {b]".', "excerpts": [1, 2]}, {"text": "c", "excerpts": [3]}], "done": "no"}


@pytest.mark.parametrize("before", ["", "Here it is:\n```json\n", '{"a": 1}\nBetter: ', "<think>{</think>"])
def test_of_an_answer_that_breaks_off_the_items_that_are_whole_are_left(before: str) -> None:
    answer = json.dumps(CLAIMS)
    first, second = (answer.index(each) + len(each) for each in ("[1, 2]}", "[3]}"))
    for end in range(len(answer)):
        whole = whole_items(before + answer[:end])
        count = (end >= first) + (end >= second)
        assert (json.loads(whole) if whole else None) == ({"claims": CLAIMS["claims"][:count]} if count else None)
    assert whole_items(before + answer) is None  # it does not break off


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        '{"sql": "SELECT 1',
        '{"probability": 0.8, "would_change": "newer',
        '{"claims": [{"text": "a", "excerpts": [1, 2]',
        '<think>{"claims": [{"text": "a draft"}, {',
        '{"claims": [{"text": "a"]',
    ],
)
def test_an_answer_that_breaks_off_before_an_item_is_whole_leaves_nothing(text: str) -> None:
    assert whole_items(text) is None


def test_an_answer_that_is_all_thinking_is_kept() -> None:
    assert without_thinking("<think>only this") == "<think>only this"


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="{}<>")), st.text(alphabet="abc .\n"))
def test_prose_around_an_object_never_hides_it(before: str, after: str) -> None:
    assert parse(before + JSON + after) == WANTED


def test_a_short_prompt_names_the_form_of_the_answer_and_each_input_that_is_there() -> None:
    system, user = ShortJSONAnswers().format(Plan, [{**WANTED, "question": "A demo?"}], {"question": "Which crops?"})
    assert system["content"] == ('Plan.\nAnswer with JSON only: {"queries": [string], "done": boolean}')
    assert user["content"] == "question:\nWhich crops?"


def test_the_shortest_prompt_asks_only_for_what_an_answer_must_have() -> None:
    signature = STAGES["open_questions"].signature()
    short, shortest = (
        ShortJSONAnswers(only_needed=needed).format(signature, [], {"question": "Why?", "excerpts": "<1> So."})
        for needed in (False, True)
    )
    assert '"priority": "high" | "medium" | "low"' in short[0]["content"]
    assert shortest[0]["content"].endswith('{"questions": [{"question": string, "excerpt": integer}]}')
    read = ShortJSONAnswers(only_needed=True).parse(
        signature, '{"questions": [{"question": "Why is it so?", "excerpt": 1}]}'
    )
    assert read["questions"].root[0].priority == "medium"


@pytest.mark.parametrize("name", STAGES)
def test_the_short_prompt_of_a_stage_is_less_than_half_the_usual_one(name: str) -> None:
    signature = STAGES[name].signature()
    brief = signature.with_instructions(STAGES[name].brief or signature.instructions)
    usual, short = (
        sum(len(each["content"]) for each in adapter.format(words, [], dict.fromkeys(signature.input_fields, "?")))
        for adapter, words in ((JSONAnswers(), signature), (ShortJSONAnswers(), brief))
    )
    assert 2 * short < usual
