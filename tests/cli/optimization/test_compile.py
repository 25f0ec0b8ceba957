"""`marchwarden compile`, against a service on loopback: what it says, what it puts in place, how it exits."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from marchwarden.cli import app
from marchwarden.cli.optimization.compile_run import going_on
from tests.cli.conftest import Ran, Run
from tests.lm.wire import Answer, Service, as_events, as_json, service
from tests.optimization import compiled
from tests.optimization.compiled import answering, has_demonstrations

MODEL = "openai/scripted-7b"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Labelled questions of the splits train and dev that are about gaps."""
    lines = []
    for split, most in (("train", 16), ("dev", 12)):
        gapped = [each for each in compiled.questions(split) if any(gap.required for gap in each.gaps)]
        lines += [each.model_dump_json() for each in gapped[:most]]
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def as_request(body: Any) -> Any:
    """What the service was sent, as our own side's request."""

    def text(message: Any) -> str:
        content = message["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)

    system = "\n".join(text(each) for each in body["messages"] if each["role"] == "system")
    rest = [
        SimpleNamespace(parts=[SimpleNamespace(text=text(each))])
        for each in body["messages"]
        if each["role"] != "system"
    ]
    return SimpleNamespace(system=system, messages=rest)


def replied(text: str) -> Answer:
    base = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    delta = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
    stop = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 400, "completion_tokens": 60, "total_tokens": 460}}
    return as_events((None, base | delta), (None, base | stop), (None, base | usage), (None, "[DONE]"))


def helped(body: Any) -> Answer:
    """Gaps are judged rightly where the prompt has demonstrations; other stages get nothing they can use."""
    try:
        return replied(answering(has_demonstrations)(as_request(body)))
    except StopIteration:
        return replied("{}")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with service(respond=helped) as served:
        monkeypatch.setenv("MARCHWARDEN_API_BASE", f"{served.address}/v1")
        monkeypatch.setenv("MARCHWARDEN_MODEL_CALLS", "1")
        monkeypatch.delenv("MARCHWARDEN_PROGRAM")
        yield served


Compile = Callable[..., Ran]


@pytest.fixture
def compile(run: Run, file: Path, model: Service) -> Compile:
    """`marchwarden compile` of gaps on the labelled questions, with other options behind it."""
    fixed = ("--model", MODEL, "--stage", "gaps", "--questions", str(file), "--optimizer", "bootstrap")
    return lambda *more: run("compile", *fixed, "--whole", "0", *more)


def own() -> Path:
    return Path("~/.marchwarden/programs/openai-scripted-7b").expanduser()


def test_a_stage_that_is_better_is_put_in_place_and_shown(compile: Compile, run: Run, model: Service) -> None:
    code, out, err = compile("--effort", "light").__dict__.values()
    assert code == 0, err
    assert "gaps" in out
    assert "kept" in out
    assert "programs show" in err
    assert "gaps: bootstrap…" in err
    assert "gaps: compiled, on dev…" in err
    assert "Average Metric" not in out + err
    assert (own() / "program.json").exists()
    assert "gaps" in run("programs", "show", MODEL).out
    asked = len(model.received)
    again = compile("--effort", "light", "--resume", "--json")
    assert again.code == 0, again.err
    body = json.loads(again.out)
    assert body["program"]["stages"]["gaps"]["kept"]
    assert body["file"] == str(own() / "program.json")
    assert len(model.received) == asked


def test_an_interrupted_compile_exits_130_and_its_hint_goes_on(compile: Compile, run: Run, model: Service) -> None:
    def interrupting(body: Any) -> Answer:
        if len(model.received) == 9:
            os.kill(os.getpid(), signal.SIGINT)
        return helped(body)

    model.respond = interrupting
    ran = compile("--json")
    assert ran.code == 130, ran.err
    assert "interrupted" in ran.said
    json.loads(ran.out)
    command = next(line for line in ran.err.splitlines() if "To continue: " in line).partition("To continue: ")[2]
    model.respond = helped
    rest = run(*shlex.split(command)[1:])
    assert rest.code == 0, rest.err
    assert json.loads(rest.out)["program"]["stages"]["gaps"]["kept"]


