"""Examples and metric of `discoveries`: the pointers that the read pages name, of which some are labelled.

Score: F × (0.5 + 0.5 × W). F is the harmonic mean of recall (required identifiers told) and precision (told ones that
a label names, required or not); 1 for recall where none is required. Which pointers are told is decided by code; the
model words them. W is how well the labelled ones are worded, on average: the harmonic mean of how much the query
carries of what was asked (an aspect, or a labelled gap; half of it is enough) and of the share of the query's words
that come from there or from the sentence that names the pointer.
A right answer asks of each pointer the part of the question that its sentence carries most of. It is no demonstration
where the pages name too little, or too much else, for any wording to score well.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from marchwarden.contract import DiscoveryEvent
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import bare_identifier, normalised
from marchwarden.evidence.grounding import locators_in
from marchwarden.evidence.question import split_question
from marchwarden.observations import shortened
from marchwarden.optimization.examples.ledgers import filled
from marchwarden.optimization.examples.stage_example import (
    Example,
    Feedback,
    StageSet,
    carried,
    harmonic,
    in_words,
)
from marchwarden.optimization.examples.wording import keywords
from marchwarden.stages.discoveries import DISCOVERIES, POINTER_NAMES, DiscoveriesGiven
from marchwarden.text.ranking import terms

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Share of what was asked that is enough for a query to carry. A guess.
CARRIES_ENOUGH = 0.5
# Quality, 0–1, below which a query's wording is named in the feedback. A guess.
WELL_WORDED = 0.7


@dataclass(frozen=True)
class DiscoveriesGold:
    required: tuple[str, ...]
    """Identifiers that must be told, in the form in which they are compared."""
    optional: tuple[str, ...]
    asked: tuple[str, ...]
    """Texts of the aspects and the labelled gaps, any of which a query may ask for."""


async def build(question: Question, web: LabelledWeb) -> list[Example[DiscoveriesGiven, DiscoveriesGold]]:
    state = await filled(question, web)
    given = DiscoveriesGiven(state.ledger)
    if not given.pointers:
        return []
    named = [found for found in question.discoveries if found.identifier]
    gold = DiscoveriesGold(
        required=tuple(bare_identifier(found.identifier) for found in named if found.identifier and found.required),
        optional=tuple(
            bare_identifier(found.identifier) for found in named if found.identifier and not found.required
        ),
        asked=tuple(
            [aspect.text for aspect in state.ledger.aspects] + [gap.topic for gap in question.gaps if gap.required]
        ),
    )
    if not gold.required + gold.optional:
        return []
    kind = "required" if gold.required else "optional"
    return [Example(question.id, question.id, kind, given, gold)]


def score(example: Example[DiscoveriesGiven, DiscoveriesGold], events: list[DiscoveryEvent]) -> Feedback:
    gold = example.gold
    told_of = [normalised(f"{event.query} {event.reason}") for event in events]
    either = gold.required + gold.optional
    labelled = [event for event, text in zip(events, told_of, strict=True) if any(each in text for each in either)]
    missed = [each for each in gold.required if not any(each in text for text in told_of)]
    recall = 1 - len(missed) / len(gold.required) if gold.required else 1.0
    told = harmonic(recall, len(labelled) / max(1, len(events)))
    worth = [_score_wording(example, event) for event in labelled]
    value = told * (0.5 + 0.5 * fmean(worth)) if worth else 0.0
    poor = [event for event, worded in zip(labelled, worth, strict=True) if worded < WELL_WORDED]
    asked = "”, “".join(gold.asked)
    return Feedback(
        value,
        in_words(
            f"Not told: {', '.join(missed)}." if missed else "",
            *(f"Told, but of no use here: “{shortened(event.query)}”." for event in events if event not in labelled),
            *(
                f"The query “{shortened(event.query)}” does not ask for what was wanted from there: “{asked}”."
                for event in poor
            ),
        )
        or "Everything that another researcher should look at is told, with a query that asks for it.",
    )


def _score_wording(example: Example[DiscoveriesGiven, DiscoveriesGold], event: DiscoveryEvent) -> float:
    """Return how well an event's query asks for anything that was asked, 0–1."""
    pointer = next((each for each in example.given.pointers if each.value in event.query), None)
    if pointer is None:
        return 0.0
    words = set(terms(event.query.replace(pointer.value, " ")))
    sentence = set(terms(pointer.sentence))

    def fit(asked: str) -> float:
        enough = min(1.0, carried(asked, words) / CARRIES_ENOUGH)
        to_the_point = len(words & (set(terms(asked)) | sentence)) / len(words) if words else 0.0
        return harmonic(enough, to_the_point)

    return max(map(fit, example.gold.asked))


def is_own(given: DiscoveriesGiven, events: list[DiscoveryEvent]) -> bool:
    """True where any event is the model's."""
    # The stage itself words a pointer plainly where the model did not, or named what was not met.
    return any(event not in DISCOVERIES.model_free(given) for event in events)


def answer(example: Example[DiscoveriesGiven, DiscoveriesGold]) -> dict[str, Any]:
    parts = split_question(example.given.ledger.question)
    events = []
    for number, pointer in enumerate(example.given.pointers, start=1):
        shares = [carried(part, terms(pointer.sentence)) for part in parts]
        part = parts[shares.index(max(shares))]
        named = f"It is {POINTER_NAMES[pointer.kind]} that a page on this names"
        # A model may not write addresses or identifiers, so a sentence that has one is not quoted.
        quoted = "." if locators_in(pointer.sentence) else f": “{shortened(pointer.sentence)}”"
        events.append({"pointer": number, "query": f"{pointer.value} {keywords(part)}", "reason": named + quoted})
    return {"events": events}


DISCOVERIES_SET: StageSet[DiscoveriesGiven, list[DiscoveryEvent], DiscoveriesGold] = StageSet(
    DISCOVERIES, build, score, is_own, answer
)
