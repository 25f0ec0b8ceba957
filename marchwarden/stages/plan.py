"""Plan the next turn: what the question asks, what to search for, which pages to read, whether it is done."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from marchwarden.contract import Depth
from marchwarden.evidence.grounding import invented, locators_in
from marchwarden.evidence.question import (
    QUERY_LIMIT,
    VAGUE_TERMS,
    as_query,
    focuses,
    names_in,
    split_question,
    with_names,
)
from marchwarden.ledger import Aspect, Lead, Ledger
from marchwarden.stages.bounded_lists import UpTo3Texts, UpTo4Texts, UpTo6Numbers
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import terms
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

CANDIDATES_SHOWN = 12
ASPECT_LIMIT = 160
"""Characters of an aspect that a model words; the question, which may be one itself, may be longer."""


@dataclass(frozen=True)
class PlanGiven:
    ledger: Ledger
    depth: Depth
    open_aspects: list[Aspect]


class Plan(BaseModel):
    thought: str
    aspects: list[str]
    queries: list[str]
    read: list[str]
    """URLs out of the ledger's unread leads."""
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
        f"{aspect.text}: {len(ledger.excerpts_for(aspect.number))} excerpts"
        f"{' (open)' if aspect in given.open_aspects else ''}"
        for aspect in ledger.aspects
    ]
    candidates = [
        f"{number}. {lead.title} - {lead.snippet[:160]}"
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
    """The pages that a model chooses from, by numbers from 1."""
    return given.ledger.unread()[:CANDIDATES_SHOWN]


def read(given: PlanGiven, prediction: "dspy.Prediction") -> Plan:
    """Numbers outside the list point at nothing and are left out; a first plan whose queries say little of the
    question asks the question too. Only the first plan names aspects: later ones would name the same otherwise."""
    leads = shown_candidates(given)
    queries = [query.strip()[:QUERY_LIMIT] for query in prediction.queries.root if query.strip()]
    return Plan(
        thought=str(prediction.thought or "").strip()[:500],
        aspects=[] if given.ledger.aspects else _named_aspects(prediction.aspects.root, given.ledger.question),
        queries=queries if given.ledger.queries else _about(given.ledger.question, queries),
        read=[leads[number - 1].url for number in dict.fromkeys(prediction.read.root) if 1 <= number <= len(leads)],
        done=bool(prediction.done) and bool(given.ledger.queries),
    )


def _about(question: str, queries: list[str]) -> list[str]:
    """The queries, and the question as one more where none of them holds a third of its words."""
    asked = set(terms(question))
    if any(3 * len(asked & set(terms(query))) >= len(asked) for query in queries):
        return queries
    return [*queries, as_query(question)]


def _named_aspects(aspects: list[str], question: str) -> list[str]:
    """A model's aspects, each able to stand alone: with the question's names where it has none of its own. One that
    shares no word with the question is none of its; a single aspect is the question, whatever it was called."""
    asked = set(terms(question))
    aspects = [aspect.strip() for aspect in aspects if asked & set(terms(aspect))]
    if len(aspects) < 2:
        return [question]
    return with_names(aspects, names_in(question))


def ground(given: PlanGiven, plan: Plan) -> tuple[Plan, list[Dropped]]:
    """Aspects head the answer and name its gaps: short phrases, which name nothing that the caller did not. A query
    that holds a locator, or is on what only a hit speaks of, as a page may have told the model to write, is not sent.
    """
    asked = f"{given.ledger.question}\n{given.ledger.context or ''}"
    dropped = []
    for aspect in plan.aspects:
        if problem := _too_long(aspect, given) or invented(aspect, "", asked=asked):
            dropped.append(Dropped(what="aspect", text=aspect, decision=problem))
    for query in plan.queries:
        if links := locators_in(query) - locators_in(asked):
            dropped.append(
                Dropped(what="query", text=query, decision=f"it contains an address: {', '.join(sorted(links))}")
            )
        elif _is_for_a_hit(query, given, plan):
            dropped.append(Dropped(what="query", text=query, decision="it repeats a search hit, not the question"))
    gone = {drop.text for drop in dropped}
    aspects = [aspect for aspect in plan.aspects if aspect not in gone]
    queries = [query for query in plan.queries if query not in gone]
    if plan.aspects and len(aspects) < 2:
        aspects = [given.ledger.question]
    if not queries and not given.ledger.queries:
        queries = [as_query(given.ledger.question)]
    return plan.model_copy(update={"aspects": aspects, "queries": queries}), dropped


def _is_for_a_hit(query: str, given: PlanGiven, plan: Plan) -> bool:
    """Whether it has no word of the question, its aspects and what was found for them, and most of a hit's."""
    ledger = given.ledger
    found = [excerpt.text for excerpt in ledger.excerpts]
    known = [
        ledger.question,
        ledger.context or "",
        *(aspect.text for aspect in ledger.aspects),
        *plan.aspects,
        *found,
    ]
    words = set(terms(query))
    if not words or words & set(terms(" ".join(known))):
        return False
    hits = [set(terms(f"{lead.title} {lead.snippet}")) for lead in shown_candidates(given)]
    return any(2 * len(words & hit) > len(words) for hit in hits)


def _too_long(aspect: str, given: PlanGiven) -> str | None:
    if len(aspect) <= ASPECT_LIMIT or aspect == given.ledger.question:
        return None
    return f"it is longer than {ASPECT_LIMIT} characters"


def model_free(given: PlanGiven) -> Plan:
    ledger = given.ledger
    if not ledger.queries:
        aspects = focuses(ledger.context, ledger.question) + split_question(ledger.question)
        queries = [as_query(aspect) for aspect in aspects]
        return Plan(
            thought="Search for each part of the question.", aspects=aspects, queries=queries, read=[], done=False
        )
    queries = [query for aspect in given.open_aspects for query in _rephrased(aspect, ledger)]
    count = len(given.open_aspects)
    return Plan(
        thought=f"{count} {'aspect is' if count == 1 else 'aspects are'} open.",
        aspects=[],
        queries=queries[:3],
        read=[],
        done=not given.open_aspects,
    )


def _rephrased(aspect: Aspect, ledger: Ledger) -> list[str]:
    """The aspect's key words, with what the titles of the pages read for it share (pseudo-relevance feedback)."""
    asked = set(terms(aspect.text))
    words = [word for word in re.findall(r"\w(?:[\w'’.,:-]*\w)?", aspect.text) if set(terms(word)) - VAGUE_TERMS]
    titles = [lead.title for lead in ledger.leads if lead.aspect == aspect.number and lead.state == "read"]
    common = Counter(
        word.casefold() for title in titles for word in re.findall(r"[^\W\d_]{4,}", title) if set(terms(word)) - asked
    )
    more = [word for word, count in common.most_common(2) if count > 1]
    return [query for query in (as_query(" ".join(words + more)), as_query(" ".join(words))) if query][:1]


PLAN: Stage[PlanGiven, Plan] = Stage(
    name="plan",
    max_tokens=400,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
)
