"""Bytes → their media type, by their first bytes, since the types that servers declare are often wrong.

Own code beside puremagic and python-magic: neither tells HTML without a head from plain text and XML.
"""

from __future__ import annotations

import codecs
import json
import re

from marchwarden.reading.decoding import is_marked_or_wide
from marchwarden.reading.files.kinds import DOCX, EPUB, FEED, ODP, ODS, ODT, PPTX, XLSX, text_kind

_SIGNATURES: list[tuple[bytes, str]] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
]

_OFFICE_MEMBERS = [
    (b"word/document.xml", DOCX),
    (b"xl/workbook.xml", XLSX),
    (b"ppt/presentation.xml", PPTX),
]

_OPEN_DOCUMENTS = (ODT, ODS, ODP)
_OFFICE_KINDS = frozenset({*_OPEN_DOCUMENTS, *(kind for _, kind in _OFFICE_MEMBERS)})

_BEFORE_MARKUP = rb"(?:\s|<!--(?:(?!-->).)*-->|<\?xml[^>]*>)*"
_PAGE_START = re.compile(
    _BEFORE_MARKUP + rb"<(?:!doctype\s+html|html|head|body|title|meta)\b", re.IGNORECASE | re.DOTALL
)
_PIECE_START = re.compile(
    _BEFORE_MARKUP
    + rb"<(?:h[1-6]|div|p|article|section|main|header|nav|table|ul|ol|dl|center|font|script|style|link)\b",
    re.IGNORECASE | re.DOTALL,
)
_FEED_START = re.compile(_BEFORE_MARKUP + rb"<(?:rss|feed|rdf:RDF)\b", re.DOTALL)
_FEED_NAME = re.compile(rb"<rss\b|http://www\.w3\.org/2005/Atom|http://purl\.org/(?:atom|rss)/")
_XHTML = re.compile(rb"<html\b", re.IGNORECASE)
# Bytes that no text holds, but for UTF-16 and UTF-32; ISO-2022 switches by three of the control characters.
_CONTROL = bytes([*range(0x0B), *range(0x10, 0x1B), *range(0x1C, 0x20), 0x7F]).translate(None, b"\t\n")


def media_type(body: bytes, content_type: str | None, url: str) -> str:
    """Return the type of HTML, PDF, Markdown, JSON, plain text or a kind of files/kinds.py; else that by signature or
    header."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    start = body[:4096].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    if _PAGE_START.match(start):
        return "text/html"
    if _FEED_START.match(start) and _FEED_NAME.search(start):
        return FEED
    if b"%PDF-" in body[:1024]:
        return "application/pdf"
    if body[:4] == b"RIFF":
        signed = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(body[8:12])
    elif body[4:8] == b"ftyp":
        signed = "image/avif" if body[8:12] == b"avif" else "video/mp4"
    else:
        signed = next((kind for signature, kind in _SIGNATURES if body.startswith(signature)), None)
    if signed:
        # A zip is told by the names in it: that of each member stands before it, and is not packed.
        if signed == "application/zip" and b"mimetype" + EPUB.encode() in body[:100]:
            return EPUB
        for kind in _OPEN_DOCUMENTS:
            if signed == "application/zip" and body[30:].startswith(b"mimetype" + kind.encode()):
                return kind
        if signed == "application/zip":
            # The directory of the archive is at its end, after those of documents that it holds.
            last, kind = max((body.rfind(name), kind) for name, kind in _OFFICE_MEMBERS)
            if last >= 0:
                return kind
        # A zip whose names tell nothing; or a document that is encrypted, which its reader says.
        if declared in _OFFICE_KINDS and signed in ("application/zip", "application/msword"):
            return declared
        return signed
    strange = len(body[:4096]) - len(body[:4096].translate(None, _CONTROL))
    if strange > len(body[:4096]) // 200 and not is_marked_or_wide(body):
        means_text = declared.startswith("text/") or declared.endswith(("json", "xml", "pdf"))
        return declared if declared and not means_text else "application/octet-stream"
    return _text_type(body, start, declared, url)


def _text_type(body: bytes, start: bytes, declared: str, url: str) -> str:
    if kind := text_kind(declared, url):
        return kind
    if declared in ("application/json", "text/json") or declared.endswith("+json"):
        return "application/json"
    if declared in ("text/html", "application/xhtml+xml"):
        return "application/json" if _is_json(body) else "text/html"
    if declared in ("text/markdown", "text/x-markdown"):
        return "text/markdown"
    if declared.endswith("xml"):
        return "text/html" if _XHTML.search(start) or _PIECE_START.match(start) else declared
    if declared.startswith("text/") or declared in ("", "application/octet-stream"):
        if re.search(r"\.(?:md|markdown)$", url.partition("?")[0], re.IGNORECASE):
            return "text/markdown"
        if _PIECE_START.match(start):
            return "text/html"
        return "application/json" if _is_json(body) else "text/plain"
    return declared


def _is_json(body: bytes) -> bool:
    if body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
