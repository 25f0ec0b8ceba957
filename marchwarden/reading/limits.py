"""How much of a page is read: no more than a person would, however much a server sends or an archive unpacks to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from marchwarden.reading.passages import Block

MOST_CHARACTERS = 3_000_000
"""Of text, or of markup: about a thousand pages of a book. What comes after them is left out."""


def first_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks up to MOST_CHARACTERS, the last one cut between words; no further one is asked for."""
    left = MOST_CHARACTERS
    for block in blocks:
        yield block if len(block.text) <= left else replace(block, text=_cut(block.text, left))
        left -= len(block.text)
        if left <= 0:
            return


def _cut(text: str, most: int) -> str:
    words = text[: most + 1].rsplit(None, 1)
    return words[0] if len(words) > 1 else text[:most]
