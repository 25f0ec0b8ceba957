"""Tools of a researcher: a search, a fetcher, and the settings that they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from marchwarden.contract import SourceFilter
from marchwarden.http.addresses import web_address
from marchwarden.judge.answering import AnswerJudge
from marchwarden.observations import Work
from marchwarden.text.embedding import Embedder
from marchwarden.text.works import names_of

if TYPE_CHECKING:
    from marchwarden.observations import FetchOutcome, SearchOutcome
    from marchwarden.stages.stage import Stages

# Hits that a query brings at most. A guess.
HITS_PER_QUERY = 10


class SearchProvider(Protocol):
    name: str

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return the hits for `query`, best first, without those that the filter excludes.

        A failure of the service is in the outcome and is never raised. Cancellation passes through.
        """
        ...

    async def aclose(self) -> None: ...


class Reader(Protocol):
    """Fetch pages of a web (sources/fetch.py), files of a corpus, or each where it belongs."""

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the page or file at `url`, or the failure to read it. Only cancellation passes through."""
        ...

    async def aclose(self) -> None: ...


Relation: TypeAlias = Literal["citing", "cited"]


# Start of the queries under which related works are looked for.
WORKS = "works that "


def query_for(relation: Relation, work: Work) -> str:
    """Return the query under which works in a relation to a work are looked for, for the trace."""
    name = next(iter(names_of(work)), "")
    return f"{WORKS}cite {name}" if relation == "citing" else f"{WORKS}{name} cites"


class CitationIndex(Protocol):
    """Index of which works cite which."""

    async def related(
        self, relation: Relation, work: Work, *, max_results: int, source_filter: SourceFilter
    ) -> SearchOutcome:
        """Return works that cite `work`, or that it cites, as a search does; its query is that of `query_for`."""
        ...


@dataclass(frozen=True)
class Tools:
    """Search and fetch of one call."""

    kind: str
    """Source that its citations name: "web", "snapshot", "file"; where there are several, "web,file"."""
    search: SearchProvider
    fetcher: Reader
    embedder: Embedder | None = None
    """Model that compares texts in meaning; None where it is not installed."""
    judge: AnswerJudge | None = None
    """Model that judges whether passages answer; None where it is not installed."""
    address: Callable[[str], str | None] = web_address
    """Return the normalised address of a hit; None for one that this fetcher can't read."""
    prepare: Callable[[Callable[[str], None]], None] = lambda tell: None
    """Prepare the first search before a call's time begins to run. Blocks; `tell` receives the progress."""
    begin: Callable[[str, Stages, date], None] = lambda question, stages, today: None
    """Take the whole question of a call, and the runner of its stages, before the first search."""
    citations: CitationIndex | None = None
    """Index of which works cite which; None where no source has one."""
    web: str | None = None
    """Hash of the frozen web's manifest; None for the shipped one, and where none is searched."""

    async def aclose(self) -> None:
        await self.search.aclose()
        await self.fetcher.aclose()
