"""Examples and metric of `plan`.

`first`: nothing is known yet. Score: 0.7 × the share of the labelled things that stand on a page which the loop would
read first for this plan (its queries run on the frozen web's index, its aspects choose among the hits) + 0.3 × how
well its aspects cover the labels: the harmonic mean of the share of things and gaps that an aspect asks for, and of
the share of aspects that ask for one.
`later`: a part was read, the rest is among the candidates or to be searched for. Score: the share of the remaining
things whose page would be read next; 0 where the plan says that it is done.
A right answer asks in words of the question alone, and reads the candidates that hold something; of several such sets
of queries it has the one that finds most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from marchwarden.agent.frontier import aspect_of, choose
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import SAME_TOPIC, address, topic_similarity
from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.evidence.question import split_question
from marchwarden.ledger import Ledger
from marchwarden.observations import shortened
from marchwarden.optimization.examples.label_rows import things_of, wanted
from marchwarden.optimization.examples.ledgers import begun, pick, read
from marchwarden.optimization.examples.stage_example import (
    Example,
    Feedback,
    StageSet,
    carried,
    harmonic,
    in_words,
)
from marchwarden.optimization.examples.wording import as_phrase, keywords
from marchwarden.stages.plan import PLAN, Plan, PlanGiven, shown_candidates
from marchwarden.text.ranking import terms

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Pages of those that a plan finds that count: fewer than a turn may read, so that better plans show. A guess.
READ_FIRST = 4
# Queries of a right answer, at most. A guess.
MOST_QUERIES = 3
# Weights of the score's two parts. Guesses.
FOUND, COVERED = 0.7, 0.3
# Share of an aspect that a thing's quotes and titles must carry, for the aspect to ask for it. A guess.
ASKED_FOR = 0.5


@dataclass(frozen=True)
class Sought:
    """A labelled thing that a plan should find."""

    text: str
    places: frozenset[str]
    """Addresses of the pages that hold it, or that are closed and would; none for what no page holds."""
    words: frozenset[str]
    """The terms of its quotes and of their pages' titles."""


@dataclass(frozen=True)
class PlanGold:
    things: tuple[Sought, ...]
    source_filter: str | None
    web: LabelledWeb = field(repr=False, compare=False)

    @property
    def on_pages(self) -> list[Sought]:
        return [thing for thing in self.things if thing.places]


async def build(question: Question, web: LabelledWeb) -> list[Example[PlanGiven, PlanGold]]:
    things = []
    for thing in wanted(things_of(question)):
        # A search may list its pages under other addresses, too.
        places, texts = set(thing.places), [thing.text, *(quote.quote for quote in thing.quotes)]
        for place in thing.places:
            if listed := (await web.read(place)).page:
                places |= {address(listed.url), address(listed.canonical_url or listed.url)}
                texts.append(listed.title or "")
        things.append(Sought(thing.text, frozenset(places), frozenset(terms("\n".join(texts)))))
    gaps = [
        Sought(gap.topic, frozenset({address(gap.url)} if gap.url else ()), frozenset(terms(gap.topic)))
        for gap in question.gaps
        if gap.required
    ]
    gold = PlanGold((*things, *gaps), question.constraints.get("source_filter"), web)
    if not gold.on_pages:
        return []
    nothing = PlanGiven(Ledger(question=question.question, context=question.context), question.depth, [])
    first = Example(f"{question.id}/first", question.id, "first", nothing, gold)
    # A second example where the things stand on several pages, and only the first one's page was read.
    state = await begun(question, web)
    read_first = next((place for thing in state.things for place in thing.places), None)
    if read_first is None or (page := await read(state, web, read_first)) is None:
        return [first]
    await pick(state, web, page, read_first)
    left = tuple(thing for thing in gold.on_pages if read_first not in thing.places)
    if not left:
        return [first]
    # An aspect that holds several things is open as long as one of them is.
    remaining = [aspect for aspect in state.ledger.aspects if aspect.number not in state.evidenced]
    given = PlanGiven(state.ledger, question.depth, remaining or state.ledger.aspects)
    rest = PlanGold(left, gold.source_filter, web)
    return [first, Example(f"{question.id}/later", question.id, "later", given, rest)]


