"""The list of programs, and one of them as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.programs import PROGRAM, FigureRecord, WholeRecord, own_programs
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.stages.registry import STAGES
from tests.cli.conftest import Run
from tests.cli.running import python
from tests.programs.made import MODEL, a_calibration, a_program, compiled, info, record, rewrite, settings

PLANS = STAGES["plan"].signature().instructions


def test_the_shipped_programs_are_listed(run: Run) -> None:
    (row,) = [line.split() for line in run("programs").out.splitlines() if line.startswith("openai/qwen1.5b ")]
    assert row[:2] == ["openai/qwen1.5b", "shipped"]


def test_each_program_is_listed_with_its_scores_and_its_state(run: Run) -> None:
    a_program(None, compiled(), compiled("gaps"))
    a_program(model_id="openai/other-model", dspy="2.6.0")
    out = run("programs").out
    assert [line.split() for line in out.splitlines() if line.startswith(f"{MODEL} ")] == [
        [MODEL, "own", "2", "of", "2", "no", "2026-11-28", "in", "force"]
    ]
    assert next(line.split() for line in out.splitlines() if line.startswith("plan ")) == [
        "plan", "0.500", "0.700", "+0.10", "–", "+0.30", "kept"
    ]  # fmt: skip
    assert "own 0 of 1 no 2026-11-28 stale" in " ".join(out.split())
    assert "were made with DSPy 2.6.0" in out
    assert "→ marchwarden compile --model openai/other-model" in out


def test_a_damaged_program_is_listed_with_what_is_wrong(run: Run) -> None:
    folder = a_program()
    (folder / PROGRAM).write_text("{")
    ran = run("programs")
    assert ran.code == 0
    assert "openai-some-model-2" in ran.out
    assert "is no program: Invalid JSON: " in " ".join(ran.out.split())


@pytest.mark.parametrize("width", [60, 40])
def test_on_a_narrow_terminal_no_figure_is_cut(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    a_program()
    out = run("programs").out
    assert max(map(len, out.splitlines())) <= width
    words = " ".join(out.split())
    assert all(each in words for each in ("0.500", "0.700", "+0.10 – +0.30", "in force"))


def test_json_has_state_and_notes_of_each(run: Run) -> None:
    a_program(None, compiled(), dspy="2.0")
    every = json.loads(run("programs", "--json").out)
    listed = {
        each["where"]: each for each in every if each["where"] == "own" or each["model_id"] == "openai/qwen1.5b"
    }
    assert listed["own"]["state"] == "stale"
    assert listed["own"]["notes"][0]["fix"] == f"marchwarden compile --model {MODEL}"
    assert listed["own"]["stages"]["plan"]["compiled"] == 0.7
    assert listed["shipped"]["calibrated"] is False


def test_the_list_does_not_import_dspy() -> None:
    a_program()
    script = """
import sys
from marchwarden.cli import app
app(["programs"], standalone_mode=False)
print("HEAVY", [name for name in ("dspy", "mcp", "litellm", "numpy") if name in sys.modules])
"""
    ran = python(script)
    assert ran.stdout.decode().splitlines()[-1] == "HEAVY []", ran.stderr.decode()


# One in full


def test_a_stage_is_shown_with_what_changed_in_its_words_and_its_demonstrations(run: Run) -> None:
    words = PLANS.replace(PLANS.splitlines()[-1], "Stop early.")
    a_program(None, compiled(instructions=words), compiled("gaps"), reflection_model="openai/large")
    out = run("programs", "show", MODEL, "--stage", "plan").out
    assert f"-{PLANS.splitlines()[-1]}" in " ".join(out.split())
    assert "+Stop early." in out
    assert "Demonstration 1 of 1" in out
    assert "question: What grows in Utah?" in out
    assert 'queries: ["crops utah"]' in out
    assert "0.500 → 0.700 on 40 dev examples, difference +0.10 – +0.30 (95 %)" in out
    assert "with openai/large to reflect" in " ".join(out.split())
    assert "10 model calls, 5,000 tokens, 60 s" in out
    assert "gaps:" not in out
    assert "gaps: kept" in run("programs", "show", MODEL).out


def test_parameters_are_shown_by_what_they_were_and_are(run: Run) -> None:
    parameters = Parameters().with_values({"extract.relevant": 0.3})
    a_program(parameters=parameters, model_id="extractive")
    (row,) = [line.split() for line in run("programs", "show", "extractive").out.splitlines() if "relevant" in line]
    assert row == ["extract.relevant", f"{DEFAULT.extract.relevant:g}", "0.3"]
    shown = json.loads(run("programs", "show", "extractive", "--json").out)
    assert shown["stages"]["parameters"]["changes"] == {"extract.relevant": [DEFAULT.extract.relevant, 0.3]}


def test_a_stale_stage_is_shown_with_the_reason_and_its_words(run: Run) -> None:
    a_program(None, compiled(signature="0123456789abcdef"))
    out = " ".join(run("programs", "show", MODEL).out.split())
    assert f"{MODEL}: stale" in out
    assert "made for other words or fields than plan has now" in out
    assert "Plan the next turn in few words." in out


def test_a_stage_that_was_not_kept_is_shown_with_the_reason(run: Run) -> None:
    from marchwarden.programs import save_program

    folder = own_programs() / "openai-some-model-2"
    save_program(folder, info({"plan": record("x", kept=False, reason="no better on dev", compiled=0.4)}), [])
    assert "plan: not kept. no better on dev" in run("programs", "show", MODEL).out


def test_a_program_in_any_folder_can_be_shown_with_its_calibration_and_what_it_is_worth(
    run: Run, tmp_path: Path
) -> None:
    whole = WholeRecord(
        questions=70,
        split="test",
        figures={"nugget_recall": FigureRecord(uncompiled=0.5, compiled=0.6, low=-0.01, high=0.2)},
    )
    folder = a_program(tmp_path / "p", whole=whole)
    from marchwarden.programs import load_program

    program = load_program(settings(program=str(folder)))
    assert program is not None
    a_calibration(folder, stages=program.stages_hash)
    out = " ".join(run("programs", "show", str(folder)).out.split())
    assert "70 questions of test" in out
    assert "nugget recall 0.500 0.600 -0.01 – +0.20" in out
    assert "Confidence is calibrated on 70 answers" in out


def test_what_a_model_wrote_cannot_command_the_terminal(run: Run) -> None:
    a_program(None, compiled(instructions="\x1b[2J[bold]evil", demos=[{"question": "\x1b]0;x\x07"}]))
    out = run("programs", "show", MODEL).out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "[bold]evil" in out


def test_an_unknown_model_and_an_unknown_stage_name_those_that_there_are(run: Run) -> None:
    a_program()
    ran = run("programs", "show", "openai/nobody")
    assert ran.code == 1
    assert "there is no program for openai/nobody" in ran.err
    assert "openai/qwen1.5b" in ran.err
    assert MODEL in ran.err
    ran = run("programs", "show", MODEL, "--stage", "muse")
    assert ran.code == 1
    assert "It has plan." in ran.err


def test_a_program_under_a_wrong_name_is_said_to_be(run: Run) -> None:
    rewrite(a_program(), model_id="openai/other")
    assert "no model finds it by that name" in " ".join(run("programs").out.split())


@pytest.mark.parametrize("arguments", [["programs"], ["programs", "show"]])
def test_help_has_examples_and_exit_codes(run: Run, arguments: list[str]) -> None:
    out = run(*arguments, "--help").out
    assert "Examples:" in out
    assert "Exit codes: 0 shown" in out
