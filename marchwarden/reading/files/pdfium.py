"""The text layer of a PDF, read by PDFium in a process of its own: `main` takes a file on stdin and writes JSON.

PDFium is written in C++, and files are hostile: one that crashes the library ends this process and nothing else.
Nothing of the package is imported here, so that the process starts in a tenth of a second.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

# Seconds of processor time, as many as the parent waits.
SECONDS = 60
# Bytes of address space. A guess.
_MEMORY_BYTES = 2_000_000_000


def main(most_characters: int, most_pages: int) -> None:
    """Write `pages` (their texts) and `facts` (the information dictionary) as JSON; or `error`, in words."""
    _set_limits()
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(sys.stdin.buffer.read())
        pages: list[str] = []
        left = most_characters
        for number in range(min(len(document), most_pages)):
            try:
                page = document[number]
                text_page = page.get_textpage()
                text: str = text_page.get_text_range(errors="ignore")
                text_page.close()
                page.close()
            except PdfiumError:
                text = ""  # the page is broken; the others can still be read
            pages.append(text[:left])
            left -= len(pages[-1])
            if left <= 0:
                break
        told: dict[str, object] = {"pages": pages, "facts": document.get_metadata_dict(skip_empty=True)}
    except PdfiumError as error:
        told = {"error": str(error)}
    json.dump(told, sys.stdout)


def _set_limits() -> None:
    try:
        import resource
    except ImportError:  # Windows: the parent's timeout is the only limit
        return
    for kind, limit in (
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_CPU, SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(kind, (limit, limit))
        except (OSError, ValueError):  # the system allows less already, or no such limit
            continue
