"""Near copies: two sentences that are the same but for what is asked for, such as a name, a date or a kind of thing.

Pages that copy each other seldom differ in a word by chance. So a difference of near copies needs fewer signs that
both are about the same thing than one of two texts in their own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from marchwarden.evidence.answer_kinds import GENERAL, MONTH
from marchwarden.evidence.entailment.pair import SEGMENT_END
from marchwarden.evidence.quantities import quantities
from marchwarden.evidence.statements import YEAR, Asked, Statement
from marchwarden.text.numbers import NUMBER
from marchwarden.text.ranking import terms

# Every number here is a guess.

# Least share of the shorter sentence's words, in the same order, that two sentences have in common which are one
# sentence but for a word.
SAME_SENTENCE = 0.55
# Words at an end of a sentence that may replace others. More words are something that the sentence adds.
LONGEST_AT_AN_END = 4
# Words that two sentences have in common next to a place, so that they are near copies whatever else differs.
COPIED_AROUND = 8
# Likeness of two phrases, 0-1, from which on they are two spellings of one.
SPELLED_ALIKE = 0.75

_WORD = re.compile(r"\w(?:[\w.,:/’'-]*\w)?")
_CAPITAL = re.compile(r"[A-ZÀ-Þ]")
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do)\b")
_PART_END = re.compile(rf"{SEGMENT_END.pattern}|[()]")
# A phrase in small letters begins behind one of these words, or behind "Canadian".
_BEFORE_A_PHRASE = re.compile(r"(?:\b(?:an?|the|as)|[A-ZÀ-Þ][\w-]+)\s$")
_NUMERAL = re.compile(r"\b[A-ZÀ-Þ][\w’'-]+\s([IVX]+)\b")
_CODE = re.compile(r"[={}`]")
# Money and versions, which differ between pages that are both right, and dates that say when a page was made.
_CHANGING = re.compile(r"\b(?:version|release|v)\b|[$€£¥]", re.IGNORECASE)
_OF_THE_PAGE = re.compile(
    r"\b(?:retriev\w+|access\w+|updated?|modified|posted|published|review\w+|archived)\b", re.IGNORECASE
)
_DATE_BEFORE = re.compile(rf"(?:{MONTH}|[\d\s,./-])+$")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Place:
    """Words of two sentences that stand in the place of each other."""

    ours: str
    theirs: str
    before: str
    """Text of the first sentence before the place."""
    after: str
    """Text of the first sentence after it."""
    copied: int
    """Number of words next to it, on both sides, that the sentences have in common without a gap."""

    @property
    def terms(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(terms(self.ours)), frozenset(terms(self.theirs))

    @property
    def is_silent(self) -> bool:
        """True where one side says no more than the other: other forms of its words, or fewer."""
        said, instead = self.terms
        return said <= instead or instead <= said or _plain(self.ours) == _plain(self.theirs)

    def is_within(self, other: Place) -> bool:
        """Return whether the other place says all that this one does."""
        return all(part <= whole for part, whole in zip(self.terms, other.terms, strict=True))

    def without_known(self, here: Statement, there: Statement) -> Place:
        """Return the place without the numbers at its ends that the other statement has elsewhere.

        Where both sides have numbers, all stay: two dates may be in one year.
        """
        if _has_digit(self.ours) and _has_digit(self.theirs):
            return self

        def trimmed(side: str, other: Statement) -> str:
            words = side.split()
            for end in (0, -1):
                while words and (
                    not terms(words[end]) or (_has_digit(words[end]) and set(terms(words[end])) <= other.around)
                ):
                    del words[end]
            return " ".join(words)

        ours, theirs = trimmed(self.ours, there), trimmed(self.theirs, here)
        cut = self.ours.find(ours)
        before, after = self.before + self.ours[:cut], self.ours[cut + len(ours) :] + self.after
        return replace(self, ours=ours, theirs=theirs, before=before, after=after)


@dataclass(frozen=True)
class Comparison:
    """Two sentences beside each other."""

    places: tuple[Place, ...]
    """Places in which words of both differ, in their order. What only one of them adds is none."""
    ends_differ: bool
    """True where both go on at length after what they have in common."""


def compare(one: str, other: str) -> Comparison:
    """Return the places in which two sentences differ; none where they share too little to be one sentence."""
    here, there = list(_WORD.finditer(one)), list(_WORD.finditer(other))
    words, words_there = ([word[0].casefold() for word in found] for found in (here, there))
    matcher = SequenceMatcher(None, words, words_there, autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size != 1]
    if sum(block.size for block in blocks) < max(4, SAME_SENTENCE * min(len(here), len(there))):
        return Comparison((), ends_differ=False)
    # Gaps between what both have, each with whether it is at an end, and the number of words copied up to each.
    gaps: list[tuple[Place, bool]] = []
    copied = [0]
    end = end_there = 0
    for block in blocks:
        ours, theirs = here[end : block.a], there[end_there : block.b]
        place = Place(
            ours=" ".join(word[0] for word in ours),
            theirs=" ".join(word[0] for word in theirs),
            before=one[: ours[0].start()] if ours else "",
            after=one[ours[-1].end() :] if ours else "",
            copied=0,
        )
        if end == end_there == 0 or block.size == 0 or not place.is_silent:
            gaps.append((place, end == end_there == 0 or block.size == 0))
            copied.append(0)
        copied[-1] += block.size
        end, end_there = block.a + block.size, block.b + block.size
    found, ends_differ = [], False
    for number, (place, at_an_end) in enumerate(gaps):
        if not place.ours or not place.theirs:
            continue
        if at_an_end and max(len(place.ours.split()), len(place.theirs.split())) > LONGEST_AT_AN_END:
            ends_differ = ends_differ or number == len(gaps) - 1
            continue
        found.append(replace(place, copied=copied[number] + copied[number + 1]))
    return Comparison(tuple(found), ends_differ)


def other_word(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return what two near copies have in the place that the question asks for; None where they do not differ there.

    They differ in one name, number, date or kind of thing that is not the question's own.
    """
    if wanted.yes_or_no or here.limits != there.limits or not wanted.compares(here, there):
        return None
    compared = compare(here.text, there.text)
    if compared.ends_differ or not _have_one_subject(here, there, wanted):
        return None
    told = [place.without_known(here, there) for place in compared.places if not place.is_silent]
    places: list[Place] = []
    # A name that stands in the heading and in the sentence is one difference, and the sentence tells more.
    for place in reversed(told):
        if all(place.terms) and not any(place.is_within(other) for other in places):
            places = [place, *places]
    # What stands before the last place may be another heading, where the rest is copied and both name the subject.
    if len(places) > 1 and (places[-1].copied < COPIED_AROUND or not wanted.names <= here.around & there.around):
        return None
    if not places or not _is_asked_for(places[-1], here, there, wanted):
        return None
    return f"{places[-1].ours} against {places[-1].theirs}"


