"""Results of searching and fetching: hits, pages with their passages, and failures. Plain data, no I/O.

A tool does not raise for a failure of a service, a network or a page: it returns an outcome that holds the failure.
Texts from outside (titles, snippets, messages of services) are bounded here, and rid of control characters.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Literal, NewType, TypeAlias

# Control characters, and the invisible ones that reorder, hide or smuggle text (Unicode TR 36): bidirectional
# embeddings, overrides and isolates, line and paragraph separators, tags, lone surrogates.
UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# An escape sequence of a terminal (ECMA-48): with the escape character alone gone, `[31m` would stay.
_TERMINAL = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]{0,200}(?:\x07|\x1b\\\\)|[@-_])")

# Characters that are kept of texts which services and pages send; the rest is cut. Guesses: titles have about 60,
# a search service's snippets up to 1,500, and error messages that say more than this are documents.
TITLE_CHARS, SNIPPET_CHARS, DETAIL_CHARS = 300, 3_000, 1_000


def plain_text(text: str, limit: int) -> str:
    """Return `text` without unsafe characters, cut with `…` where it is longer than `limit` characters."""
    # Texts of many MB are cut first, since the rest would be cleaned for nothing. Cleaning seldom halves a text.
    clean = UNSAFE.sub("", _TERMINAL.sub("", text[: 2 * limit]))
    if len(clean) <= limit and len(text) <= 2 * limit:
        return clean
    return clean[: limit - 1].rstrip() + "…"


def plain_line(text: str, limit: int) -> str:
    """Return `text` as `plain_text` does, on a single line."""
    line = " ".join(plain_text(text, 2 * limit).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def shortened(text: str, limit: int = 160) -> str:
    """Return `text` on a single line; one of more than `limit` characters is cut between words and ends with ` …`."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[:limit].rpartition(" ")[0] + " …"


# `sha256:` and 64 hexadecimal digits, of bytes as they were fetched (or of a text's UTF-8 bytes).
ContentHash = NewType("ContentHash", str)


def content_hash(body: bytes) -> ContentHash:
    """Return the hash under which bytes are stored."""
    return ContentHash("sha256:" + hashlib.sha256(body).hexdigest())


# Start of a locator of rows in a database: `db:sales/orders?sha256=…`.
DATABASE = "db:"

_PLACE = re.compile(r"#(?:page=\d+|slide=\d+|L\d+|epubcfi\(/\d+/\d+\))$")


def is_file(locator: str) -> bool:
    """Return whether a locator is the path of one of the user's own files, rather than the address of a page or of
    rows in a database."""
    return not locator.startswith(("http://", "https://", DATABASE))


def is_database(locator: str) -> bool:
    """Return whether a locator is that of rows in one of the user's databases."""
    return locator.startswith(DATABASE)


def placed(locator: str, place: str | None) -> str:
    """Return the locator of a place in a file or on a page: `/notes/report.pdf#page=3`, `/notes/garden.md#L12`,
    `https://arxiv.org/html/2301.01234v2#S3.SS2`."""
    return f"{locator}#{place}" if place else locator


def without_place(locator: str) -> str:
    """Return the locator of the file or page that a place is in."""
    # The address under which a page is read never has a fragment, so that any is a place.
    return _PLACE.sub("", locator) if is_file(locator) else locator.partition("#")[0]


class FailureKind(str, Enum):
    """Kind of failure of a search or a fetch."""

    # the source is there, but closed to us
    FORBIDDEN = "forbidden"  # 401, 403, 407, 451, or a page that says so: other countries, adults, an app only
    PAYWALL = "paywall"  # 402, or a teaser that says so
    LOGIN_REQUIRED = "login_required"
    ROBOTS_DISALLOWED = "robots_disallowed"
    BOT_WALL = "bot_wall"
    COOKIE_WALL = "cookie_wall"  # nothing is shown until cookies are accepted, or advertising is paid off
    RATE_LIMITED = "rate_limited"  # 429
    # the search service itself
    BAD_KEY = "bad_key"
    SERVICE_DOWN = "service_down"
    # the source is not there, or not readable
    NOT_FOUND = "not_found"  # 404, 410, or a page that says so
    SERVER_ERROR = "server_error"
    TIMEOUT = "timeout"
    NETWORK = "network"  # no such host, connection refused, broken TLS
    REFUSED_ADDRESS = "refused_address"  # private, loopback, other scheme or port
    REDIRECT_LOOP = "redirect_loop"
    CHANGED = "changed"  # a file that is no longer what was indexed
    NO_TEXT = "no_text"  # read, but there is nothing to quote
    NOT_UNDERSTOOD = "not_understood"  # a question that can't be turned into a query of a database with certainty
    BAD_REQUEST = "bad_request"  # not a URL, or a query that the service will not take

    @property
    def closed(self) -> bool:
        """True where the contract calls the failure `access_denied`."""
        return self in _CLOSED

    @property
    def is_outage(self) -> bool:
        """True for a failure of the network or of a server, which says nothing about what the source holds."""
        return self in _OUTAGES


