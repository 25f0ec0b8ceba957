"""The first command of a fresh installation, without a key but with a network: it answers from live sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import marchwarden
from tests.loopback_network import loopback_network

QUESTION = "Where was Douglas Adams born?"
CASSETTES = Path(__file__).parents[1] / "cassettes"
# Written by hand in the form of MediaWiki's answers and pages.
ARTICLE = (
    '<!doctype html><html lang="en"><head><title>Douglas Adams - Wikipedia</title>'
    '<meta name="generator" content="MediaWiki 1.43.0"><script>RLCONF={"wgRevisionId":1270000001};</script></head>'
    "<body><main><h1>Douglas Adams</h1><p>Douglas Adams was an English author, humorist and screenwriter, known for "
    "The Hitchhiker's Guide to the Galaxy.</p>"
    "<p>The family of Douglas Adams moved to London a few months after he was born.</p></main></body>"
)
FOUND = {"query": {"search": [{"ns": 0, "title": "Douglas Adams", "snippet": "Douglas Adams was an English author"}]}}
ENTITIES = {"search": [{"id": "Q42", "label": "Douglas Adams", "description": "English writer and humorist"}]}
NETWORK = {
    "en.wikipedia.org/w/api.php": ("application/json", json.dumps(FOUND).encode()),
    "en.wikipedia.org/wiki/Douglas_Adams": ("text/html; charset=utf-8", ARTICLE.encode()),
    "www.wikidata.org/w/api.php?action=wbsearchentities": ("application/json", json.dumps(ENTITIES).encode()),
    "www.wikidata.org/w/api.php?action=wbgetentities&props=info": (
        "application/json",
        (CASSETTES / "wikidata" / "q42.json").read_bytes(),
    ),
    "www.wikidata.org/w/api.php?action=wbgetentities&props=labels": (
        "application/json",
        (CASSETTES / "wikidata" / "labels.json").read_bytes(),
    ),
}


@pytest.fixture(autouse=True)
def _looks_for_the_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MARCHWARDEN_OFFLINE")
    monkeypatch.setenv("MARCHWARDEN_CACHE_DIR", str(tmp_path / "cache"))


def test_with_a_network_the_first_command_answers_from_live_sources_and_cites_them(tmp_path: Path) -> None:
    with loopback_network(NETWORK) as network:
        ran = marchwarden("ask", QUESTION, "--json", **network.variables(tmp_path))
    result = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stderr.decode()
    assert "Cambridge" in result["answer"]
    cited = {each["source"]: each for each in result["citations"]}
    assert cited["wikidata"]["raw_excerpt"] == "Douglas Adams was born in Cambridge."
    assert cited["wikidata"]["locator"] == "https://www.wikidata.org/wiki/Q42"
    assert cited["wikidata"]["version"] == "595492361"
    assert any(address.startswith("https://en.wikipedia.org/wiki/") for address in network.asked)
    assert b"frozen web" not in ran.stderr
