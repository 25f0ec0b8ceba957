"""A parsed tree → the tree that is read: without hidden text, and with all that markup alone tells written out."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from marchwarden.reading.html.notation.adjoining_parts import set_parts_apart
from marchwarden.reading.html.notation.formulas import write_formulas
from marchwarden.reading.html.notation.lists import number_items
from marchwarden.reading.html.notation.raised_text import write_scripts
from marchwarden.reading.html.notation.spanned_cells import spread_cells
from marchwarden.reading.html.notation.table_markup import write_tables
from marchwarden.reading.html.visibility import drop_hidden, remove_elements
from marchwarden.text.invisible import visible

# Hexadecimal digits of an address that a host disguises: one byte is the key. A guess for the longest.
_DISGUISED = re.compile(r"[0-9a-f]{6,400}", re.IGNORECASE)


def prepare(tree: HtmlElement) -> None:
    """Remove hidden text and note marks; write out formulas, exponents, numbers of lists and spanned cells.

    Changes `tree`.
    """
    write_formulas(tree)
    drop_hidden(tree)
    remove_elements(write_scripts(tree))
    # Mail addresses that Cloudflare's script shows in place of "[email protected]".
    for element in list(tree.iter("a", "span")):
        code = element.get("data-cfemail")
        if code and _DISGUISED.fullmatch(code):
            key, *letters = bytes.fromhex(code[: len(code) // 2 * 2])
            element[:] = []
            element.text = visible(bytes(letter ^ key for letter in letters).decode("utf-8", "replace"))
    set_parts_apart(tree)
    number_items(tree)
    write_tables(tree)
    spread_cells(tree)