def _have_one_subject(here: Statement, there: Statement, wanted: Asked) -> bool:
    """Return whether two near copies are on the same thing, which both name, or which both call "it"."""
    numerals, numerals_there = (set(_NUMERAL.findall(each.text)) for each in (here, there))
    if numerals != numerals_there or _CODE.search(here.text) or _CODE.search(there.text):
        return False
    named, words = wanted.names & here.around, wanted.given.words & here.words
    if named != wanted.names & there.around or words != wanted.given.words & there.words:
        return False
    if here.title and there.title and wanted.names & here.title != wanted.names & there.title:
        return False
    return bool(named) or not wanted.names or here.title == there.title


def _is_asked_for(place: Place, here: Statement, there: Statement, wanted: Asked) -> bool:
    """Return whether a place is one that the question asks for, and not the subject or a thing of the page."""
    is_number = _has_digit(place.ours) or _has_digit(place.theirs)
    end = _PART_END if is_number else SEGMENT_END
    before, after = end.split(place.before)[-1], end.split(place.after)[0]
    kinds = {kind.name for kind in GENERAL if kind.asked.search(wanted.given.text)}
    # Two subjects: their pages are on them, or a verb follows.
    if any(side <= title for side in place.terms for title in (here.title, there.title)):
        return False
    is_subject = not terms(place.before) or (not _VERB.search(before) and _VERB.search(after) is not None)
    if (is_subject and not (wanted.role and "name" in kinds)) or all(map(_VERB.search, (place.ours, place.theirs))):
        return False
    # "It has 5,601 inhabitants" may be said of anything, unless much else is the same.
    if wanted.names and not wanted.names & here.around and place.copied < COPIED_AROUND:
        return False
    around = f"{before} {after}"
    is_of_the_page = _OF_THE_PAGE.search(around) and not _OF_THE_PAGE.search(wanted.given.text)
    if is_of_the_page or _CHANGING.search(f"{around} {place.ours}"):
        return False
    # The words of what is asked stand beside the place, where the sentence has them.
    asked = wanted.matters & here.words & there.words
    if is_number:
        # No other number stands between.
        around = f"{_DIGIT.split(_DATE_BEFORE.sub('', place.before))[-1]} {_DIGIT.split(place.after)[0]}"
    elif not terms(before):
        # In "the first owner, John Adams Long, …" they stand before the comma.
        around = " ".join([*end.split(place.before)[-2:], after])
    beside = asked & set(terms(around))
    if asked and not beside:
        return False
    if is_number:
        return ("number" not in kinds or bool(beside)) and _are_other_numbers(place, kinds)
    if (kinds and "name" not in kinds) or _are_spellings_of_one(place):
        return False
    return _are_other_names(place, is_asked="name" in kinds) or (not kinds and _are_kinds(place, before))


