"""Examples and metric of `gaps`: open aspects that no recorded fact settles, each with its labelled category.

`scope_exceeded` and `source_not_found` as labelled; and `withheld`: a question with one fact to find, whose pages
were all kept from the ledger, so that nothing found is what there is to say, whatever papers the other pages name.
What facts settle (closed pages, budgets, contradictions) is never asked of a model, and makes no example.
Score: the share of open aspects whose gap has the labelled category.
A right answer gives each its category, and names what holds it where the model is shown that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marchwarden.contract import Gap, GapCategory
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import bare_identifier, normalised, topic_similarity
from marchwarden.observations import shortened
from marchwarden.optimization.examples.ledgers import Filled, begun, filled, pages_without_answer, read
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet, in_words
from marchwarden.programs.parameters import Parameters
from marchwarden.stages.discoveries import POINTER_NAMES, asks_for
from marchwarden.stages.gaps import GAPS, GapsGiven, shown_pointers, undecided

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Categories that no recorded fact settles, so that a model is asked.
LEFT_TO_JUDGE = (GapCategory.SCOPE_EXCEEDED, GapCategory.SOURCE_NOT_FOUND)
# Pages of a `withheld` example. A guess.
PAGES_READ = 4


@dataclass(frozen=True)
class GapsGold:
    categories: dict[str, GapCategory]
    """Labelled category of each open aspect, by the aspect's text."""
    holders: tuple[str, ...]
    """Labelled identifiers of the documents that hold what was asked for."""


async def build(question: Question, web: LabelledWeb) -> list[Example[GapsGiven, GapsGold]]:
    labelled = [gap for gap in question.gaps if gap.required]
    if not labelled and "one-fact" in question.tags:
        state = await begun(question, web)
        for url in await pages_without_answer(state, web, PAGES_READ):
            await read(state, web, url)
        not_found = {aspect.text: GapCategory.SOURCE_NOT_FOUND for aspect in state.ledger.aspects}
        return _example(question, "withheld", state, not_found, web.parameters)
    judged = [gap for gap in labelled if gap.category in LEFT_TO_JUDGE and not gap.url]
    if not judged:
        return []
    state = await filled(question, web)
    categories = {}
    for gap in judged:
        # The aspect that asks for what is missing. Where evidence speaks to it, or no aspect asks for it, the gap
        # becomes an aspect of its own.
        aspects = state.ledger.aspects
        best = max(aspects, key=lambda aspect: topic_similarity(gap.topic, aspect.text))
        is_open = best.number not in state.evidenced
        if is_open and (topic_similarity(gap.topic, best.text) or len(aspects) == 1):
            categories[best.text] = gap.category
        else:
            state.ledger.set_aspects([gap.topic])
            categories[gap.topic] = gap.category
    return _example(question, judged[0].category.value, state, categories, web.parameters)


def _example(
    question: Question, kind: str, state: Filled, categories: dict[str, GapCategory], parameters: Parameters
) -> list[Example[GapsGiven, GapsGold]]:
    claimed = frozenset(aspect.number for aspect in state.ledger.aspects if aspect.text not in categories)
    given = GapsGiven(state.ledger, [], claimed, parameters=parameters)
    asked = {aspect.text for aspect in undecided(given)}
    left = {aspect: category for aspect, category in categories.items() if aspect in asked}
    if not left:
        return []
    holders = tuple(found.identifier for found in question.discoveries if found.required and found.identifier)
    return [Example(question.id, question.id, kind, given, GapsGold(left, holders))]


def score(example: Example[GapsGiven, GapsGold], gaps: list[Gap]) -> Feedback:
    gold = example.gold
    told = {gap.topic: gap for gap in gaps}
    wrong = [
        aspect
        for aspect, category in gold.categories.items()
        if aspect not in told or told[aspect].category is not category
    ]
    sentences = []
    for aspect in wrong:
        said = f"was called {told[aspect].category.value}" if aspect in told else "was left out"
        if gold.categories[aspect] is GapCategory.SCOPE_EXCEEDED:
            held = f" ({', '.join(gold.holders)})" if gold.holders else ""
            why = f"it asks for what another kind of source holds, which pages only name{held}"
        else:
            why = "it asks for a plain fact that pages could have stated and none did, whatever papers they name"
        sentences.append(f"“{shortened(aspect)}” {said}; right is {gold.categories[aspect].value}: {why}.")
    return Feedback(
        1 - len(wrong) / len(gold.categories), in_words(*sentences) or "Every open aspect has its category."
    )


def is_own(given: GapsGiven, gaps: list[Gap]) -> bool:
    """True where any gap is the model's."""
    # The stage itself puts a gap by the facts where the model gave none, or an unfounded one.
    return any(gap not in GAPS.model_free(given) for gap in gaps)


def answer(example: Example[GapsGiven, GapsGold]) -> dict[str, Any]:
    return {
        "gaps": [
            {"aspect": aspect.number, "category": category.value, "detail": _detail(example, aspect.text, category)}
            for aspect in undecided(example.given)
            if (category := example.gold.categories.get(aspect.text))
        ]
    }


def _detail(example: Example[GapsGiven, GapsGold], aspect: str, category: GapCategory) -> str:
    """Return the sentence that tells the two categories apart."""
    if category is GapCategory.SOURCE_NOT_FOUND:
        return "A web page could state this plainly, and none of those that were read does."
    # A labelled holder among the pointers that are shown, of the kind that is asked for where there is one.
    labelled = [bare_identifier(holder) for holder in example.gold.holders]
    shown = shown_pointers(example.given)
    holders = [each for each in shown if any(name in normalised(each.value) for name in labelled)]
    if holder := max(holders, key=lambda pointer: pointer.kind == asks_for(aspect), default=None):
        return f"It asks for what {POINTER_NAMES[holder.kind]} holds ({holder.value}), which web pages only name."
    what = POINTER_NAMES[kind] if (kind := asks_for(aspect)) else "another kind of source"
    return f"It asks for what {what} holds, and web pages only tell of that."


GAPS_SET: StageSet[GapsGiven, list[Gap], GapsGold] = StageSet(GAPS, build, score, is_own, answer)
