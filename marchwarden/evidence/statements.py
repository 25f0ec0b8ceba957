"""Statements and questions as they are compared: their words, values, years, ordinals and denials, by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from marchwarden.evidence.answer_kinds import counted
from marchwarden.evidence.asking.telling_words import VAGUE_TERMS, names_in
from marchwarden.evidence.entailment.pair import SEGMENT_END, split_sentences
from marchwarden.evidence.quantities import ADDRESS, Quantity, quantities
from marchwarden.text.ranking import guess_language, terms

YEAR = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})\b")
_MOVED_FROM = re.compile(
    r"\b(moved|postponed|delayed|changed|brought forward) from [^,.;]{4,40}? to\b", re.IGNORECASE
)
_QUOTED = re.compile(r"[“\"]([^”\"]{1,80})[”\"]|‘([^’]{1,60})’(?!\w)")
# Code is no statement: "no" and "None" in it are values.
_CODE = re.compile(r"(`+)[^`]+\1|\b\w+(?:\.\w+)*\(\w*\)")
# "None" and "False" with a capital are values of a program, unless they begin "None of".
_NEGATION = re.compile(
    r"(?P<none>(?<![-\w])(?i:no|never|nobody|nothing|neither)\b(?!-)|"
    r"\bnone\b(?= of| (?:is|are|was|were|has|have)\b)|\bNone (?=of\b))|"
    r"\b(?i:not|cannot|myth|untrue|misconception|debunked|contrary to)\b|\bfalse\b|n['’]t\b"
)
# Words with which something is denied or limited otherwise: such a text affirms nothing plainly.
_LIMITED = re.compile(
    r"\b(without|rarely|seldom|hardly|barely|scarcely|only|fail\w* to|lack\w*|unable|except|instead of|rather than|"
    r"none|nor|too)\b",
    re.IGNORECASE,
)
_NO_DENIAL = re.compile(
    r"\b(not|no) (\w+ ){0,2}(more|less|fewer|later|earlier|longer) than\b|"
    r"\b(not|no)( longer)? (only|just|merely|necessarily|until|exceed\w*|matter|doubt)\b|\bwhether or not\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(if|unless|when|whenever|where|wherever|until|while|whether|because|in case|provided|as long as)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(textbooks?|is (often|commonly|widely|sometimes) (said|claimed|believed|thought|cited|held)|(many|some|most) "
    r"(people |sources |authors )?(say|claim|believe|think)|legend has it|once (thought|believed)|popular belief|"
    r"would have you believe|used to (say|think|be thought))\b",
    re.IGNORECASE,
)
_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
]  # fmt: skip
_DIMENSION = re.compile(r"\b(long|wide|high|tall|deep|thick|old|heavy|fast)\b")
_KINDS = re.compile(r"\b(men|women|male|female|boys|girls|children|adults?|half)\b", re.IGNORECASE)
_PART = {"half"}
_ORDINAL = re.compile(rf"\b(\d+(?=(?:st|nd|rd|th)\b)|(?:{'|'.join(_ORDINALS)})\b)(?!\s+centur)", re.IGNORECASE)


@dataclass(frozen=True)
class Denial:
    """A clause that says of a subject that something is not so."""

    subject: frozenset[str]
    """Terms before the negation; none where it begins the clause."""
    denied: tuple[str, ...]
    """Terms after the negation, in their order: what is not so."""
    condition: frozenset[str]
    """Terms of the condition on which the sentence says it; none where it says it in general."""
    is_general: bool
    """True where one example refutes it, as with "never" and "no"."""

    @property
    def terms(self) -> frozenset[str]:
        return self.subject.union(self.denied, self.condition)


@dataclass(frozen=True)
class Statement:
    """A text in the form in which it is compared."""

    text: str
    language: str
    words: frozenset[str]
    """Content terms of the text, without numbers."""
    around: frozenset[str]
    """All terms of the text and of its page's title."""
    title: frozenset[str]
    """Terms of its page's title."""
    values: tuple[Quantity, ...]
    years: frozenset[str]
    ordinals: frozenset[str]
    denials: tuple[Denial, ...]
    """Things that the text says are not so. "Not more than" is a limit and no denial."""
    limits: frozenset[str]
    """Words with which the text denies or excepts anything. Without any it says plainly that something is so."""
    is_conditional: bool
    is_reported: bool
    """True where the text tells what others say."""


