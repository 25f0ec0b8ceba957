"""A judge model: what it is asked, what is kept of its marks, and how they compare with the labels."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest
from dspy import lm15
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.budget import Budget
from marchwarden.errors import EvaluationError
from marchwarden.evaluation.runs.run import RESULTS, Mark, Record, Run, open_run
from marchwarden.evaluation.scoring.judge import TOKENS, agreement_of, cohens_kappa, judge_all, unjudged
from marchwarden.lm import Model
from marchwarden.lm.prompt import prompt_texts
from marchwarden.lm.scripted import Reply, ScriptedEngine
from marchwarden.settings import load_settings
from marchwarden.trace.events import Recorder
from tests.evaluation.made_runs import a_nugget, a_question, a_record, a_run, an_answer

JUDGE = "scripted/judge"
PEAS = a_nugget(id="n2", text="Peas are sown early", answers=["Peas"])


def grades(*words: str) -> str:
    return json.dumps({"grades": list(words)})


def judged(run: Run, *replies: Any, model_id: str = JUDGE) -> list[Any]:
    """Have a run marked by a script, one answer after the other; what the judge was asked."""
    engine = ScriptedEngine(replies[0] if callable(replies[0]) else list(replies))

    def connect(budget: Budget, recorder: Recorder) -> Model:
        return Model(model_id, engine, budget, recorder, retries=0)

    settings = load_settings(model=model_id, model_calls=1)
    anyio.run(lambda: judge_all(run, settings, connect=connect))
    return engine.requests


def of_two(name: str, answer: str = "Tomatoes need full sun [1].") -> Record:
    """An answer that the labels find the first of two facts in."""
    return a_record(a_question(name, nuggets=[a_nugget(), PEAS]), an_answer(answer=answer))


# What is asked


def test_a_judge_sees_the_question_the_required_facts_and_the_answer_and_no_accepted_string(tmp_path: Path) -> None:
    extra = a_nugget(id="extra", text="Melons do well", answers=["Melons"], vital=False)
    question = a_question(nuggets=[a_nugget(answers=["Lycopersicon"]), PEAS, extra])
    (asked,) = judged(a_run(tmp_path / "r", [a_record(question)]), grades("supported", "not"))
    shown = "\n".join(prompt_texts(asked))
    assert question.question in shown
    assert "1. Tomatoes need sun\n2. Peas are sown early" in shown
    assert "Tomatoes need full sun." in shown
    for hidden in ("Lycopersicon", "Melons", "[1]"):
        assert hidden not in shown
    schema = json.dumps(asked.config.response_format)
    assert '"minItems": 2' in schema
    assert '"maxItems": 2' in schema


def test_only_answers_that_claim_something_where_something_is_required_are_marked(tmp_path: Path) -> None:
    nothing = an_answer(answer="No source that could be read answers this question.", citations=[])
    records = [
        a_record(a_question("a")),
        a_record(a_question("b"), nothing),
        a_record(a_question("c", nuggets=[])),
        a_record(a_question("d"), error="SIGKILL"),
    ]
    run = a_run(tmp_path / "r", records)
    assert [record.id for record in unjudged(run, JUDGE)] == ["a"]
    assert len(judged(run, grades("supported"))) == 1
    assert unjudged(run, JUDGE) == []


# What is kept


def test_marks_are_kept_with_each_answer_a_line_a_question_and_change_no_score(tmp_path: Path) -> None:
    run = a_run(tmp_path / "r", [of_two("a"), of_two("b")])
    before = run.figures()
    judged(run, grades("supported", "not"), grades("Partly ", "SUPPORTED"))
    assert len((run.folder / RESULTS).read_text().splitlines()) == 2
    again = open_run(run.folder)
    assert again.figures() == before
    marks = {record.id: record.judged.marks for record in again.records if record.judged}
    assert marks == {
        "a": [Mark(nugget="n1", grade="supported"), Mark(nugget="n2", grade="not")],
        "b": [Mark(nugget="n1", grade="partly"), Mark(nugget="n2", grade="supported")],
    }
    assert all(record.judged and 0 < record.judged.tokens <= TOKENS for record in again.records)


def test_an_answer_is_marked_once_by_a_judge_and_anew_by_another(tmp_path: Path) -> None:
    run = a_run(tmp_path / "r", [of_two("a")])
    assert len(judged(run, grades("supported", "not"))) == 1
    assert judged(run, grades("supported", "not")) == []
    assert len(judged(run, grades("not", "not"), model_id="another/judge")) == 1
    assert agreement_of(run, JUDGE).answers == 0
    assert agreement_of(run, "another/judge").answers == 1


@pytest.mark.parametrize(
    "answer",
    ["It is a good answer.", grades("supported"), grades("supported", "not", "not"), grades("supported", "maybe")],
    ids=["prose", "too few", "too many", "another word"],
)
def test_what_cannot_be_read_is_no_grade_and_is_counted_as_such(tmp_path: Path, answer: str) -> None:
    run = a_run(tmp_path / "r", [of_two("a"), of_two("b")])
    judged(run, lambda asked: answer)
    agreement = agreement_of(run, JUDGE)
    assert (agreement.answers, agreement.unreadable, agreement.unasked, agreement.facts) == (0, 2, 0, 0)
    assert (agreement.agreement, agreement.kappa) == (None, None)
    assert all(record.judged and record.judged.marks is None and record.judged.reason for record in run.records)


def test_a_service_that_is_gone_ends_it_with_what_was_marked_kept(tmp_path: Path) -> None:
    run = a_run(tmp_path / "r", [of_two("a"), of_two("b"), of_two("c")])
    with pytest.raises(EvaluationError, match="the judge can't be asked") as caught:
        judged(run, grades("supported", "not"), lm15.AuthError("no such key"))
    assert caught.value.hint
    assert [record.id for record in unjudged(open_run(run.folder), JUDGE)] == ["b", "c"]


def test_an_answer_that_the_service_failed_on_is_still_to_be_marked(tmp_path: Path) -> None:
    run = a_run(tmp_path / "r", [of_two("a"), of_two("b")])
    judged(run, Reply(error=lm15.ServerError("down")), grades("supported", "not"))
    agreement = agreement_of(run, JUDGE)
    assert (agreement.answers, agreement.unreadable, agreement.unasked) == (1, 0, 1)


# Agreement


def test_agreement_compares_each_required_fact_with_its_label(tmp_path: Path) -> None:
    """The labels find the first fact in each answer; the judge finds both, neither, and half of each."""
    run = a_run(tmp_path / "r", [of_two("a"), of_two("b"), of_two("c")])
    judged(run, grades("supported", "supported"), grades("not", "not"), grades("partly", "partly"))
    found = agreement_of(run, JUDGE)
    assert (found.answers, found.facts) == (3, 6)
    assert dict(found.grades) == {
        (said, grade): 1 for said in (True, False) for grade in ("supported", "partly", "not")
    }
    assert found.agreement == pytest.approx(3 / 6)
    assert found.kappa == pytest.approx(0)
    assert json.loads(json.dumps(found.as_json()))["facts"] == 6


def test_kappa_is_cohens() -> None:
    """His table of two raters: 20 both yes, 5 and 10 apart, 15 both no."""
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)


pairs = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30)


@given(pairs)
def test_kappa_is_the_same_from_either_side_and_at_most_one(pairs: list[tuple[bool, bool]]) -> None:
    kappa = cohens_kappa(pairs)
    assert cohens_kappa([(other, one) for one, other in pairs]) == (None if kappa is None else pytest.approx(kappa))
    assert kappa is None or -1 - 1e-9 <= kappa <= 1 + 1e-9


@given(st.lists(st.booleans(), max_size=30))
def test_kappa_of_full_agreement_is_one_and_unknown_where_nothing_differs(labels: list[bool]) -> None:
    kappa = cohens_kappa([(label, label) for label in labels])
    assert kappa == (pytest.approx(1) if len(set(labels)) > 1 else None)


# A real model

ADDRESS = os.environ.get("MARCHWARDEN_TEST_LM", "").rstrip("/").removesuffix("/v1")


@pytest.mark.local_lm
@pytest.mark.skipif(not ADDRESS, reason="MARCHWARDEN_TEST_LM does not name a local model")
def test_a_real_model_gives_grades_that_can_be_read_within_its_tokens(tmp_path: Path) -> None:
    run = a_run(tmp_path / "r", [of_two("a")])
    settings = load_settings(model="openai/smollm2", api_base=f"{ADDRESS}/v1", model_calls=1)
    anyio.run(lambda: judge_all(run, settings))
    found = agreement_of(run, "openai/smollm2")
    assert (found.answers, found.unreadable, found.unasked, found.facts) == (1, 0, 0, 2)
    assert 0 < found.tokens <= TOKENS
