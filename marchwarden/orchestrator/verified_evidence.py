"""Quotes of a researcher, taken over only where it stands in the page: nothing of it is believed before.

The page's bytes come from the shared content store, or over MCP; they are read here again, and each excerpt is looked
for in that text. Where the bytes can't be had, the text under its hash is enough.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import anyio.to_thread
from pydantic import ValidationError

from marchwarden.contract import EXCERPT_CUT, NON_TEXT_SOURCE, Citation, ResearchResult
from marchwarden.errors import TraceError
from marchwarden.files import make_private_folder, write_whole
from marchwarden.injection.detector import clean_metadata, find_injections
from marchwarden.ledger import Stance
from marchwarden.observations import ContentHash, Page, Passage, content_hash, without_place
from marchwarden.sources.recorded_tools import read_again
from marchwarden.store.content_store import Store
from marchwarden.text.invisible import visible
from marchwarden.trace.events import Dropped, Event, Extracted, Fetched, PickRecord, parse_event
from marchwarden.trace.reader import whole_line

# Reads a resource of the researcher's server; None where it has none.
Read = Callable[[str], Awaitable["bytes | None"]]


# Reasons for which a quote is not taken over that lie in its server, and say nothing of the quote.
NO_TRACE, NO_PAGE = "its trace can't be fetched", "the page can't be fetched"


@dataclass(frozen=True)
class Quote:
    """A slice of a page's text that a researcher quoted."""

    start: int
    end: int
    stance: Stance
    by_model: bool
    """True where a model picked it, so that shared words say less about it."""
    sought: tuple[str, ...] = ()
    """Sub-questions of the researcher that it was picked for; none where its trace does not tell."""
    measured: Mapping[str, float] = field(default_factory=dict)
    """Relevance to sub-questions, by their words, as a researcher of this process measured it over all that it read;
    empty for any other researcher, whose figures are not believed."""


@dataclass
class QuotedPage:
    page: Page
    position: int
    """Place of the page among those that the result cites, from 1."""
    researcher: str
    trace_id: str
    source: str
    """Source as the researcher names it: `web`, `arxiv` …"""
    fetched: Fetched
    quotes: list[Quote] = field(default_factory=list)


@dataclass(frozen=True)
class Taken:
    pages: list[QuotedPage]
    events: list[Event]
    """Events for the investigation's own trace: each page, what was picked from it, and what was refused."""
    unchecked: str | None
    """Reason for which a citation could not be checked, since its page or trace could not be had; None for none."""
    trace_hash: str | None
    """Hash under which the store holds the researcher's trace; None where it can't be had."""


async def take(
    result: ResearchResult,
    researcher: str,
    question: str,
    read: Read,
    store: Store,
    allows: Callable[[str], bool] = lambda host: True,
    *,
    is_own: bool = False,
) -> Taken:
    """Return a result's verified excerpts; its trace is kept beside the own one, and in the store.

    `allows` says whose pages count; `is_own` that the researcher runs in this process, so that its figures count.
    """
    trace = await _trace_of(result.trace_id, read, store)
    lines = [line for each in trace.split(b"\n") if (line := whole_line(each))]
    researched = _Researched(researcher, result.trace_id, lines, read, store)
    refused: list[Dropped] = []
    unchecked: str | None = None
    for citation in result.citations:
        host = urlsplit(citation.locator).hostname
        if host and not allows(host):
            fault: str | None = "the source filter does not allow this domain"
        else:
            fault = await researched.take(citation)
        if fault:
            unchecked = unchecked or (fault if fault in (NO_TRACE, NO_PAGE) else None)
            decision = f"{researcher} quotes {citation.locator}: {fault}"
            refused.append(Dropped(what="excerpt", text=citation.raw_excerpt, decision=decision))
    taken = list(researched.pages.values())
    if not is_own:
        for page in taken:
            page.quotes = [replace(quote, measured={}) for quote in page.quotes]
    events: list[Event] = []
    for each in taken:
        events += [_fetched(each), _extracted(each, question)]
    kept = await anyio.to_thread.run_sync(store.put, trace) if lines else None
    return Taken(taken, [*events, *refused], unchecked, kept)


async def _trace_of(trace_id: str, read: Read, store: Store) -> bytes:
    """Return a researcher's trace; nothing where it can't be had."""
    path = store.folder.parent / f"{trace_id}.jsonl"
    try:
        body: bytes | None = await anyio.to_thread.run_sync(path.read_bytes)
    except OSError:
        body = await read(f"trace://{trace_id}")
        if body is not None:
            make_private_folder(path.parent)
            await anyio.to_thread.run_sync(lambda: write_whole(path, body or b"", synced=False, private=True))
    return body or b""


