"""Plan the next turn: what the question asks, what to search for, which pages to read, whether it is done."""

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from marchwarden.contract import Depth
from marchwarden.evidence.asking.telling_words import VAGUE_TERMS, names_in
from marchwarden.evidence.grounding import invented, locators_in
from marchwarden.evidence.question import (
    QUERY_LIMIT,
    as_query,
    focuses,
    own_words,
    sides_of,
    split_question,
    standalone,
    with_names,
)
from marchwarden.ledger import Aspect, Lead, Ledger
from marchwarden.stages.bounded_lists import UpTo3Texts, UpTo4Texts, UpTo6Numbers
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import terms
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

# Candidate pages that a model chooses from, and characters of each one's snippet. Guesses.
CANDIDATES_SHOWN = 12
_SNIPPET_CHARS = 160
# Characters of an aspect that a model words. The question may be an aspect itself, and longer. A guess.
ASPECT_LIMIT = 160
# Characters that are kept of a model's thought, for the trace. A guess.
_THOUGHT_CHARS = 500


@dataclass(frozen=True)
class PlanGiven:
    ledger: Ledger
    depth: Depth
    open_aspects: list[Aspect]
    most_candidates: int = CANDIDATES_SHOWN
    """Candidate pages that a model chooses from, at most."""


class Plan(BaseModel):
    thought: str
    aspects: list[str]
    queries: list[str]
    read: list[str]
    """URLs of the ledger's unread leads to read next."""
    done: bool


def signature() -> "type[dspy.Signature]":
    import dspy

    class PlanNextStep(dspy.Signature):
        """Plan the next step of web research. First name the distinct aspects that the question asks for. Then
        write short keyword queries for the aspects that are still open, different from those asked before, and choose
        the numbers of the candidate pages that are most likely to settle an open aspect. Say done only if nothing is
        open. What the caller already knows is not to be researched again."""

        question: str = dspy.InputField()
        already_known: str = dspy.InputField(desc="what the caller knows")
        depth: str = dspy.InputField()
        findings: str = dspy.InputField(desc="each aspect so far, and what was found for it")
        queries_asked: list[str] = dspy.InputField()
        candidates: str = dspy.InputField(desc="numbered pages that were found but not read")
        thought: str = dspy.OutputField(desc="one sentence")
        aspects: UpTo4Texts = dspy.OutputField(desc="what the question asks for, as short phrases")
        queries: UpTo3Texts = dspy.OutputField()
        read: UpTo6Numbers = dspy.OutputField(desc="numbers of candidates")
        done: bool = dspy.OutputField()

    return PlanNextStep


def show(given: PlanGiven) -> dict[str, Any]:
    ledger = given.ledger
    findings = [
        f"{aspect.text}: {len(ledger.evidence_for(aspect.number))} excerpts"
        f"{' (open)' if aspect in given.open_aspects else ''}"
        for aspect in ledger.aspects
    ]
    candidates = [
        f"{number}. {lead.title} - {lead.snippet[:_SNIPPET_CHARS]}"
        for number, lead in enumerate(shown_candidates(given), start=1)
    ]
    return {
        "question": ledger.question,
        "already_known": ledger.context or "nothing",
        "depth": given.depth.value,
        "findings": "\n".join(findings) or "nothing yet",
        "queries_asked": ledger.queries,
        "candidates": "\n".join(candidates) or "none",
    }


def shown_candidates(given: PlanGiven) -> list[Lead]:
    """Return the pages that a model chooses from. It names them by their place here, from 1."""
    return given.ledger.unread()[: given.most_candidates]


