"""One end for every call: without a model, with one, out of time, and finished outside of its process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import pytest

from marchwarden.agent.conclusion import Checkpoint, conclude, finish, today
from marchwarden.budget import Budget
from marchwarden.contract import DiscoveryType, GapCategory, ResearchRequest, ResearchResult, SourceAuthority
from marchwarden.errors import ModelError
from marchwarden.ledger import Excerpt, Ledger, Pointer, Source
from marchwarden.observations import content_hash
from marchwarden.stages.stage import StageRunner, WithoutModel
from tests.lm.conftest import MemoryRecorder

pytestmark = pytest.mark.anyio

QUESTION = "How long is the Halden Bridge?"
SHORT, LONG = "The Halden Bridge is 352 metres long.", "The Halden Bridge is 410 metres long."
TRACE_ID = "00000000-0000-4000-8000-000000000000"


def ledger(*texts: str, context: str | None = None) -> Ledger:
    """A ledger with a page for each text, all of them picked, and a drawing that can't be quoted."""
    found = Ledger(question=QUESTION, context=context, queries=["halden bridge length"])
    found.set_aspects([QUESTION])
    for number, text in enumerate([*texts, ""], start=1):
        locator = f"https://bridges{number}.org/"
        found.sources.append(
            Source(
                locator=locator, organisation=f"bridges{number}.org", title="Halden Bridge", published=None, modified=None,
                content_hash=content_hash(text.encode()), text_hash=str(number), authority=SourceAuthority.MEDIUM, standing=None, language="en",
                has_text=bool(text),
            )
        )  # fmt: skip
        if text:
            excerpt = Excerpt(number=0, locator=locator, aspect=1, start=0, end=len(text), text=text, relevance=0.9)
            found.add_excerpt(excerpt)
    return found


def pointing(found: Ledger) -> Ledger:
    found.pointers.append(
        Pointer(kind="doi", value="10.1000/182", sentence=found.excerpts[0].text, locator=found.excerpts[0].locator, relevance=1.0)
    )  # fmt: skip
    return found


class GivesNothingUsable:
    """A model whose answers never pass a check."""

    async def predict(self, *_: Any, **__: Any) -> NoReturn:
        raise ModelError("unusable_output", "no JSON")


def checkpoint(found: Ledger) -> Checkpoint:
    return Checkpoint(
        request=ResearchRequest(question=QUESTION, context=found.context),
        ledger=found.model_copy(deep=True),
        tokens_used=0,
        iterations_run=1,
        exhausted=["seconds"],
        model_id="extractive",
        kind="web",
    )


async def by_a_runner(found: Ledger, model: Any) -> ResearchResult:
    state = checkpoint(found)
    budget = Budget(state.request.constraints, 60.0)
    budget.ran_out("seconds")
    conclusion = await conclude(state.request, state.ledger, StageRunner(model, budget, MemoryRecorder()), today())
    return conclusion.result(state, seconds=1.0, trace_id=TRACE_ID, today=today())


async def without_a_model(found: Ledger) -> ResearchResult:
    return await by_a_runner(found, None)


async def with_a_model_that_is_no_use(found: Ledger) -> ResearchResult:
    return await by_a_runner(found, GivesNothingUsable())


async def out_of_time(found: Ledger) -> ResearchResult:
    state = checkpoint(found)
    conclusion = await conclude(state.request, state.ledger, WithoutModel(state.exhausted), today())
    return conclusion.result(state, seconds=1.0, trace_id=TRACE_ID, today=today())


async def outside_of_its_process(found: Ledger) -> ResearchResult:
    state = Checkpoint.model_validate_json(checkpoint(found).model_dump_json())
    return (await finish(state, limit="seconds", trace_id=TRACE_ID, seconds=1.0))[0]


LEDGERS: dict[str, Callable[[], Ledger]] = {
    "nothing was asked yet": lambda: Ledger(question=QUESTION),
    "nothing was found": ledger,
    "an answer": lambda: ledger(SHORT),
    "an answer that names a paper": lambda: pointing(ledger(SHORT, SHORT)),
    "a disagreement": lambda: pointing(ledger(SHORT, LONG)),
    "a disagreement of what the caller knows": lambda: pointing(ledger(SHORT, LONG, context=f"{SHORT} {LONG}")),
}


@pytest.mark.parametrize("end", [with_a_model_that_is_no_use, out_of_time, outside_of_its_process])
@pytest.mark.parametrize("case", LEDGERS)
async def test_every_end_of_a_call_says_the_same_of_what_was_found(
    case: str, end: Callable[[Ledger], Awaitable[ResearchResult]]
) -> None:
    found = LEDGERS[case]()
    result = await end(found)
    gaps = [gap for gap in result.gaps if gap.topic != "the model"]  # that no answer of it could be read is one more
    assert result.model_copy(update={"gaps": gaps}) == await without_a_model(found)


async def test_an_open_disagreement_raises_its_question_also_where_nothing_is_cited() -> None:
    result = await without_a_model(ledger(SHORT, LONG, context=f"{SHORT} {LONG}"))
    (asked,) = result.open_questions
    assert result.citations == []
    assert asked.question == "Why do bridges1.org and bridges2.org disagree (352 metres against 410 metres)?"
    assert asked.context == f"bridges1.org: “{SHORT}” bridges2.org: “{LONG}”"
    assert GapCategory.CONTRADICTORY_SOURCES in {gap.category for gap in result.gaps}


async def test_discoveries_are_papers_then_disagreements_then_pages_to_look_at() -> None:
    result = await without_a_model(pointing(ledger(SHORT, LONG)))
    assert [event.type for event in result.discovery_events] == [
        DiscoveryType.RELATED_RESEARCH,
        DiscoveryType.CONTRADICTION,
        DiscoveryType.NEW_SOURCE,
    ]


async def test_a_call_that_is_finished_outside_tells_what_was_wrong_with_its_model() -> None:
    state = checkpoint(ledger(SHORT)).model_copy(update={"model_trouble": "overloaded: busy"})
    result, _ = await finish(state, limit="seconds", trace_id=TRACE_ID, seconds=1.0)
    assert any(gap.topic == "the model" and "overloaded" in gap.detail for gap in result.gaps)
