"""WiCE: claims of encyclopedia articles, and the whole page that each cites, as sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from marchwarden.evaluation.datasets.claims import WHAT, JudgedClaim, report
from marchwarden.evaluation.datasets.dataset_files import rows_of, sampled
from marchwarden.evaluation.datasets.shapes import DatasetReport, ScoredSet

FILE = "claim_dev.jsonl.gz"


class _Meta(BaseModel):
    id: str


class _Row(BaseModel):
    label: Literal["supported", "partially_supported", "not_supported"]
    claim: str
    evidence: list[str]
    meta: _Meta


def score(path: Path, limit: int | None = None) -> DatasetReport:
    """Score the grounding checker (see ScoredSet) on claims with the page that each cites."""
    # A claim that is partially supported counts as not supported: the gate must drop it, too.
    rows = sampled(rows_of(path, FILE, _Row), limit, lambda row: row.meta.id)
    claims = [JudgedClaim(row.claim, tuple(row.evidence), row.label == "supported") for row in rows]
    return report("wice", claims, ["partially supported claims count as not supported"])


WICE = ScoredSet(name="wice", what=f"WiCE: {WHAT}, by the whole page that is cited", expects=FILE, score=score)
