"""An investigation with researchers of this process: who is asked what, what counts, and what the caller gets."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from marchwarden.audit.bundle import Views, files_of
from marchwarden.audit.evidence_page import evidence_page
from marchwarden.audit.verdict import Verdict, evidence_of_trace, quick_verdict
from marchwarden.budget import Budget
from marchwarden.contract import (
    Constraints,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    GapCategory,
    OpenQuestion,
    Priority,
    ResearchRequest,
    ResearchResult,
)
from marchwarden.corpus.corpus_fetcher import page_of_document
from marchwarden.lm import Model
from marchwarden.lm.scripted import Reply, ScriptedEngine
from marchwarden.observations import Page, content_hash
from marchwarden.orchestrator.agenda import LEAST_TOKENS
from marchwarden.orchestrator.investigator import Investigation
from marchwarden.orchestrator.investigator_call import investigate_call, run_investigation
from marchwarden.orchestrator.members import Call
from marchwarden.orchestrator.team import Team
from marchwarden.server.admission import Ending, Stop
from marchwarden.settings import Settings
from marchwarden.sources.recorded_tools import read_again
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Dispatched, Dropped, Lost, Recorder, Returned, Skipped, Stopped, TraceKept
from marchwarden.trace.reader import read_trace
from marchwarden.trace.standalone_verifier import check
from tests.agent.test_researcher_with_a_model import good, stage_of
from tests.models import connected
from tests.orchestrator.fakes import (
    ABSENT,
    BUILT,
    DIES,
    GREEDY,
    HANGS,
    INVENTS,
    MISQUOTES,
    NO_TRACE,
    PAID,
    QUESTION,
    REFUSES,
    SUB_QUESTION,
    TRACE_ID,
    Script,
    events_of,
    fetched,
    investigate,
    member,
    page,
    settings_of,
)

pytestmark = pytest.mark.anyio


async def test_the_answer_is_made_of_what_each_researcher_quotes(tmp_path: Path) -> None:
    one, first = member("one", tmp_path, Script(pages=BUILT))
    two, second = member("two", tmp_path, Script(pages=PAID))
    result, trace = await investigate([first, second], tmp_path)
    assert "1931" in result.answer
    assert "salt company" in result.answer
    assert "Prose" not in result.answer
    assert {citation.researcher for citation in result.citations} == {"one", "two"}
    assert {citation.trace_id for citation in result.citations} == {one.asked[0].call_id, two.asked[0].call_id}
    assert result.lineage
    assert [(each.researcher, each.origin, each.outcome) for each in result.lineage] == [
        ("one", "sub_question", "answered"),
        ("two", "sub_question", "answered"),
    ]
    assert result.sub_questions
    assert all(each.answered for each in result.sub_questions)
    assert result.cost_metadata.tokens_used == 200
    assert [event.action for _, _, event in trace.events][-1] == "result"


async def test_its_trace_passes_every_check_of_a_researchers_trace(tmp_path: Path) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    await investigate([first], tmp_path)
    path = tmp_path / f"{TRACE_ID}.jsonl"
    assert Verdict.of(check(evidence_of_trace(path))).state == "verified"
    assert quick_verdict(path).state in ("verified", "unchecked")


async def test_the_steps_of_each_researcher_are_part_of_its_evidence_page_and_bundle(tmp_path: Path) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    _, second = member("two", tmp_path, Script(pages=PAID))
    result, _ = await investigate([first, second], tmp_path)
    ids = [each.trace_id for each in result.lineage or []]
    evidence = evidence_of_trace(tmp_path / f"{TRACE_ID}.jsonl")
    page = evidence_page(evidence)
    for name, trace_id in zip(("one", "two"), ids, strict=True):
        steps = len(read_trace(tmp_path / f"{trace_id}.jsonl").raw)
        assert f"<summary>{steps} steps of {name}</summary>".encode() in page
        assert f"<dt>Researcher</dt><dd><bdi>{name}</bdi></dd>".encode() in page
    bundled = files_of(evidence, Views(report=lambda result, question: ""))
    own = [(tmp_path / f"{trace_id}.jsonl").read_bytes() for trace_id in ids]
    assert all(trace in bundled.values() for trace in own)


async def test_nobody_can_put_another_trace_of_a_researcher_in_the_place_of_the_one_that_was_kept(
    tmp_path: Path,
) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    _, trace = await investigate([first], tmp_path)
    (kept,) = events_of(trace, TraceKept)
    evidence = evidence_of_trace(trace.path)
    assert b"steps of one" in evidence_page(evidence)
    swapped = replace(evidence, get=lambda key: b"{}" if key == kept.trace_hash else evidence.get(key))
    assert b"steps of one" not in evidence_page(swapped)
    assert Verdict.of(check(swapped)).state == "damaged"


@pytest.mark.parametrize("text", [b"", b"[]", b'{"step": 1, "action": 7, "timestamp": []}', b"\xff\xfe", b"{" * 9999])
async def test_a_trace_of_a_researcher_that_makes_no_sense_does_not_spoil_the_evidence_page(
    text: bytes, tmp_path: Path
) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    _, trace = await investigate([first], tmp_path)
    (kept,) = events_of(trace, TraceKept)
    evidence = evidence_of_trace(trace.path)
    named = content_hash(text)
    of_server = replace(
        evidence,
        trace=evidence.trace.replace(kept.trace_hash.encode(), named.encode()),
        get=lambda key: text if key == named else evidence.get(key),
    )
    assert b"Halden Bridge was built in 1931" in evidence_page(of_server)


@pytest.mark.parametrize("mode", [INVENTS, MISQUOTES, NO_TRACE])
async def test_what_is_not_in_the_page_does_not_count(mode: str, tmp_path: Path) -> None:
    _, liar = member("liar", tmp_path, Script(mode, pages=BUILT))
    result, trace = await investigate([liar], tmp_path)
    assert result.citations == []
    (dropped,) = events_of(trace, Dropped)
    assert "liar quotes https://bridges.halden.gov/built" in dropped.decision


async def test_quotes_that_can_t_be_checked_are_no_finding_but_a_failure_that_is_told(tmp_path: Path) -> None:
    _, alone = member("alone", tmp_path, Script(NO_TRACE, pages=BUILT))
    result, _ = await investigate([alone], tmp_path)
    assert result.status == "failed"
    assert "alone: What it quotes could not be checked, and does not count" in result.answer
    assert [gap.category for gap in result.gaps if gap.cause == "source_failed"] == [GapCategory.ACCESS_DENIED]
    _, other = member("other", tmp_path, Script(pages=BUILT))
    beside, trace = await investigate([alone, other], tmp_path, trace_id=str(uuid4()))
    assert "1931" in beside.answer
    assert any("could not be checked" in gap.detail for gap in beside.gaps)
    assert Verdict.of(check(evidence_of_trace(trace.path))).state == "verified"


async def test_a_researcher_that_dies_is_asked_once_more_and_then_told_of(tmp_path: Path) -> None:
    dying, first = member("dying", tmp_path, Script(DIES))
    _, second = member("other", tmp_path, Script(pages=BUILT))
    result, trace = await investigate([first, second], tmp_path)
    assert len(dying.asked) == 2
    assert "1931" in result.answer
    assert any("dying" in gap.topic and "died" in gap.detail for gap in result.gaps)
    lost = events_of(trace, Lost)
    assert [event.charged_tokens > 0 for event in lost] == [True, True]


async def test_one_that_comes_back_the_second_time_leaves_no_gap(tmp_path: Path) -> None:
    _, shaky = member("shaky", tmp_path, lambda call, number: Script(pages=BUILT) if number else Script(DIES))
    result, _ = await investigate([shaky], tmp_path)
    assert "1931" in result.answer
    assert not any("shaky" in gap.topic for gap in result.gaps)


async def test_a_researcher_that_was_never_reached_costs_nothing(tmp_path: Path) -> None:
    _, absent = member("absent", tmp_path, Script(ABSENT))
    result, trace = await investigate([absent], tmp_path)
    assert result.cost_metadata.tokens_used == 0
    assert {event.sent for event in events_of(trace, Lost)} == {False}
    assert any("absent" in gap.topic for gap in result.gaps)


async def test_one_that_refuses_costs_nothing_and_is_not_asked_again(tmp_path: Path) -> None:
    refusing, one = member("refusing", tmp_path, Script(REFUSES))
    result, trace = await investigate([one], tmp_path)
    assert len(refusing.asked) == 1
    assert result.cost_metadata.tokens_used == 0
    assert [(event.sent, event.final) for event in events_of(trace, Lost)] == [(False, True)]
    (gap,) = (gap for gap in result.gaps if "refusing" in gap.topic)
    assert gap.detail.endswith("It gave no result: it refused: there is no key.")


async def test_one_that_reports_more_than_it_had_is_charged_what_it_had(tmp_path: Path) -> None:
    greedy, first = member("greedy", tmp_path, Script(GREEDY, pages=BUILT))
    result, _ = await investigate([first], tmp_path, budget=10_000)
    assert result.cost_metadata.tokens_used == greedy.asked[0].tokens == 5_000


async def test_one_that_hangs_costs_its_own_rihla(tmp_path: Path) -> None:
    _, hanging = member("hanging", tmp_path, Script(HANGS))
    _, other = member("other", tmp_path, Script(pages=BUILT))
    result, trace = await investigate([hanging, other], tmp_path, seconds=0.6)
    assert "1931" in result.answer
    assert result.cost_metadata.budget_exhausted
    assert [event.reason for event in events_of(trace, Stopped)] == ["seconds"]


async def test_an_interrupted_investigation_answers_with_what_there_is(tmp_path: Path) -> None:
    running: list[Investigation] = []

    def stop_when_back(event: object) -> None:
        if isinstance(event, Returned):
            running[0].interrupt()

    _, hanging = member("hanging", tmp_path, Script(HANGS))
    _, other = member("other", tmp_path, Script(pages=BUILT))
    own = replace(hanging, is_own=True)
    result, trace = await investigate([own, other], tmp_path, started=running.append, watch=stop_when_back)
    assert "1931" in result.answer
    assert [event.reason for event in events_of(trace, Stopped)] == ["interrupted"]
    said = " ".join(gap.detail for gap in result.gaps)
    assert "It was interrupted" in said
    assert "time limit" not in said
    # The one that was still reading is not said to have failed.
    assert [(gap.category, gap.cause) for gap in result.gaps if gap.topic == "the researcher hanging"] == [
        (GapCategory.BUDGET_EXHAUSTED, None)
    ]
    # The researcher of this process wrote of no model's call; what another one spends is not known.
    assert [event.charged_tokens for event in events_of(trace, Lost)] == [0]
    assert result.cost_metadata.tokens_used == 100


@pytest.mark.parametrize(("stage", "asked"), [("plan", 0), ("synthesize", 1)])
async def test_an_interrupted_investigation_waits_for_no_answer_of_its_model(
    stage: str, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running: list[Investigation] = []

    def interrupts(request: object) -> str | Reply:
        if stage_of(request) != stage:
            return good(request)
        running[0].interrupt()
        return Reply(delay=600.0)

    monkeypatch.setattr("marchwarden.lm.connect", connected(ScriptedEngine(interrupts)))
    one, first = member("one", tmp_path, Script(pages=BUILT))
    settings = settings_of(tmp_path).model_copy(update={"model": "scripted/model"})
    with anyio.fail_after(60):
        result = await run_investigation(
            ResearchRequest(question=QUESTION),
            Team((first,)),
            settings,
            trace_id=TRACE_ID,
            seconds=300,
            started=running.append,
        )
    assert len(one.asked) == asked
    assert ("1931" in result.answer) == bool(asked)
    said = " ".join(gap.detail for gap in result.gaps)
    assert "It was interrupted" in said
    assert "The model failed" not in said
    assert quick_verdict(tmp_path / f"{TRACE_ID}.jsonl").state in ("verified", "unchecked")


async def test_what_is_made_ready_before_its_first_line_is_on_nobodys_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slowly(settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        budget._started -= 100.0  # importing the model's libraries took so long
        return connected(ScriptedEngine(good))(settings, budget, recorder)

    monkeypatch.setattr("marchwarden.lm.connect", slowly)
    _, first = member("one", tmp_path, Script(pages=BUILT))
    settings = settings_of(tmp_path).model_copy(update={"model": "scripted/model"})
    request = ResearchRequest(question=QUESTION)
    result = await run_investigation(request, Team((first,)), settings, trace_id=TRACE_ID, seconds=90)
    assert result.cost_metadata.wall_time_sec < 90
    assert quick_verdict(tmp_path / f"{TRACE_ID}.jsonl").state in ("verified", "unchecked")


def discovery(researcher: str) -> DiscoveryEvent:
    return DiscoveryEvent(
        type=DiscoveryType.RELATED_RESEARCH,
        suggested_researcher=researcher,
        query="10.5555/hb.2024 Who paid for the Halden Bridge",
        reason="The page names a paper.",
    )


async def test_a_discovery_is_followed_by_the_researcher_that_answers_for_it(tmp_path: Path) -> None:
    _, web = member("web", tmp_path, Script(pages=BUILT, discoveries=[discovery("academic")]))
    papers, specialist = member("papers", tmp_path, Script(pages=PAID), answers=("academic",))
    result, _ = await investigate([web, specialist], tmp_path)
    (call,) = papers.asked
    # Servers of earlier versions put the identifier before the question.
    assert call.question == "Who paid for the Halden Bridge, according to 10.5555/hb.2024?"
    assert "salt company" in result.answer
    assert result.lineage
    assert result.lineage[1].origin == "discovery"
    assert result.lineage[1].parent == result.lineage[0].trace_id


async def test_a_discovery_that_nobody_answers_for_is_handed_on_with_the_reason(tmp_path: Path) -> None:
    _, web = member("web", tmp_path, Script(pages=BUILT, discoveries=[discovery("legal")]))
    result, trace = await investigate([web], tmp_path)
    assert any("legal" in event.decision for event in events_of(trace, Skipped))
    assert [event.suggested_researcher for event in result.discovery_events] == ["legal"]
    assert any("No researcher of the team is for 'legal'" in gap.detail for gap in result.gaps)


async def test_what_a_researcher_of_a_later_version_says_besides_is_handed_on(tmp_path: Path) -> None:
    told = discovery("legal").model_dump() | {"court": "Halden District Court"}
    later = DiscoveryEvent.model_validate(told)
    _, web = member("web", tmp_path, Script(pages=BUILT, discoveries=[later]))
    result, trace = await investigate([web], tmp_path)
    (returned,) = events_of(trace, Returned)
    stored = Store(tmp_path / "store").get(returned.result_hash)
    for each in (result, ResearchResult.model_validate_json(stored)):
        assert [event.model_extra for event in each.discovery_events] == [{"court": "Halden District Court"}]


@pytest.mark.parametrize(
    ("gap", "answers"),
    [
        (GapCategory.ACCESS_DENIED, ("open_copies",)),
        (GapCategory.SOURCE_NOT_FOUND, ("database",)),
        (GapCategory.SCOPE_EXCEEDED, ("database",)),
    ],
)
async def test_a_gap_is_closed_by_the_researcher_that_can(
    gap: GapCategory, answers: tuple[str, ...], tmp_path: Path
) -> None:
    topic = "Who paid for the Halden Bridge, in the raw data of the database"
    told = Gap(topic=topic, category=gap, detail="The ledger could not be read.")
    _, web = member("web", tmp_path, Script(pages=BUILT, gaps=[told]))
    library, second = member("library", tmp_path, Script(pages=PAID), answers=answers)
    result, _ = await investigate([web, second], tmp_path)
    assert len(library.asked) == 1
    assert "salt company" in result.answer
    assert not any("ledger could not be read" in each.detail for each in result.gaps)


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_page_that_two_researchers_read_differently_is_decided_by_its_passage_or_told(
    is_there: bool, tmp_path: Path
) -> None:
    """The quote of the second counts where the first's copy of the page has it; else a person is told."""
    url, paid = "https://bridges.halden.gov/", "The Halden Bridge was paid for by the Halden salt company."
    built = "The Halden Bridge was built in 1931 over the river Tista."
    one = page(url, built, *([f"{paid} So says the ledger of the town."] if is_there else []))
    _, first = member("one", tmp_path, Script(pages=one))
    _, second = member("two", tmp_path, Script(pages=page(url, paid)))
    result, _ = await investigate([first, second], tmp_path)
    told = [each.detail for each in result.gaps if each.category is GapCategory.CONTRADICTORY_SOURCES]
    assert ("salt company" in result.answer) == is_there
    assert [("salt company" in each, "two: It read" in each) for each in told] == [(True, True)] * (not is_there)