@lru_cache(maxsize=4096)
def statement(text: str, title: str = "") -> Statement:
    """Return a text, of a page with this title, in the form in which it is compared."""
    in_order = terms(text)
    # Quotations are left out, since the title of a song denies nothing.
    plain = _NO_DENIAL.sub("", _CODE.sub(" ", _QUOTED.sub(" ", text)))
    ordinals = {
        written if written.isdigit() else str(_ORDINALS.index(written.casefold()) + 1)
        for written in _ORDINAL.findall(text)
    }
    denials: list[Denial] = []
    for sentence in split_sentences(text):
        clauses = [clause for clause in SEGMENT_END.split(sentence) if clause.strip()]
        # What a clause names as a condition is not denied.
        conditions = frozenset(term for clause in clauses if _CONDITION.search(clause) for term in terms(clause))
        for clause in clauses:
            said = _NO_DENIAL.sub("", _QUOTED.sub(" ", _CODE.sub(lambda code: _NEGATION.sub(" ", code[0]), clause)))
            negation = _NEGATION.search(said)
            if negation is None or _CONDITION.search(said[: negation.start()]):
                continue
            denials.append(
                Denial(
                    subject=frozenset(terms(said[: negation.start()])),
                    denied=tuple(terms(said[negation.end() :])),
                    condition=conditions,
                    is_general=negation["none"] is not None,
                )
            )
    return Statement(
        text=text,
        language=guess_language(text),
        words=frozenset(term for term in in_order if not term[0].isdigit()),
        around=frozenset(in_order + terms(title)),
        title=frozenset(terms(title)),
        values=quantities(text),
        years=frozenset(YEAR.findall(ADDRESS.sub("", _MOVED_FROM.sub("", text)))),
        ordinals=frozenset(ordinals),
        denials=tuple(denials),
        limits=frozenset(found[0].casefold() for words in (_NEGATION, _LIMITED) for found in words.finditer(plain)),
        is_conditional=_CONDITION.search(plain) is not None,
        is_reported=_REPORTED.search(text) is not None,
    )


@dataclass(frozen=True)
class Asked:
    """A question as it is compared: the facts that it gives, and the kinds of fact that it asks for."""

    given: Statement
    names: frozenset[str]
    matters: frozenset[str]
    """Terms of the question without its names and vague words."""
    dimensions: frozenset[str]
    """Dimensions in which the answer is a value: `length`, `people`."""
    things: frozenset[str]
    """Terms of the things whose number is asked for."""
    where: bool
    """True where a place is asked for."""
    when: bool
    """True where a year or a date is asked for."""
    yes_or_no: bool
    """True where the answer is yes or no."""
    role: str
    """First six letters of the word for a deed or a role, where the question asks who did or has it; else empty."""

    def wants(self, value: Quantity) -> bool:
        """Return whether a value is of a kind that the question asks for."""
        return value.dimension in self.dimensions or bool(value.things & self.things)

    def is_given(self, value: Quantity) -> bool:
        """Return whether the question itself states a value of that kind, in the same unit."""
        return any(value.is_of_what(each) and value.unit == each.unit for each in self.given.values)

    def is_met_by(self, answer: Statement) -> bool:
        """Return whether an answer is on the case that the question names: not on another year or another size."""
        for named, said in ((self.given.years, answer.years), (self.given.ordinals, answer.ordinals)):
            if named and said and named.isdisjoint(said):
                return False
        for value in self.given.values:
            same = [each for each in answer.values if each.is_of_what(value) and each.unit == value.unit]
            if same and all(each.disagrees(value) for each in same):
                return False
        return True

    def compares(self, here: Statement, there: Statement) -> bool:
        """Return whether both statements are on the case that is asked about, on one kind and in one dimension.

        They are not where one is on women and one on men, one on the 47th and one on the 53rd, or one on length and
        one on width.
        """
        if not self.is_met_by(here) or not self.is_met_by(there):
            return False
        if here.ordinals and there.ordinals and here.ordinals.isdisjoint(there.ordinals):
            return False
        dimensions = [set(_DIMENSION.findall(each.text.casefold())) for each in (here, there)]
        if all(dimensions) and dimensions[0].isdisjoint(dimensions[1]):
            return False
        kinds = [{word.casefold() for word in _KINDS.findall(each.text)} for each in (here, there)]
        return not kinds[0].isdisjoint(kinds[1]) or not (all(kinds) or (kinds[0] | kinds[1]) & _PART)

    def is_named_by(self, answer: Statement) -> bool:
        """Return whether an answer and its page's title hold at least half of the question's names.

        An answer in another language counts as if it did: it may have other names for the same things.
        """
        return answer.language != self.given.language or 2 * len(self.names & answer.around) >= len(self.names)


