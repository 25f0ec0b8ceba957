"""`Model.predict`: a stage's question to a model, and everything that can come of it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from typing import Any

import dspy
import pytest
from dspy import lm15

from marchwarden.budget import Budget
from marchwarden.errors import BudgetExhausted, ModelError, StorageError
from marchwarden.lm import Model
from marchwarden.lm.engine import Capabilities
from marchwarden.lm.scripted import Reply, Script, ScriptedEngine
from marchwarden.trace.events import Event
from tests.profiles import within

from .conftest import MemoryRecorder, budget_of


class Question(dspy.Signature):  # type: ignore[misc]
    """Answer."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def scripted(script: Script, budget: Budget, recorder: Any, **more: Any) -> tuple[Model, ScriptedEngine]:
    engine = ScriptedEngine(script, capabilities=more.pop("capabilities", None))
    return Model("scripted", engine, budget, recorder, **more), engine


async def ask(model: Model, stage: str = "plan", *, max_tokens: int = 60, **more: Any) -> Any:
    return await model.predict(stage, dspy.Predict(Question), max_tokens=max_tokens, question="Capital?", **more)


@pytest.mark.anyio
async def test_a_prediction_carries_the_fields_and_the_trace_its_stage(recorder: MemoryRecorder) -> None:
    model, engine = scripted(['{"answer": "Paris"}'], budget_of(5000), recorder)
    assert (await ask(model, "synthesize", max_tokens=77)).answer == "Paris"
    assert recorder.calls[0].stage == "synthesize"
    assert engine.requests[0].config.max_tokens == 77


@pytest.mark.anyio
async def test_the_schema_of_the_answer_is_asked_for(recorder: MemoryRecorder) -> None:
    model, engine = scripted(['{"answer": "Paris"}'], budget_of(5000), recorder)
    await ask(model)
    response_format = engine.requests[0].config.response_format
    assert response_format["type"] == "json_schema"
    assert list(response_format["schema"]["properties"]) == ["answer"]


@pytest.mark.anyio
async def test_stages_side_by_side_keep_their_names_and_caps(recorder: MemoryRecorder) -> None:
    model, engine = scripted(lambda _: Reply('{"answer": "x"}', delay=0.005), budget_of(50_000), recorder)
    await asyncio.gather(*(ask(model, f"stage {n}", max_tokens=100 + n) for n in range(10)))
    assert {call.stage for call in recorder.calls} == {f"stage {n}" for n in range(10)}
    assert sorted(request.config.max_tokens for request in engine.requests) == list(range(100, 110))


@pytest.mark.anyio
async def test_an_empty_budget_is_its_own_error_and_not_tried_again(recorder: MemoryRecorder) -> None:
    model, engine = scripted(["never"], budget_of(100), recorder)
    with pytest.raises(BudgetExhausted):
        await ask(model)
    assert engine.requests == []
    assert model.meter.refused == 1


@pytest.mark.anyio
async def test_a_stage_can_name_the_shortest_answer_that_helps_it(recorder: MemoryRecorder) -> None:
    plain = {"capabilities": Capabilities()}  # a schema would be left out first
    model, engine = scripted(lambda _: '{"answer": "x"}', budget_of(5000), recorder, **plain)
    await ask(model)
    bound = recorder.calls[0].reserved_tokens - 60
    model, engine = scripted(lambda _: '{"answer": "x"}', budget_of(bound + 50), recorder, **plain)
    with pytest.raises(BudgetExhausted):
        await ask(model, answer_floor=55)
    await ask(model, answer_floor=45)
    assert engine.requests[0].config.max_tokens == 50


@pytest.mark.anyio
async def test_a_passing_failure_is_tried_again_and_both_attempts_traced(recorder: MemoryRecorder) -> None:
    model, _ = scripted([lm15.ServerError("down", retry_after=0), '{"answer": "Paris"}'], budget_of(5000), recorder)
    assert (await ask(model)).answer == "Paris"
    assert [bool(call.error) for call in recorder.calls] == [True, False]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (lm15.AuthError("no"), "bad_key"),
        (lm15.ContextLengthError("too long"), "context_overflow"),
        (lm15.ServerError("down", retry_after=0), "server_error"),
        (lm15.TransportError("reset", retry_after=0), "network"),
        (lm15.TimeoutError("late", retry_after=0), "timeout"),
        (lm15.RateLimitError("slow", retry_after=0), "rate_limited"),
        (Reply('{"answer": "Par', finish="length"), "truncated"),
        (Reply("I can't help with that.", finish="content_filter"), "refused"),
        (Reply("no JSON at all"), "unusable_output"),
        (Reply(""), "unusable_output"),
        (RuntimeError("a bug in an engine"), "unknown"),
    ],
)
async def test_whatever_goes_wrong_is_one_kind_of_error(line: Any, kind: str, recorder: MemoryRecorder) -> None:
    model, _ = scripted(lambda _: line, budget_of(20_000), recorder)
    with pytest.raises(ModelError) as failed:
        await ask(model)
    assert failed.value.kind == kind
    assert "\n" not in str(failed.value)


@pytest.mark.anyio
async def test_a_truncated_answer_is_not_asked_for_again(recorder: MemoryRecorder) -> None:
    model, engine = scripted(lambda _: Reply('{"answer": "P', finish="length"), budget_of(20_000), recorder)
    with pytest.raises(ModelError):
        await ask(model)
    assert len(engine.requests) == 1


