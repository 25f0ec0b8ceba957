"""CACM: abstracts of a journal as small HTML pages, and queries with the pages that are relevant to them."""

from __future__ import annotations

import json
import math
import re
import tarfile
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import fmean
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from marchwarden.evaluation.datasets.dataset_files import UNREADABLE, file_in, foreign, sampled
from marchwarden.evaluation.datasets.shapes import DatasetReport, ScoredSet
from marchwarden.frozen_web.pages import MANIFEST, FrozenWeb

if TYPE_CHECKING:
    from marchwarden.frozen_web.page_index import PageIndex

PAGES, TOPICS, JUDGEMENTS = "cacm.tar.gz", "topics.cacm.txt", "qrels.cacm.txt"
# Ranks that nDCG looks at, the usual number.
DEPTH = 10
WHAT = "the search of frozen webs (tools/search) on judged queries"
WHAT_OF_FILES = "the search of your own files (tools/corpus) on judged queries"
# Ranks that the mean average precision looks at where files are searched, as TREC has it.
MOST = 1_000
# A query in TREC's markup: its number, then its text.
_TOPIC = re.compile(r"<DOC>\s*<DOCNO>\s*(\S+)\s*</DOCNO>(.*?)</DOC>", re.DOTALL)


@dataclass(frozen=True)
class Judged:
    """A query, and the names of the pages that are relevant to it."""

    topic: str
    query: str
    relevant: frozenset[str]


@dataclass(frozen=True)
class JudgedPages:
    pages: Mapping[str, bytes]
    """HTML by name."""
    queries: Sequence[Judged]


def score(path: Path, limit: int | None = None) -> DatasetReport:
    """Score the search of frozen webs (see ScoredSet). `limit` is of queries; all pages are searched."""
    collection = load(path)
    index = _index(collection.pages)
    return _report(
        "cacm",
        WHAT,
        collection,
        lambda query: [PurePosixPath(urlsplit(listing.url).path).stem for _, listing in index.find(query)],
        limit,
        _NOTES,
    )


def score_files(path: Path, limit: int | None = None) -> DatasetReport:
    """Score the search of the user's own files: each page is a file of a corpus. `limit` is of queries."""
    from marchwarden.corpus.corpora import Corpus, open_search
    from marchwarden.corpus.indexing import index_files

    collection = load(path)
    with tempfile.TemporaryDirectory() as name:
        corpus = Corpus("cacm", Path(name) / "corpus")
        files = Path(name) / "files"
        files.mkdir()
        for page, body in collection.pages.items():
            (files / f"{page}.html").write_bytes(body)
        index_files(corpus, [files], jobs=0)
        index = open_search(corpus)
        return _report(
            "cacm-files",
            WHAT_OF_FILES,
            collection,
            lambda query: [PurePosixPath(found.locator).stem for found in index.find(query, MOST)],
            limit,
            _NOTES_OF_FILES,
        )


def _report(
    name: str,
    what: str,
    collection: JudgedPages,
    search: Callable[[str], Sequence[str]],
    limit: int | None,
    notes: tuple[str, ...],
) -> DatasetReport:
    queries = sampled(collection.queries, limit, lambda judged: judged.topic)
    pairs = [(search(judged.query), judged.relevant) for judged in queries]
    if not pairs:
        return DatasetReport(name, what, 0, {}, notes)
    as_carried = [(names, {re.sub(r"-0+(?=\d)", "-", name) for name in relevant}) for names, relevant in pairs]
    figures = {
        "map": fmean(average_precision(*pair) for pair in pairs),
        f"ndcg@{DEPTH}": fmean(ndcg(*pair) for pair in pairs),
        "map_as_carried": fmean(average_precision(*pair) for pair in as_carried),
    }
    return DatasetReport(name, what, len(queries), figures, notes)


