"""One of the user's own files as it is now, for checking a citation of it: indexed again or not."""

from __future__ import annotations

import os
import re
from pathlib import Path

from marchwarden.audit.drift import flat
from marchwarden.corpus.documents import JSON_LINES, LINE, MOST_BYTES, day_of, kind_of, page_of_document, page_of_line
from marchwarden.corpus.walk import read_bytes
from marchwarden.observations import Failure, FailureKind, Page

# Characters of an ASCII word by which lines are found before they are parsed: JSON may escape all others. A guess.
_MIN_WORD_CHARS = 5


def read_document(path: str, locator: str, quote: str) -> tuple[str, Page] | Failure:
    """Return the document that a citation names, with its locator now; or the failure to read it.

    A line of a .jsonl file that has moved is found by the quote. Links are not followed, as in indexing. Blocks.
    """
    if kind_of(path) is None:
        return Failure(FailureKind.BAD_REQUEST, "files of this kind can't be read")
    if os.path.realpath(path) != path:
        return Failure(FailureKind.NOT_FOUND, "the file was replaced by a link, or is gone")
    try:
        body = read_bytes(path, MOST_BYTES)
        modified = day_of(Path(path).stat().st_mtime)
    except FileNotFoundError:
        return Failure(FailureKind.NOT_FOUND, "the file is no longer there")
    except PermissionError:
        return Failure(FailureKind.FORBIDDEN, "you have no permission to read the file")
    except OSError as error:
        return Failure(FailureKind.NETWORK, f"the file can't be read: {error.strerror or error}")
    line = LINE.search(locator)
    try:
        if kind_of(path) == JSON_LINES and line:
            return _line(path, body.split(b"\n"), int(line[1]), quote)
        page = page_of_document(path, body, modified)
    except Exception as error:  # a parser stumbled over this one file
        return Failure(FailureKind.NETWORK, f"the file's format can't be read: {type(error).__name__}")
    return page if isinstance(page, Failure) else (path, page)


def _line(path: str, lines: list[bytes], number: int, quote: str) -> tuple[str, Page] | Failure:
    """Return the document in a line, or the one that has the quote now where it stands in another line."""
    here = page_of_line(path, lines[number - 1], None) if 0 < number <= len(lines) else None
    if isinstance(here, Page) and flat(quote) in flat(here.text):
        return f"{path}#L{number}", here
    words = re.findall(rf"[A-Za-z]{{{_MIN_WORD_CHARS},}}", quote)
    rare = max(words, key=len, default="").encode()
    for place, body in enumerate(lines, start=1):
        if rare in body and body.strip():
            page = page_of_line(path, body, None)
            if isinstance(page, Page) and flat(quote) in flat(page.text):
                return f"{path}#L{place}", page
    if here is None:
        return Failure(FailureKind.NOT_FOUND, f"the file no longer has a line {number}")
    return here if isinstance(here, Failure) else (f"{path}#L{number}", here)