async def test_a_specialist_is_asked_while_a_part_of_the_question_has_too_few_sources(tmp_path: Path) -> None:
    _, web = member("web", tmp_path, Script(pages=BUILT))
    papers, second = member("papers", tmp_path, Script(pages=PAID), answers=("academic",))
    result, _ = await investigate([web, second], tmp_path)
    assert len(papers.asked) == 1
    assert [each.origin for each in result.lineage or []] == ["sub_question", "too_few_sources"]
    assert "salt company" in result.answer


async def test_without_that_researcher_the_gap_is_told(tmp_path: Path) -> None:
    told = Gap(
        topic="Who paid for the Halden Bridge",
        category=GapCategory.ACCESS_DENIED,
        detail="https://ledger.halden-archive.org/paid could not be read: it is closed.",
    )
    _, web = member("web", tmp_path, Script(pages=BUILT, gaps=[told]))
    result, trace = await investigate([web], tmp_path)
    (gap,) = [gap for gap in result.gaps if "web: https://ledger.halden-archive.org/paid" in gap.detail]
    assert gap.detail.endswith("it is closed. No researcher of the team has open copies.")
    assert any("open_copies" in event.decision for event in events_of(trace, Skipped))


@pytest.mark.parametrize("category", [GapCategory.SCOPE_EXCEEDED, GapCategory.SOURCE_NOT_FOUND])
async def test_whoever_had_the_whole_question_is_not_asked_its_parts_again(
    category: GapCategory, tmp_path: Path
) -> None:
    """They have looked for each part. Everybody who looked in vain is told."""
    told = Gap(topic="who paid for the Halden Bridge", category=category, detail="It is not here.")
    one, first = member("one", tmp_path, Script(gaps=[told]))
    two, second = member("two", tmp_path, Script(gaps=[told]))
    records, third = member("records", tmp_path, Script(gaps=[told]), answers=("database",))
    result, _ = await investigate([first, second, third], tmp_path)
    assert [[call.question for call in each.asked] for each in (one, two, records)] == [[QUESTION]] * 3
    (gap,) = [gap for gap in result.gaps if "It is not here." in gap.detail]
    assert gap.detail == "one: It is not here. two: It is not here. records: It is not here."


