"""Choice of the pages to read next, from the words of their hits. It reads the ledger and changes nothing."""

from __future__ import annotations

from marchwarden.evidence.relevance import AskedFor, promise
from marchwarden.http.addresses import publisher_of
from marchwarden.ledger import Aspect, Lead, Ledger
from marchwarden.text.ranking import terms

# Least share of an aspect that a hit holds for its page to be worth reading. A guess.
RELEVANT_HIT = 0.34
# Pages of the highest rank that are read in a turn whatever their words, while a sub-question has no answer: the
# search may know better. A guess.
PAGES_ON_TRUST = 3
# Taken off a page's promise for each page of its organisation chosen this turn, and where one was read before.
# Guesses.
SAME_ORGANISATION, READ_ORGANISATION = 0.3, 0.15


def find_promising(ledger: Ledger, aspects: list[Aspect]) -> list[Lead]:
    """Return the unread leads that are worth reading for these aspects, best rank first."""
    return [lead for lead in ledger.unread() if promise(lead, aspects) >= RELEVANT_HIT]


def choose(ledger: Ledger, aspects: list[Aspect], wanted: list[str], most: int) -> list[Lead]:
    """Return the leads to read this turn, at most `most`.

    First come those whose URLs are wanted, then the most promising for these aspects, new organisations first.
    """
    chosen = [lead for url in wanted if (lead := ledger.lead(url)) and lead.state == "unread"][:most]
    rest = [lead for lead in find_promising(ledger, aspects) if lead not in chosen]
    if ledger.unanswered():
        rest += [lead for lead in ledger.unread()[:PAGES_ON_TRUST] if lead not in chosen and lead not in rest]
    worth = {lead.url: promise(lead, aspects) + lead.rank for lead in rest}
    read = {source.organisation for source in ledger.sources}
    while rest and len(chosen) < most:
        taken = [publisher_of(lead.url) for lead in chosen]

        def value(lead: Lead, taken: list[str] = taken) -> float:
            organisation = publisher_of(lead.url)
            again = SAME_ORGANISATION * taken.count(organisation) + READ_ORGANISATION * (organisation in read)
            return worth[lead.url] - again

        best = max(rest, key=value)
        rest.remove(best)
        chosen.append(best)
    return chosen


def aspect_of(query: str, aspects: list[Aspect]) -> int:
    """Return the number of the aspect that a query holds most of; of equals the first."""
    words = set(terms(query))
    return max(aspects, key=lambda aspect: (AskedFor.of(aspect.text, "en").share(words), -aspect.number)).number