class _Researched:
    """The trace of one researcher, and the pages of it that were quoted rightly so far."""

    def __init__(self, researcher: str, trace_id: str, lines: list[dict[str, Any]], read: Read, store: Store) -> None:
        self._researcher, self._trace_id, self._lines = researcher, trace_id, lines
        self._read, self._store = read, store
        self.pages: dict[str, QuotedPage] = {}

    async def take(self, citation: Citation) -> str | None:
        """Take a citation over, and return None; else the reason why not."""
        if citation.raw_excerpt == NON_TEXT_SOURCE:
            return "a source without text can't be checked"
        where = {citation.locator, without_place(citation.locator)}
        named = [
            line
            for line in self._lines
            if line.get("action") == "fetch_url"
            and where & {line.get("final_url"), line.get("url")}
            and citation.content_hash in (None, line.get("content_hash"))
            and line.get("text_hash")
        ]
        if not named:
            return "this page is not in its trace" if self._lines else NO_TRACE
        fault = NO_PAGE
        for line in named:
            try:
                event = parse_event(line)
            except ValidationError:
                continue
            if not isinstance(event, Fetched):
                continue
            known = self.pages.get(event.final_url)
            page = known.page if known else await self._page_of(event)
            if page is None:
                continue
            quote = self._quote_of(citation.raw_excerpt, page, event)
            if quote is None:
                fault = "the excerpt is not in the text of the page"
                continue
            injected = find_injections(page)
            if any(
                quote.start < each.end and each.start < quote.end for each in page.passages if each.number in injected
            ):
                return "the passage looks like prompt injection"
            quoted = self.pages.setdefault(
                event.final_url,
                QuotedPage(page, len(self.pages) + 1, self._researcher, self._trace_id, citation.source, event),
            )
            if all((each.start, each.end) != (quote.start, quote.end) for each in quoted.quotes):
                quoted.quotes.append(quote)
            return None
        return fault

    async def _page_of(self, event: Fetched) -> Page | None:
        """Return a page, read again from its bytes; from its text where those can't be had, or give another text."""
        body = await self._content(event.content_hash)
        if body is not None:
            page = await anyio.to_thread.run_sync(read_again, event, body)
            if isinstance(page, Page) and page.passages:
                page = await anyio.to_thread.run_sync(clean_metadata, page)
                await anyio.to_thread.run_sync(self._store.put, page.text.encode())
                return page
        text = await self._content(event.text_hash)
        if text is None:
            return None
        return await anyio.to_thread.run_sync(_page_of_text, event, text)

    async def _content(self, key: str | None) -> bytes | None:
        """Return stored bytes under their hash, from here or from the researcher, and keep them; None for none."""
        if key is None:
            return None
        try:
            return await anyio.to_thread.run_sync(self._store.get, key)
        except TraceError:
            body = await self._read(f"content://{key}")
        if body is None or content_hash(body) != key:
            return None
        await anyio.to_thread.run_sync(self._store.put, body)
        return body

    def _quote_of(self, excerpt: str, page: Page, event: Fetched) -> Quote | None:
        """Return an excerpt as a slice of a page's text, with what it was picked for; None where it is not in it."""
        sought = excerpt.removesuffix(EXCERPT_CUT)
        place: tuple[int, int] | None = None
        picks: list[dict[str, Any]] = []
        by_model = False
        for line in self._lines:
            if line.get("action") != "extract" or line.get("url") not in (event.final_url, event.url):
                continue
            for pick in line.get("picks") or ():
                start, end, whole = pick.get("start"), pick.get("end"), str(pick.get("excerpt"))
                if whole.startswith(sought) and isinstance(start, int) and isinstance(end, int):
                    if page.text[start:end] != whole:
                        start = page.text.find(whole)
                        end = start + len(whole)
                    if start >= 0 and (whole == excerpt or excerpt.endswith(EXCERPT_CUT)):
                        place = place or (start, end)
                        if place == (start, end):  # one slice may be picked for several sub-questions
                            picks.append(pick)
                            by_model = by_model or line.get("stage_form") == "model"
        if place is None:
            start = page.text.find(sought)
            if start < 0 or not sought.strip():
                return None
            return Quote(start, start + len(sought), "supports", by_model=True)
        figures = {str(pick.get("aspect")): pick.get("relevance") for pick in picks}
        return Quote(
            *place,
            "contradicts" if picks[0].get("stance") == "contradicts" else "supports",
            by_model,
            sought=tuple(str(pick.get("aspect")) for pick in picks),
            measured={text: value for text, value in figures.items() if isinstance(value, float) and 0 <= value <= 1},
        )


def _page_of_text(event: Fetched, body: bytes) -> Page | None:
    """Return a page of its text alone, a passage a line: a reader of another version or language made it."""
    try:
        text = body.decode("utf-8")
    except UnicodeError:
        return None
    if visible(text) != text:
        return None
    passages: list[Passage] = []
    start = 0
    for line in text.split("\n"):
        if line.strip():
            passages.append(Passage(len(passages) + 1, start, start + len(line), line))
        start += len(line) + 1
    page = Page(
        url=event.final_url,
        content_hash=ContentHash(event.content_hash or content_hash(body)),
        text=text,
        text_hash=content_hash(body),
        passages=tuple(passages),
        title=event.title,
        published=event.published,
        modified=event.modified,
    )
    return clean_metadata(page)


def _fetched(quoted: QuotedPage) -> Fetched:
    page = quoted.page
    told: dict[str, Any] = {
        "content_hash": page.content_hash,
        "text_hash": page.text_hash,
        "title": page.title,
        "published": page.published,
        "modified": page.modified,
        "duration_sec": 0.0,
        "decision": f"{quoted.researcher} quotes it, in the trace {quoted.trace_id}.",
    }
    return quoted.fetched.model_copy(update=told)


def _extracted(quoted: QuotedPage, question: str) -> Extracted:
    text = quoted.page.text
    picks = [
        PickRecord(
            start=each.start, end=each.end, excerpt=text[each.start : each.end], aspect=question, stance=each.stance
        )
        for each in quoted.quotes
    ]
    form = "model" if any(each.by_model for each in quoted.quotes) else "model_free"
    return Extracted(
        url=quoted.page.url,
        passages=len(quoted.page.passages),
        picks=picks,
        stage_form=cast(Literal["model", "model_free"], form),
        decision=f"Quoted by {quoted.researcher}, and found in the text of the page.",
    )
