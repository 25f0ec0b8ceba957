"""DOCX and EPUB files that tests read, made with the standard library alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from urllib.parse import quote

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def packed(members: Mapping[str, str | bytes], *, stored: str | None = None) -> bytes:
    """A zip of these members; `stored` names one that is not compressed."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == stored else zipfile.ZIP_DEFLATED)
    return body.getvalue()


def docx(body: str, *, core: str = "", styles: str = "", footnotes: str = "") -> bytes:
    """A document whose body is this WordprocessingML (prefix `w`)."""
    members = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
    }
    if styles:
        members["word/styles.xml"] = f"<w:styles {_W}>{styles}</w:styles>"
    if footnotes:
        members["word/footnotes.xml"] = f"<w:footnotes {_W}><w:footnote>{footnotes}</w:footnote></w:footnotes>"
    if core:
        members["docProps/core.xml"] = (
            '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
            ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
            f"{core}</cp:coreProperties>"
        )
    return packed(members)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def epub(chapters: Mapping[str, str], *, metadata: str = "", more: Mapping[str, str] = {}) -> bytes:
    """A book of these chapters: names with the XHTML of their bodies, read in this order."""
    items = "".join(
        f'<item id="c{number}" href="{quote(name)}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    pages = {
        f"OEBPS/{name}": f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    members = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package}
    return packed({**members, **pages, **more}, stored="mimetype")
