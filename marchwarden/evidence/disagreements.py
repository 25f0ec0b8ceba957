"""What two statements on one thing can't both be right about: a value, a year, a name, or whether it is so at all.

On statements alone: which of them are compared, and which stands, is conflicts.py's to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from marchwarden.evidence.quantities import Quantity
from marchwarden.evidence.statements import Asked, Statement
from marchwarden.text.ranking import terms

SAME_THING = 0.45
"""The least share of the shorter statement's content words that two on one thing have in common."""
SAME_CLAIM = 0.6
"""The same for one that denies what the other affirms."""
COVERED = 0.5
"""The share of a question's words that an answer for yes or no must hold."""
ANOTHER_PART = 0.25
"""Answers with a year speak to other parts of a question where only one holds more than this share of its words."""
SAME_SENTENCE = 0.55
"""Two sentences that have this share of the shorter one's words in common, in one order, are one but for the rest."""
LONGEST_AT_AN_END = 4
"""Words at an end of a sentence that may stand in the place of others: more are what it says besides."""
DENIED = "one affirms what the other denies"

_DIMENSION = re.compile(r"\b(long|wide|high|tall|deep|thick|old|heavy|fast)\b")
_KINDS = re.compile(r"\b(men|women|male|female|boys|girls|children|adults?|half)\b", re.IGNORECASE)
_PART = {"half"}
_WORD = re.compile(r"\w(?:[\w.,:/’'-]*\w)?")
_TELLING = re.compile(r"[A-ZÀ-Þ]|\d")
_NAME = r"[A-ZÀ-Þ][\w’'-]+(?:\s(?:(?:of|de|da|du|van|von|la|le|el|al|bin)\s)?[A-ZÀ-Þ][\w’'-]*)*"
_NO_NAME = re.compile(r"(The|A|An|In|On|At|It|He|She|They|His|Her|This|That|There|Its|Their|When|While|After)\b")


# Statements in much the same words


def disagreement(here: Statement, there: Statement, wanted: Asked, *, stances_differ: bool = False) -> str | None:
    """What two statements in much the same words disagree about, in words; None where they don't."""
    shared = _shared(here, there)
    if shared < SAME_THING or not _comparable(here, there, wanted) or _subject_differs(here, there, wanted):
        return None
    if pair := _different_values(here.values, there.values, wanted):
        return pair
    if stances_differ or (shared >= SAME_CLAIM and here.denies is not there.denies):
        return DENIED
    return None


def _shared(here: Statement, there: Statement) -> float:
    """The share of the shorter one's content words; 0 where it has too few to tell."""
    fewer = min(len(here.words), len(there.words))
    return len(here.words & there.words) / fewer if fewer >= 3 else 0.0


def _comparable(here: Statement, there: Statement, wanted: Asked) -> bool:
    """Whether both are said of what is asked, of one kind, and in one dimension: not of women and of men, of the 47th
    and of the 53rd, of length and of width."""
    if not wanted.is_met_by(here) or not wanted.is_met_by(there):
        return False
    if here.ordinals and there.ordinals and here.ordinals.isdisjoint(there.ordinals):
        return False
    dimensions = [set(_DIMENSION.findall(each.text.casefold())) for each in (here, there)]
    if all(dimensions) and dimensions[0].isdisjoint(dimensions[1]):
        return False
    kinds = [{word.casefold() for word in _KINDS.findall(each.text)} for each in (here, there)]
    return not kinds[0].isdisjoint(kinds[1]) or not (all(kinds) or (kinds[0] | kinds[1]) & _PART)


def _subject_differs(here: Statement, there: Statement, wanted: Asked) -> bool:
    """Whether something else stands in the place of what is asked about, as tea does for coffee."""
    for ours, theirs in _places(here, there):
        for said, instead, elsewhere in ((ours, theirs, there), (theirs, ours, here)):
            subject = set(terms(said)) & wanted.given.words
            if subject and terms(instead) and not subject & elsewhere.words:
                return True
    return False


def _different_values(ours: Sequence[Quantity], theirs: Sequence[Quantity], wanted: Asked) -> str | None:
    """Values of one kind that differ, where neither side also states the other's. What is given is not asked."""
    ours, theirs = ([value for value in side if not wanted.is_given(value)] for side in (ours, theirs))
    for value in ours:
        own = [each for each in ours if each.is_of_what(value)]
        others = [each for each in theirs if each.is_of_what(value)]
        if others and all(each.disagrees(mine) for each in others for mine in own):
            return f"{value.written} against {others[0].written}"
    return None


# Answers to one question, in any words


