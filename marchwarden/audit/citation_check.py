"""Looking after citations: fetch each cited page or file again, and tell what became of its quotes.

Pages come through the same fetcher as in research (robots.txt, pauses, address rules), each address once, one at a
time from a host. Kept answers are confirmed with their server. A page that can't be reached is told as such: that is
no finding about it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from marchwarden import __version__
from marchwarden.audit.drift import find_drift
from marchwarden.audit.file_check import read_document
from marchwarden.audit.rows_check import RowsReader, rows_reader
from marchwarden.contract import EXCERPT_CUT, NON_TEXT_SOURCE, Citation
from marchwarden.errors import TraceError
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport, manifest_hash
from marchwarden.http.addresses import host_of, web_address
from marchwarden.observations import (
    Failure,
    FailureKind,
    FetchOutcome,
    Notice,
    is_database,
    is_file,
    placed,
    without_place,
)
from marchwarden.reading.works.notices import crossref_address, crossref_notices
from marchwarden.settings import Settings, shipped
from marchwarden.source_table import SOURCES, members_of
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.source_registry import is_ready, open_tools
from marchwarden.store.content_store import Store
from marchwarden.text.works import DOI_RESOLVER, arxiv_paper_of, doi_of, is_doi_address
from marchwarden.trace.events import Fetched, Started

if TYPE_CHECKING:
    from marchwarden.trace.reader import Trace

State: TypeAlias = Literal["same", "elsewhere", "changed", "gone", "moved", "closed", "unreachable"]

# States in which the quote is still said, and those in which it is not.
STILL_SAID: frozenset[State] = frozenset({"same", "elsewhere", "moved"})
DRIFTED: frozenset[State] = frozenset({"changed", "gone"})

# Seconds for one page, redirects and a crawl delay included, where the setting is less: nobody waits. A guess.
FETCH_S = 30.0
# Hosts that are asked side by side. A guess.
_HOSTS_AT_ONCE = 8

# Requests in a row without any answer after which a host is given up. A guess.
_MOST_SILENCES = 2

_SILENT = frozenset({FailureKind.NETWORK, FailureKind.TIMEOUT})
# Failures that say nothing of the page: the service limits us, refuses us, or is down.
_NO_ANSWER = frozenset({FailureKind.RATE_LIMITED, FailureKind.BAD_KEY, FailureKind.SERVICE_DOWN})


@dataclass(frozen=True)
class CitationCheck:
    """The state of one citation as its page or file is now."""

    number: int
    """Number of the citation, from 1, as in the answer's marker."""
    locator: str
    quote: str
    state: State
    detail: str = ""
    """Reason for the state, in a sentence; empty where the state says all."""
    old_sentence: str | None = None
    """First sentence of the quote that is gone; None where none is."""
    new_sentence: str | None = None
    """Sentence that took its place; None where none is like it."""
    new_locator: str | None = None
    """Address that the page has moved to, or place of the quote in its file; None where it is the cited one."""
    status: int | None = None
    """HTTP status of the answer; None where none came, and for a file."""
    notices: tuple[Notice, ...] = ()
    """News of the work as a whole since it was cited: retractions, corrections, newer versions."""

    @property
    def has_drifted(self) -> bool:
        """True where the quote is no longer said, or the work was retracted or superseded since."""
        told = {notice.kind for notice in self.notices}
        return self.state in DRIFTED or bool(told & {"retracted", "superseded"})


@dataclass(frozen=True)
class TraceCheck:
    """One check of a trace's citations."""

    trace_id: str
    question: str
    checked: datetime
    """Time of the check, in UTC."""
    citations: tuple[CitationCheck, ...]

    def record(self) -> dict[str, Any]:
        """Return the check as JSON: what is kept beside the trace."""
        return {
            "checked": self.checked.isoformat(timespec="seconds").replace("+00:00", "Z"),
            "version": __version__,
            "citations": [asdict(each) for each in self.citations],
        }


@dataclass(frozen=True)
class _Cited:
    """One citation with what its trace knows of the page."""

    number: int
    citation: Citation
    store: Store
    text_hash: str | None
    body_hash: str | None
    was: str | None
    """Standing of the page then: `retracted`, `superseded`; None for a usual one."""

    def text(self) -> str | None:
        """Return the text of the page as it was read; None where it is lost."""
        text = self._stored(self.text_hash)
        return None if text is None else text.decode("utf-8", "replace")

    def body(self) -> bytes | None:
        """Return the bytes of the page as they came; None where they are lost."""
        return self._stored(self.body_hash)

    def _stored(self, key: str | None) -> bytes | None:
        try:
            return self.store.get(key) if key else None
        except TraceError:
            return None

    @property
    def address(self) -> str:
        """Address or path that is to be read again."""
        return without_place(self.citation.locator)


