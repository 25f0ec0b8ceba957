"""Search and fetch out of a trace and its store, for a re-run: what the call found then is found again.

Pages are read again from their bytes, so that another reader than then shows itself. What the call did not ask for is
answered as well as the trace allows, and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, cast, get_args

from anyio import to_thread

from marchwarden.contract import SourceFilter
from marchwarden.errors import NotRecorded, TraceError
from marchwarden.observations import (
    ContentHash,
    Failure,
    FailureKind,
    FetchOutcome,
    Notice,
    NoticeKind,
    Page,
    SearchHit,
    SearchOutcome,
    Work,
    is_file,
)
from marchwarden.sources.tools import Relation, query_for
from marchwarden.store.content_store import Store
from marchwarden.text.ranking import rank
from marchwarden.trace.events import (
    FailureRecord,
    FellBack,
    Fetched,
    ModelCalled,
    NoticeRecord,
    Searched,
)

if TYPE_CHECKING:
    from marchwarden.stages.stage import Stages

# Failures of the way to a page, which say nothing of its bytes: they are given again as they were.
_ON_THE_WAY = frozenset(
    {
        FailureKind.TIMEOUT,
        FailureKind.NETWORK,
        FailureKind.REDIRECT_LOOP,
        FailureKind.REFUSED_ADDRESS,
        FailureKind.BAD_REQUEST,
        FailureKind.ROBOTS_DISALLOWED,
        FailureKind.CHANGED,
    }
)

# Reason for which a stage of a re-run goes on without the model, where the recorded call did not ask it this.
NOT_ASKED = "the recorded call did not ask this of {}"


@dataclass
class Missing:
    """Things that a re-run asked for, and that the trace or its store does not have."""

    ends_by_clock: bool
    """True where the call's time was over: then its record ends in the middle, and what comes next is not missing."""
    queries: list[str] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    """URLs of pages that were read, and whose bytes are gone from the store."""
    read_otherwise: list[str] = field(default_factory=list)
    """URLs of pages whose bytes give another text, or another failure, than then."""

    def note(self, kind: list[str], what: str) -> None:
        """Add `what` to one of the lists; raise NotRecorded where the recorded call's time was over by then."""
        self.check_clock()
        kind.append(what)

    def check_clock(self) -> None:
        """Raise NotRecorded where the recorded call's time was over, so that nothing more of it can be missing."""
        if self.ends_by_clock:
            raise NotRecorded("the recorded call had run out of time", ends_call=True)


class RecordedSearch:
    """The searches of one call. A query that it did not make is answered from all the hits that it got."""

    def __init__(
        self,
        searches: Sequence[Searched],
        missing: Missing,
        *,
        spent: Mapping[str, Sequence[ModelCalled | FellBack]] | None = None,
    ) -> None:
        """Make a search. `spent` has the events of a stage that was run by the search itself, by query."""
        self.name = searches[0].provider if searches else "recorded"
        self._outcomes: dict[str, SearchOutcome] = {}
        self._missing = missing
        self._spent = dict(spent or {})
        self._stages: Stages | None = None
        for each in searches:
            hits = (
                SearchHit(hit.url, hit.title, hit.snippet or "", hit.score or 0.0, hit.published) for hit in each.hits
            )
            outcome = SearchOutcome(
                each.query,
                each.provider,
                tuple(hits),
                failure=_failure(each.failure),
                seconds=each.duration_sec,
                meant=each.meant,
                malformed=each.malformed,
                failed=tuple(each.failed),
                incomplete=tuple(each.incomplete),
            )
            self._outcomes.setdefault(each.query, outcome)

    def begin(self, question: str, stages: Stages, today: date) -> None:
        self._stages = stages

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the recorded outcome for `query`. Raises NotRecorded where the call's time was over before it."""
        if self._stages is not None:
            self._stages.repeat(self._spent.pop(query, ()))
        if known := self._outcomes.get(query):
            return known
        self._missing.note(self._missing.queries, query)
        every = {hit.url: hit for outcome in self._outcomes.values() for hit in outcome.hits}
        scores = rank(query, [f"{hit.title} {hit.snippet}" for hit in every.values()])
        found = sorted(zip(scores, every.values(), strict=True), key=lambda pair: -pair[0])
        return SearchOutcome(query, self.name, tuple(hit for score, hit in found if score > 0)[:max_results])

    async def related(
        self, relation: Relation, work: Work, *, max_results: int, source_filter: SourceFilter
    ) -> SearchOutcome:
        """Return the recorded outcome for works in this relation to `work`."""
        return await self.search(query_for(relation, work), max_results=max_results, source_filter=source_filter)

    async def aclose(self) -> None:
        pass