_CLOSED = frozenset(
    {
        FailureKind.FORBIDDEN,
        FailureKind.PAYWALL,
        FailureKind.LOGIN_REQUIRED,
        FailureKind.ROBOTS_DISALLOWED,
        FailureKind.BOT_WALL,
        FailureKind.COOKIE_WALL,
        FailureKind.RATE_LIMITED,
        FailureKind.BAD_KEY,
        FailureKind.SERVICE_DOWN,
    }
)


_OUTAGES = frozenset({FailureKind.SERVICE_DOWN, FailureKind.SERVER_ERROR, FailureKind.TIMEOUT, FailureKind.NETWORK})


@dataclass(frozen=True)
class Failure:
    kind: FailureKind
    detail: str
    """One sentence for a person: what happened, without secrets; of at most DETAIL_CHARS on one line."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", plain_line(self.detail, DETAIL_CHARS))


@dataclass(frozen=True)
class SearchHit:
    url: str
    title: str
    snippet: str = ""
    score: float = 0.0
    """Score by the provider, higher is better; comparable within one outcome only."""
    published: date | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", plain_line(self.title, TITLE_CHARS) or self.url)
        object.__setattr__(self, "snippet", plain_text(self.snippet, SNIPPET_CHARS))


@dataclass(frozen=True)
class SearchOutcome:
    query: str
    provider: str
    hits: tuple[SearchHit, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    meant: Mapping[str, str] = field(default_factory=dict)
    """Words of the collection that were searched for too, by the misspelt word of the query."""
    malformed: int = 0
    """Number of results that were skipped, because they have no usable address or are no objects at all."""
    failed: tuple[str, ...] = ()
    """Providers that failed, of a search that asked several of which others answered; else none."""
    incomplete: tuple[str, ...] = ()
    """Sentences on what a provider that answered could not search, each of at most DETAIL_CHARS; else none."""

    def __post_init__(self) -> None:
        told = (plain_line(each, DETAIL_CHARS) for each in self.incomplete)
        object.__setattr__(self, "incomplete", tuple(each for each in told if each))


@dataclass(frozen=True)
class Passage:
    """A numbered slice of a page's text: `page.text[start:end] == text`."""

    number: int
    """Number of the passage on its page, from 1, in reading order; a model points at it."""
    start: int
    end: int
    text: str
    heading: str | None = None
    """The nearest heading above it, where the page has one."""
    place: str | None = None
    """Place of the passage in a file, for a person: `page=3`, `L12`; the id of its section in a paper on the web;
    None on other web pages."""
    cells: tuple[tuple[str, str], ...] = ()
    """Name of the column and value of each cell of a table row; empty for other passages."""
    row: int = 0
    """Number of the table row on its page, from 1, which the passage is all or a part of; 0 for other passages."""
    code: int | None = None
    """Offset in `text` from which on it is code, behind the line that leads in to it; None for text."""

    @property
    def said(self) -> str:
        """Text; of a table row, its cells without the names of their columns."""
        return " | ".join(value for _, value in self.cells) or self.text


# Standing of a work that no longer stands, as its page or a registry tells it.
Standing: TypeAlias = Literal["retracted", "superseded"]


@dataclass(frozen=True)
class Work:
    """Bibliographic record of what a page holds: the same for each copy of a paper, wherever it lies."""

    doi: str | None = None
    """DOI in lower case, without `https://doi.org/`."""
    arxiv: str | None = None
    """Identifier without its version: `2301.01234`, `hep-th/9901001`."""
    pmid: str | None = None
    version: str | None = None
    """Version of this text: `v2` on arXiv, the number of a revision in an encyclopedia."""
    authors: tuple[str, ...] = ()
    year: int | None = None
    """Year of the first publication."""
    venue: str | None = None
    """Journal, proceedings, site or database that published it."""
    is_peer_reviewed: bool | None = None
    """None where nothing says so."""
    is_abstract: bool = False
    """True where only the abstract was read."""
    same_as: tuple[str, ...] = ()
    """Identifiers of other forms of the work, such as its preprint: `doi:10.1000/xyz`, `arXiv:2301.01234`."""


