"""Words of a collection that a misspelt word may stand for.

Own code: rapidfuzz would be one more dependency for a comparison of one word with the words of a few pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable

# Letters from which a word may be misspelt by one edit, and by two. Guesses: shorter words have too many neighbours.
ONE_EDIT_LETTERS, TWO_EDITS_LETTERS = 5, 9


def meant_words(
    words: Iterable[str], is_known: Callable[[str], bool], texts_near: Callable[[str, int], Iterable[str]]
) -> dict[str, str]:
    """Return the closest word of a collection for each word that it does not have.

    `is_known` tells whether it has a word; `texts_near` returns texts with words that are so many edits away.
    """
    asked = dict.fromkeys(words)
    found = {}
    for word in asked:
        edits = edits_allowed(word)
        if edits and not is_known(word) and (close := closest_word(word, texts_near(word, edits), asked)):
            found[word] = close
    return found


def edits_allowed(word: str) -> int:
    """Return the number of edits by which a word may differ from the one that was meant; 0 for what is no word."""
    if not word.isalpha() or len(word) < ONE_EDIT_LETTERS:
        return 0
    return 1 if len(word) < TWO_EDITS_LETTERS else 2


def closest_word(word: str, texts: Iterable[str], beside: Collection[str] = ()) -> str | None:
    """Return the word of the texts that is fewest edits away; None for none near.

    Of equals it is the one in whose text most of the words `beside` it stand, of four letters and more, and then the
    most frequent.
    """
    most = edits_allowed(word)
    if not most:
        return None
    counts: Counter[str] = Counter()
    company: dict[str, int] = {}
    for text in texts:
        held = Counter(found.casefold() for found in re.findall(r"[^\W\d_]{4,}", text))
        counts.update(held)
        shared = sum(each in held for each in beside)
        company.update({found: max(shared, company.get(found, 0)) for found in held})
    near = {
        found: distance
        for found in counts
        if abs(len(found) - len(word)) <= most and 0 < (distance := edit_distance(word, found)) <= most
    }
    return min(near, key=lambda found: (near[found], -company[found], -counts[found], found), default=None)


def edit_distance(one: str, other: str) -> int:
    """Return the edits between two words: letters put in, left out, replaced, or exchanged with the next one."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        earlier, before, row = before, row, [i]
        for j, there in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == there:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
    return row[-1]