def test_out_of_tokens_exits_1_and_its_hint_goes_on_with_more(compile: Compile, run: Run, model: Service) -> None:
    ran = compile("--token-budget", "9000")
    assert ran.code == 1, ran.err
    assert "Allow more with --token-budget" in ran.said
    assert not own().exists()
    spent = 460 * len(model.received)
    assert spent <= 9000
    assert "beside what is set aside for validation" in ran.said
    assert "gaps: uncompiled, on dev…" in ran.err
    command = ran.err.partition("To continue: ")[2].strip()
    assert "--token-budget 18000 --resume" in " ".join(command.split())


def test_a_service_that_is_gone_exits_1_without_a_stack_trace(compile: Compile, model: Service) -> None:
    model.respond = lambda body: as_json({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, 401)
    ran = compile()
    assert ran.code == 1
    assert "can't be asked" in ran.said
    assert "Traceback" not in ran.err
    assert len(model.received) <= 3


def test_a_model_none_of_whose_answers_can_be_read_exits_1_and_says_so(compile: Compile, model: Service) -> None:
    model.respond = lambda body: replied("lorem ipsum")
    ran = compile()
    assert ran.code == 1
    assert "no answer of the model could be read" in ran.said
    assert not own().exists()


def test_whole_questions_are_asked_with_and_without_the_program(run: Run, model: Service, file: Path) -> None:
    fixed = ("compile", "--model", MODEL, "--stage", "gaps", "--questions", str(file), "--optimizer", "bootstrap")
    ran = run(*fixed, "--effort", "light", "--whole", "2", "--json", "--jobs", "2")
    assert ran.code == 0, ran.err
    whole = json.loads(ran.out)["program"]["whole"]
    assert (whole["questions"], whole["split"]) == (2, "dev")
    assert whole["figures"]["tokens"]["compiled"] > 0
    again = run(*fixed, "--effort", "light", "--whole", "2", "--json", "--jobs", "2", "--resume")
    assert again.code == 0, again.err
    assert json.loads(again.out)["program"]["whole"] == whole


# Before anything is spent


def test_a_dry_run_needs_no_key_and_asks_nobody(run: Run, file: Path) -> None:
    fixed = ("compile", "--model", "anthropic/claude-x", "--stage", "gaps", "--questions", str(file), "--dry-run")
    ran = run(*fixed)
    assert ran.code == 0, ran.err
    assert "calls, at most" in " ".join(ran.out.split())
    assert "Nothing has been spent" in ran.out
    assert "Hours are guessed" in ran.out
    assert {len(decimals) for decimals in re.findall(r"\d\.(\d+)", ran.out)} == {2}, "hours and dollars have one form"
    body = json.loads(run(*fixed, "--json", "--token-budget", "5000").out)
    assert body["token_budget"] == 5000
    assert [each["stage"] for each in body["stages"]] == ["gaps"]
    assert body["stages"][0]["calls"] > 0
    assert body["stages"][0]["hours"] > 0
    assert body["hours_measured_on_calls"] == 0
    assert not Path("~/.marchwarden").expanduser().exists()


def test_a_dry_run_of_the_whole_says_what_it_may_take(run: Run, file: Path) -> None:
    ran = run(
        "compile",
        "--model",
        MODEL,
        "--stage",
        "whole",
        "--whole",
        "4",
        "--questions",
        str(file),
        "--dry-run",
        "--json",
    )
    assert ran.code == 0, ran.err
    body = json.loads(ran.out)
    assert body["optimizer"] == "bootstrap"
    (whole,) = body["stages"]
    assert (whole["stage"], whole["learn"], whole["choose"], whole["dev"]) == ("whole", 4, 4, 4)
    assert whole["calls"] == 12 * (8 + 2 * 4)
    assert body["whole"]["questions"] == 0, "they are counted above"


def test_a_missing_key_is_told_before_anything_is_done(run: Run) -> None:
    ran = run("compile", "--model", "anthropic/claude-x")
    assert ran.code == 1
    assert "needs a key" in ran.said
    assert not Path("~/.marchwarden").expanduser().exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--model", MODEL, "--stage", "nonsense"), "there is no such stage; there are plan, extract"),
        (("--model", MODEL, "--optimizer", "adam"), "adam"),
        (("--model", MODEL, "--effort", "some"), "some"),
        (("--model", MODEL, "--token-budget", "0"), "token-budget"),
        (("--model", MODEL, "--trials", "5"), "--trials has no effect on a model's stages"),
        (("--model", MODEL, "--optimizer", "bootstrap", "--reflection-model", MODEL), "writes no instructions"),
        (("--model", MODEL, "--optimizer", "gepa", "--reflection-model", "extractive"), "that is not a model"),
        (("--model", MODEL, "--stage", "whole", "--stage", "gaps"), "--stage whole can't be combined"),
        (
            ("--model", MODEL, "--stage", "whole", "--optimizer", "simba"),
            "takes the optimizers bootstrap, mipro, gepa",
        ),
        (("--model", MODEL, "--stage", "whole", "--max-calls", "9"), "--max-calls has no effect on --stage whole"),
        (("--model", MODEL, "--stage", "whole", "--whole", "0"), "--whole 0 can't be used"),
        (("--model", "extractive", "--stage", "gaps"), "--stage has no effect on the model-free stages"),
        (("--model", "extractive", "--optimizer", "gepa"), "--optimizer has no effect on"),
        (("--model", "extractive", "--token-budget", "5000"), "--token-budget has no effect on"),
        (("--model", "extractive", "--jobs", "2"), "--jobs has no effect on"),
    ],
)
def test_options_that_say_nothing_are_wrong_usage(run: Run, options: tuple[str, ...], said: str) -> None:
    ran = run("compile", *options)
    assert ran.code == 2
    assert said in ran.said
    assert ran.out == ""


