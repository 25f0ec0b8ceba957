"""The usual spelling of words that ask and join: "wich" decides what a question asks as much as its names do.

Other words are left as they are written, since the nearest word of what was read is too often another: "devs" for
"devos". What a search knows not to stand in its collection is told by it (text/spelling.py).
"""

from __future__ import annotations

import re

from marchwarden.judge.thesaurus import is_english_word
from marchwarden.text.ranking import guess_language
from marchwarden.text.spelling import edit_distance
from marchwarden.text.stop_words import STOP_WORDS

_LANGUAGE = "en"
# Words that ask and join and are often misspelt, with the most telling first.
_LISTED = """
which what when where whose does should would could before between because against their there about after through
during without while until every these those
"""
_SMALL_WORDS = tuple(_LISTED.split())
_CONTRACTED = {f"{word}s": f"{word} is" for word in ("what", "who", "where", "when", "how", "why")}
# A word with a capital may be a name, but for the first; a part of an address, a path or the name of a file is one.
_FIRST_OR_SMALL = re.compile(r"(?<![\w./:@#-])(?:^[A-Z][a-z]+|[a-z]+)(?![\w/@-]|[.:]\w)")
_LETTERS_OF_SHORTEST = 4


def with_small_words_spelt(text: str) -> str:
    """Return an English text with the words that ask and join in their usual spelling: "Which" for "Wich".

    A word of four letters is one of them only if it lacks a letter, has one too many or two exchanged: others are
    names more often.
    """
    return _FIRST_OR_SMALL.sub(_small_word, text) if guess_language(text) == _LANGUAGE else text


def _small_word(found: re.Match[str]) -> str:
    written = found[0]
    word = written.lower()
    if len(word) < _LETTERS_OF_SHORTEST or word in STOP_WORDS[_LANGUAGE]:
        return written
    is_short = len(word) == _LETTERS_OF_SHORTEST
    near = (
        small
        for small in _SMALL_WORDS
        if word[0] == small[0] and edit_distance(word, small) == 1 and not (is_short and _replaces(word, small))
    )
    meant = _CONTRACTED.get(word) or next(near, None)
    if meant is None or is_english_word(word):
        return written
    return meant.capitalize() if written[0].isupper() else meant


def _replaces(word: str, other: str) -> bool:
    """Return whether two words that are one edit apart differ in one letter that stands in another's place."""
    return len(word) == len(other) and sorted(word) != sorted(other)
