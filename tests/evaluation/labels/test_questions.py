"""Labelled questions: the format, and how a broken file is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from marchwarden.contract import Depth, GapCategory
from marchwarden.errors import LabelsInvalid
from marchwarden.evaluation.labels.questions import KINDS, SPLITS, Question, Quote, load_questions
from tests.evaluation.samples import a_nugget, a_question, questions

LEAST = {"id": "q1", "question": "How long is the wall?", "split": "dev"}


def written(path: Path, *lines: str | bytes) -> Path:
    path.write_bytes(b"\n".join(line.encode() if isinstance(line, str) else line for line in lines))
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "questions.jsonl"


def test_the_least_that_a_question_needs_is_an_id_a_question_and_a_split(file: Path) -> None:
    (question,) = load_questions(written(file, json.dumps(LEAST)))
    assert (question.depth, question.kinds, question.answerable, question.pages) == (Depth.BALANCED, [], False, set())
    assert question.request.constraints.token_budget == 20_000


@given(questions())
def test_a_question_is_read_as_it_was_written(question: Question) -> None:
    assert Question.model_validate_json(question.model_dump_json()) == question


def test_blank_lines_line_ends_of_windows_and_a_byte_order_mark_do_no_harm(file: Path) -> None:
    lines = [json.dumps(LEAST | {"id": name}).encode() for name in ("a", "b")]
    written(file, b"\xef\xbb\xbf" + lines[0] + b"\r", b"", b"  ", lines[1], b"")
    assert [question.id for question in load_questions(file)] == ["a", "b"]


def test_characters_that_end_lines_elsewhere_may_stand_in_a_quote(file: Path) -> None:
    nugget = a_nugget().model_copy(
        update={"evidence": [Quote(url="https://a.example/", quote="a\u2028b\u0085c\x0cd")]}
    )
    line = json.dumps(a_question(nuggets=[nugget]).model_dump(mode="json"), ensure_ascii=False)
    assert load_questions(written(file, line))[0].nuggets == [nugget]


def test_an_empty_file_holds_no_question(file: Path) -> None:
    assert load_questions(written(file, "", " ")) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"split": "validation"}, r"line 2: split: must be 'train', 'dev' or 'test'"),
        ({"id": 5}, "line 2: id: must be text"),
        ({"id": "a b"}, "line 2: id: String should match"),
        ({"question": "x" * 501}, "line 2: question: must have at most 500"),
        ({"constraints": {"max_iterations": 99}}, "line 2: constraints.max_iterations: must be at most 20"),
        ({"constraints": {"budget": 1}}, "line 2: constraints.budget: is not known here"),
        ({"constraints": {"source_filter": "a b"}}, "line 2: constraints.source_filter: .*'a b' is not a domain"),
        (
            {"gaps": [{"topic": "x", "category": "lost"}]},
            "line 2: gaps.0.category: must be 'source_not_found'",
        ),
        ({"nuggets": [{"id": "n", "text": "x", "answers": []}]}, "line 2: nuggets.0.answers: List should have"),
        ({"nuggets": [a_nugget().model_dump() | {"vitl": True}]}, "line 2: nuggets.0.vitl: is not known here"),
        ({"contradictions": [{"about": "x", "sides": []}]}, "line 2: contradictions.0.sides: List should have"),
        ({"discoveries": [{"type": "news"}]}, "line 2: discoveries.0.type: must be"),
    ],
)
def test_a_broken_label_is_named_with_its_file_line_and_place(file: Path, change: dict[str, Any], said: str) -> None:
    written(file, json.dumps(LEAST), json.dumps(LEAST | {"id": "q2"} | change))
    with pytest.raises(LabelsInvalid, match=said) as caught:
        load_questions(file)
    assert str(file) in str(caught.value)
    assert "evals/README.md" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 1: no JSON"),
        ("[" * 100_000, "line 1: no JSON"),
        ("[]", "line 1: .*must be an object"),
        (b"\xff", "can't be read"),
        ("\n".join([json.dumps(LEAST)] * 2), "the id q1 is there twice"),
    ],
    ids=["torn", "deep", "a list", "no UTF-8", "twice"],
)
def test_what_is_no_question_is_named(file: Path, line: str | bytes, said: str) -> None:
    with pytest.raises(LabelsInvalid, match=said):
        load_questions(written(file, line))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelsInvalid, match=r"nowhere\.jsonl can't be read") as caught:
        load_questions(tmp_path / "nowhere.jsonl")
    assert caught.value.hint


def test_a_question_becomes_the_call_that_asks_it() -> None:
    asked = a_question(context="I know that", depth="deep", constraints={"max_sources": 3}).request
    assert (asked.question, asked.context, asked.depth) == ("How long is the wall?", "I know that", Depth.DEEP)
    assert (asked.constraints.max_sources, asked.constraints.token_budget) == (3, 25_000)


def test_labels_tell_kinds_vital_nuggets_quotes_and_pages() -> None:
    side = {"url": "https://b.example/", "quote": "7 tonnes"}
    question = a_question(
        tags=["injection", "numeric", "one-fact"],
        nuggets=[a_nugget(), a_nugget("3 metres", id="n2", vital=False)],
        contradictions=[{"about": "weight", "sides": [side, side]}],
        gaps=[{"topic": "x", "category": GapCategory.ACCESS_DENIED, "url": "https://c.example/"}],
    )
    assert question.kinds == ["one-fact", "numeric"]
    assert [nugget.id for nugget in question.vital] == ["n1"]
    assert len(question.quotes) == 4
    assert question.pages == {"https://walls.example/long", "https://b.example/", "https://c.example/"}
    assert question.answerable


def test_the_shipped_questions_are_read_and_ask_something_each(tmp_path: Path) -> None:
    from marchwarden.settings import shipped

    for split in SPLITS:
        found = load_questions(shipped("questions") / f"{split}.jsonl")
        assert found
        assert {question.split for question in found} == {split}
        assert {kind for question in found for kind in question.kinds} <= set(KINDS)