def score(example: Example[PlanGiven, PlanGold], plan: Plan) -> Feedback:
    found = _found(example, plan)
    if example.kind == "later":
        return found
    things = example.gold.things
    pairs = [
        (aspect, thing)
        for thing in things
        for aspect in plan.aspects
        if carried(aspect, thing.words) >= ASKED_FOR or topic_similarity(aspect, thing.text) >= SAME_TOPIC
    ]
    missed = [thing for thing in things if not any(thing is each for _, each in pairs)]
    idle = [aspect for aspect in plan.aspects if not any(aspect == each for each, _ in pairs)]
    covered = harmonic(1 - len(missed) / len(things), 1 - len(idle) / max(1, len(plan.aspects)))
    text = in_words(
        f"No aspect asks for {_listed(missed)}." if missed else "",
        f"Nothing that the question asks is found under “{'”, “'.join(idle)}”." if idle else "",
    )
    return Feedback(FOUND * found.score + COVERED * covered, in_words(found.text, text))


def _found(example: Example[PlanGiven, PlanGold], plan: Plan) -> Feedback:
    gold = example.gold
    if plan.done and example.given.ledger.queries:
        return Feedback(0.0, f"It is not done: {_listed(gold.on_pages)} was still to be found.")
    # The pages that the loop would choose after this plan's searches.
    given = example.given
    ledger = given.ledger.model_copy(deep=True)
    ledger.set_aspects(plan.aspects)
    fresh = [query for query in dict.fromkeys(plan.queries) if ledger.is_new_query(query)]
    for outcome in gold.web.find(fresh, gold.source_filter):
        ledger.add_search(outcome, aspect_of(outcome.query, ledger.aspects))
    leads = choose(ledger, given.open_aspects or ledger.aspects, plan.read, READ_FIRST)
    reached = {address(lead.url) for lead in leads}
    missed = [thing for thing in gold.on_pages if not thing.places & reached]
    text = "Every page that was needed would be read."
    if missed:
        read = "; ".join(f"“{shortened(lead.title, 80)}”" for lead in leads) or "none"
        text = f"No page that would be read holds {_listed(missed)}. The pages that would be read: {read}."
    return Feedback(1 - len(missed) / len(gold.on_pages), text)


def _listed(things: Iterable[Sought]) -> str:
    return "; ".join(f"“{shortened(thing.text)}”" for thing in things)


def answer(example: Example[PlanGiven, PlanGold]) -> dict[str, Any] | None:
    given = example.given
    named = [aspect.text for aspect in given.ledger.aspects] or split_question(given.ledger.question)
    if not all(keywords(aspect, without=names_in(given.ledger.question)) for aspect in named):
        return None
    sought = [aspect.text for aspect in given.open_aspects] or named
    # The shown candidates that hold something which is still to be found, by number.
    places = {place for thing in example.gold.on_pages for place in thing.places}
    shown = enumerate(shown_candidates(given), start=1)
    to_read = {number: lead for number, lead in shown if address(lead.url) in places}
    leads = [lead.url for lead in to_read.values()]
    # Sets of keyword queries, the plainest first: the first of equals is the answer.
    plain, whole = [keywords(aspect) for aspect in sought], keywords(given.ledger.question)
    ways = (plain, [*plain[: MOST_QUERIES - 1], whole], [whole, *plain])

    best = max(
        (list(dict.fromkeys(way))[:MOST_QUERIES] for way in ways),
        key=lambda queries: (
            _found(example, Plan(thought="", aspects=named, queries=queries, read=leads, done=False)).score
        ),
    )
    if given.ledger.queries:
        numbers = ", ".join(map(str, to_read))
        candidates = f"candidate{'s' * (len(to_read) > 1)} {numbers}"
        where = f"it may stand in {candidates}" if to_read else "no candidate promises it"
        thought = f"Still open is {'; '.join(as_phrase(aspect) for aspect in sought)}: {where}."
    else:
        thought = "It asks for one thing." if len(sought) == 1 else f"It asks for {len(sought)} things."
    return {
        "thought": thought,
        "aspects": [as_phrase(aspect) for aspect in named],
        "queries": best,
        "read": list(to_read),
        "done": False,
    }


PLAN_SET: StageSet[PlanGiven, Plan, PlanGold] = StageSet(PLAN, build, score, answer=answer)
