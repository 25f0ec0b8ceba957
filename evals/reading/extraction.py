"""How well the main text of pages is found, beside trafilatura: F1 of each kind of page, on public collections.

    python evals/reading/extraction.py aeb --path data/extract-aeb
    python evals/reading/extraction.py wcxb --path data/extract-wcxb [--half even] [--limit 50] [--jobs 2] [--json]
    python evals/reading/extraction.py fundus --path fundus/tests/resources/parser/test_data
    python evals/reading/extraction.py readability --path readability/test/test-pages
    python evals/reading/extraction.py trafilatura --path trafilatura/tests

aeb is measured as that collection does it: precision and recall of runs of four words, each page weighing the same.
The others are measured by F1 over words, the mean over pages. Pages whose main text nobody has written down are left
out. fundus is the news pages on which that library tests its parsers, one for each publisher: their text is what the
parser of the publisher finds, and their kind is the language that the page declares. readability is the pages and
texts of Mozilla's library of that name. trafilatura is the pages on which that library is measured, as it does that
itself: F1 over a few pieces of text of each page, of which some have to be there and others may not.
A page is read as it would be after a fetch; one that is refused (a wall, nothing to quote) counts as an empty text.
trafilatura leaves comments out, which is the better of its ways on both collections.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lxml import html

from marchwarden.observations import Failure
from marchwarden.reading.page import read_page

UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Letters of scripts without blanks between words, or with words of many endings: each counts as a word."""


