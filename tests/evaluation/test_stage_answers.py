"""Right answers of stage sets: they score, they show a model nothing that its inputs don't hold, and they are plain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import anyio
import pytest

from marchwarden.evaluation.questions import load_questions
from marchwarden.evaluation.stage_sets import STAGE_SETS, Example
from marchwarden.settings import load_settings, shipped

ANSWERED = ["gaps"]
TOPICS = ("coffee", "crispr")
NO_WORDING = {"category", "stance"}


@cache
def examples(stage: str) -> list[Example[Any, Any]]:
    settings = load_settings(model="extractive", source="snapshot", semantic=False)
    questions = [each for each in load_questions(shipped("questions") / "train.jsonl") if each.topic in TOPICS]
    return anyio.run(STAGE_SETS[stage].examples, questions, settings)


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
    shown = json.dumps({name: told[name] for name in signature.input_fields}, ensure_ascii=False)
    return shown, {name: told[name] for name in signature.output_fields}


@pytest.mark.parametrize("stage", ANSWERED)
def test_every_kind_of_example_has_demonstrations_that_hold_the_fields_of_the_signature(stage: str) -> None:
    told = demonstrations(stage)
    assert {example.kind for example, _ in told} == {example.kind for example in examples(stage)}
    signature = STAGE_SETS[stage].stage.signature()
    for _, fields in told:
        assert list(fields) == [*signature.input_fields, *signature.output_fields]
        assert json.loads(json.dumps(fields)) == fields


# gaps


def test_a_gap_that_another_researcher_could_close_names_what_holds_it() -> None:
    told = [(example, fields) for example, fields in demonstrations("gaps") if example.kind == "scope_exceeded"]
    for example, fields in told:
        (gap,) = fields["gaps"]
        assert gap["category"] == "scope_exceeded"
        assert any(holder in gap["detail"] for holder in example.gold.holders)