def _are_other_numbers(place: Place, kinds: set[str]) -> bool:
    """Return whether both sides are dates or numbers that differ, of a kind that is asked for."""
    ours, theirs = (NUMBER.findall(side) for side in (place.ours, place.theirs))
    if not ours or not theirs:
        return False
    are_dates = [bool(YEAR.search(side) or re.search(MONTH, side)) for side in (place.ours, place.theirs)]
    if kinds and not ("date" in kinds and all(are_dates)) and not ("number" in kinds and not any(are_dates)):
        return False
    # One may round the other.
    values, values_there = (quantities(f"{side} things") for side in (place.ours, place.theirs))
    are_values = values and values_there and not any(are_dates)
    return not are_values or any(one.disagrees(other) for one in values for other in values_there)


def _are_other_names(place: Place, *, is_asked: bool) -> bool:
    """Return whether both sides are names that differ; where a name is asked for, other words may stand with it."""
    names, names_there = (
        frozenset(term for word in side.split() if _CAPITAL.match(word) for term in terms(word))
        for side in (place.ours, place.theirs)
    )
    if not names or not names_there or names & names_there:
        return False
    return is_asked or (names, names_there) == place.terms


def _are_kinds(place: Place, before: str) -> bool:
    """Return whether both sides are kinds of things, as in "is a Canadian short film, directed by …"."""
    if place.copied < COPIED_AROUND or not _BEFORE_A_PHRASE.search(before):
        return False
    # A word before another one says only what sort of thing that is, and there may be several.
    following = _WORD.match(place.after.strip()) if place.after.startswith(" ") else None
    return not following or not terms(following[0]) or following[0].endswith("ed")


def _are_spellings_of_one(place: Place) -> bool:
    one, other = _plain(place.ours), _plain(place.theirs)
    return one in other or other in one or SequenceMatcher(None, one, other).ratio() > SPELLED_ALIKE


def _plain(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
