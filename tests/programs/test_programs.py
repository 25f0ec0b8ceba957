"""What was fitted for a model: found by its id, refused where it is another's or damaged, applied to a score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from marchwarden.agent.conclusion import Checkpoint, finish
from marchwarden.agent.research import research
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ConfigurationError
from marchwarden.frozen_web.pages import manifest_hash
from marchwarden.programs import CALIBRATION, Calibration, load_program, log_odds, model_slug, own_programs
from marchwarden.programs.parameters import Parameters
from marchwarden.settings import Settings, load_settings, shipped
from marchwarden.trace.events import Event
from marchwarden.trace.writer import TraceWriter
from tests.programs import made
from tests.runs import run
from tests.webs import article, make_web

MODEL = "openai/Some-Model:7b"


@pytest.fixture(autouse=True)
def _with_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")


finite = st.floats(allow_nan=False, allow_infinity=False)
scores = st.floats(0, 1)


def calibration(**changes: Any) -> Calibration:
    given: dict[str, Any] = {
        "model_id": MODEL,
        "slope": 1.0,
        "intercept": 0.0,
        "questions": 70,
        "fitted_on": "shipped dev",
        "labels": "abc",
        "date": "2026-11-28",
    }
    return Calibration.model_validate(given | changes)


def a_program(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / CALIBRATION).write_text(calibration(**changes).model_dump_json())
    return folder


def settings(**changes: Any) -> Settings:
    return load_settings(model=MODEL, **changes)


# The calibration


@given(finite, finite, scores)
def test_a_calibrated_confidence_is_a_probability_with_two_decimals(
    slope: float, intercept: float, score: float
) -> None:
    found = calibration(slope=slope, intercept=intercept).apply(score)
    assert 0 <= found <= 1
    assert found == round(found, 2)


@given(st.floats(0, 5), st.floats(-5, 5), scores, scores)
def test_a_better_score_is_never_calibrated_to_a_worse_one(
    slope: float, intercept: float, one: float, other: float
) -> None:
    assume(one <= other)
    fitted = calibration(slope=slope, intercept=intercept)
    assert fitted.apply(one) <= fitted.apply(other)


@given(st.integers(1, 99))
def test_slope_1_and_intercept_0_change_nothing(hundredths: int) -> None:
    assert calibration().apply(hundredths / 100) == hundredths / 100


@given(scores)
def test_log_odds_are_finite_and_odd(score: float) -> None:
    assert abs(log_odds(score)) < 5
    assert log_odds(score) == pytest.approx(-log_odds(1 - score), abs=1e-9)


@pytest.mark.parametrize(
    "change", [{"slope": float("inf")}, {"intercept": float("nan")}, {"questions": 0}, {"format": 2}]
)
def test_what_was_not_fitted_is_no_calibration(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        calibration(**change)


def test_a_calibration_says_what_it_was_fitted_on() -> None:
    assert calibration().described == (
        "calibrated on 70 answers from the frozen web to the questions of shipped dev, 2026-11-28"
    )


# Which program


def test_without_any_program_there_is_none() -> None:
    assert load_program(settings()) is None


def test_the_users_own_program_is_found_by_the_models_id() -> None:
    a_program(own_programs() / "openai-some-model-7b", slope=2.0)
    program = load_program(settings())
    assert program is not None
    assert program.calibration.slope == 2.0
    assert program.fingerprint.startswith("openai-some-model-7b@")
    assert load_program(load_settings(model="another/model")) is None


def test_none_is_none_even_where_there_is_one() -> None:
    a_program(own_programs() / model_slug(MODEL))
    assert load_program(settings(program="none")) is None


def test_the_program_that_is_set_comes_before_the_users_own(tmp_path: Path) -> None:
    a_program(own_programs() / model_slug(MODEL), slope=2.0)
    program = load_program(settings(program=str(a_program(tmp_path / "mine", slope=3.0))))
    assert program is not None
    assert (program.calibration.slope, program.folder) == (3.0, tmp_path / "mine")
    a_program(Path.home() / "other", slope=4.0)
    at_home = load_program(settings(program="~/other"))
    assert at_home is not None
    assert at_home.calibration.slope == 4.0


def test_every_shipped_program_is_one_of_the_model_that_its_folder_names() -> None:
    for path in shipped("programs").glob(f"*/{CALIBRATION}"):
        model_id = json.loads(path.read_bytes())["model_id"]
        assert path.parent.name == model_slug(model_id)
        assert load_program(load_settings(model=model_id)) is not None


def test_a_fingerprint_changes_with_the_content(tmp_path: Path) -> None:
    found = [
        load_program(settings(program=str(a_program(tmp_path / place / "p", slope=slope))))
        for place, slope in (("a", 1.0), ("b", 1.0), ("c", 1.5))
    ]
    prints = [program.fingerprint for program in found if program]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, "holds no program"),
        ("", "is no calibration: "),
        ("[1]", "is no calibration: "),
        ("[" * 100_000, "is no calibration: "),
        ({"slope": "steep"}, "is no calibration: slope: "),
        ({"extra": 1}, "is no calibration: extra: "),
        ({"model_id": "another/model"}, "is of another/model, not of openai/Some-Model:7b"),
    ],
    ids=["missing", "empty", "a list", "deep", "slope", "extra", "another model"],
)
def test_a_program_that_cannot_be_used_is_named_with_what_to_do(
    tmp_path: Path, body: str | dict[str, Any] | None, said: str
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    if isinstance(body, dict):
        body = json.dumps(calibration().model_dump(mode="json") | body)
    if body is not None:
        (folder / CALIBRATION).write_text(body)
    with pytest.raises(ConfigurationError, match=said) as caught:
        load_program(settings(program=str(folder)))
    assert str(folder) in str(caught.value)
    assert caught.value.hint


def test_a_damaged_calibration_that_is_found_is_not_used_and_not_passed_over_in_silence() -> None:
    folder = a_program(own_programs() / model_slug(MODEL))
    (folder / CALIBRATION).write_text("{")
    program = load_program(settings())
    assert program is not None
    assert (program.calibration, program.fingerprint) == (None, None)
    assert f"{folder / CALIBRATION} is no calibration" in program.notes[0].text
    assert program.notes[0].fix == "marchwarden calibrate RUN"


@pytest.mark.parametrize("place", ["file", "~nobody-of-that-name/p"])
def test_a_place_where_no_program_can_be_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError) as caught:
        load_program(settings(program=str(tmp_path / place) if place == "file" else place))
    assert place in str(caught.value)


@pytest.mark.parametrize(
    ("model_id", "slug"),
    [
        ("extractive", "extractive"),
        ("anthropic/claude-sonnet-5-5", "anthropic-claude-sonnet-5-5"),
        ("openai/Some Model:7b", "openai-some-model-7b"),
        ("../../etc", "etc"),
        ("..", "unnamed"),
        ("日本", "unnamed"),
        ("v1.5/x", "v1.5-x"),
    ],
)
def test_a_models_folder_is_named_after_it_and_lies_below_the_others(model_id: str, slug: str) -> None:
    assert model_slug(model_id) == slug


# In a call

QUESTION = "When was the Halden Bridge built?"
BRIDGE = {
    "https://bridges.halden-county.gov/halden": article(
        "Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista.", published="2026-03-01"
    ),
}
ID = "3f2a1b2c-0000-4000-8000-000000000001"


def extractive(**changes: Any) -> Settings:
    return load_settings(
        model="extractive", source="snapshot", web=make_web(Path.cwd() / "web", BRIDGE), semantic=False, **changes
    )


def of_this_web() -> dict[str, Any]:
    """What a calibration of the model-free researcher says that was fitted to answers from the frozen web here."""
    return {"model_id": "extractive", "web": manifest_hash(extractive().frozen_web)}


@pytest.mark.anyio
@pytest.mark.parametrize("where", [{"source": "web"}, {"web": None}, {"web": "0123456789abcdef"}])
async def test_what_was_fitted_to_other_sources_says_nothing_about_these(where: dict[str, str | None]) -> None:
    before = (await run(QUESTION, settings=extractive(program="none"))).result
    a_program(own_programs() / "extractive", slope=0.5, intercept=-1.0, **of_this_web() | where)
    result = (await run(QUESTION, settings=extractive())).result
    assert (result.confidence, result.confidence_factors.calibration) == (before.confidence, None)


@pytest.mark.anyio
async def test_a_result_says_that_its_confidence_is_calibrated_on_what_and_what_it_was_before() -> None:
    before = (await run(QUESTION, settings=extractive(program="none"))).result
    a_program(own_programs() / "extractive", slope=0.5, intercept=-1.0, **of_this_web())
    done = await run(QUESTION, settings=extractive())
    factors = done.result.confidence_factors
    assert factors.uncalibrated == before.confidence
    assert factors.calibration == calibration().described
    assert done.result.confidence == calibration(slope=0.5, intercept=-1.0).apply(before.confidence)
    (assessed,) = done.events("assess")
    assert (assessed.confidence, assessed.uncalibrated) == (done.result.confidence, before.confidence)
    unwanted = (await run(QUESTION, settings=extractive(program="none"))).result
    assert unwanted.confidence_factors == before.confidence_factors


@pytest.mark.anyio
async def test_a_call_decides_by_the_parameters_of_the_program_and_its_trace_says_so() -> None:
    before = await run(QUESTION, settings=extractive(program="none"))
    parameters = Parameters().with_values({"confidence.one_source": 0.2})
    made.a_program(parameters=parameters, model_id="extractive")
    done = await run(QUESTION, settings=extractive())
    assert done.result.confidence < before.result.confidence
    (start,) = done.events("start")
    assert (start.compiled, start.program.partition("@")[0]) == (["parameters"], "extractive")
    assert start.program_notes == []
    assert done.result.confidence_factors.calibration is None
    (start,) = before.events("start")
    assert (start.compiled, start.program, start.program_notes) == ([], None, [])


@pytest.mark.anyio
async def test_a_call_that_finds_nothing_is_as_unsure_as_ever() -> None:
    a_program(own_programs() / "extractive", model_id="extractive", slope=0.0, intercept=3.0)
    result = (await run("Who won the chess olympiad of 1978?", settings=extractive())).result
    assert result.citations == []
    assert result.confidence < 0.1
    assert result.confidence_factors.calibration is None


@pytest.mark.anyio
async def test_a_killed_call_is_calibrated_as_a_whole_one_is_and_never_over_its_bound() -> None:
    a_program(own_programs() / "extractive", slope=0.0, intercept=3.0, **of_this_web())
    kept: list[str] = []
    configured = extractive()
    with TraceWriter(configured.traces, ID) as writer:
        await research(
            ResearchRequest(question=QUESTION),
            settings=configured,
            recorder=writer,
            trace_id=ID,
            checkpoint=lambda checkpoint: kept.append(checkpoint.model_dump_json()),
        )
    result, _ = await finish(Checkpoint.model_validate_json(kept[-1]), limit="seconds", trace_id=ID, seconds=55.0)
    assert result.citations
    assert (result.confidence, result.confidence_factors.calibration) == (0.69, calibration().described)


@pytest.mark.anyio
async def test_a_named_program_that_is_damaged_ends_a_call_before_anything_is_recorded(tmp_path: Path) -> None:
    recorded: list[Event] = []

    class Recorder:
        def record(self, event: Event) -> None:
            recorded.append(event)

        def progress(self, message: str) -> None:
            pass

    folder = a_program(tmp_path / "p", model_id="extractive")
    (folder / CALIBRATION).write_text("{")
    named = extractive(program=str(folder))
    with pytest.raises(ConfigurationError, match="is no calibration"):
        await research(ResearchRequest(question=QUESTION), settings=named, recorder=Recorder(), trace_id=ID)
    assert recorded == []
