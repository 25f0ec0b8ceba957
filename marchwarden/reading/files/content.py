"""The content of a file, as its reader returns it: blocks, and what the file says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from marchwarden.reading.text_blocks import Block


@dataclass(frozen=True)
class FileContent:
    blocks: tuple[Block, ...]
    title: str | None = None
    """Title that the file states; None where it states none, and its first heading is taken."""
    author: str | None = None
    language: str | None = None
    published: date | None = None
    modified: date | None = None
    links: tuple[str, ...] = ()
    """References as they are written, relative ones too."""
    is_prose: bool = True
    """False for tables and code, in which a date or a word such as "retracted" says nothing of the file."""
