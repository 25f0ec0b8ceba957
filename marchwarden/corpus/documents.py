"""Turn a file into documents to index; and a document into its page, which is the same whenever it is read.

A file is one document; of a .jsonl file each line is one.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timezone
from pathlib import PurePath
from typing import Any

from pydantic import TypeAdapter

from marchwarden.corpus.catalogue import LineRecord
from marchwarden.corpus.places import with_places
from marchwarden.http.addresses import web_address
from marchwarden.observations import ContentHash, Failure, FailureKind, Page, content_hash
from marchwarden.reading.files.kinds import ENDINGS
from marchwarden.reading.files.plain_text import json_blocks, plain_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.page import read_page
from marchwarden.reading.passages import lay_out
from marchwarden.reading.works.author_names import author_names, named_in
from marchwarden.text.invisible import visible, visible_line
from marchwarden.text.ranking import guess_language, query_words, terms_of

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
    ".json": "application/json",
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    **ENDINGS,
}

# Bytes of a file that is one document, at most. A guess.
MOST_BYTES = 50_000_000
# Bytes of a line of a .jsonl file, at most. A guess.
LONGEST_LINE_BYTES = MOST_BYTES // 10

# Characters of a long text that are indexed together, so that a search finds the place in a book and not only the
# book. A guess: about two printed pages.
PART_CHARS = 6_000
# The line of a .jsonl file that a locator names.
LINE = re.compile(r"#L(\d{1,12})$")


@dataclass(frozen=True)
class Chunk:
    """A stretch of a part that has a vector: as much as the embedding model reads at once."""

    stored: bytes
    """JSON of the fields that a hit is made of."""
    vector: bytes
    """Numbers of 16 bits."""


@dataclass(frozen=True)
class Part:
    """A unit of the index: a document, or a part of a long one."""

    locator: str
    title: str
    text_terms: str
    name_terms: str
    words: str
    """Words as they are written, each once."""
    language: str
    stored: bytes
    """JSON of the fields that a hit is made of (corpus_index.py reads them)."""
    chunks: tuple[Chunk, ...] = ()
    """Stretches with their vectors; none where the corpus has no vectors."""


@dataclass(frozen=True)
class Prepared:
    """The outcome of reading a file, or some lines of one."""

    parts: tuple[Part, ...] = ()
    documents: int = 0
    lines: tuple[LineRecord, ...] = ()
    failure: str | None = None
    hash: ContentHash | None = None
    """Hash of the file's bytes; None where not all of them were read."""
    kept: bytes | None = None
    """The page, packed, of a kind of file that takes long to read; None for other kinds."""
    is_known: bool = False
    """True where the file had this hash before, so that there is nothing to do."""


# Endings of files that others include, or are made from: the one before says what they are (usage.rst.inc).
_INCLUDED = frozenset({".inc", ".in"})
# Names of texts that projects keep without an ending.
_PLAIN_NAME = re.compile(
    r"authors|change(?:log|s)|contribut(?:ing|ors)|copy(?:ing|right)|credits|faq|hacking|history|install|licen[cs]e"
    r"|maintainers|manifesto|news|notice|readme|thanks|todo|upgrading",
    re.IGNORECASE,
)


def kind_of(path: str) -> str | None:
    """Return the media type of a file that can be indexed; None for other files."""
    pure = PurePath(path)
    ending = pure.suffix.lower()
    if ending in _INCLUDED:
        return KINDS.get(PurePath(pure.stem).suffix.lower())
    if not ending and _PLAIN_NAME.fullmatch(pure.name):
        return "text/plain"
    return KINDS.get(ending)


# Pages


# Kinds of files whose pages are kept: reading a PDF again would take a process, and seconds for a book.
_KEPT = frozenset({"application/pdf"})


def page_of(path: str, body: bytes, modified: date | None, kept: bytes | None = None) -> Page | Failure:
    """Return the page that a file is, or the failure. `kept` is its page as it was read before, packed.

    `modified` is the day of the file's last change; the page has it where the content names none itself.
    """
    page = replace(_PAGE.validate_json(zlib.decompress(kept)), url=path) if kept else _read_file(path, body)
    return _finish(page, path, modified)


# What browsers, and the extension SingleFile, write on top of a page that they save.
_SAVED_FROM = re.compile(rb"<!-- saved from url=\(\d+\)(\S+) -->|Page saved with SingleFile\s+url: (\S+)")
# Bytes in which they do. A guess.
_HEAD_BYTES = 4096


def _read_file(path: str, body: bytes) -> Page | Failure:
    if not body.strip():
        return Failure(FailureKind.NO_TEXT, "the file is empty")
    page = read_page(body, url=path, content_type=kind_of(path))
    if isinstance(page, Page) and page.canonical_url is None and (saved := _SAVED_FROM.search(body, 0, _HEAD_BYTES)):
        return replace(page, canonical_url=(saved[1] or saved[2]).decode("utf-8", "replace"))
    return page


def _finish(page: Page | Failure, path: str, modified: date | None) -> Page | Failure:
    if isinstance(page, Failure):
        return page
    if not page.passages:
        return Failure(FailureKind.NO_TEXT, "it has no text")
    title = page.title or PurePath(path).stem
    # A copy of a file has a day of its own, so that one counts only where the file states none.
    changed = page.modified or (None if page.published else modified)
    # A path is no address of its own: only what names one was saved from the web.
    address = web_address(page.canonical_url or "")
    return replace(page, title=visible(title), canonical_url=address, modified=changed)


