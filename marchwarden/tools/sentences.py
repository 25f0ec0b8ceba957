"""Where sentences end, in any language: marks that may end one are found here, and judged by what stands around them.

Whether the word before a full stop is an abbreviation, sentencex says. It is shown only the few words around,
since it takes quadratic time over quotations; what it does not know is in abbreviations.py.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

import regex

from marchwarden.ranking import guess_language, is_stop_word
from marchwarden.tools.abbreviations import (
    ALSO_WORDS,
    BEFORE_A_NUMBER,
    ENDS_A_NAME,
    MAY_BE_LAST,
    MEASURES,
    NEVER_LAST,
    NEVER_LAST_ENDINGS,
    ORDINAL_DOT,
    language_of_word,
    main_language,
)

Span: TypeAlias = tuple[int, int]

_SAMPLE = 2_000
"""Characters that tell the language of a text."""
_KEPT = 300
"""A quotation or bracket of up to so many characters is not divided."""
_SEEN = 60
"""Characters before and after a mark that are looked at."""

_QUOTES = "\"'”’“‘»«›‹」』｣"
_CLOSERS = r"(?:\s?»|[“‘«‹](?!\w)|[\"'”’»›」』｣)\]}】〉》）］〕])"
_OPENERS = r"[\"'“‘„‚«»‹›(\[{「『【〈《（［｢〔¿¡*_–—-]"
_NOTE = r"(?:\s?\[(?:\d{1,4}|\p{Ll}{1,2})\](?::\d+(?:[–-]\d+)?)?|[¹²³⁴⁵⁶⁷⁸⁹⁰])"
_BORROWED = r"(?<=\p{Devanagari}\s?)\||(?<=\p{Armenian}):|(?<=\p{Greek});"
"""Marks that end a sentence in one script only."""
_MARK = regex.compile(
    rf"(?P<signs>(?:[\p{{STerm}}…‥]|{_BORROWED})(?:\s?[\p{{STerm}}…‥])*)"
    rf"(?P<closed>{_CLOSERS}*)(?P<notes>{_NOTE}*)(?P<blank>\s*)|(?P<blank>\n\s*\n\s*)"
)
_PAIRS = (
    ("“", "”"),
    ("«", "»"),
    ("»", "«"),
    ("「", "」"),
    ("『", "』"),
    ("（", "）"),
    ("《", "》"),
    ("【", "】"),
    ("(", ")"),
)
_TOGETHER = regex.compile(
    "|".join(rf"[{left}][^{left}{right}]{{1,{_KEPT}}}[{right}]" for left, right in _PAIRS)
    + rf"|„[^„“”]{{1,{_KEPT}}}[“”]|(?<!\S)”(?=\S)[^“”]{{1,{_KEPT}}}”"
    + rf"|(?<!\w)\"(?=\S)[^\"]{{1,{_KEPT}}}(?<=\S)\"(?!\w)"
)

_BULLET = r"[•⁃▪◦‣●]"
_ITEM = re.compile(
    rf"(?<!\S)(?:(?:{_BULLET}[ \t]*)?[(\[]?(?P<count>\d{{1,3}}|[^\W\d_])(?P<sign>[.)\]])[.)]?\s+(?=\S)|{_BULLET})"
)
_FRESH = re.compile(r"(?:^|\n|[.!?:]\s)\s*$")
_ENUMERATOR = regex.compile(rf"{_BULLET}?\s?[(\[]?(?:\d{{1,3}}|\p{{L}}|[ivxIVX]{{1,5}})(?P<sign>[.)\]])[.)]?\s+")


def sentences(text: str, language: str | None = None) -> list[Span]:
    """Spans of the sentences of `text`, which cover it without gaps. A line end alone does not end one.

    `language` (a code, or a tag such as `de-AT`) is that of the text, guessed where it is None; words in a script
    that it isn't written in are read in that script's likeliest language. Short quotations and brackets stay whole.
    """
    code = main_language(language or guess_language(text[:_SAMPLE]))
    together = [match.span() for match in _TOGETHER.finditer(text)]
    begins = [start for start, _ in together]
    spans: list[Span] = []
    for start, end in pairwise([0, *_item_starts(text, code in ORDINAL_DOT), len(text)]):
        for match in _MARK.finditer(text, start, end):
            at, behind = match.span()
            around = together[bisect_left(begins, at) - 1] if together else (0, 0)
            if behind == end or (around[0] < at < around[1] and match.end("closed") < around[1]):
                continue
            mark = _Mark(
                text=text,
                start=start,
                end=behind,
                before=text[max(start, at - _SEEN) : at],
                after=text[behind : behind + _SEEN],
                signs=match["signs"] or "",
                closed=match["closed"] or "",
                spaced=bool(match["blank"] or match["notes"]),
                page_language=code,
            )
            if _ends_sentence(mark):
                spans.append((start, behind))
                start = behind
        spans.append((start, end))
    return spans


def _item_starts(text: str, ordinal_dot: bool) -> Iterator[int]:
    """Where items of a list begin that stand in one block: behind bullets, or counted, with full stops or without.

    Where "2." may stand for "second", a counted item begins after a full stop or line end only.
    """
    following = None
    for item in _ITEM.finditer(text):
        at, count = item.start(), (item["count"] or "").lower()
        fresh = bool(_FRESH.search(text[max(0, at - 8) : at]))
        if item["sign"] == "." and item["count"].isupper():
            continue  # an initial
        counted = count == following and (fresh or item["sign"] != "." or not ordinal_dot)
        if at > 0 and (counted or (fresh and not count)):
            yield at
        if counted or (fresh and count and (at == 0 or count in ("1", "a"))):
            following = str(int(count) + 1) if count.isdigit() else chr(ord(count) + 1)


# Marks and what stands around them

_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff00-\uffef"
_UNSPACED = regex.compile(rf"[{_CJK}]")
_NEXT = regex.compile(rf"(?:{_OPENERS}|\s)*(?P<word>[\p{{L}}\p{{M}}\p{{N}}]*)(?P<stop>\.?)")
_ELISION = regex.compile(r"^\p{L}{1,4}['’](?=\w\w)")
"""Of an article: "l'art."."""
_ROMAN_LAST = regex.compile(r"(?<!\w)[IVXLC]+\Z", regex.REVERSE)
_WORD_BEFORE = regex.compile(rf"[^\s\"“”„«»‘‚()\[\]{{}}/{_CJK}]{{1,40}}\Z", regex.REVERSE)


@dataclass(frozen=True)
class _Mark:
    """What may end a sentence, and what stands around it."""

    text: str
    start: int
    """Where the sentence begins that it may end."""
    end: int
    """Where the next one would begin: behind its quotation marks, brackets, note marks and blanks."""
    before: str
    """What stands before it in its sentence, and what behind `end`: as much as is looked at."""
    after: str
    signs: str
    closed: str
    """Quotation marks and brackets that are closed behind it."""
    spaced: bool
    """Whether blanks or note marks follow."""
    page_language: str

    @cached_property
    def word(self) -> str:
        """The word that it stands behind, with full stops inside of it."""
        found = _WORD_BEFORE.search(self.before)
        return _ELISION.sub("", found[0].lstrip("'’°")) if found else ""

    @cached_property
    def _next(self) -> tuple[str, str]:
        found = _NEXT.match(self.after)
        return found["word"], found["stop"]

    @property
    def next_word(self) -> str:
        return self._next[0]

    @property
    def before_initial(self) -> bool:
        return len(self.next_word) == 1 and bool(self._next[1])

    @cached_property
    def language(self) -> str:
        """Of the word before it, Roman numerals aside."""
        return language_of_word(_ROMAN_LAST.sub("", self.before), self.after, self.page_language)

    @property
    def lower_follows(self) -> bool:
        return self.next_word[:1].islower()

    def sentence_begins_with(self, *signs: str) -> bool:
        return self.text.startswith(signs, self.start)


# Rules

_GOES_ON = (",", ";", ":", "،", "؛", "、", "，", "；", "：", ")", "）")
_DASHES = ("—", "–", "-")
_FINAL = regex.compile(r"[^.!?…‥\s]")
"""What ends sentences whatever follows."""
_JAPANESE = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_JAPANESE_PARTICLE = regex.compile(
    r"と(?![きこもてんな])|って|の(?!ち)|は(?![いじ])|[がをなやへ]|に|も(?![うしちっの])|で(?![もすは])|だ(?![かが])"
)


def _ends_sentence(mark: _Mark) -> bool:
    if not mark.signs:
        return True  # a blank line
    if mark.after.startswith(_GOES_ON) or _quotation_goes_on(mark):
        return False
    if mark.signs != "." and _FINAL.search(mark.signs):
        return mark.signs != "．" or not (mark.before[-1:].isdigit() and mark.after[:1].isdigit())
    if not mark.spaced:
        return mark.signs[0] in ".!?" and bool(_UNSPACED.match(mark.before[-1:]))
    if "!" in mark.signs or "?" in mark.signs:
        return not mark.lower_follows or _cry_ends(mark)
    if mark.signs == ".":
        return _full_stop_ends(mark)
    return not mark.lower_follows and not mark.before.endswith(("[", "("))


def _cry_ends(mark: _Mark) -> bool:
    """Of "!" and "?" before a small letter: in careless writing they end a sentence too; "Yahoo!" is a name."""
    return not mark.closed and not mark.after.startswith(_DASHES) and _library_ends(mark)


def _quotation_goes_on(mark: _Mark) -> bool:
    """Whether a sentence goes on after a quotation or bracket that has an end mark of its own: "Stop!" he cried."""
    if mark.closed.endswith((")", "）")) and not mark.spaced:
        return not mark.sentence_begins_with("(", "（")
    if not mark.closed.strip(")）]}】〉》］〕"):
        return False
    if _JAPANESE.search(mark.before + mark.after[:1]):
        return bool(_JAPANESE_PARTICLE.match(mark.after))
    first = mark.next_word[:1]
    caseless = first.isalpha() and not first.isupper() and not first.islower() and mark.after.startswith(first)
    return first.islower() or (caseless and mark.sentence_begins_with(*_QUOTES, "„", "「", "『"))


# Full stops

_LETTERS = regex.compile(r"(?:\p{L}\p{M}*[.-]+)*\p{L}\p{M}*")
_LETTERS_APART = regex.compile(r"(?<![\w.-])(?:\p{L}\p{M}*\.\s?)+\p{L}\p{M}*$")
_UNIT = regex.compile(r"(?:\d\s?|/|°)\p{L}$")
_ROMAN = regex.compile(r"[IVXLC]{2,}")
_REGNAL = regex.compile(r"\p{Lu}\p{Ll}+\s[IVX]$")
_REGNAL_WITHOUT_DOT = frozenset({"es", "fr", "it", "pt", "ru", "uk"})
"""Languages that write "Carlo I" with no dot, and seldom a middle initial."""
_NUMBER_BEFORE = regex.compile(r"\d\s?\p{L}+$")
_COUNTED = regex.compile(r"(?:\.\s?|[.,:]\d*)\d+$")
"""A number that is no ordinal: of a page ("S. 12"), or with decimals."""
_NUMBERS_APART = regex.compile(r"(?<!\S)\d{1,4}\.\s?\d{1,2}(?:\.\s?\d{1,2})?$")
_ADDRESS = regex.compile(r"\w{2,}(?:[.-]\w+)*\.\w{2,}")
_NAME_PARTICLES = frozenset({"al", "da", "de", "del", "di", "do", "dos", "du", "el", "la", "le", "van", "von"})


def _full_stop_ends(mark: _Mark) -> bool:
    if _ENUMERATOR.fullmatch(mark.text, mark.start, mark.end):
        return False
    item = _ENUMERATOR.match(mark.after)
    if item and item["sign"] != ".":
        return True
    if mark.lower_follows:
        return False
    if not mark.word or _ADDRESS.fullmatch(mark.word):
        return not _is_abbreviated(mark)
    if _sums_up(mark):
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
    return _letters_end(mark) if _LETTERS.fullmatch(mark.word) else _library_ends(mark)


def _sums_up(mark: _Mark) -> bool:
    """Whether it is that of "etc." or the like, also with blanks between its letters."""
    apart = _LETTERS_APART.search(mark.before)
    joined = "".join(apart[0].split()) if apart else mark.word
    return joined.casefold() in MAY_BE_LAST


def _is_abbreviated(mark: _Mark) -> bool:
    word = mark.word.casefold()
    if mark.language == "ar" and len(word) > 1:
        word = word.removeprefix("و")
    if word in NEVER_LAST.get(mark.language, ()) or word.endswith(NEVER_LAST_ENDINGS):
        return True
    numbered = mark.next_word[:1].isdigit() or bool(_ROMAN.fullmatch(mark.next_word))
    return numbered and word in BEFORE_A_NUMBER


def _number_ends(mark: _Mark) -> bool:
    """Not where it counts ("im 19. Jahrhundert"), nor within a date ("1999. 5. 12.")."""
    if mark.language == "ko":
        return not _NUMBERS_APART.search(mark.before) and not mark.next_word.isdigit()
    if mark.language not in ORDINAL_DOT or (mark.word.isdigit() and len(mark.word) > 3):
        return True
    return is_stop_word(mark.next_word, mark.language) or bool(_COUNTED.search(mark.before))


def _letters_end(mark: _Mark) -> bool:
    """An initial does not end a sentence, nor do letters like "U.S."; a unit does, or a letter before "The …"."""
    if mark.before_initial:
        return False
    if _UNIT.search(mark.before) or (mark.language in _REGNAL_WITHOUT_DOT and _REGNAL.search(mark.before)):
        return True
    if "." in mark.word and mark.language == "en":
        return _library_ends(mark)
    if _LETTERS_APART.search(mark.before) or not mark.word[0].isupper():
        return False
    following = mark.next_word.casefold()
    return following not in _NAME_PARTICLES and is_stop_word(following, mark.language)


def _library_ends(mark: _Mark) -> bool:
    english = mark.language == "en"  # the one language of which it knows how sentences begin
    following = mark.next_word if english and mark.next_word[:1].isalpha() else "Xyz"
    return _divided_by_library(f"{mark.word}{mark.signs}", following, mark.language)


@lru_cache(maxsize=4096)
def _divided_by_library(word: str, following: str, language: str) -> bool:
    import sentencex

    boundaries = sentencex.get_sentence_boundaries(language, f"{word} {following} x")
    return any(int(boundary["end_index"]) == len(word) + 1 for boundary in boundaries)