@pytest.mark.parametrize("second", [GapCategory.SOURCE_NOT_FOUND, GapCategory.BUDGET_EXHAUSTED])
async def test_what_one_says_that_got_twice_as_much_counts_and_not_what_it_said_before(
    second: GapCategory, tmp_path: Path
) -> None:
    short = Gap(topic=QUESTION, category=GapCategory.BUDGET_EXHAUSTED, detail="10 pages were read.")
    more = Gap(topic=QUESTION, category=second, detail="20 pages were read.")
    _, only = member("only", tmp_path, lambda call, number: Script(gaps=[more if number else short]))
    result, _ = await investigate([only], tmp_path)
    assert len(result.lineage or []) == 2
    told = [(gap.category, gap.detail) for gap in result.gaps]
    assert (second, "only: 20 pages were read.") in told
    assert "10 pages" not in str(told)


async def test_one_that_ran_out_of_budget_gets_twice_as_much_once(tmp_path: Path) -> None:
    gap = Gap(topic=QUESTION, category=GapCategory.BUDGET_EXHAUSTED, detail="The token limit was reached.")

    def say(call: Call, number: int) -> Script:
        return Script(pages=PAID if number else BUILT, gaps=[gap])

    short, only = member("short", tmp_path, say)
    result, _ = await investigate([only], tmp_path)
    assert len(short.asked) == 2
    assert "built in 1931" in (short.asked[1].context or "")
    assert "salt company" in result.answer