class Names(dspy.Signature):  # type: ignore[misc]
    """Name some."""

    question: str = dspy.InputField()
    names: list[str] = dspy.OutputField()


@pytest.mark.anyio
@pytest.mark.parametrize("capabilities", [Capabilities(), Capabilities.with_schema()])
async def test_of_an_answer_that_is_cut_what_is_whole_counts(
    capabilities: Capabilities, recorder: MemoryRecorder
) -> None:
    cut = Reply('{"names": ["Paris", "Lyon", "Marse', finish="length")
    model, engine = scripted([cut], budget_of(20_000), recorder, capabilities=capabilities)
    found = await model.predict("plan", dspy.Predict(Names), max_tokens=20, question="Which?")
    assert found.names == ["Paris", "Lyon"]
    assert len(engine.requests) == 1
    assert [(call.error, call.finish, call.answer) for call in recorder.calls] == [(None, "length", cut.text)]


@pytest.mark.anyio
async def test_a_bug_in_a_stage_keeps_its_cause(recorder: MemoryRecorder) -> None:
    class Broken(dspy.Module):  # type: ignore[misc]
        async def aforward(self, **_: Any) -> Any:
            raise KeyError("typo")

    model, _ = scripted([], budget_of(5000), recorder)
    with pytest.raises(ModelError) as failed:
        await model.predict("plan", Broken(), max_tokens=10)
    assert isinstance(failed.value.__cause__, KeyError)


@pytest.mark.anyio
async def test_a_full_disk_is_not_taken_for_a_failure_of_the_model() -> None:
    class FullDisk:
        def record(self, event: Event) -> None:
            raise StorageError("the disk is full")

        def progress(self, message: str) -> None:
            pass

    budget = budget_of(5000)
    model, _ = scripted(['{"answer": "x"}'], budget, FullDisk())
    with pytest.raises(StorageError):
        await ask(model)
    assert budget.tokens_held() == 0


@pytest.mark.anyio
async def test_keys_never_show(recorder: MemoryRecorder) -> None:
    error = lm15.InvalidRequestError("the key hunter2hunter2 and sk-proj-abcdef123456 are wrong")
    model, _ = scripted([error], budget_of(5000), recorder, secrets=("hunter2hunter2",))
    with pytest.raises(ModelError) as failed:
        await ask(model)
    shown = str(failed.value) + repr(failed.value) + repr(model) + str(recorder.events)
    assert "hunter2" not in shown
    assert "abcdef" not in shown


@pytest.mark.anyio
async def test_a_predictor_with_a_model_of_its_own_does_not_pass_by_the_meter(recorder: MemoryRecorder) -> None:
    stray, _ = scripted([], budget_of(5000), MemoryRecorder())
    predictor = dspy.Predict(Question)
    predictor.set_lm(stray.lm(max_tokens=60))
    model, engine = scripted(['{"answer": "x"}'], budget_of(5000), recorder)
    await model.predict("plan", predictor, max_tokens=60, question="?")
    assert len(engine.requests) == 1


@pytest.mark.anyio
async def test_a_cancelled_prediction_makes_no_further_request(recorder: MemoryRecorder) -> None:
    budget = budget_of(5000)
    model, engine = scripted(lambda _: Reply("late", delay=30), budget, recorder)
    task = asyncio.create_task(ask(model))
    await asyncio.sleep(0.1)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < within(1)
    assert len(engine.requests) == 1
    assert budget.tokens_held() == 0


def test_modules_of_others_run_behind_the_same_meter(recorder: MemoryRecorder) -> None:
    """Evaluation and optimizers run modules synchronously, also in threads of DSPy's own."""
    budget = budget_of(50_000)
    model, engine = scripted(lambda _: '{"answer": "Paris"}', budget, recorder)
    with model.asking("extract", max_tokens=40):
        assert dspy.Predict(Question)(question="?").answer == "Paris"
        assert dspy.Predict(Question).deepcopy()(question="?").answer == "Paris"
    assert [call.stage for call in recorder.calls] == ["extract", "extract"]
    assert len(engine.requests) == 2
    assert budget.tokens_used == sum(call.charged_tokens for call in recorder.calls)
    asyncio.run(model.aclose())


@pytest.mark.anyio
async def test_the_same_question_is_asked_again_not_remembered(recorder: MemoryRecorder) -> None:
    """DSPy's cache is off: tokens_used counts what was really asked."""
    model, engine = scripted(lambda _: '{"answer": "x"}', budget_of(5000), recorder)
    await ask(model)
    await ask(model)
    assert len(engine.requests) == 2


@pytest.mark.anyio
async def test_a_reasoning_model_keeps_the_stages_cap(recorder: MemoryRecorder) -> None:
    """DSPy refuses small caps for OpenAI's reasoning models; here the stage decides."""
    engine = ScriptedEngine(['{"answer": "x"}'])
    model = Model("openai/gpt-5-mini", engine, budget_of(5000), recorder)
    await ask(model)
    assert engine.requests[0].config.max_tokens == 60


@pytest.mark.anyio
async def test_connections_are_given_back(recorder: MemoryRecorder) -> None:
    model, _ = scripted([], budget_of(5000), recorder)
    await model.aclose()


def test_importing_the_package_imports_no_model_library() -> None:
    code = "import sys, marchwarden.lm; sys.exit(any(m in sys.modules for m in ('dspy', 'anthropic', 'litellm')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=_root(), check=False).returncode == 0


def _root() -> str:
    from pathlib import Path

    return str(Path(__file__).parents[2])
