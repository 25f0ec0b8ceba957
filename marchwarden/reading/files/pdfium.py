"""The text layer of a PDF, as PDFium reads it, in a process of its own: `main` takes a file on stdin and writes JSON.

PDFium is written in C++, and files are hostile: what one does to the library ends this process, and nothing else.
Nothing of the package is imported here, so that the process starts in a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

SECONDS = 60
"""Of a processor."""
_MEMORY = 2_000_000_000
"""Bytes of address space."""


def main(most_characters: int, most_pages: int) -> None:
    """Writes `pages`, their texts, and `facts`, the entries of the information dictionary; or `error`, in words."""
    _set_limits()
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(sys.stdin.buffer.read())
        pages = _texts(document, most_characters, most_pages)
        told: dict[str, object] = {"pages": pages, "facts": document.get_metadata_dict(skip_empty=True)}
    except PdfiumError as error:
        told = {"error": str(error)}
    json.dump(told, sys.stdout)


def _texts(document: PdfDocument, most_characters: int, most_pages: int) -> list[str]:
    """Of each page, until they are long enough together."""
    texts: list[str] = []
    left = most_characters
    for number in range(min(len(document), most_pages)):
        texts.append(_text_of_page(document, number)[:left])
        left -= len(texts[-1])
        if left <= 0:
            break
    return texts


def _text_of_page(document: PdfDocument, number: int) -> str:
    """Nothing where the page is broken: the others can be read all the same."""
    from pypdfium2 import PdfiumError

    try:
        page = document[number]
        text_page = page.get_textpage()
        text: str = text_page.get_text_range(errors="ignore")
    except PdfiumError:
        return ""
    text_page.close()
    page.close()
    return text


def _set_limits() -> None:
    try:
        import resource
    except ImportError:  # not on this system: then the parent's clock alone
        return
    for kind, limit in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (OSError, ValueError):  # the system allows less already, or no such limit
            continue
