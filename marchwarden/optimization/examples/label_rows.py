"""Things that the labels of a question want found, with their pages and passages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from marchwarden.evaluation.labels.questions import Question, Quote
from marchwarden.evaluation.labels.scoring_text import address, overlaps, says_one_of
from marchwarden.observations import Page, Passage


@dataclass(frozen=True)
class Thing:
    """Something that a right result says, with its quotes: a nugget, or a side of a contradiction."""

    text: str
    answers: tuple[str, ...]
    """Accepted strings; empty for a side of a contradiction."""
    quotes: tuple[Quote, ...]
    vital: bool

    @property
    def places(self) -> list[str]:
        """Addresses of the pages that state it, each once."""
        return list(dict.fromkeys(address(quote.url) for quote in self.quotes))

    def on(self, url: str) -> list[str]:
        """Return its quotes from the page at this address."""
        return [quote.quote for quote in self.quotes if address(quote.url) == address(url)]

    def is_in(self, excerpt: str, page: Page, url: str) -> bool:
        """True where an excerpt of the page, which was asked for as `url`, is evidence of it."""
        # As the metric of evidence recall counts it: by overlap with a quote, or by an accepted string.
        quotes = self.on(url)
        return any(overlaps(excerpt, quote, page.text) for quote in quotes) or (
            bool(quotes) and says_one_of(excerpt, self.answers)
        )


def things_of(question: Question) -> list[Thing]:
    """Return the question's things, nuggets first; a side of a contradiction that no nugget quotes is one, too."""
    things = [
        Thing(nugget.text, tuple(nugget.answers), tuple(nugget.evidence), nugget.vital) for nugget in question.nuggets
    ]
    quoted = {quote for thing in things for quote in thing.quotes}
    for contradiction in question.contradictions:
        for side in contradiction.sides:
            if side not in quoted:
                text = f"{contradiction.about}: “{side.quote}”"
                things.append(Thing(text, (), (side,), vital=contradiction.required))
    return things


def wanted(things: Iterable[Thing]) -> list[Thing]:
    """Return the vital things; all where none is, as where the budget lets only some be found."""
    things = list(things)
    return [thing for thing in things if thing.vital] or things


def gold_passages(things: Iterable[Thing], page: Page, url: str) -> list[Passage]:
    """Return the passages of a page that overlap its labelled quotes."""
    quotes = [quote for thing in things for quote in thing.on(url)]
    return [passage for passage in page.passages if any(overlaps(passage.text, quote, page.text) for quote in quotes)]


def labelled_places(question: Question) -> list[str]:
    """Return the addresses in labels, each once: of evidence, of closed pages, of pages that name a discovery."""
    quoted = [quote.url for quote in question.quotes]
    closed = [gap.url for gap in question.gaps if gap.url]
    naming = [found.source_locator for found in question.discoveries if found.source_locator]
    return list(dict.fromkeys(address(url) for url in quoted + closed + naming))
