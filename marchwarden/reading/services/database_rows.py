"""Rows of a database as a document: canonical bytes, and the page that they are.

The document is UTF-8 text: lines `# name: JSON` that say which statement gave the rows, when and from which schema;
then the rows as CSV (RFC 4180) under a line with the columns' names. `read_rows` needs nothing but these bytes.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.observations import Failure, FailureKind, Page, Passage, content_hash
from marchwarden.text.invisible import visible
from marchwarden.text.segmentation.sentences import Span

CONTENT_TYPE = 'text/csv; profile="database"'


@dataclass(frozen=True)
class RowSet:
    """Rows that one statement gave."""

    database: str
    """Name of the database in the user's settings."""
    tables: tuple[str, ...]
    statement: str
    says: str
    """The statement in words, made from it by a program."""
    schema: str
    """Hash of the tables and columns that the statement was written for."""
    read: datetime
    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Types of the columns by the database; empty where it tells none."""
    rows: tuple[tuple[str | None, ...], ...]
    """Values as text; None for NULL."""
    more: bool = False
    """True where the statement has more rows than are here."""


def write_rows(found: RowSet) -> bytes:
    """Return the document of a row set. The same rows, read at the same time, give the same bytes."""
    facts = {
        "database": found.database,
        "tables": list(found.tables),
        "says": found.says,
        "statement": found.statement,
        "schema": found.schema,
        "read": found.read.isoformat(timespec="seconds"),
        "columns": [list(pair) for pair in zip(found.columns, found.types or [""] * len(found.columns), strict=True)],
        "more": found.more,
    }
    head = "".join(f"# {name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in facts.items())
    lines = [_line(found.columns), *(_line(["" if cell is None else cell for cell in row]) for row in found.rows)]
    return (head + "\n" + "\n".join(lines) + "\n").encode("utf-8", "replace")


def _line(cells: Sequence[str]) -> str:
    written = io.StringIO()
    # An empty single cell would be an empty line, which csv.reader skips; the writer quotes it.
    csv.writer(written, lineterminator="").writerow([visible(cell) for cell in cells])
    return written.getvalue()


def read_rows(page: Page, body: bytes) -> Page | Failure:
    """Return the page of a document of rows: its text is the statement and the CSV, a passage for each row."""
    try:
        head, _, rows = body.decode("utf-8").partition("\n\n")
        facts = {}
        for line in head.splitlines():
            name, _, value = line.removeprefix("# ").partition(": ")
            facts[name] = json.loads(value)
        statement, says, read = str(facts["statement"]), str(facts["says"]), str(facts["read"])
        day = date.fromisoformat(read[:10])
    except (KeyError, ValueError, RecursionError):
        return Failure(FailureKind.NO_TEXT, "the document is not one of rows of a database")
    rows = rows.removesuffix("\n")
    text = f"{visible(statement)}\n\n{rows}"
    spans: list[Span] = []
    for start, end in _record_spans(text, names_at(statement)):
        # A record that is longer than an excerpt may be is cut into parts that end between words.
        while end - start > EXCERPT_LIMIT:
            cut = text.rfind(" ", start + 1, start + EXCERPT_LIMIT)
            cut = cut if cut > start else start + EXCERPT_LIMIT
            spans.append((start, cut))
            start = cut + (text[cut] == " ")
        if text[start:end].strip():
            spans.append((start, end))
    passages = [
        Passage(number, first, last, text[first:last], visible(says))
        for number, (first, last) in enumerate(spans, start=1)
    ]
    if len(passages) < 2:
        return Failure(FailureKind.NO_TEXT, f"the statement gave no rows: {statement}")
    return replace(
        page,
        media_type="text/csv",
        source="database",
        text=text,
        text_hash=content_hash(text.encode()),
        passages=tuple(passages),
        title=says,
        modified=day,
        query=statement,
    )


def _record_spans(text: str, start: int) -> Iterator[Span]:
    """Yield the records of the CSV from `start`: a line end inside quotation marks ends none."""
    quoted = False
    begin = start
    for place in range(start, len(text)):
        if text[place] == '"':
            quoted = not quoted
        elif text[place] == "\n" and not quoted:
            yield begin, place
            begin = place + 1
    if begin < len(text):
        yield begin, len(text)


def names_at(statement: str) -> int:
    """Return the offset in a page's text of the line with the columns' names."""
    return len(visible(statement)) + 2


def say_rows(excerpt: str, says: str) -> str:
    """Return an excerpt as a sentence: what the rows are, then each value beside the name of its column.

    All of its values are the excerpt's. One that does not begin with the line of the columns' names is returned as
    it is.
    """
    names, *lines = list(csv.reader(io.StringIO(excerpt))) or [[]]
    rows = [dict(zip(names, line, strict=False)) for line in lines if len(line) == len(names)]
    if not rows or not says:
        return excerpt
    if len(rows[0]) == 1:
        told = "; ".join(value or "(none)" for row in rows for value in row.values())
    else:
        told = "; ".join(", ".join(f"{name} {value or '(none)'}" for name, value in row.items()) for row in rows)
    return f"{says}: {' '.join(told.split())}."
