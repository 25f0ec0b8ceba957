"""Examples and metric of `open_questions`. Nobody labelled which questions are good ones, so this is a proxy.

Score: the mean over the questions asked; 0 where none is. A question is worth 0 where a page that was read answers
it (a passage carries nine tenths of its words, and it does not ask why), where it asks again what was asked, what
is told as a gap, or the same as one before; else 0.4, and 0.3 more where it is about its evidence (two content
words, or a pointer, of the excerpt that it names as having raised it), and 0.3 more where it can be understood
alone (it names something, or leans on no "it").
It is blind to whether anybody would want to know. So there are no right answers to show a model: what code can say
would please this score, and teach a template.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from marchwarden.contract import Gap, OpenQuestion
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import topic_similarity
from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.evidence.conflicts import find_conflicts
from marchwarden.observations import shortened
from marchwarden.optimization.examples.ledgers import filled
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet, carried, in_words
from marchwarden.stages.open_questions import OPEN_QUESTIONS, OpenQuestionsGiven
from marchwarden.text.ranking import terms, terms_of

if TYPE_CHECKING:
    from marchwarden.optimization.examples.labelled_web import LabelledWeb

# Weights of the score's three parts. Guesses.
OPEN, ABOUT_EVIDENCE, ALONE = 0.4, 0.3, 0.3
# Share of a question that a passage must carry to answer it. A guess.
ANSWERED = 0.9
# Similarity of two topics, 0–1, from which they ask the same. A guess.
ASKED_AGAIN = 0.8
_LEANS = re.compile(r"\b(it|its|this|that|these|those|they|their|he|his|she|her)\b", re.IGNORECASE)


@dataclass(frozen=True)
class OpenQuestionsGold:
    passages: tuple[tuple[str, frozenset[str]], ...]
    """Passages that were read, each with its terms. None of them may answer an open question."""


async def build(question: Question, web: LabelledWeb) -> list[Example[OpenQuestionsGiven, OpenQuestionsGold]]:
    state = await filled(question, web)
    cited = [excerpt for excerpt in state.ledger.excerpts if excerpt.number in state.gold]
    if not cited:
        return []
    state.ledger.conflicts = find_conflicts(state.ledger, web.parameters)
    gaps = [Gap(topic=gap.topic, category=gap.category, detail=gap.topic) for gap in question.gaps if gap.required]
    given = OpenQuestionsGiven(state.ledger, cited, gaps, web.as_of)
    texts = [passage.text for page in state.pages.values() for passage in page.passages]
    gold = OpenQuestionsGold(tuple(zip(texts, map(frozenset, terms_of(texts)), strict=True)))
    return [Example(question.id, question.id, next(iter(question.tags), "other"), given, gold)]


def score(example: Example[OpenQuestionsGiven, OpenQuestionsGold], questions: list[OpenQuestion]) -> Feedback:
    if not questions:
        return Feedback(0.0, "No question was handed on.")
    judged = [
        _judged(example, asked, [other.question for other in questions[:number]])
        for number, asked in enumerate(questions)
    ]
    text = in_words(*(each.text for each in judged)) or "Every question is open, about the evidence, and clear alone."
    return Feedback(fmean(each.score for each in judged), text)


def _judged(
    example: Example[OpenQuestionsGiven, OpenQuestionsGold], asked: OpenQuestion, before: list[str]
) -> Feedback:
    quoted = f"“{shortened(asked.question)}”"
    given = example.given
    asked_before = {
        "researched here": [given.ledger.question],
        "told as a gap": [gap.topic for gap in given.gaps],
        "asked above": before,
    }
    for again, others in asked_before.items():
        if any(topic_similarity(asked.question, other) >= ASKED_AGAIN for other in others):
            return Feedback(0.0, f"{quoted} asks again what is {again}.")
    # A question why is about what was read, and so shares its words.
    if not asked.question.casefold().startswith("why"):
        answers = (text for text, words in example.gold.passages if carried(asked.question, words) >= ANSWERED)
        if answer := next(answers, None):
            return Feedback(0.0, f"{quoted} is answered already: “{shortened(answer)}”.")
    named = [word for word in names_in(asked.question) if any(map(str.isdigit, word)) and word in asked.context]
    about = bool(named) or len(set(terms(asked.question)) & set(terms(asked.context))) >= 2
    alone = bool(names_in(asked.question)) or not _LEANS.search(asked.question)
    return Feedback(
        OPEN + ABOUT_EVIDENCE * about + ALONE * alone,
        in_words(
            "" if about else f"{quoted} is not about the evidence that it names: “{shortened(asked.context)}”.",
            "" if alone else f"{quoted} can't be understood alone: it names nothing.",
        ),
    )


def is_own(given: OpenQuestionsGiven, questions: list[OpenQuestion]) -> bool:
    """True where any question is the model's."""
    # The stage itself asks what the facts raise where none of the model's questions can be handed on.
    return any(asked not in OPEN_QUESTIONS.model_free(given) for asked in questions)


OPEN_QUESTIONS_SET: StageSet[OpenQuestionsGiven, list[OpenQuestion], OpenQuestionsGold] = StageSet(
    OPEN_QUESTIONS, build, score, is_own
)
