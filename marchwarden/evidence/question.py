"""Analyse a question by rule: the clauses that ask, the names in it, the words that say little, a query of it."""

from __future__ import annotations

import re

from marchwarden.text.ranking import terms

# Characters of a query, at most: the limit of Tavily's API.
QUERY_LIMIT = 400
# Aspects of one question, at most. A guess.
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
# Text before the first thing asked that holds for all of them: "Under the GDPR, …", "A talk on La Paz: …".
_INTRODUCTION = re.compile(
    rf"^(?!{_PREPOSITION}?{_ASKING})"
    rf"(?:(?P<frame>(?:{_PREPOSITION}|among )[^,?:]{{3,80}}),|(?P<preface>[^?:]{{3,120}}):)\s+"
    rf"(?={_PREPOSITION}?(?:{_ASKING}|{_INVERTED}))",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"\b(it|its|they|them|their|he|his|him|she|her|this|that|these|those|there|one)\b", re.IGNORECASE
)
_PERSONAL = re.compile(r"\b(it|its|they|them|their|he|his|him|she|her)\b", re.IGNORECASE)
_FOCUS = re.compile(
    r"(?:focus(?:ing)? on|interested in|looking for|need to know|want to know|tell me about|concentrate on)"
    r"\s+([^.;!?]+)",
    re.IGNORECASE,
)


# Terms of a question that say little about the pages that answer it.
VAGUE_TERMS = frozenset(
    terms(
        "best ideal good main major common many much most important different kind type way thing make use used "
        "using get give know people tell explain describe list name current currently today recent latest work "
        "works happen happened long far big large year time"
    )
)


def split_question(question: str) -> list[str]:
    """Split a question into aspects: its clauses that ask something of their own.

    A clause that depends on the first ("and who founded it?", "and how high are the fines?") gets the names of the
    first, so that it can be searched for alone. Where the first has no names, the clause is joined to the one before
    it. Names in an introduction are added to every clause without a name.
    """
    introduction = _INTRODUCTION.match(question)
    asked = question[introduction.end() :] if introduction else question
    common = names_in(introduction["frame"] or introduction["preface"]) if introduction else []
    clauses: list[str] = []
    for clause in (part.strip(" ?,;") for part in _NEW_CLAUSE.split(asked)):
        # "And why?", or "and what does it report?" after a clause without a name, can't be searched for alone.
        own = set(terms(clause)) - VAGUE_TERMS
        first = clauses[0] if clauses else ""
        is_vague = not own or (len(own) < 4 and _BACKWARD.search(clause) and not names_in(first))
        if clauses and is_vague and not common:
            clauses[-1] = f"{clauses[-1]}, {clause}"
        elif clause:
            clauses.append(clause)
    clauses = clauses[:MOST_ASPECTS] or [question]
    if introduction and introduction["frame"]:
        clauses[0] = f"{introduction['frame']}, {clauses[0]}"
    if common:
        return [clause if names_in(clause) else f"{clause} ({' '.join(common)})" for clause in clauses]
    return clauses[:1] + with_names(clauses[1:], names_in(clauses[0]))


def with_names(clauses: list[str], names: list[str]) -> list[str]:
    """Add the names to each clause that can't be understood alone.

    Such a clause says "it", or has no name and says "that", or has no name and fewer than three telling words.
    """
    named = []
    for clause in clauses:
        if names_in(clause):
            depends = bool(_PERSONAL.search(clause))
        else:
            depends = bool(_BACKWARD.search(clause)) or len(set(terms(clause)) - VAGUE_TERMS) < 3
        named.append(f"{clause} ({' '.join(names)})" if names and depends else clause)
    return named


def names_in(text: str) -> list[str]:
    """Return the words that name something: with a capital (Utah, mRNA) after the first word, or with a digit."""
    words = re.findall(r"[^\s,;:()?!\"“”]+", text)
    return [
        word.strip(".'’")
        for position, word in enumerate(words)
        if re.search(r"\d", word)
        or (position > 0 and any(map(str.isupper, word)) and word not in ("I", "I'm", "I’m"))
    ]


def as_query(text: str) -> str:
    """Return a text as a query of at most 400 characters, cut between words."""
    text = " ".join(text.split())
    return text if len(text) <= QUERY_LIMIT else text[: QUERY_LIMIT + 1].rsplit(" ", 1)[0][:QUERY_LIMIT]


def focuses(context: str | None, question: str) -> list[str]:
    """Return the aspects that the caller's context asks to focus on, each with the question's names if it needs
    them."""
    focused = [_BACKWARD.sub("", match).strip() for match in _FOCUS.findall(context or "")]
    return with_names([focus for focus in focused if terms(focus)], names_in(question))
