"""Marks that may end a sentence, what stands around them, and where words end: the rules for sentences look at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import regex

from marchwarden.text.abbreviations import language_of_word

BULLET = r"[•⁃▪◦‣●]"
SEEN = 60
"""Characters before and after a mark that are looked at."""
_OPENERS = r"[\"'“‘„‚«»‹›(\[{「『【〈《（［｢〔¿¡*_–—-]"
CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff00-\uffef"
_NEXT = regex.compile(rf"(?:{_OPENERS}|\s)*(?P<word>[\p{{L}}\p{{M}}\p{{N}}]*)(?P<stop>\.?)")
_ELISION = regex.compile(r"^\p{L}{1,4}['’](?=\w\w)")
"""Of an article: "l'art."."""
_ROMAN_LAST = regex.compile(r"(?<!\w)[IVXLC]+\Z", regex.REVERSE)
_WORD_BEFORE = regex.compile(rf"[^\s\"“”„«»‘‚()\[\]{{}}/{CJK}]{{1,40}}\Z", regex.REVERSE)


@dataclass(frozen=True)
class Mark:
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
        return str(found["word"]), str(found["stop"])

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


_WORD_EDGE = regex.compile(r"\b", regex.WORD)
"""Where words end, in any script: Unicode's default rules (UAX #29)."""
_EDGE_SEEN = 64
"""Characters to either side that decide; only a longer heap of combining marks would need more."""


def between_words(text: str, at: int) -> bool:
    """True where no word, number, or character made of several (a letter with its marks, an emoji of a family) goes
    on over `at`. In scripts that put no blanks between words, each character counts as a word."""
    if at <= 0 or at >= len(text):
        return True
    start = max(0, at - _EDGE_SEEN)
    return _WORD_EDGE.match(text[start : at + _EDGE_SEEN], at - start) is not None


def next_edge(text: str, at: int, end: int) -> int:
    """Return the first place from `at` on that is between words, `end` at the latest."""
    found = _WORD_EDGE.search(text, at, end)
    return int(found.start()) if found else end
