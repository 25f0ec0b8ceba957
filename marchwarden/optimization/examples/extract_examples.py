"""Examples and metric of `extract`.

`evidence`: a page with labelled quotes. Score: the harmonic mean of precision (picked passages that overlap a
labelled quote, or hold an accepted string) and recall (things on this page of which one is picked: the vital ones,
all where none is vital).
`nothing`: a page that the search finds for the question and that holds no accepted string. Score: 1 where nothing is
picked, else 0. That a page bears on the question in words that no label accepts is possible, and counts as a mistake.
A right answer picks the labelled passages that are shown, and says of each the clause that says what is labelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import says_one_of
from marchwarden.ledger import Excerpt
from marchwarden.observations import shortened
from marchwarden.optimization.examples.label_rows import Thing, gold_passages, wanted
from marchwarden.optimization.examples.ledgers import begun, best_aspect, given_to_extract, pages_without_answer
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet, harmonic, in_words
from marchwarden.optimization.examples.wording import clause, sentences_of
from marchwarden.stages.extract import EXTRACT, ExtractGiven, shown_passages

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Pages without an answer that each question gives. A guess.
PAGES_WITHOUT = 1


@dataclass(frozen=True)
class ExtractGold:
    url: str
    """Address by which the page was asked for, as labels name it."""
    things: tuple[Thing, ...]
    """Labelled things that the page states."""
    false_premise: bool = False
    """True where the question assumes something false. The vital things on the page then deny it."""


async def build(question: Question, web: LabelledWeb) -> list[Example[ExtractGiven, ExtractGold]]:
    state = await begun(question, web)
    needed = wanted(state.things)
    examples = []
    for url in dict.fromkeys(place for thing in needed for place in thing.places):
        page = (await web.read(url)).page
        here = tuple(thing for thing in state.things if thing.on(url))
        if page and gold_passages(here, page, url):
            given = await given_to_extract(state, web, page)
            gold = ExtractGold(url, here, "false-premise" in question.tags)
            examples.append(Example(f"{question.id}/{url}", question.id, "evidence", given, gold))
    for url, page in (await pages_without_answer(state, web, PAGES_WITHOUT)).items():
        given = await given_to_extract(state, web, page)
        examples.append(Example(f"{question.id}/{url}", question.id, "nothing", given, ExtractGold(url, ())))
    return examples


def score(example: Example[ExtractGiven, ExtractGold], excerpts: list[Excerpt]) -> Feedback:
    gold, page = example.gold, example.given.page
    picked = list({excerpt.start: excerpt.text for excerpt in excerpts}.values())
    if not gold.things and not picked:
        return Feedback(1.0, "Rightly nothing was picked: the page does not answer the question.")
    if not gold.things:
        texts = "; ".join(f"“{shortened(text)}”" for text in picked)
        return Feedback(
            0.0, f"The page does not answer the question, so nothing was to be picked; picked was {texts}."
        )
    needed = wanted(gold.things)
    right = [text for text in picked if any(thing.is_in(text, page, gold.url) for thing in gold.things)]
    missed = [thing for thing in needed if not any(thing.is_in(text, page, gold.url) for text in picked)]
    value = harmonic(len(right) / max(1, len(picked)), 1 - len(missed) / len(needed))
    wrong = [text for text in picked if text not in right]
    return Feedback(
        value,
        in_words(
            "Every passage that answers was picked." if not missed else "",
            *(f"Missed: {thing.text}, which “{shortened(thing.on(gold.url)[0])}” says." for thing in missed),
            *(f"Picked, but no answer: “{shortened(text)}”." for text in wrong),
        ),
    )


def answer(example: Example[ExtractGiven, ExtractGold]) -> dict[str, Any]:
    given, gold = example.given, example.gold
    labelled = gold_passages(gold.things, given.page, gold.url)
    picks = []
    for passage in shown_passages(given):
        if passage not in labelled:
            continue
        said = [thing for thing in gold.things if thing.is_in(passage.text, given.page, gold.url)]
        denied = gold.false_premise and any(
            thing.vital and says_one_of(passage.text, thing.answers) for thing in said
        )
        # The first clauses of the sentence that says something labelled; else of the first one, or a table's row.
        answers = [answer for thing in said for answer in thing.answers]
        texts = sentences_of(passage.text) or [" ".join(passage.text.split())]
        telling = next((text for text in texts if says_one_of(text, answers)), None)
        says = clause(telling, partial(says_one_of, accepted=answers)) if telling else clause(texts[0])
        picks.append(
            {
                "passages": [passage.number],
                "aspect": best_aspect(given.relevance, passage, given.aspects)[1].number,
                "says": says,
                "stance": "contradicts" if denied else "supports",
            }
        )
    return {"picks": picks}


EXTRACT_SET: StageSet[ExtractGiven, list[Excerpt], ExtractGold] = StageSet(EXTRACT, build, score, answer=answer)
