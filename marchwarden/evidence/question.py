"""Analyse a question by rule: the clauses that ask, the names in it, the words that say little, a query of it."""

from __future__ import annotations

import re

from marchwarden.text.ranking import terms

QUERY_LIMIT = 400
"""Characters of a query: what the search service takes."""
MOST_ASPECTS = 6

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
    return clauses[:1] + with_names(clauses[1:], names_in(clauses[0]))


def _says_nothing_alone(clause: str, first: str) -> bool:
    """True of "and why?", and of "and what does it report?" after a clause that names nothing."""
    own = set(terms(clause)) - VAGUE_TERMS
    return not own or (len(own) < 4 and bool(_BACKWARD.search(clause)) and not names_in(first))


def with_names(clauses: list[str], names: list[str]) -> list[str]:
    """Each clause that can't stand alone takes the names with it; the others stay as they are."""
    return [f"{clause} ({' '.join(names)})" if names and _leans_back(clause) else clause for clause in clauses]


def _leans_back(clause: str) -> bool:
    """True where it can't stand alone: it says "it", or, without a name of its own, "that", or next to nothing."""
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


def focuses(context: str | None, question: str) -> list[str]:
    """Aspects that can stand alone, for what the caller's context asks to concentrate on."""
    focused = [_BACKWARD.sub("", match).strip() for match in _FOCUS.findall(context or "")]
    return with_names([focus for focus in focused if terms(focus)], names_in(question))