NoticeKind: TypeAlias = Literal["retracted", "superseded", "concern", "corrected", "newer_version", "notice"]


@dataclass(frozen=True)
class Notice:
    """News of a work as a whole, from its publisher or from a registry."""

    kind: NoticeKind
    """`notice` where the work is itself the notice of another one's correction or retraction."""
    detail: str
    """The news, in a sentence."""
    url: str | None = None
    """Address of the notice or of the newer version; None where it is the page itself, or not known."""


@dataclass(frozen=True)
class Reference:
    """An entry of a work's list of references, and the places where the work cites it."""

    work: Work
    """Identifiers of the cited work; none are set where the entry has none."""
    text: str
    """Entry as it stands in the list, on one line."""
    title: str | None = None
    """Title of the cited work; None where the entry does not set it apart."""
    marks: tuple[int, ...] = ()
    """Places in the page's text where it is cited, in order; empty where they are not known."""


# Names of authors of a page; further ones are left out. A guess.
_MOST_AUTHORS = 50


@dataclass(frozen=True)
class Page:
    """A fetched page as it is read, quoted and stored: one text, and passages that are slices of it."""

    url: str
    """Address that the page was read from, after redirects."""
    content_hash: ContentHash
    text: str
    text_hash: ContentHash
    passages: tuple[Passage, ...]
    media_type: str = "text/html"
    title: str | None = None
    authors: tuple[str, ...] = ()
    """Names that the page gives of its authors; those of a scholarly work stand in its record, `work`."""
    published: date | None = None
    modified: date | None = None
    language: str | None = None
    canonical_url: str | None = None
    links: tuple[str, ...] = ()
    """Absolute URLs in its main text, in order, without duplicates."""
    standing: Standing | None = None
    """`retracted` or `superseded` where the page says so of itself; else None."""
    source: str | None = None
    """Source that a citation names, where the content itself tells it: `arxiv`, `pubmed`; else that of the search."""
    collection: str | None = None
    """Publisher of a file: the site that it was saved from, else its corpus; None for other pages."""
    work: Work | None = None
    query: str | None = None
    """Statement whose rows the page is, where it comes from a database."""
    references: tuple[Reference, ...] = field(default=(), repr=False)
    """Entries of the list of references of a scholarly work, in its order."""
    notices: tuple[Notice, ...] = ()
    """Corrections, expressions of concern and the like that the page tells of its work."""

    def __post_init__(self) -> None:
        if self.title is not None:
            object.__setattr__(self, "title", plain_line(self.title, TITLE_CHARS) or None)
        names = (plain_line(name, TITLE_CHARS) for name in self.authors[:_MOST_AUTHORS])
        object.__setattr__(self, "authors", tuple(dict.fromkeys(filter(None, names))))

    @property
    def dated(self) -> date | None:
        """Day of the content: the one of its last change, else of its publication; None where neither is known."""
        return self.modified or self.published


@dataclass(frozen=True)
class FetchOutcome:
    """One fetch. `page` is there exactly if `failure` is None; a page without text has none of either's passages."""

    url: str
    """Normalised address that was asked for."""
    final_url: str
    status: int | None = None
    """HTTP status; None where no answer came, and for a file."""
    content_type: str | None = None
    content_hash: ContentHash | None = None
    """Hash of `body`; None where no body arrived. A failure can have one."""
    content_length: int | None = None
    body: bytes = field(default=b"", repr=False)
    page: Page | None = None
    failure: Failure | None = None
    redirects: tuple[str, ...] = ()
    seconds: float = 0.0
    notices: tuple[Notice, ...] = ()
    """Notices of the page's work that a registry told, besides those that the page tells itself."""
    kept_for: float | None = None
    """Seconds for which the answer had been kept since its server gave or confirmed it; None where it is new."""

    def __post_init__(self) -> None:
        if self.content_type is not None:
            object.__setattr__(self, "content_type", plain_line(self.content_type, TITLE_CHARS))
