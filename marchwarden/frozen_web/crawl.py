"""Listings that the index of a frozen web is made of: what a search engine knows of its pages.

As on the real web that is more than can be read (paywalled, forbidden, slow, gone since), and less than there is.
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

LISTING_VERSION = 2
"""To be raised when the same pages give other listings, so that indexes built before are built anew."""

_READ_LIMIT = 100_000
"""Bytes of an HTML page: what it is about stands at its top."""
_SENTENCES = 150


@dataclass(frozen=True)
class Listing:
    """One page as it is indexed and shown."""

    url: str
    title: str
    sentences: tuple[str, ...] = ()
    snippet: str | None = None
    """Shown in place of the best sentence."""
    published: date | None = None
    language: str = "en"


@dataclass(frozen=True)
class _Reading:
    """What the page itself says, where a crawler can read it."""

    title: str | None = None
    sentences: tuple[str, ...] = ()
    published: date | None = None
    language: str | None = None
    canonical_url: str | None = None


def crawl(web: FrozenWeb, on_page: Callable[[int], None] = lambda number: None) -> list[Listing]:
    """One listing for each page that can be found; of near-identical addresses the canonical one. `on_page` hears
    the number of pages that were looked at, after each."""
    chosen: dict[str, tuple[int, Listing]] = {}
    for number, entry in enumerate(web.pages.values(), start=1):
        reading = _read(entry)
        if _is_listed(entry, reading):
            declared = _declared(entry.url, reading)
            key, claim = _key(declared or entry.url), _claim(entry.url, declared)
            if key not in chosen or claim > chosen[key][0]:
                chosen[key] = claim, _listing(entry, reading or _Reading())
        on_page(number)
    return [listing for _, listing in chosen.values()]


def _is_listed(entry: FrozenPage, reading: _Reading | None) -> bool:
    """A line with a snippet always is: the engine saw the page before it closed, moved or vanished. Without one it
    takes text; or, where the page is closed to crawlers too, its address has to do."""
    if urlsplit(entry.url).path == "/robots.txt":
        return False
    if entry.snippet or reading:
        return True
    return entry.status >= 400 and entry.status not in (404, 410)


def _listing(entry: FrozenPage, reading: _Reading) -> Listing:
    return Listing(
        url=entry.url,
        title=entry.title or reading.title or words_of(entry.url).capitalize() or host_of(entry.url),
        sentences=reading.sentences,
        snippet=entry.snippet,
        published=entry.published or reading.published,
        language=reading.language or guess_language(" ".join(reading.sentences[:20]) or entry.snippet or ""),
    )


def _read(entry: FrozenPage) -> _Reading | None:
    """None for what no crawler could read: errors, redirects, walls, files without text."""
    if entry.redirect or entry.file is None or (entry.status >= 400 and entry.status != 402):
        return None
    from marchwarden.reading.page import read_page

    body = entry.body()
    if body.lstrip().startswith(b"<"):
        body = body[:_READ_LIMIT]
    page = read_page(body, url=entry.url, content_type=entry.content_type)
    if isinstance(page, Page):
        return _reading(page.passages, page) if page.passages else None
    return _teaser(body, entry) if page.kind is FailureKind.PAYWALL else None


def _teaser(body: bytes, entry: FrozenPage) -> _Reading | None:
    """What stands before a paywall: enough to be found by, never to be quoted."""
    from marchwarden.reading.decoding import decode
    from marchwarden.reading.html.main_text import main_blocks, parse
    from marchwarden.reading.html.metadata import read_metadata
    from marchwarden.reading.html.visibility import drop_hidden
    from marchwarden.reading.passages import lay_out

    tree = parse(decode(body, entry.content_type))
    if tree is None:
        return None
    metadata = read_metadata(tree, entry.url)
    drop_hidden(tree)
    return _reading(lay_out(main_blocks(tree), metadata.language)[1], metadata)


def _reading(passages: tuple[Passage, ...], about: Page | Metadata) -> _Reading:
    sentences = tuple(passage.text for passage in passages[:_SENTENCES])
    return _Reading(about.title, sentences, about.published, about.language, about.canonical_url)


# Addresses


def words_of(url: str) -> str:
    """The words that an address is made of, without its host: all there is to find an unread page by."""
    parts = urlsplit(url)
    path = re.sub(r"\.\w{1,5}$", "", unquote(parts.path))
    words = re.findall(r"[^\W_]+", path)
    return " ".join(word for word in words if not word.isdecimal() or len(word) == 4)


def _declared(url: str, reading: _Reading | None) -> str | None:
    """The canonical address that the page declares for itself, where it is one of the same site."""
    declared = reading.canonical_url if reading else None
    return declared if declared and _site(declared) == _site(url) else None


def _claim(url: str, declared: str | None) -> int:
    """How good the claim of `url` is to stand for the page: the page says so, says nothing, names another."""
    if declared is None:
        return 1
    return 2 if declared == url else 0


def _site(url: str) -> str:
    return re.sub(r"^(?:www|m|amp)\.", "", host_of(url))


def _key(url: str) -> str:
    """What near-identical addresses of one page share: scheme, `www.`, index page and last slash don't count."""
    parts = urlsplit(url)
    path = re.sub(r"/(?:index\.\w{3,5})?$", "", parts.path)
    return f"{_site(url)}{path}?{parts.query}"
