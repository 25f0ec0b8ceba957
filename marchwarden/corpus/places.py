"""Where passages stand in a file as a person opens it: on which page of a PDF, on which line of a text, in which
chapter of a book.

Readers lay texts out anew (wrapped lines are joined, markup goes), so that places are found by aligning words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from marchwarden.observations import Page, Passage
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.epub import EPUB, chapter_texts
from marchwarden.reading.files.pdf import page_texts

_WORD = re.compile(r"[^\W_]+")
# Words at the beginning of a passage that are looked for; fewer where they can't all be found in a row.
_COMPARED = 8
_LEAST = 3
# Places of its first word at which a passage is looked for.
_LOOKED_AT = 10_000


def with_places(page: Page, body: bytes) -> Page:
    """The page, with the place of each passage that could be found; other kinds of files as they are."""
    if page.media_type == "application/pdf":
        stretches: Iterable[tuple[str, str]] = (
            (f"page={number}", text) for number, text in enumerate(page_texts(body), 1)
        )
    elif page.media_type == EPUB:
        stretches = chapter_texts(body)
    elif page.media_type in ("text/plain", "text/markdown"):
        lines = re.split(r"\r\n?|\n", decode(body, None))
        stretches = ((f"L{number}", line) for number, line in enumerate(lines, 1))
    else:
        return page
    return replace(page, passages=tuple(_placed(page.passages, stretches)))


def _placed(passages: Sequence[Passage], stretches: Iterable[tuple[str, str]]) -> Iterator[Passage]:
    words: list[str] = []
    places: list[str] = []
    where: dict[str, list[int]] = defaultdict(list)
    for place, text in stretches:
        for word in _WORD.findall(text):
            where[word].append(len(words))
            words.append(word)
            places.append(place)
    after = 0
    for passage in passages:
        wanted = _WORD.findall(passage.text)[:_COMPARED]
        at = _find(wanted, words, where, after)
        if at is not None:
            after = at + 1
        yield replace(passage, place=places[at]) if at is not None else passage


def _find(wanted: list[str], words: list[str], where: dict[str, list[int]], after: int) -> int | None:
    """The first place from `after` on where these words stand in a row, or the longest beginning of them."""
    for length in range(len(wanted), min(_LEAST, len(wanted)) - 1, -1):
        if not length:
            return None
        head = wanted[:length]
        candidates = where.get(head[0], [])
        start = bisect_left(candidates, after)
        found = next((at for at in candidates[start : start + _LOOKED_AT] if words[at : at + length] == head), None)
        if found is not None:
            return found
    return None
