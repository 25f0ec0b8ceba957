"""Which program is in force, what of it is refused, and what is said of that."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from marchwarden.errors import ConfigurationError
from marchwarden.programs import (
    PARAMETERS,
    PROGRAM,
    Program,
    all_programs,
    load_program,
    model_slug,
    own_programs,
    save_program,
)
from marchwarden.programs import loading as loading_module
from marchwarden.programs.parameters import Parameters
from marchwarden.stages.registry import STAGES, program_in_force
from tests.programs.made import (
    MODEL,
    WORDS,
    a_calibration,
    a_program,
    compiled,
    info,
    record,
    rewrite,
    rewrite_plan,
    settings,
    stage_file,
)


def loaded(**changes: Any) -> Program:
    program = load_program(settings(**changes))
    assert program is not None
    return program


def refused(program: Program | None, said: str, fix: str) -> bool:
    """Whether nothing of it is in force, for this one reason."""
    assert program is not None
    (note,) = program.notes
    assert said in note.text
    assert note.fix is not None
    assert fix in note.fix
    return (program.in_force, program.fingerprint, program.stages_hash) == ([], None, None)


# What is in force


def test_a_programs_stages_and_parameters_come_back_as_they_were_saved() -> None:
    parameters = Parameters().with_values({"extract.relevant": 0.4})
    folder = a_program(None, compiled(), compiled("gaps", instructions="Judge."), parameters=parameters)
    program = loaded()
    assert program.in_force == ["gaps", PARAMETERS, "plan"]
    assert program.stages["plan"] == compiled()
    assert program.parameters == parameters
    assert (program.folder, program.notes, program.relative) == (folder, (), None)
    assert program_in_force(settings()) == program


def test_a_stage_that_was_not_kept_runs_uncompiled_and_needs_no_word() -> None:
    folder = own_programs() / model_slug(MODEL)
    records = {"plan": record(STAGES["plan"].fingerprint, kept=False, reason="no better on dev")}
    save_program(folder, info(records), [])
    program = loaded()
    assert (program.in_force, program.notes, program.fingerprint) == ([], (), None)


def test_the_fingerprint_is_of_what_is_in_force(tmp_path: Path) -> None:
    prints = []
    for place, words in (("a", WORDS), ("b", WORDS), ("c", "Other words.")):
        folder = a_program(tmp_path / place / "p", compiled(instructions=words))
        prints.append(loaded(program=str(folder)).fingerprint)
    assert prints[0] == prints[1] != prints[2]
    folder = a_calibration(
        tmp_path / "b" / "p", stages=loaded(program=str(folder.parent.parent / "b" / "p")).stages_hash
    )
    assert loaded(program=str(folder)).fingerprint not in prints
    assert str(prints[0]).startswith("p@")


def test_the_users_own_program_comes_before_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = ship(tmp_path, monkeypatch)
    a_program(shipped / model_slug(MODEL), compiled(instructions="Shipped."))
    assert loaded().stages["plan"].instructions == "Shipped."
    a_program(None, compiled(instructions="Own."))
    assert loaded().stages["plan"].instructions == "Own."
    states = {each.where: (each.state, each.shadowed) for each in all_programs()}
    assert states == {"own": ("in force", ()), "shipped": ("shadowed by own", (PROGRAM,))}


def test_an_own_calibration_goes_with_shipped_stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_program(ship(tmp_path, monkeypatch) / model_slug(MODEL))
    a_calibration(own_programs() / model_slug(MODEL), stages=loaded().stages_hash)
    program = loaded()
    assert (program.in_force, program.calibration is not None, program.notes) == (["plan"], True, ())
    assert [each.state for each in all_programs()] == ["in force", "in force"]


def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder as the one that ships with the package."""
    place = tmp_path / "shipped"
    monkeypatch.setattr(loading_module, "shipped", lambda name: place)
    monkeypatch.setattr("marchwarden.programs.listing.shipped", lambda name: place)
    return place


# What is refused, and what is said of it


def test_a_changed_byte_of_a_stages_file_is_noticed() -> None:
    path = stage_file(a_program(None, compiled(), compiled("gaps")))
    body = path.read_bytes()
    path.write_bytes(body.replace(b"few", b"fex"))
    program = loaded()
    (note,) = program.notes
    assert note.text == f"{path} is not the file that program.json names: its content has another hash"
    assert note.fix == f"marchwarden compile --model {MODEL} --stage plan"
    assert program.in_force == ["gaps"]


def test_a_stages_file_that_is_gone_is_noticed() -> None:
    path = stage_file(a_program())
    path.unlink()
    assert refused(load_program(settings()), f"{path} is missing", "--stage plan")


