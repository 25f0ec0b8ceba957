"""Labelled pairs of claim and evidence from public data, for fitting only.

A folder holds the files as their repositories name them, `OWNER/NAME/PATH`. Nothing of them is in this repository or
in the package. A file that is missing is left out, and fit.py says so in the data sheet.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marchwarden.evidence.entailment.pair import split_sentences


@dataclass(frozen=True)
class LabelledPair:
    claim: str
    quotes: tuple[str, ...]
    supported: bool
    source: str
    """Name of the data set, or `pages` for pairs made from real pages."""
    kind: str
    group: str
    """Page or claim that the pair comes from: pairs of one group are never on both sides of a split."""
    title: str = ""
    """Title of the page that the quote is from, where it is known."""


FEVER_SYMMETRIC = "TalSchuster/FeverSymmetric/symmetric_v0.2/fever_symmetric_dev.jsonl"
FOOL_ME_TWICE = "google-research/fool-me-twice/dataset/dev.jsonl"
WICE_TOKENS = "ryokamoi/wice/data/non_supported_tokens/train.jsonl"
HEALTH_VER = "sarrouti/HealthVer/data/healthver_dev.csv"
CLIMATE_FEVER = "tdiggelm/climate-fever-dataset/dataset/climate-fever.jsonl"
BEGIN = "google/BEGIN-dataset/wow/begin_dev_wow.tsv"
ATTRIBUTION_BENCH = "OSU-NLP-Group/AttributionBench/data/dev_all_subset_balanced.jsonl"
BREAKING_NLI = "BIU-NLP/Breaking_NLI/breaking_nli_dataset.zip"
MONLI = "atticusg/MoNLI/pmonli.jsonl"
NEGATED_MONLI = "atticusg/MoNLI/nmonli_train.jsonl"
MED = "verypluming/MED/MED.tsv"

# Of data sets of one construction only so many pairs are taken, that they don't outweigh the rest. A guess.
_MOST_OF_ONE_CONSTRUCTION = 800
# Longer evidence is a page, not a quote.
_MAX_QUOTE_CHARS = 1500


def read_public_pairs(folder: Path, held_out: frozenset[str] = frozenset()) -> list[LabelledPair]:
    """Return the pairs of all data sets that are there. `held_out`: questions whose pairs others measure with."""
    readers = (
        _fever_symmetric, _fool_me_twice, _wice_tokens, _health_ver, _climate_fever, _begin, _breaking_nli, _monli,
        _med,
    )  # fmt: skip
    pairs = [pair for read in readers for pair in read(folder)]
    pairs += _attribution_bench(folder, held_out)
    return [pair for pair in pairs if pair.claim.strip() and sum(map(len, pair.quotes)) <= _MAX_QUOTE_CHARS]


def _rows(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    if file.suffix in (".csv", ".tsv"):
        separator = "," if file.suffix == ".csv" else "\t"
        quoting = csv.QUOTE_MINIMAL if file.suffix == ".csv" or "begin" in file.name else csv.QUOTE_NONE
        return list(csv.DictReader(io.StringIO(file.read_text("utf-8")), delimiter=separator, quoting=quoting))
    return [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]


def _plain(text: str) -> str:
    """Return a text without the blanks that tokenizers leave before full stops and in brackets."""
    text = (
        text.replace("-LRB-", "(").replace("-RRB-", ")").replace("``", '"').replace("''", '"').replace(" -- ", " – ")
    )
    text = re.sub(r"\s+([.,;:!?)%]|'s\b|n't\b)", r"\1", text)
    return re.sub(r"([(])\s+", r"\1", text).strip()


def _fever_symmetric(folder: Path) -> Iterator[LabelledPair]:
    for row in _rows(folder / FEVER_SYMMETRIC):
        quote, claim = _plain(row["evidence"]), _plain(row["claim"])
        yield LabelledPair(
            claim, (quote,), row["label"] == "SUPPORTS", "fever-symmetric", row["label"], f"fs{row['id']}"
        )


def _fool_me_twice(folder: Path) -> Iterator[LabelledPair]:
    for row in _rows(folder / FOOL_ME_TWICE):
        quotes = tuple(each["text"] for each in row["gold_evidence"])
        group = "fm" + row["wikipedia_page"]
        yield LabelledPair(row["text"], quotes, row["label"] == "SUPPORTS", "fool-me-twice", row["label"], group)


def _wice_tokens(folder: Path) -> Iterator[LabelledPair]:
    """Yield each partially supported claim, and what is left of it without the words that are not supported."""
    for row in _rows(folder / WICE_TOKENS):
        wanted = row["supporting_sentences"][0] if row["supporting_sentences"] else []
        quotes = tuple(row["evidence"][place] for place in wanted)
        if not quotes:
            continue
        group = "wi" + str(row.get("meta", {}).get("id", row["claim"]))[:40]
        yield LabelledPair(row["claim"], quotes, False, "wice-tokens", "partially", group)
        kept = [
            word for word, is_bad in zip(row["claim_tokens"], row["non_supported_spans"], strict=True) if not is_bad
        ]
        if len(kept) >= 0.5 * len(row["claim_tokens"]):
            yield LabelledPair(_plain(" ".join(kept)), quotes, True, "wice-tokens", "cut", group)


def _health_ver(folder: Path) -> Iterator[LabelledPair]:
    for row in _rows(folder / HEALTH_VER):
        quotes = tuple(split_sentences(row["evidence"]))
        yield LabelledPair(
            row["claim"].strip(),
            quotes,
            row["label"] == "Supports",
            "healthver",
            row["label"],
            "hv" + row["topic_ip"],
        )


def _climate_fever(folder: Path) -> Iterator[LabelledPair]:
    for row in _rows(folder / CLIMATE_FEVER):
        for each in row["evidences"]:
            # Others are told by one vote among several.
            votes = [vote for vote in each["votes"] if vote]
            if len(set(votes)) == 1 and (
                each["evidence_label"] != "NOT_ENOUGH_INFO" or each["evidence_id"][-1] in "02468"
            ):
                supported = each["evidence_label"] == "SUPPORTS"
                yield LabelledPair(
                    row["claim"],
                    (each["evidence"],),
                    supported,
                    "climate-fever",
                    each["evidence_label"],
                    "cf" + row["claim_id"],
                )


def _begin(folder: Path) -> Iterator[LabelledPair]:
    for row in _rows(folder / BEGIN):
        group = "be" + row["knowledge"][:40]
        claim = _plain(row["response"])
        if len(claim.split()) >= 5:
            yield LabelledPair(
                claim,
                (_plain(row["knowledge"]),),
                row["begin_label"] == "Fully attributable",
                "begin",
                row["begin_label"],
                group,
            )


def _attribution_bench(folder: Path, held_out: frozenset[str]) -> Iterator[LabelledPair]:
    for row in _rows(folder / ATTRIBUTION_BENCH):
        if row["question"].strip() in held_out:
            continue
        text = "\n".join(row["references"])
        quotes = tuple(part for line in text.splitlines() for part in split_sentences(line))
        claim = re.sub(r"\s*\[\d+\]|\*\*", "", row["claim"])
        supported = row["attribution_label"] == "attributable"
        yield LabelledPair(claim, quotes, supported, "attribution-bench", row["src_dataset"], "ab" + row["question"])


def _breaking_nli(folder: Path) -> Iterator[LabelledPair]:
    file = folder / BREAKING_NLI
    if not file.exists():
        return
    with zipfile.ZipFile(file) as archive:
        rows = [json.loads(line) for line in archive.read("data/dataset.jsonl").decode("utf-8").splitlines() if line]
    true = [row for row in rows if row["gold_label"] == "entailment"][:_MOST_OF_ONE_CONSTRUCTION]
    other = [row for row in rows if row["gold_label"] != "entailment"]
    step = len(other) // _MOST_OF_ONE_CONSTRUCTION
    for row in true + other[::step]:
        supported = row["gold_label"] == "entailment"
        yield LabelledPair(
            row["sentence2"], (row["sentence1"],), supported, "breaking-nli", row["category"], "bn" + row["sentence1"]
        )


def _monli(folder: Path) -> Iterator[LabelledPair]:
    for name in (MONLI, NEGATED_MONLI):
        rows = _rows(folder / name)
        for row in rows[:: max(1, len(rows) // (_MOST_OF_ONE_CONSTRUCTION // 2))]:
            supported = row["gold_label"] == "entailment"
            yield LabelledPair(
                row["sentence2"], (row["sentence1"],), supported, "monli", name[-12:-6], "mo" + row["sentence1"]
            )


def _med(folder: Path) -> Iterator[LabelledPair]:
    rows = [row for row in _rows(folder / MED) if row["gold_label"] in ("entailment", "neutral", "contradiction")]
    for row in rows[:: max(1, len(rows) // _MOST_OF_ONE_CONSTRUCTION)]:
        supported = row["gold_label"] == "entailment"
        yield LabelledPair(
            row["sentence2"], (row["sentence1"],), supported, "med", row["genre"], "me" + row["sentence1"]
        )


def read_questions(file: Path) -> frozenset[str]:
    """Return the questions of ExpertQA's validation part, which is measured with and so not fitted on."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return frozenset(json.loads(line)["question"].strip() for line in lines)
