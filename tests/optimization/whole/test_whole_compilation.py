"""All prompts compiled at once on whole questions: what is proven, what it may spend, and what it leaves as it is."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from dspy import lm15

from marchwarden.budget import Reservation
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.lm.prompt import prompt_texts
from marchwarden.optimization.estimate import Order
from marchwarden.optimization.optimizers import OPTIMIZERS, Effort
from marchwarden.optimization.program_records import Outcome
from marchwarden.optimization.spending import Spending
from marchwarden.optimization.whole.whole_compilation import WholeQuestions, compile_whole
from marchwarden.programs import CompiledStage, Program
from marchwarden.settings import Settings, load_settings
from marchwarden.stages.registry import STAGES, program_in_force
from tests.optimization.compiled import MODEL, fields_of, has_demonstrations, spending, written
from tests.webs import article, make_web

NAMES = ("Halden", "Tista", "Brenta", "Korvo", "Malk", "Senna", "Ruvo", "Tolm")
TRAIN, DEV = NAMES[:4], NAMES[4:]
BETTER = "Pick the passages that state what is asked, and leave none of them out."
EFFORT = Effort(candidates=2, demos=1, train=2, choose=2, dev=None)
TOKENS = 40_000
"""Of one question."""


def url(name: str) -> str:
    return f"https://{name.lower()}-bridge.example/"


def year(name: str) -> int:
    return 1900 + 7 * NAMES.index(name)


def sentence(name: str) -> str:
    return f"The {name} Bridge was built in {year(name)}."


def question(name: str) -> Question:
    nugget = {
        "id": "n1",
        "text": sentence(name),
        "answers": [str(year(name))],
        "evidence": [{"url": url(name), "quote": sentence(name)}],
    }
    return Question.model_validate(
        {
            "id": name.lower(),
            "question": f"When was the {name} Bridge built?",
            "split": "train" if name in TRAIN else "dev",
            "depth": "shallow",
            "constraints": {"token_budget": TOKENS, "max_sources": 2},
            "tags": ["one-fact"],
            "nuggets": [nugget],
        }
    )


def settings() -> Settings:
    pages = {url(name): article(f"{name} Bridge", sentence(name), "It is painted green.") for name in NAMES}
    web = make_web(Path.cwd() / "web", pages)
    return load_settings(model=MODEL, source="snapshot", web=web, api_base="http://127.0.0.1:9/v1", semantic=False)


def is_better(request: Any) -> bool:
    return has_demonstrations(request) or BETTER in str(request.system)


STAGE_OF = {"queries": "plan", "picks": "extract", "claims": "synthesize", "gaps": "gaps", "events": "discoveries"}
STAGE_OF["questions"] = "open_questions"


def asked_stage(request: Any) -> str | None:
    """By its fields, since an optimizer may have replaced its words; None for who writes instructions."""
    return next((STAGE_OF[field] for field in fields_of(request) if field in STAGE_OF), None)


def model(right: Callable[[Any], bool] = is_better, easy: tuple[str, ...] = TRAIN[::2]) -> Callable[[Any], Any]:
    """It finds the passage on an easy question, and on others where `right` says so of the request. Whatever else it
    is asked to write is `BETTER`."""

    def answer(request: Any) -> Any:
        stage = asked_stage(request)
        if stage is None:
            return written(request, BETTER)
        asked = list(prompt_texts(request))[-1]
        name = next((name for name in NAMES if f"When was the {name} Bridge" in asked), NAMES[0])
        if stage == "plan":
            told = {"thought": "", "aspects": [], "queries": [f"{name} Bridge built"], "read": [], "done": False}
            return json.dumps(told)
        numbers = [int(number) for number in re.findall(r"^<(\d+)>", asked, re.MULTILINE)]
        if stage == "extract":
            found = name in easy or right(request)
            pick = {"passages": numbers[:1], "aspect": 1, "says": "the year", "stance": "supports"}
            return json.dumps({"picks": [pick] if found and f"The {name} Bridge was" in asked else []})
        if stage == "synthesize":
            return json.dumps({"claims": [{"text": sentence(name), "excerpts": numbers[:1]}]})
        return json.dumps({"gaps": [], "events": [], "questions": []})

    return answer


def order(optimizer: str = "bootstrap", **changes: Any) -> Order:
    given: dict[str, Any] = {"seed": 0, "jobs": 1, "questions": 4, **changes}
    return Order(settings(), ("whole",), OPTIMIZERS[optimizer], EFFORT, **given)


def compiled(
    tmp_path: Path,
    of: Order,
    answer: Callable[[Any], Any] | None = None,
    before: Program | None = None,
    paid: Spending | None = None,
    **limits: Any,
) -> tuple[Outcome, Spending]:
    paid = paid or spending(tmp_path / "work", answer or model(), **limits)
    train, dev = [question(name) for name in TRAIN], [question(name) for name in DEV]
    questions = WholeQuestions.of(of, train, dev)
    outcome = compile_whole(
        of, questions, dev, folder=tmp_path / "work", out=tmp_path / "out", before=before, spending=paid
    )
    return outcome, paid


class Plain(NamedTuple):
    """A compile by `order()` that was paid for in full, and what it held of its budget on the way."""

    folder: Path
    outcome: Outcome
    paid: Spending
    held: Sequence[int]


@cache
def compiled_in(folder: Path) -> Plain:
    held: list[int] = []
    paid = spending(folder / "work", model(), tokens=10**6)
    reserve = paid.budget.reserve

    def heard(stage: str, tokens: int) -> Reservation:
        held.append(tokens)
        return reserve(stage, tokens)

    paid.budget.reserve = heard  # type: ignore[method-assign]
    outcome, _ = compiled(folder, order(), paid=paid)
    return Plain(folder, outcome, paid, held)


@pytest.fixture
def plain(tmp_path_factory: pytest.TempPathFactory) -> Plain:
    """Compiled once for all tests of this module, by the first of them, in its isolation."""
    return compiled_in(tmp_path_factory.getbasetemp() / "plain")


def in_place(tmp_path: Path) -> Program:
    found = program_in_force(settings().model_copy(update={"program": str(tmp_path / "out")}))
    assert found is not None
    return found


@pytest.mark.parametrize("optimizer", ["bootstrap", "gepa", pytest.param("mipro", marks=pytest.mark.slow)])
def test_prompts_that_answer_whole_questions_better_are_put_in_place_together(
    tmp_path: Path, plain: Plain, optimizer: str
) -> None:
    if optimizer == "bootstrap":
        tmp_path, outcome, paid, _ = plain
    else:  # instructions are mended by what fails
        outcome, paid = compiled(tmp_path, order(optimizer), model(easy=()))
    assert outcome.stopped is None
    assert outcome.file == tmp_path / "out" / "program.json"
    whole = outcome.info.whole
    assert whole is not None
    assert whole.questions == 4
    assert (whole.figures["nugget_recall"].uncompiled, whole.figures["nugget_recall"].compiled) == (0.0, 1.0)
    program = in_place(tmp_path)
    assert "extract" in program.stages
    assert program.notes == ()
    record = outcome.info.stages["extract"]
    assert record.whole
    assert record.kept
    assert record.difference is not None
    assert record.difference[0] > 0
    assert record.compiled is not None
    assert record.compiled > record.uncompiled
    assert outcome.info.cost.tokens == paid.spent.tokens > 0


def test_what_a_right_answer_does_not_rest_on_is_no_demonstration(tmp_path: Path) -> None:
    """The model's claim is dropped, and the answer is the model-free one, which is right."""

    def answer(request: Any) -> Any:
        if asked_stage(request) == "synthesize":
            return json.dumps({"claims": [{"text": "Dragons built it in 1066.", "excerpts": [1]}]})
        return model()(request)

    outcome, _ = compiled(tmp_path, order(), answer)
    assert outcome.stages["extract"].demos
    assert "synthesize" not in outcome.stages


