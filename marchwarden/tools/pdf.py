"""PDF → blocks: the text layer, page by page."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.tools.limits import MOST_CHARACTERS
from marchwarden.tools.passages import Block, visible
from marchwarden.tools.plain import plain_blocks

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PDFIUM = threading.Lock()  # the library is not thread-safe, in no two documents either
_MOST_PAGES = 10_000

_BROKEN_WORD = re.compile("[\ufffe\u0002]\\s*|(?<=[a-zà-ÿ])[\u00ad]\r?\n")
_PAGE_NUMBER = re.compile(
    r"^[ \t–-]*(?:page )?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?[ \t–-]*$\n?", re.IGNORECASE | re.MULTILINE
)
_DEFAULT_DAYS = frozenset({date(1970, 1, 1), date(1980, 1, 1), date(2000, 1, 1)})
_PDF_DATE = re.compile(r"D?:?(\d{4})(\d{2})(\d{2})")


@dataclass(frozen=True)
class PdfContent:
    blocks: tuple[Block, ...]
    title: str | None
    author: str | None
    created: date | None
    """When the file was made: near the day of publication, if nothing better is known."""


def read_pdf(body: bytes) -> PdfContent | Failure:
    """The text of a PDF; no blocks where it has only pictures. Words broken at a line's end are put together."""
    from pypdfium2 import PdfDocument, PdfiumError

    with _PDFIUM:
        try:
            document = PdfDocument(body)
        except PdfiumError as error:
            return _unreadable(str(error))
        try:
            pages = list(_page_texts(document))
            facts = document.get_metadata_dict(skip_empty=True)
        except PdfiumError as error:
            return _unreadable(str(error))
        finally:
            document.close()
    blocks = [block for text in pages for block in plain_blocks(_PAGE_NUMBER.sub("", text))]
    return PdfContent(
        tuple(blocks),
        title=visible(facts.get("Title", "")).strip() or None,
        author=visible(facts.get("Author", "")).strip() or None,
        created=_date(facts.get("CreationDate", "")),
    )


def page_texts(body: bytes) -> list[str]:
    """The text of each page; none where the PDF can't be opened."""
    from pypdfium2 import PdfDocument, PdfiumError

    with _PDFIUM:
        try:
            document = PdfDocument(body)
        except PdfiumError:
            return []
        try:
            return list(_page_texts(document))
        except PdfiumError:
            return []
        finally:
            document.close()


def _unreadable(reason: str) -> Failure:
    if "password" in reason.lower():
        return Failure(FailureKind.FORBIDDEN, "the PDF opens only with a password")
    return Failure(FailureKind.NO_TEXT, "the PDF is broken and cannot be opened")


def _page_texts(document: PdfDocument) -> Iterator[str]:
    left = MOST_CHARACTERS
    for number in range(min(len(document), _MOST_PAGES)):
        text = visible(_BROKEN_WORD.sub("", _text_of_page(document, number)))
        yield text[:left]
        left -= len(text)
        if left <= 0:
            return


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


def _date(text: str) -> date | None:
    found = _PDF_DATE.match(text)
    try:
        day = date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        return None
    return None if day in _DEFAULT_DAYS else day
