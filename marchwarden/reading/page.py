"""Bytes → a Page: one text with numbered passages, and what the page says about itself; or why there is none."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lxml.html import HtmlElement

from marchwarden.http.addresses import join_url
from marchwarden.observations import Failure, FailureKind, Page, content_hash
from marchwarden.reading.access.classify import Impression, failure_of_page, failure_of_status
from marchwarden.reading.access.page_features import gates_of, is_seen, password_fields_of, text_of_parts
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.docx import DOCX, read_docx
from marchwarden.reading.files.epub import EPUB, read_epub
from marchwarden.reading.files.pdf import read_pdf
from marchwarden.reading.files.plain_text import json_blocks, markdown_markup, plain_blocks
from marchwarden.reading.html.dates import as_date, shown_dates
from marchwarden.reading.html.main_text import footer_text, main_blocks, parse, region_blocks, shown_text
from marchwarden.reading.html.metadata import Link, base_of, links_of, read_metadata, seen_dates
from marchwarden.reading.html.retraction import standing_of
from marchwarden.reading.html.visibility import drop_hidden
from marchwarden.reading.media_types import media_type
from marchwarden.reading.passages import Block, first_blocks, lay_out

for _name in ("trafilatura", "htmldate", "courlan", "pypdfium2", "markdown_it"):
    logging.getLogger(_name).addHandler(logging.NullHandler())  # else what they warn of would go to stderr


def read_page(
    body: bytes, *, url: str, content_type: str | None, status: int = 200, asked: str = ""
) -> Page | Failure:
    """The page that `body` is, read at `url` (normalised), with the Content-Type header and status it came with.

    `asked` is the address that was asked for, where `url` is one that it was redirected to.

    A page of a kind without text (an image, a PDF of pictures) has an empty text and no passages. A Failure where the
    status says so, where the page is a wall or a "not found" in disguise, or where nothing in it can be quoted.
    """
    kind = media_type(body, content_type, url)
    refused = failure_of_status(status)
    if refused is not None:
        return _bot_check(body, url, content_type, status, kind) or refused
    if not body.strip():
        return _nothing_to_quote("the server answered with an empty page")
    page = Page(url, content_hash(body), "", content_hash(b""), (), media_type=kind)
    if kind == "text/html":
        return _read_html(page, body, content_type, asked)
    read = _READERS.get(kind)
    return read(page, body, content_type) if read else page


def _nothing_to_quote(detail: str) -> Failure:
    return Failure(FailureKind.NO_TEXT, detail)


def _with_text(page: Page, blocks: Iterable[Block]) -> Page:
    text, passages = lay_out(first_blocks(blocks), page.language)
    return replace(page, text=text, text_hash=content_hash(text.encode("utf-8")), passages=passages)


# HTML


def _read_html(page: Page, body: bytes, content_type: str | None, asked: str) -> Page | Failure:
    markup = decode(body, content_type)
    tree = parse(markup)
    if tree is None:
        return _nothing_to_quote("the page holds no text")
    metadata = read_metadata(tree, page.url)
    title_tag = _title_tag(tree)
    password_fields = password_fields_of(tree)
    drop_hidden(tree)
    links = links_of(tree, base_of(tree, page.url))
    shown, heading, gates = shown_text(tree), _heading(tree), gates_of(tree)
    paid_part = text_of_parts(tree, metadata.paid_parts)
    page = _with_text(replace(page, language=metadata.language), main_blocks(tree))
    impression = Impression(
        url=page.url,
        titles=tuple(title for title in (title_tag, metadata.title, heading) if title),
        shown=shown,
        main=page.text,
        markup=markup[:20_000],
        asked=asked,
        asks_password=any(is_seen(field, tree) for field in password_fields),
        is_article=metadata.is_article,
        declared_closed=metadata.closed,
        paid_part=paid_part,
        gates=gates,
        links=frozenset(" ".join(link.text.split()) for link in links),
    )
    if wall := failure_of_page(impression):
        return wall
    if not page.passages or _is_menu(page, links):
        return _nothing_to_quote("the page holds no text")
    published, modified = seen_dates(metadata, f"{shown}\n{footer_text(tree)}", page.url)
    return replace(
        page,
        title=metadata.title,
        site=metadata.site,
        author=metadata.author,
        published=published,
        modified=modified,
        canonical_url=metadata.canonical_url,
        links=_within(links, page.text),
        standing=metadata.standing or standing_of(metadata.title, shown) or standing_of(None, page.text),
    )


def _title_tag(tree: HtmlElement) -> str:
    return " ".join((tree.findtext(".//title") or "").split())


def _heading(tree: HtmlElement) -> str:
    heading = tree.find(".//h1")
    return "" if heading is None else " ".join("".join(heading.itertext()).split())


def _is_menu(page: Page, links: list[Link]) -> bool:
    """Whether nearly all that could be quoted is the words of links."""
    if len(page.text) >= 1000:
        return False
    words = (link.text for link in links if 0 < len(link.text.strip()) <= _LONGEST_ENTRY)
    linked = sum(len(text) for text in words if text in page.text)
    return linked > 0.8 * len(page.text)


_LONGEST_ENTRY = 120


def _within(links: list[Link], text: str) -> tuple[str, ...]:
    """Addresses of the links whose words are in the main text, near its beginning if that is very long."""
    flat = " ".join(text[:_FIRST_CHARACTERS].split())
    texts = ((link.url, " ".join(link.text.split())) for link in links)
    return tuple(dict.fromkeys(url for url, words in texts if len(words) > 1 and words in flat))


_FIRST_CHARACTERS = 300_000


def _bot_check(body: bytes, url: str, content_type: str | None, status: int, kind: str) -> Failure | None:
    """Whether a refusing status is a bot check's."""
    if status not in (403, 429, 503) or kind != "text/html":
        return None
    markup = decode(body, content_type)
    tree = parse(markup)
    if tree is None:
        return None
    title = _title_tag(tree)
    drop_hidden(tree)
    shown = shown_text(tree)
    page = Impression(url, (title, _heading(tree)), shown, shown, markup[:20_000])
    return failure_of_page(page, status)