def test_a_stages_file_that_is_too_large_is_refused_whatever_its_hash() -> None:
    rewrite_plan(a_program(), instructions="x" * 1_000_001)
    assert refused(load_program(settings()), "has over 1,000,000 bytes", "--stage plan")


@pytest.mark.parametrize("file", ["../secret.json", "/etc/passwd", "a/b.json", "..", "", "C:x.json", "plan.json\n"])
def test_a_file_outside_the_folder_is_never_read(file: str) -> None:
    folder = a_program()
    records = json.loads((folder / PROGRAM).read_bytes())["stages"]
    records["plan"]["file"] = file
    rewrite(folder, stages=records)
    assert refused(load_program(settings()), "is no program: stages.plan.file", "marchwarden compile")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    path = stage_file(a_program())
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert refused(load_program(settings()), "is not a regular file", "--stage plan")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such thing here")
def test_a_pipe_that_nobody_writes_to_is_no_file_to_wait_for() -> None:
    path = a_program() / PROGRAM
    path.unlink()
    os.mkfifo(path)
    assert refused(load_program(settings()), "is not a regular file", "marchwarden compile")


def test_a_stage_under_another_stages_name_is_refused() -> None:
    rewrite_plan(a_program(), stage="gaps")
    assert refused(load_program(settings()), "is not of the plan that program.json names", "--stage plan")


def test_a_newer_format_is_named_as_such() -> None:
    rewrite(a_program(), format=2, news="x")
    assert refused(load_program(settings()), "has format 2, which is newer than this version", f"--model {MODEL}")


def test_a_newer_format_of_a_stage_is_named_as_such() -> None:
    rewrite_plan(a_program(), format=3)
    assert refused(load_program(settings()), "has format 3, which is newer than this version", "--stage plan")


def test_another_models_program_under_this_ones_name_is_refused() -> None:
    rewrite(a_program(), model_id="openai/other")
    assert refused(load_program(settings()), f"is of openai/other, not of {MODEL}", f"--model {MODEL}")
    (listed,) = [each for each in all_programs() if each.where == "own"]
    assert listed.state == "stale"
    assert "no model finds it by that name" in listed.program.notes[0].text


@pytest.mark.parametrize("version", ["2.6.1", "4.0.0a1"])
def test_another_major_version_of_dspy_is_noticed(version: str) -> None:
    a_program(dspy=version)
    assert refused(load_program(settings()), f"were made with DSPy {version}, and 3.", f"--model {MODEL}")


def test_parameters_do_not_depend_on_dspy_but_on_which_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ship(tmp_path, monkeypatch)
    folder = a_program(None, parameters=Parameters(), model_id="extractive", dspy="2.0.0")
    assert loaded(model="extractive").in_force == [PARAMETERS]
    records = json.loads((folder / PROGRAM).read_bytes())["stages"]
    records[PARAMETERS]["signature"] = "0123456789abcdef"
    rewrite(folder, stages=records)
    program = load_program(settings("extractive"))
    assert refused(program, "were searched among others than there are now", "marchwarden compile --model extractive")


def test_a_stage_that_was_compiled_for_other_fields_runs_uncompiled() -> None:
    a_program(None, compiled(signature="0123456789abcdef"), compiled("gaps"))
    assert loaded().in_force == ["gaps", "plan"]
    program = program_in_force(settings())
    assert program is not None
    (note,) = program.notes
    assert note.text == f"the compiled plan of {MODEL} was made for other words or fields than plan has now"
    assert note.fix == f"marchwarden compile --model {MODEL} --stage plan"
    assert program.in_force == ["gaps"]


def test_a_compiled_form_of_a_stage_that_there_is_no_more_is_passed_over() -> None:
    a_program(None, compiled(stage="plan").model_copy(update={"stage": "muse", "signature": "x"}))
    assert refused(program_in_force(settings()), "is of no stage that there is now", f"--model {MODEL}")


# A calibration beside it


def test_a_calibration_says_nothing_of_stages_that_were_compiled_after_it() -> None:
    folder = a_calibration(a_program())
    program = loaded()
    assert program.calibration is None
    assert program.in_force == ["plan"]
    assert (
        program.notes[0].text
        == f"the calibration of {MODEL} was fitted before its stages were compiled, and is not used"
    )
    assert "marchwarden calibrate" in str(program.notes[0].fix)
    a_calibration(folder, stages=program.stages_hash)
    assert loaded().calibration is not None


