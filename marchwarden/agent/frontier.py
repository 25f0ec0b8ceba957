"""Which of the pages that were found are worth reading next. Pure: it reads the ledger, and hits are only words."""

from __future__ import annotations

from marchwarden.evidence.relevance import AskedFor, promise
from marchwarden.http.addresses import publisher_of
from marchwarden.ledger import Aspect, Lead, Ledger
from marchwarden.text.ranking import terms

RELEVANT_HIT = 0.34
"""A page is worth reading where its hit carries this share of an aspect."""
PAGES_ON_TRUST = 3
"""Where no hit's words promise anything, so many are read all the same: the search may know better."""
SAME_ORGANISATION, READ_ORGANISATION = 0.3, 0.15
"""What another page of an organisation chosen this turn, or read before, must promise more than one of a new one."""


def promising(ledger: Ledger, aspects: list[Aspect]) -> list[Lead]:
    """The unread leads that are worth reading for these aspects, best rank first."""
    return [lead for lead in ledger.unread() if promise(lead, aspects) >= RELEVANT_HIT]


def choose(ledger: Ledger, aspects: list[Aspect], wanted: list[str], most: int) -> list[Lead]:
    """The leads to read this turn, `most` at the most: those whose URLs are wanted, then the most promising for these
    aspects, with organisations that were not read yet first."""
    chosen = [lead for url in wanted if (lead := ledger.lead(url)) and lead.state == "unread"][:most]
    rest = [lead for lead in promising(ledger, aspects) if lead not in chosen]
    if not rest and not ledger.sources:
        rest = [lead for lead in ledger.unread() if lead not in chosen][:PAGES_ON_TRUST]
    worth = {lead.url: promise(lead, aspects) + lead.rank for lead in rest}
    read = {source.organisation for source in ledger.sources}
    while rest and len(chosen) < most:
        taken = [_organisation(lead) for lead in chosen]

        def value(lead: Lead, taken: list[str] = taken) -> float:
            organisation = _organisation(lead)
            again = SAME_ORGANISATION * taken.count(organisation) + READ_ORGANISATION * (organisation in read)
            return worth[lead.url] - again

        best = max(rest, key=value)
        rest.remove(best)
        chosen.append(best)
    return chosen


def aspect_of(query: str, aspects: list[Aspect]) -> int:
    """The number of the aspect that a query is for: the one that it carries most of, the first of equals."""
    words = set(terms(query))
    return max(aspects, key=lambda aspect: (AskedFor.of(aspect.text, "en").share(words), -aspect.number)).number


def _organisation(lead: Lead) -> str:
    return publisher_of(lead.url)
