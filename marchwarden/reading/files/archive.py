"""The zip that a DOCX or an EPUB is, read under limits: what it claims to hold is not taken on trust."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

MOST_MEMBERS = 20_000
MOST_BYTES = 100_000_000
"""Unpacked, of all members that are read."""
MOST_XML = 30_000_000
"""Of one member that is parsed: its tree takes twenty times as much."""

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class Unpackable(Exception):
    """What can't be read, or goes beyond a limit; one sentence for a person."""


class Archive:
    def __init__(self, body: bytes) -> None:
        """Raises Unpackable."""
        if body.count(b"PK\x01\x02") > MOST_MEMBERS:  # before each of them becomes an object
            raise Unpackable(f"it packs more than {MOST_MEMBERS:,} files")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise Unpackable("it is damaged and cannot be unpacked") from error
        self._left = MOST_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """A member's bytes. Raises Unpackable where there is none, and where all that was read is too much."""
        try:
            with self._zip.open(name) as member:
                content = member.read(self._left + 1)
        except KeyError:
            raise Unpackable(f"it holds no {name}") from None
        except _BROKEN as error:
            encrypted = isinstance(error, RuntimeError) and "password" in str(error)
            raise Unpackable("it opens only with a password" if encrypted else f"its {name} is damaged") from error
        self._left -= len(content)
        if self._left < 0:
            raise Unpackable(f"it unpacks to more than {MOST_BYTES // 1_000_000} MB")
        return content

    def xml(self, name: str) -> etree._Element:
        """A member's root element; entities are not resolved, nothing else is loaded. Raises Unpackable."""
        content = self.read(name)
        if len(content) > MOST_XML:
            raise Unpackable(f"its {name} is larger than {MOST_XML // 1_000_000} MB")
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        try:
            return etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            raise Unpackable(f"its {name} is damaged") from error
