"""Metadata of an HTML page: title, author, dates, language, canonical address, standing.

Structured data (schema.org) counts first, then <meta>, then the visible text.

Own code beside trafilatura's metadata and htmldate: neither tells from where a date is, and both guess where none is.
evals/reading/metadata.py measures ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from html import unescape
from itertools import islice
from typing import Any

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.http.addresses import join_url
from marchwarden.observations import Standing, Work
from marchwarden.reading.html.boilerplate import OTHER_TYPES, is_beside_article, text_of
from marchwarden.reading.html.bylines import byline_of
from marchwarden.reading.html.dates import as_date, in_address, shown_dates
from marchwarden.reading.html.retraction import standing_by_status
from marchwarden.reading.html.titles import without_site
from marchwarden.reading.works.author_names import author_names
from marchwarden.reading.works.html_record import as_list, read_work
from marchwarden.text.invisible import visible_line


@dataclass(frozen=True)
class Metadata:
    title: str | None = None
    authors: tuple[str, ...] = ()
    published: date | None = None
    modified: date | None = None
    language: str | None = None
    canonical_url: str | None = None
    standing: Standing | None = None
    is_article: bool = False
    """True where the page declares itself an article, as opposed to a front page, a shop or a thread."""
    closed: bool = False
    """True where the page declares that it isn't free to read (schema.org `isAccessibleForFree`)."""
    paid_parts: tuple[str, ...] = ()
    """CSS selectors of the parts that the page declares not to be free."""
    work: Work | None = None
    """Record of the scholarly work that the page holds; None where it names none."""


_TITLES = ("citation_title", "og:title", "dc.title", "dcterms.title", "twitter:title")
_SITES = ("og:site_name", "citation_journal_title", "application-name", "dc.publisher", "dcterms.publisher")
_AUTHORS = ("citation_author", "author", "article:author", "dc.creator", "dcterms.creator", "parsely-author")
_PUBLISHED = (
    "article:published_time", "og:published_time", "datepublished", "citation_publication_date",
    "citation_online_date", "citation_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date",
    "dcterms.date", "pubdate", "publishdate", "publish-date", "publication_date", "parsely-pub-date", "sailthru.date",
    "date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "dc.date.modified",
    "last-modified", "lastmod", "revised", "last-updated",
)  # fmt: skip

# Characters; a longer title is cut. A guess.
_MAX_TITLE_CHARS = 300


def read_metadata(tree: HtmlElement, url: str) -> Metadata:
    """Read the metadata of a parsed tree, before anything is removed from it. Dates come from markup only."""
    meta = _read_meta(tree)
    about = _read_structured_data(tree, url)
    is_article = _first(meta, ("og:type",)) == "article" or bool(_ARTICLES.search(str(about.get("@type"))))
    named = [name for each in as_list(about.get("author")) if (name := _name(each))]
    authors = author_names(named) or _authors(meta)
    # Where only an account such as "admin" is declared, a visible name may be that of anybody. Elsewhere than on an
    # article, it is that of a post or a review.
    is_declared = any(not text.startswith("http") for text in (*named, *_all(meta, _AUTHORS)))
    if is_article and not is_declared and (byline := byline_of(tree)):
        authors = author_names([byline])
    statuses = [str(each) for each in as_list(about.get("creativeWorkStatus"))]
    standing: Standing | None
    if "citation_retraction" in meta:
        standing = "retracted"
    elif _first(meta, ("dcterms.isreplacedby", "dc.relation.isreplacedby")):
        standing = "superseded"
    else:
        standing = standing_by_status(" ".join([*statuses, *_all(meta, ("article:status", "dcterms.status"))]))
    is_free = [about.get("isAccessibleForFree"), *meta.get("isaccessibleforfree", ())]
    site = _first(meta, _SITES) or _name(about.get("publisher")) or _name(about.get("isPartOf"))
    declared = tree.get("lang") or tree.get("xml:lang") or _first(meta, ("content-language", "og:locale")) or ""
    language = re.match(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})?", declared.strip())
    canonical_url: str | None = None
    links = [e.get("href") for e in tree.iter("link") if "canonical" in (e.get("rel") or "").lower().split()]
    for reference in [*links, *meta.get("og:url", ())]:
        with suppress(ValueError):
            canonical_url = join_url(url, reference or "")
            break
    return Metadata(
        title=_title(tree, meta, about, site, url),
        authors=authors,
        published=_first_date(about.get("datePublished"), *_all(meta, _PUBLISHED)) or _date_of_time_tag(tree),
        modified=_first_date(about.get("dateModified"), *_all(meta, _MODIFIED)),
        language=language[0].replace("_", "-") if language else None,
        canonical_url=canonical_url,
        standing=standing,
        is_article=is_article,
        closed=any(map(_is_false, is_free)) or _first(meta, ("article:content_tier",)) == "locked",
        paid_parts=tuple(
            selector.strip()
            for part in as_list(about.get("hasPart"))
            if isinstance(part, dict) and _is_false(part.get("isAccessibleForFree"))
            for selectors in as_list(part.get("cssSelector"))
            for selector in str(selectors).split(",")
        ),
        work=read_work(tree, meta, about, url),
    )


