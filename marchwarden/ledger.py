"""The ledger of a call: excerpts and failures, each beside the aspect of the question that it was for.

Everything that a result says besides its answer's wording is read off the ledger: open aspects with the reasons,
pointers to other sources, conflicts. It has no I/O and calls no model. It is JSON, so that a call can be finished
from outside its process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date
from typing import Literal, TypeAlias

from pydantic import BaseModel, Field

from marchwarden.contract import DiscoveryEvent, Gap, Recency, SourceAuthority
from marchwarden.http.addresses import host_of
from marchwarden.observations import Failure, FailureKind, Notice, Page, SearchOutcome, Work
from marchwarden.text.ranking import Signature, near_duplicate, signature
from marchwarden.text.works import carries_works, has_same_authors, has_same_title, is_same_work, names_of

# Excerpts that are evidence together where none is alone: about as many as an answer quotes.
TAKEN_TOGETHER = 3

Stance: TypeAlias = Literal["supports", "contradicts"]
LeadState: TypeAlias = Literal["unread", "read", "failed", "duplicate"]
PointerKind: TypeAlias = Literal["doi", "arxiv", "trial", "dataset", "case"]


class Aspect(BaseModel):
    number: int
    text: str


class Lead(BaseModel):
    """A page that a search named, or that a read page linked to."""

    url: str
    title: str
    snippet: str
    published: date | None
    aspect: int
    rank: float
    """1/(60 + position), summed over the searches that named it (reciprocal rank fusion, Cormack et al. 2009)."""
    state: LeadState = "unread"
    asked_for: list[int] = []
    """Numbers of the aspects whose queries named it, one for each query."""
    reason: str | None = None
    """Reason to read it, where it was followed from a paper; None where a search named it."""


class Source(BaseModel):
    """A page that was read."""

    locator: str
    organisation: str
    title: str | None
    published: date | None
    modified: date | None
    content_hash: str
    text_hash: str
    authority: SourceAuthority
    standing: Literal["retracted", "superseded"] | None
    language: str | None
    has_text: bool
    copy_of: str | None = None
    """Locator of the source that this one is a copy of; None where it is no copy."""
    authors: tuple[str, ...] = ()
    """Names that the page gives of its authors; those of a scholarly work stand in `work`."""
    # Copies are told by them while pages are read. They are no part of the JSON: nothing else needs them, and those
    # of a book take megabytes.
    shingles: list[int] = Field([], repr=False, exclude=True)
    shingle_total: int = Field(0, repr=False, exclude=True)
    passed_over: int = 0
    """Number of passages that are left out because they look like prompt injection."""
    source: str | None = None
    """Source that a citation names (`arxiv`); None for that of the search."""
    collection: str | None = None
    """Publisher of a file: the site that it was saved from, else its corpus; None for other pages."""
    work: Work | None = None
    query: str | None = None
    """Statement whose rows the source is, where it comes from a database."""
    notices: tuple[Notice, ...] = ()
    """Corrections, expressions of concern and the like of its work."""
    table_rows: int = 0
    """Number of rows of a spreadsheet or a CSV file; 0 for any other page."""
    no_row_named: list[int] = []
    """Numbers of the aspects that such a file is about, and no word of which tells one row from the others."""
    no_row_fits: list[int] = []
    """Numbers of the aspects that name values of its tables that no row holds together."""
    rows_left_out: dict[int, int] = {}
    """Number of rows of its tables that an aspect means beyond those that are quoted, by the aspect's number."""
    researcher: str | None = None
    """Researcher that read it for an investigation; None where it was read in this call."""
    trace_id: str | None = None
    """Trace of the call in which that researcher read it."""

    @property
    def dated(self) -> date | None:
        return self.modified or self.published


