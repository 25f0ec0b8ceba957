"""A source behind an API: a search, and a reader of its pages whose text the API gives.

A source subclasses ApiSearch and, where its pages come from the API too, ApiReader. Pages elsewhere are read by the
Fetcher like any others.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

from anyio import to_thread

from marchwarden.contract import SourceFilter
from marchwarden.evidence.question import as_query
from marchwarden.http.addresses import host_of, web_address
from marchwarden.http.download import Answer
from marchwarden.observations import (
    Failure,
    FailureKind,
    FetchOutcome,
    Page,
    SearchHit,
    SearchOutcome,
    content_hash,
    plain_line,
)
from marchwarden.sources.api_client import Api, ApiClient, json_of
from marchwarden.sources.opening import Opening
from marchwarden.text.ranking import guess_language, query_words
from marchwarden.text.stop_words import is_stop_word

# Words of a query that a service must find, at most: more find nothing. A guess.
_MOST_WORDS = 8

_log = logging.getLogger(__name__)

# Characters of a failure in words. A guess.
_MAX_DETAIL_CHARS = 300


@dataclass(frozen=True)
class FoundInPart:
    """Hits of a service that could not search everything."""

    hits: Sequence[SearchHit | None]
    missing: str
    """Sentence on what was not searched, and why: "SearXNG got nothing from these engines: google (timeout)."."""


# Hits, None for one that has no usable address; or the failure.
Found: TypeAlias = "Sequence[SearchHit | None] | FoundInPart | Failure"


class ApiSearch(ABC):
    """Search with one API. A subclass says how a query becomes hits."""

    api: ClassVar[Api]
    hosts: ClassVar[tuple[str, ...]] = ()
    """Domains of the pages that it finds; empty where they may be anywhere."""

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        self.name = self.api.name
        self.client = client or ApiClient(opening, self.api)

    @abstractmethod
    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        """Return the hits for a query, best first; None for a result that has no usable address. A service that tells
        what it could not search, or one of whose requests failed, gives FoundInPart.

        `source_filter` is for services that can be told of it. Hits that it excludes are left out in any case.
        """

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`. A source none of whose pages the filter lets through gets no request."""
        asked = as_query(query)
        if not asked:
            return SearchOutcome(asked, self.name, failure=Failure(FailureKind.BAD_REQUEST, "the query is empty"))
        if self.hosts and not (
            any(source_filter.allows(host) for host in self.hosts)
            or any(name == host or name.endswith(f".{host}") for name in source_filter.include for host in self.hosts)
        ):
            return SearchOutcome(asked, self.name)
        return await self.outcome_of(asked, self.find(asked, max_results, source_filter), max_results, source_filter)

    async def outcome_of(
        self, asked: str, finding: Awaitable[Found], max_results: int, source_filter: SourceFilter
    ) -> SearchOutcome:
        """Return the outcome of a search: what `finding` brings, without hits that can't be used or are excluded."""
        began = time.monotonic()
        # What a service sends may break its format in any way; the other sources are still to be searched.
        try:
            found = await finding
        except Exception:
            _log.exception("the answer of %s could not be read", self.name)
            found = Failure(FailureKind.SERVICE_DOWN, f"the answer of {self.name} could not be read")
        seconds = time.monotonic() - began
        if isinstance(found, Failure):
            # A service's own words may quote the key. They are cut behind that, or a part of it could stay.
            told = replace(found, detail=plain_line(self.client.without_keys(found.detail), _MAX_DETAIL_CHARS))
            return SearchOutcome(asked, self.name, failure=told, seconds=seconds)
        incomplete: tuple[str, ...] = ()
        if isinstance(found, FoundInPart):
            incomplete = (plain_line(self.client.without_keys(found.missing), _MAX_DETAIL_CHARS),)
            found = found.hits
        usable = [hit for hit in found if hit is not None and web_address(hit.url)]
        malformed = len(found) - len(usable)
        if found and not usable:
            failure = Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
            return SearchOutcome(asked, self.name, failure=failure, seconds=seconds, malformed=malformed)
        hits = [hit for hit in usable if source_filter.allows(host_of(hit.url))]
        return SearchOutcome(
            asked,
            self.name,
            tuple(hits[:max_results]),
            seconds=seconds,
            malformed=malformed,
            incomplete=incomplete,
        )

    async def listed(self, address: str, asked: Mapping[str, str | int], key: str) -> list[Any] | Failure:
        """Return the list under this key of the JSON object that answers a search."""
        answer = await self.client.get(address, asked)
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        # Some services send errors with status 200.
        if not isinstance(found, dict) or not isinstance(results := found.get(key), list):
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
        return results

    async def find_for_each(
        self, parts: Sequence[str], find: Callable[[str], Awaitable[Sequence[SearchHit | None] | Failure]]
    ) -> Found:
        """Return what is found for each part of a query, such as a site: the best hit of each, then the second, …

        The first failure ends it, as the next request would likely fail too. What was found before is kept.
        """
        lists: list[Sequence[SearchHit | None]] = []
        for part in parts:
            found = await find(part)
            if not isinstance(found, Failure):
                lists.append(found)
                continue
            if not lists:
                return found
            missing = ", ".join(parts[len(lists) :])
            return FoundInPart(
                by_rank(lists), f"{self.name} found nothing for {missing}: {found.detail.rstrip('.')}."
            )
        return by_rank(lists)

    async def aclose(self) -> None:
        await self.client.aclose()


