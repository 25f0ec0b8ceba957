"""How well the abstract that answers a question is found among 1,000, on PubMedQA (questions of titles, abstracts).

    python evals/scholarly/pubmedqa.py --path data/qa-pubmedqa [--answers 100] [--json]

Each abstract, without its title and conclusion, is a page of a host of its own in a frozen web. R@1 is the share of
questions whose abstract is found first, MRR the mean of 1 / its rank among ten. `--answers N` has the first N
questions answered without a model, and counts those whose abstract is cited, and cited first.

The baseline is BM25 (bm25s 0.2, Lucene's form, English stop words, no stemming) over the same texts. Yes, no and
maybe need a model, and are not measured here.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import html
import json
import tempfile
from pathlib import Path
from typing import Any

from marchwarden import load_settings, research_sync
from marchwarden.contract import SourceFilter
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import Settings
from marchwarden.sources.snapshot_search import SnapshotSearch

_WANTED = 10


def host_of_abstract(pmid: str) -> str:
    return f"https://study-{pmid}.example/"


def write_web(questions: dict[str, dict[str, Any]], folder: Path) -> None:
    lines = []
    for pmid, each in questions.items():
        parts = "".join(
            f"<h2>{html.escape(label.capitalize())}</h2><p>{html.escape(text)}</p>"
            for label, text in zip(each["LABELS"], each["CONTEXTS"], strict=True)
        )
        page = f"<html><head><title>Study {pmid}</title></head><body><main>{parts}</main></body></html>"
        (folder / f"{pmid}.html").write_text(page, "utf-8")
        headers = {"content-type": "text/html"}
        lines.append({"url": host_of_abstract(pmid), "file": f"{pmid}.html", "status": 200, "headers": headers})
    (folder / "manifest.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


async def ranks_of_search(questions: dict[str, dict[str, Any]], settings: Settings) -> list[int | None]:
    """Return the rank of each question's abstract, from 1; None where it is not among ten."""
    search = SnapshotSearch(settings, FrozenWeb.load(settings.frozen_web))
    ranks = []
    for pmid, each in questions.items():
        outcome = await search.search(each["QUESTION"], max_results=_WANTED, source_filter=SourceFilter(None))
        urls = [hit.url for hit in outcome.hits]
        ranks.append(urls.index(host_of_abstract(pmid)) + 1 if host_of_abstract(pmid) in urls else None)
    await search.aclose()
    return ranks


def ranks_of_bm25(questions: dict[str, dict[str, Any]]) -> list[int | None]:
    import bm25s

    texts = [" ".join(each["CONTEXTS"]) for each in questions.values()]
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize([each["QUESTION"] for each in questions.values()], stopwords="en", show_progress=False)
    found, _ = retriever.retrieve(asked, k=_WANTED, show_progress=False)
    return [list(row).index(at) + 1 if at in row else None for at, row in enumerate(found)]


def figures(ranks: list[int | None]) -> dict[str, float]:
    return {
        "R@1": round(sum(rank == 1 for rank in ranks) / len(ranks), 3),
        "R@10": round(sum(rank is not None for rank in ranks) / len(ranks), 3),
        "MRR": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 3),
    }


def answered(questions: dict[str, dict[str, Any]], settings: Settings, most: int) -> dict[str, float]:
    cited = first = 0
    asked = list(questions.items())[:most]
    for pmid, each in asked:
        result = research_sync(each["QUESTION"], settings=settings, depth="shallow")
        locators = [citation.locator for citation in result.citations]
        cited += host_of_abstract(pmid) in locators
        first += locators[:1] == [host_of_abstract(pmid)]
    return {
        "questions": len(asked),
        "cited": round(cited / len(asked), 3),
        "cited first": round(first / len(asked), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--answers", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    questions = json.loads(gzip.decompress((given.path / "ori_pqal.json.gz").read_bytes()))
    with tempfile.TemporaryDirectory() as made:
        web, caches = Path(made) / "web", Path(made) / "caches"
        web.mkdir()
        write_web(questions, web)
        settings = load_settings(
            web=web,
            source="snapshot",
            model="extractive",
            semantic=False,
            cache_dir=caches,
            trace_dir=Path(made) / "traces",
        )
        report: dict[str, dict[str, float]] = {
            "search": figures(asyncio.run(ranks_of_search(questions, settings))),
            "BM25": figures(ranks_of_bm25(questions)),
        }
        if given.answers:
            report["answers"] = answered(questions, settings, given.answers)
    if given.json:
        print(json.dumps(report))
    else:
        for name, row in report.items():
            print(name, "  ".join(f"{figure} {value:g}" for figure, value in row.items()))


if __name__ == "__main__":
    main()