# Words for the same: an answer may call "the most recent" what the question calls the last.
_LATEST = frozenset(terms("last latest newest recent most"))
_ASKS_WHEN = re.compile(r"\b(when|(what|which) (year|date|day)|since what)\b", re.IGNORECASE)
_ASKS_WHERE = re.compile(
    r"\bwhere\b|\b(what|which) (city|town|village|place|county|country|state|region|island)\b", re.IGNORECASE
)
_YES_OR_NO = re.compile(
    r"(is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may)\b", re.IGNORECASE
)
_ROLE = re.compile(
    r"\b(?:who|what)(?: (?:is|was|are|were|has|had))?(?: the)?(?: (?:first|current|present|official|main))? "
    r"(?P<role>[a-z]{4,})",
    re.IGNORECASE,
)
_ASKS_FOR = tuple(
    (re.compile(pattern, re.IGNORECASE), dimension)
    for pattern, dimension in (
        (r"\bdeath toll\b|\bhow many\b.*\b(died|killed|deaths|lost their lives|perished)\b", "deaths"),
        (r"\bhow many (people|inhabitants) (live|are there)\b|\bpopulation of\b", "people"),
        (r"\battendance\b|\bhow many (people|spectators)\b.*\b(attend\w*|watch\w*|saw)\b", "attendance"),
        (r"\b(percentage|share|proportion|per ?cent)\b|\bhow much of\b", "share"),
        (r"\b(surface )?area\b", "area"),
        (r"\bhow (far|tall|high|deep|wide)\b|\b(height|depth|width|length|distance|altitude|record)\b", "length"),
        (r"\bhow long (was|is|are) the\b", "length"),
        (r"\brecord\b", "time"),
        (r"\bhow heavy\b|\bhow much (does|do|did)\b.*\bweigh\b|\bmass of\b", "weight"),
        (r"\bhow (fast|quick)\b|\bspeed\b", "speed"),
        (r"\bIU\b", "international units"),
    )
)


@lru_cache(maxsize=256)
def asked(question: str) -> Asked:
    """Return a question in the form in which it is compared."""
    dimensions = frozenset(dimension for pattern, dimension in _ASKS_FOR if pattern.search(question))
    names = frozenset(term for name in names_in(question) for term in terms(name))
    role = _ROLE.search(question)
    return Asked(
        given=statement(question),
        names=frozenset(term for term in names if not term[0].isdigit()),
        matters=frozenset(terms(question)) - names - VAGUE_TERMS - _LATEST,
        dimensions=dimensions,
        things=frozenset() if dimensions else counted(question),
        where=_ASKS_WHERE.search(question) is not None,
        when=_ASKS_WHEN.search(question) is not None,
        yes_or_no=_YES_OR_NO.match(question) is not None,
        role=role["role"][:6].casefold() if role else "",
    )
