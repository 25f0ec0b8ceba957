"""What doctor finds, and what it advises."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from marchwarden import research
from marchwarden.errors import ConfigurationError
from tests.cli.conftest import Run
from tests.programs import made
from tests.programs.made import MODEL

SECRET = "sk-ant-very-secret-0123456789"


def states(run: Run, *arguments: str) -> dict[str, tuple[str, str, str]]:
    """name → (state, detail, advice)"""
    found = json.loads(run("doctor", "--json", *arguments).out)
    return {each["name"]: (each["state"], each["detail"], each["advice"] or "") for each in found}


def test_without_keys_it_works_and_says_how_to_get_more(run: Run) -> None:
    ran = run("doctor")
    assert ran.code == 0
    flat = " ".join(ran.out.split())
    assert "note model none: answers consist of sentences from pages → To use a model, set ANTHROPIC_API_KEY" in flat
    assert "note search MARCHWARDEN_OFFLINE is set, so the frozen web" in flat
    assert "ok traces" in flat
    assert "pages on" in flat


def test_keys_are_said_to_be_there_and_never_shown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-" + SECRET)
    ran = run("doctor")
    assert ran.code == 0
    assert SECRET not in ran.out + ran.err
    assert "ANTHROPIC_API_KEY set" in ran.out
    assert "the live web, through a search service (tavily)" in ran.out


@pytest.mark.parametrize("key", ["ANTHROPIC_API_KEY", "TAVILY_API_KEY"])
@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_are_not_there_are_a_configuration_error_before_anything_is_asked(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str, content: str | None
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    monkeypatch.setenv(key, SECRET)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    found = states(run)["model" if key == "ANTHROPIC_API_KEY" else "search"]
    assert found[0] == "broken"
    assert found[1].startswith(f"SSL_CERT_FILE: {file}: ")
    assert "unset" in found[2]
    with pytest.raises(ConfigurationError, match="SSL_CERT_FILE"):
        asyncio.run(research("Who built it?", depth="shallow"))


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_was_meant(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODLE", "extractive")
    Path(".env").write_text("TAVILY_APIKEY=x\nMARCHWARDEN_DEBUG=0\nPATH_OF_OTHERS=y\n", encoding="utf-8")
    flat = " ".join(run("doctor").out.split())
    assert "note settings MARCHWARDEN_MODLE, TAVILY_APIKEY: no such setting" in flat
    assert "MARCHWARDEN_MODLE: did you mean MARCHWARDEN_MODEL?" in flat
    assert "TAVILY_APIKEY: did you mean TAVILY_API_KEY?" in flat


def test_a_line_of_the_env_file_that_is_ignored_is_named(run: Run) -> None:
    assert states(run)["settings"][1] == "read from the environment"
    file = Path(".env").absolute()
    Path(".env").write_text("MARCHWARDEN_DEBUG=0\n", encoding="utf-8")
    assert states(run)["settings"][:2] == ("ok", f"read from the environment and {file}")
    Path(".env").write_text("MARCHWARDEN_DEBUG=0\n\nthis is no setting\n", encoding="utf-8")
    assert states(run)["settings"][:2] == ("note", f"{file} line 3 is not NAME=value and is ignored")
    Path(".env").write_text("TAVILY_API_KEY\n# a comment\n=x\n", encoding="utf-8")
    ran = run("doctor")
    assert f"{file} lines 1, 3 are not NAME=value and are ignored" in " ".join(ran.out.split())
    assert "python-dotenv" not in ran.out + ran.err


def test_what_a_folder_can_not_set_is_named(run: Run, web: Path) -> None:
    Path(".env").write_text("MARCHWARDEN_TRACE_DIR=here\n", encoding="utf-8")
    state, detail, _ = states(run)["settings"]
    assert (state, "MARCHWARDEN_TRACE_DIR" in detail) == ("note", True)
    asked = run("ask", "Which crops grow well in Utah?", "--web", str(web), "--model", "extractive", "--verbose")
    assert ".env in this folder can't set MARCHWARDEN_TRACE_DIR" in asked.said
    assert f"Settings were read from the environment and {Path('.env').absolute()}" in asked.said
    assert not Path("here").exists()


def test_reading_by_words_or_by_meaning_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_SEMANTIC", "false")
    assert states(run)["reading"][1].startswith("by words")


@pytest.mark.parametrize(
    ("variables", "name", "detail", "advice"),
    [
        (
            {"MARCHWARDEN_MAX_SECONDS": "soon"},
            "settings",
            "MARCHWARDEN_MAX_SECONDS",
            "Correct it in the environment.",
        ),
        ({"MARCHWARDEN_MODEL": "anthropic/claude-sonnet-5-5"}, "model key", "needs one", "Set ANTHROPIC_API_KEY"),
        ({"MARCHWARDEN_SOURCE": "web"}, "search", "needs a key", "TAVILY_API_KEY"),
        ({"MARCHWARDEN_WEB": "nowhere"}, "frozen web", "nowhere", "MARCHWARDEN_WEB"),
        ({"MARCHWARDEN_TRACE_DIR": "file/traces"}, "traces", "can't be written", "MARCHWARDEN_TRACE_DIR"),
        ({"MARCHWARDEN_CACHE_DIR": "file"}, "caches", "can't be written", "MARCHWARDEN_CACHE_DIR"),
    ],
)
def test_what_is_broken_is_named_with_what_to_do(
    run: Run, variables: dict[str, str], name: str, detail: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    state, what, hint = states(run)[name]
    assert state == "broken"
    assert detail in what
    assert advice in hint
    assert run("doctor").code == 1


def test_the_program_in_force_is_named_with_what_it_was_fitted_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert states(run)["program"][:2] == (
        "ok",
        "none, as MARCHWARDEN_PROGRAM says: no stage is compiled, confidence is not calibrated",
    )
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    fitted = {"model_id": "extractive", "slope": 1, "intercept": 0, "questions": 70, "fitted_on": "shipped dev"}
    folder = Path.home() / ".marchwarden" / "programs" / "extractive"
    folder.mkdir(parents=True)
    file = folder / "calibration.json"
    file.write_text(json.dumps(fitted | {"labels": "x", "date": "2026-11-28"}))
    state, detail, _ = states(run)["program"]
    assert state == "ok"
    assert detail.startswith("extractive@")
    assert "calibrated on 70 answers from the frozen web to the questions of shipped dev, 2026-11-28" in detail
    file.write_text("{")
    state, detail, advice = states(run)["program"]
    assert (state, str(file) in detail) == ("note", True)
    assert "marchwarden calibrate" in advice
    monkeypatch.setenv("MARCHWARDEN_PROGRAM", str(folder))
    assert states(run)["program"][0] == "broken"
    monkeypatch.setenv("MARCHWARDEN_PROGRAM", "none")
    assert states(run)["program"][:2] == (
        "ok",
        "none, as MARCHWARDEN_PROGRAM says: no stage is compiled, confidence is not calibrated",
    )


def test_a_stale_program_is_named_with_the_reason_and_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
    monkeypatch.setenv("MARCHWARDEN_MODEL", MODEL)
    made.a_program(None, made.compiled(), made.compiled("gaps", signature="0123456789abcdef"))
    state, detail, advice = states(run)["program"]
    assert state == "note"
    assert "plan compiled, confidence is not calibrated. The compiled gaps of" in detail
    assert "made for other words or fields than gaps has now" in detail
    assert advice == f"marchwarden compile --model {MODEL} --stage gaps"
    monkeypatch.setenv("MARCHWARDEN_MODEL", "openai/some-model-3")
    state, detail, advice = states(run)["program"]
    assert f"the compiled stages of {MODEL} are used meanwhile" in detail
    assert "marchwarden compile --model openai/some-model-3" in advice


def test_a_model_that_nobody_knows_is_broken(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "MARCHWARDEN_MODEL", "nobody-knows-this"
    )  # with a provider, litellm is asked: five CPU seconds
    state, detail, advice = states(run)["model"]
    assert state == "broken"
    assert "nobody-knows-this" in detail
    assert advice


def test_it_leaves_no_folder_behind(run: Run, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    states(run)
    assert sorted(tmp_path.rglob("*")) == before


class _Refusing(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps({"error": {"message": f"bad key {SECRET}", "type": "authentication_error"}}).encode()
        self.send_response(401)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[str]:
    """A service that refuses every key."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_online_a_key_that_is_refused_is_broken(run: Run, refusing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_MODEL", "openai/some-model")
    monkeypatch.setenv("MARCHWARDEN_API_BASE", f"{refusing}/v1")
    monkeypatch.setenv("MARCHWARDEN_API_KEY", SECRET)
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-" + SECRET)
    monkeypatch.setenv("MARCHWARDEN_TAVILY_BASE_URL", refusing)
    found = states(run, "--online")
    assert found["model answers"][0] == "broken"
    assert found["search answers"][0] == "broken"
    assert SECRET not in json.dumps(found)


def test_online_without_a_model_asks_the_frozen_web(run: Run, web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    found = states(run, "--online")
    assert found["model answers"][:2] == ("ok", "no model is set")
    assert found["search answers"][0] == "ok"
    assert "snapshot answers" in found["search answers"][1]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_broken(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", str(closed))
    assert states(run)["traces"][0] == "broken"
