"""Listings for the index of a frozen web: one for each page that a search engine would know.

As on the real web, the index has some pages that can't be read (behind a paywall, forbidden, slow, gone since), and
lacks others that can.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from marchwarden.frozen_web.pages import FrozenPage, FrozenWeb
from marchwarden.http.addresses import host_of
from marchwarden.observations import FailureKind, Page, Passage
from marchwarden.text.ranking import guess_language

if TYPE_CHECKING:
    from marchwarden.reading.html.metadata import Metadata

# Raise it when the same pages give other listings, so that older indexes are built again.
LISTING_VERSION = 8

# Bytes of an HTML page that are read. Real pages have scripts and styles of several hundred kB before their text: of
# 130 questions over 398 real pages, 20 did not find their page at all with 100,000.
_MAX_HTML_BYTES = 2_000_000
# Sentences of a page that are indexed. A guess.
_MAX_SENTENCES = 150
# Sentences from which the language of a page is guessed where it declares none. A guess.
_LANGUAGE_SENTENCES = 20


@dataclass(frozen=True)
class Listing:
    """One page as it is indexed and shown."""

    url: str
    title: str
    sentences: tuple[str, ...] = ()
    snippet: str | None = None
    """Text to show in place of the best sentence; None for that sentence."""
    published: date | None = None
    language: str = "en"


@dataclass(frozen=True)
class _Reading:
    """Facts from the page itself, where a crawler can read it."""

    title: str | None = None
    sentences: tuple[str, ...] = ()
    published: date | None = None
    language: str | None = None
    canonical_url: str | None = None


def crawl(web: FrozenWeb, on_page: Callable[[int], None] = lambda number: None) -> list[Listing]:
    """Return a listing for each page that can be found; of near-identical addresses only the canonical one.

    `on_page` receives the number of pages done, after each page.
    """
    chosen: dict[str, tuple[int, Listing]] = {}
    for number, entry in enumerate(web.pages.values(), start=1):
        reading = _read(entry)
        # With a snippet the engine read the page before it closed, moved or vanished. A page that is closed to
        # crawlers too can be found by the words of its address.
        is_known = entry.snippet or reading or (entry.status >= 400 and entry.status not in (404, 410))
        if is_known and urlsplit(entry.url).path != "/robots.txt":
            declared = reading.canonical_url if reading else None
            # A page may name a canonical address of its own site only.
            hosts = (host_of(entry.url), host_of(declared or entry.url))
            site, declared_site = (re.sub(r"^(?:www|m|amp)\.", "", host) for host in hosts)
            if not declared or declared_site != site:
                declared = None
            # Near-identical addresses share a key: it has no scheme, `www.`, index page or last slash.
            address = urlsplit(declared or entry.url)
            path = re.sub(r"/(?:index\.\w{3,5})?$", "", address.path)
            key = f"{site}{path}?{address.query}"
            # An address that the page declares to be canonical comes before one of a page that declares none, and
            # that before one of a page that declares another.
            rank = 1 if declared is None else 2 if declared == entry.url else 0
            if key not in chosen or rank > chosen[key][0]:
                chosen[key] = rank, _listing(entry, reading or _Reading())
        on_page(number)
    return [listing for _, listing in chosen.values()]


def _listing(entry: FrozenPage, reading: _Reading) -> Listing:
    return Listing(
        url=entry.url,
        title=entry.title or reading.title or words_of(entry.url).capitalize() or host_of(entry.url),
        sentences=reading.sentences,
        snippet=entry.snippet,
        published=entry.published or reading.published,
        language=reading.language
        or guess_language(" ".join(reading.sentences[:_LANGUAGE_SENTENCES]) or entry.snippet or ""),
    )


def _read(entry: FrozenPage) -> _Reading | None:
    """Read the page as a crawler; None for errors, redirects, bot checks and files without text."""
    if entry.redirect or entry.file is None or (entry.status >= 400 and entry.status != 402):
        return None
    from marchwarden.reading.page import read_page

    body = entry.body()
    if body.lstrip().startswith(b"<"):
        body = body[:_MAX_HTML_BYTES]
    page = read_page(body, url=entry.url, content_type=entry.content_type)
    if isinstance(page, Page):
        return _reading(page.passages, page) if page.passages else None
    return _teaser(body, entry) if page.kind is FailureKind.PAYWALL else None


def _teaser(body: bytes, entry: FrozenPage) -> _Reading | None:
    """Read the text before a paywall: the page can be found by it, but it is never quoted."""
    from marchwarden.reading.decoding import decode
    from marchwarden.reading.html.main_text import main_blocks, parse
    from marchwarden.reading.html.metadata import read_metadata
    from marchwarden.reading.html.notation.prepare import prepare
    from marchwarden.reading.passages import lay_out

    tree = parse(decode(body, entry.content_type))
    if tree is None:
        return None
    metadata = read_metadata(tree, entry.url)
    prepare(tree)
    return _reading(lay_out(main_blocks(tree), metadata.language)[1], metadata)


def _reading(passages: tuple[Passage, ...], about: Page | Metadata) -> _Reading:
    sentences = tuple(passage.text for passage in passages[:_MAX_SENTENCES])
    return _Reading(about.title, sentences, about.published, about.language, about.canonical_url)


# Addresses


def words_of(url: str) -> str:
    """Return the words of an address without its host. An unread page is found by them."""
    parts = urlsplit(url)
    path = re.sub(r"\.\w{1,5}$", "", unquote(parts.path))
    words = re.findall(r"[^\W_]+", path)
    return " ".join(word for word in words if not word.isdecimal() or len(word) == 4)