class Excerpt(BaseModel):
    """A slice of a source's text that bears on an aspect. `number` is how stages point at it."""

    number: int
    locator: str
    aspect: int
    start: int
    end: int
    text: str
    says: str | None = None
    """Summary by the model that picked the excerpt; None where no model wrote one."""
    stance: Stance = "supports"
    relevance: float = 0.0
    """Chance that the excerpt answers its aspect, 0–1."""
    key: tuple[int, int] | None = None
    """Start and end, in `text`, of the passage that fits best by itself; None where the excerpt is one passage."""
    sentences: int = 1
    """Number of passages that it is made of."""
    is_named_row: bool = False
    """True for a row of a table that the aspect means by the values of its cells: all such rows are the answer."""
    answers: bool = True
    """False for an excerpt that is kept in case that nothing better is found: its aspect stays open."""
    place: str | None = None
    """Place of the excerpt in a file, for a person: `page=3`, `L12`; the id of its section in a paper on the web;
    None on other web pages."""
    code: str = ""
    """Lines of its text that are code; empty where there are none."""

    @property
    def key_text(self) -> str:
        """Passage that fits best by itself. Excerpts are compared by it, since what stands around it may differ."""
        return self.text[slice(*self.key)] if self.key else self.text

    def from_place(self, start: int, text: str) -> Excerpt:
        """Return the excerpt of a page's `text` that begins at `start`, as with its heading, and ends where this one
        does; its key passage stays the same."""
        added = self.start - start
        begin, end = self.key or (0, len(self.text))
        key = (added + begin, added + end) if added else self.key
        return self.model_copy(update={"start": start, "text": text[start : self.end], "key": key})


class Pointer(BaseModel):
    """Something named on a read page that another kind of researcher could look up."""

    kind: PointerKind
    value: str
    sentence: str
    locator: str
    relevance: float


class Attempt(BaseModel):
    """A search or a fetch that failed."""

    service: Literal["search", "fetch"]
    target: str
    """Query of the search, or URL of the fetch."""
    title: str | None
    kind: FailureKind
    detail: str
    aspect: int
    relevance: float = 0.0
    """Share of its aspect that the hit's title and snippet carry, 0–1; 1 for a search."""
    source: str = ""
    """Provider of the search, or those of several that failed; empty for a fetch."""
    is_partial: bool = False
    """True for a search that other providers answered."""

    @property
    def named(self) -> str:
        """Detail with the name of the search's provider, where it does not say it."""
        name = self.source.rpartition(":")[2]  # of corpus:notes, db:shop
        return self.detail if name.lower() in self.detail.lower() else f"{self.source}: {self.detail}"

    @property
    def is_source_failure(self) -> bool:
        """True where a service or the network failed, and not the query or the page."""
        if self.service == "fetch":
            return self.kind.is_outage
        # A bad request is the fault of the query, and no sign that the service is down.
        return self.kind not in (FailureKind.BAD_REQUEST, FailureKind.NOT_UNDERSTOOD)


class IncompleteSearch(BaseModel):
    """A search of which a provider says that it could not search everything."""

    query: str
    aspect: int
    detail: str
    """Sentence on what was not searched, and why."""


class Conflict(BaseModel):
    """Two excerpts, by number, that can't both be right."""

    about: str
    sides: tuple[int, int]
    resolved: str | None
    """Reason for which one side stands; None where the conflict could not be settled."""
    preferred: int | None = None
    """Number of the excerpt that stands; None where the conflict could not be settled."""


class ReportedGap(BaseModel):
    """A gap that a researcher reported to an investigator, or that the loss of one left."""

    aspect: int
    researcher: str
    gap: Gap
    is_settled: bool = False
    """True where a later rihla found what was missing."""


