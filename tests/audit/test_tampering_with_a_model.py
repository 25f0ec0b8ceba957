"""The tamper table of a call with a model: its words stand as recorded, and what it had no part in is made again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.audit.verdict import verdict
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace
from tests.agent.test_researcher_with_a_model import good, run
from tests.audit.calls import VIEWS, lines_of, sealed_again
from tests.audit.test_tampering import Forgery
from tests.webs import article

QUESTION = "When was the Halden Bridge built?"
PAGES: dict[str, Any] = {
    "https://bridges.halden-county.gov/halden": article(
        "Halden Bridge",
        "The Halden Bridge was built in 1931 over the river Tista.",
        "The Halden Bridge was built by hand: https://doi.org/10.1234/halden.77 is the paper on that.",
    ),
    "https://engineering.halden-college.edu/history": article(
        "A history of the Halden Bridge", "The Halden Bridge was built in 1954 over the river Tista."
    ),
    "https://archive.halden.example/when-the-halden-bridge-was-built": {
        "body": article("When the Halden Bridge was built", "When the Halden Bridge was built: members only."),
        "status": 403,
    },
}

Change = Callable[[Forgery], None]


def assessed(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change a list of the result in both places where it stands."""

    def changed(forged: Forgery) -> None:
        for told in (forged.result, forged.line("assess")):
            change(told[name])

    return changed


def without_conflicts(forged: Forgery) -> None:
    """Leave a disagreement out wherever it is told."""
    forged.line("conclude")["state"]["ledger"]["conflicts"] = []
    forged.result["confidence_factors"]["contradiction_detected"] = False
    for told in (forged.result, forged.line("assess")):
        told["gaps"] = [gap for gap in told["gaps"] if gap["category"] != "contradictory_sources"]
        told["discovery_events"] = [each for each in told["discovery_events"] if each["type"] != "contradiction"]


def estimate_of_nobody(forged: Forgery) -> None:
    forged.lines[:] = [line for line in forged.lines if line.get("stage") != "confidence"]


def claim_of_nobody(forged: Forgery) -> None:
    forged.lines[:] = [line for line in forged.lines if line.get("stage") != "synthesize"]


GAP = {"topic": "The colour of the bridge", "category": "source_not_found", "detail": "No page tells it."}

TABLE: dict[str, Change] = {
    "a closed page left out": assessed(
        "gaps", lambda gaps: gaps.remove(next(gap for gap in gaps if gap["category"] == "access_denied"))
    ),
    "a gap added": assessed("gaps", lambda gaps: gaps.append(GAP)),
    "the detail of a gap": assessed("gaps", lambda gaps: gaps[0].update(detail="All is known.")),
    "a disagreement left out": without_conflicts,
    "what a discovery points at": assessed("discovery_events", lambda events: events[0].update(identifier="10.1/x")),
    "the words of a discovery that the model was not asked for": assessed(
        "discovery_events", lambda events: events[-1].update(reason="They agree.")
    ),
    "an estimate that no model gave": estimate_of_nobody,
    "claims that no model gave": claim_of_nobody,
}


@pytest.fixture(scope="module")
def a_call(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    async def ask() -> Trace:
        return (await run(good, question=QUESTION, pages=PAGES)).trace

    folder = tmp_path_factory.mktemp("model")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MARCHWARDEN_TRACE_DIR", str(folder / "traces"))
        return anyio.run(ask)


def test_what_nobody_touched_is_verified(a_call: Trace) -> None:
    assert verdict(a_call.path, VIEWS).state == "verified"
    said = a_call.raw[-1]["result"]
    assert {gap["category"] for gap in said["gaps"]} == {"access_denied", "contradictory_sources"}
    assert {each["type"] for each in said["discovery_events"]} == {"related_research", "contradiction"}
    assert said["worded_by"] == "model"


@pytest.mark.parametrize("name", TABLE)
def test_a_change_is_noticed(a_call: Trace, tmp_path: Path, name: str) -> None:
    shutil.copytree(a_call.path.parent, tmp_path / "traces")
    path = tmp_path / "traces" / a_call.path.name
    forged = Forgery(lines_of(path.read_bytes()), Store(path.parent / "store"))
    TABLE[name](forged)
    path.write_bytes(sealed_again(forged.lines))
    assert verdict(path, VIEWS).state == "damaged"
