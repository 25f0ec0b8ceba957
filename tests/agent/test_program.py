"""The researcher as a DSPy program: what optimizers, saved states, copies and callbacks have of it."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.callback import BaseCallback

from marchwarden import Researcher, load_settings
from marchwarden.budget import Budget
from marchwarden.contract import Constraints
from marchwarden.errors import ConfigurationError, InvalidRequest
from marchwarden.lm import Model
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import Reply, ScriptedEngine
from marchwarden.settings import Settings
from marchwarden.sources import reachability
from marchwarden.stages.registry import STAGES
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Recorder
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.verify import verify
from tests.agent.test_researcher_with_a_model import PAGES, QUESTION, good
from tests.models import connected
from tests.webs import make_web

WORDS = "Plan the next step, in the words of an optimizer."


def settings(**changes: Any) -> Settings:
    web = make_web(Path.cwd() / "web", PAGES)
    return load_settings(**{"model": "scripted/model", "source": "snapshot", "web": web, **changes})


def researcher(script: Any = good, **changes: Any) -> tuple[Researcher, ScriptedEngine]:
    engine = ScriptedEngine(script)
    return Researcher(settings(**changes), connect=connected(engine)), engine


def prompts(engine: ScriptedEngine) -> list[str]:
    return ["\n".join(prompt_texts(request)) for request in engine.requests]


def trace_of(prediction: dspy.Prediction) -> Trace:
    return read_trace(settings().traces / f"{prediction.result.trace_id}.jsonl")


def reword(program: Researcher) -> None:
    program.plan.signature = program.plan.signature.with_instructions(WORDS)


def test_every_stage_is_a_predictor_under_its_name() -> None:
    program, _ = researcher()
    assert [name for name, _ in program.named_predictors()] == list(STAGES)
    assert all(each.signature.equals(STAGES[name].signature()) for name, each in program.named_predictors())


def test_a_question_gets_a_prediction_with_the_result_and_what_it_rests_on() -> None:
    program, _ = researcher()
    found = program(question=QUESTION)
    assert found.answer.startswith("The Halden Bridge was built in 1931 [1]")
    result = found.result
    assert (found.answer, found.citations, found.gaps, found.confidence) == (
        result.answer,
        result.citations,
        result.gaps,
        result.confidence,
    )
    assert {source.locator for source in found.ledger.sources} == set(PAGES)
    assert verify(result, trace_of(found), Store(settings().store_folder)) == []


def test_without_a_network_the_frozen_web_answers_as_in_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_OFFLINE")
    monkeypatch.setattr(reachability, "HOSTS", (("127.0.0.1", 1),))
    web = make_web(Path.cwd() / "web", PAGES)
    monkeypatch.setattr("marchwarden.settings.shipped", lambda name: web)  # the shipped one takes 15 s to index
    found = researcher(source=None, web=None)[0](question=QUESTION)
    assert {source.locator for source in found.ledger.sources} == set(PAGES)
    assert [event.source for _, _, event in trace_of(found).events if event.action == "start"] == ["snapshot"]


@pytest.mark.anyio
async def test_inside_an_event_loop_it_is_awaited() -> None:
    program, _ = researcher()
    found = await program.acall(question=QUESTION, depth="shallow", constraints={"max_sources": 1})
    assert len(found.citations) == 1
    with pytest.raises(RuntimeError, match="an event loop is running"):
        program(question=QUESTION)


def test_arguments_are_checked_as_in_every_call() -> None:
    program, engine = researcher()
    with pytest.raises(InvalidRequest, match="token_budget"):
        program(question=QUESTION, constraints={"token_budget": 1})
    assert not engine.requests


def test_what_a_predictor_is_changed_to_is_what_is_asked_and_the_trace_says_so() -> None:
    program, engine = researcher()
    reword(program)
    start = trace_of(program(question=QUESTION)).events[0][2]
    assert WORDS in prompts(engine)[0]
    assert start.action == "start"
    assert start.program_notes == ["The prompts of plan were changed in the Researcher that was called."]


def test_a_saved_state_brings_words_and_demonstrations_to_what_is_asked(tmp_path: Path) -> None:
    program, _ = researcher()
    reword(program)
    program.plan.demos = [dspy.Example(question="How deep is the Tista?", queries=["Tista depth"])]
    program.save(tmp_path / "researcher.json")
    other, engine = researcher()
    other.load(tmp_path / "researcher.json")
    other(question=QUESTION)
    assert WORDS in prompts(engine)[0]
    assert "How deep is the Tista?" in prompts(engine)[0]
    assert WORDS not in "".join(prompts(engine)[1:])


def test_a_stage_that_is_newer_than_a_state_stays_as_it_is(tmp_path: Path) -> None:
    program, _ = researcher()
    reword(program)
    program.save(tmp_path / "researcher.json")
    state = json.loads((tmp_path / "researcher.json").read_text())
    del state["write_query"], state["signatures"]["write_query"]
    (tmp_path / "researcher.json").write_text(json.dumps(state))
    other, _ = researcher()
    before = other.write_query.signature.instructions
    other.load(tmp_path / "researcher.json")
    assert other.write_query.signature.instructions == before
    assert other.plan.signature.instructions == program.plan.signature.instructions


def test_a_state_for_other_fields_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    program, _ = researcher()
    reword(program)
    program.save(tmp_path / "researcher.json")
    state = json.loads((tmp_path / "researcher.json").read_text())
    state["signatures"]["extract"] = "another"
    (tmp_path / "researcher.json").write_text(json.dumps(state))
    other, _ = researcher()
    with pytest.raises(ConfigurationError, match="another version of extract"):
        other.load(tmp_path / "researcher.json")
    assert other.plan.signature.instructions != WORDS


def test_a_whole_pickle_is_refused_since_it_would_hold_keys(tmp_path: Path) -> None:
    program, _ = researcher(api_key="sk-secret-of-the-user")
    with pytest.raises(RuntimeError, match="save its state"):
        program.save(tmp_path / "program", save_program=True)
    assert not any(b"sk-secret" in path.read_bytes() for path in (tmp_path / "program").iterdir())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda program: program.deepcopy()], ids=["copy", "dspy"])
def test_a_copy_has_predictors_of_its_own_and_shares_the_model_and_the_tools(copied: Any) -> None:
    program, engine = researcher()
    other = copied(program)
    reword(other)
    assert program.plan.signature.instructions != WORDS
    assert other.shared is program.shared
    other(question=QUESTION)
    assert WORDS in prompts(engine)[0]


class _Heard(BaseCallback):  # type: ignore[misc]
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.names.append(type(instance).__name__)

    def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.names.append(instance.name)


def test_callbacks_see_the_program_its_predictors_and_its_tools() -> None:
    heard = _Heard()
    program, _ = researcher()
    with dspy.context(callbacks=[heard]):
        program(question=QUESTION)
    assert heard.names[:5] == ["Researcher", "Predict", "search", "fetch", "fetch"]
    assert (
        heard.names[5:] == ["Predict"] * 6
    )  # two pages are picked from; the answer, its check, the open questions, the confidence


def test_an_optimizer_compiles_it_from_end_to_end() -> None:
    program, engine = researcher()
    optimizer = dspy.BootstrapFewShot(
        metric=lambda example, prediction, trace=None: "1931" in prediction.answer,
        max_bootstrapped_demos=1,
        max_labeled_demos=0,
    )
    compiled = optimizer.compile(program, trainset=[dspy.Example(question=QUESTION).with_inputs("question")])
    shown = {name: len(each.demos) for name, each in compiled.named_predictors()}
    assert shown == {name: int(name not in ("gaps", "discoveries", "write_query")) for name in STAGES}
    engine.requests.clear()
    compiled(question=QUESTION)
    assert all(len(request.messages) > 1 for request in engine.requests), "each is shown its demonstration"


def test_the_token_budget_of_a_call_is_hard() -> None:
    dear = lambda request: Reply(good(request), usage=None)  # noqa: E731
    program, _ = researcher(dear)
    found = program(question=QUESTION, constraints={"token_budget": 500})
    assert found.result.cost_metadata.tokens_used <= 500
    assert found.result.cost_metadata.budget_exhausted


def test_copies_in_threads_never_spend_more_than_one_budget_together() -> None:
    """As optimizers run them: whoever opens the models decides what they share."""
    engine = ScriptedEngine(good)
    shared = Budget(Constraints(token_budget=6_000), 60.0)

    def connect(settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        return Model("scripted/model", engine, shared, recorder, retries=0)

    program = Researcher(settings(), connect=connect)
    threads = [
        threading.Thread(target=each, kwargs={"question": QUESTION}) for each in map(copy.deepcopy, [program] * 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < shared.tokens_used <= 6_000


def test_without_a_model_research_never_imports_dspy(tmp_path: Path) -> None:
    web = make_web(tmp_path / "web", PAGES)
    script = f"""
import sys
from marchwarden import load_settings, research_sync
found = research_sync({QUESTION!r}, settings=load_settings(model="extractive", source="snapshot", web={str(web)!r}))
assert "1931" in found.answer
print([name for name in ("dspy", "litellm", "anthropic") if name in sys.modules])
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], capture_output=True, check=True
    )
    assert ran.stdout.decode().strip() == "[]"
