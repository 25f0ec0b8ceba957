"""ExpertQA: claims of generated answers, with the evidence they name, judged by experts of the field."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel

from marchwarden.evaluation.datasets.claims import WHAT, JudgedClaim, in_sentences, report
from marchwarden.evaluation.datasets.dataset_files import rows_of, sampled
from marchwarden.evaluation.datasets.shapes import DatasetReport, ScoredSet

FILE = "rand_val.jsonl.gz"
# Judgements by experts that are about the evidence; claims with others are left out.
_SUPPORTED, _UNSUPPORTED = ("Complete",), ("Partial", "Incomplete")
# The number and address that precede the text of a piece of evidence.
_SOURCE = re.compile(r"^\[\d+\]\s*\S+\s*")
# Numbers of citations and bold type in the text of a claim.
_MARKUP = re.compile(r"\s*\[\d+\]|\*\*")


class _Claim(BaseModel):
    claim_string: str
    evidence: list[str]
    support: str | None


class _Answer(BaseModel):
    claims: list[_Claim]


class _Row(BaseModel):
    answers: dict[str, _Answer]


def score(path: Path, limit: int | None = None) -> DatasetReport:
    """Score the grounding checker (see ScoredSet) on judged claims that come with the text of their evidence."""
    claims = []
    for row in rows_of(path, FILE, _Row):
        answered = [(system, claim) for system, answer in row.answers.items() for claim in answer.claims]
        for system, claim in answered:
            evidence = tuple(part for text in claim.evidence for part in in_sentences(_SOURCE.sub("", text)))
            if evidence and claim.support in (*_SUPPORTED, *_UNSUPPORTED):
                text = _MARKUP.sub("", claim.claim_string)
                claims.append(JudgedClaim(text, evidence, claim.support in _SUPPORTED, system))
    return report("expertqa", sampled(claims, limit, lambda each: each.claim), _NOTES)


_NOTES = (
    "complete support against partial and incomplete; claims without judgement or without the text of their evidence "
    "are left out",
    "experts looked at the page behind the address, of which the evidence is a part: no checker of the text agrees "
    "fully",
    "the systems that wrote the claims differ in how often they are right and in how long their evidence is; "
    "_within_groups compares claims of one system only",
)

EXPERTQA = ScoredSet(
    name="expertqa",
    what=f"ExpertQA: {WHAT}, by the evidence that generated answers name",
    expects=FILE,
    score=score,
)