@dataclass(frozen=True)
class Plan:
    """The citations of one trace that are to be checked."""

    trace: Trace
    started: Started
    cited: tuple[_Cited, ...]

    @property
    def addresses(self) -> set[str]:
        return {each.address for each in self.cited}


def plan_check(trace: Trace) -> Plan:
    """Return what there is to check in a trace. Raises TraceError where it has no result that can be read."""
    events = [event for _, _, event in trace.events]
    if trace.result is None or not isinstance(events[0], Started):
        raise TraceError(f"{trace.trace_id} is {trace.outcome}: it has no result whose citations could be checked")
    store = Store(trace.path.parent / "store")
    fetched = [event for event in events if isinstance(event, Fetched)]
    cited = []
    for number, citation in enumerate(trace.result.citations, start=1):
        where = {citation.locator, without_place(citation.locator)}
        page = next(
            (
                each
                for each in fetched
                if where & {each.url, each.final_url} and citation.content_hash in (None, each.content_hash)
            ),
            None,
        )
        hashes = (page.text_hash, page.content_hash) if page else (None, None)
        cited.append(_Cited(number, citation, store, *hashes, _standing_then(trace, where)))
    return Plan(trace, events[0], tuple(cited))


def _standing_then(trace: Trace, where: set[str]) -> str | None:
    """Return the standing of a source as the trace recorded it; its lines may be of another version."""
    line: Mapping[str, Any] = next(
        (line for line in reversed(trace.raw) if line.get("action") == "conclude"), {"state": {}}
    )
    try:
        sources = line["state"]["ledger"]["sources"]
        return next((source["standing"] for source in sources if source["locator"] in where), None)
    except (AttributeError, KeyError, TypeError):
        return None


class PageReader(Protocol):
    """Reader of the pages of one web as they are today."""

    async def fetch(self, url: str) -> FetchOutcome: ...

    async def aclose(self) -> None: ...


