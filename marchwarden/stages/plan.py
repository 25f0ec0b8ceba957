"""Plan the next turn: what the question asks, what to search for, which pages to read, whether it is done."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from marchwarden.contract import Depth
from marchwarden.evidence.grounding import invented, locators_in
from marchwarden.ledger import Aspect, Lead, Ledger
from marchwarden.stages.bounded_lists import UpTo3Texts, UpTo4Texts, UpTo6Numbers
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import terms
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

CANDIDATES_SHOWN = 12
QUERY_LIMIT = 400
"""Characters of a query: what the search service takes."""
MOST_ASPECTS = 6
ASPECT_LIMIT = 160
"""Characters of an aspect that a model words; the question, which may be one itself, may be longer."""

_ASKING = r"(?:what|who|whom|whose|when|where|which|how|why)\b"
_INVERTED = r"(?:is|are|does|do|did|was|were|has|have|had|can|could|should|will|would)\b"
_PREPOSITION = r"(?:(?:in|at|by|for|to|up to|from|of|on|after|before|under|with|since|until) )"
_NEW_CLAUSE = re.compile(
    # "and" or a new sentence, then anything that asks
    rf"(?:[;?]\s+(?:and\s+)?|,?\s+and\s+(?:also\s+)?|,\s+but\s+)(?={_PREPOSITION}?(?:{_ASKING}|{_INVERTED}))"
    # a comma alone: what can't be a relative clause
    rf"|,\s+(?={_PREPOSITION}(?:what|which)\b|(?:how|what|why)\b|(?:who|when|where) {_INVERTED}"
    rf"|{_INVERTED} (?:the|a|an|its?|they|their|this|these|there)\b)",
    re.IGNORECASE,
)
_INTRODUCTION = re.compile(
    rf"^(?!{_PREPOSITION}?{_ASKING})"
    rf"(?:(?P<frame>(?:{_PREPOSITION}|among )[^,?:]{{3,80}}),|(?P<preface>[^?:]{{3,120}}):)\s+"
    rf"(?={_PREPOSITION}?(?:{_ASKING}|{_INVERTED}))",
    re.IGNORECASE,
)
"""What stands before the first thing asked and holds for all: "Under the GDPR, …", "A talk on La Paz: …"."""
_BACKWARD = re.compile(
    r"\b(it|its|they|them|their|he|his|him|she|her|this|that|these|those|there|one)\b", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(it|its|they|them|their|he|his|him|she|her)\b", re.IGNORECASE)
_FOCUS = re.compile(
    r"(?:focus(?:ing)? on|interested in|looking for|need to know|want to know|tell me about|concentrate on)"
    r"\s+([^.;!?]+)",
    re.IGNORECASE,
)


VAGUE_TERMS = frozenset(
    terms(
        "best ideal good main major common many much most important different kind type way thing make use used "
        "using get give know people tell explain describe list name current currently today recent latest work "
        "works happen happened long far big large year time"
    )
)
"""Words of a question that say little about what a page must hold."""


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
    return _with_names(aspects, names_in(question))


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
            dropped.append(Dropped(what="query", text=query, decision=f"it holds {', '.join(sorted(links))}"))
        elif _is_for_a_hit(query, given, plan):
            dropped.append(Dropped(what="query", text=query, decision="it asks what a hit asks, not the question"))
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
    return f"it is no phrase of at most {ASPECT_LIMIT} characters"


def model_free(given: PlanGiven) -> Plan:
    ledger = given.ledger
    if not ledger.queries:
        aspects = _focus(ledger.context, ledger.question) + split_question(ledger.question)
        queries = [as_query(aspect) for aspect in aspects]
        return Plan(thought="Ask what the question asks.", aspects=aspects, queries=queries, read=[], done=False)
    queries = [query for aspect in given.open_aspects for query in _rephrased(aspect, ledger)]
    return Plan(
        thought=f"{len(given.open_aspects)} aspects are open.",
        aspects=[],
        queries=queries[:3],
        read=[],
        done=not given.open_aspects,
    )


def split_question(question: str) -> list[str]:
    """The aspects of a question: its clauses that ask something of their own.

    A clause that leans on the first ("and who founded it?", "and how high are the fines?") takes its names with it,
    so that it can be searched for alone; where there are none to take, it stays with what stands before it. What
    introduces the question lends its names to every clause that has none.
    """
    introduction = _INTRODUCTION.match(question)
    asked = question[introduction.end() :] if introduction else question
    common = names_in(introduction["frame"] or introduction["preface"]) if introduction else []
    clauses: list[str] = []
    for clause in (part.strip(" ?,;") for part in _NEW_CLAUSE.split(asked)):
        if clauses and _says_nothing_alone(clause, clauses[0]) and not common:
            clauses[-1] = f"{clauses[-1]}, {clause}"
        elif clause:
            clauses.append(clause)
    clauses = clauses[:MOST_ASPECTS] or [question]
    if introduction and introduction["frame"]:
        clauses[0] = f"{introduction['frame']}, {clauses[0]}"
    if common:
        return [clause if names_in(clause) else f"{clause} ({' '.join(common)})" for clause in clauses]
    return clauses[:1] + _with_names(clauses[1:], names_in(clauses[0]))


def _says_nothing_alone(clause: str, first: str) -> bool:
    """As "and why?" does, or "and what does it report?" after a clause that names nothing."""
    own = set(terms(clause)) - VAGUE_TERMS
    return not own or (len(own) < 4 and bool(_BACKWARD.search(clause)) and not names_in(first))


def _with_names(clauses: list[str], names: list[str]) -> list[str]:
    return [f"{clause} ({' '.join(names)})" if names and _leans_back(clause) else clause for clause in clauses]


def _leans_back(clause: str) -> bool:
    """Whether it can't stand alone: it says "it", or, without a name of its own, "that", or next to nothing."""
    if names_in(clause):
        return bool(_PERSONAL.search(clause))
    return bool(_BACKWARD.search(clause)) or len(set(terms(clause)) - VAGUE_TERMS) < 3


def names_in(text: str) -> list[str]:
    """Words of a question that name something: with a capital (Utah, mRNA) beyond its first word, or with a digit."""
    words = re.findall(r"[^\s,;:()?!\"“”]+", text)
    return [
        word.strip(".'’")
        for position, word in enumerate(words)
        if re.search(r"\d", word)
        or (position > 0 and any(map(str.isupper, word)) and word not in ("I", "I'm", "I’m"))
    ]


def as_query(text: str) -> str:
    """`text` as a query of at most 400 characters, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= QUERY_LIMIT else text[: QUERY_LIMIT + 1].rsplit(" ", 1)[0][:QUERY_LIMIT]


def _focus(context: str | None, question: str) -> list[str]:
    """What the caller's context asks to concentrate on, as aspects that can stand alone."""
    focused = [_BACKWARD.sub("", match).strip() for match in _FOCUS.findall(context or "")]
    return _with_names([focus for focus in focused if terms(focus)], names_in(question))


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