def different_answers(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """What two answers to a question give for what it asks: years, values, names, yes or no, where they can't both be
    right. Unlike for `disagreement`, they may be in any words; it must be known that they are answers."""
    if not _comparable(here, there, wanted):
        return None
    if pair := _yes_and_no(here, there, wanted):
        return pair
    if not wanted.is_named_by(here) or not wanted.is_named_by(there):
        return None
    return (
        _different_years(here, there, wanted)
        or _different_values_asked_for(here, there, wanted)
        or _different_names(here, there, wanted)
    )


def _yes_and_no(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """One denies what is asked, and the other says that much, too."""
    words = wanted.given.words
    covered = min(len(words & each.words) for each in (here, there))
    if not wanted.yes_or_no or covered < COVERED * len(words):
        return None
    denied = [no.denied & wanted.matters & yes.words and not yes.denies for no, yes in ((here, there), (there, here))]
    return DENIED if any(denied) else None


def _different_years(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Where a year is asked for, and both speak to the same part of the question."""
    apart = (here.words ^ there.words) & wanted.matters
    same = len(apart) <= ANOTHER_PART * len(wanted.matters)
    if not wanted.when or not same or not here.years or not there.years or here.years & there.years:
        return None
    return f"{min(here.years)} against {min(there.years)}"


def _different_values_asked_for(here: Statement, there: Statement, wanted: Asked) -> str | None:
    together = here.words & there.words
    same = wanted.names & together or 2 * len(wanted.matters & together) >= len(wanted.matters)
    if not same and here.language == there.language:
        return None
    ours, theirs = ([value for value in each.values if wanted.wants(value)] for each in (here, there))
    return _different_values(ours, theirs, wanted)


def _different_names(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Where it is asked who did something, or who or what has a role, and neither has the other's name."""
    ours, theirs = _names_for(wanted, here), _names_for(wanted, there)
    if not ours or not theirs:
        return None
    shared = any(
        set(terms(name)) & other.around for names, other in ((ours, there), (theirs, here)) for name in names
    )
    return None if shared else f"{ours[0]} against {theirs[0]}"


def _names_for(wanted: Asked, answer: Statement) -> list[str]:
    """Who an answer says did it, or has the role: "Bell invented", "invented by Bell", "the inventor was Bell"."""
    if not wanted.role:
        return []
    role = rf"\b(?i:{re.escape(wanted.role)})\w*"
    link = r"(?:,[^.;]{1,60}?,)?\s(?:(?:is|was|remains|became|has|had|who|first|also)\s(?:[\w’'-]+\s){0,4})?"
    pattern = (
        rf"(?P<doer>{_NAME}){link}{role}|{role} by (?P<by>{_NAME})|{role}[^.,;]{{0,50}}? (?:is|was) (?P<one>{_NAME})"
    )
    found = [match["doer"] or match["by"] or match["one"] for match in re.finditer(pattern, answer.text)]
    given = wanted.given.words
    return [name for name in found if not _NO_NAME.match(name) and terms(name) and not set(terms(name)) & given]


# One sentence with another word


def other_word(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """The name or number that stands in the place of another in what is one sentence otherwise; None where they are
    two sentences, or differ in what the question names, or in more than one place."""
    if _shared(here, there) < SAME_THING or not _comparable(here, there, wanted):
        return None
    places = [(ours, theirs) for ours, theirs in _places(here, there) if terms(ours) or terms(theirs)]
    if len(places) != 1:
        return None
    ours, theirs = places[0]
    said, instead = set(terms(ours)), set(terms(theirs))
    if not said or not instead or said & instead or (said | instead) & wanted.names:
        return None
    return f"{ours} against {theirs}" if _TELLING.search(ours) and _TELLING.search(theirs) else None


def _places(one: Statement, other: Statement) -> Iterator[tuple[str, str]]:
    """What differs within the run of words that two sentences share; nothing where they share too little."""
    here, there = _WORD.findall(one.text), _WORD.findall(other.text)
    matcher = SequenceMatcher(None, [w.casefold() for w in here], [w.casefold() for w in there], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size != 1]
    if sum(block.size for block in blocks) < max(5, SAME_SENTENCE * min(len(here), len(there))):
        return
    end, end_there = 0, 0
    for block in blocks:
        ours, theirs = here[end : block.a], there[end_there : block.b]
        at_an_end = end == end_there == 0 or block.size == 0
        if ours and theirs and not (at_an_end and max(len(ours), len(theirs)) > LONGEST_AT_AN_END):
            yield " ".join(ours), " ".join(theirs)
        end, end_there = block.a + block.size, block.b + block.size