class Ledger(BaseModel):
    question: str
    context: str | None = None
    aspects: list[Aspect] = []
    queries: list[str] = []
    leads: list[Lead] = []
    sources: list[Source] = []
    excerpts: list[Excerpt] = []
    pointers: list[Pointer] = []
    failures: list[Attempt] = []
    incomplete: list[IncompleteSearch] = []
    conflicts: list[Conflict] = []
    reported: list[ReportedGap] = []
    """Gaps of the researchers that an investigator sent out."""
    handed_on: list[DiscoveryEvent] = []
    """Discoveries of those researchers that nobody followed."""
    researchers_failed: bool = False
    """True where each of those researchers was lost, or could ask no source."""

    # Additions by a turn of the loop

    def set_aspects(self, texts: list[str]) -> None:
        """Take the first plan's aspects; later plans may add to them, but not rename them."""
        known = {aspect.text.casefold() for aspect in self.aspects}
        for text in texts:
            if text.casefold() not in known:
                known.add(text.casefold())
                self.aspects.append(Aspect(number=len(self.aspects) + 1, text=text))

    def is_new_query(self, query: str) -> bool:
        """Return whether no search so far had the same words."""
        return query.casefold().split() not in [asked.casefold().split() for asked in self.queries]

    def add_search(self, outcome: SearchOutcome, aspect: int) -> int:
        """Keep the hits as leads, and return how many were not known before.

        An aspect that misspells a word is read with the word that was searched for in its place.
        """
        self.queries.append(outcome.query)
        for word, close in outcome.meant.items():
            # A word with a capital may be a name, and what the collection has another one.
            as_written = re.compile(rf"\b{re.escape(word)}\b")
            for each in self.aspects:
                each.text = as_written.sub(close, each.text)
        if outcome.failure:
            self.failures.append(
                Attempt(
                    service="search",
                    target=outcome.query,
                    title=None,
                    kind=outcome.failure.kind,
                    detail=outcome.failure.detail,
                    aspect=aspect,
                    relevance=1.0,
                    source=", ".join(outcome.failed) or outcome.provider,
                    is_partial=bool(outcome.failed),
                )
            )
        self.incomplete += [
            IncompleteSearch(query=outcome.query, aspect=aspect, detail=each) for each in outcome.incomplete
        ]
        known = {lead.url: lead for lead in self.leads}
        before = len(known)
        for position, hit in enumerate(outcome.hits, start=1):
            rank = 1 / (60 + position)  # 60 is the constant of Cormack et al.
            if lead := known.get(hit.url):
                lead.rank += rank
                lead.asked_for.append(aspect)
                continue
            known[hit.url] = Lead(
                url=hit.url,
                title=hit.title,
                snippet=hit.snippet,
                published=hit.published,
                aspect=aspect,
                rank=rank,
                asked_for=[aspect],
            )
        self.leads = list(known.values())
        return len(known) - before

    def add_failure(self, lead: Lead, failure: Failure, relevance: float) -> None:
        """Keep a fetch that failed; `relevance` as in Attempt."""
        lead.state = "failed"
        self.failures.append(
            Attempt(
                service="fetch",
                target=lead.url,
                title=lead.title,
                kind=failure.kind,
                detail=failure.detail,
                aspect=lead.aspect,
                relevance=relevance,
            )
        )

    def add_page(self, lead: Lead, page: Page, organisation: str, authority: SourceAuthority) -> Source | None:
        """Keep a page that was read, and return its source; None where this very text, or address, was read
        before."""
        # Two pages without text are no duplicates of each other.
        if any(source.text_hash == page.text_hash and page.text for source in self.sources) or any(
            source.locator == page.url for source in self.sources
        ):
            lead.state = "duplicate"
            return None
        lead.state = "read"
        print_ = signature(page.text)
        originals = (
            known.copy_of or known.locator
            for known in self.sources
            if known.locator == page.canonical_url
            or (known.has_text and near_duplicate(print_, Signature(frozenset(known.shingles), known.shingle_total)))
        )
        source = Source(
            locator=page.url,
            organisation=organisation,
            title=page.title,
            authors=page.authors,
            published=page.published,
            modified=page.modified,
            content_hash=page.content_hash,
            text_hash=page.text_hash,
            authority=authority,
            standing=page.standing,
            language=page.language,
            has_text=bool(page.passages),
            copy_of=next(originals, None),
            shingles=sorted(print_.shingles),
            shingle_total=print_.whole,
            source=page.source,
            collection=page.collection,
            work=page.work,
            query=page.query,
            notices=page.notices,
        )
        self.sources.append(source)
        return source

    def add_excerpt(self, excerpt: Excerpt) -> bool:
        """Number an excerpt and keep it; return False where this slice is already kept for this aspect."""
        if any(
            (known.locator, known.start, known.aspect) == (excerpt.locator, excerpt.start, excerpt.aspect)
            for known in self.excerpts
        ):
            return False
        excerpt.number = len(self.excerpts) + 1
        self.excerpts.append(excerpt)
        return True

    def take_together(self, least: float) -> None:
        """Take the best excerpts of an aspect without evidence as such, if one of them answers with this chance."""
        for aspect in self.aspects:
            if not self.evidence_for(aspect.number):
                ranked = sorted(self.excerpts_for(aspect.number), key=lambda each: -each.relevance)
                said: dict[str, Excerpt] = {}
                for excerpt in ranked:
                    said.setdefault(excerpt.text, excerpt)
                best = list(said.values())[:TAKEN_TOGETHER]
                if 1 - math.prod(1 - excerpt.relevance for excerpt in best) >= least:
                    for excerpt in best:
                        excerpt.answers = True

    def add_pointers(self, pointers: list[Pointer]) -> None:
        """Keep the pointers that are not known yet."""
        known = {(pointer.kind, pointer.value) for pointer in self.pointers}
        self.pointers += [pointer for pointer in pointers if (pointer.kind, pointer.value) not in known]

    # Readings

    def aspect(self, number: int) -> Aspect:
        return self.aspects[number - 1]

    def source(self, locator: str) -> Source:
        return next(source for source in self.sources if source.locator == locator)

    def excerpts_for(self, aspect: int) -> list[Excerpt]:
        return [excerpt for excerpt in self.excerpts if excerpt.aspect == aspect]

    def evidence_for(self, aspect: int) -> list[Excerpt]:
        """Return the excerpts that are likely to answer an aspect, without those kept in case of nothing better."""
        return [excerpt for excerpt in self.excerpts_for(aspect) if excerpt.answers]

    def organisations(self, excerpts: list[Excerpt]) -> set[str]:
        """Return the independent organisations or works that say these excerpts, each by one name.

        Copies of one text, pages of one organisation, files of one corpus, forms of one work, and works of the same
        authors count once. A retracted page does not count.
        """
        return self._voices(excerpts, _voice)

    def separate_texts(self, excerpts: list[Excerpt]) -> set[str]:
        """Return what `organisations` does, but each file by itself.

        Two files of one corpus do not confirm each other, but one may contradict the other, or add to it.
        """
        return self._voices(excerpts, _text)

    def _voices(self, excerpts: list[Excerpt], name: Callable[[Source], str]) -> set[str]:
        groups: list[list[Source]] = []
        for locator in dict.fromkeys(excerpt.locator for excerpt in excerpts):
            source = self.source(locator)
            if source.standing == "retracted":
                continue
            # A copy says no more than its original, whoever publishes it.
            original = self.source(source.copy_of) if source.copy_of else source
            one = [group for group in groups if any(_is_one_voice(original, known, name) for known in group)]
            groups = [group for group in groups if group not in one]
            groups.append([*(known for group in one for known in group), original])
        return {min(map(name, group)) for group in groups}

    def open_aspects(self, sources_wanted: int) -> list[Aspect]:
        """Return the aspects that fewer than `sources_wanted` independent sources, or files, speak to."""
        return [
            aspect
            for aspect in self.aspects
            if len(self.separate_texts(self.evidence_for(aspect.number))) < sources_wanted
        ]

    def unanswered(self) -> list[Aspect]:
        """Return the aspects that no source speaks to."""
        return self.open_aspects(1)

    def have_sources_failed(self) -> bool:
        """Return whether no source could be asked: each search failed, or each page that was tried."""
        if self.sources or self.researchers_failed:
            return self.researchers_failed
        failed = [each for each in self.failures if each.is_source_failure and not each.is_partial]
        tried = [each for each in self.failures if each.service == "fetch"]
        if self.leads:
            return bool(tried) and all(each in failed for each in tried)
        return bool(failed) and len(failed) == len(self.queries)

    def unread(self) -> list[Lead]:
        """Return the leads not tried yet, most promising first."""
        return [lead for lead in self.by_rank() if lead.state == "unread"]

    def by_rank(self) -> list[Lead]:
        """Return all leads, those that the searches ranked highest first."""
        return sorted(self.leads, key=lambda lead: -lead.rank)

    def lead(self, url: str) -> Lead | None:
        return next((lead for lead in self.leads if lead.url == url), None)

    def recency(self, locators: list[str], today: date) -> Recency | None:
        """Return the age of the newest of these sources; None where none has a date."""
        days = [(today - dated).days for locator in locators if (dated := self.source(locator).dated)]
        if not days:
            return None
        # Bounds as the contract has them (Recency).
        years = min(days) / 365.25
        if years < 1:
            return Recency.CURRENT
        return Recency.RECENT if years <= 3 else Recency.DATED


def _voice(source: Source) -> str:
    """Return the name of who says what a source says: its work, where others' are kept there, else its publisher."""
    is_kept = source.collection is not None or carries_works(host_of(source.locator))
    names = names_of(source.work) if source.work and is_kept else ()
    return next(iter(names), source.collection or source.organisation)


def _text(source: Source) -> str:
    return source.organisation if source.collection else _voice(source)


def _is_one_voice(one: Source, other: Source, name: Callable[[Source], str]) -> bool:
    """Return whether two sources do not confirm each other: one organisation, one work, or the same authors."""
    if one.locator == other.locator:
        return True
    if one.work and other.work:
        if is_same_work(one.work, other.work) or has_same_authors(one.work, other.work):
            return True
        if has_same_title((one.title, one.work), (other.title, other.work)):
            return True
    # A publisher of journals is no author. On other hosts a page could call itself a work of its own.
    return name(one) == name(other)
