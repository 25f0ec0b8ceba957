"""Bytes → a Page: one text with numbered passages, and its metadata; or a Failure that says why there is none."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from lxml.html import HtmlElement

from marchwarden.http.addresses import host_of, join_url, web_address
from marchwarden.observations import Failure, FailureKind, Page, content_hash
from marchwarden.reading.access.classify import Impression, failure_of_page, failure_of_status
from marchwarden.reading.access.page_features import (
    gates_of,
    is_beside_text,
    is_seen,
    password_fields_of,
    text_of_parts,
)
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.kinds import FileReader, file_reader
from marchwarden.reading.files.lead_ins import with_lead_ins
from marchwarden.reading.files.markup.markdown_text import markdown_markup
from marchwarden.reading.files.pdf import read_pdf
from marchwarden.reading.files.plain_text import json_blocks, plain_blocks
from marchwarden.reading.html.dates import as_date, shown_dates
from marchwarden.reading.html.main_text import (
    MAX_ELEMENTS,
    dated_texts,
    main_blocks,
    parse,
    region_blocks,
    shown_text,
)
from marchwarden.reading.html.metadata import Link, addresses_of, base_of, links_of, read_metadata, seen_dates
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.html.retraction import standing_of
from marchwarden.reading.media_types import media_type
from marchwarden.reading.passages import with_text
from marchwarden.reading.services.profiles import service_reader
from marchwarden.reading.text_lengths import latin_length
from marchwarden.reading.works.author_names import author_names
from marchwarden.reading.works.mediawiki_pages import lists_meanings, read_mediawiki
from marchwarden.reading.works.references import html_references, text_references, with_references
from marchwarden.reading.works.sections import sections_of, with_places
from marchwarden.text.works import carries_works, record_of_address, source_of_address

# Without a handler of their own, the warnings of these libraries go to stderr.
for _name in ("trafilatura", "htmldate", "courlan", "pypdfium2", "markdown_it"):
    logging.getLogger(_name).addHandler(logging.NullHandler())

# Bytes, or characters, of markup that are searched for redirects and for marks of bot checks. A guess.
_HEAD_CHARS = 20_000
# Characters of a page that may be nothing but a menu, and of one entry of a menu. Guesses.
_MAX_MENU_CHARS = 1000
_MAX_ENTRY_CHARS = 120
# Characters of text from which on a sign-in form in a header or column is beside the page. A guess.
_MIN_TEXT_BESIDE_FORM_CHARS = 250
# Share of links in the text from which on a short page is a menu. A guess.
_MENU_SHARE = 0.8
# Characters of the main text in which the words of links are looked for: it takes quadratic time. A guess.
_LINKED_CHARS = 300_000
# Seconds: a slower <meta http-equiv="refresh"> leaves the reader time to read the page. A guess.
_MAX_REFRESH_S = 5
# Characters of a first line that is taken for the title of a plain text. A guess.
_MAX_TITLE_CHARS = 120


def read_page(
    body: bytes, *, url: str, content_type: str | None, status: int = 200, asked: str = ""
) -> Page | Failure:
    """Read the page in `body`, which came from `url` (normalised) with this Content-Type header and status.

    `asked` is the address that was asked for, where `url` is one that it was redirected to.

    A page of a kind without text (an image, a PDF of pictures) has an empty text and no passages. Returns a Failure
    where the status is one, where a paywall, a bot check or a "not found" came instead of the page, or where the page
    has no text to quote.
    """
    kind = media_type(body, content_type, url)
    refused = failure_of_status(status)
    if refused is not None:
        # A page with a refusing status may be a bot check.
        markup = decode(body, content_type) if status in (403, 429, 503) and kind == "text/html" else ""
        tree = parse(markup) if markup else None
        if tree is None:
            return refused
        title = " ".join((tree.findtext(".//title") or "").split())
        prepare(tree)
        shown = shown_text(tree)
        impression = Impression(url, (title, _heading(tree)), shown, shown, markup[:_HEAD_CHARS])
        return failure_of_page(impression, status) or refused
    if not body.strip():
        return _no_text("the server answered with an empty page")
    page = Page(url, content_hash(body), "", content_hash(b""), (), media_type=kind)
    if service := service_reader(content_type):
        return service(page, body)
    if kind == "text/html":
        return _read_html(page, body, content_type, asked)
    if read_own := file_reader(kind):
        return _read_file(page, body, content_type, read_own)
    read = _READERS.get(kind)
    return read(page, body, content_type) if read else page


def _no_text(detail: str) -> Failure:
    return Failure(FailureKind.NO_TEXT, detail)


# HTML


def _read_html(page: Page, body: bytes, content_type: str | None, asked: str) -> Page | Failure:
    markup = decode(body, content_type)
    tree = parse(markup)
    if tree is None:
        return _no_text("the page holds no text")
    # lxml makes a Python object for an element at each visit, unless there is one: this holds them while we read.
    held = list(islice(tree.iter(), MAX_ELEMENTS))
    metadata = read_metadata(tree, page.url)
    title_tag = " ".join((tree.findtext(".//title") or "").split())
    password_fields = password_fields_of(tree)
    sections = sections_of(tree) if metadata.work else []
    entries, marks = html_references(tree) if metadata.work else ({}, [])
    if lists_meanings(tree):
        return _no_text("the page only lists the meanings of a word")
    wiki = read_mediawiki(tree)
    prepare(tree)
    base, links = base_of(tree, page.url), links_of(tree)
    link_texts = [" ".join(link.text.split()) for link in links]
    shown, heading, gates = shown_text(tree), _heading(tree), gates_of(tree)
    # The visible text is only asked for dates that the markup lacks.
    is_dated = metadata.published is not None and metadata.modified is not None
    dates = ("", "") if is_dated else dated_texts(tree, shown)
    paid_part = text_of_parts(tree, metadata.paid_parts)
    blocks = main_blocks(tree)
    if metadata.work and carries_works(host_of(page.url)):
        blocks = list(with_places(blocks, sections))
    page = with_text(replace(page, language=metadata.language), blocks)
    is_empty = latin_length(page.text) < _MIN_TEXT_BESIDE_FORM_CHARS
    impression = Impression(
        url=page.url,
        titles=tuple(title for title in (title_tag, metadata.title, heading) if title),
        shown=shown,
        main=page.text,
        markup=markup[:_HEAD_CHARS],
        asked=asked,
        asks_password=any(
            is_seen(field, tree) and (is_empty or not is_beside_text(field, tree)) for field in password_fields
        ),
        is_article=metadata.is_article,
        declared_closed=metadata.closed,
        paid_part=paid_part,
        gates=gates,
        links=frozenset(link_texts),
    )
    if failure := failure_of_page(impression):
        return failure
    if not page.passages or _is_menu(page, links):
        return _no_text("the page holds no text")
    del held
    page = with_references(page, entries, marks)
    dated, top = dates
    published, modified = seen_dates(metadata, dated, page.url, top=top)
    flat = " ".join(page.text[:_LINKED_CHARS].split())
    is_read = {text: text in flat for text in set(link_texts) if len(text) > 1}
    return replace(
        page,
        title=metadata.title,
        authors=metadata.authors,
        published=published,
        modified=modified,
        canonical_url=metadata.canonical_url,
        links=addresses_of((link for link, text in zip(links, link_texts, strict=True) if is_read.get(text)), base),
        standing=metadata.standing or standing_of(metadata.title, shown) or standing_of(None, page.text),
        source=source_of_address(page.url),
        work=metadata.work or wiki,
    )


def _heading(tree: HtmlElement) -> str:
    heading = tree.find(".//h1")
    return "" if heading is None else " ".join("".join(heading.itertext()).split())


def _is_menu(page: Page, links: list[Link]) -> bool:
    """True where nearly all of a short page's text is links."""
    if len(page.text) >= _MAX_MENU_CHARS:
        return False
    words = (link.text for link in links if 0 < len(link.text.strip()) <= _MAX_ENTRY_CHARS)
    linked = sum(len(text) for text in words if text in page.text)
    return linked > _MENU_SHARE * len(page.text)


