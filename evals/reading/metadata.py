"""How well a page's title, author and day of publication are read, beside trafilatura, on the WCXB collection.

    python evals/reading/metadata.py --path data/extract-wcxb [--limit 100] [--faults title author published] [--json]

Titles and authors match where their words do, to an F1 of 0.8 and of 0.6 (labels add titles and places to names);
days to one day, since pages name time zones and labels don't. Precision counts what was found where nothing is
labelled; labels of authors and days are not complete, so that the figures are for comparing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from marchwarden.reading.decoding import decode
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.html.main_text import dated_texts, parse
from marchwarden.reading.html.metadata import read_metadata, seen_dates
from marchwarden.reading.html.notation.prepare import prepare

FIELDS = ("title", "author", "published")


@dataclass(frozen=True)
class Facts:
    title: str | None = None
    author: str | None = None
    published: date | None = None


@dataclass(frozen=True)
class LabelledPage:
    name: str
    url: str
    truth: Facts
    markup: str


def labelled_pages(folder: Path) -> Iterator[LabelledPage]:
    for file in sorted((folder / "dev" / "ground-truth").glob("*.json")):
        label = json.loads(file.read_text("utf-8"))
        truth = label["ground_truth"]
        facts = Facts(truth.get("title"), truth.get("author"), as_date(truth.get("publish_date") or ""))
        body = gzip.decompress((folder / "dev" / "html" / f"{file.stem}.html.gz").read_bytes())
        yield LabelledPage(file.stem, label["url"], facts, decode(body, "text/html"))


def ours(page: LabelledPage) -> Facts:
    tree = parse(page.markup)
    if tree is None:
        return Facts()
    metadata = read_metadata(tree, page.url)
    prepare(tree)
    dated, top = dated_texts(tree)
    published, _ = seen_dates(metadata, dated, page.url, top=top)
    return Facts(metadata.title, ", ".join(metadata.authors) or None, published)


def trafilaturas(page: LabelledPage) -> Facts:
    from trafilatura.metadata import extract_metadata

    found = extract_metadata(page.markup, default_url=page.url)
    return Facts(found.title, found.author, as_date(found.date or "")) if found is not None else Facts()


# Scores


def matches(field: str, found: object, truth: object) -> bool:
    if isinstance(found, date) and isinstance(truth, date):
        return abs((found - truth).days) <= 1
    return word_f1(str(found), str(truth)) >= {"title": 0.8, "author": 0.6}.get(field, 1.0)


def word_f1(one: str, other: str) -> float:
    left, right = (Counter(re.findall(r"\w+", text.casefold())) for text in (one, other))
    shared = (left & right).total()
    return 2 * shared / (left.total() + right.total()) if shared else 0.0


def figures(field: str, pairs: list[tuple[Facts, Facts]]) -> dict[str, float]:
    """Of what was found and what is labelled: precision, recall, F1."""
    values = [(getattr(found, field), getattr(truth, field)) for found, truth in pairs]
    right = sum(bool(found and truth) and matches(field, found, truth) for found, truth in values)
    precision = right / max(1, sum(found is not None for found, _ in values))
    recall = right / max(1, sum(truth is not None for _, truth in values))
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": round(precision, 3), "recall": round(recall, 3), "f1": round(f1, 3)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--path", type=Path, default=Path("data/extract-wcxb"))
    parser.add_argument("--limit", type=int)
    parser.add_argument("--faults", nargs="*", default=(), choices=FIELDS, help="print what was read otherwise")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if not given.path.exists():
        parser.error(f"{given.path} is not there; evals/reports/reading.md says what the collections are")
    logging.disable()
    pages = list(labelled_pages(given.path))[: given.limit]
    read = {"marchwarden": [ours(page) for page in pages], "trafilatura": [trafilaturas(page) for page in pages]}
    for number, page in enumerate(pages):
        for field in given.faults:
            found, theirs, truth = (
                getattr(each, field) for each in (*(read[name][number] for name in read), page.truth)
            )
            if not (found == truth or (found and truth and matches(field, found, truth))):
                print(f"{page.name} {field}: {found!r}, labelled {truth!r}, trafilatura {theirs!r}")
    truths = [page.truth for page in pages]
    scores = {
        name: {field: figures(field, list(zip(found, truths, strict=True))) for field in FIELDS}
        for name, found in read.items()
    }
    if given.json:
        print(json.dumps(scores))
        return
    for field in FIELDS:
        for name, by_field in scores.items():
            figure = by_field[field]
            print(f"{field:9} {name:11} " + "  ".join(f"{each} {value:.3f}" for each, value in figure.items()))


if __name__ == "__main__":
    main()
