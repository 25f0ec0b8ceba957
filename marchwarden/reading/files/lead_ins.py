"""Lists and code with the line that introduces them, so that an excerpt says of what it is a list or an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.reading.text_blocks import Block

_COLONS = (":", "：")
# Characters of a paragraph that introduces a list or code. A guess: longer ones tell more than that.
_MAX_LEAD_IN_CHARS = 250


def with_lead_ins(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks, short code in one block with the line above it, and list items below the line above them.

    A list is introduced by a line that ends with a colon. The line and the items share a header, so that an excerpt
    can hold the line and the first items.
    """
    above: Block | None = None
    lead_in: str | None = None
    for block in blocks:
        if above is not None and block.kind == "code" and _can_lead(above, to_code=True):
            if len(above.text) + 1 + len(block.text) <= EXCERPT_LIMIT:
                yield replace(
                    block,
                    text=f"{above.text}\n{block.text}",
                    places=above.places or block.places,
                    lead_in=len(above.text) + 1,
                )
            else:
                yield above
                yield replace(block, header=block.header or above.text.rpartition(". ")[2])
            above = None  # and the list goes on
            continue
        if block.kind == "item" and above is not None and _can_lead(above, to_code=False):
            lead_in = above.text.rpartition(". ")[2]  # its last sentence
            above = replace(above, header=above.header or lead_in)
        elif block.kind != "item":
            lead_in = None
        if above is not None:
            yield above
        above = replace(block, header=block.header or lead_in) if block.kind == "item" else block
    if above is not None:
        yield above


def _can_lead(block: Block, *, to_code: bool) -> bool:
    kinds = ("paragraph", "line", "item") if to_code else ("paragraph", "line")
    if block.kind not in kinds or len(block.text) > _MAX_LEAD_IN_CHARS:
        return False
    return block.text.endswith(_COLONS) or (to_code and block.kind == "paragraph")
