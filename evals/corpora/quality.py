"""How well a corpus is searched by words, by vectors, and by both fused, in each engine, on judged queries.

    python evals/corpora/quality.py ../shared/data --web WEB [--sets cacm hotpot pubmedqa real-web]

- cacm: the 52 queries that are judged; their relevant abstracts among others, `--cacm` in all, without the lists of
  citing numbers, which take longest to embed and say nothing.
- hotpot: 100 questions; relevant are the two articles that hold the evidence, among the 993 of these questions and
  as many of other articles as `--others` says.
- pubmedqa: abstracts, `--abstracts` of them; relevant is the one that a question was made from, a title.
- real-web: `--questions` of its dev split that have an answer; relevant are the pages of the evidence, which are
  searched among others, `--pages` in all. WEB is what ../shared/data/real-web/build.py makes.

nDCG@10 and recall@10, means over queries with 95 % intervals (bootstrap over queries); the difference of fused and
words is of the same queries. Each text is embedded once, whatever engine keeps its vector.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np

from marchwarden.corpus.corpora import Corpus, open_search
from marchwarden.corpus.engines.corpus_index import ENGINES, CorpusIndex, open_index
from marchwarden.corpus.indexing import Wanted, index_files
from marchwarden.evaluation.datasets import cacm
from marchwarden.text.embedding import Embedder

DEPTH = 10
_NUMBERS = re.compile(r"^[\d\s]+$", re.MULTILINE)
_MARKUP = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Set:
    files: list[Path]
    queries: list[tuple[str, frozenset[str]]]
    """Each query with the names of its documents."""
    name_of: Callable[[str, str], str]
    """Function from locator and title of a document to its name."""


def by_title(locator: str, title: str) -> str:
    return title


def lines(folder: Path, documents: dict[str, str]) -> list[Path]:
    file = folder / "documents.jsonl"
    file.write_text("".join(json.dumps({"title": each, "text": text}) + "\n" for each, text in documents.items()))
    return [file]


def cacm_set(shared: Path, folder: Path, most: int) -> Set:
    collection = cacm.load(shared / "ir-cacm")
    names = sorted({name for each in collection.queries for name in each.relevant})
    names += sorted(collection.pages.keys() - set(names))[: most - len(names)]
    texts = {name: _NUMBERS.sub("", _MARKUP.sub("", collection.pages[name].decode())) for name in names}
    return Set(lines(folder, texts), [(each.query, each.relevant) for each in collection.queries], by_title)


def hotpot_set(shared: Path, folder: Path, others: int) -> Set:
    documents: dict[str, str] = {}
    queries = []
    for line in (shared / "qa-hotpot-100/hotpot_distractor_100.jsonl").read_text().splitlines():
        row = json.loads(line)
        context = row["context"]
        documents |= {t: "".join(s) for t, s in zip(context["title"], context["sentences"], strict=True)}
        queries.append((row["question"], frozenset(row["supporting_facts"]["title"])))
    with gzip.open(shared / "corpus-wiki-vital/vital_articles_en.jsonl.gz", "rt", encoding="utf-8") as articles:
        for _, line in zip(range(others), articles, strict=False):
            article = json.loads(line)
            documents.setdefault(article["title"], article["extract"])
    return Set(lines(folder, documents), queries, by_title)


def pubmedqa_set(shared: Path, folder: Path, abstracts: int) -> Set:
    with gzip.open(shared / "qa-pubmedqa/ori_pqal.json.gz", "rt", encoding="utf-8") as read:
        rows = dict(list(json.load(read).items())[:abstracts])
    documents = {name: " ".join(row["CONTEXTS"]) for name, row in rows.items()}
    return Set(
        lines(folder, documents), [(row["QUESTION"], frozenset({name})) for name, row in rows.items()], by_title
    )


def real_web_set(shared: Path, web: Path, questions: int, most: int) -> Set:
    pages = [json.loads(line) for line in (web / "manifest.jsonl").read_text().splitlines()]
    file_of = {page["url"]: Path(page["file"]).name for page in pages if page["file"]}
    queries = []
    for line in (shared / "real-web/dev.jsonl").read_text().splitlines():
        row = json.loads(line)
        gold = {each["url"] for nugget in row["nuggets"] for each in nugget["evidence"]}
        if gold:
            queries.append((row["question"], frozenset(file_of[url] for url in gold)))
    queries = queries[:questions]
    searched = sorted({name for _, names in queries for name in names})
    searched += sorted(set(file_of.values()) - set(searched))[: most - len(searched)]
    return Set([web / "pages" / name for name in searched], queries, lambda locator, title: Path(locator).name)


def ranked_names(found: Iterator[tuple[str, str]], name_of: Callable[[str, str], str]) -> list[str]:
    return list(dict.fromkeys(name_of(locator, title) for locator, title in found))[:DEPTH]


def near(index: CorpusIndex, vector: bytes) -> Iterator[tuple[str, str]]:
    return ((each.locator, each.title) for each in index.find_near(vector, 10 * DEPTH))


def scores(names: Sequence[str], relevant: Collection[str]) -> tuple[float, float]:
    return cacm.ndcg(names, relevant), len(set(names) & set(relevant)) / len(relevant)


def interval(values: np.ndarray) -> str:
    drawn = np.random.default_rng(0).integers(len(values), size=(2_000, len(values)))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5])
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def measure(name: str, judged: Set, engine: str, root: Path, embedder: Embedder | None) -> None:
    """Print the figures of one set in one engine; by words alone where `embedder` is None."""
    corpus = Corpus(name, root / f"{name}-{engine}")
    with patch("marchwarden.corpus.chunks.embed", lambda text, role: _kept(embedder, text)):
        wanted = Wanted(engine, vectors=embedder is not None)
        report = index_files(corpus, judged.files, jobs=0, wanted=wanted)
    words, both = open_search(corpus), open_search(corpus, embedder)
    index = open_index(engine, corpus.index)
    rows: dict[str, list[tuple[float, float]]] = {"words": []}
    if embedder:
        rows |= {"vectors": [], "fused": []}
    for query, relevant in judged.queries:
        hits = {"words": ((each.locator, each.title) for each in words.find(query, DEPTH))}
        if embedder:
            hits["vectors"] = near(index, embedder.query_vector(query))
            hits["fused"] = ((each.locator, each.title) for each in both.find(query, DEPTH))
        for how, found in hits.items():
            rows[how].append(scores(ranked_names(iter(found), judged.name_of), relevant))
    table = {how: np.array(each) for how, each in rows.items()}
    if embedder:
        table["fused - words"] = table["fused"] - table["words"]
    print(f"{name}, {engine}: {report.documents} documents, {len(judged.queries)} queries", flush=True)
    for how, each in table.items():
        print(f"  {how:14} nDCG@10 {interval(each[:, 0])}  recall@10 {interval(each[:, 1])}", flush=True)


def _kept(embedder: Embedder | None, text: str) -> bytes:
    assert embedder is not None
    return bytes(embedder.vectors([text], "passage")[0].astype(np.float16).tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("shared", type=Path)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--sets", nargs="+", default=["cacm", "hotpot", "pubmedqa", "real-web"])
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--others", type=int, default=10_000)
    parser.add_argument("--cacm", type=int, default=3_204)
    parser.add_argument("--abstracts", type=int, default=1_000)
    parser.add_argument("--questions", type=int, default=65)
    parser.add_argument("--pages", type=int, default=398)
    parser.add_argument("--words", action="store_true", help="by words alone: nothing is embedded")
    parser.add_argument("--cache", type=Path, help="where vectors are kept for another run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        embedder = None if given.words else Embedder(given.cache or root / "cache.sqlite")
        # The second engine finds the vectors that the first one needed.
        for each in given.sets:
            folder = root / each
            folder.mkdir()
            judged = {
                "cacm": lambda: cacm_set(given.shared, folder, given.cacm),  # noqa: B023
                "hotpot": lambda: hotpot_set(given.shared, folder, given.others),  # noqa: B023
                "pubmedqa": lambda: pubmedqa_set(given.shared, folder, given.abstracts),  # noqa: B023
                "real-web": lambda: real_web_set(given.shared, given.web, given.questions, given.pages),
            }[each]()
            for engine in given.engines:
                measure(each, judged, engine, root, embedder)


if __name__ == "__main__":
    main()
