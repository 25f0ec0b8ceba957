"""Recall of evidence for scientific claims, by the labels of people: Citation-Integrity and HealthVer.

    python evals/scholarly/claims.py citation-integrity --path DIR [--calls 200]
    python evals/scholarly/claims.py healthver --path DIR

Both sets are SciFact-like: a claim, and statements of papers that people labelled as supporting or refuting it. They
are not shipped; where they are from stands in evals/reports/scholarly.md.

citation-integrity  `corpus.jsonl` and `claims_test.jsonl` in SciFact's form. A page is a cited article: its sentences
                    that the set holds. With `--calls`, the share of claims with a labelled sentence in what a call
                    without a model cites, and in all that it picked from the pages. BM25 may choose as many
                    sentences of all articles.
healthver           `healthver_test.csv`. A page is a statement. Recall is the share of a claim's labelled statements
                    among ten, as a mean over claims.

The interval is that of 1,000 bootstrap samples, 95 %. BM25 is bm25s 0.2: Lucene's form, English stop words.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import html
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from marchwarden import load_settings, research_sync
from marchwarden.contract import SourceFilter
from marchwarden.evaluation.scoring.bootstrap import mean_interval
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import Settings
from marchwarden.sources.snapshot_search import SnapshotSearch

_WANTED = 10
_QUESTION_CHARS = 500


@dataclass(frozen=True)
class Claim:
    text: str
    pages: frozenset[str]
    """Names of the pages that hold evidence."""
    sentences: frozenset[str] = frozenset()
    """Labelled sentences; empty where a page is one."""


@dataclass(frozen=True)
class LabelledSet:
    pages: dict[str, list[str]]
    """Sentences of each page, by its name."""
    claims: list[Claim]


def read_citation_integrity(folder: Path) -> LabelledSet:
    documents = {each["doc_id"]: each["abstract"] for each in _lines(folder / "corpus.jsonl")}
    pages: dict[str, dict[str, None]] = {}
    for number, sentences in documents.items():
        # A document holds the five sentences of an article that are nearest to one claim; its number begins with the
        # article's.
        pages.setdefault(f"article-{number // 1000}", {}).update(dict.fromkeys(sentences))
    claims = []
    for each in _lines(folder / "claims_test.jsonl"):
        found = {
            (int(number), sentence)
            for number, labels in each["evidence"].items()
            for label in labels
            for sentence in label["sentences"]
        }
        if found:
            text = " ".join(re.sub(r"[(\[]?<\|\w+\|>[)\]]?", " ", each["claim"]).split())
            named = frozenset(f"article-{number // 1000}" for number, _ in found)
            claims.append(
                Claim(text[:_QUESTION_CHARS], named, frozenset(documents[number][at] for number, at in found))
            )
    return LabelledSet({name: list(sentences) for name, sentences in pages.items()}, claims)


def read_healthver(folder: Path) -> LabelledSet:
    pages: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    evidence: dict[str, set[str]] = {}
    with (folder / "healthver_test.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            statement = " ".join(row["evidence"].split())
            name = names.setdefault(statement, f"statement-{len(names)}")
            pages[name] = [statement]
            if row["label"] in ("Supports", "Refutes"):
                evidence.setdefault(" ".join(row["claim"].split()), set()).add(name)
    return LabelledSet(pages, [Claim(text[:_QUESTION_CHARS], frozenset(found)) for text, found in evidence.items()])


def _lines(file: Path) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def address_of(name: str) -> str:
    return f"https://{name}.example/"


def write_web(pages: dict[str, list[str]], folder: Path) -> None:
    lines = []
    for name, sentences in pages.items():
        parts = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
        page = f"<html lang='en'><head><title>Paper</title></head><body><main>{parts}</main></body></html>"
        (folder / f"{name}.html").write_text(page, "utf-8")
        headers = {"content-type": "text/html; charset=utf-8"}
        lines.append({"url": address_of(name), "file": f"{name}.html", "status": 200, "headers": headers})
    (folder / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


async def found_by_search(claims: Sequence[Claim], settings: Settings) -> list[list[str]]:
    """Return the names of the ten pages that are found for each claim, best first."""
    search = SnapshotSearch(settings, FrozenWeb.load(settings.frozen_web))
    found = []
    for claim in claims:
        outcome = await search.search(claim.text, max_results=_WANTED, source_filter=SourceFilter(None))
        found.append([hit.url.removeprefix("https://").removesuffix(".example/") for hit in outcome.hits])
    await search.aclose()
    return found


def ranked_by_bm25(texts: Sequence[str], queries: Sequence[str], most: int) -> list[list[int]]:
    """Return the places of the texts that fit each query best."""
    import bm25s

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(queries), stopwords="en", show_progress=False)
    found, _ = retriever.retrieve(asked, k=min(most, len(texts)), show_progress=False)
    return [[int(place) for place in row] for row in found]


def found_by_bm25(labelled: LabelledSet) -> list[list[str]]:
    names = list(labelled.pages)
    texts = [" ".join(sentences) for sentences in labelled.pages.values()]
    rows = ranked_by_bm25(texts, [claim.text for claim in labelled.claims], _WANTED)
    return [[names[place] for place in row] for row in rows]


def recall(claims: Sequence[Claim], found: list[list[str]], most: int) -> list[float]:
    """Return each claim's share of labelled pages among the first `most`, of as many as there can be."""
    pairs = zip(claims, found, strict=True)
    return [len(claim.pages & set(names[:most])) / min(most, len(claim.pages)) for claim, names in pairs]


