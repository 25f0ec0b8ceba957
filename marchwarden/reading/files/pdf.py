"""PDF → blocks: the text layer, page by page (pypdfium2)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.plain_text import plain_blocks
from marchwarden.reading.passages import MOST_CHARACTERS, Block, visible

# Pages of a file that are read. A guess.
_MAX_PAGES = 10_000
# Seconds for one file. A guess.
_TIMEOUT_S = 60.0

_BROKEN_WORD = re.compile("[\ufffe\u0002]\\s*|(?<=[a-zà-ÿ])[\u00ad]\r?\n")
_PAGE_NUMBER = re.compile(
    r"^[ \t–-]*(?:page )?\d{1,4}(?: ?(?:of|/) ?\d{1,4})?[ \t–-]*$\n?", re.IGNORECASE | re.MULTILINE
)
# Days that programs write where they know none.
_DEFAULT_DAYS = frozenset({date(1970, 1, 1), date(1980, 1, 1), date(2000, 1, 1)})
_PDF_DATE = re.compile(r"D?:?(\d{4})(\d{2})(\d{2})")


@dataclass(frozen=True)
class PdfContent:
    blocks: tuple[Block, ...]
    title: str | None
    author: str | None
    created: date | None
    """Day on which the file was made, which is near that of publication; None where it is not known."""


def read_pdf(body: bytes) -> PdfContent | Failure:
    """Read the text of a PDF; no blocks where it has only pictures. Words broken at a line's end are joined."""
    layer = _text_layer(body)
    if isinstance(layer, Failure):
        return layer
    found = _PDF_DATE.match(layer.facts.get("CreationDate", ""))
    try:
        created = date(int(found[1]), int(found[2]), int(found[3])) if found else None
    except ValueError:
        created = None
    return PdfContent(
        tuple(block for text in layer.pages for block in plain_blocks(_PAGE_NUMBER.sub("", text))),
        title=visible(layer.facts.get("Title", "")).strip() or None,
        author=visible(layer.facts.get("Author", "")).strip() or None,
        created=None if created in _DEFAULT_DAYS else created,
    )


def page_texts(body: bytes) -> list[str]:
    """Return the text of each page; an empty list where the PDF can't be opened."""
    layer = _text_layer(body)
    return [] if isinstance(layer, Failure) else layer.pages


# The text layer, read by a process of its own

_PROGRAM = """
import sys
sys.path[:] = sys.argv[3:]
from marchwarden.reading.files.pdfium import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""


@dataclass(frozen=True)
class _TextLayer:
    pages: list[str]
    facts: dict[str, str]


def _text_layer(body: bytes) -> _TextLayer | Failure:
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
        return _TextLayer([visible(_BROKEN_WORD.sub("", text)) for text in told["pages"]], told["facts"])
    if "password" in told["error"].lower():
        return Failure(FailureKind.FORBIDDEN, "the PDF opens only with a password")
    return Failure(FailureKind.NO_TEXT, "the PDF is broken and cannot be opened")
