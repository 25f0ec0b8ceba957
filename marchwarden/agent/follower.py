"""Following papers one step: works that they cite beside what bears on open aspects, and later works that cite them.

What is worth following is chosen in following.py; everything is read within the call's budget, and told in its trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from marchwarden.agent.following import (
    MOST_FOLLOWED,
    MOST_RELATED,
    asks_for_later_work,
    best_paper,
    find_cited,
    hit_of,
)
from marchwarden.agent.frontier import RELEVANT_HIT
from marchwarden.evidence.relevance import promise
from marchwarden.http.addresses import host_of
from marchwarden.ledger import Lead
from marchwarden.observations import Page
from marchwarden.text.works import addresses_of

if TYPE_CHECKING:
    from marchwarden.agent.recording import Narrator
    from marchwarden.budget import Budget
    from marchwarden.contract import SourceFilter
    from marchwarden.ledger import Aspect, Ledger
    from marchwarden.observations import SearchOutcome
    from marchwarden.sources.tools import Relation, Tools

# Works that an index is asked for. A guess: as many as a search is.
_MAX_HITS = 10


class Reading(Protocol):
    """The part of a call that those who read for it use: its state, its tools, and its ways to search and read."""

    ledger: Ledger
    budget: Budget
    tools: Tools
    filter: SourceFilter
    tell: Narrator

    def open_aspects(self) -> list[Aspect]: ...

    def sought(self) -> list[Aspect]: ...

    def readable(self, outcome: SearchOutcome) -> SearchOutcome: ...

    async def search(self, query: str) -> SearchOutcome: ...

    async def read(self, leads: list[Lead]) -> None: ...


class Follower:
    """Follows the papers of one call."""

    def __init__(self, call: Reading) -> None:
        self._call = call
        self.papers: list[Page] = []
        """Papers that a search found and that were read. What is followed from them is not followed further."""
        self._asked: set[Relation] = set()

    async def follow(self) -> None:
        """Read what is worth following from the papers that were read so far."""
        call, ledger = self._call, self._call.ledger
        # Works that papers cite for open aspects. One that can't be read is left for another researcher: its failure
        # is a gap, its identifier a discovery.
        cited = find_cited(ledger, self.papers, call.open_aspects())[:MOST_FOLLOWED]
        cited = cited[: call.budget.take_sources(len(cited))]
        leads: dict[str, Lead] = {}
        for each in cited:
            # It is found by its identifiers, or else by a search.
            addresses = map(call.tools.address, addresses_of(each.reference.work))
            url = next((url for url in addresses if url and call.filter.allows(host_of(url))), None)
            outcome = each.listed_at(url) if url else await call.search(each.query)
            new = ledger.add_search(outcome, each.aspect.number)
            call.tell.searched(outcome, new, f"{each.reason} ")
            hit = outcome.hits[0] if url else hit_of(each, outcome)
            lead = ledger.lead(hit.url) if hit else None
            if lead and lead.state == "unread":
                lead.reason = each.reason
                leads[lead.url] = lead
            elif lead is None and each.pointer:
                ledger.add_pointers([each.pointer])
        await call.read(list(leads.values()))
        failed = {lead.reason for lead in leads.values() if lead.state == "failed"}
        ledger.add_pointers([each.pointer for each in cited if each.pointer and each.reason in failed])
        if asks_for_later_work(ledger.question) and (paper := best_paper(ledger, self.papers)):
            await self._read_related("citing", paper, "cites", "The question asks for later work")
        bare = [page for page in self.papers if page.work and page.work.is_abstract and not page.references]
        if call.open_aspects() and (paper := best_paper(ledger, bare)):
            await self._read_related("cited", paper, "is cited by", "Only an abstract could be read")

    async def _read_related(self, relation: Relation, paper: Page, verb: str, why: str) -> None:
        """Read the most promising works in a relation to a paper that an index of citations names; once a call."""
        call, index, title = self._call, self._call.tools.citations, paper.title or paper.url
        if index is None or paper.work is None or relation in self._asked:
            return
        self._asked.add(relation)
        call.tell.now(f"looking for a work that {verb} “{title}”")
        found = await index.related(relation, paper.work, max_results=_MAX_HITS, source_filter=call.filter)
        outcome = call.readable(found)
        new = call.ledger.add_search(outcome, call.sought()[0].number)
        call.tell.searched(outcome, new, f"{why}: a work that {verb} “{title}” may answer. ")
        known = (lead for hit in outcome.hits if (lead := call.ledger.lead(hit.url)) and lead.state == "unread")
        worth = [(promise(lead, call.ledger.aspects), lead) for lead in known]
        best = sorted((each for each in worth if each[0] >= RELEVANT_HIT), key=lambda each: -each[0])[:MOST_RELATED]
        leads = [lead for _, lead in best]
        for lead in leads:
            lead.reason = f"It {verb} “{title}”. {why}."
        await call.read(leads[: call.budget.take_sources(len(leads))])
