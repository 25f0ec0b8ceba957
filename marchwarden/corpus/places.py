"""Places of passages in a file as a person opens it: the line of a text, the chapter of a book.

The readers of PDFs and of tables tell pages and lines themselves. Other readers lay texts out anew (wrapped lines are
joined, markup goes), so that places are found by aligning words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from marchwarden.observations import Page, Passage
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.epub import chapter_texts
from marchwarden.reading.files.kinds import EPUB

_WORD = re.compile(r"[^\W_]+")
# Words at the beginning of a passage that are looked for, and the fewest where not all are found in a row. A guess.
_MOST_WORDS, _LEAST_WORDS = 8, 3
# Occurrences of a passage's first word that are tried, which bounds the work in a long book. A guess.
_MOST_TRIED = 10_000


def with_places(page: Page, body: bytes) -> Page:
    """Return the page with the place of each passage that could be found; other kinds of files stay as they are."""
    if page.media_type == EPUB:
        stretches: Iterable[tuple[str, str]] = chapter_texts(body)
    elif page.media_type.startswith("text/") and page.media_type != "text/html":
        lines = re.split(r"\r\n?|\n", decode(body, None))
        stretches = ((f"L{number}", line) for number, line in enumerate(lines, 1))
    else:
        return page
    # The stretches are pairs of (place, text) in the order of the file.
    words: list[str] = []
    places: list[str] = []
    where: dict[str, list[int]] = defaultdict(list)
    for place, text in stretches:
        for word in _WORD.findall(text):
            where[word].append(len(words))
            words.append(word)
            places.append(place)
    after = 0
    passages: list[Passage] = []
    for passage in page.passages:
        if passage.place:  # its reader knows better
            passages.append(passage)
            continue
        wanted = _WORD.findall(passage.said)[:_MOST_WORDS]
        at = _find(wanted, words, where, after)
        if at is not None:
            after = at + 1
        passages.append(replace(passage, place=places[at]) if at is not None else passage)
    return replace(page, passages=tuple(passages))


def _find(wanted: list[str], words: list[str], where: dict[str, list[int]], after: int) -> int | None:
    """Return the first place from `after` on where these words, or as many as possible of them, stand in a row."""
    for length in range(len(wanted), min(_LEAST_WORDS, len(wanted)) - 1, -1):
        if not length:
            return None
        head = wanted[:length]
        candidates = where.get(head[0], [])
        start = bisect_left(candidates, after)
        found = next((at for at in candidates[start : start + _MOST_TRIED] if words[at : at + length] == head), None)
        if found is not None:
            return found
    return None