async def test_researchers_that_disagree_are_told_and_an_independent_one_is_asked(tmp_path: Path) -> None:
    other_year = page("https://encyclopedia.example/halden", "The Halden Bridge was built in 1947 over the Tista.")
    _, one = member("one", tmp_path, Script(pages=BUILT))
    _, two = member("two", tmp_path, Script(pages=other_year))

    def say(call: Call, number: int) -> Script:
        third = page("https://museum.example.edu/halden", "The Halden Bridge was built in 1931, says the museum.")
        return Script(pages=third) if number else Script()

    third, judge = member("third", tmp_path, say)
    result, _ = await investigate([one, two, judge], tmp_path, question="When was the Halden Bridge built?")
    assert any("1931" in call.question and "1947" in call.question for call in third.asked)
    assert result.confidence_factors.contradiction_detected
    assert any(gap.category is GapCategory.CONTRADICTORY_SOURCES for gap in result.gaps)


async def test_the_same_question_is_never_asked_twice(tmp_path: Path) -> None:
    asked = OpenQuestion(question="Who painted the Halden Bridge?", context="It is red.", priority=Priority.HIGH)
    one, first = member("one", tmp_path, Script(pages=BUILT, questions=[asked, asked]))
    result, trace = await investigate([first], tmp_path)
    assert [call.question for call in one.asked] == [QUESTION, "Who painted the Halden Bridge?"]
    assert any("asked already" in event.decision for event in events_of(trace, Skipped))
    assert len(events_of(trace, Dispatched)) == 2
    assert result.lineage
    assert result.lineage[1].origin == "open_question"


