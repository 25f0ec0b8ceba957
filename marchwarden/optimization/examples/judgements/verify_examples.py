"""Examples and metric of `verify`: true sentences of labelled passages, and the same made false by code.

Of a labelled sentence code makes a true claim (its first clauses), and false ones: another number or a "not" more or
less (contradicted), a sentence of another page (not stated), a true sentence with a clause of another page (partly).
The false ones are cruder than a model's: `python evals/claims/measure.py` has subtle ones, written by hand.

Score: the mean over the claims, 0 at least. A right verdict is worth 1, "supported" of what is not supported −1, and
0.5 where a claim is refused for the wrong one of the two reasons, or cut at the wrong place. Others, and claims left
out, are worth 0.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from marchwarden.evaluation.labels.questions import Question
from marchwarden.ledger import Excerpt, Ledger
from marchwarden.observations import shortened
from marchwarden.optimization.examples.labelled_web import LabelledWeb
from marchwarden.optimization.examples.ledgers import filled
from marchwarden.optimization.examples.stage_example import Example, Feedback, StageSet, in_words
from marchwarden.optimization.examples.wording import clause, sentences_of, stands_alone
from marchwarden.stages.synthesize import Claim, usable_excerpts
from marchwarden.stages.verify_claims import VERIFY, Judgement, Verdict, VerifyGiven
from marchwarden.text.ranking import guess_language, terms

# Claims of one example, and of one kind in it, at most. Guesses.
MOST_CLAIMS, MOST_OF_A_KIND = 6, 2
# Share of a sentence's terms in a quote from which on the quote may state it after all. A guess.
ALIKE = 0.5
# Worth of "supported" where it is false, and of a verdict that refuses rightly for the wrong reason. Guesses.
FALSE_SUPPORT, HALF_RIGHT = -1.0, 0.5

_NUMBER = re.compile(r"(?<![\w.,-])\d{2,}(?![\w.,-]*\d)")
_IS_NOT = re.compile(r" (is|are|was|were|has|have|can|does|did|do) not\b")
_FUNCTION_WORD = re.compile(
    r"^(?:The|An?|In|On|At|By|From|For|After|Before|Since|Some|Most|Many|About|Der|Die|Das|Le|La)\b"
)
_IS = re.compile(r" (is|are|was|were|can)\b(?! not\b)")


@dataclass(frozen=True)
class Made:
    """A claim that code made, with its right verdict."""

    kind: str
    claim: Claim
    verdict: Judgement
    part: str = ""
    missing: str = ""


async def build(question: Question, web: LabelledWeb) -> list[Example[VerifyGiven, tuple[Made, ...]]]:
    state = await filled(question, web)
    kinds: dict[str, list[Made]] = {}
    for each in _made(state.ledger, state.gold):
        kinds.setdefault(each.kind, []).append(each)
    # Some claims of every kind, in an order that says nothing of the kind and is always the same.
    ranked = [
        each for rank in range(MOST_OF_A_KIND) for of_kind in kinds.values() for each in of_kind[rank : rank + 1]
    ]
    made = tuple(sorted(ranked[:MOST_CLAIMS], key=lambda each: hashlib.sha256(each.claim.text.encode()).digest()))
    if not {"supported"} < {each.verdict for each in made}:
        return []
    given = VerifyGiven(state.ledger, tuple(each.claim for each in made))
    return [Example(question.id, question.id, next(iter(question.tags), "other"), given, made)]


def _made(ledger: Ledger, gold: set[int]) -> Iterator[Made]:
    usable = usable_excerpts(ledger)
    language = guess_language(ledger.question)
    said = [
        (each, text)
        for each in usable
        if guess_language(each.text) == language
        for text in sentences_of(each.text)
        if stands_alone(text) and len(terms(text)) > 3
    ]
    for number, (excerpt, text) in enumerate((each, text) for each, text in said if each.number in gold):
        begun = clause(text)
        yield Made("true", _claim(f"{begun}.", excerpt), "supported")
        # The first number of two or more digits is raised by ten.
        raised = _NUMBER.sub(lambda found: str(int(found.group()) + 10), text, count=1)
        if raised != text:
            yield Made("number", _claim(raised, excerpt), "contradicted", missing="The quote has another number.")
        # There is a "not" less, or one more.
        denied = _IS_NOT.sub(r" \1", text, count=1)
        if denied == text:
            denied = _IS.sub(r" \1 not", text, count=1)
        if denied != text:
            yield Made("negation", _claim(denied, excerpt), "contradicted", missing="The quote says the opposite.")
        # Sentences of other pages that say something which the excerpt does not say.
        own = set(terms(excerpt.text))
        strange = (
            each
            for other, each in said
            if other.locator != excerpt.locator and len(own & (words := set(terms(each)))) < ALIKE * len(words)
        )
        if foreign := next(islice(strange, number, None), None):
            yield Made("elsewhere", _claim(foreign, excerpt), "not_stated", missing="The quote does not say this.")
            extended = f"{begun}, and {_FUNCTION_WORD.sub(lambda found: found.group().lower(), foreign)}"
            missing = "The quote says nothing of the rest."
            yield Made("extended", _claim(extended, excerpt), "partly", f"{begun}.", missing)


def _claim(text: str, excerpt: Excerpt) -> Claim:
    return Claim(text=text, excerpts=[excerpt.number])


def score(example: Example[VerifyGiven, tuple[Made, ...]], verdicts: list[Verdict]) -> Feedback:
    by_claim = {verdict.claim: verdict for verdict in verdicts}
    worth, sentences = 0.0, []
    for number, made in enumerate(example.gold, start=1):
        verdict = by_claim.get(number)
        said = verdict.verdict if verdict else None
        own = _worth(made, verdict)
        worth += own
        if own < 1:
            right = f"right is {made.verdict}" + (f", of which the quotes support “{made.part}”" if made.part else "")
            was = (
                f"was called {said}"
                if said and said != made.verdict
                else "was cut wrongly"
                if said
                else "was left out"
            )
            sentences.append(f"{number}. “{shortened(made.claim.text)}” {was}; {right}. {made.missing}".strip())
    return Feedback(max(0.0, worth / len(example.gold)), in_words(*sentences) or "Every claim has its verdict.")


def _worth(made: Made, verdict: Verdict | None) -> float:
    if verdict is None:
        return 0.0
    if verdict.verdict == "supported" != made.verdict:
        return FALSE_SUPPORT
    if verdict.verdict == made.verdict:
        return 1.0 if terms(verdict.part) == terms(made.part) or made.verdict != "partly" else HALF_RIGHT
    refused = {"contradicted", "not_stated"}
    return HALF_RIGHT if {verdict.verdict, made.verdict} == refused else 0.0


def answer(example: Example[VerifyGiven, tuple[Made, ...]]) -> dict[str, Any]:
    return {
        "verdicts": [
            {"claim": number, "verdict": made.verdict, "part": made.part, "missing": made.missing}
            for number, made in enumerate(example.gold, start=1)
        ]
    }


VERIFY_SET: StageSet[VerifyGiven, list[Verdict], tuple[Made, ...]] = StageSet(VERIFY, build, score, answer=answer)