class CitationChecker:
    """Checks the citations of traces; each address is read once, however often it is cited."""

    def __init__(self, fetchers: Mapping[str, PageReader | str], rows: RowsReader) -> None:
        """`fetchers`: the reader for each web, or a sentence on why that web can't be read. `rows` runs the
        statement of a citation of a database again."""
        self._fetchers = fetchers
        self._rows = rows
        self._turns: dict[str, anyio.Lock] = {}
        self._silent: dict[str, int] = {}
        self._hosts = anyio.CapacityLimiter(_HOSTS_AT_ONCE)
        self._notices: dict[tuple[str, str], tuple[Notice, ...]] = {}

    async def check(
        self,
        plans: Sequence[Plan],
        tell: Callable[[str], None] = lambda address: None,
        keep: Callable[[Plan, TraceCheck], None] = lambda plan, check: None,
    ) -> list[TraceCheck]:
        """Return a check for each plan, in their order.

        `tell` is called with each address that was read, and `keep` with each check as soon as it is whole.
        """
        found: dict[tuple[int, int], CitationCheck] = {}
        checks: dict[int, TraceCheck] = {}

        def finish(place: int) -> None:
            plan = plans[place]
            if place in checks or any((place, each.number) not in found for each in plan.cited):
                return
            citations = tuple(found[place, each.number] for each in plan.cited)
            now = datetime.now(timezone.utc)
            checks[place] = TraceCheck(plan.trace.trace_id, plan.started.question, now, citations)
            keep(plan, checks[place])

        async def look(address: str, cited: list[tuple[int, Plan, _Cited]]) -> None:
            web = web_of(cited[0][1].started)
            outcome = await self._read(address, web)
            for place, _, each in cited:
                found[place, each.number] = await self._judge(each, outcome, web)
                finish(place)
            tell(address)

        # The citations by address and web, each with the place of its plan: a page is read once.
        by_address: dict[tuple[str, str], list[tuple[int, Plan, _Cited]]] = {}
        for place, plan in enumerate(plans):
            for each in plan.cited:
                by_address.setdefault((each.address, web_of(plan.started)), []).append((place, plan, each))
        async with anyio.create_task_group() as group:
            for (address, _), cited in by_address.items():
                group.start_soon(look, address, cited)
        return [checks[place] for place in range(len(plans))]

    async def _read(self, address: str, web: str) -> FetchOutcome:
        if is_file(address) or is_database(address):
            # Files are read per citation: a line may have moved. A database needs the citation's statement.
            return FetchOutcome(address, address)
        fetcher = self._fetchers[web]
        if isinstance(fetcher, str):
            return FetchOutcome(address, address, failure=Failure(FailureKind.NETWORK, fetcher))
        host = host_of(address)
        # The lock first, so that what waits for a slow host takes no place from others.
        async with self._turns.setdefault(host, anyio.Lock()), self._hosts:
            if self._silent.get(host, 0) >= _MOST_SILENCES:
                detail = f"{host} did not answer {_MOST_SILENCES} times, so it was not asked again"
                return FetchOutcome(address, address, failure=Failure(FailureKind.NETWORK, detail))
            outcome = await fetcher.fetch(address)
            is_silent = outcome.status is None and outcome.failure is not None and outcome.failure.kind in _SILENT
            self._silent[host] = self._silent.get(host, 0) + 1 if is_silent else 0
            return outcome

    async def _judge(self, cited: _Cited, outcome: FetchOutcome, web: str) -> CitationCheck:
        if is_file(cited.address):
            return await to_thread.run_sync(partial(_judge_file, cited))
        if is_database(cited.address):
            return await to_thread.run_sync(judge, cited, await self._rows(cited.citation))
        check = await to_thread.run_sync(judge, cited, outcome)
        doi = doi_of(cited.citation.locator)
        if doi and not is_doi_address(cited.citation.locator) and check.state not in ("same", "elsewhere"):
            # A page that is no longer where it was may be where its DOI leads to now.
            there = await self._read(f"{DOI_RESOLVER}{doi}", web)
            if not there.failure and not _is_same_page(there.final_url, cited.citation.locator):
                again = await to_thread.run_sync(judge, cited, there)
                if again.state in STILL_SAID:
                    detail = f"its DOI {doi} leads there"
                    check = replace(again, state="moved", new_locator=there.final_url, detail=detail)
        return replace(check, notices=(*check.notices, *await self._news(cited, outcome, doi, web)))

    async def _news(self, cited: _Cited, outcome: FetchOutcome, doi: str | None, web: str) -> tuple[Notice, ...]:
        news = (*(outcome.page.notices if outcome.page else ()), *outcome.notices)
        # Full texts and abstracts of archives have addresses without a DOI.
        if doi := doi or cited.citation.doi:
            if (web, doi) not in self._notices:
                told = await self._read(crossref_address(doi), web)
                try:
                    notices = tuple(crossref_notices(told.body)) if told.status == 200 else ()
                except (ValueError, RecursionError):
                    notices = ()
                self._notices[web, doi] = notices
            known = {(each.kind, each.url) for each in news}
            news += tuple(each for each in self._notices[web, doi] if (each.kind, each.url) not in known)
        if paper := arxiv_paper_of(cited.citation.locator):
            cited_version = paper.version or paper.latest_version(cited.body() or b"")
            latest = paper.latest_version(outcome.body)
            if paper.address != cited.citation.locator:
                listed = await self._read(paper.address, web)
                latest = max(filter(None, (latest, paper.latest_version(listed.body))), default=None)
            if cited_version and latest and latest > cited_version:
                detail = f"arXiv has version {latest}; version {cited_version} was cited"
                news += (Notice("newer_version", detail, f"{paper.address}v{latest}"),)
        return tuple(dict.fromkeys(news))


def judge(cited: _Cited, outcome: FetchOutcome) -> CitationCheck:
    """Return the state of a citation of the web, by the page that was fetched from its locator."""
    citation = cited.citation
    check = CitationCheck(cited.number, citation.locator, citation.raw_excerpt, "same", status=outcome.status)
    failure = outcome.failure
    if failure and failure.kind != FailureKind.NO_TEXT:
        return replace(check, state=_state_of(failure.kind), detail=failure.detail)
    check = _compared(check, cited, outcome)
    page = outcome.page
    if page and page.standing and page.standing != cited.was:
        check = replace(check, notices=(Notice(page.standing, f"the page says that it is {page.standing}"),))
    if _is_same_page(outcome.final_url, citation.locator) or is_doi_address(citation.locator):
        return check
    if check.state in STILL_SAID:
        return replace(check, state="moved", new_locator=outcome.final_url)
    detail = "the address now leads to another page, without the quote"
    return replace(check, detail=detail, new_locator=outcome.final_url)


def _compared(check: CitationCheck, cited: _Cited, outcome: FetchOutcome) -> CitationCheck:
    """Return the check with the state of the quote in what was read."""
    if cited.citation.raw_excerpt == NON_TEXT_SOURCE:
        if outcome.content_hash == cited.citation.content_hash:
            return check
        return replace(check, state="changed", detail="it has no text, and its bytes have changed")
    if outcome.page is None or not outcome.page.text:
        detail = outcome.failure.detail if outcome.failure else "it has no readable text now"
        return replace(check, state="changed", detail=detail)
    page = outcome.page
    drift = find_drift(cited.citation.raw_excerpt, cited.text(), page.text, page.language)
    return replace(check, state=drift.state, old_sentence=drift.old_sentence, new_sentence=drift.new_sentence)