_REFRESH = re.compile(rb"<meta[^<>]+http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
_REFRESH_TARGET = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)


def refresh_target(body: bytes, *, url: str, content_type: str | None) -> str | None:
    """Return the normalised address to which an HTML page sends its reader (<meta http-equiv="refresh">).

    None where there is none, where it is the page's own, or where it comes after more than _MAX_REFRESH_S seconds.
    """
    if not _REFRESH.search(body[:_HEAD_CHARS]) or media_type(body, content_type, url) != "text/html":
        return None
    tree = parse(decode(body[:_HEAD_CHARS], content_type))
    for element in () if tree is None else tree.iter("meta"):
        is_unseen = any(above.tag in ("noscript", "template") for above in element.iterancestors())
        if (element.get("http-equiv") or "").strip().lower() == "refresh" and not is_unseen:
            target = _REFRESH_TARGET.match(element.get("content") or "")
            if target and len(target[1]) < 5 and int(target[1]) <= _MAX_REFRESH_S:
                try:
                    elsewhere = join_url(url, target[2])
                except ValueError:
                    return None
                return elsewhere if elsewhere != url else None
    return None


# Other kinds


def _read_pdf(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    content = read_pdf(body)
    if isinstance(content, Failure):
        return content
    blocks = content.blocks
    work = record_of_address(page.url)
    if web_address(page.url) and work is None:
        blocks = tuple(replace(block, places=()) for block in blocks)  # a web page is cited by its address alone
    page = with_text(replace(page, title=content.title, authors=author_names(content.authors)), blocks)
    published, modified = shown_dates(page.text)
    standing = standing_of(page.title, page.text)
    if not page.passages:
        return page
    return replace(
        text_references(page) if work else page,
        published=published or content.created,
        modified=modified,
        standing=standing,
        source=source_of_address(page.url),
        work=work,
    )


def _read_file(page: Page, body: bytes, content_type: str | None, reader: FileReader) -> Page | Failure:
    content = reader(body, content_type)
    if isinstance(content, Failure):
        return content
    blocks = content.blocks
    if web_address(page.url):
        blocks = tuple(replace(block, places=()) for block in blocks)  # a web page is cited by its address alone
    page = with_text(
        replace(page, authors=author_names(content.authors), language=content.language), with_lead_ins(blocks)
    )
    if not page.passages:
        return _no_text("the file holds no text")
    links: list[str] = []
    for reference in content.links:
        with suppress(ValueError):
            links.append(join_url(page.url, reference))
    page = replace(
        page,
        title=content.title,
        published=content.published or content.created,
        modified=content.modified,
        links=tuple(links),
    )
    if not content.is_prose:
        return page
    title = content.title or next((block.text for block in blocks if block.kind == "heading"), None)
    published, modified = shown_dates(page.text)
    return replace(
        page,
        title=title,
        published=content.published or published or content.created,
        modified=modified or content.modified,
        standing=standing_of(title, page.text),
    )


def _read_plain(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    page = with_text(page, plain_blocks(decode(body, content_type)))
    if not page.passages:
        return _no_text("the page holds no text")
    line = " ".join(page.text.partition("\n")[0].split())
    title = line if len(line) <= _MAX_TITLE_CHARS and not line.endswith(".") else None
    published, modified = shown_dates(page.text)
    standing = standing_of(title, page.text)
    return replace(page, title=title, published=published, modified=modified, standing=standing)


def _read_markdown(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    markup, fields = markdown_markup(decode(body, content_type))
    tree = parse(markup)
    if tree is None:
        return _no_text("the page holds no text")
    prepare(tree)
    blocks = list(with_lead_ins(region_blocks(tree)))
    page = with_text(replace(page, language=fields.get("lang") or fields.get("language")), blocks)
    if not page.passages:
        return _no_text("the page holds no text")
    title = fields.get("title") or next((block.text for block in blocks if block.kind == "heading"), None)
    return replace(
        page,
        title=title,
        authors=author_names([fields.get("author", ""), fields.get("authors", "")]),
        canonical_url=web_address(fields.get("source") or fields.get("url") or ""),  # as web clippers write it
        published=as_date(fields.get("date", "")),
        modified=as_date(fields.get("updated", fields.get("lastmod", ""))),
        links=addresses_of(links_of(tree), page.url),
        standing=standing_of(title, page.text),
    )


def _read_json(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    page = with_text(page, json_blocks(decode(body, content_type)))
    published, modified = shown_dates(page.text)
    if not page.passages:
        return _no_text("the data holds no text")
    return replace(page, published=published, modified=modified)


_READERS: Mapping[str, Callable[[Page, bytes, str | None], Page | Failure]] = {
    "application/pdf": _read_pdf,
    "text/plain": _read_plain,
    "text/markdown": _read_markdown,
    "application/json": _read_json,
}
