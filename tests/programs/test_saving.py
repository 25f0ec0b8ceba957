"""A program is written so that it is whole at every moment, whatever ends the writer."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from marchwarden import files
from marchwarden.errors import StorageError
from marchwarden.programs import PROGRAM, Program, load_program, save_program
from tests.cli.running import python
from tests.profiles import KILLS
from tests.programs.made import a_calibration, a_program, compiled, info, record, settings, stage_file

KEPT = ["extract", "gaps", "plan"]


def loaded(folder: Path) -> Program:
    program = load_program(settings(program=str(folder)))
    assert program is not None
    return program


def test_a_new_program_takes_the_place_of_the_old_and_leaves_nothing_of_it(tmp_path: Path) -> None:
    folder = a_calibration(a_program(tmp_path / "p", compiled(), compiled("gaps")))
    (folder / "notes.txt").write_text("mine")
    (folder / f".plan.01234567.json-{'0' * 32}").write_text("torn")
    a_program(folder, compiled(instructions="New."))
    assert loaded(folder).stages["plan"].instructions == "New."
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["calibration.json", "notes.txt", stage_file(folder).name, PROGRAM]


def test_the_records_have_name_and_hash_of_the_files_and_only_kept_ones_have(tmp_path: Path) -> None:
    kept = record(compiled().signature)
    left = record("x", kept=False, file="old.json", sha256="0" * 64)
    save_program(tmp_path, info({"plan": kept, "gaps": left}), [compiled()])
    stages = loaded(tmp_path).info.stages  # type: ignore[union-attr]
    assert stages["plan"].file == stage_file(tmp_path).name == f"plan.{str(stages['plan'].sha256)[:8]}.json"
    assert (stages["gaps"].file, stages["gaps"].sha256) == (None, None)


def test_what_the_record_keeps_must_be_what_is_given(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="gaps"):
        save_program(tmp_path, info({"gaps": record("x")}), [compiled()])
    assert not list(tmp_path.glob("*.json"))


def test_whatever_a_model_wrote_can_be_saved_and_read_again(tmp_path: Path) -> None:
    odd = compiled(
        instructions="half a pair \ud83d, a whole \ud83d\ude00", demos=[{"question\udc00": ["\udfff", None, 1e400]}]
    )
    a_program(tmp_path / "p", odd)
    stage = loaded(tmp_path / "p").stages["plan"]
    assert stage.instructions == "half a pair \ufffd, a whole 😀"
    assert list(stage.demos[0]) == ["question\ufffd"]


def test_a_folder_that_cannot_be_written_is_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="can't be written") as caught:
        a_program(tmp_path / "file" / "p")
    assert "--out" in str(caught.value.hint)


@pytest.mark.parametrize("step", [0, 1, 2])
def test_a_disk_that_is_full_at_any_step_leaves_the_old_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    folder = a_program(tmp_path / "p", compiled(), compiled("gaps"))
    before = loaded(folder)
    synced = 0

    def full(descriptor: int) -> None:
        nonlocal synced
        synced += 1
        if synced > step * 2:  # each file is synced, then its folder
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(StorageError, match="No space left") as caught:
            a_program(folder, compiled(instructions="New."), compiled("gaps", instructions="New."))
    assert "Free some space" in str(caught.value.hint)
    assert loaded(folder) == before
    assert not list(folder.glob(".*"))


_WITH_A_WRITER = """
import json, os, random, signal, sys, time
from pathlib import Path
from marchwarden.programs import load_program
from tests.programs.made import a_program, compiled, settings

folder = Path(sys.argv[1])

def save(version):
    words = f"Version {version}. " + "word " * 2000
    a_program(folder, *(compiled(each, instructions=words, signature="s") for each in ("plan", "gaps", "extract")))

def found():
    program = load_program(settings(program=str(folder)))
    return sorted({each.instructions.split(".")[0] for each in program.stages.values()}), program.in_force, len(program.notes)

def in_a_child(write):
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            write()
        finally:
            os._exit(0)
    return child
"""
"""The writer is a forked process: one that starts anew takes longer than all that it writes."""

_KILLED_AT_ANY_MOMENT = f"""{_WITH_A_WRITER}
def write_for_ever(saved):
    while True:
        save(time.monotonic_ns())
        os.write(saved, b".")

chance, states = random.Random(5), []
save(0)
for number in range({KILLS}):
    heard, saved = os.pipe()
    child = in_a_child(lambda: write_for_ever(saved))
    try:
        for _ in range(number % 3):
            os.read(heard, 1)
        time.sleep(chance.uniform(0.002, 0.04))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(heard)
    os.close(saved)
    states.append(found())
print(json.dumps(states))
"""

_KILLED_BEFORE_EACH_STEP = f"""{_WITH_A_WRITER}
def write_until(step):
    def on_step(event, arguments, seen=[0]):
        if event in ("open", "os.rename", "os.remove", "os.listdir", "os.scandir") and str(folder) in str(arguments[0]):
            seen[0] += 1
            if seen[0] > step:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(on_step)
    save("new")

states, ended = [], False
while not ended:
    save("old")
    child = in_a_child(lambda: write_until(len(states)))
    ended = os.waitpid(child, 0)[1] == 0
    states.append(found())
print(json.dumps(states))
"""


def states_of(script: str, folder: Path) -> list[tuple[list[str], list[str], int]]:
    ran = python(script, str(folder))
    assert ran.returncode == 0, ran.stderr.decode()
    return [tuple(each) for each in json.loads(ran.stdout)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_writer_that_is_killed_at_any_moment_leaves_the_old_program_or_the_new_one_whole(tmp_path: Path) -> None:
    """Each kill comes at a random moment of a loop that does nothing but save, after none, one or two of its saves."""
    states = states_of(_KILLED_AT_ANY_MOMENT, tmp_path / "p")
    assert len(states) == KILLS
    assert all((len(versions), stages, notes) == (1, KEPT, 0) for versions, stages, notes in states)
    assert len({versions[0] for versions, _, _ in states}) > 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_nor_does_a_kill_before_any_step_of_it_tear_a_program(tmp_path: Path) -> None:
    """The writer is killed before its first access to the folder, then before its second, and so on to the last."""
    states = states_of(_KILLED_BEFORE_EACH_STEP, tmp_path / "p")
    assert len(states) > 12  # three stages and the record are each written, synced and put in place; then old ones go
    assert all((stages, notes) == (KEPT, 0) for _, stages, notes in states)
    versions = [each for (each,), _, _ in states]
    assert versions == sorted(versions, reverse=True)
    assert {versions[0], versions[-1]} == {"Version old", "Version new"}


_READ_MEANWHILE = f"""{_WITH_A_WRITER}
def write_for_ever():
    while True:
        save(time.monotonic_ns())

save(0)
child = in_a_child(write_for_ever)
try:
    # On a busy machine the writer may hardly get a turn among 200 readings.
    states, last = [], time.monotonic() + 60
    while len(states) < 200 or (len({{version for each in states for version in each[0]}}) < 4 and time.monotonic() < last):
        states.append(found())
finally:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print(json.dumps(states))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_program_can_be_read_while_another_is_put_in_its_place(tmp_path: Path) -> None:
    states = states_of(_READ_MEANWHILE, tmp_path / "p")
    assert all((len(versions), stages, notes) == (1, KEPT, 0) for versions, stages, notes in states)
    assert len({versions[0] for versions, _, _ in states}) > 3
