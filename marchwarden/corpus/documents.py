"""A file → documents as they are indexed; and the page that a document is, the same whenever it is read.

A file is one document; of a .jsonl file each line is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from pathlib import PurePath
from typing import Any

from marchwarden.corpus.catalogue import LineRecord
from marchwarden.http.addresses import web_address
from marchwarden.observations import ContentHash, Failure, FailureKind, Page, content_hash
from marchwarden.reading.files.docx import DOCX
from marchwarden.reading.files.epub import EPUB
from marchwarden.reading.files.plain_text import json_blocks, plain_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.page import read_page
from marchwarden.reading.passages import lay_out, visible
from marchwarden.text.ranking import guess_language, terms_of

JSON_LINES = "application/jsonl"
# The media type that a file is read as, by how its name ends.
KINDS = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".text": "text/plain",
    ".pdf": "application/pdf",
    ".docx": DOCX,
    ".epub": EPUB,
    ".json": "application/json",
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
}

# Of a file that is one document; of one line of a .jsonl file a tenth of it.
MOST_BYTES = 50_000_000
LONGEST_LINE = MOST_BYTES // 10

# Characters of a long text that are indexed together: the place that answers is found, not only the book.
PART = 6_000


@dataclass(frozen=True)
class Part:
    """What is indexed as one: a document, or a stretch of a long one."""

    locator: str
    title: str
    text_terms: str
    name_terms: str
    language: str
    stored: bytes
    """What a hit is made of, see `hit_fields`."""


@dataclass(frozen=True)
class Prepared:
    """What came of reading a file, or some lines of one."""

    parts: tuple[Part, ...] = ()
    documents: int = 0
    lines: tuple[LineRecord, ...] = ()
    failure: str | None = None
    hash: ContentHash | None = None
    """Of the file's bytes, where all of them were read."""
    is_known: bool = False
    """Whether that is the hash which the file had before: there is nothing to do."""


def kind_of(path: str) -> str | None:
    """The media type of a file that can be indexed; None for others."""
    return KINDS.get(PurePath(path).suffix.lower())


# Pages


def page_of(path: str, body: bytes, modified: date | None) -> Page | Failure:
    """The page that a file is. `modified`: the day of its last change, taken where it names none itself."""
    if not body.strip():
        return Failure(FailureKind.NO_TEXT, "the file is empty")
    page = read_page(body, url=path, content_type=kind_of(path))
    if isinstance(page, Failure):
        return page
    if not page.passages:
        return Failure(FailureKind.NO_TEXT, "there is no text in it")
    title = page.title or PurePath(path).stem
    return replace(page, title=visible(title), canonical_url=None, modified=page.modified or modified)


_TEXT_FIELDS = ("text", "content", "body", "abstract", "contents", "passage", "summary", "extract")
_TITLE_FIELDS = ("title", "headline", "name", "id", "_id", "doc_id", "docid")
_URL_FIELDS = ("url", "link", "source_url")
_DATE_FIELDS = ("date", "published", "published_at", "created")
_CHANGE_FIELDS = ("modified", "updated", "updated_at", "last_modified")


def page_of_line(locator: str, body: bytes, modified: date | None) -> Page | Failure:
    """The page that one line of JSON is: its text, below its title; any other object is read field by field."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return Failure(FailureKind.NO_TEXT, "the line is no JSON")
    fields = fields if isinstance(fields, dict) else {"text": fields} if isinstance(fields, str) else {"": fields}
    text = _field(fields, _TEXT_FIELDS)
    blocks = plain_blocks(text) if text else json_blocks(json.dumps(fields, ensure_ascii=False))
    language = _field(fields, ("language", "lang")) or None
    laid_out, passages = lay_out(blocks, language)
    if not passages:
        return Failure(FailureKind.NO_TEXT, "the line holds no text")
    return Page(
        url=locator,
        content_hash=content_hash(body),
        text=laid_out,
        text_hash=content_hash(laid_out.encode("utf-8")),
        passages=passages,
        media_type="application/json",
        title=" ".join(visible(_field(fields, _TITLE_FIELDS)).split()) or None,
        author=_field(fields, ("author",)) or None,
        published=as_date(_field(fields, _DATE_FIELDS)),
        modified=as_date(_field(fields, _CHANGE_FIELDS)) or modified,
        language=language,
        canonical_url=web_address(_field(fields, _URL_FIELDS)),
    )


def _field(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of these fields that says something."""
    found = (fields.get(name) for name in names)
    return next((str(each) for each in found if isinstance(each, str | int) and str(each).strip()), "")


def day_of(timestamp: float) -> date | None:
    """The day, UTC, of a file's time; None for what is no day."""
    try:
        return datetime.fromtimestamp(timestamp, timezone.utc).date()
    except (OverflowError, OSError, ValueError):
        return None


# Documents


def prepare_file(path: str, body: bytes, modified: date | None) -> Prepared:
    """A file that is one document."""
    page = page_of(path, body, modified)
    if isinstance(page, Failure):
        return Prepared(failure=page.detail, hash=content_hash(body))
    return Prepared(tuple(_parts(page, path)), 1, hash=content_hash(body))


def prepare_lines(path: str, first: int, start: int, body: bytes, modified: date | None) -> Prepared:
    """Whole lines of a .jsonl file, the first of which has this number and stands at this byte. A line that can't be
    read is left out; the failure names the first one."""
    parts: list[Part] = []
    records: list[LineRecord] = []
    failure = None
    for number, line in enumerate(body.split(b"\n"), start=first):
        if line.strip():
            locator = f"{path}#L{number}"
            page = page_of_line(locator, line, modified)
            if isinstance(page, Failure):
                failure = failure or f"line {number}: {page.detail}"
            else:
                parts += _parts(page, path)
                records.append(LineRecord(number, start, len(line), page.content_hash))
        start += len(line) + 1
    return Prepared(tuple(parts), len(records), tuple(records), failure)


def _parts(page: Page, path: str) -> Iterator[Part]:
    language = page.language or guess_language(page.text[:2_000])
    title = page.title or PurePath(path).stem
    stretches = list(_stretches(page))
    words = terms_of([text for text, _ in stretches], language)
    names = terms_of([f"{title} {PurePath(path).stem}"], language)[0]
    published = page.published and page.published.isoformat()
    for (_, sentences), terms in zip(stretches, words, strict=True):
        stored = json.dumps([page.url, title, sentences, published, language], ensure_ascii=False)
        yield Part(page.url, title, " ".join(terms), " ".join(names), language, stored.encode("utf-8", "replace"))


def _stretches(page: Page) -> Iterator[tuple[str, list[str]]]:
    """The text in stretches of about PART characters, each with its sentences; a heading goes with what follows."""
    begin = 0
    sentences: list[str] = []
    for passage in page.passages:
        if sentences and passage.end - begin > PART:
            yield page.text[begin : passage.start], sentences
            begin, sentences = passage.start, []
        sentences.append(passage.text)
    yield page.text[begin:], sentences
