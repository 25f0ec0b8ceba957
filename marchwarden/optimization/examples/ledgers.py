"""Ledgers as the loop would have filled them by some point, with the passages that labels call evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marchwarden.agent.frontier import aspect_of, choose
from marchwarden.contract import SourceFilter
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address, says_one_of
from marchwarden.evidence.confidence import authority_of
from marchwarden.evidence.relevance import Relevance, promise
from marchwarden.evidence.windows import Window
from marchwarden.http.addresses import host_of, publisher_of
from marchwarden.ledger import Aspect, Excerpt, Ledger
from marchwarden.observations import Failure, FailureKind, Page, Passage
from marchwarden.optimization.examples.label_rows import Thing, gold_passages, labelled_places, things_of
from marchwarden.stages.discoveries import find_pointers
from marchwarden.stages.extract import ExtractGiven
from marchwarden.stages.plan import PLAN, PlanGiven

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Pages without a label that are read besides, as the loop would read them. A guess.
OTHER_PAGES = 3
# Passages without a label that are picked of each page, the most relevant first. A guess.
DISTRACTORS = 2


@dataclass
class Filled:
    """A ledger, with the question, labels and pages that it was filled from."""

    question: Question
    ledger: Ledger
    things: list[Thing]
    pages: dict[str, Page] = field(default_factory=dict)
    """Pages that were read, by the address that was asked for."""
    gold: set[int] = field(default_factory=set)
    """Numbers of the excerpts that are labelled evidence."""

    @property
    def evidenced(self) -> set[int]:
        """Numbers of the aspects that labelled evidence answers."""
        return {excerpt.aspect for excerpt in self.ledger.excerpts if excerpt.number in self.gold}


async def begun(question: Question, web: LabelledWeb) -> Filled:
    """Fill a ledger with the first turn's searches, which the model-free plan asks; nothing is read."""
    ledger = Ledger(question=question.question, context=question.context)
    plan = PLAN.model_free(PlanGiven(ledger, question.depth, []))
    ledger.set_aspects(plan.aspects)
    for query in plan.queries:
        outcome = await web.search(query, question.constraints.get("source_filter"))
        ledger.add_search(outcome, aspect_of(query, ledger.aspects))
    return Filled(question, ledger, things_of(question))


async def filled(question: Question, web: LabelledWeb) -> Filled:
    """Fill a ledger with all labelled pages and a few others.

    Labelled quotes are picked, with distractors from the same pages. Closed pages fail as they do in a fetch, and
    pointers are those that the pages name.
    """
    state = await begun(question, web)
    allowed = SourceFilter(question.constraints.get("source_filter"))
    for url in labelled_places(question):
        if allowed.allows(host_of(url)) and (page := await read(state, web, url)):
            await pick(state, web, page, url)
    for lead in choose(state.ledger, state.ledger.aspects, [], OTHER_PAGES):
        await read(state, web, lead.url)
    return state


async def read(state: Filled, web: LabelledWeb, url: str) -> Page | None:
    """Fetch a page into the ledger; None where it could not be read, or was read before under another address."""
    ledger = state.ledger
    lead = ledger.lead(url)
    if lead is None:
        ledger.leads.append(lead := web.lead(url, aspect=1))
    outcome = await web.read(url)
    if outcome.page is None:
        failure = outcome.failure or Failure(FailureKind.NO_TEXT, "the page holds no text")
        ledger.add_failure(lead, failure, promise(lead, ledger.aspects))
        return None
    page = outcome.page
    authority = authority_of(page.url, page.work, page.standing)
    if not ledger.add_page(lead, page, publisher_of(page.url), authority):
        return None
    ledger.add_pointers(find_pointers(page, ledger.question))
    state.pages[address(url)] = page
    return page


async def given_to_extract(state: Filled, web: LabelledWeb, page: Page) -> ExtractGiven:
    ledger = state.ledger
    places = {lead.url: place for place, lead in enumerate(ledger.by_rank(), start=1)}
    relevance = await web.relevance(page, ledger.aspects, places.get(page.url, len(places) + 1))
    return ExtractGiven(ledger.question, ledger.context, ledger.aspects, relevance, web.parameters)


async def pick(state: Filled, web: LabelledWeb, page: Page, url: str) -> None:
    """Enter the labelled passages of a page as excerpts, and the best of the others."""
    ledger = state.ledger
    gold = gold_passages(state.things, page, url)
    if not gold:
        return
    relevance = (await given_to_extract(state, web, page)).relevance
    others = [passage for passage in page.passages if passage not in gold]
    ranked = sorted(others, key=lambda passage: -best_aspect(relevance, passage, ledger.aspects)[0])
    for passage in gold + ranked[:DISTRACTORS]:
        share, aspect = best_aspect(relevance, passage, ledger.aspects)
        excerpt = Excerpt(
            number=0,
            locator=page.url,
            aspect=aspect.number,
            start=passage.start,
            end=passage.end,
            text=passage.text,
            relevance=share,
        )
        if ledger.add_excerpt(excerpt) and passage in gold:
            state.gold.add(excerpt.number)


def best_aspect(relevance: Relevance, passage: Passage, aspects: Sequence[Aspect]) -> tuple[float, Aspect]:
    """Return a passage's relevance, 0–1, to the aspect that it answers best, and that aspect."""
    window = Window.of(passage)
    best = max(aspects, key=lambda aspect: (relevance.of(window, aspect), -aspect.number))
    return relevance.of(window, best), best


async def pages_without_answer(state: Filled, web: LabelledWeb, most: int) -> dict[str, Page]:
    """Return the best-ranked hits that can be read, are not labelled, and hold no accepted string of the question.

    They are pages on its subject on which nothing is to be found. They are not entered into the ledger.
    """
    answers = [answer for thing in state.things for answer in thing.answers]
    labelled = set(labelled_places(state.question))
    found: dict[str, Page] = {}
    for lead in state.ledger.unread():
        if len(found) == most:
            break
        if lead.url in labelled:
            continue
        page = (await web.read(lead.url)).page
        if page and page.passages and not says_one_of(page.text, answers):
            found[lead.url] = page
    return found