def test_a_calibration_goes_with_a_stage_that_is_stale() -> None:
    folder = a_program(None, compiled(signature="0123456789abcdef"))
    a_calibration(folder, stages=loaded().stages_hash)
    program = program_in_force(settings())
    assert program is not None
    assert (program.calibration, program.fingerprint, len(program.notes)) == (None, None, 2)


# A relative's


def test_a_relatives_stages_are_used_meanwhile_and_named_but_not_its_calibration() -> None:
    folder = a_program()
    a_calibration(folder, stages=loaded().stages_hash)
    program = loaded(model="openai/some-model-3")
    assert (program.relative, program.in_force, program.calibration) == (MODEL, ["plan"], None)
    (note,) = program.notes
    assert (
        note.text == f"there is no program of openai/some-model-3; the compiled stages of {MODEL} are used meanwhile"
    )
    assert note.fix == "marchwarden compile --model openai/some-model-3"
    assert str(program.fingerprint).startswith("openai-some-model-2@")


def test_the_newest_of_several_relatives_is_used_and_an_unusable_one_never() -> None:
    a_program(model_id="openai/some-model-4", date="2026-01-01")
    a_program(model_id="openai/some-model-5", date="2026-12-01", dspy="2.0")
    a_program(model_id="openai/some-model-6", date="2026-06-01")
    a_program(model_id="openai/other-model-6", date="2026-12-01")
    stage_file(a_program(model_id="openai/some-model-7", date="2026-12-01")).unlink()
    assert loaded(model="openai/some-model-8").relative == "openai/some-model-6"
    assert load_program(settings("openai/none-of-those-1")) is None


def test_a_relative_is_no_stand_in_for_a_program_that_is_damaged() -> None:
    a_program(model_id="openai/some-model-4")
    (a_program() / PROGRAM).write_text("{")
    assert refused(load_program(settings()), "is no program: Invalid JSON: ", f"--model {MODEL}")


# A program that is named


def test_a_named_program_of_the_same_family_is_used(tmp_path: Path) -> None:
    folder = a_calibration(a_program(tmp_path / "p"))
    program = loaded(model="openai/some-model-9", program=str(folder))
    assert (program.relative, program.in_force, program.calibration) == (MODEL, ["plan"], None)


@pytest.mark.parametrize("broken", ["foreign", "damaged", "newer", "byte", "gone"])
def test_a_named_program_that_cannot_be_used_is_an_error(tmp_path: Path, broken: str) -> None:
    folder = a_program(tmp_path / "p")
    if broken == "foreign":
        rewrite(folder, model_id="openai/other")
    elif broken == "damaged":
        (folder / PROGRAM).write_text("{")
    elif broken == "newer":
        rewrite(folder, format=2)
    elif broken == "byte":
        stage_file(folder).write_text("{}")
    else:
        stage_file(folder).unlink()
    with pytest.raises(ConfigurationError) as caught:
        load_program(settings(program=str(folder)))
    assert str(folder) in str(caught.value)
    assert caught.value.hint


def test_a_named_program_that_is_stale_is_said_to_be_and_not_an_error(tmp_path: Path) -> None:
    folder = a_program(tmp_path / "p", dspy="2.0")
    assert refused(load_program(settings(program=str(folder))), "were made with DSPy 2.0", "compile")


# Whatever stands there

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("part", [PROGRAM, "plan", "parameters", "calibration.json"])
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_stands_in_a_file_never_raises(part: str, data: st.DataObject) -> None:
    folder = a_program(None, compiled(), parameters=Parameters())
    a_calibration(folder, stages=loaded().stages_hash)
    path = folder / part if part.endswith(".json") else stage_file(folder, part)
    whole = path.read_bytes()
    path.write_bytes(data.draw(_mutated(whole)))
    for program in (load_program(settings()), program_in_force(settings())):
        assert program is not None
        assert program.notes or path.read_bytes() == whole or program.info is not None
    assert all_programs()


def _mutated(whole: bytes) -> st.SearchStrategy[bytes]:
    parsed = json.loads(whole)
    places = st.integers(0, len(whole) - 1)
    return st.one_of(
        st.binary(max_size=64),
        places.map(lambda cut: whole[:cut]),
        st.tuples(places, st.integers(0, 255)).map(lambda at: whole[: at[0]] + bytes([at[1]]) + whole[at[0] + 1 :]),
        st.tuples(st.sampled_from(sorted(parsed)), _JSON).map(
            lambda new: json.dumps(parsed | {new[0]: new[1]}).encode()
        ),
        _JSON.map(lambda value: json.dumps(value).encode()),
    )