def test_questions_without_one_of_the_splits_are_refused(run: Run, tmp_path: Path, file: Path) -> None:
    only = tmp_path / "only.jsonl"
    only.write_text("".join(line + "\n" for line in file.read_text().splitlines() if '"split":"train"' in line))
    ran = run("compile", "--model", MODEL, "--questions", str(only), "--dry-run")
    assert ran.code == 1
    assert "no question of the split dev" in ran.said


def test_nothing_to_resume_is_told(compile: Compile, model: Service) -> None:
    ran = compile("--resume")
    assert ran.code == 1
    assert "no compile with these options" in ran.said
    assert "leave out --resume" in ran.said
    assert model.received == []


def test_a_place_that_can_not_be_written_is_told_before_anything_is_spent(
    compile: Compile, model: Service, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    ran = compile("--out", str(tmp_path / "file" / "program"))
    assert ran.code == 2
    assert "--out" in ran.said
    assert model.received == []


def test_two_compiles_of_one_program_do_not_run_at_once(compile: Compile, model: Service) -> None:
    from marchwarden.optimization.checkpoint import lock_folders

    with lock_folders(Path("~/.marchwarden/compiles").expanduser(), own()):
        ran = compile()
    assert ran.code == 1
    assert "another compile is already running" in ran.said
    assert model.received == []


def test_going_on_is_the_same_command_with_twice_of_what_it_ran_short_of() -> None:
    command = ["/bin/marchwarden", "compile", "--resume", "--out", "a b", "--token-budget", "5000", "--max-calls=7"]
    same = "marchwarden compile --out 'a b' --token-budget 5000 --max-calls=7 --resume"
    assert going_on(command) == same
    assert going_on(command, "--token-budget") == same.replace("5000", "10000")
    assert going_on(command, "--max-calls") == same.replace("=7", "=14")


def test_help_tells_of_every_option_and_its_examples_are_commands(run: Run) -> None:
    ran = run("compile", "--help")
    assert ran.code == 0
    for option in ("--stage", "--optimizer", "--token-budget", "--whole", "--resume", "--dry-run", "--trials"):
        assert option in ran.out
    examples = [line.strip(" │") for line in ran.out.splitlines() if line.strip(" │").startswith("marchwarden comp")]
    assert len(examples) >= 5
    command: Any = typer.main.get_command(app)
    for example in examples:
        command.commands["compile"].make_context("compile", shlex.split(example)[2:])
