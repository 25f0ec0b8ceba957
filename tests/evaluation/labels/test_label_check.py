"""The checker finds each kind of wrong label, and nothing in the shipped ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.contract import GapCategory
from marchwarden.errors import ConfigurationError
from marchwarden.evaluation.labels.known_pages import LIVE, pages_hash, with_whole_paths
from marchwarden.evaluation.labels.label_check import (
    LEAST,
    Problem,
    check,
    counts,
    coverage_problems,
    read_pages,
    shared_pages,
)
from marchwarden.evaluation.labels.questions import KINDS, SPLITS, Question, load_questions
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.settings import Settings, load_settings, shipped
from tests.corpora import corpus_of
from tests.evaluation.samples import a_nugget, a_question
from tests.profiles import some
from tests.webs import article, make_web

WALL, TRIAL, CLOSED = "https://walls.example/long", "https://trial.example/a", "https://closed.example/x"
QUOTE = a_nugget().evidence[0].quote
PAGES: dict[str, Any] = {
    WALL: article(
        "The wall", QUOTE, "It weighs 9 tonnes, says the town.", "Visitors like to walk along it in summer."
    ),
    TRIAL: article("A trial", "The trial is registered as NCT 01234567 and reported in full elsewhere.", "It ended."),
    CLOSED: {"status": 403},
}
RIGHT: dict[str, Any] = {
    "constraints": {"source_filter": "-other.example"},
    "nuggets": [a_nugget().model_dump()],
    "gaps": [{"topic": "the cost", "category": "access_denied", "url": CLOSED}],
    "discoveries": [{"type": "related_research", "identifier": "nct 01234567", "source_locator": TRIAL}],
    "contradictions": [
        {
            "about": "its weight",
            "sides": [{"url": WALL, "quote": "It weighs 9 tonnes"}, {"url": WALL, "quote": QUOTE}],
        }
    ],
}


@pytest.fixture
def frozen(tmp_path: Path) -> Settings:
    return load_settings(source="snapshot", web=make_web(tmp_path / "web", PAGES))


Found = Callable[[Question], list[str]]


@pytest.fixture
def found(frozen: Settings) -> Found:
    return lambda question: [problem.what for problem in anyio.run(check, [question], frozen)]


def test_right_labels_have_no_problem(found: Found) -> None:
    assert found(a_question(**RIGHT)) == []
    assert found(a_question(tags=["unanswerable"])) == []


def quoted(url: str = WALL, quote: str = QUOTE, **changes: Any) -> dict[str, Any]:
    return {"nuggets": [a_nugget().model_dump() | {"evidence": [{"url": url, "quote": quote}]} | changes]}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            quoted(quote="The wall is 120 metres long and was built in 1902."),
            f"{WALL} does not hold “The wall is 120",
        ),
        (quoted(quote=QUOTE.upper()), f"{WALL} does not hold"),  # verbatim: case is part of it
        (quoted("https://walls.example/short"), "https://walls.example/short is not in the manifest"),
        (quoted(CLOSED), f"{CLOSED} can't be read, and is quoted"),
        (quoted() | {"constraints": {"source_filter": "trial.example"}}, f"{WALL} is not allowed by the question's"),
        (quoted(evidence=[]), "nugget n1 has no evidence"),
        ({}, "it has no label"),
        (quoted(answers=["130 metres"]), "nugget n1: none of its quotes holds one of its answers ['130 metres']"),
        (
            {"gaps": [{"topic": "x", "category": "access_denied", "url": "https://no.example/"}]},
            "https://no.example/ is",
        ),
        (
            {"discoveries": [{"type": "new_source", "source_locator": "https://no.example/"}]},
            "https://no.example/ is not in the manifest",
        ),
        (
            {"discoveries": [{"type": "new_source", "source_locator": TRIAL, "identifier": "NCT7"}]},
            f"{TRIAL} does not name NCT7",
        ),
        ({"discoveries": [{"type": "new_source"}]}, "a discovery (new_source) has neither an identifier nor a page"),
        (quoted() | {"tags": ["injection"]}, "it has no kind: one of one-fact, several-aspect"),
        (quoted() | {"tags": ["unanswerable"]}, "it is tagged unanswerable and has nuggets or contradictions"),
        (
            {
                "contradictions": [
                    {"about": "x", "sides": [{"url": WALL, "quote": QUOTE}, {"url": WALL, "quote": "7 t"}]}
                ]
            },
            f"{WALL} does not hold “7 t…”",
        ),
    ],
)
def test_each_kind_of_wrong_label_is_found(found: Found, wrong: dict[str, Any], said: str) -> None:
    (problem,) = found(a_question(**wrong))
    assert problem.startswith(said)


def test_problems_come_in_the_order_of_the_questions_under_their_ids(frozen: Settings) -> None:
    broken = [a_question(id=name, **RIGHT | {"tags": []}) for name in ("b", "a")]
    fine = a_question(id="c", **RIGHT)
    assert [problem.question for problem in anyio.run(check, [broken[0], fine, broken[1]], frozen)] == ["b", "a"]


def test_only_pages_that_can_be_read_are_read(frozen: Settings) -> None:
    assert set(anyio.run(read_pages, PAGES, frozen)) == {WALL, TRIAL}


def test_without_a_frozen_web_there_is_nothing_to_check_against(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        anyio.run(check, [a_question()], load_settings(source="snapshot", web=tmp_path))


def test_what_is_still_to_be_labelled_is_no_label_that_does_not_hold(frozen: Settings) -> None:
    bare = a_question(tags=[], nuggets=[a_nugget().model_dump() | {"evidence": []}])
    found = anyio.run(check, [bare, a_question(id="b", tags=["one-fact"])], frozen)
    assert all(problem.is_open for problem in found)
    assert [problem.what.split(":")[0] for problem in found] == [
        "it has no kind",
        "nugget n1 has no evidence",
        "it has no label",
    ]


def test_pages_of_nobodys_web_are_still_to_be_named(frozen: Settings) -> None:
    elsewhere = a_question(**quoted("https://mine.example/a"))
    (problem,) = anyio.run(partial(check, [elsewhere], frozen, is_their_web=False))
    assert (problem.is_open, problem.url) == (True, "https://mine.example/a")


def test_labels_can_be_about_files_of_a_corpus_named_by_the_end_of_their_path(tmp_path: Path) -> None:
    corpus_of(tmp_path / "notes", {"wall.md": f"# The wall\n\n{QUOTE} It was built in 1902.\n"})
    settings = load_settings(source="corpus")
    wrong = quoted("notes/wall.md", "It was built in 1903.")
    questions = [a_question(**quoted("notes/wall.md")), a_question(id="b", **wrong), a_question(id="c", **quoted())]
    whole = with_whole_paths(questions, settings)
    path = str(tmp_path / "notes" / "wall.md")
    assert whole[0].pages == {path}
    problems = anyio.run(check, whole, settings)
    found = {problem.question: problem.what for problem in reversed(problems)}
    assert found.keys() == {"b", "c"}
    assert found["b"].startswith(f"{path} does not hold “It was built in 1903.")
    assert found["c"] == f"{WALL} is not in corpus:default"
    assert address(f"{path}#L3") == path
    before = pages_hash(settings)
    corpus_of(tmp_path / "notes", {"wall.md": "It is gone.\n"})
    assert pages_hash(settings) != before
    assert pages_hash(load_settings(source="wikipedia")) == LIVE


# The whole set


def test_pages_that_splits_share_are_told_with_the_splits() -> None:
    own = a_question(id="a", nuggets=[a_nugget()])
    same_page = a_question(id="b", gaps=[{"topic": "x", "category": "access_denied", "url": WALL + "#top"}])
    assert shared_pages([own, same_page]) == {}
    assert shared_pages([own, same_page.model_copy(update={"split": "test"})]) == {WALL: {"dev", "test"}}


def test_labels_are_counted_where_they_are_required() -> None:
    optional = {"topic": "y", "category": "access_denied", "required": False}
    counted = counts([a_question(**RIGHT | {"gaps": [*RIGHT["gaps"], optional]}), a_question(id="q2", split="train")])
    assert counted["split"] == {"train": 1, "dev": 1, "test": 0}
    assert counted["kind"]["one-fact"] == 2
    assert counted["gap category"]["access_denied"] == 1
    assert counted["labels"] == {"discoveries": 1, "contradictions": 1}
    assert set(counted["kind"]) == set(KINDS)


def test_what_is_too_rare_or_there_twice_is_a_problem_of_the_set() -> None:
    enough = [
        a_question(id=f"q{place}", question=f"Question {place}?", tags=list(KINDS), **RIGHT)
        for place in range(max(LEAST.values()))
    ]
    every = [gap | {"category": category} for category in GapCategory for gap in RIGHT["gaps"]]
    enough = [question.model_copy(update={"gaps": a_question(gaps=every).gaps}) for question in enough]
    assert coverage_problems(enough) == []
    rare = coverage_problems([question.model_copy(update={"tags": [], "discoveries": []}) for question in enough])
    assert Problem("discoveries", "labelled 0 times, fewer than 30") in rare
    assert Problem("kind numeric", "labelled 0 times, fewer than 15") in rare
    assert len(rare) == 1 + len(KINDS)
    again = enough[0].model_copy(update={"id": "other", "split": "test"})
    assert coverage_problems([*enough, again]) == [Problem("other", "it is there twice (as q0 in dev)")]


def test_every_shipped_label_holds_and_the_set_is_complete() -> None:
    """In a check, those of every third question hold: reading all pages costs eight CPU seconds."""
    questions = [question for split in SPLITS for question in load_questions(shipped("questions") / f"{split}.jsonl")]
    assert anyio.run(check, some(questions, 3), load_settings(source="snapshot")) == []
    assert coverage_problems(questions) == []
    by_split = counts(questions)["split"]
    assert by_split["train"] >= 80
    assert by_split["dev"] >= 50
    assert by_split["test"] >= 50
    pages = {page for question in questions for page in question.pages}
    assert len(shared_pages(questions)) < 0.05 * len(pages)


def test_the_labels_in_nine_languages_hold() -> None:
    folder = Path(__file__).parents[3] / "evals" / "languages"
    questions = load_questions(folder / "questions.jsonl")
    assert anyio.run(check, questions, load_settings(source="snapshot", web=folder / "web")) == []
    assert counts(questions)["kind"]["unanswerable"] == 9