class RecordedReader:
    """The pages that one call fetched, read again from the bytes in its store."""

    def __init__(self, fetches: Sequence[Fetched], store: Store, missing: Missing) -> None:
        self._store = store
        self._missing = missing
        self._fetches: dict[str, Fetched] = {}
        for each in fetches:
            self._fetches.setdefault(each.url, each)

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the recorded outcome for `url`. Raises NotRecorded where the call's time was over before it."""
        known = self._fetches.get(url)
        if known is None:
            self._missing.note(self._missing.urls, url)
            return FetchOutcome(url, url, failure=Failure(FailureKind.NETWORK, "the recorded call did not read it"))
        return await to_thread.run_sync(partial(self._read, known))

    async def aclose(self) -> None:
        pass

    def _read(self, event: Fetched) -> FetchOutcome:
        failure = _failure(event.failure)
        body, page = b"", None
        try:
            body = self._store.get(event.content_hash) if event.content_hash else b""
        except TraceError:
            self._missing.bodies.append(event.url)
            failure = failure or Failure(FailureKind.NETWORK, "its bytes are gone from the store")
        else:
            if failure is None or (body and failure.kind not in _ON_THE_WAY):
                page, failure = self._read_again(event, body, failure)
        return FetchOutcome(
            url=event.url,
            final_url=event.final_url,
            status=event.status,
            content_type=event.content_type,
            content_hash=ContentHash(event.content_hash) if event.content_hash else None,
            content_length=event.content_length,
            body=body,
            page=page,
            failure=failure,
            redirects=tuple(event.redirects),
            seconds=event.duration_sec,
            notices=tuple(recorded_notice(each) for each in event.notices),
            kept_for=event.kept_sec,
        )

    def _read_again(self, event: Fetched, body: bytes, then: Failure | None) -> tuple[Page | None, Failure | None]:
        """Return what the bytes give now, the failure of then where it is of the same kind."""
        found = read_again(event, body)
        if isinstance(found, Page):
            if then or found.text_hash != event.text_hash:
                self._missing.read_otherwise.append(event.url)
            return replace(found, source=event.source or found.source, collection=event.collection), None
        if then and then.kind == found.kind:
            return None, then
        self._missing.read_otherwise.append(event.url)
        return None, found


def read_again(event: Fetched, body: bytes) -> Page | Failure:
    """Return the page that the bytes of a recorded fetch are, or the failure, as this version reads them."""
    try:
        if is_file(event.final_url):
            from marchwarden.corpus.documents import page_of_document

            # Its day is that of its last change on the disk, which its bytes don't tell. Earlier versions recorded it
            # as `published`.
            return page_of_document(event.final_url, body, event.modified or event.published)
        from marchwarden.reading.page import read_page

        return read_page(
            body,
            url=event.final_url,
            content_type=event.content_type,
            status=event.status or 200,
            asked=event.url if event.redirects else "",
        )
    # A parser may fail on one page in any way, as it does in a fetch.
    except Exception:
        return Failure(FailureKind.NO_TEXT, "the page could not be parsed")


def recorded_notice(record: NoticeRecord) -> Notice:
    """Return the recorded notice; one of a kind that this version does not know becomes a correction."""
    known = record.kind in get_args(NoticeKind)
    return Notice(cast("NoticeKind", record.kind) if known else "corrected", record.detail, record.url)


def _failure(record: FailureRecord | None) -> Failure | None:
    """Return the recorded failure; one of a kind that this version does not know becomes NETWORK."""
    if record is None:
        return None
    known = record.kind in {kind.value for kind in FailureKind}
    return Failure(FailureKind(record.kind) if known else FailureKind.NETWORK, record.detail)
