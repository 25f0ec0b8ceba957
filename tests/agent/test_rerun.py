"""A call made again from its trace gives the same result; what is exchanged, or missing, shows."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from dspy import lm15

from marchwarden import __version__
from marchwarden.agent.conclusion import Conclusion
from marchwarden.agent.loop import ResearchCall
from marchwarden.agent.recording import CallContext, Origin, Replacements
from marchwarden.agent.rerun_call import Exchange, Rerun, rerun
from marchwarden.agent.research import research_in
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest
from marchwarden.errors import TraceError
from marchwarden.evaluation.labels.questions import Question, load_questions
from marchwarden.judge import answering
from marchwarden.lm.scripted import Reply, ScriptedEngine
from marchwarden.programs import Program
from marchwarden.programs.keeping import kept_program, read_kept_program
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import load_settings, shipped
from marchwarden.sources.source_registry import open_tools
from marchwarden.stages.stage import TOO_SLOW, Stages, WithoutModel
from marchwarden.store.content_store import Store
from marchwarden.text import embedding
from marchwarden.text.embedding import Embedder
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.writer import TraceWriter
from tests.agent.test_researcher_with_a_model import but, good, stage_of
from tests.agent.test_researcher_with_a_model import run as run_with_model
from tests.corpora import corpus_of
from tests.models import connected
from tests.profiles import some
from tests.runs import Run, run
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

# Two of each kind of question, and three on whose pages a prompt injection stands; of all three splits. A check asks
# the first of each two.
GOLDEN = (
    "coffee-01", "volcanoes-01",  # one fact
    "berlin-wall-02", "chess-02",  # several aspects, several sources, with a context
    "crispr-03", "marathon-04",  # comparison; time-sensitive; prompt injections
    "utah-garden-04", "capital-and-cities-02",  # out of date; a source filter
    "vitamin-d-05", "mars-rovers-05",  # sources that contradict each other
    "coffee-06", "tea-06",  # nothing to find
    "coffee-07", "bread-07",  # a false premise
    "coffee-08", "law-08",  # closed pages
    "berlin-wall-09", "sleep-09",  # another researcher is needed
    "coffee-10", "whales-10",  # a budget that is too small
    "marathon-07", "wind-power-03", "inflation-04", "pompeii-01",
)  # fmt: skip

BRIDGE = "https://bridges.halden-county.gov/halden"
PAGES = {
    BRIDGE: article("Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista."),
    "https://engineering.halden-college.edu/history": article(
        "A history of the Halden Bridge", "Workers built the Halden Bridge between 1929 and 1931."
    ),
}
QUESTION = "When was the Halden Bridge built?"


@pytest.fixture(scope="module")
def questions() -> dict[str, Question]:
    folder = shipped("questions")
    every = [each for split in ("train", "dev", "test") for each in load_questions(folder / f"{split}.jsonl")]
    return {each.id: each for each in every}


async def again(trace: Trace, **exchange: Any) -> Rerun:
    return await rerun(trace, load_settings(model="extractive", source="snapshot"), Exchange(**exchange))


def without_ids_and_times(result: dict[str, Any]) -> str:
    cost = {**result["cost_metadata"], "wall_time_sec": 0}
    return json.dumps({**result, "trace_id": "", "cost_metadata": cost})


def assert_same(ran: Rerun) -> None:
    assert ran.recorded is not None
    assert (ran.differences, ran.lacks, ran.notes, ran.first) == ([], [], [], None)
    now = json.loads(ran.result.model_dump_json())
    assert without_ids_and_times(now) == without_ids_and_times(dict(ran.recorded))


def rewritten(trace: Trace, change: Callable[[dict[str, Any]], object]) -> Trace:
    """The trace with every line changed, in a file of its own."""
    lines = [dict(line) for line in trace.raw]
    for line in lines:
        change(line)
    path = trace.path.with_name(f"{uuid.uuid4()}.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_trace(path)


# The same again


@pytest.mark.parametrize("name", some(GOLDEN, 2))
async def test_a_golden_call_is_the_same_again_byte_for_byte(name: str, questions: dict[str, Question]) -> None:
    asked = questions[name]
    request = {"context": asked.context, "depth": asked.depth, "constraints": asked.constraints or None}
    done = await run(asked.question, **request)
    assert_same(await again(done.trace))


async def test_a_rerun_writes_nothing_beside_the_trace(tmp_path: Path) -> None:
    done = await run(QUESTION, pages=PAGES)
    before = sorted(done.trace.path.parent.rglob("*"))
    await again(done.trace)
    assert sorted(done.trace.path.parent.rglob("*")) == before


async def test_the_day_of_the_call_counts_not_the_present_one() -> None:
    old = article("Halden Bridge", "The Halden Bridge was built in 1931.", published="2026-01-10")
    done = await run(QUESTION, pages={BRIDGE: old})
    assert done.result.confidence_factors.recency == "current"

    def to_2031(line: dict[str, Any]) -> None:
        if line["action"] == "start":
            line["today"] = "2031-01-01"

    assert (await again(rewritten(done.trace, to_2031))).result.confidence_factors.recency == "dated"


async def test_a_file_is_read_from_the_store_though_it_has_changed_since(tmp_path: Path) -> None:
    corpus_of(tmp_path / "files", {"bees.md": "# Bees\n\nThe queen of the north hive was replaced in June 2021.\n"})
    question = "When was the queen of the north hive replaced?"
    done = await run(question, settings=load_settings(model="extractive", source="corpus"))
    assert done.result.citations
    (tmp_path / "files/bees.md").write_text("Nothing.\n")
    assert_same(await again(done.trace))


async def test_a_call_that_ran_out_of_time_ends_where_it_ended_then(tmp_path: Path) -> None:
    slow = {"https://slow.halden-college.edu/bridge": {"delay_s": 90, "body": PAGES[BRIDGE]}, **PAGES}
    web = make_web(tmp_path / "web", slow)
    settings = load_settings(model="extractive", source="snapshot", web=web, max_seconds=1.0, fetch_timeout=60.0)
    done = await run(QUESTION, settings=settings)
    assert_same(await again(done.trace))


class SlowEmbedder(Embedder):
    """An embedder that is busy for longer than a call lasts."""

    def __init__(self) -> None:
        pass

    def likeness(self, queries: Sequence[str], passages: Sequence[str]) -> Any:
        time.sleep(4.5)
        return [[0.0] * len(passages) for _ in queries]


@pytest.mark.parametrize("script", [None, but("plan", Reply("{}", delay=60))], ids=["none", "slow"])
async def test_a_call_whose_time_was_over_while_it_ranked_pages_ends_where_it_ended_then(
    script: Callable[[Any], Any] | None, tmp_path: Path
) -> None:
    web = make_web(tmp_path / "web", PAGES)
    model = "scripted/model" if script else "extractive"
    settings = load_settings(model=model, source="snapshot", web=web, semantic=False)
    request = ResearchRequest.model_validate({"question": QUESTION})
    trace_id = str(uuid.uuid4())
    tools = replace(open_tools(settings), embedder=SlowEmbedder())
    with TraceWriter(settings.traces, trace_id) as writer:
        given = Replacements(tools, None, DEFAULT, Origin())
        context = CallContext(Budget(request.constraints, 4.0), writer, trace_id, replacements=given)
        result = await research_in(context, request, settings, connected(ScriptedEngine(script)) if script else None)
    assert result.citations
    ran = await again(read_trace(writer.path))
    assert (ran.differences, ran.first) == ([], None)


async def test_a_page_counts_once_though_its_picks_were_cut_short(tmp_path: Path) -> None:
    def script(request: Any) -> Any:
        return Reply("{}", delay=60) if stage_of(request) == "extract" else "no JSON"

    def relevances(done: Run) -> list[tuple[str, float | None]]:
        return [(each.url, pick.relevance) for each in done.events("extract") for pick in each.picks]

    cut = await run_with_model(script, pages=PAGES, seconds=5.0)
    (stop,) = cut.events("stop")
    assert (stop.reason, set(stop.asking)) == ("seconds", {"extract"})
    settings = load_settings(model="extractive", source="snapshot", semantic=False)
    whole = await run(QUESTION, settings=settings.model_copy(update={"web": make_web(tmp_path, PAGES)}))
    assert relevances(cut) == relevances(whole) != []


async def test_the_recorded_program_and_parameters_are_used_not_those_in_force_now(tmp_path: Path) -> None:
    store = Store(load_settings().store_folder)
    others = DEFAULT.model_copy(update={"gaps": DEFAULT.gaps})
    key = store.put(kept_program(Program(tmp_path / "p", program_json=b"{}"), others))
    program, parameters = read_kept_program(store, key)
    assert (program, parameters) == (Program(Path("p"), program_json=b"{}"), others)


# With a model


async def test_the_answers_of_a_model_come_from_the_trace() -> None:
    done = await run_with_model(good)
    assert done.result.cost_metadata.tokens_used
    assert_same(await again(done.trace))


@pytest.mark.parametrize("stage", ["plan", "extract", "synthesize", "verify", "open_questions", "confidence"])
@pytest.mark.parametrize(
    "trouble", ["no JSON", lm15.ServerError("down"), Reply("{", finish="length"), lm15.AuthError("no")], ids=repr
)
async def test_the_failures_of_a_model_come_again(stage: str, trouble: Any) -> None:
    assert_same(await again((await run_with_model(but(stage, trouble))).trace))


@pytest.mark.parametrize("budget", [600, 1500, 3000, 6000])
async def test_a_small_budget_ends_the_same_way(budget: int) -> None:
    done = await run_with_model(good, token_budget=budget, count=lambda request: 400)
    assert_same(await again(done.trace))


@pytest.mark.parametrize("stage", ["plan", "extract", "synthesize", "open_questions"])
async def test_a_model_that_was_too_slow_is_too_slow_again(stage: str) -> None:
    done = await run_with_model(but(stage, Reply("{}", delay=60)), seconds=1.5)
    assert_same(await again(done.trace))


@pytest.mark.parametrize("stage", ["plan", "open_questions"])
async def test_an_answer_that_came_too_late_to_be_read_is_too_late_again(stage: str) -> None:
    done = await run_with_model(good)
    lines = [dict(line) for line in done.trace.raw]
    place = next(n for n, line in enumerate(lines) if line["action"] == "model_call" and line["stage"] == stage)
    late = {"action": "fallback", "stage": stage, "reason": f"{TOO_SLOW} 1 s", "limit": None}
    lines.insert(place + 1, {**lines[place], **late, "decision": f"{stage} goes on without the model"})
    path = done.trace.path.with_name("late.jsonl")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = await again(read_trace(path))
    # Without that answer the call goes on another way than this trace has it, but not before.
    assert ran.first is not None
    assert (ran.first.then or {})["action"] == ("assess" if stage == "open_questions" else "plan")
    assert stage == "plan" or ran.result.open_questions == []


async def test_a_model_that_never_answered_in_time_is_told_of_in_the_same_words() -> None:
    done = await run_with_model(lambda request: Reply("{}", delay=60), seconds=1.5, token_budget=4000)
    assert "no answer of the model came" in str(done.result.gaps)
    assert_same(await again(done.trace))


async def test_a_call_whose_time_and_tokens_were_over_at_its_answer_ends_the_same_way() -> None:
    slow = but("extract", Reply("{}", delay=60))
    assert_same(await again((await run_with_model(slow, seconds=1.0, token_budget=4000)).trace))


async def test_a_call_whose_time_was_over_after_the_models_last_answer_ends_the_same_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conclude = ResearchCall._conclude

    async def and_wait(call: ResearchCall, stages: Stages) -> Conclusion:
        conclusion = await conclude(call, stages)
        if not isinstance(stages, WithoutModel):
            await anyio.sleep(60)
        return conclusion

    with monkeypatch.context() as patch:
        patch.setattr(ResearchCall, "_conclude", and_wait)
        done = await run_with_model(good, seconds=2.0)
    assert done.result.confidence_factors.estimated is None
    assert any(line.get("stage") == "confidence" for line in done.trace.raw if line["action"] == "model_call")
    assert_same(await again(done.trace))


async def test_a_prompt_that_was_not_asked_then_is_told() -> None:
    done = await run_with_model(good)

    def forget(line: dict[str, Any]) -> None:
        if line.get("stage") == "synthesize" and line["action"] == "model_call":
            line["request_hash"] = "0" * 24

    ran = await again(rewritten(done.trace, forget))
    assert ran.lacks[0] == "an answer to a prompt of synthesize: the model was not asked for it"
    assert not ran.is_same


# What is missing, and what is exchanged


def to_an_earlier_version(line: dict[str, Any]) -> None:
    """Remove what traces did not hold before there were re-runs."""
    fields = (
        "today",
        "kind",
        "web",
        "semantic",
        "judged",
        "model_calls",
        "program_hash",
        "engine",
        "rerun_of",
        "meant",
    )
    for name in (*fields, "malformed", "modified", "request_hash", "answer", "finish", "counted_tokens"):
        line.pop(name, None)
    line["hits"] = [{"url": hit["url"], "title": hit["title"]} for hit in line.get("hits", [])]


@pytest.mark.skipif(
    not (embedding.is_installed() and answering.is_installed()), reason="the extra `semantic` is not installed"
)
async def test_passages_are_judged_again_only_where_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_SEMANTIC")
    done = await run(QUESTION, pages=PAGES)
    ran = await again(done.trace)
    assert_same(ran)

    def unjudged(line: dict[str, Any]) -> None:
        line.pop("judged", None)

    # A trace of a version without a judge: the chances are others, and with them the confidence.
    other = await again(rewritten(done.trace, unjudged))
    assert other.lacks == []
    assert other.result.confidence != ran.result.confidence


async def test_a_trace_of_an_earlier_version_is_made_again_and_says_what_it_lacks() -> None:
    done = await run(QUESTION, pages=PAGES)
    ran = await again(rewritten(done.trace, to_an_earlier_version))
    assert ran.result.citations
    said = " ".join(ran.lacks)
    for part in ("the day of the call", "the snippets", "the program and its parameters"):
        assert part in said


async def test_a_trace_without_the_models_answers_is_refused_with_the_way_out() -> None:
    done = await run_with_model(good)
    with pytest.raises(TraceError, match="lacks the answers of scripted/model") as refused:
        await again(rewritten(done.trace, to_an_earlier_version))
    assert "--live model" in str(refused.value.hint)


async def test_another_version_is_named_and_its_new_fields_are_no_difference() -> None:
    done = await run(QUESTION, pages=PAGES)

    def older(line: dict[str, Any]) -> None:
        line["version"] = "0.0.1"
        line.get("result", {}).pop("contract_version", None)

    ran = await again(rewritten(done.trace, older))
    assert ran.is_same
    assert ran.notes == [f"recorded by version 0.0.1, repeated by {__version__}"]


async def test_a_page_that_is_gone_from_the_store_is_told() -> None:
    done = await run(QUESTION, pages={BRIDGE: PAGES[BRIDGE]})
    key = done.events("fetch_url")[0].content_hash
    (done.store.folder / key[7:9] / f"{key[9:]}.zst").unlink()
    ran = await again(done.trace)
    assert ran.lacks == [f"the bytes of {BRIDGE}: they are gone from the store"]
    assert not ran.is_same
    assert ran.first is not None


async def test_a_page_that_is_read_otherwise_now_is_told() -> None:
    done = await run(QUESTION, pages={BRIDGE: PAGES[BRIDGE]})

    def other_text(line: dict[str, Any]) -> None:
        if line["action"] == "fetch_url":
            line["text_hash"] = "sha256:" + "0" * 64

    ran = await again(rewritten(done.trace, other_text))
    assert ran.notes == [f"{BRIDGE} is read differently now"]
    assert ran.is_same


async def test_the_live_web_shows_what_has_changed_since(tmp_path: Path) -> None:
    done = await run(QUESTION, pages={BRIDGE: PAGES[BRIDGE]})
    changed = make_web(tmp_path / "changed", {BRIDGE: PAGES[BRIDGE].replace("1931", "1932")})
    settings = load_settings(model="extractive", source="snapshot", web=changed)
    ran = await rerun(done.trace, settings, Exchange(live=frozenset({"search", "fetch"})))
    assert "1932" in ran.result.answer
    assert {each.field for each in ran.differences} >= {"answer", "citations"}
    kept = read_trace(settings.traces / f"{ran.result.trace_id}.jsonl")
    assert kept.raw[0]["rerun_of"] == done.trace.trace_id
    assert ran.kept


async def test_another_model_sees_the_same_pages() -> None:
    done = await run_with_model(good)
    ran = await again(done.trace, model="extractive")
    assert ran.result.cost_metadata.model_id == "extractive"
    assert {each.locator for each in ran.result.citations} <= {event.final_url for event in done.events("fetch_url")}
    assert any(each.field == "cost_metadata.model_id" for each in ran.differences)


async def test_a_query_that_was_not_made_then_is_answered_from_the_recorded_hits() -> None:
    done = await run(QUESTION, pages=PAGES)

    def other_query(line: dict[str, Any]) -> None:
        if line["action"] == "search":
            line["query"] = f"{line['query']} once"

    ran = await again(rewritten(done.trace, other_query))
    assert any("answered from the recorded hits" in each for each in ran.lacks)
    assert ran.result.citations


async def test_a_call_without_a_result_has_nothing_to_compare() -> None:
    done = await run(QUESTION, pages=PAGES)
    path = done.trace.path.with_name(f"{uuid.uuid4()}.jsonl")
    path.write_bytes(b"\n".join(done.trace.path.read_bytes().split(b"\n")[:-2]) + b"\n")
    with pytest.raises(TraceError, match="it has no result to compare with"):
        await again(read_trace(path))
    ran = await again(read_trace(path), program="none")
    assert (ran.recorded, ran.is_same) == (None, False)
