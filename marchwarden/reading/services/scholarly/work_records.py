"""A work as a registry describes it, and the page that its title and abstract make. One parser a service beside this.

Each parser serves two callers: a search takes the record for its hits, and `read_page` makes the page of a stored
answer again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from marchwarden.observations import Failure, FailureKind, Notice, Page, Reference, Standing, Work
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.html.retraction import standing_of
from marchwarden.reading.passages import with_text
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line
from marchwarden.text.works import DOI_RESOLVER

# References of a work that are kept as links. A guess: reviews have hundreds.
_MOST_REFERENCES = 100
# Tags of markup that registries send in titles and abstracts; `<` alone stands for "less than" in plain text.
_TAG = re.compile(
    r"</?(?:jats:|mml:)?(?:p|sec|title|italic|bold|i|b|em|strong|su[bp]|sc|h[1-6]|br|math|list|div)\b", re.I
)
_JATS = re.compile(r"(</?)(?:jats|mml):")
# Tags of a title that were escaped once too often: Europe PMC sends `m&lt;sup&gt;6&lt;/sup&gt;A`. Others, such as
# `T>G`, belong to the title.
_ESCAPED = re.compile(r"</?(?:i|b|em|strong|su[bp]|u|tt|sc|scp|italic|bold|mml:\w+)\s*/?>", re.IGNORECASE)
_HEADING = re.compile(r"(</?)title\b")


@dataclass(frozen=True)
class WorkRecord:
    source: str
    """Source that a citation names: `crossref`."""
    url: str
    """Address under which the work is cited."""
    title: str
    work: Work
    abstract: tuple[Block, ...] = ()
    published: date | None = None
    modified: date | None = None
    standing: Standing | None = None
    open_copies: tuple[str, ...] = ()
    """Addresses of full texts that are free to read, best first."""
    references: tuple[Reference, ...] = ()
    """Works that it cites; where in the text is not told."""
    notices: tuple[Notice, ...] = ()
    """Corrections, expressions of concern and other notices of the work, retractions included."""
    pmcid: str | None = None
    """Number in PubMed Central, `PMC123`, where its full text lies there."""

    @property
    def snippet(self) -> str:
        """Abstract as one text, for a hit."""
        return " ".join(block.text for block in self.abstract)


def page_of_records(page: Page, records: Sequence[WorkRecord]) -> Page | Failure:
    """Return the page of the work at the page's address, or the failure where it has no abstract to quote.

    An answer may hold many works, as that of a search does. One that holds a single work is about that one.
    """
    here = (record for record in records if record.url == page.url)
    record = next(here, records[0] if len(records) == 1 else None)
    if record is None:
        return Failure(FailureKind.NOT_FOUND, "the service has no such work")
    if not record.abstract:
        return Failure(FailureKind.NO_TEXT, f"{record.source} has no abstract of it, only the title: {record.title}")
    page = with_text(page, (Block("heading", record.title), *record.abstract))
    cited = [each.work.doi for each in record.references if each.work.doi]
    links = (*record.open_copies, *(f"{DOI_RESOLVER}{doi}" for doi in cited[:_MOST_REFERENCES]))
    return replace(
        page,
        title=record.title,
        published=record.published,
        modified=record.modified,
        links=tuple(dict.fromkeys(links)),
        standing=record.standing or standing_of(record.title, page.text),
        source=record.source,
        work=replace(record.work, is_abstract=True),
        references=record.references,
        notices=record.notices,
    )


def no_answer(name: str) -> Failure:
    """Return the failure of a service that sent something else than its format."""
    return Failure(FailureKind.SERVICE_DOWN, f"{name} sent an answer that can't be read")


def title_line(markup: object) -> str:
    """Return a title without its markup, on one line."""
    text = markup if isinstance(markup, str) else ""
    plain = _JATS.sub(r"\1", text)
    tree = parse(f"<html><body>{plain}</body></html>") if _TAG.search(text) or "&" in text else None
    return visible_line(_ESCAPED.sub("", text if tree is None else "".join(tree.itertext())))


def abstract_blocks(markup: object) -> tuple[Block, ...]:
    """Return the blocks of an abstract: plain text, HTML, or the JATS that Crossref passes on."""
    if not isinstance(markup, str) or not markup.strip():
        return ()
    if not _TAG.search(markup):
        parts = (visible_line(part) for part in re.split(r"\n\s*\n", markup))
        return tuple(Block("paragraph", part) for part in parts if part)
    markup = _HEADING.sub(r"\1h4", _JATS.sub(r"\1", markup))
    tree = parse(f"<html><body><main>{markup}</main></body></html>")
    if tree is None:
        return ()
    prepare(tree)
    blocks = region_blocks(tree)
    # The heading "Abstract" says nothing that the title does not.
    return tuple(block for block in blocks if block.kind != "heading" or block.text.casefold() != "abstract")


def day_of(parts: Iterable[object]) -> date | None:
    """Return the day of year, month and day; the first of the month where no day is told, None without a month."""
    numbers = [int(part) for part in parts if isinstance(part, int) or (isinstance(part, str) and part.isdecimal())]
    try:
        return date(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 1)
    except (IndexError, ValueError):
        return None


def text_in(record: Mapping[str, Any], name: str) -> str | None:
    """Return a field that is a text with something in it; None for any other."""
    value = record.get(name)
    return value.strip() or None if isinstance(value, str) else None


def objects_in(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, without what else stands in it."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def object_in(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a field that is an object; an empty one for any other."""
    value = record.get(name)
    return value if isinstance(value, Mapping) else {}