def test_what_is_as_good_as_noise_changes_nothing(tmp_path: Path) -> None:
    outcome, _ = compiled(tmp_path, order(), model(right=lambda request: False))
    assert outcome.file is None
    assert outcome.stages == {}
    assert not outcome.info.stages["extract"].kept
    assert "may be noise" in outcome.info.stages["extract"].reason
    assert not (tmp_path / "out").exists()


def test_it_begins_with_the_program_that_is_there_and_leaves_the_rest_of_it(tmp_path: Path, plain: Plain) -> None:
    before = in_place(plain.folder)
    outcome, paid = compiled(tmp_path / "second", order(), before=before)
    assert is_better_from_the_start(paid)
    assert outcome.info.whole is None or outcome.info.whole.figures["nugget_recall"].uncompiled == 1.0
    assert outcome.file is None
    assert outcome.stages == dict(before.stages)


def is_better_from_the_start(paid: Spending) -> bool:
    requests = paid.engine.requests  # type: ignore[attr-defined]
    return all(has_demonstrations(each) for each in requests if asked_stage(each) == "extract")


@pytest.mark.parametrize(("optimizer", "jobs"), [("bootstrap", 1), ("gepa", 3), ("mipro", 1)])
def test_the_token_budget_is_never_exceeded_and_nothing_unproven_is_put_in_place(
    tmp_path: Path, optimizer: str, jobs: int
) -> None:
    outcome, paid = compiled(tmp_path, order(optimizer, jobs=jobs), tokens=TOKENS * jobs + 12_000)
    assert paid.spent.tokens == paid.budget.tokens_used <= TOKENS * jobs + 12_000
    assert outcome.stopped is not None
    assert outcome.stopped.short_of == "--token-budget"
    assert outcome.file is None


