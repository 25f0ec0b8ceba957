"""A paper in the best form that can be read: HTML of arXiv, JATS, an open copy, else the abstract.

What registries tell of it is checked first. Of a retracted work only the record is read, which says so; corrections
and expressions of concern are told beside the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from anyio import to_thread

from marchwarden.http.addresses import host_of, web_address
from marchwarden.http.rate_limits import seconds_left
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, content_hash
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_source import read_answer, with_profile
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.full_texts import FullTexts, address_of_full_text
from marchwarden.sources.scholarly.open_copies import OpenCopies
from marchwarden.sources.scholarly.scholarly_api import FoundWork, ScholarlyApi
from marchwarden.text.works import DOI_RESOLVER, arxiv_paper_of, carries_works

# Full texts that are tried before the abstract is read. A guess: each may take a second or two.
_MOST_FORMS = 2
# Share of the time left that one form may take, so that the abstract can still be read. A guess.
_TIME_SHARE = 0.6


class PaperReader:
    """Reader of the works that one registry knows."""

    def __init__(self, registry: ScholarlyApi, notices: ScholarlyApi, opening: Opening) -> None:
        """`notices` is the registry that is asked for notices where `registry` knows none."""
        self._registry = registry
        self._notices = notices
        self._pages = opening.fetcher
        self._full_texts = FullTexts(opening)
        self._open_copies = OpenCopies(opening)

    def address(self, url: str) -> str | None:
        """Return the normalised address of a work that the registry knows; None for any other page."""
        found = web_address(url)
        if found is None or found in self._registry.found or self._registry.request_for(found):
            return found
        return self._full_texts.address(found) if self._registry.has_full_texts else None

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the best readable form of the work at `url`, or the failure. Only cancellation passes through."""
        began = time.monotonic()
        asked = self.address(url)
        if asked is None:
            return FetchOutcome(url, url, failure=Failure(FailureKind.BAD_REQUEST, "no work of this source"))
        if not allows(host_of(asked)):
            failure = Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(asked)}")
            return FetchOutcome(asked, asked, failure=failure)
        if self._registry.has_full_texts and self._full_texts.address(asked):
            outcome = await self._full_texts.fetch(asked, timeout=timeout, allows=allows)
            doi = outcome.page.work.doi if outcome.page and outcome.page.work else None
            told = await self._told_of(doi, _end_of(began, timeout)) if doi else None
            if told is None:
                return outcome
            if told.record.standing == "retracted":
                return replace(await self._told(told, self._notices.profile), url=asked)
            return replace(outcome, notices=told.record.notices)
        ends = _end_of(began, timeout)
        outcome = await self._best_form(asked, ends, allows)
        return replace(outcome, url=asked, seconds=time.monotonic() - began)

    async def aclose(self) -> None:
        await self._pages.aclose()

    async def _best_form(self, url: str, ends: float, allows: Callable[[str], bool]) -> FetchOutcome:
        known = await self._registry.tell(url, timeout=_share(ends))
        if isinstance(known, Failure):
            return FetchOutcome(url, url, failure=known)
        if known.record.standing == "retracted":
            return await self._told(known, self._registry.profile)
        notices = known.record.notices
        if not self._registry.has_notices and (told := await self._told_of(known.record.work.doi, ends)):
            if told.record.standing == "retracted":
                return await self._told(told, self._notices.profile)
            notices += told.record.notices
        return replace(await self._read(known, url, ends, allows), notices=notices)

    async def _read(self, known: FoundWork, url: str, ends: float, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the best form of a work that stands, or the failure."""
        # Addresses of full texts whose work can be told from them, best first.
        record = known.record
        paper = arxiv_paper_of(url) or arxiv_paper_of(f"https://arxiv.org/abs/{record.work.arxiv}")
        forms = [address_of_full_text(record.pmcid)] if record.pmcid else []
        if paper is not None:
            name = f"{paper.id}v{paper.version}" if paper.version else f"{paper.id}{record.work.version or ''}"
            forms += [f"https://arxiv.org/html/{name}", f"https://arxiv.org/pdf/{name}"]
        # On other hosts a copy says neither whose work it is, nor where it was published.
        # A landing page, on the publisher's site, may hold no more than the abstract.
        landing = ("doi.org", "dx.doi.org", "pubmed.ncbi.nlm.nih.gov")
        hosts = [(copy, host_of(copy)) for copy in record.open_copies]
        forms += [copy for copy, host in hosts if carries_works(host) and host not in landing]
        for form in list(dict.fromkeys(forms))[:_MOST_FORMS]:
            if not allows(host_of(form)) or time.monotonic() >= ends:
                continue
            reader = self._full_texts if self._full_texts.address(form) else self._pages
            outcome = await reader.fetch(form, timeout=_share(ends), allows=allows)
            # A form that says less than the abstract is a front page.
            if outcome.page and len(outcome.page.text) > len(record.snippet) + len(record.title):
                return outcome
        abstract = await self._told(known, self._registry.profile)
        return abstract if abstract.page else await self._closed(record, abstract, ends, allows)

    async def _told_of(self, doi: str | None, ends: float) -> FoundWork | None:
        """Return the record of a work in the registry of notices; None where it has none, or can't be asked."""
        url = f"{DOI_RESOLVER}{doi}"
        if not doi or not self._notices.request_for(url):
            return None
        told = await self._notices.tell(url, timeout=_share(ends))
        return None if isinstance(told, Failure) else told

    async def _told(self, known: FoundWork, profile: str) -> FetchOutcome:
        """Return the page of a registry's record: title and abstract, under the address that names its version."""
        url, answer, body = known.record.url, known.answer, known.answer.body
        content_type = with_profile(answer.content_type, profile)
        found = await to_thread.run_sync(partial(read_answer, body, url, content_type), abandon_on_cancel=True)
        if isinstance(found, Failure) and known.record.standing == "retracted":
            detail = f"{known.record.source} tells that it was retracted, and has no abstract of it"
            found = Failure(FailureKind.NO_TEXT, detail)
        return FetchOutcome(
            url=url,
            final_url=url,
            status=answer.status,
            content_type=content_type,
            content_hash=content_hash(body),
            content_length=len(body),
            body=body,
            page=found if isinstance(found, Page) else None,
            failure=found if isinstance(found, Failure) else None,
            kept_for=answer.kept_for,
        )

    async def _closed(
        self, record: WorkRecord, abstract: FetchOutcome, ends: float, allows: Callable[[str], bool]
    ) -> FetchOutcome:
        """Return the publisher's page of a work without an abstract, or its failure with the open copy that is
        known."""
        if record.standing == "retracted":
            return abstract
        landing = f"{DOI_RESOLVER}{record.work.doi}" if record.work.doi else None
        outcome = abstract
        if landing and time.monotonic() < ends:
            outcome = await self._pages.fetch(landing, timeout=_share(ends), allows=allows)
        if outcome.failure is None or not record.work.doi:
            return outcome
        copies = record.open_copies or await self._open_copies.of(record.work.doi, timeout=_share(ends))
        if not copies:
            return outcome
        detail = f"{outcome.failure.detail}; an open copy is at {copies[0]}"
        return replace(outcome, failure=replace(outcome.failure, detail=detail))


def _end_of(began: float, timeout: float | None) -> float:
    return began + (timeout if timeout is not None else seconds_left())


def _share(ends: float) -> float:
    """Return the seconds that one request may take."""
    return max(0.1, _TIME_SHARE * (ends - time.monotonic())) if ends != float("inf") else 10.0