_PAGE: TypeAdapter[Page] = TypeAdapter(Page)


# Names of fields in a line of JSON, the first that says something counts. A guess from public collections.
_TEXT_FIELDS = ("text", "content", "body", "abstract", "contents", "passage", "summary", "extract")
_TITLE_FIELDS = ("title", "headline", "name", "id", "_id", "doc_id", "docid")
_URL_FIELDS = ("url", "link", "source_url")
_DATE_FIELDS = ("date", "published", "published_at", "created")
_CHANGE_FIELDS = ("modified", "updated", "updated_at", "last_modified")


def page_of_line(locator: str, body: bytes, modified: date | None) -> Page | Failure:
    """Return the page that one line of JSON is, or the failure: its text field, else all of its fields."""
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        return Failure(FailureKind.NO_TEXT, "the line is not JSON")
    fields = fields if isinstance(fields, dict) else {"text": fields} if isinstance(fields, str) else {"": fields}
    text = _field(fields, _TEXT_FIELDS)
    blocks = plain_blocks(text) if text else json_blocks(json.dumps(fields, ensure_ascii=False))
    language = _field(fields, ("language", "lang")) or None
    laid_out, passages = lay_out(blocks, language)
    if not passages:
        return Failure(FailureKind.NO_TEXT, "the line holds no text")
    published = as_date(_field(fields, _DATE_FIELDS))
    return Page(
        url=locator,
        content_hash=content_hash(body),
        text=laid_out,
        text_hash=content_hash(laid_out.encode("utf-8")),
        passages=passages,
        media_type="application/json",
        title=visible_line(_field(fields, _TITLE_FIELDS)) or None,
        authors=author_names(named_in(fields.get("author") or fields.get("authors"))),
        published=published,
        modified=as_date(_field(fields, _CHANGE_FIELDS)) or (None if published else modified),
        language=language,
        canonical_url=web_address(_field(fields, _URL_FIELDS)),
    )


def page_of_document(
    locator: str, body: bytes, modified: date | None, *, is_line: bool | None = None, kept: bytes | None = None
) -> Page | Failure:
    """Return the page that a document's bytes are, or the failure.

    `is_line` is True for one line of a .jsonl file; None where the locator alone tells. `kept` is the page of a file
    as it was read before, packed.
    """
    if is_line is None:
        line = LINE.search(locator)
        is_line = line is not None and kind_of(locator[: line.start()]) == JSON_LINES
    if is_line:
        return page_of_line(locator, body, modified)
    page = page_of(locator, body, modified, kept)
    return page if isinstance(page, Failure) else with_places(page, body)


def _field(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of these fields that says something; an empty text where none does."""
    found = (fields.get(name) for name in names)
    return next((str(each) for each in found if isinstance(each, str | int) and str(each).strip()), "")


def day_of(timestamp: float) -> date | None:
    """Return the day, in UTC, of a file's time; None for a time out of range."""
    try:
        return datetime.fromtimestamp(timestamp, timezone.utc).date()
    except (OverflowError, OSError, ValueError):
        return None


# Documents


def prepare_file(path: str, body: bytes, modified: date | None) -> Prepared:
    """Prepare a file that is one document."""
    read = _read_file(path, body)
    page = _finish(read, path, modified)
    if isinstance(page, Failure):
        return Prepared(failure=page.detail, hash=content_hash(body))
    kept = zlib.compress(_PAGE.dump_json(read)) if isinstance(read, Page) and kind_of(path) in _KEPT else None
    return Prepared(tuple(_parts(page, path)), 1, hash=content_hash(body), kept=kept)


def prepare_lines(path: str, first: int, start: int, body: bytes, modified: date | None) -> Prepared:
    """Prepare whole lines of a .jsonl file; `first` is the number of the first line, `start` the byte where it
    begins.

    A line that can't be read is left out; the failure names the first such line.
    """
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
    """Yield the parts of a page; a long text makes several."""
    # Two thousand characters are more than enough to tell a language by.
    language = page.language or guess_language(page.text[:2_000])
    title = page.title or PurePath(path).stem
    # Stretches of about PART_CHARS, each with its passages; a heading goes with what follows.
    begin = 0
    sentences: list[str] = []
    stretches: list[tuple[str, list[str]]] = []
    for passage in page.passages:
        if sentences and passage.end - begin > PART_CHARS:
            stretches.append((page.text[begin : passage.start], sentences))
            begin, sentences = passage.start, []
        sentences.append(passage.text)
    stretches.append((page.text[begin:], sentences))
    words = terms_of([text for text, _ in stretches], language)
    names = terms_of([f"{title} {PurePath(path).stem}"], language)[0]
    published = page.published and page.published.isoformat()
    for (text, sentences), terms in zip(stretches, words, strict=True):
        stored = json.dumps([page.url, title, sentences, published, language], ensure_ascii=False)
        written = " ".join(sorted(set(query_words(text))))
        body = stored.encode("utf-8", "replace")
        yield Part(page.url, title, " ".join(terms), " ".join(names), written, language, body)