def seen_dates(
    metadata: Metadata, shown: str, url: str, *, top: str | None = None
) -> tuple[date | None, date | None]:
    """Return the dates of publication and last change; visible text and address complete the metadata.

    `top` is the text where a byline may stand without a label; None for the beginning of `shown`.
    """
    published, modified = shown_dates(shown, top)
    return metadata.published or published or in_address(url), metadata.modified or modified


# <meta>, <time>, <link>


def _read_meta(tree: HtmlElement) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for element in tree.iter("meta"):
        names = [element.get("property"), element.get("name"), element.get("itemprop"), element.get("http-equiv")]
        # A comment, or an event that the page tells of, has dates of its own.
        if names[2] and any(OTHER_TYPES.search(above.get("itemtype") or "") for above in element.iterancestors()):
            names[2] = None
        content = visible_line(element.get("content") or "")
        for name in names:
            if name and content:
                found.setdefault(name.strip().lower(), []).append(content)
    return found


def _all(meta: Mapping[str, list[str]], names: Sequence[str]) -> Iterator[str]:
    return (content for name in names for content in meta.get(name, ()))


def _first(meta: Mapping[str, list[str]], names: Sequence[str]) -> str | None:
    return next(_all(meta, names), None)


# Elements that are looked at; a guess that bounds the time for pages of nothing but dates.
_MAX_TIME_TAGS = 300
# Characters of a paragraph from which on the text has begun, and bylines have ended. A guess.
_MIN_PROSE_CHARS = 150
# Words beside the date on its line, and characters of that line: more are a sentence that tells of a day. Guesses.
_MAX_WORDS_BESIDE = 8
_MAX_BYLINE_CHARS = 90
_LINES = frozenset({"p", "li", "td", "dd", "h1", "h2", "h3", "h4", "blockquote", "figcaption"})


def _date_of_time_tag(tree: HtmlElement) -> date | None:
    """Return the date of the first <time> in the byline: above the text and the second heading, on a line of its own.

    None where there is none. The clock of the site's header, comments and other parts of the page do not count.
    """
    headings = 0
    for element in islice(tree.iter("time", "h2", "h3", "p"), _MAX_TIME_TAGS):
        if element.tag == "p":
            if element.find(".//time") is None and len("".join(element.itertext()).strip()) >= _MIN_PROSE_CHARS:
                return None
        elif element.tag != "time":
            headings += 1
            if headings > 1:
                return None
        elif (
            (found := as_date(element.get("datetime") or "".join(element.itertext())))
            and not any(map(is_beside_article, element.iterancestors()))
            and _is_byline(element)
        ):
            return found
    return None


def _is_byline(time: etree._Element) -> bool:
    """True where the date stands with few words on its line, and not in a sentence."""
    line = next((above for above in islice(time.iterancestors(), 3) if above.tag in _LINES), None)
    if line is None:
        above = time.getparent()
        around = [above.text if above is not None and time.getprevious() is None else "", time.tail]
        text = " ".join(filter(None, around))
    else:
        text = "".join(islice(line.itertext(), _MAX_TIME_TAGS))
        text = text.replace("".join(time.itertext()), "", 1)
    text = " ".join(text.split())
    return len(text) <= _MAX_BYLINE_CHARS and len(text.split()) <= _MAX_WORDS_BESIDE and not text.endswith(".")


# Title and author


