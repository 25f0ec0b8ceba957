"""The content of a file, as its reader returns it: blocks, and what the file says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from marchwarden.reading.text_blocks import Block


@dataclass(frozen=True)
class FileContent:
    blocks: tuple[Block, ...]
    title: str | None = None
    """Title that the file states; where it is None, the first heading of prose is taken."""
    authors: tuple[str, ...] = ()
    """Names as they are written; empty ones count as none."""
    language: str | None = None
    published: date | None = None
    """Day that the file states for its publication."""
    created: date | None = None
    """Day on which the file was made, for files and texts that state no day of publication."""
    modified: date | None = None
    """Day of the file's last change, where its text states none."""
    links: tuple[str, ...] = ()
    """References as they are written, relative ones too."""
    is_prose: bool = True
    """False for tables, code, books and feeds, whose texts say nothing of the file by a date or a word such as
    "retracted"."""