def test_a_question_holds_its_whole_budget_before_it_is_asked(plain: Plain) -> None:
    assert set(plain.held) == {TOKENS}
    assert plain.paid.budget.tokens_held() == 0


def test_what_was_answered_before_is_not_paid_for_again(tmp_path: Path, plain: Plain) -> None:
    shutil.copytree(plain.folder / "work", tmp_path / "work")
    again = spending(tmp_path / "work", model())
    second, _ = compiled(tmp_path, order(), paid=again)
    assert again.engine.requests == []  # type: ignore[attr-defined]
    assert second.stages == plain.outcome.stages


def test_a_service_that_is_gone_ends_it_rather_than_being_a_score(tmp_path: Path) -> None:
    outcome, _ = compiled(tmp_path, order(), lambda request: lm15.AuthError("bad key"))
    assert outcome.stopped is not None
    assert "can't be asked" in outcome.stopped.reason
    assert outcome.info.stages == {}


def test_an_interrupt_while_the_search_runs_leaves_the_program_that_was_there(tmp_path: Path) -> None:
    asked = 0

    def answer(request: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked > 20:
            raise KeyboardInterrupt
        return model()(request)

    outcome, _ = compiled(tmp_path, order(), answer)
    assert outcome.stopped is not None
    assert outcome.stopped.is_interrupt
    assert outcome.file is None


def test_too_few_questions_are_refused_before_anything_is_spent() -> None:
    with pytest.raises(EvaluationError, match="too few to compile the whole"):
        WholeQuestions.of(order(), [question("Halden")], [question(name) for name in DEV])


def test_a_stage_compiled_on_whole_questions_is_not_measured_against_its_own_examples(plain: Plain) -> None:
    """Their scores are of different things: a compile of the stage by itself takes its place where that is proven."""
    out = plain.folder / "out"
    body = json.loads((out / "program.json").read_text())
    assert body["stages"]["extract"]["whole"] is True
    kept = CompiledStage.model_validate_json((out / body["stages"]["extract"]["file"]).read_text())
    assert kept.signature == STAGES["extract"].fingerprint
    assert plain.outcome.stages["extract"] == kept
