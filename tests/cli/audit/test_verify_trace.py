"""One verdict over a trace or a bundle, and the bundle."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from marchwarden.api import research_sync
from marchwarden.settings import load_settings
from tests.audit.calls import QUESTION, a_web
from tests.cli.conftest import Run


@pytest.fixture
def trace_id(tmp_path: Path) -> str:
    """The id of a real call's trace in the test's folder."""
    settings = load_settings(web=a_web(tmp_path / "web"), source="snapshot", model="extractive")
    return research_sync(QUESTION, settings=settings).trace_id


def test_a_trace_is_verified_and_then_its_bundle(run: Run, trace_id: str, tmp_path: Path) -> None:
    verified = run("verify", trace_id[:8])
    assert (verified.code, verified.err) == (0, "")
    assert "Verified: everything that could be checked holds." in verified.out
    bundle = tmp_path / "answer.zip"
    exported = run("export", trace_id[:8], "--bundle", str(bundle))
    assert (exported.code, exported.out) == (0, "")
    assert "answer.zip: " in exported.err
    assert run("verify", str(bundle)).code == 0
    told = json.loads(run("verify", str(bundle), "--json").out)
    assert told["verdict"] == "verified"
    assert {check["state"] for check in told["checks"]} == {"verified", "unchecked"}
    assert [check["check"] for check in told["checks"] if check["state"] == "unchecked"] == ["signature"]


def test_a_file_that_is_there_is_not_overwritten_unasked(run: Run, trace_id: str, tmp_path: Path) -> None:
    bundle = tmp_path / "answer.zip"
    bundle.write_text("mine")
    refused = run("export", "-b", str(bundle))
    assert refused.code == 2
    assert "already exists" in refused.said
    assert "its ending says what to write: .zip" in run("export", "-b", "answer.tar").said
    assert bundle.read_text() == "mine"
    assert run("export", "-b", str(bundle), "--force").code == 0
    assert bundle.read_bytes().startswith(b"PK")


def test_damaged_missing_newer_and_unchecked_have_words_and_codes_of_their_own(
    run: Run, trace_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "traces" / f"{trace_id}.jsonl"
    body = path.read_bytes()
    for changed, code, word in (
        (body.replace(b"342", b"999"), 1, "Damaged"),
        (b"".join(body.splitlines(keepends=True)[:-1]), 4, "Missing"),
        (body.replace(b'"format": 2', b'"format": 99'), 5, "Newer"),
    ):
        path.write_bytes(changed)
        ran = run("verify", trace_id)
        assert (ran.code, word in ran.out) == (code, True)


@pytest.mark.parametrize("name", ["answer.zip", "gone/answer", "3f2a.jsonl"])
def test_a_file_that_is_not_there_is_told_as_a_file(run: Run, name: str) -> None:
    ran = run("verify", name)
    assert (ran.code, ran.err.splitlines()[0]) == (1, f"Error: there is no file {name}")


def test_the_own_key_must_have_signed_the_own_traces(
    run: Run, trace_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    monkeypatch.setenv("MARCHWARDEN_SIGNING_KEY", str(key))
    ran = run("verify", trace_id)
    assert ran.code == 4
    assert "missing   signature: the trace is not signed" in ran.out
    settings = load_settings(web=tmp_path / "web", source="snapshot", model="extractive")
    signed = research_sync(QUESTION, settings=settings).trace_id
    ran = run("verify", signed)
    assert ran.code == 0
    assert 'verified  signature: Good "marchwarden" signature' in ran.out


def test_an_answer_is_not_lost_because_its_key_is_not_there(
    run: Run, trace_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_SIGNING_KEY", str(tmp_path / "none"))
    settings = load_settings(web=tmp_path / "web", source="snapshot", model="extractive")
    result = research_sync(QUESTION, settings=settings)
    assert result.citations
    ran = run("verify", result.trace_id)
    assert ran.code == 1
    assert "the key" in ran.said