def shorten(given: PlanGiven) -> PlanGiven | None:
    """Return the input with three quarters of the candidates; None where there are none."""
    count = len(shown_candidates(given))
    return replace(given, most_candidates=3 * count // 4) if count else None


def read(given: PlanGiven, prediction: "dspy.Prediction") -> Plan:
    """Return the model's plan, without numbers of candidates that do not exist.

    Where no query of a first plan holds a third of the question's words, the question is one more query. Only the
    first plan names aspects: a later one would give the same aspects other names.
    """
    question, leads = standalone(given.ledger.question, given.ledger.context), shown_candidates(given)
    asked = set(terms(question))
    aspects: list[str] = []
    if not given.ledger.aspects:
        # An aspect without a word of the question is not about it; a single aspect is the question, as it was asked.
        aspects = [aspect.strip() for aspect in prediction.aspects.root if asked & set(terms(aspect))]
        aspects = with_names(aspects, names_in(question)) if len(aspects) > 1 else [question]
    queries = [query.strip()[:QUERY_LIMIT] for query in prediction.queries.root if query.strip()]
    if not given.ledger.queries and not any(3 * len(asked & set(terms(query))) >= len(asked) for query in queries):
        queries.append(as_query(question))
    return Plan(
        thought=str(prediction.thought or "").strip()[:_THOUGHT_CHARS],
        aspects=aspects,
        queries=queries,
        read=[leads[number - 1].url for number in dict.fromkeys(prediction.read.root) if 1 <= number <= len(leads)],
        done=bool(prediction.done) and bool(given.ledger.queries),
    )


def ground(given: PlanGiven, plan: Plan) -> tuple[Plan, list[Dropped]]:
    """Drop aspects and queries that a page may have told the model to write.

    Aspects head the answer and name its gaps. So they are short, and name nothing that the caller did not name.
    Queries leave this machine. So none is sent that holds an address, or only words of a search hit, and no word that
    only the context has, where the caller speaks of themselves.
    """
    private = own_words(given.ledger.context) - _known_words(given, plan)
    told = [query for query in plan.queries if private & set(terms(query))]
    plan = plan.model_copy(
        update={
            "queries": [
                " ".join(word for word in query.split() if not private & set(terms(word))) for query in plan.queries
            ]
        }
    )
    question = standalone(given.ledger.question, given.ledger.context)
    asked = f"{given.ledger.question}\n{given.ledger.context or ''}"
    dropped = [
        Dropped(what="query", text=query, decision="words of the caller's own affairs are left out") for query in told
    ]
    for aspect in plan.aspects:
        too_long = len(aspect) > ASPECT_LIMIT and aspect != question
        problem = f"it is longer than {ASPECT_LIMIT} characters" if too_long else invented(aspect, "", asked=asked)
        if problem:
            dropped.append(Dropped(what="aspect", text=aspect, decision=problem))
    for query in plan.queries:
        if links := locators_in(query) - locators_in(asked):
            dropped.append(
                Dropped(what="query", text=query, decision=f"it contains an address: {', '.join(sorted(links))}")
            )
        elif _is_about_a_hit(query, given, plan):
            dropped.append(Dropped(what="query", text=query, decision="it repeats a search hit, not the question"))
    gone = {drop.text for drop in dropped} | {""}
    aspects = [aspect for aspect in plan.aspects if aspect not in gone]
    queries = [query for query in plan.queries if query not in gone]
    if plan.aspects and len(aspects) < 2:
        aspects = [question]
    if not queries and not given.ledger.queries:
        queries = [as_query(question)]
    return plan.model_copy(update={"aspects": aspects, "queries": queries}), dropped


def _is_about_a_hit(query: str, given: PlanGiven, plan: Plan) -> bool:
    """True where a query has no word of the question, its aspects and its evidence, and over half its words in a
    hit."""
    ledger = given.ledger
    words = set(terms(query))
    if not words or words & (_known_words(given, plan) | set(terms(ledger.context or ""))):
        return False
    hits = [set(terms(f"{lead.title} {lead.snippet}")) for lead in shown_candidates(given)]
    return any(2 * len(words & hit) > len(words) for hit in hits)


def _known_words(given: PlanGiven, plan: Plan) -> set[str]:
    """Return the terms of the question, its aspects and its evidence."""
    ledger = given.ledger
    aspects = [*(aspect.text for aspect in ledger.aspects), *plan.aspects]
    resolved = split_question(ledger.question, ledger.context)
    found = [excerpt.text for excerpt in ledger.excerpts]
    return set(terms(" ".join([ledger.question, *resolved, *aspects, *found])))


def model_free(given: PlanGiven) -> Plan:
    ledger = given.ledger
    if not ledger.queries:
        aspects = focuses(ledger.context, ledger.question) + split_question(ledger.question, ledger.context)
        queries = [as_query(aspect) for aspect in (*aspects, *sides_of(ledger.question))]
        return Plan(
            thought="Search for each part of the question.", aspects=aspects, queries=queries, read=[], done=False
        )
    queries = []
    for aspect in given.open_aspects:
        # The aspect's key words and two words that titles of pages read for it share (pseudo-relevance feedback).
        asked = set(terms(aspect.text))
        written = re.findall(r"\w(?:[\w'’.,:-]*\w)?", aspect.text)
        titles = [lead.title for lead in ledger.leads if lead.aspect == aspect.number and lead.state == "read"]
        shared = Counter(
            word.casefold()
            for title in titles
            for word in re.findall(r"[^\W\d_]{4,}", title)
            if set(terms(word)) - asked
        )
        words = [word for word in written if set(terms(word)) - VAGUE_TERMS]
        words += [word for word, count in shared.most_common(2) if count > 1]
        # It is empty where the aspect has only vague words.
        if query := as_query(" ".join(words)):
            queries.append(query)
    count = len(given.open_aspects)
    return Plan(
        thought=f"{count} {'sub-question is' if count == 1 else 'sub-questions are'} open.",
        aspects=[],
        queries=queries[:3],
        read=[],
        done=not given.open_aspects,
    )


PLAN: Stage[PlanGiven, Plan] = Stage(
    name="plan",
    max_tokens=400,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
    brief=(
        "Plan the next step of web research. aspects: what the question asks for, as short phrases. queries: "
        "keyword queries for what is open, unlike those asked. read: numbers of candidates that may settle "
        "it. done: nothing is open."
    ),
    shorten=shorten,
)
