"""Words that the shell offers, asked for as bash asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.cli.configuration import completion
from marchwarden.corpus.corpora import corpora_folder
from tests.cli.conftest import Run
from tests.evaluation.made_runs import a_run


@pytest.fixture
def offered(run: Run, monkeypatch: pytest.MonkeyPatch) -> object:
    def ask(line: str) -> list[str]:
        monkeypatch.setenv("_MARCHWARDEN_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        return run().out.split()

    return ask


def test_sources_corpora_and_databases_are_offered_one_after_another(offered: object) -> None:
    for name in ("notes", "papers"):
        (corpora_folder() / name).mkdir(parents=True)
        (corpora_folder() / name / "catalogue.sqlite").touch()
    Path("~/.marchwarden/databases.toml").expanduser().write_text('[sales]\nurl = "/data/sales.sqlite"\n')
    assert callable(offered)
    assert offered("marchwarden ask --source wiki") == ["wikipedia", "wikidata"]
    assert offered("marchwarden ask --source wikipedia,wiki") == ["wikipedia,wikidata"]
    assert offered("marchwarden ask --source corpus:") == ["corpus:notes", "corpus:papers"]
    assert offered("marchwarden ask --source web,db") == ["web,db:sales"]
    assert offered("marchwarden index --name p") == ["papers"]


def test_calls_are_offered_wherever_one_is_named(offered: object, a_trace: str) -> None:
    assert callable(offered)
    for command in (
        "show",
        "replay",
        "open",
        "export",
        "verify",
        "rerun",
        "check",
        "ask --again",
        "ask -c",
        "chat -c",
    ):
        assert offered(f"marchwarden {command} {a_trace[:2]}") == [a_trace], command
    assert offered("marchwarden show zz") == []


def test_models_runs_settings_and_keys_are_offered(
    offered: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(offered)
    program = Path("~/.marchwarden/programs/openai-m").expanduser()
    program.mkdir(parents=True)
    (program / "program.json").write_text(json.dumps({"model_id": "openai/m"}))
    monkeypatch.setenv("MARCHWARDEN_MODEL", "openai/own")
    assert offered("marchwarden ask --model openai/") == ["openai/own", "openai/m"]
    a_run(Path("runs/dev"), [])
    assert offered("marchwarden eval report run") == ["runs/"]
    assert offered("marchwarden eval compare runs/") == ["runs/dev"]
    assert offered("marchwarden config get max_s") == ["max_seconds"]
    assert offered("marchwarden keys set an") == ["anthropic"]


def test_nothing_is_offered_where_nothing_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", "~no-such-user/traces")
    Path(".env").write_bytes(b"\xff")
    Path("~/.marchwarden").expanduser().mkdir()
    Path("~/.marchwarden/corpora").expanduser().touch()
    assert completion.complete_trace("") == completion.complete_corpus("") == completion.complete_run("x") == []
    assert "extractive" in completion.complete_model("")
