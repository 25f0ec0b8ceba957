"""Markup that a library has rendered as HTML → blocks, by the reader of HTML pages."""

from __future__ import annotations

from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.metadata import links_of
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.text_blocks import Block


def rendered_blocks(markup: str) -> tuple[list[Block], list[str]]:
    """Return the blocks of a rendered text, and the addresses that it links to."""
    tree = parse(markup)
    if tree is None:
        return [], []
    prepare(tree)
    return region_blocks(tree), [link.reference for link in links_of(tree)]
