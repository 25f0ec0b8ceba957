"""EPUB → blocks: the chapters in reading order, as the package document lists them (EPUB 3.3, EPUB 2).

Own code beside ebooklib: it is under the AGPL, unpacks without limits, and has no EPUB CFI of a chapter.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.archive import DC, Archive, Unpackable
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.text_blocks import MOST_CHARACTERS, Block, first_blocks
from marchwarden.text.invisible import visible_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
# Bytes of chapters that are read: markup takes more than its text. The factor is a guess.
_MAX_MARKUP_BYTES = 4 * MOST_CHARACTERS
_ENCRYPTION = "META-INF/encryption.xml"


def read_epub(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read the text of a book, chapter by chapter."""
    try:
        archive = Archive(body)
        path, package = _package(archive)
        chapters = (block for _, blocks in _chapters(archive, path, package) for block in blocks)
        blocks = tuple(first_blocks(chapters))
    except Unpackable as error:
        return Failure(FailureKind.NO_TEXT, f"the book can't be read: {error}")
    if not blocks and _encrypted(archive):
        return Failure(FailureKind.FORBIDDEN, "the book is protected against copying")
    return FileContent(
        blocks,
        title=_fact(package, "title"),
        authors=tuple(visible_line(each.text or "") for each in package.iter(f"{DC}creator")),
        language=_fact(package, "language"),
        published=as_date(_fact(package, "date") or ""),
        is_prose=False,
    )


def chapter_texts(body: bytes) -> list[tuple[str, str]]:
    """Return the place and the text of each chapter; an empty list where the book can't be read.

    A place is an EPUB CFI: `epubcfi(/6/4)` is the second element of the spine.
    """
    try:
        archive = Archive(body)
        path, package = _package(archive)
        return [
            (place, "\n".join(block.text for block in blocks)) for place, blocks in _chapters(archive, path, package)
        ]
    except Unpackable:
        return []


def _package(archive: Archive) -> tuple[str, _Element]:
    """Return the path of the package document and its root element. Raises Unpackable."""
    for rootfile in archive.xml("META-INF/container.xml").iter(f"{_CONTAINER}rootfile"):
        path = rootfile.get("full-path", "")
        return path, archive.xml(path)
    raise Unpackable("it names no package document")


def _chapters(archive: Archive, path: str, package: _Element) -> Iterator[tuple[str, list[Block]]]:
    """Yield place and blocks of the chapters in reading order; a chapter that is named again is not read again."""
    left = _MAX_MARKUP_BYTES
    unreadable = set(_encrypted(archive))
    items = {item.get("id"): item for item in package.iter(f"{_OPF}item")}
    for at, part in enumerate(package, 1):
        for number, reference in enumerate(part if part.tag == f"{_OPF}spine" else (), 1):
            item = items.get(reference.get("idref"))
            if item is None or "html" not in item.get("media-type", "") or reference.get("linear") == "no":
                continue
            name = posixpath.join(posixpath.dirname(path), unquote(item.get("href", "")))
            name = posixpath.normpath(name)
            if name not in archive or name in unreadable or left <= 0:
                continue
            unreadable.add(name)
            chapter = archive.read(name)
            left -= len(chapter)
            tree = parse(decode(chapter, "application/xhtml+xml"))
            if tree is not None:
                prepare(tree)
                # EPUB CFI counts elements by even numbers: odd ones are the texts between them.
                yield f"epubcfi(/{2 * at}/{2 * number})", region_blocks(tree)


def _encrypted(archive: Archive) -> frozenset[str]:
    """Return the members that only a licensed reader can open, fonts among them, which are often garbled."""
    if _ENCRYPTION not in archive:
        return frozenset()
    references = archive.xml(_ENCRYPTION).iter("{http://www.w3.org/2001/04/xmlenc#}CipherReference")
    return frozenset(unquote(reference.get("URI", "")) for reference in references)


def _fact(package: _Element, name: str) -> str | None:
    found = next(package.iter(f"{DC}{name}"), None)
    return (visible_line(found.text or "") or None) if found is not None else None
