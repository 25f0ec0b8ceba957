"""Search of a scholarly registry. Its answers hold abstracts, so that a found work can be read without a request.

A registry's module subclasses ScholarlyApi, and opens with `open_scholarly`. paper_reader.py reads what it finds.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from marchwarden.contract import SourceFilter
from marchwarden.http.download import Answer
from marchwarden.observations import Failure, FailureKind, SearchHit, SearchOutcome, Work
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import ApiClient
from marchwarden.sources.api_source import ApiSearch, Found, content_words
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Relation, query_for


@dataclass(frozen=True)
class FoundWork:
    """A work, and the answer that tells of it."""

    record: WorkRecord
    answer: Answer


class ScholarlyApi(ApiSearch):
    """Search of works with one API, which also tells of a work by its address."""

    profile: ClassVar[str]
    """Profile of the content type under which its answers are read again (reading/services/profiles.py)."""
    has_notices: ClassVar[bool] = False
    """True where its records tell of corrections, expressions of concern and retractions."""
    has_full_texts: ClassVar[bool] = False
    """True where it is the service that gives the full texts of PubMed Central."""
    finds_all_words: ClassVar[bool] = False
    """True where every word of a query must stand in a work, so that a question finds nothing."""

    relations: ClassVar[frozenset[Relation]] = frozenset()
    """Relations in which it finds works: those that cite a work, those that it cites."""

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        super().__init__(opening, client)
        self.found: dict[str, FoundWork] = {}
        """Works that this call's searches found, by their addresses."""

    @abstractmethod
    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        """Return the answer to a search."""

    @abstractmethod
    def records(self, body: bytes) -> list[WorkRecord] | None:
        """Return the works of an answer; None where it is no answer of this service."""

    @abstractmethod
    def request_for(self, url: str) -> str | None:
        """Return the address of the answer that tells of the work at `url`; None for a work that it can't know."""

    async def ask_related(self, relation: Relation, work: Work, max_results: int) -> Answer | Failure | None:
        """Return the answer to a search for works in a relation to `work`; None where it can't be named here."""
        return None

    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        """Return hits with their abstracts, and keep what was found."""
        forms = [query]
        if self.finds_all_words:
            words = content_words(query)
            forms = [" AND ".join(words), " OR ".join(words)] if len(words) > 1 else [query]
        for form in forms:
            if found := self._hits(await self.ask(form, max_results)):
                return found
        return []

    async def related(
        self, relation: Relation, work: Work, *, max_results: int, source_filter: SourceFilter
    ) -> SearchOutcome:
        """Return works that cite `work`, or that it cites (sources/tools.py)."""
        finding = self._find_related(relation, work, max_results)
        return await self.outcome_of(query_for(relation, work), finding, max_results, source_filter)

    async def _find_related(self, relation: Relation, work: Work, max_results: int) -> Found:
        answer = await self.ask_related(relation, work, max_results) if relation in self.relations else None
        return [] if answer is None else self._hits(answer)

    def _hits(self, answer: Answer | Failure) -> Found:
        """Return the works of an answer as hits, and keep them for their readers."""
        if isinstance(answer, Failure):
            return answer
        records = self.records(answer.body)
        if records is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
        self.found |= {record.url: FoundWork(record, answer) for record in records}
        return [SearchHit(each.url, each.title, each.snippet, published=each.published) for each in records]

    async def tell(self, url: str, *, timeout: float | None = None) -> FoundWork | Failure:
        """Return the work at `url`: from this call's searches, or asked for."""
        if url in self.found:
            return self.found[url]
        request = self.request_for(url)
        if request is None:
            return Failure(FailureKind.BAD_REQUEST, f"{self.name} knows no work by this address")
        answer = await self.client.get(request, timeout=timeout)
        if isinstance(answer, Failure):
            return answer
        records = self.records(answer.body)
        if records is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} sent an answer that can't be read")
        if not records:
            return Failure(FailureKind.NOT_FOUND, f"{self.name} has no such work")
        self.found[url] = FoundWork(records[0], answer)
        return self.found[url]


def email_of(contact: str | None) -> str | None:
    """Return the e-mail address in the setting `contact`; None where it is none."""
    address = (contact or "").strip().removeprefix("mailto:")
    return address if "@" in address and " " not in address and "/" not in address else None