class ApiReader(ABC):
    """Pages whose text an API gives. Their bytes are the API's answer, and their address is one for people.

    A page that takes several requests is made by a subclass's own `answer_for`.
    """

    api: ClassVar[Api]
    profile: ClassVar[str]
    """Profile of the content type under which reading/services/ reads the answer."""

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        self.client = client or ApiClient(opening, self.api)

    @abstractmethod
    def request_for(self, url: str) -> str | None:
        """Return the address of the API's answer for the page at `url` (normalised); None for another's page."""

    async def answer_for(self, url: str, timeout: float | None) -> Answer | Failure:
        """Return the answer that the page at `url` (normalised) is read from, or the failure."""
        return await self.client.get(self.request_for(url) or "", timeout=timeout)

    def address(self, url: str) -> str | None:
        """Return the normalised address where the page is this source's; None for any other."""
        found = web_address(url)
        return found if found and self.request_for(found) else None

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the page at `url` as the API gives it, or the failure. Only cancellation passes through."""
        began = time.monotonic()
        asked = self.address(url)
        if asked is None:
            return FetchOutcome(url, url, failure=Failure(FailureKind.BAD_REQUEST, f"no page of {self.api.name}"))
        if not allows(host_of(asked)):
            failure = Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(asked)}")
            return FetchOutcome(asked, asked, failure=failure)
        answer = await self.answer_for(asked, timeout)
        if isinstance(answer, Failure):
            return FetchOutcome(asked, asked, failure=answer, seconds=time.monotonic() - began)
        content_type = with_profile(answer.content_type, self.profile)
        found = await to_thread.run_sync(
            partial(read_answer, answer.body, asked, content_type), abandon_on_cancel=True
        )
        return FetchOutcome(
            url=asked,
            final_url=asked,
            status=answer.status,
            content_type=content_type,
            content_hash=content_hash(answer.body) if answer.body else None,
            content_length=len(answer.body),
            body=answer.body,
            page=found if isinstance(found, Page) else None,
            failure=found if isinstance(found, Failure) else None,
            seconds=time.monotonic() - began,
            kept_for=answer.kept_for,
        )

    async def aclose(self) -> None:
        await self.client.aclose()


def with_profile(content_type: str | None, profile: str) -> str:
    """Return the media type with the profile (RFC 6906) by which the answer is read, also when it is read again."""
    kind = (content_type or "application/octet-stream").partition(";")[0].strip().lower()
    return f'{kind}; profile="{profile}"'


def read_answer(body: bytes, url: str, content_type: str) -> Page | Failure:
    """Return the page that an answer makes. A parser that fails in any way is a failure like others."""
    from marchwarden.reading.page import read_page

    # A parser may fail on one answer in any way; the other pages are still to be read.
    try:
        return read_page(body, url=url, content_type=content_type)
    except Exception:
        return Failure(FailureKind.NO_TEXT, "the answer could not be parsed")


def content_words(query: str) -> list[str]:
    """Return the words of a query that tell what it is about, each once."""
    language = guess_language(query)
    words = [word for word in query_words(query) if len(word) > 1 and not is_stop_word(word, language)]
    return list(dict.fromkeys(words))[:_MOST_WORDS]


def by_rank(lists: Sequence[Sequence[SearchHit | None]]) -> list[SearchHit | None]:
    """Return the best hit of each list, then the second of each, and so on."""
    ranked = [(rank, hit) for hits in lists for rank, hit in enumerate(hits)]
    return [hit for _, hit in sorted(ranked, key=lambda each: each[0])]
