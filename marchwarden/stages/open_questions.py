"""Open questions: follow-ups that the findings raise, each with the evidence that raised it. None is answered."""

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, RootModel

from marchwarden.contract import Gap, OpenQuestion, Priority, Recency
from marchwarden.evidence.asking.changing import CHANGES
from marchwarden.evidence.grounding import invented
from marchwarden.ledger import Excerpt, Ledger
from marchwarden.stages.bounded_lists import keep_valid
from marchwarden.stages.discoveries import POINTER_NAMES, RESEARCHERS
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import terms
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

# Questions of one result, of which pointers raise so many at most. Guesses.
MOST_QUESTIONS = 4
MOST_ABOUT_POINTERS = 2
# Excerpts that a model is shown. A guess.
EXCERPTS_SHOWN = 8
# Tokens of the shortest answer that is of use. A guess: a question takes 20 to 40.
_ONE_QUESTION_TOKENS = 40
# Age from which on a statement may no longer hold: the contract calls sources of this age dated.
OLD_YEARS = 3


@dataclass(frozen=True)
class OpenQuestionsGiven:
    ledger: Ledger
    cited: list[Excerpt]
    gaps: list[Gap]
    today: date
    most_shown: int = EXCERPTS_SHOWN
    """Excerpts that a model is shown, at most. For 0 it is the best sentence of the first, and no gap."""

    @property
    def shown(self) -> list[Excerpt]:
        return self.cited[: max(1, self.most_shown)]

    @property
    def already_open(self) -> list[str]:
        return [gap.topic for gap in self.gaps if self.most_shown and gap.topic != self.ledger.question]

    def text(self, excerpt: Excerpt) -> str:
        return excerpt.text if self.most_shown else excerpt.key_text


class Asked(BaseModel):
    question: str = Field(min_length=8, max_length=300)
    excerpt: int
    priority: Priority = Priority.MEDIUM


class AskedQuestions(RootModel[Annotated[list[Asked], BeforeValidator(keep_valid(Asked, 4)), Field(max_length=4)]]):
    pass


def signature() -> "type[dspy.Signature]":
    import dspy

    class AskNext(dspy.Signature):
        """Write specific questions that these findings make worth researching next, each raised by one excerpt,
        pointed at by number. Do not repeat the question itself or what is listed as open, and do not answer."""

        question: str = dspy.InputField()
        excerpts: str = dspy.InputField(desc="numbered")
        already_open: list[str] = dspy.InputField()
        questions: AskedQuestions = dspy.OutputField()

    return AskNext


def show(given: OpenQuestionsGiven) -> dict[str, Any]:
    return {
        "question": given.ledger.question,
        "excerpts": "\n".join(f"<{excerpt.number}> {given.text(excerpt)}" for excerpt in given.shown),
        "already_open": given.already_open,
    }


def shorten(given: OpenQuestionsGiven) -> OpenQuestionsGiven | None:
    """Return the input with an excerpt less, at last with a sentence; None where it has only that."""
    return replace(given, most_shown=len(given.shown) - 1) if given.most_shown else None


def read(given: OpenQuestionsGiven, prediction: "dspy.Prediction") -> list[OpenQuestion]:
    """Return the questions that point at an excerpt which was shown. Raises ValueError where there is none."""
    shown = {excerpt.number: excerpt for excerpt in given.shown}
    kept = [
        OpenQuestion(
            question=asked.question.strip(),
            context=excerpt.text,
            priority=asked.priority,
            source_locator=excerpt.locator,
        )
        for asked in prediction.questions.root
        if (excerpt := shown.get(asked.excerpt)) and asked.question.strip().endswith("?")
    ]
    if not kept:
        raise ValueError("no question points at an excerpt that was shown")
    return kept


def ground(given: OpenQuestionsGiven, questions: list[OpenQuestion]) -> tuple[list[OpenQuestion], list[Dropped]]:
    """Drop questions about things that were not found; where none is left, return the model-free ones."""
    kept: list[OpenQuestion] = []
    dropped = []
    for asked in questions:
        if problem := _problem(given, asked.question, [each.question for each in kept]):
            dropped.append(Dropped(what="open_question", text=asked.question, decision=problem))
        else:
            kept.append(asked)
    return kept or model_free(given), dropped


def _problem(given: OpenQuestionsGiven, question: str, others: list[str]) -> str | None:
    """Return the reason to drop a question that a model worded; None where it may be handed on."""
    met = " ".join(f"{each.text} {given.ledger.source(each.locator).title or ''}" for each in given.cited)
    asked, words = given.ledger.question, set(terms(question))
    if not words & set(terms(f"{met} {asked}")):
        return "it is about nothing that was found"
    if any(words <= set(terms(other)) for other in (asked, *others)):
        return "it repeats another question"
    return invented(question, met, asked=asked)


def model_free(given: OpenQuestionsGiven) -> list[OpenQuestion]:
    """Return the questions that disagreements, pointers and the age of the evidence raise."""
    about_conflicts = []
    for conflict in given.ledger.conflicts:
        if conflict.resolved:
            continue
        one, other = (given.ledger.excerpts[number - 1] for number in conflict.sides)
        names = [given.ledger.source(excerpt.locator).organisation for excerpt in (one, other)]
        about_conflicts.append(
            OpenQuestion(
                question=f"Why do {names[0]} and {names[1]} disagree ({conflict.about})?",
                context=f"{names[0]}: “{one.text}” {names[1]}: “{other.text}”",
                priority=Priority.HIGH,
                source_locator=one.locator,
            )
        )
    cited = {excerpt.locator for excerpt in given.cited}
    pointers = sorted(given.ledger.pointers, key=lambda pointer: -pointer.relevance)
    about_pointers = []
    for pointer in [each for each in pointers if each.locator in cited][:MOST_ABOUT_POINTERS]:
        match pointer.kind:
            case "trial":
                question = f"What are the results of the trial {pointer.value}?"
            case "case":
                question = f"What did the court decide in {pointer.value}?"
            case kind:
                question = f"What does the {POINTER_NAMES[kind].removeprefix('a ')} {pointer.value} report on this?"
        about_pointers.append(
            OpenQuestion(
                question=question,
                context=pointer.sentence,
                priority=Priority.MEDIUM,
                source_locator=pointer.locator,
                suggested_researcher=RESEARCHERS[pointer.kind],
            )
        )
    return (about_conflicts + about_pointers + _about_age(given))[:MOST_QUESTIONS]


def _about_age(given: OpenQuestionsGiven) -> list[OpenQuestion]:
    """Ask whether the first old statement is still true, where only old sources are cited or its subject changes."""
    newest = given.ledger.recency([excerpt.locator for excerpt in given.cited], given.today)
    for excerpt in given.cited:
        source = given.ledger.source(excerpt.locator)
        in_doubt = newest is Recency.DATED or CHANGES.search(excerpt.text)
        if in_doubt and source.dated and (given.today - source.dated).days > OLD_YEARS * 365.25:
            return [
                OpenQuestion(
                    question=f"Is what {source.organisation} said in {source.dated.year} still true?",
                    context=excerpt.text,
                    priority=Priority.LOW,
                    source_locator=excerpt.locator,
                )
            ]
    return []


OPEN_QUESTIONS: Stage[OpenQuestionsGiven, list[OpenQuestion]] = Stage(
    name="open_questions",
    max_tokens=300,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
    brief="Ask one specific question that an excerpt raises, with its number.",
    shorten=shorten,
    least_answer=lambda given: _ONE_QUESTION_TOKENS,
    essential=False,
    time_share=0.5,
)
