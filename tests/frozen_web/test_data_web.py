"""The shipped frozen web is whole, varied, our own, and has every kind of page that the rest must cope with."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from marchwarden.contract import SourceFilter
from marchwarden.frozen_web.pages import FrozenPage, FrozenWeb
from marchwarden.http.addresses import normalise_url, organisation_of, refusal
from marchwarden.http.robots import PRODUCT_TOKEN
from marchwarden.http.robots_rules import parse
from marchwarden.observations import SearchHit
from marchwarden.settings import load_settings, shipped
from marchwarden.sources.snapshot_search import SnapshotSearch

FOLDER = shipped("web")
WEB = FrozenWeb.load(FOLDER)
LINES: list[dict[str, Any]] = [
    json.loads(line) for line in (FOLDER / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
]
PAGES = list(WEB.pages.values())
TEXT_TYPES = ("text/", "application/json", "application/xhtml")

REQUIRED = {"url", "file", "status", "headers", "published", "delay_s", "redirect"}
OPTIONAL = {"title", "snippet", "topic", "note"}
NOT_NORMALISED = ("non-ASCII", "tracking")
"""What a note says where the address stands in the manifest as people write it."""
TODAY = date(2026, 11, 27)

REAL_ORGANISATIONS = {
    "bbc.co.uk", "bundestag.de", "cdc.gov", "europa.eu", "harvard.edu", "mit.edu", "nasa.gov", "nature.com", "nih.gov",
    "nytimes.com", "reddit.com", "sciencemag.org", "stanford.edu", "usda.gov", "usu.edu", "utah.edu", "utah.gov",
    "who.int", "wikipedia.org", "worldathletics.org",
}  # fmt: skip
REGISTRIES = re.compile(
    rb"\b(?:pypi|pythonhosted|npmjs|crates|rubygems|packagist|nuget|conda|docker)\.(?:org|io|com)\b", re.I
)


def text_of(page: FrozenPage) -> str:
    return page.body().decode("utf-8", "replace")


def is_text(page: FrozenPage) -> bool:
    return (page.content_type or "").startswith(TEXT_TYPES)


def declared_charset(page: FrozenPage) -> str | None:
    """In the header, else in the page, as browsers look for it."""
    header = re.search(r"charset=\"?([\w-]+)", page.content_type or "", re.I)
    if header:
        return header[1]
    meta = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w-]+)", page.body()[:2048], re.I)
    return meta[1].decode() if meta else None


def described(pages: list[FrozenPage]) -> list[str]:
    return [f"{page.url} ({page.note or 'no note'})" for page in pages]


# Whole


def test_each_line_has_the_fields_of_the_format_and_no_others() -> None:
    wrong = {
        line.get("url"): sorted((REQUIRED - set(line)) | (set(line) - REQUIRED - OPTIONAL))
        for line in LINES
        if not REQUIRED <= set(line) <= REQUIRED | OPTIONAL
    }
    assert wrong == {}


def test_no_address_stands_there_twice() -> None:
    spelled = Counter(line["url"] for line in LINES)
    assert [url for url, count in spelled.items() if count > 1] == []


def test_addresses_are_as_fetch_asks_for_them_unless_the_note_says_why_not() -> None:
    wrong = [
        line["url"]
        for line in LINES
        if normalise_url(line["url"]) != line["url"]
        and not any(reason.lower() in (line.get("note") or "").lower() for reason in NOT_NORMALISED)
    ]
    assert wrong == []


def test_every_file_belongs_to_a_line() -> None:
    named = {line["file"] for line in LINES if line["file"]}
    there = {path.relative_to(FOLDER).as_posix() for path in (FOLDER / "pages").rglob("*") if path.is_file()}
    assert there - named == set()


def test_an_answer_with_a_body_says_what_it_is() -> None:
    assert described([page for page in PAGES if page.file and page.content_type is None]) == []


def test_texts_decode_as_they_declare_unless_meant_not_to() -> None:
    broken = []
    for page in PAGES:
        charset = declared_charset(page) if is_text(page) else None
        if charset and "WRONG ENCODING" not in (page.note or "") and not page.body().startswith(b"%PDF"):
            try:
                page.body().decode(charset)
            except (UnicodeDecodeError, LookupError) as error:
                broken.append(f"{page.url}: {error}")
    assert broken == []


def test_pages_that_are_meant_to_be_broken_are() -> None:
    wrong = [page for page in PAGES if "WRONG ENCODING" in (page.note or "")]
    assert wrong
    for page in wrong:
        with pytest.raises(UnicodeDecodeError):
            page.body().decode(declared_charset(page) or "utf-8")


def test_days_are_not_in_the_future() -> None:
    assert [page.url for page in PAGES if page.published and page.published > TODAY] == []


def test_redirects_that_stay_inside_lead_to_a_page() -> None:
    lost = []
    for page in PAGES:
        if page.redirect:
            target = urljoin(page.url, page.redirect)
            if (urlsplit(target).hostname or "") in WEB.hosts and WEB.page(target) is None:
                lost.append(f"{page.url} → {target}")
    assert lost == []


def test_it_stays_small_enough_to_ship() -> None:
    assert sum(page.file.stat().st_size for page in PAGES if page.file) < 6_000_000


# Varied


def test_there_are_enough_pages_topics_and_hosts() -> None:
    readable = [page for page in PAGES if page.status == 200 and page.file and not page.url.endswith("/robots.txt")]
    assert len(readable) >= 60
    assert len({page.topic for page in PAGES if page.topic}) >= 8
    assert len(WEB.hosts) >= 15


def test_every_topic_has_several_sites() -> None:
    sites: dict[str, set[str]] = {}
    for page in PAGES:
        if page.topic and page.topic != "web":  # pages about paywalls and bot checks: there for what they are not
            sites.setdefault(page.topic, set()).add(organisation_of(page.host))
    assert {topic: len(hosts) for topic, hosts in sites.items() if len(hosts) < 3} == {}


def test_authority_and_age_vary() -> None:
    suffixes = {page.host.rpartition(".")[2] for page in PAGES}
    assert {"gov", "edu", "org", "com", "net", "uk", "de", "fr"} <= suffixes
    years = [page.published.year for page in PAGES if page.published]
    assert min(years) <= 2000
    assert max(years) == TODAY.year


def test_every_topic_points_somewhere_else_for_another_researcher() -> None:
    elsewhere = re.compile(
        r"\b10\.\d{4,9}/\S|arxiv:\s*\d{4}\.\d{4,5}|arxiv\.org/abs/|\bNCT\d{8}\b|data ?set|datensatz|jeu de données"
        r"|\bC-\d+/\d+|Case No\.|\bv\.?\s+[A-Z]",
        re.IGNORECASE,
    )
    topics = {page.topic for page in PAGES if page.topic and page.topic != "web"}
    pointing = {page.topic for page in PAGES if is_text(page) and elsewhere.search(text_of(page))}
    assert topics - pointing == set()


# Every kind of closed, broken and conflicting page


def _status(*statuses: int) -> Callable[[FrozenPage], bool]:
    return lambda page: page.status in statuses


def _noted(*words: str) -> Callable[[FrozenPage], bool]:
    return lambda page: any(word.lower() in (page.note or "").lower() for word in words)


def _holds(pattern: str) -> Callable[[FrozenPage], bool]:
    return lambda page: is_text(page) and bool(re.search(pattern, text_of(page), re.IGNORECASE))


def _typed(kind: str) -> Callable[[FrozenPage], bool]:
    return lambda page: (page.content_type or "").startswith(kind)


def _disallowed(page: FrozenPage) -> bool:
    robots = WEB.page(urljoin(page.url, "/robots.txt"))
    return robots is not None and not parse(robots.body(), PRODUCT_TOKEN).allows(page.url)


def _loops(page: FrozenPage) -> bool:
    seen: set[str] = set()
    here: FrozenPage | None = page
    while here and here.redirect and here.url not in seen:
        seen.add(here.url)
        here = WEB.page(urljoin(here.url, here.redirect))
    return here is not None and here.url in seen


def _leads_inside(page: FrozenPage) -> bool:
    return bool(page.redirect) and refusal(urljoin(page.url, page.redirect or "")) is not None


KINDS: dict[str, Callable[[FrozenPage], bool]] = {
    "401": _status(401),
    "402": _status(402),
    "403": _status(403),
    "404": _status(404),
    "410": _status(410),
    "429": _status(429),
    "451": _status(451),
    "a server error": _status(500, 502, 503),
    "a timeout": lambda page: page.delay_s >= 30,
    "a permanent redirect": _status(301, 308),
    "a temporary redirect": _status(302, 307),
    "a redirect loop": _loops,
    "a redirect to a private address": _leads_inside,
    "a paywall by markup alone": lambda page: (
        page.status == 200 and _holds(r'"isAccessibleForFree"\s*:\s*"?false')(page)
    ),
    "a login wall": _noted("login"),
    "a bot wall with status 200": lambda page: page.status == 200 and _noted("bot wall")(page),
    "a soft 404": _noted("soft 404"),
    "a page disallowed by robots.txt": _disallowed,
    "an article about walls": _noted("must not be taken for"),
    "a wrong encoding": _noted("wrong encoding"),
    "no declared encoding": lambda page: (
        is_text(page) and page.status == 200 and bool(page.body()) and declared_charset(page) is None
    ),
    "a legacy encoding": lambda page: (declared_charset(page) or "").lower() in ("iso-8859-1", "windows-1252"),
    "a PDF": _typed("application/pdf"),
    "a PDF under another type": lambda page: page.body().startswith(b"%PDF") and not _typed("application/pdf")(page),
    "an image": _typed("image/"),
    "another binary": lambda page: _typed("application/zip")(page) or _typed("application/octet-stream")(page),
    "plain text": lambda page: _typed("text/plain")(page) and not page.url.endswith("/robots.txt"),
    "Markdown": _typed("text/markdown"),
    "JSON": _typed("application/json"),
    "a huge page": lambda page: len(page.body()) > 1_000_000,
    "an empty page": lambda page: page.status == 200 and page.file is not None and page.body() == b"",
    "an injected instruction": _holds("ignore (all )?(previous|prior|your) (previous )?instructions"),
    "a hidden text": _holds(r"display:\s*none"),
    "a retracted page": _holds("retracted"),
    "a superseded page": _noted("superseded", "out of date", "outdated"),
    "a page that contradicts another": _noted("contradict", "disagree"),
    "a syndicated copy": _noted("syndicated"),
    "a host outside ASCII": lambda page: page.host.startswith("xn--") or ".xn--" in page.host,
    "a path with parentheses": lambda page: "(" in urlsplit(page.url).path,
    "a path outside ASCII": lambda page: "%C3" in page.url,
    "a page over http": lambda page: page.url.startswith("http://"),
    "curly quotes": _holds("[“”]"),
    "soft hyphens": _holds("\u00ad|&shy;"),
    "ligatures": _holds("[ﬁﬂﬀﬃ]"),
    "no-break spaces": _holds("\u00a0|&nbsp;"),
    "a page in German": _holds(r'<html[^>]*lang="de'),
    "a page in French": _holds(r'<html[^>]*lang="fr'),
}


@pytest.mark.parametrize("kind", KINDS)
def test_there_is(kind: str) -> None:
    assert any(map(KINDS[kind], PAGES)), f"the frozen web has no page that is {kind}"


# Our own


def test_hosts_are_invented() -> None:
    assert {page.host for page in PAGES if organisation_of(page.host) in REAL_ORGANISATIONS} == set()


def test_no_page_names_a_package_registry() -> None:
    assert [page.url for page in PAGES if REGISTRIES.search(page.body())] == []


# Found


@pytest.fixture(scope="module")
def search(cache_dir: Path) -> Callable[[str], list[SearchHit]]:
    provider = SnapshotSearch(load_settings(cache_dir=cache_dir), WEB)

    def hits(query: str) -> list[SearchHit]:
        found = provider.search(query, max_results=10, source_filter=SourceFilter(None))
        return list(asyncio.run(found).hits)

    return hits


def test_every_page_that_the_manifest_gives_a_title_is_found_by_it(search: Callable[[str], list[SearchHit]]) -> None:
    """But for redirects in the page itself, which name the other page as canonical and give way to it."""
    moved = _noted("meta-refresh")
    named = [page for page in PAGES if page.snippet and page.title and not moved(page)]
    assert len(named) >= 10
    lost = [page for page in named if page.url not in {hit.url for hit in search(page.title or "")}]
    assert described(lost) == []


def test_the_first_question_is_answered_by_three_organisations_and_meets_a_closed_page(
    search: Callable[[str], list[SearchHit]],
) -> None:
    hits = search("What are ideal crops for a garden in Utah?")
    pages = [WEB.pages[hit.url] for hit in hits]
    assert len({organisation_of(page.host) for page in pages[:5] if page.status == 200}) >= 3
    assert any(page.status != 200 or _disallowed(page) for page in pages)