@dataclass(frozen=True)
class Pieces:
    """Pieces of text that a page's main text has to hold, and others that it may not hold."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]


@dataclass(frozen=True)
class LabelledPage:
    name: str
    kind: str
    url: str
    truth: str | Pieces
    file: Path
    content_type: str = "text/html; charset=utf-8"

    def body(self) -> bytes:
        data = self.file.read_bytes()
        return gzip.decompress(data) if self.file.suffix == ".gz" else data

    @property
    def half(self) -> str:
        """even or odd, by its name: choices are fitted on the even half, and the odd one says what they are worth."""
        return ("even", "odd")[hashlib.sha256(self.name.encode()).digest()[0] % 2]


def aeb_pages(folder: Path) -> Iterator[LabelledPage]:
    truths = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    for name, truth in sorted(truths.items()):
        yield LabelledPage(name, "article", truth["url"], truth["articleBody"], folder / "html" / f"{name}.html.gz")


def wcxb_pages(folder: Path) -> Iterator[LabelledPage]:
    kinds = json.loads((folder / "metadata.json").read_text("utf-8"))["files"]
    for file in sorted((folder / "dev" / "ground-truth").glob("*.json")):
        label = json.loads(file.read_text("utf-8"))
        truth = label["ground_truth"].get("main_content")
        if truth:
            page = folder / "dev" / "html" / f"{file.stem}.html.gz"
            yield LabelledPage(file.stem, kinds[file.stem]["page_type"], label["url"], truth, page)


def fundus_pages(folder: Path) -> Iterator[LabelledPage]:
    """One page of a publisher for each time that its pages changed, with the expected text that fits it best."""
    for known in sorted(folder.glob("*/meta.info")):
        for name, about in sorted(json.loads(known.read_text("utf-8")).items()):
            file = known.parent / name
            expected = json.loads((known.parent / f"{name.rsplit('_', 3)[0]}.json").read_text("utf-8"))
            bodies = [each["body"] for each in expected.values() if each.get("body")]
            if not bodies or not file.exists():
                continue
            page = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
            declared = re.search(r"<html[^>]*?\blang\s*=\s*[\"']?([A-Za-z]+)", page)
            shown = _runs(html.fromstring(page.encode()).text_content(), 1)
            truth = max(map(_fundus_text, bodies), key=lambda text: (_runs(text, 1) & shown).total())
            yield LabelledPage(name, declared[1].lower() if declared else "undeclared", about["url"], truth, file)


def _fundus_text(body: dict[str, list[Any]]) -> str:
    parts = [part for section in body["sections"] for part in (*section["headline"], *section["paragraphs"])]
    return "\n".join([*body["summary"], *parts])


def readability_pages(folder: Path) -> Iterator[LabelledPage]:
    for page in sorted(folder.iterdir()):
        truth = html.fromstring((page / "expected.html").read_bytes().decode("utf-8", "replace")).text_content()
        yield LabelledPage(page.name, "article", "http://fakehost/test/page.html", truth, page / "source.html")


def trafilatura_pages(folder: Path) -> Iterator[LabelledPage]:
    for url, label in sorted(json.loads((folder / "evaldata.json").read_text("utf-8")).items()):
        files = (folder / each / label["file"] for each in ("cache", "eval"))
        truth = Pieces(tuple(label["with"]), tuple(label["without"]))
        # The pages are in many encodings.
        yield LabelledPage(url, "article", url, truth, next(filter(Path.exists, files)), "text/html")


# What two readers make of a page


def ours(page: LabelledPage) -> tuple[str, str | None]:
    """The text, and why the page was refused if it was."""
    found = read_page(page.body(), url=page.url, content_type=page.content_type)
    return ("", found.kind.value) if isinstance(found, Failure) else (found.text, None)


def trafilaturas(page: LabelledPage) -> str:
    from trafilatura import extract

    body = page.body()
    markup = body.decode("utf-8", "replace") if "charset" in page.content_type else body
    return extract(markup, include_comments=False) or ""


# The measures of the collections


@dataclass(frozen=True)
class Overlap:
    """Shares of what two texts have together, or numbers of pieces: in both, in ours or the right one alone."""

    both: float
    ours: float
    missing: float

    @property
    def precision(self) -> float:
        return self.both / (self.both + self.ours) if self.both else 0.0

    @property
    def recall(self) -> float:
        return self.both / (self.both + self.missing) if self.both else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.both / (2 * self.both + self.ours + self.missing) if self.both else 0.0


def overlap(text: str, truth: str | Pieces, *, run: int) -> Overlap:
    """Of runs of so many words: 1 is a bag of words, in which case does not count. Of pieces, their numbers."""
    if isinstance(truth, Pieces):
        there = " ".join(text.split())
        wanted, unwanted = (
            sum(" ".join(piece.split()) in there for piece in pieces) for pieces in (truth.wanted, truth.unwanted)
        )
        return Overlap(wanted, unwanted, len(truth.wanted) - wanted)
    one, other = (_runs(each if run > 1 else each.lower(), run) for each in (text, truth))
    both = (one & other).total()
    total = (one | other).total() or 1
    return Overlap(both / total, (one.total() - both) / total, (other.total() - both) / total)


def _runs(text: str, length: int) -> Counter[tuple[str, ...]]:
    words = re.findall(rf"[{UNSPACED}]|[^\W{UNSPACED}]+", text)
    return Counter(
        tuple(words[at : at + length]) for at in range(max(1, len(words) - length + 1)) if words[at : at + length]
    )


def mean_f1(overlaps: Sequence[Overlap]) -> float:
    return statistics.fmean(each.f1 for each in overlaps)


def f1_of_means(overlaps: Sequence[Overlap]) -> float:
    """F1 of mean precision, over the pages of which something was taken, and mean recall."""
    taken = [each.precision for each in overlaps if each.both + each.ours > 0]
    precision = statistics.fmean(taken) if taken else 0.0
    recall = statistics.fmean(each.recall for each in overlaps)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def f1_of_all(overlaps: Sequence[Overlap]) -> float:
    """F1 of what all pages have together: each piece weighs the same."""
    return Overlap(
        sum(each.both for each in overlaps),
        sum(each.ours for each in overlaps),
        sum(each.missing for each in overlaps),
    ).f1


@dataclass(frozen=True)
class Collection:
    pages: Callable[[Path], Iterator[LabelledPage]]
    run: int
    figure: Callable[[Sequence[Overlap]], float]


COLLECTIONS = {
    "aeb": Collection(aeb_pages, 4, f1_of_means),
    "wcxb": Collection(wcxb_pages, 1, mean_f1),
    "fundus": Collection(fundus_pages, 1, mean_f1),
    "readability": Collection(readability_pages, 1, mean_f1),
    "trafilatura": Collection(trafilatura_pages, 1, f1_of_all),
}


# Scores


@dataclass(frozen=True)
class Score:
    name: str
    kind: str
    ours: Overlap
    theirs: Overlap
    refused: str | None
    our_seconds: float
    their_seconds: float


def score(page: LabelledPage, run: int) -> Score:
    began = time.perf_counter()
    text, refused = ours(page)
    between = time.perf_counter()
    other = trafilaturas(page)
    ended = time.perf_counter()
    return Score(
        page.name,
        page.kind,
        overlap(text, page.truth, run=run),
        overlap(other, page.truth, run=run),
        refused,
        between - began,
        ended - between,
    )


def scores_of(
    collection: str, folder: Path, *, half: str | None = None, limit: int | None = None, jobs: int = 1
) -> list[Score]:
    """Of the collection that lies in `folder`: all its pages, or every n-th so that about `limit` are left."""
    chosen = [page for page in COLLECTIONS[collection].pages(folder) if half in (None, page.half)]
    chosen = chosen[:: max(1, len(chosen) // limit)] if limit else chosen
    rate = partial(score, run=COLLECTIONS[collection].run)
    if jobs == 1:
        return list(map(rate, chosen))
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(rate, chosen, chunksize=4))


@dataclass(frozen=True)
class Figure:
    kind: str
    pages: int
    refused: int
    ours: float
    theirs: float
    low: float
    high: float
    """The ends of the 95 % interval of ours − theirs, by resampling pages."""
    read: float
    """Ours − theirs over the pages that we did not refuse."""

    @property
    def difference(self) -> float:
        return self.ours - self.theirs


def figures(collection: str, scores: Sequence[Score]) -> list[Figure]:
    """One for each kind of page, and the last for all."""
    kinds = sorted({each.kind for each in scores})
    groups = [(kind, [each for each in scores if each.kind == kind]) for kind in kinds]
    return [_figure(collection, kind, group) for kind, group in [*groups, ("all", list(scores))]]


def _figure(collection: str, kind: str, scores: Sequence[Score]) -> Figure:
    figure = COLLECTIONS[collection].figure
    chance = np.random.default_rng(0)
    samples = [[scores[at] for at in chance.integers(len(scores), size=len(scores))] for _ in range(1000)]
    changes = [figure([each.ours for each in s]) - figure([each.theirs for each in s]) for s in samples]
    low, high = np.quantile(changes, [0.025, 0.975])
    read = [each for each in scores if each.refused is None]
    return Figure(
        kind,
        pages=len(scores),
        refused=len(scores) - len(read),
        ours=figure([each.ours for each in scores]),
        theirs=figure([each.theirs for each in scores]),
        low=float(low),
        high=float(high),
        read=figure([each.ours for each in read]) - figure([each.theirs for each in read]) if read else 0.0,
    )


def table(rows: Sequence[Figure]) -> str:
    lines = [
        "| kind of page | pages | refused | ours | trafilatura | difference | 95 % interval | of pages read |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.kind} | {row.pages} | {row.refused} | {row.ours:.3f} | {row.theirs:.3f} | {row.difference:+.3f} "
        f"| {row.low:+.3f} to {row.high:+.3f} | {row.read:+.3f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("collection", choices=COLLECTIONS)
    parser.add_argument("--path", type=Path, required=True, help="the folder of the collection")
    parser.add_argument("--half", choices=["even", "odd"], help="one half of the pages, by their names")
    parser.add_argument("--limit", type=int, help="about so many pages, spread over all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="each page's scores as JSON, a line a page")
    given = parser.parse_args()
    if not given.path.exists():
        parser.error(f"{given.path} is not there; evals/reports/reading.md says what the collections are")
    scores = scores_of(given.collection, given.path, half=given.half, limit=given.limit, jobs=given.jobs)
    if given.json:
        for each in scores:
            print(json.dumps(asdict(each)))
        return
    print(table(figures(given.collection, scores)))
    seconds = sum(each.our_seconds for each in scores), sum(each.their_seconds for each in scores)
    print(f"\nseconds: ours {seconds[0]:.1f}, trafilatura {seconds[1]:.1f}")


if __name__ == "__main__":
    main()