def _state_of(kind: FailureKind) -> State:
    if kind == FailureKind.NOT_FOUND:
        return "gone"
    return "closed" if kind.closed and kind not in _NO_ANSWER else "unreachable"


def _is_same_page(url: str, other: str) -> bool:
    """Return whether two addresses differ only in scheme, `www.` and a slash at the end."""
    one, two = (
        f"{parts.netloc.removeprefix('www.')}{parts.path.rstrip('/')}?{parts.query}"
        for parts in map(urlsplit, (url, other))
    )
    return one == two


def _judge_file(cited: _Cited) -> CitationCheck:
    """Return the state of a citation of one of the user's own files."""
    citation = cited.citation
    check = CitationCheck(cited.number, citation.locator, citation.raw_excerpt, "same")
    quote = citation.raw_excerpt.removesuffix(EXCERPT_CUT)
    document = read_document(cited.address, citation.locator, quote)
    if isinstance(document, Failure):
        has_changed = document.kind == FailureKind.NO_TEXT
        return replace(check, state="changed" if has_changed else _state_of(document.kind), detail=document.detail)
    locator, page = document
    drift = find_drift(quote, cited.text(), page.text, page.language)
    check = replace(check, state=drift.state, old_sentence=drift.old_sentence, new_sentence=drift.new_sentence)
    if drift.state not in STILL_SAID:
        return check
    # Only an excerpt that begins a passage has a place, as when it was cited.
    start = page.text.find(quote)
    place = next((passage.place for passage in page.passages if passage.start == start), None)
    now = placed(locator, place)
    had_place = citation.locator != cited.address
    if had_place and now not in (citation.locator, cited.address):
        return replace(check, state="elsewhere", new_locator=now)
    return check


def web_of(started: Started) -> str:
    """Return the web that a call has read: `web` with further sources of the network, or `snapshot` with the hash
    of a frozen web that isn't shipped."""
    names = (member for each in started.source.split(",") for member in members_of(each.partition(":")[0]))
    # Those that were read over the network.
    live = [
        name for name in names if name in SOURCES and SOURCES[name].kind not in ("snapshot", "corpus", "database")
    ]
    if not live:
        return f"snapshot {started.web or ''}".strip()
    return " ".join(["web", ",".join(name for name in live if name != "web")]).strip()


class _LivePages:
    """Reader of the pages of today: each by the source that it was read by, and others by their addresses."""

    def __init__(self, settings: Settings, sources: str) -> None:
        self._pages = Fetcher(settings, revalidate=True)
        ready = [name for name in sources.split(",") if name and is_ready(settings, name)]
        named = settings.model_copy(update={"source": ",".join(ready)})
        self._tools = open_tools(named) if ready else None

    async def fetch(self, url: str) -> FetchOutcome:
        """Return the page at `url`, or the failure."""
        tools = self._tools
        # A source that takes any address reads pages as the fetcher does, but not past the cache.
        if tools is None or tools.address is web_address or not tools.address(url):
            return await self._pages.fetch(url)
        return await tools.fetcher.fetch(url, allows=lambda host: True)

    async def aclose(self) -> None:
        await self._pages.aclose()
        if self._tools is not None:
            await self._tools.aclose()


@asynccontextmanager
async def open_checker(
    settings: Settings, plans: Iterable[Plan], frozen_web: Path | None = None
) -> AsyncIterator[CitationChecker]:
    """Open the readers that these plans need. `frozen_web` is the folder to check frozen webs against; None for
    those that were searched. Raises ConfigurationError for a folder that is no frozen web."""
    patient = settings.model_copy(update={"fetch_timeout": max(settings.fetch_timeout, FETCH_S)})
    fetchers: dict[str, PageReader | str] = {}
    for web in {
        web_of(plan.started)
        for plan in plans
        if not all(is_file(address) or is_database(address) for address in plan.addresses)
    }:
        kind, _, searched = web.partition(" ")
        if kind == "web":
            fetchers[web] = _LivePages(patient, searched)
            continue
        folder = frozen_web or (patient.frozen_web if searched else shipped("web"))
        if frozen_web is None and manifest_hash(folder) != (searched or None):
            fetchers[web] = "the call read another frozen web than the one in use: name its folder with --web"
        else:
            fetchers[web] = Fetcher(patient, transport=FrozenWebTransport(FrozenWeb.load(folder)))
    try:
        yield CitationChecker(fetchers, rows_reader(settings))
    finally:
        for fetcher in fetchers.values():
            if not isinstance(fetcher, str):
                await fetcher.aclose()
