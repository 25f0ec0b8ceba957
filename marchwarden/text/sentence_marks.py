"""A mark that may end a sentence, and what stands around it: what the rules for sentences and full stops look at."""

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
