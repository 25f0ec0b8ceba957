"""How often the window that ranks first for a question about a table holds the cell that answers it, with its heads.

    python -m evals.reading.tables --path data/tables-wtq [--every 10]

The tables are WikiTableQuestions' (Pasupat and Liang, 2015), each read as a page of its own. Asked are the questions
whose answer is one cell that stands in its table once; those that count or add have none. A cell has its heads where
the name of its column is in a quoted passage or its heading. The baseline ranks the same windows by BM25.
"""

from __future__ import annotations

import argparse
import csv
import html
import io
import statistics
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from marchwarden.evidence.relevance import PageTerms, Relevance
from marchwarden.ledger import Aspect
from marchwarden.observations import Page, Passage
from marchwarden.reading.page import read_page
from marchwarden.text.ranking import rank_terms, terms


@dataclass(frozen=True)
class Question:
    text: str
    rows: list[list[str]]
    """The table's rows, the names of its columns first."""
    row: int
    column: int


def questions(folder: Path) -> Iterator[Question]:
    """Yield the questions that one cell answers."""
    with tarfile.open(folder / "tables.tar.xz") as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive if member.isfile())
        tables = {name: _rows(file.read().decode("utf-8")) for name, file in files if file}
    with (folder / "dev.tsv").open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            rows = tables.get(line["context"], [])
            wanted = line["targetValue"].casefold().strip()
            places = [
                (row, column)
                for row, cells in enumerate(rows)
                for column, cell in enumerate(cells)
                if cell.casefold() == wanted
            ]
            if len(places) == 1 and places[0][0] > 0:
                yield Question(line["utterance"], rows, *places[0])


def _rows(text: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(text), escapechar="\\", doublequote=False)
    return [[" ".join(cell.split()) for cell in row] for row in rows]


def page_of(question: Question) -> Page | None:
    lines = [
        "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        for row, tag in zip(question.rows, ["th", *["td"] * len(question.rows)], strict=False)
    ]
    markup = f"<main><h1>Table</h1><table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table></main>"
    page = read_page(markup.encode(), url="https://example.org/table", content_type="text/html; charset=utf-8")
    return page if isinstance(page, Page) else None


@dataclass(frozen=True)
class Found:
    quotable: bool
    """True where the cell is in a passage below the name of its column."""
    first: bool
    """True where the window that ranks first holds the cell and the name of its column."""
    first_by_bm25: bool
    """The same for the window that BM25 ranks first, by its own words and the names of its columns."""
    characters: int
    """Length of the window that ranks first."""


def ask(question: Question) -> Found:
    page = page_of(question)
    if page is None:
        return Found(False, False, False, 0)
    aspect, read = Aspect(number=1, text=question.text), PageTerms(page)
    best = [window for _, window in Relevance(read, [aspect]).best(aspect, 1)]
    texts = [terms(f"{window.text} {window.passages[0].heading or ''}") for window in read.windows]
    scores = rank_terms(terms(question.text), texts)
    by_bm25 = [window for window, score in zip(read.windows, scores, strict=True) if score == max(scores)][:1]
    return Found(
        quotable=_has_cell(page.passages, question),
        first=any(_has_cell(window.passages, question) for window in best),
        first_by_bm25=any(_has_cell(window.passages, question) for window in by_bm25),
        characters=sum(len(window.text) for window in best),
    )


def _has_cell(passages: Sequence[Passage], question: Question) -> bool:
    value, name = question.rows[question.row][question.column], question.rows[0][question.column]
    return any(value in passage.text and name in f"{passage.heading or ''} {passage.text}" for passage in passages)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--path", type=Path, required=True, help="the folder of the collection")
    parser.add_argument("--every", type=int, default=1, help="one question in so many")
    given = parser.parse_args()
    chosen = list(questions(given.path))[:: given.every]
    found = [ask(question) for question in chosen]
    print(f"questions: {len(chosen)}")
    for name in ("quotable", "first", "first_by_bm25", "characters"):
        print(f"{name}: {statistics.fmean(getattr(each, name) for each in found):.3f}")


if __name__ == "__main__":
    main()
