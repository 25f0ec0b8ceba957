"""What ends a compile early: Ctrl-C, a service that is gone, a full disk, SIGKILL. What was proven stays, and going on
pays for nothing twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dspy import lm15

from marchwarden.errors import EvaluationError, StorageError
from marchwarden.lm.scripted import Reply
from marchwarden.optimization.checkpoint import create_checkpoint, find_checkpoint, identity_of, lock_folders
from marchwarden.programs import load_program, save_program
from tests.cli.running import ROOT
from tests.optimization.compiled import ONE_HALF, answering, is_the_stages, order, questions, run, settings, writing
from tests.profiles import IS_NIGHTLY, KILLS


def after(calls: int, error: BaseException, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A model that does well for so many calls; then the error comes, again and again."""
    asked = 0

    def reply(request: Any) -> Any:
        nonlocal asked
        asked += 1
        return error if asked > calls else answer(request)

    return reply


def stages_of(outcome: Any) -> dict[str, Any]:
    """What does not depend on the clock."""
    return {name: record.model_dump(exclude={"seconds"}) for name, record in outcome.info.stages.items()} | {
        "stages": outcome.stages
    }


# Ctrl-C


@pytest.mark.parametrize(
    ("optimizer", "jobs"),
    [
        *((optimizer, 2 if optimizer == "gepa" else 1) for optimizer in ONE_HALF),
        *([("random-search", 2), ("gepa", 1)] if IS_NIGHTLY else []),
    ],
)
def test_an_interrupted_compile_goes_on_with_the_calls_that_are_missing(
    tmp_path: Path, optimizer: str, jobs: int
) -> None:
    of = order(optimizer, jobs=jobs)
    whole, paid = run(tmp_path / "whole", of)
    calls = len(paid.engine.requests)
    phases = [3, 9, calls // 2, calls - 2] if (optimizer, jobs) == ("random-search", 1) else [calls // 2]
    for place in phases:
        folder = tmp_path / f"{place}"
        part, first = run(folder, of, after(place, KeyboardInterrupt(), writing()))
        assert part.stopped is not None, place
        assert part.stopped.is_interrupt
        assert "--resume" in str(part.stopped.hint)
        rest, second = run(folder, of)
        assert rest.stopped is None
        kept = len((folder / "work" / "calls.jsonl").read_text().splitlines())
        assert kept == calls
        assert len(second.engine.requests) == calls - second.recording.replayed
        assert len(second.engine.requests) >= calls - len(first.engine.requests)
        assert stages_of(rest) == stages_of(whole)


def test_what_was_found_before_an_interrupt_is_proven_where_the_model_still_answers(tmp_path: Path) -> None:
    helped, asked = answering(), 0

    def answer(request: Any) -> Any:
        nonlocal asked
        asked += 1
        return KeyboardInterrupt() if asked == 35 else helped(request)

    from marchwarden.optimization.optimizers import Effort

    of = order("random-search", effort=Effort(candidates=8, demos=2, train=8, choose=6, dev=8))
    outcome, _ = run(tmp_path, of, unsure(answer))
    assert outcome.stopped is not None
    assert outcome.stopped.is_interrupt
    assert outcome.info.stages["gaps"].kept
    assert "interrupted" in outcome.info.stages["gaps"].reason
    assert outcome.file is not None


def unsure(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Now and then it says nothing, so that no prompt is right on every example and a search goes on."""
    asked = 0

    def reply(request: Any) -> Any:
        nonlocal asked
        asked += 1
        said = answer(request)
        return said if asked % 5 or not isinstance(said, str) else "{}"

    return reply


def test_what_one_stage_proved_is_kept_where_the_next_is_interrupted(tmp_path: Path) -> None:
    gaps = writing()

    def answer(request: Any) -> Any:
        return gaps(request) if is_the_stages(request) else KeyboardInterrupt()

    outcome, _ = run(tmp_path, order("bootstrap", stages=("gaps", "discoveries")), answer)
    assert outcome.stopped is not None
    assert outcome.stopped.is_interrupt
    assert set(outcome.stages) == {"gaps"}
    assert load_program(settings().model_copy(update={"program": str(tmp_path / "out")}))


def test_no_call_is_running_when_a_search_with_many_threads_has_ended(tmp_path: Path) -> None:
    helped = writing()
    of = order("random-search", jobs=4)
    asked = 0

    def answer(request: Any) -> Any:
        nonlocal asked
        asked += 1
        return KeyboardInterrupt() if asked == 20 else Reply(helped(request), delay=0.05)

    outcome, paid = run(tmp_path, of, answer)
    made = len(paid.engine.requests)
    time.sleep(0.3)
    assert len(paid.engine.requests) == made
    assert paid.budget.tokens_held() == 0
    assert outcome.stopped is not None


def test_a_torn_last_line_is_asked_again(tmp_path: Path) -> None:
    of = order("bootstrap")
    whole, paid = run(tmp_path, of)
    calls = tmp_path / "work" / "calls.jsonl"
    calls.write_bytes(calls.read_bytes()[:-20])
    again, second = run(tmp_path, of)
    assert len(second.engine.requests) == 1
    assert stages_of(again) == stages_of(whole)
    assert len(calls.read_text().splitlines()) == len(paid.engine.requests)


# A service that is gone


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (lm15.TransportError("connection refused", retry_after=0.0), 0),
        (lm15.AuthError("invalid key sk-aaaaaaaaaa"), 12),
        (lm15.AuthError("invalid key sk-aaaaaaaaaa"), 24),
        (lm15.RateLimitError("slow down", retry_after=0.0), 12),
        (lm15.ServerError("down", retry_after=0.0), 24),
        (ConnectionError("no route"), 12),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Exception) else str(given),
)
def test_a_service_that_is_gone_ends_the_compile_and_is_no_score(
    tmp_path: Path, error: Exception, calls: int
) -> None:
    outcome, paid = run(tmp_path, order("random-search"), after(calls, error, answering()))
    assert outcome.stopped is not None
    assert "can't be asked" in outcome.stopped.reason
    assert outcome.stopped.short_of == ""
    record = outcome.info.stages["gaps"]
    assert record.compiled is None
    assert not record.kept
    assert outcome.file is None
    assert "sk-aaaa" not in outcome.stopped.reason
    assert len(paid.engine.requests) - calls <= 40
    rest, _ = run(tmp_path, order("random-search"), answering())
    assert rest.info.stages["gaps"].compiled == 1.0


def test_an_answer_that_the_service_failed_to_give_once_is_asked_for_again(tmp_path: Path) -> None:
    helped, asked = answering(), 0

    def answer(request: Any) -> Any:
        nonlocal asked
        asked += 1
        return lm15.TransportError("reset", retry_after=0.0) if 3 <= asked <= 5 else helped(request)

    outcome, _ = run(tmp_path, order("bootstrap"), answer)
    assert outcome.stopped is None
    assert outcome.info.stages["gaps"].valid_uncompiled == 1.0
    assert outcome.info.stages["gaps"].kept


@pytest.mark.parametrize("optimizer", ["gepa", "mipro"])
def test_a_model_that_writes_instructions_and_is_gone_ends_the_search(tmp_path: Path, optimizer: str) -> None:
    judge = answering(lambda request: False)

    def answer(request: Any) -> Any:
        return judge(request) if is_the_stages(request) else lm15.AuthError("no such key")

    outcome, paid = run(tmp_path, order(optimizer), answer)
    assert outcome.stopped is not None
    assert "can't be asked" in outcome.stopped.reason
    assert sum(not is_the_stages(request) for request in paid.engine.requests) <= 3


# The disk


def test_answers_that_can_not_be_kept_end_the_compile(tmp_path: Path) -> None:
    helped, asked = answering(), 0

    def answer(request: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 15:
            calls = tmp_path / "work" / "calls.jsonl"
            calls.rename(tmp_path / "aside")
            calls.mkdir()
        return helped(request)

    with pytest.raises(StorageError, match=r"calls\.jsonl") as caught:
        run(tmp_path, order("random-search"), answer)
    assert caught.value.hint
    (tmp_path / "work" / "calls.jsonl").rmdir()
    (tmp_path / "aside").rename(tmp_path / "work" / "calls.jsonl")
    _, paid = run(tmp_path, order("random-search"), answering())
    assert paid.recording.replayed == 14


def test_a_program_that_can_not_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("no folder")
    with pytest.raises(StorageError) as caught:
        run(tmp_path, order("bootstrap"))
    assert "--out" in str(caught.value.hint)
    assert (tmp_path / "out").read_text() == "no folder"
    (tmp_path / "out").unlink()
    outcome, paid = run(tmp_path, order("bootstrap"))
    assert paid.engine.requests == []
    assert outcome.file is not None


def test_a_folder_of_compiles_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "compiles").write_text("no folder")
    identity = identity_of(order(), questions("train"), questions("dev"))
    with pytest.raises(StorageError) as caught:
        create_checkpoint(tmp_path / "compiles", identity)
    assert caught.value.hint
    with pytest.raises(StorageError), lock_folders(tmp_path / "compiles", tmp_path / "out"):
        pass


# Attempts


def test_the_latest_attempt_of_the_same_order_is_gone_on_with(tmp_path: Path) -> None:
    mine = identity_of(order(), questions("train"), questions("dev"))
    others = identity_of(order("bootstrap"), questions("train"), questions("dev"))
    folders = [
        create_checkpoint(tmp_path, mine),
        create_checkpoint(tmp_path, mine),
        create_checkpoint(tmp_path, others),
    ]
    assert len(set(folders)) == 3
    assert find_checkpoint(tmp_path, mine) == folders[1]
    for field in ("seed", "effort", "stages"):
        changed = {"seed": 5, "effort": "other", "stages": ("plan",)}[field]
        with pytest.raises(EvaluationError, match="no compile with these options") as caught:
            find_checkpoint(tmp_path, mine.model_copy(update={field: changed}))
        assert caught.value.hint
    (folders[2] / "attempt.json").write_text("{torn")
    with pytest.raises(EvaluationError):
        find_checkpoint(tmp_path, others)


HOLDING = """
import sys, time
from pathlib import Path
from marchwarden.optimization.checkpoint import lock_folders
with lock_folders(Path(sys.argv[1]), Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_one_compiles_at_a_time_and_free_when_that_is_killed(tmp_path: Path) -> None:
    compiles, out = tmp_path / "compiles", tmp_path / "out"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(compiles), str(out)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(EvaluationError, match="another compile is already running") as caught,
            lock_folders(compiles, out),
        ):
            pass
        assert "--out" in str(caught.value.hint)
        with lock_folders(compiles, tmp_path / "other"):
            pass
    finally:
        holder.kill()
        holder.communicate()
    with lock_folders(compiles, out):
        pass
    assert not out.exists()


# SIGKILL


FORKING = """
import os, signal, sys, time
from pathlib import Path
from marchwarden.lm.scripted import Reply
from tests.optimization import compiled

of, helped = compiled.order("bootstrap"), compiled.answering()
for line in sys.stdin:
    folder, seconds = line.split()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            compiled.run(Path(folder), of, lambda request: Reply(helped(request), delay=0.01))
        finally:
            os._exit(0)
    if float(seconds) >= 0:
        time.sleep(float(seconds))
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(time.monotonic() - began, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_compile_that_is_killed_at_any_moment_leaves_the_old_program_or_the_new_one(tmp_path: Path) -> None:
    """Children of one process, forked so that nothing has to be imported again for each."""
    of = order("bootstrap")
    whole, _ = run(tmp_path / "whole", of, answering())
    old = program(tmp_path / "whole" / "out")
    old_info = old.info.model_copy(update={"date": "2020-01-01"})
    seen = set()
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FORKING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        bufsize=1,
    ) as forking:
        assert forking.stdin is not None
        assert forking.stdout is not None

        def life(folder: Path, seconds: float) -> float:
            print(folder, seconds, file=forking.stdin)
            return float(forking.stdout.readline())  # type: ignore[union-attr]

        length = life(tmp_path / "timed", -1)
        assert program(tmp_path / "timed" / "out").in_force == ["gaps"]
        for number in range(KILLS // 6):  # each is gone on with, which is half a CPU second
            folder = tmp_path / f"killed-{number}"
            save_program(folder / "out", old_info, list(old.stages.values()))
            life(folder, length * number / (KILLS // 6 - 1))
            left = program(folder / "out")
            assert not left.notes
            assert left.in_force == ["gaps"]
            seen.add(left.info.date == "2020-01-01")
            rest, _ = run(folder, of, answering())
            assert rest.stopped is None
            assert stages_of(rest) == stages_of(whole)
            assert program(folder / "out").info.date != "2020-01-01"
        forking.stdin.close()
    assert True in seen


def program(out: Path) -> Any:
    found = load_program(settings().model_copy(update={"program": str(out)}))
    assert found is not None
    return found


def test_the_folder_of_a_compile_holds_what_was_found_and_not_proven(tmp_path: Path) -> None:
    run(tmp_path, order("bootstrap"))
    found = json.loads((tmp_path / "work" / "gaps.found.json").read_text())
    assert found["stage"] == "gaps"
    assert found["demos"]