def called_evidence(labelled: LabelledSet, settings: Settings, most: int) -> dict[str, list[float]]:
    """Ask the first `most` claims, and compare what is cited and picked with as many sentences by BM25.

    Calls that ran out of time, as on a busy machine, are left out.
    """
    sentences = [each for page in labelled.pages.values() for each in page]
    claims = labelled.claims[:most]
    rows = ranked_by_bm25(sentences, [claim.text for claim in claims], 40)
    figures: dict[str, list[float]] = {}
    for claim, row in zip(claims, rows, strict=True):
        result = research_sync(claim.text, settings=settings, depth="shallow")
        if result.cost_metadata.budget_exhausted:
            continue
        lines = _lines(settings.traces / f"{result.trace_id}.jsonl")
        picked = next(line for line in reversed(lines) if line["action"] == "conclude")["state"]["ledger"]["excerpts"]
        cited = [citation.raw_excerpt for citation in result.citations]
        figures.setdefault("calls that cite something", []).append(float(bool(cited)))
        for name, texts in (("cited", cited), ("picked", [each["text"] for each in picked])):
            quoted = " \n ".join(map(_letters, texts))
            count = sum(_letters(sentence) in quoted for sentence in sentences)
            ours = any(_letters(sentence) in quoted for sentence in claim.sentences)
            theirs = any(sentences[place] in claim.sentences for place in row[: max(1, count)])
            for figure, value in (("", ours), (", BM25", theirs), (", sentences", count)):
                figures.setdefault(f"{name}{figure}", []).append(float(value))
                if cited and name == "cited":
                    figures.setdefault(f"cited where something is{figure}", []).append(float(value))
    return figures


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def show(name: str, values: Sequence[float]) -> None:
    low, high = mean_interval(values) or (0.0, 0.0)
    print(f"{name:32} {sum(values) / len(values):.3f}  ({low:.3f} to {high:.3f})  n={len(values)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=("citation-integrity", "healthver"))
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--calls", type=int, default=0, metavar="N", help="Ask the first N claims, too.")
    given = parser.parse_args()
    labelled = (read_healthver if given.name == "healthver" else read_citation_integrity)(given.path)
    print(f"{len(labelled.pages)} pages, {len(labelled.claims)} claims with evidence")
    with tempfile.TemporaryDirectory() as made:
        web = Path(made) / "web"
        web.mkdir()
        write_web(labelled.pages, web)
        settings = load_settings(
            web=web,
            source="snapshot",
            model="extractive",
            cache_dir=Path(made) / "caches",
            trace_dir=Path(made) / "traces",
        )
        for by, found in (
            ("search", asyncio.run(found_by_search(labelled.claims, settings))),
            ("BM25", found_by_bm25(labelled)),
        ):
            for most in (1, _WANTED):
                show(f"page among {most}, {by}", recall(labelled.claims, found, most))
        if given.calls and any(claim.sentences for claim in labelled.claims):
            for name, values in called_evidence(labelled, settings, given.calls).items():
                show(name, values)


if __name__ == "__main__":
    main()
