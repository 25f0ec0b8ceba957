"""Several researchers as one: all of them are searched, and each page or file is read by its own researcher."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from marchwarden.contract import SourceFilter
from marchwarden.http.addresses import web_address
from marchwarden.observations import Failure, FailureKind, FetchOutcome, SearchHit, SearchOutcome, Work
from marchwarden.sources.tools import CitationIndex, Relation, Tools, query_for

if TYPE_CHECKING:
    from marchwarden.stages.stage import Stages


def combine_tools(each: Sequence[Tools], choose: Callable[[str], Collection[int]] | None = None) -> Tools:
    """Return one set of tools for all of `each`. Its kind names every kind once, "file" last.

    `choose` returns the places in `each` of those that are searched for a question; it may block. None: all are.
    """
    kinds = sorted({tools.kind for tools in each}, key=lambda kind: (kind == "file", kind))
    search, reader = _SearchOfEach(each, choose), _ReaderOfEach(each)

    def prepare(tell: Callable[[str], None]) -> None:
        for tools in each:
            tools.prepare(tell)

    def begin(question: str, stages: Stages, today: date) -> None:
        search.question = question
        for tools in each:
            tools.begin(question, stages, today)

    indexes = [tools.citations for tools in each if tools.citations]
    return Tools(
        kind=",".join(kinds),
        search=search,
        fetcher=reader,
        address=reader.address,
        citations=_CitationsOfEach(indexes) if indexes else None,
        prepare=prepare,
        begin=begin,
    )


class _SearchOfEach:
    """Search of all researchers at the same time."""

    def __init__(self, each: Sequence[Tools], choose: Callable[[str], Collection[int]] | None) -> None:
        self._each = [tools.search for tools in each]
        self._choose = choose
        self.name = "+".join(search.name for search in self._each)
        self.question: str | None = None
        """Question of the call, whose queries are shorter and tell less; None where there is no call."""

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits of all searches. Where one fails, the outcome has its failure and the others' hits."""
        began = time.monotonic()
        places: Collection[int] = range(len(self._each))
        if self._choose is not None:
            places = await anyio.to_thread.run_sync(self._choose, self.question or query, abandon_on_cancel=True)
        chosen = [self._each[place] for place in sorted(places)]
        outcome = await _ask_all(
            query,
            [partial(each.search, query, max_results=max_results, source_filter=source_filter) for each in chosen],
            max_results,
        )
        return replace(outcome, provider="+".join(search.name for search in chosen), seconds=time.monotonic() - began)

    async def aclose(self) -> None:
        for search in self._each:
            await search.aclose()


class _CitationsOfEach:
    """Indexes of citations, all asked at the same time."""

    def __init__(self, each: Sequence[CitationIndex]) -> None:
        self._each = each

    async def related(
        self, relation: Relation, work: Work, *, max_results: int, source_filter: SourceFilter
    ) -> SearchOutcome:
        """Return the works of all indexes. Where one fails, the outcome has its failure and the others' works."""
        return await _ask_all(
            query_for(relation, work),
            [
                partial(index.related, relation, work, max_results=max_results, source_filter=source_filter)
                for index in self._each
            ],
            max_results,
        )


async def _ask_all(
    query: str, calls: Sequence[Callable[[], Awaitable[SearchOutcome]]], max_results: int
) -> SearchOutcome:
    """Make the calls at the same time, and return their outcomes as one."""
    outcomes: dict[int, SearchOutcome] = {}

    async def ask(place: int, call: Callable[[], Awaitable[SearchOutcome]]) -> None:
        outcomes[place] = await call()

    began = time.monotonic()
    async with anyio.create_task_group() as group:
        for place, call in enumerate(calls):
            group.start_soon(ask, place, call)
    ordered = [outcomes[place] for place in range(len(calls))]
    failed = tuple(outcome.provider for outcome in ordered if outcome.failure)
    return SearchOutcome(
        query,
        "+".join(outcome.provider for outcome in ordered),
        interleave_hits([outcome.hits for outcome in ordered], max_results),
        failure=_failure(ordered),
        seconds=time.monotonic() - began,
        malformed=sum(outcome.malformed for outcome in ordered),
        meant={word: close for outcome in reversed(ordered) for word, close in outcome.meant.items()},
        # Searches that failed are named where others answered.
        failed=failed if len(failed) < len(ordered) else (),
        incomplete=tuple(dict.fromkeys(each for outcome in ordered for each in outcome.incomplete)),
    )


def interleave_hits(lists: Sequence[Sequence[SearchHit]], most: int) -> tuple[SearchHit, ...]:
    """Return the best hit of each list, then the second of each, and so on: `most` hits, each address once."""
    # Only ranks count: the scores of two searches have different scales.
    first: dict[str, SearchHit] = {}
    for rank in zip_longest(*lists):
        for hit in rank:
            if hit is not None:
                first.setdefault(hit.url, hit)
    return tuple(first.values())[:most]


def _failure(outcomes: Sequence[SearchOutcome]) -> Failure | None:
    """Return a failure of the first one's kind that quotes each search that failed; None where none did."""
    failed = [(outcome.provider, outcome.failure) for outcome in outcomes if outcome.failure]
    if not failed:
        return None
    quotes = [
        failure.detail if name.lower() in failure.detail.lower() else f"{name}: {failure.detail}"
        for name, failure in failed
    ]
    return Failure(failed[0][1].kind, "; ".join(quotes))


class _ReaderOfEach:
    def __init__(self, each: Sequence[Tools]) -> None:
        # A source that reads certain addresses goes before one that reads any.
        self._each = sorted(each, key=lambda tools: tools.address is web_address)

    def address(self, url: str) -> str | None:
        return next((found for tools in self._each if (found := tools.address(url))), None)

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        for tools in self._each:
            if tools.address(url):
                outcome = await tools.fetcher.fetch(url, timeout=timeout, allows=allows)
                if outcome.page is None or outcome.page.source is not None:
                    return outcome
                return replace(outcome, page=replace(outcome.page, source=tools.kind))
        return FetchOutcome(url, url, failure=Failure(FailureKind.BAD_REQUEST, "no source can read this address"))

    async def aclose(self) -> None:
        for tools in self._each:
            await tools.fetcher.aclose()
