"""A search engine lists more than can be read, and less than there is."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from marchwarden.frozen_web.crawl import LISTING_VERSION, Listing, crawl, words_of
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import shipped
from tests.frozen_web.small_web import CROPS, LAKE, article, write_web

URL = "https://example.org/crops"
TEXT = (
    "The report compares the yields of sixty-two tomato varieties at three sites in Utah. "
    "Yields at the highest site were a third of those in the valley."
)
PAYWALL = '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>'


def listings_of(tmp_path: Path, *lines: dict[str, Any]) -> list[Listing]:
    return crawl(write_web(tmp_path / "web", *lines))


def test_an_ordinary_page_is_listed_with_its_title_sentences_and_day(tmp_path: Path) -> None:
    (listing,) = listings_of(tmp_path, {"url": URL, "page": CROPS, "published": "2024-05-01"})
    assert (listing.url, listing.title, listing.published) == (URL, "Crops for Utah", date(2024, 5, 1))
    assert listing.sentences[0] == "Tomatoes and garlic are the ideal crops for a garden in Utah."
    assert (listing.snippet, listing.language) == (None, "en")


def test_the_day_is_the_pages_own_where_the_manifest_has_none(tmp_path: Path) -> None:
    head = '<meta property="article:published_time" content="2019-03-04T08:00:00Z">'
    (listing,) = listings_of(tmp_path, {"url": URL, "page": article("Crops", TEXT, head=head)})
    assert listing.published == date(2019, 3, 4)


def test_a_page_in_another_language_says_so_or_shows_it(tmp_path: Path) -> None:
    german = (
        "Die Mauer stand bis 1989, und sie war mehr als hundert Kilometer lang. Sie ist heute nicht mehr zu sehen."
    )
    declared, guessed = listings_of(
        tmp_path,
        {"url": URL, "page": article("Mauer", german, language="de")},
        {"url": f"{URL}.txt", "page": german, "headers": {"content-type": "text/plain; charset=utf-8"}},
    )
    assert (declared.language, guessed.language) == ("de", "de")


@pytest.mark.parametrize(
    "line",
    [
        {"status": 404, "page": article("Not found", "There is no such page.")},
        {"status": 410, "page": None},
        {"status": 301, "redirect": "/other"},
        {"url": "https://example.org/robots.txt", "page": "User-agent: *", "headers": {"content-type": "text/plain"}},
        {"page": b"\x89PNG\r\n\x1a\n\0\0\0", "headers": {"content-type": "image/png"}},
        {"page": ""},
        {"page": None},
        {"page": article("Page not found", "Sorry, the page you requested could not be found.")},
        {"page": article("Just a moment...", "Checking your browser before accessing example.org.")},
    ],
    ids=["404", "410", "redirect", "robots.txt", "image", "empty", "no file", "soft 404", "bot check"],
)
def test_what_no_search_engine_lists_is_not_listed(tmp_path: Path, line: dict[str, Any]) -> None:
    assert listings_of(tmp_path, {"url": URL, **line}) == []


def test_a_closed_page_is_listed_by_what_the_manifest_knows_of_it(tmp_path: Path) -> None:
    line = {
        "url": URL,
        "status": 403,
        "page": "<h1>Forbidden</h1>",
        "title": "Trials",
        "snippet": "Sixty-two tomatoes.",
    }
    (listing,) = listings_of(tmp_path, line)
    assert (listing.title, listing.snippet, listing.sentences) == ("Trials", "Sixty-two tomatoes.", ())


@pytest.mark.parametrize("status", [401, 403, 429, 451, 500, 503])
def test_a_closed_page_that_nothing_is_known_of_is_listed_by_its_address(tmp_path: Path, status: int) -> None:
    url = "https://example.org/2024/short-season_varieties.html"
    (listing,) = listings_of(tmp_path, {"url": url, "status": status, "page": "<h1>Access denied</h1>"})
    assert (listing.title, listing.sentences) == ("2024 short season varieties", ())


@pytest.mark.parametrize("status", [200, 402])
def test_a_teaser_is_enough_to_be_found_by(tmp_path: Path, status: int) -> None:
    (listing,) = listings_of(tmp_path, {"url": URL, "status": status, "page": article("Trials", TEXT, head=PAYWALL)})
    assert listing.title == "Trials"
    assert any("sixty-two tomato varieties" in sentence for sentence in listing.sentences)


def test_a_slow_page_and_one_closed_by_robots_are_listed_as_any_other(tmp_path: Path) -> None:
    robots = {"url": "https://example.org/robots.txt", "page": "User-agent: *\nDisallow: /", "headers": {}}
    found = listings_of(tmp_path, {"url": URL, "page": CROPS, "delay_s": 90}, robots)
    assert [listing.url for listing in found] == [URL]


def test_a_stale_entry_is_one_whose_line_has_a_snippet(tmp_path: Path) -> None:
    """The engine saw it before it vanished; as on the real web, the loop has to meet that."""
    (listing,) = listings_of(tmp_path, {"url": URL, "status": 404, "title": "Crops", "snippet": "What grew here."})
    assert (listing.title, listing.snippet) == ("Crops", "What grew here.")


def test_near_identical_addresses_are_one_listing_the_canonical_one(tmp_path: Path) -> None:
    canonical = article("Crops for Utah", TEXT, head=f'<link rel="canonical" href="{URL}">')
    found = listings_of(
        tmp_path,
        {"url": f"{URL}?print=1", "page": canonical},
        {"url": "http://www.example.org/crops/", "page": CROPS},
        {"url": URL, "page": canonical},
        {"url": f"{URL}/index.html", "page": CROPS},
    )
    assert [listing.url for listing in found] == [URL]


def test_a_copy_on_another_site_is_a_listing_of_its_own(tmp_path: Path) -> None:
    copy = article("Crops", TEXT, head=f'<link rel="canonical" href="{URL}">')
    found = listings_of(
        tmp_path, {"url": URL, "page": CROPS}, {"url": "https://other.example.net/crops", "page": copy}
    )
    assert len(found) == 2


def test_two_pages_of_one_site_are_two_listings(tmp_path: Path) -> None:
    found = listings_of(tmp_path, {"url": f"{URL}?id=1", "page": CROPS}, {"url": f"{URL}?id=2", "page": LAKE})
    assert len(found) == 2


def test_the_words_of_an_address_leave_out_numbers_that_are_no_years() -> None:
    assert words_of("https://example.org/news/2024/07/utah_garden-crops.html?id=3") == "news 2024 utah garden crops"
    assert words_of("https://example.org/l%C3%A9man") == "léman"
    assert words_of("https://example.org/") == ""


def test_pages_give_the_listings_that_their_version_stands_for() -> None:
    """An index is kept from one release to the next. Where reading changes what is listed, raise LISTING_VERSION, or
    the old one goes on being searched; then put the new digest here."""
    web = FrozenWeb.load(shipped("web"))
    some = FrozenWeb(web.folder, dict(list(web.pages.items())[::20]), web.fingerprint)
    digest = hashlib.sha256(repr(crawl(some)).encode()).hexdigest()[:16]
    assert (LISTING_VERSION, digest) == (8, "3e72747bbc1c0aa9")
