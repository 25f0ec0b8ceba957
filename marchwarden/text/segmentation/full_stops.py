"""Full stops: those that end a sentence, and those of an abbreviation, an initial, an ordinal number or an address.

sentencex decides about abbreviations. It gets one word and the next only, since it takes quadratic time over
quotations. abbreviations.py has those that it does not know.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import regex

from marchwarden.text.segmentation.abbreviations import (
    ALSO_WORDS,
    BEFORE_A_NUMBER,
    BEFORE_SMALL_LETTERS,
    ENDS_A_NAME,
    MAY_BE_LAST,
    MEASURES,
    NEVER_LAST,
    NEVER_LAST_ENDINGS,
    ORDINAL_DOT,
)
from marchwarden.text.stop_words import is_stop_word

if TYPE_CHECKING:
    from marchwarden.text.segmentation.sentence_marks import Mark

# The start of an item of a list: "2. ", "(b) ".
BULLET = r"[•⁃▪◦‣●]"
_ENUMERATOR = regex.compile(rf"{BULLET}?\s?[(\[]?(?:\d{{1,3}}|\p{{L}}|[ivxIVX]{{1,5}})(?P<sign>[.)\]])[.)]?\s+")
_LETTERS = regex.compile(r"(?:\p{L}\p{M}*[.-]+)*\p{L}\p{M}*")
_LETTERS_APART = regex.compile(r"(?<![\w.-])(?:\p{L}\p{M}*\.\s?)+\p{L}\p{M}*$")
# Letters from which on an English word is seldom an abbreviation. A guess, tried on UD_English-EWT's dev part.
_LONG_WORD_LETTERS = 5
_WHOLE_WORD = regex.compile(r"\p{L}?[\p{Ll}\p{Lo}'’-]{2,}|\p{Lu}{3,}|[\d-]{4,}")
_UNIT = regex.compile(r"(?:\d\s?|/|°)\p{L}$")
# A house number and a point of the compass, and the street behind them: "201 E. Jefferson St."
_POINT_OF_COMPASS = regex.compile(r"(?<!\S)\d+\s[NSEW]$")
_STREET = regex.compile(
    r"(?:\p{Lu}[\p{L}’'-]*|\d+(?:st|nd|rd|th))(?:\s\p{Lu}[\p{L}’'-]*){0,2}\s(?:St|Ave|Blvd|Rd|Dr|Ln|Hwy|Pkwy|Pl|Ct|"
    r"Street|Avenue|Boulevard|Road|Drive|Lane|Highway|Parkway|Place|Court|Way)\b"
)
_ROMAN = regex.compile(r"[IVXLC]{2,}")
_REGNAL = regex.compile(r"\p{Lu}\p{Ll}+\s[IVX]$")
# Languages that write "Carlo I" with no dot, and seldom a middle initial.
_REGNAL_WITHOUT_DOT = frozenset({"es", "fr", "it", "pt", "ru", "uk"})
_NUMBER_BEFORE = regex.compile(r"\d\s?\p{L}+$")
# A number that is no ordinal: that of a page ("S. 12"), or one with decimals.
_COUNTED = regex.compile(r"(?:\p{L}\.\s?|\d[.,:])\d+$")
_NUMBERS_APART = regex.compile(r"(?<!\S)\d{1,4}\.\s?\d{1,2}(?:\.\s?\d{1,2})?$")
_ADDRESS = regex.compile(r"\w{2,}(?:[.-]\w+)*\.\w{2,}")
_NAME_PARTICLES = frozenset({"al", "da", "de", "del", "di", "do", "dos", "du", "el", "la", "le", "van", "von"})
# Scripts whose sentences have no full stops: a full stop there belongs to an abbreviation.
_NONE_WRITTEN = regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}]")


def full_stop_ends(mark: Mark) -> bool:
    """Return whether a sentence ends behind a full stop that blanks follow."""
    if _NONE_WRITTEN.match(mark.before[-1:]):
        return False
    if _ENUMERATOR.fullmatch(mark.text, mark.start, mark.end):
        return False
    item = _ENUMERATOR.match(mark.after)
    if item and item["sign"] != ".":
        return True
    if mark.lower_follows:
        return _ends_before_small_letter(mark)
    if not mark.word or _ADDRESS.fullmatch(mark.word):
        return not _is_abbreviated(mark)
    # "etc." and the like, also with blanks between their letters.
    apart = _LETTERS_APART.search(mark.before)
    joined = "".join(apart[0].split()) if apart else mark.word
    if joined.casefold() in MAY_BE_LAST:
        return True
    if mark.word.casefold() in MEASURES and _NUMBER_BEFORE.search(mark.before):
        return mark.language != "de" or is_stop_word(mark.next_word, "de")  # where nouns have capitals, too
    if _is_abbreviated(mark):
        return False
    if mark.word.casefold() in ENDS_A_NAME:
        return is_stop_word(mark.next_word, mark.language)
    if mark.word.casefold() in ALSO_WORDS and not mark.before_initial:
        return True
    if len(mark.word) > 1 and is_stop_word(mark.word, mark.language):
        return True  # sentencex reads some as English abbreviations, "mich." as Michigan
    if mark.word[-1].isdigit() or _ROMAN.fullmatch(mark.word):
        return _number_ends(mark)
    return _letters_end(mark) if _LETTERS.fullmatch(mark.word) else library_ends(mark)


def _ends_before_small_letter(mark: Mark) -> bool:
    """True in careless writing: "i had one. it was small"."""
    if not mark.text[mark.start : mark.start + 1].islower():
        # The sentence began with a capital. English is the one language whose abbreviations are known well enough.
        is_long = len(mark.word) >= _LONG_WORD_LETTERS
        if mark.language != "en" or not (is_long or is_stop_word(mark.next_word, "en")):
            return False
    if not mark.word:
        return mark.before.endswith((")", '"', "”"))
    is_abbreviated = _is_abbreviated(mark) or mark.word.casefold() in BEFORE_SMALL_LETTERS
    if is_abbreviated or _NUMBER_BEFORE.search(mark.before):
        return False
    return bool(_WHOLE_WORD.fullmatch(mark.word)) and library_ends(mark)


def _is_abbreviated(mark: Mark) -> bool:
    word = mark.word.casefold()
    if mark.language == "ar" and len(word) > 1:
        word = word.removeprefix("و")
    if word in NEVER_LAST.get(mark.language, ()) or word.endswith(NEVER_LAST_ENDINGS):
        return True
    if _ROMAN.fullmatch(mark.next_word):
        return True
    return mark.next_word[:1].isdigit() and word in BEFORE_A_NUMBER


def _number_ends(mark: Mark) -> bool:
    """False for an ordinal number ("im 19. Jahrhundert"), and within a date ("22. 3. 1832", "1999. 5. 12. ")."""
    if mark.language == "ko":
        return not _NUMBERS_APART.search(mark.before) and not mark.next_word.isdigit()
    if mark.language not in ORDINAL_DOT or (mark.word.isdigit() and len(mark.word) > 3):
        return True
    if _COUNTED.search(mark.before):
        return True
    return is_stop_word(mark.next_word, mark.language)


def _letters_end(mark: Mark) -> bool:
    """False for initials and letters like "U.S."; True for a unit, or a letter before "The …"."""
    if mark.before_initial:
        return False
    if _POINT_OF_COMPASS.search(mark.before) and _STREET.match(mark.after):
        return False
    if _UNIT.search(mark.before) or (mark.language in _REGNAL_WITHOUT_DOT and _REGNAL.search(mark.before)):
        return True
    if mark.language == "en":
        return library_ends(mark)
    if _LETTERS_APART.search(mark.before) or not mark.word[0].isupper():
        return False
    following = mark.next_word.casefold()
    return following not in _NAME_PARTICLES and is_stop_word(following, mark.language)


def library_ends(mark: Mark) -> bool:
    """Return whether sentencex divides the words before and behind the mark."""
    # English is the one language of which sentencex knows how sentences begin.
    english = mark.language == "en"
    following = mark.next_word if english and mark.next_word[:1].isalpha() else "Xyz"
    return _divided_by_library(f"{mark.word}{mark.signs}", following, mark.language)


@lru_cache(maxsize=4096)
def _divided_by_library(word: str, following: str, language: str) -> bool:
    import sentencex

    boundaries = sentencex.get_sentence_boundaries(language, f"{word} {following} x")
    return any(int(boundary["end_index"]) == len(word) + 1 for boundary in boundaries)
