"""A fixed sample of labelled questions must score no less than it did: evals/floors.json."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import GapCategory
from marchwarden.evaluation.labels.gate import SLACK, Floors, falls, load_floors, sample
from marchwarden.evaluation.labels.questions import KINDS, SPLITS, load_questions
from marchwarden.evaluation.runs.run import labels_fingerprint, pages_fingerprint, start_run
from marchwarden.evaluation.runs.runner import ask_all, info_of
from marchwarden.settings import EXTRACTIVE, load_settings, shipped
from marchwarden.text import embedding

FLOORS = Path(__file__).parents[2] / "evals" / "floors.json"


@pytest.fixture(scope="module")
def floors() -> Floors:
    return load_floors(FLOORS)


def questions(floors: Floors):
    every = [each for split in SPLITS for each in load_questions(shipped("questions") / f"{split}.jsonl")]
    return sample(floors, every)


def test_the_floors_are_of_these_labels_and_pages(floors: Floors) -> None:
    stale = "labels or pages have changed: measure again with `python evals/measure_floors.py`"
    assert floors.labels == labels_fingerprint(questions(floors)), stale
    assert floors.pages == pages_fingerprint(shipped("web")), stale


def test_the_sample_has_twelve_questions_of_many_kinds_and_none_of_test(floors: Floors) -> None:
    chosen = questions(floors)
    assert len(chosen) == 12
    assert set(floors.some) < {question.id for question in chosen}
    assert all(question.split != "test" for question in chosen)
    assert {kind for question in chosen for kind in question.kinds} == set(KINDS)
    assert {gap.category for question in chosen for gap in question.gaps if gap.required} == set(GapCategory)


@pytest.mark.parametrize("set_up", ["words", "meaning_of_some", pytest.param("meaning", marks=pytest.mark.slow)])
def test_no_score_falls_below_its_floor(floors: Floors, set_up: str, tmp_path: Path) -> None:
    by_meaning = set_up != "words"
    if by_meaning and not embedding.is_installed():
        pytest.skip("the embedding model (extra `semantic`) is not installed: only words are scored")
    chosen = [each for each in questions(floors) if set_up != "meaning_of_some" or each.id in floors.some]
    # On a busy machine a question takes longer than its clock, which would leave pages unread.
    settings = load_settings(
        source="snapshot", model=EXTRACTIVE, semantic=by_meaning, program="none", max_seconds=900
    )
    run = start_run(tmp_path / "run", info_of(chosen, settings, name="floors"))
    anyio.run(partial(ask_all, run, chosen, settings, jobs=2))
    assert [str(fall) for fall in falls(floors.floors[set_up], run.figures(), slack=SLACK[set_up])] == []


def test_a_score_below_its_floor_is_told() -> None:
    fallen = falls({"nugget_recall": 0.8, "budget_violations": 0.0}, {"nugget_recall": 0.7, "budget_violations": 1.0})
    assert [str(each) for each in fallen] == [
        "nugget_recall is 0.7, its floor 0.8",
        "budget_violations is 1.0, its floor 0.0",
    ]
    assert falls({"nugget_recall": 0.8}, {"nugget_recall": 0.8}) == []
    assert falls({"nugget_recall": 0.8}, {"nugget_recall": None})


def test_slack_is_not_given_to_what_no_rounding_excuses() -> None:
    floors = {"nugget_recall": 0.8, "verbatim_fidelity": 1.0}
    assert falls(floors, {"nugget_recall": 0.75, "verbatim_fidelity": 1.0}, slack=0.1) == []
    assert [each.metric for each in falls(floors, {"nugget_recall": 0.65, "verbatim_fidelity": 0.99}, slack=0.1)] == [
        "nugget_recall",
        "verbatim_fidelity",
    ]
