"""The worked example of the documentation: three servers in processes of their own, and one answer across them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from marchwarden.contract import ResearchResult
from tests.cli.running import ROOT, marchwarden
from tests.profiles import IS_NIGHTLY

PAGE = (ROOT / "docs/how-to/investigate.md").read_text(encoding="utf-8").partition("## A worked example")[2]
FILES = re.compile(r'^echo "(.+)" > (\w+)/(\w+\.md)$', re.MULTILINE)


@pytest.mark.skipif(not IS_NIGHTLY, reason="eleven processes, 12 CPU seconds: `make nightly` runs it")
def test_three_servers_are_started_and_asked(tmp_path: Path) -> None:
    """`marchwarden` is this checkout's, and no model is asked; else it is as the page says."""
    for text, folder, name in FILES.findall(PAGE):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text + "\n", encoding="utf-8")
        indexed = marchwarden("index", str(tmp_path / folder), "--name", folder)
        assert indexed.returncode == 0, indexed.stderr
    (written,) = re.findall(r"```json\n(.+?)```", PAGE, re.DOTALL)
    team = json.loads(written)
    passed_on = {"PYTHONPATH": str(ROOT), "MARCHWARDEN_MODEL": "extractive", "MARCHWARDEN_SEMANTIC": "0"}
    for entry in team["mcpServers"].values():
        assert entry["command"] == "marchwarden"
        entry |= {"command": sys.executable, "args": ["-m", "marchwarden", *entry["args"]], "env": passed_on}
    (tmp_path / "halden.json").write_text(json.dumps(team), encoding="utf-8")
    (question,) = re.findall(r'marchwarden investigate "(.+)" --team', PAGE)
    ran = marchwarden(
        "investigate", question, "--team", str(tmp_path / "halden.json"), "--json", MARCHWARDEN_MODEL="extractive"
    )
    assert ran.returncode == 0, ran.stderr
    result = ResearchResult.model_validate_json(ran.stdout)
    assert [word for word in ("1931", "salt company", "red") if word not in result.answer] == [], result
    assert {citation.researcher for citation in result.citations} == {"bridge", "ledger", "museum"}
    verified = marchwarden("verify", result.trace_id)
    assert verified.returncode == 0, verified.stdout
