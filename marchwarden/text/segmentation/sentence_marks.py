"""Marks that may end a sentence, the text around them, and the edges of words: the rules for sentences use both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import regex

from marchwarden.text.segmentation.abbreviations import language_of_word

# Characters before and after a mark that the rules look at. A guess: longer than any word.
SEEN = 60
_OPENERS = r"[\"'“‘„‚«»‹›(\[{「『【〈《（［｢〔¿¡*_–—-]"
CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\u3000-\u303f\uff00-\uffef"
_NEXT = regex.compile(rf"(?:{_OPENERS}|\s)*(?P<word>[\p{{L}}\p{{M}}\p{{N}}]*)(?P<stop>\.?)")
# An article that is joined to the word: "l'art.".
_ELISION = regex.compile(r"^\p{L}{1,4}['’](?=\w\w)")
_ROMAN_LAST = regex.compile(r"(?<!\w)[IVXLC]+\Z", regex.REVERSE)
_WORD_BEFORE = regex.compile(rf"[^\s\"“”„«»‘‚()\[\]{{}}/{CJK}]{{1,40}}\Z", regex.REVERSE)


@dataclass(frozen=True)
class Mark:
    """A mark that may end a sentence, and the text around it."""

    text: str
    start: int
    """Start of the sentence that the mark may end."""
    end: int
    """Start of the next sentence, behind quotation marks, brackets, note marks and blanks."""
    before: str
    """Text of the sentence before the mark, SEEN characters at most."""
    after: str
    """Text from `end` on, SEEN characters at most."""
    signs: str
    closed: str
    """Quotation marks and brackets that are closed behind the mark."""
    spaced: bool
    """True where blanks or note marks follow."""
    page_language: str

    @cached_property
    def word(self) -> str:
        """Word before the mark, with full stops inside of it; "" where there is none."""
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
        """Language of the word before the mark; Roman numerals don't count."""
        return language_of_word(_ROMAN_LAST.sub("", self.before), self.after, self.page_language)

    @property
    def lower_follows(self) -> bool:
        return self.next_word[:1].islower()

    def sentence_begins_with(self, *signs: str) -> bool:
        return self.text.startswith(signs, self.start)


# The edge of a word, in any script, by Unicode's default rules (UAX #29).
_WORD_EDGE = regex.compile(r"\b", regex.WORD)
# Characters on either side that decide; only a longer heap of combining marks would need more.
_EDGE_CHARS = 64


def between_words(text: str, at: int) -> bool:
    """True where no word, number, or compound character (a letter with its marks, a family emoji) goes on over `at`.

    In scripts without blanks between words, each character counts as a word.
    """
    if at <= 0 or at >= len(text):
        return True
    start = max(0, at - _EDGE_CHARS)
    return _WORD_EDGE.match(text[start : at + _EDGE_CHARS], at - start) is not None


def next_edge(text: str, at: int, end: int) -> int:
    """Return the first place from `at` on that is between words, `end` at the latest."""
    found = _WORD_EDGE.search(text, at, end)
    return int(found.start()) if found else end