async def test_what_is_worth_little_is_not_asked(tmp_path: Path) -> None:
    asked = OpenQuestion(question="Is it still so?", context="It was.", priority=Priority.LOW)
    one, first = member("one", tmp_path, Script(pages=BUILT, questions=[asked]))
    _, trace = await investigate([first], tmp_path)
    assert len(one.asked) == 1
    assert any("less than 0.02" in event.decision for event in events_of(trace, Skipped))


async def test_a_call_of_a_server_with_a_team_tells_its_progress_in_percent(tmp_path: Path) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    told: list[str] = []
    result = await investigate_call(
        ResearchRequest(question=QUESTION),
        settings=settings_of(tmp_path),
        trace_id=TRACE_ID,
        on_progress=told.append,
        team=Team((first,)),
    )
    assert result.trace_id == TRACE_ID
    assert told == [
        "planning",
        "0% · one: thinking",
        "100% · one: verifying what it quotes",
        "100% · writing the answer",
    ]


async def test_a_server_that_is_stopped_answers_an_investigation_with_what_it_knows(tmp_path: Path) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    _, hanging = member("two", tmp_path, Script(mode=HANGS))
    stop = Stop()

    def hear(message: str) -> None:
        if message.startswith("50%"):  # one of the two has answered
            stop.ask(0.0)

    result = await investigate_call(
        ResearchRequest(question=QUESTION),
        settings=settings_of(tmp_path),
        trace_id=TRACE_ID,
        on_progress=hear,
        team=Team((first, hanging)),
        ending=Ending(stop=stop),
    )
    assert result.citations
    assert any(gap.detail.startswith("The server was stopped by its operator") for gap in result.gaps)
    (stopped,) = events_of(read_trace(tmp_path / f"{TRACE_ID}.jsonl"), Stopped)
    assert (
        stopped.decision == "It was interrupted by the operator of its server. The answer uses what was found so far."
    )


