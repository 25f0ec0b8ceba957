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
# Words at the beginning that a reader may have added, and the fewest that then must stand in a row. Guesses.
_MOST_ADDED, _SURE_WORDS = 12, 4
# Places that are looked at for one file, which bounds the work: about 0.4 s for each million. A guess.
_MOST_TRIED = 3_000_000


def with_places(page: Page, body: bytes) -> Page:
    """Return the page with the place of each passage that could be found; other kinds of files stay as they are."""
    if page.media_type == EPUB:
        stretches: Iterable[tuple[str, str]] = chapter_texts(body)
    elif page.media_type.startswith("text/") and page.media_type != "text/html":
        lines = re.split(r"\r\n?|\n", decode(body, None))
        stretches = ((f"L{number}", line) for number, line in enumerate(lines, 1))
    else:
        return page
    text = _Text(stretches)
    after = 0
    passages: list[Passage] = []
    for passage in page.passages:
        at = None if passage.place else text.place_of(_WORD.findall(passage.said), after)  # its reader knows better
        if at is not None:
            after = at + 1
        passages.append(replace(passage, place=text.places[at]) if at is not None else passage)
    return replace(page, passages=tuple(passages))


class _Text:
    """The words of a file in their order, each with its place; made of pairs of (place, text)."""

    def __init__(self, stretches: Iterable[tuple[str, str]]) -> None:
        self._words: list[str] = []
        self.places: list[str] = []
        for place, text in stretches:
            found = _WORD.findall(text)
            self._words += found
            self.places += [place] * len(found)
        self._where: dict[str, list[int]] = defaultdict(list)
        for at, word in enumerate(self._words):
            self._where[word].append(at)
        self._tries = _MOST_TRIED

    def place_of(self, said: list[str], after: int) -> int | None:
        """Return where the words of a passage stand, from `after` on if they can; None where they are not found."""
        at = self._find(said[:_MOST_WORDS], after)
        # A passage that was found too far ahead must not hide the ones between.
        if at is None:
            at = self._find(said[:_MOST_WORDS], 0)
        # Its reader may have added words ("Added in version"), or left some out ("code-block").
        for added in range(1, min(_MOST_ADDED, len(said) - _SURE_WORDS) + 1):
            if at is not None:
                break
            at = self._find(said[added : added + _MOST_WORDS], after, least=_SURE_WORDS)
        return at

    def _find(self, wanted: list[str], after: int, least: int = _LEAST_WORDS) -> int | None:
        """Return the first place from `after` on where these words, or as many as possible of them, stand in a row.

        None where fewer than `least` do, or not all of a passage that has fewer.
        """
        if not wanted:
            return None
        candidates = self._where.get(wanted[0], [])
        start = bisect_left(candidates, after)
        for length in range(len(wanted), min(least, len(wanted)) - 1, -1):
            head = wanted[:length]
            for place in range(start, len(candidates)):
                if self._tries <= 0:
                    return None
                self._tries -= 1
                if self._words[candidates[place] : candidates[place] + length] == head:
                    return candidates[place]
        return None