_REFRESH = re.compile(rb"<meta[^<>]+http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
_REFRESH_TARGET = re.compile(r"\s*(\d+)(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_AT_ONCE = 5


def refresh_target(body: bytes, *, url: str, content_type: str | None) -> str | None:
    """Where an HTML page sends its reader at once (<meta http-equiv="refresh">, within 5 seconds), normalised."""
    if not _REFRESH.search(body[:20_000]) or media_type(body, content_type, url) != "text/html":
        return None
    tree = parse(decode(body[:20_000], content_type))
    for element in () if tree is None else tree.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() == "refresh" and not _is_in_unseen(element):
            target = _REFRESH_TARGET.match(element.get("content") or "")
            if target and len(target[1]) < 5 and int(target[1]) <= _AT_ONCE:
                return _elsewhere(url, target[2])
    return None


def _is_in_unseen(element: HtmlElement) -> bool:
    return any(above.tag in ("noscript", "template") for above in element.iterancestors())


def _elsewhere(url: str, reference: str) -> str | None:
    try:
        target = join_url(url, reference)
    except ValueError:
        return None
    return target if target != url else None


# Other kinds


def _read_pdf(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    content = read_pdf(body)
    if isinstance(content, Failure):
        return content
    page = _with_text(replace(page, title=content.title, author=content.author), content.blocks)
    published, modified = shown_dates(page.text)
    standing = standing_of(page.title, page.text)
    if not page.passages:
        return page
    return replace(page, published=published or content.created, modified=modified, standing=standing)


def _read_docx(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    content = read_docx(body)
    if isinstance(content, Failure):
        return content
    page = _with_text(replace(page, title=content.title, author=content.author), content.blocks)
    if not page.passages:
        return _nothing_to_quote("the document holds no text")
    title = content.title or next((block.text for block in content.blocks if block.kind == "heading"), None)
    published, modified = shown_dates(page.text)
    standing = standing_of(title, page.text)
    return replace(
        page,
        title=title,
        published=published or content.created,
        modified=modified or content.modified,
        standing=standing,
    )


def _read_epub(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    content = read_epub(body)
    if isinstance(content, Failure):
        return content
    page = replace(page, title=content.title, author=content.author, language=content.language)
    page = _with_text(page, content.blocks)
    if not page.passages:
        return _nothing_to_quote("the book holds no text")
    return replace(page, published=content.published)


def _read_plain(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    page = _with_text(page, plain_blocks(decode(body, content_type)))
    if not page.passages:
        return _nothing_to_quote("the page holds no text")
    title = _first_line(page.text)
    published, modified = shown_dates(page.text)
    standing = standing_of(title, page.text)
    return replace(page, title=title, published=published, modified=modified, standing=standing)


def _first_line(text: str) -> str | None:
    line = " ".join(text.partition("\n")[0].split())
    return line if len(line) <= 120 and not line.endswith(".") else None


def _read_markdown(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    markup, fields = markdown_markup(decode(body, content_type))
    tree = parse(markup)
    if tree is None:
        return _nothing_to_quote("the page holds no text")
    drop_hidden(tree)
    blocks = region_blocks(tree)
    page = _with_text(replace(page, language=fields.get("lang") or fields.get("language")), blocks)
    if not page.passages:
        return _nothing_to_quote("the page holds no text")
    title = fields.get("title") or next((block.text for block in blocks if block.kind == "heading"), None)
    return replace(
        page,
        title=title,
        author=fields.get("author"),
        published=as_date(fields.get("date", "")),
        modified=as_date(fields.get("updated", fields.get("lastmod", ""))),
        links=tuple(dict.fromkeys(link.url for link in links_of(tree, page.url))),
        standing=standing_of(title, page.text),
    )


def _read_json(page: Page, body: bytes, content_type: str | None) -> Page | Failure:
    page = _with_text(page, json_blocks(decode(body, content_type)))
    published, modified = shown_dates(page.text)
    dated = replace(page, published=published, modified=modified)
    return dated if page.passages else _nothing_to_quote("the data holds no text")


_READERS: Mapping[str, Callable[[Page, bytes, str | None], Page | Failure]] = {
    "application/pdf": _read_pdf,
    DOCX: _read_docx,
    EPUB: _read_epub,
    "text/plain": _read_plain,
    "text/markdown": _read_markdown,
    "application/json": _read_json,
}