_AS_CARRIED = (
    "the judgements write CACM-756 for the page CACM-0756; map_as_carried leaves that, and such pages unfound: a "
    "published figure may be comparable with that one only"
)
_NOTES_OF_FILES = (
    "pages are indexed and searched as files of a corpus; means over the queries that are judged",
    _AS_CARRIED,
)
_NOTES = (
    "pages are crawled, indexed and searched as those of a frozen web; means over the queries that are judged",
    _AS_CARRIED,
)


# Figures


def average_precision(found: Sequence[str], relevant: Collection[str]) -> float:
    """Return the mean, over the relevant pages, of the precision at the rank where each was found, 0–1.

    A relevant page that was not found counts 0.
    """
    hits, total = 0, 0.0
    for rank, name in enumerate(found, start=1):
        if name in relevant:
            hits += 1
            total += hits / rank
    return total / len(relevant) if relevant else 0.0


def ndcg(found: Sequence[str], relevant: Collection[str], depth: int = DEPTH) -> float:
    """Return the gain of the relevant pages among the first `depth`, as a share of the best possible gain, 0–1.

    A page gains 1 / log2(rank + 1) (Järvelin and Kekäläinen 2002, with relevance yes or no).
    """
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(relevant)) + 1))
    gained = sum(1 / math.log2(rank + 1) for rank, name in enumerate(found[:depth], start=1) if name in relevant)
    return gained / ideal if ideal else 0.0


# Search


def _index(pages: Mapping[str, bytes]) -> PageIndex:
    """Build the index that the snapshot search would build of a frozen web of these pages."""
    from marchwarden.frozen_web.crawl import crawl
    from marchwarden.frozen_web.page_index import PageIndex

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = []
        for page, body in pages.items():
            (folder / f"{page}.html").write_bytes(body)
            lines.append(json.dumps({"url": f"https://cacm.example/{page}.html", "file": f"{page}.html"}))
        (folder / MANIFEST).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return PageIndex.build(crawl(FrozenWeb.load(folder)))


# Files


def load(path: Path) -> JudgedPages:
    """Return the collection in the folder `path`.

    Raises EvaluationError, which names the file, where one is missing or not of the set.
    """
    folder = path if path.is_dir() else path.parent
    file = file_in(folder, PAGES)
    try:
        with tarfile.open(file) as archive:
            bodies = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
            pages = {PurePosixPath(name).stem: body.read() for name, body in bodies if body}
    except (tarfile.TarError, *UNREADABLE) as error:
        raise foreign(file, str(error)) from None
    # The relevant pages by topic, from TREC's four columns: topic, iteration, page, relevance.
    relevant: dict[str, set[str]] = {}
    judgements = file_in(folder, JUDGEMENTS)
    for number, line in enumerate(_text(judgements).splitlines(), start=1):
        columns = line.split()
        if len(columns) != 4 or not re.fullmatch(r"-?\d+", columns[3]):
            raise foreign(judgements, f"line {number} is no judgement")
        if int(columns[3]) > 0:
            # The pages' files have four digits in their names, the judgements as few as they can.
            name = re.sub(r"\d+$", lambda digits: digits[0].zfill(4), columns[2])
            relevant.setdefault(columns[0], set()).add(name)
    queries = [
        Judged(topic, " ".join(query.split()), frozenset(found))
        for topic, query in _TOPIC.findall(_text(file_in(folder, TOPICS)))
        if (found := relevant.get(topic))
    ]
    if not queries:
        raise foreign(folder / TOPICS, f"no query of it is judged in {JUDGEMENTS}")
    return JudgedPages(pages, queries)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UNREADABLE as error:
        raise foreign(file, str(error)) from None


CACM = ScoredSet(
    name="cacm",
    what=f"CACM: {WHAT}, 3,204 abstracts",
    expects=f"{PAGES}, {TOPICS} and {JUDGEMENTS}",
    score=score,
)
CACM_FILES = ScoredSet(
    name="cacm-files",
    what=f"CACM: {WHAT_OF_FILES}, 3,204 abstracts",
    expects=CACM.expects,
    score=score_files,
)
