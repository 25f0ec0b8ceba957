"""The promise itself, over thirty questions (ten of them in a check) and the shipped web: every excerpt can be found in
what was stored."""

from __future__ import annotations

import pytest

from marchwarden.contract import markers_of
from marchwarden.observations import content_hash
from tests.profiles import some
from tests.questions import QUESTIONS
from tests.runs import Run, run
from tests.webs import article

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("question", some(QUESTIONS, 3))
async def test_every_excerpt_is_an_exact_run_of_stored_text_and_every_sentence_has_a_marker(question: str) -> None:
    done = await run(question)
    assert done.problems == []
    _check_by_hand(done)
    assert done.result.citations or done.result.gaps
    for line in done.result.answer.splitlines() if done.result.citations else []:
        assert markers_of(line) or line.endswith(":")


def _check_by_hand(done: Run) -> None:
    """The same once more without `verify`: a check that shares code with what it checks proves little."""
    pages = {event.final_url: event for event in done.events("fetch_url") if event.failure is None}
    for citation in done.result.citations:
        event = pages[citation.locator]
        assert citation.content_hash == event.content_hash == content_hash(done.store.get(event.content_hash))
        text = done.store.get(event.text_hash).decode("utf-8")
        assert citation.raw_excerpt.removesuffix("[...]") in text


async def test_thirty_questions_are_thirty() -> None:
    assert len(set(QUESTIONS)) == 30


async def test_a_blank_that_is_put_between_sentences_that_run_together_is_no_damage() -> None:
    text = (
        "The Halden Bridge, built in 1931, is open to carts, and more!Â\xa0For more information, check out the list."
    )
    done = await run(
        "When was the Halden Bridge built?", pages={"https://halden.gov/bridge": article("Bridge", text)}
    )
    assert "and more [1]! Â For more information" in done.result.answer
    assert done.problems == []


async def test_two_runs_of_one_question_say_the_same() -> None:
    one, other = await run(QUESTIONS[4]), await run(QUESTIONS[4])
    own = {"trace_id", "cost_metadata"}
    assert one.result.model_dump(exclude=own) == other.result.model_dump(exclude=own)
