"""PDF → blocks, title, author and day: the text layer by PDFium, laid out by `pdf_layout`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.pdf_layout import PdfPage, Piece, pdf_blocks, title_of
from marchwarden.reading.files.pdf_tables import Part
from marchwarden.reading.text_blocks import MOST_CHARACTERS
from marchwarden.text.invisible import visible, visible_line

# Pages of a file that are read. A guess.
_MAX_PAGES = 10_000
# Seconds for one file. A guess.
_TIMEOUT_S = 60.0

# Titles that programs write: names of files, "untitled".
_NO_TITLE = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel) - .*"
    r"|.*\.(?:dvi|tex|docx?|odt|rtf|pdf|indd|qxd|pptx?|xlsx?|html?|md|ps|txt)"
    r"|untitled.*|unknown|none|title|document\d*|\(anonymous\)|paper|main|slide \d+|[\W\d_]*)",
    re.IGNORECASE,
)
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "ft", "ﬆ": "st"})
# Days that programs write where they know none.
_DEFAULT_DAYS = frozenset({date(1970, 1, 1), date(1980, 1, 1), date(2000, 1, 1)})
_PDF_DATE = re.compile(r"D?:?(\d{4})(\d{2})(\d{2})")


def read_pdf(body: bytes) -> FileContent | Failure:
    """Read the text of a PDF; no blocks where it has only pictures. Words broken at a line's end are joined."""
    layer = read_text_layer(body)
    if isinstance(layer, Failure):
        return layer
    found = _PDF_DATE.match(layer.facts.get("CreationDate", ""))
    try:
        created = date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        created = None
    declared = visible_line(layer.facts.get("Title", ""))
    return FileContent(
        tuple(pdf_blocks(layer.pages)),
        # A name of a file is no title: then it is what is largest on page 1.
        title=declared if not _NO_TITLE.fullmatch(declared) else title_of(layer.pages),
        authors=(layer.facts.get("Author", ""),),
        created=None if created in _DEFAULT_DAYS else created,
    )


# The text layer, read by a process of its own

_PROGRAM = """
import sys
sys.path[:] = sys.argv[3:]
from marchwarden.reading.files.pdfium import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""


@dataclass(frozen=True)
class TextLayer:
    """The text of a PDF as it is drawn, and the entries of its information dictionary."""

    pages: list[PdfPage]
    facts: dict[str, str]


def read_text_layer(body: bytes) -> TextLayer | Failure:
    command = [sys.executable, "-I", "-c", _PROGRAM, str(MOST_CHARACTERS), str(_MAX_PAGES), *sys.path]
    try:
        done = subprocess.run(
            command, input=body, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=True
        )
    except subprocess.TimeoutExpired:
        return Failure(FailureKind.NO_TEXT, f"reading the PDF takes more than {_TIMEOUT_S:g} seconds")
    except (subprocess.CalledProcessError, OSError):
        return Failure(FailureKind.NO_TEXT, "the PDF is built in a way that crashes its reader")
    told = json.loads(done.stdout)
    if "error" not in told:
        return TextLayer([_page(page) for page in told["pages"]], told["facts"])
    if "password" in told["error"].lower():
        return Failure(FailureKind.FORBIDDEN, "the PDF opens only with a password")
    return Failure(FailureKind.NO_TEXT, "the PDF is broken and cannot be opened")


def _page(told: Mapping[str, Any]) -> PdfPage:
    pieces: list[Piece] = []
    for text, left, right, bottom, height, bold, turned, parts in told["pieces"]:
        readable = _readable(text)
        if readable.strip("\uffff\ufffe "):
            cells = tuple(Part(_readable(part), *at) for part, *at in parts)
            pieces.append(Piece(readable, left, right, bottom, height, bold, turned, cells))
    return PdfPage(told["width"], told["height"], tuple(pieces))


def _readable(text: str) -> str:
    """Leave out ligatures and invisible characters, but for the marks of a divided word."""
    said = text.rstrip("\uffff\ufffe")
    return visible(said.translate(_LIGATURES)).replace("\n", " ").strip() + text[len(said) :]