def _authors(meta: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the names of the first tag that has some: other tags say them again, in another order or form."""
    tags = ((meta.get(tag, ()), tag not in ("author", "article:author", "parsely-author")) for tag in _AUTHORS)
    return next((names for fields, inverted in tags if (names := author_names(fields, inverted=inverted))), ())


def _title(
    tree: HtmlElement, meta: Mapping[str, list[str]], about: Mapping[str, Any], site: str | None, url: str
) -> str | None:
    headline = about.get("headline")
    written = visible_line(tree.findtext(".//title") or "")
    first_heading = tree.find(".//h1")
    heading = "" if first_heading is None else visible_line("".join(first_heading.itertext()))
    candidates = [headline if isinstance(headline, str) else None, _first(meta, _TITLES), written, heading]
    title = next((text for text in map(_plain, filter(None, candidates)) if text), None)
    return without_site(title[:_MAX_TITLE_CHARS], heading=heading, site=site, url=url) if title else None


# schema.org

_ARTICLES = re.compile(r"Article|Report|Posting|Review|ScholarlyWork|Recipe|HowTo|Dataset|Guide|Legislation|Book")
_PAGES = re.compile(r"WebPage|QAPage|FAQPage|AboutPage|ItemPage|CreativeWork")


def _read_structured_data(tree: HtmlElement, url: str) -> dict[str, Any]:
    """Return the article that JSON-LD describes, else the page; fields that only the page has are added.

    Of several articles it is the one at `url`. Where there is none, the page lists them, and their dates are not its
    own.
    """
    entities: list[dict[str, Any]] = []
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            try:
                entities += _entities(json.loads(script.text or "", strict=False))
            except (ValueError, RecursionError):
                continue
    articles = [each for each in entities if _ARTICLES.search(str(each.get("@type")))]
    pages = [each for each in entities if _PAGES.search(str(each.get("@type")))]
    if len({str(each.get("headline") or each.get("name")) for each in articles}) > 1:
        here = []
        for each in articles:
            page = each.get("mainEntityOfPage")
            addresses = (each.get("url"), each.get("@id"), page.get("@id") if isinstance(page, dict) else page)
            if url.rstrip("/") in (str(address).partition("#")[0].rstrip("/") for address in addresses):
                here.append(each)
        undated = {**articles[0], "datePublished": None, "dateModified": None}
        articles = here or [undated]
    merged: dict[str, Any] = {}
    for entity in [*articles[:1], *pages[:1]]:
        merged = {**entity, **merged}
    return merged


def _entities(value: object) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [entity for each in value for entity in _entities(each)]
    if isinstance(value, dict):
        return [value, *_entities(value.get("@graph"))]
    return []


def _name(value: object) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("name")
    return _plain(value) if isinstance(value, str) and not value.startswith("http") else None


def _plain(text: str) -> str:
    # JSON-LD is often escaped as if it were markup.
    return visible_line(unescape(text))


def _first_date(*values: object) -> date | None:
    texts = (str(value) for value in values if isinstance(value, str))
    return next((found for text in texts if (found := as_date(text)) and found != _EPOCH), None)


# The day that a missing time stamp is written as.
_EPOCH = date(1970, 1, 1)


def _is_false(value: object) -> bool:
    """True for `false`, "False", "no" and "https://schema.org/False"."""
    return value is False or (
        isinstance(value, str) and value.rstrip("/").rpartition("/")[2].lower() in ("false", "no")
    )


def base_of(tree: HtmlElement, url: str) -> str:
    """Return the address that the page's relative links start from."""
    for element in tree.iter("base"):
        try:
            return join_url(url, element.get("href") or "")
        except ValueError:
            break
    return url


# Links of a page that are read. A guess that bounds the time.
_MAX_LINKS = 10_000


@dataclass(frozen=True)
class Link:
    reference: str
    """Address as the page writes it: often relative, and not always one that can be read."""
    text: str


_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def links_of(element: etree._Element) -> list[Link]:
    """Return the first _MAX_LINKS links under `element`, in order.

    Links within the page, and of other schemes than http and https, are left out.
    """
    anchors = ((anchor, (anchor.get("href") or "").strip()) for anchor in islice(element.iter("a"), _MAX_LINKS))
    return [
        Link(reference, text_of(anchor))
        for anchor, reference in anchors
        if reference and not reference.startswith("#") and not _OTHER_SCHEME.match(reference)
    ]


def addresses_of(links: Iterable[Link], base: str) -> tuple[str, ...]:
    """Return the normalised addresses of the links, each once, without `base` itself and what is no address."""
    found: dict[str, None] = {}
    for reference in dict.fromkeys(link.reference for link in links):
        with suppress(ValueError):
            found[join_url(base, reference)] = None
    found.pop(base, None)
    return tuple(found)
