"""Whatever a damaged trace holds, every command over it tells that, and none ends in an internal error."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.audit.calls import lines_of, make_call, written
from tests.cli.conftest import Run

Lines = list[dict[str, Any]]

COMMANDS = [
    ("replay",),
    ("verify",),
    ("export", "--bundle", "out.zip", "--force"),
    ("rerun",),
    ("traces",),
    ("history",),
    ("history", "tea", "museum.example"),
    ("show",),
    ("traces", "prune", "--older-than", "1d", "--keep-cited"),
]
DEEP: Any = "x"
for _ in range(450):
    DEEP = [DEEP]


@pytest.fixture(scope="module")
def a_call(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Path:
    """The folder of one call's trace."""
    folder = tmp_path_factory.mktemp("call")
    make_call(folder, cache_dir)
    return folder / "traces"


def _set(action: str, name: str, value: Any) -> Callable[[Lines], Lines]:
    """Return the damage of one field in the first line of an action; `...` drops it."""

    def damage(lines: Lines) -> Lines:
        line = next(line for line in lines if line["action"] == action)
        if value is ...:
            del line[name]
        else:
            line[name] = value
        return lines

    return damage


DAMAGES: dict[str, Callable[[Lines], Lines]] = {
    "a note that is none": _set("start", "program_notes", [None]),
    "a version of 400 digits": _set("start", "version", 10**399),
    "no question": _set("start", "question", ""),
    "a question for a page": _set("start", "question", {"a": [1]}),
    "a text for seconds": _set("start", "max_seconds", "long"),
    "a list for a sub-question": _set("plan", "aspects", [["tea"]]),
    "a step that is no number": _set("search", "step", None),
    "seconds of 400 digits": _set("search", "duration_sec", 10**399),
    "no hits": _set("search", "hits", None),
    "a number for a type": _set("fetch_url", "content_type", -1),
    "a number for a hash": _set("fetch_url", "content_hash", float("nan")),
    "another action": _set("fetch_url", "action", "x"),
    "an object for an action": _set("extract", "action", {}),
    "another address": _set("extract", "url", "http://["),
    "lists inside each other": _set("conclude", "state", DEEP),
    "no claims": _set("conclude", "claims", ...),
    "no time": _set("result", "timestamp", ...),
    "a list for a result": _set("result", "result", []),
    "no result": _set("result", "result", ...),
    "the end alone": lambda lines: lines[-1:],
    "the begin alone": lambda lines: lines[:1],
    "an empty line": lambda lines: [{}, *lines],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_trace_is_no_internal_error(run: Run, a_call: Path, tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "traces"
    shutil.copytree(a_call, folder)
    (path,) = folder.glob("*.jsonl")
    path.write_bytes(written(DAMAGES[damage](lines_of(path.read_bytes()))))
    for command in COMMANDS:
        ran = run(*command)
        assert "unexpected" not in ran.said, (command, ran.said)
    assert run("verify").code != 0


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_trace_that_ends_early_is_no_internal_error(run: Run, a_call: Path, tmp_path: Path, share: float) -> None:
    folder = tmp_path / "traces"
    shutil.copytree(a_call, folder)
    (path,) = folder.glob("*.jsonl")
    body = path.read_bytes()
    path.write_bytes(body[: int(len(body) * share)] + b"\0" * 512)
    for command in COMMANDS:
        assert "unexpected" not in run(*command).said
    assert json.loads(run("verify", "--json").out)["verdict"] != "verified"
