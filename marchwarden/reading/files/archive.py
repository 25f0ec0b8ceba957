"""The zip archive inside a DOCX or an EPUB, read under limits: the sizes that it claims are not trusted."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

# Names in the XML of several formats: Dublin Core, by which they state title and author; a relation of Office files.
DC = "{http://purl.org/dc/elements/1.1/}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

# Files in an archive, each of which costs memory before it is read. A guess.
MAX_MEMBERS = 20_000
# Unpacked bytes of all members that are read. A guess.
MAX_BYTES = 100_000_000
# Bytes of one member that is parsed: its tree takes twenty times as much memory.
MAX_XML_BYTES = 30_000_000

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class Unpackable(Exception):
    """The archive can't be read, or exceeds a limit; `str(error)` says so in words for people."""


class Archive:
    def __init__(self, body: bytes) -> None:
        """Open an archive. Raises Unpackable."""
        if body.startswith(b"\xd0\xcf\x11\xe0"):  # the container of encrypted documents, and of those before 2007
            raise Unpackable("it opens only with a password, or is of an older format")
        if body.count(b"PK\x01\x02") > MAX_MEMBERS:  # before each of them becomes an object
            raise Unpackable(f"it contains more than {MAX_MEMBERS:,} files")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except _BROKEN as error:
            raise Unpackable("it is damaged and cannot be unpacked") from error
        self._left = MAX_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """Return a member's bytes. Raises Unpackable where there is none, or where the bytes of all are too many."""
        try:
            with self._zip.open(name) as member:
                content = member.read(self._left + 1)
        except KeyError:
            raise Unpackable(f"it contains no {name}") from None
        except _BROKEN as error:
            encrypted = isinstance(error, RuntimeError) and "password" in str(error)
            raise Unpackable("it opens only with a password" if encrypted else f"its {name} is damaged") from error
        self._left -= len(content)
        if self._left < 0:
            raise Unpackable(f"it unpacks to more than {MAX_BYTES // 1_000_000} MB")
        return content

    def xml(self, name: str) -> etree._Element:
        """Return a member's root element; no entity is resolved and nothing else is loaded. Raises Unpackable."""
        content = self.read(name)
        if len(content) > MAX_XML_BYTES:
            raise Unpackable(f"its {name} is larger than {MAX_XML_BYTES // 1_000_000} MB")
        from lxml import etree

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        try:
            return etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            raise Unpackable(f"its {name} is damaged") from error


def number_in(text: str, most: int) -> int | None:
    """Return the number that an attribute of a file states, at most `most`; None where it is no whole number."""
    # Python refuses to read more than 4,300 digits.
    return min(int(text) if len(text) < 10 else most, most) if text.isdecimal() else None
