"""References of papers that were read, and works that cite such a paper: what is worth following, one step far.

It reads the ledger and changes nothing. The loop reads what is chosen here within the budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from marchwarden.evidence.relevance import AskedFor
from marchwarden.http.addresses import host_of
from marchwarden.injection.detector import clean_hit
from marchwarden.ledger import Aspect, Ledger, Pointer
from marchwarden.observations import Page, Reference, SearchHit, SearchOutcome, plain_line
from marchwarden.reading.works.references import cited_within
from marchwarden.stages.discoveries import pointer_to
from marchwarden.text.ranking import coverage, guess_language, terms
from marchwarden.text.works import carries_works, is_same_work, names_of, work_of_address

# References that are followed in a turn, and works of an index of citations that are read in a call. Guesses.
MOST_FOLLOWED, MOST_RELATED = 2, 2
# Least share of an aspect in a sentence and the entry that it cites; and in an entry alone, where nothing says what
# it is cited for. Guesses.
_MIN_SHARE, _MIN_SHARE_ALONE = 0.4, 0.6
# Worth of a share of the aspect in the entry beside one in the sentence. A guess: of several references of one
# sentence it chooses the one whose title is on the aspect.
_ENTRY_WEIGHT = 0.5
# Least share of a hit's title in an entry for the hit to be that work, and its terms. Guesses: short titles are those
# of many works.
_SAME_TITLE, _MIN_TITLE_TERMS = 0.9, 4
# Characters of a sentence in the trace, and of an entry that is searched for. Guesses.
_SENTENCE_CHARS, _QUERY_CHARS = 200, 300
_ASKS_LATER = re.compile(
    r"\b(?:replicat\w+|reproduc(?:ed|ib\w+)|follow[- ]?ups?\b|(?:later|subsequent|newer|more recent) "
    r"(?:\w+ ){0,2}(?:work|studies|study|papers?|research|results?|evidence|findings?)|since then|superseded|"
    r"(?:been )?(?:confirmed|refuted|challenged|disproved|built (?:up)?on)|still (?:holds?|valid|stands?)|"
    r"(?:who|which|what)\b.{0,40}\bcites?\b|cited by)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Cited:
    """A reference that is worth reading: a paper cites it beside what it says of an aspect."""

    page: Page
    reference: Reference
    aspect: Aspect
    sentence: str
    """Passage that cites it; the entry itself where the place is not known."""
    worth: float

    @property
    def reason(self) -> str:
        """Reason to read it, in a sentence for the trace."""
        said = plain_line(self.sentence, _SENTENCE_CHARS)
        return f"“{self.page.title or self.page.url}” cites it for: “{said}”"

    @property
    def query(self) -> str:
        """Words by which a search finds the work."""
        return plain_line(self.reference.title or self.reference.text, _QUERY_CHARS)

    @property
    def pointer(self) -> Pointer | None:
        """Pointer for another researcher; None where the entry has no identifier that one could look up."""
        return pointer_to(self.reference, self.sentence, self.page.url)

    def listed_at(self, url: str) -> SearchOutcome:
        """Return the entry as the outcome of a search in the paper's list of references, whose hit is the work."""
        hit = clean_hit(SearchHit(url, self.reference.title or self.reference.text, self.sentence))
        query = plain_line(f"reference in {self.page.url}: {self.query}", _QUERY_CHARS)
        return SearchOutcome(query, "references", (hit,))


def is_followable(page: Page) -> bool:
    """Return whether a page is a paper whose references may be followed. Any other page could name what it likes."""
    return page.work is not None and carries_works(host_of(page.url))


def find_cited(ledger: Ledger, pages: Iterable[Page], aspects: Sequence[Aspect]) -> list[Cited]:
    """Return the references that are worth reading for these aspects, each work once, most worth first.

    They are cited in excerpts on an aspect. Works that were read, or could not be, are left out.
    """
    known = [source.work for source in ledger.sources if source.work]
    known += [work for lead in ledger.leads if lead.state != "unread" and (work := work_of_address(lead.url))]
    found: list[Cited] = []
    for each in sorted(
        (each for page in pages for aspect in aspects for each in _cited_for(ledger, page, aspect)),
        key=lambda each: -each.worth,
    ):
        work = each.reference.work
        if not any(is_same_work(work, other) for other in (*known, *(one.reference.work for one in found))):
            found.append(each)
    return found


def _cited_for(ledger: Ledger, page: Page, aspect: Aspect) -> Iterator[Cited]:
    language = guess_language(aspect.text)
    asked = AskedFor.of(aspect.text, language)

    def share(text: str) -> float:
        return asked.share(set(terms(text, language)) | asked.spelled_out(text))

    if not any(reference.marks for reference in page.references):
        for reference in page.references:
            if (worth := share(reference.text)) >= _MIN_SHARE_ALONE:
                yield Cited(page, reference, aspect, reference.text, worth)
        return
    for excerpt in ledger.excerpts_for(aspect.number):
        if excerpt.locator != page.url:
            continue
        for passage in page.passages:
            if passage.start < excerpt.start or passage.end > excerpt.end:
                continue
            for reference in cited_within(page, passage.start, passage.end):
                if (whole := share(f"{passage.text} {reference.text}")) >= _MIN_SHARE:
                    worth = whole + _ENTRY_WEIGHT * share(reference.text)
                    yield Cited(page, reference, aspect, passage.text, worth)


def hit_of(cited: Cited, outcome: SearchOutcome) -> SearchHit | None:
    """Return the hit that is the cited work, by its title; None where none is."""
    entry = set(terms(cited.reference.text))
    for hit in outcome.hits:
        title = set(terms(hit.title))
        if len(title) >= _MIN_TITLE_TERMS and coverage(title, entry, {}) >= _SAME_TITLE:
            return hit
    return None


# Works that an index tells of


def asks_for_later_work(question: str) -> bool:
    """Return whether a question asks what came after a work: whether it was replicated, or what cites it."""
    return _ASKS_LATER.search(question) is not None


def best_paper(ledger: Ledger, pages: Iterable[Page]) -> Page | None:
    """Return the paper with an identifier whose excerpt fits best; None where none of the pages gave any."""
    papers = {page.url: page for page in pages if page.work and names_of(page.work)}
    fitting = [excerpt for excerpt in ledger.excerpts if excerpt.locator in papers]
    best = max(fitting, key=lambda excerpt: excerpt.relevance, default=None)
    return papers[best.locator] if best else None
