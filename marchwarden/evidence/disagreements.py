"""Disagreements of two statements on one thing: about a value, a year, a name, or whether it is so at all.

conflicts.py decides which statements are compared, and which of them is preferred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from marchwarden.evidence.quantities import Quantity
from marchwarden.evidence.statements import Asked, Statement
from marchwarden.text.ranking import terms

# Every number here is a guess.

# Least share of the shorter statement's content words that two statements on one thing have in common.
SAME_THING = 0.45
# The same where one statement denies what the other affirms.
SAME_CLAIM = 0.6
# Least share of a question's words that an answer for yes or no holds.
COVERED = 0.5
# Most that two answers with a year may differ in, as a share of the question's words: beyond it they are on different
# parts of the question.
ANOTHER_PART = 0.25
# Least share of the shorter sentence's words, in the same order, that two sentences have in common which are one
# sentence but for a word.
SAME_SENTENCE = 0.55
# Words at an end of a sentence that may replace others. More words are something that the sentence adds.
LONGEST_AT_AN_END = 4
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
    """Return the disagreement of two statements in much the same words; None where they do not disagree."""
    shared = _shared(here, there)
    if shared < SAME_THING or not _comparable(here, there, wanted):
        return None
    # Something else may stand in the place of what is asked about, as tea does for coffee.
    for ours, theirs in _places(here, there):
        for said, instead, elsewhere in ((ours, theirs, there), (theirs, ours, here)):
            subject = set(terms(said)) & wanted.given.words
            if subject and terms(instead) and not subject & elsewhere.words:
                return None
    if pair := _different_values(here.values, there.values, wanted):
        return pair
    if stances_differ or (shared >= SAME_CLAIM and here.denies is not there.denies):
        return DENIED
    return None


def _shared(here: Statement, there: Statement) -> float:
    """Return the share of the shorter statement's content words that both hold; 0 where it has fewer than three."""
    fewer = min(len(here.words), len(there.words))
    return len(here.words & there.words) / fewer if fewer >= 3 else 0.0


def _comparable(here: Statement, there: Statement, wanted: Asked) -> bool:
    """Return whether both statements are on the case that is asked about, on one kind and in one dimension.

    They are not where one is on women and one on men, one on the 47th and one on the 53rd, or one on length and one
    on width.
    """
    if not wanted.is_met_by(here) or not wanted.is_met_by(there):
        return False
    if here.ordinals and there.ordinals and here.ordinals.isdisjoint(there.ordinals):
        return False
    dimensions = [set(_DIMENSION.findall(each.text.casefold())) for each in (here, there)]
    if all(dimensions) and dimensions[0].isdisjoint(dimensions[1]):
        return False
    kinds = [{word.casefold() for word in _KINDS.findall(each.text)} for each in (here, there)]
    return not kinds[0].isdisjoint(kinds[1]) or not (all(kinds) or (kinds[0] | kinds[1]) & _PART)


def _different_values(ours: Sequence[Quantity], theirs: Sequence[Quantity], wanted: Asked) -> str | None:
    """Return two values of one kind that differ, where neither side also states the other's; None for none."""
    # Values that the question gives are not asked for.
    ours, theirs = ([value for value in side if not wanted.is_given(value)] for side in (ours, theirs))
    for value in ours:
        own = [each for each in ours if each.is_of_what(value)]
        others = [each for each in theirs if each.is_of_what(value)]
        if others and all(each.disagrees(mine) for each in others for mine in own):
            return f"{value.written} against {others[0].written}"
    return None


# Answers to one question, in any words


def different_answers(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return the disagreement of two answers to a question: years, values, names, or yes and no; None for none.

    Unlike for `disagreement`, they may be in any words. The caller must know that both are answers.
    """
    if not _comparable(here, there, wanted):
        return None
    words, matters = wanted.given.words, wanted.matters
    covered = min(len(words & each.words) for each in (here, there))
    if wanted.yes_or_no and covered >= COVERED * len(words):
        for no, yes in ((here, there), (there, here)):
            if no.denied & matters & yes.words and not yes.denies:
                return DENIED
    if not wanted.is_named_by(here) or not wanted.is_named_by(there):
        return None
    # Two years differ only in answers to the same part of the question.
    same_part = len((here.words ^ there.words) & matters) <= ANOTHER_PART * len(matters)
    if wanted.when and same_part and here.years and there.years and not here.years & there.years:
        return f"{min(here.years)} against {min(there.years)}"
    together = here.words & there.words
    if wanted.names & together or 2 * len(matters & together) >= len(matters) or here.language != there.language:
        ours, theirs = ([value for value in each.values if wanted.wants(value)] for each in (here, there))
        if pair := _different_values(ours, theirs, wanted):
            return pair
    return _different_names(here, there, wanted)


def _different_names(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return two names for who did something or who has a role, where neither answer holds the other's name."""
    ours, theirs = _names_for(wanted, here), _names_for(wanted, there)
    if not ours or not theirs:
        return None
    shared = any(
        set(terms(name)) & other.around for names, other in ((ours, there), (theirs, here)) for name in names
    )
    return None if shared else f"{ours[0]} against {theirs[0]}"


def _names_for(wanted: Asked, answer: Statement) -> list[str]:
    """Return the names of who did it or has the role: "Bell invented", "invented by Bell", "inventor was Bell"."""
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
    """Return the names or numbers in which two statements differ that are otherwise one sentence; None for none.

    They differ in one place only, and not in a name of the question.
    """
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
    """Yield the pairs of words that replace each other in two sentences; none where these share too little."""
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