async def test_a_filter_of_domains_holds_whatever_a_researcher_quotes(tmp_path: Path) -> None:
    deaf, first = member("deaf", tmp_path, Script(pages={**BUILT, **PAID}))
    request = ResearchRequest.model_validate(
        {"question": QUESTION, "constraints": {"source_filter": "-halden-archive.org", "token_budget": 5_000}}
    )
    result = await run_investigation(request, Team((first,)), settings_of(tmp_path), trace_id=TRACE_ID, seconds=30)
    assert [citation.locator for citation in result.citations] == ["https://bridges.halden.gov/built"]
    assert deaf.asked[0].constraints == {"source_filter": "-halden-archive.org"}


@pytest.mark.parametrize("is_own", [True, False])
async def test_the_fit_of_a_quote_is_believed_to_a_researcher_of_this_process_alone(
    is_own: bool, tmp_path: Path
) -> None:
    _, first = member("one", tmp_path, Script(pages=BUILT))
    result, _ = await investigate([replace(first, is_own=is_own)], tmp_path, question=f"{SUB_QUESTION}?")
    assert (result.confidence_factors.query_specificity_match == 0.12) == is_own


async def test_an_own_file_keeps_the_day_of_its_last_change() -> None:
    body, day = b"The Halden Bridge was built in 1931.", date(2026, 11, 29)
    page = page_of_document("/notes/bridge.txt", body, day)
    assert isinstance(page, Page)
    again = read_again(fetched("/notes/bridge.txt", page, len(body)), body)
    assert isinstance(again, Page)
    assert again.modified == day


@pytest.mark.parametrize("budget", [600, 2_000, 4_000])
async def test_with_too_few_tokens_for_the_model_one_researcher_is_asked_all_the_same(
    budget: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marchwarden.lm.connect", connected(ScriptedEngine(good)))
    one, first = member("one", tmp_path, Script(pages=BUILT))
    two, second = member("two", tmp_path, Script(pages=PAID))
    request = ResearchRequest(question=QUESTION, constraints=Constraints(token_budget=budget))
    settings = settings_of(tmp_path).model_copy(update={"model": "scripted/model"})
    result = await run_investigation(request, Team((first, second)), settings, trace_id=TRACE_ID, seconds=30)
    assert result.citations
    assert result.cost_metadata.tokens_used <= budget
    assert all(call.tokens >= LEAST_TOKENS for call in [*one.asked, *two.asked])
