"""Bytes → what they are (by their first bytes, where the header lies) and their characters."""

from __future__ import annotations

import codecs
import json
import re
from typing import Literal, TypeAlias

MediaType: TypeAlias = Literal[
    "text/html",
    "application/pdf",
    "text/plain",
    "text/markdown",
    "application/json",
    "application/epub+zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
]
"""The kinds that have text."""

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

_HTML_START = re.compile(
    rb"(?:\s|<!--.*?-->|<\?xml[^>]*>)*<(?:!doctype\s+html|html|head|body|title|meta|h1|div|p|article|table)\b",
    re.IGNORECASE | re.DOTALL,
)
_XHTML = re.compile(rb"<html\b", re.IGNORECASE)


def media_type(body: bytes, content_type: str | None, url: str) -> str:
    """What `body` is: a MediaType where it has text, else its type by signature or header."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    if b"%PDF-" in body[:1024]:
        return "application/pdf"
    if signed := _signed(body):
        return _packed(body) or signed if signed == "application/zip" else signed
    if _is_binary(body):
        return declared if declared and not _means_text(declared) else "application/octet-stream"
    return _text_type(body, declared, url)


def _text_type(body: bytes, declared: str, url: str) -> str:
    start = body[:4096]
    if declared in ("application/json", "text/json") or declared.endswith("+json"):
        return "application/json"
    if _HTML_START.match(start.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")):
        return "text/html"
    if declared in ("text/html", "application/xhtml+xml"):
        return "application/json" if _is_json(body) else "text/html"
    if declared in ("text/markdown", "text/x-markdown"):
        return "text/markdown"
    if declared.endswith("xml"):
        return "text/html" if _XHTML.search(start) else declared
    if declared.startswith("text/") or declared in ("", "application/octet-stream"):
        if re.search(r"\.(?:md|markdown)$", url.partition("?")[0], re.IGNORECASE):
            return "text/markdown"
        return "application/json" if _is_json(body) else "text/plain"
    return declared


def _means_text(declared: str) -> bool:
    return declared.startswith("text/") or declared.endswith(("json", "xml", "pdf"))


def _signed(body: bytes) -> str | None:
    if body[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(body[8:12])
    if body[4:8] == b"ftyp":
        return "image/avif" if body[8:12] == b"avif" else "video/mp4"
    return next((kind for signature, kind in _SIGNATURES if body.startswith(signature)), None)


def _packed(body: bytes) -> str | None:
    """What a zip is, by the names in it: each member's stands before it as it is."""
    if b"mimetypeapplication/epub+zip" in body[:100]:
        return "application/epub+zip"
    if b"word/document.xml" in body:
        return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    return None


def _is_binary(body: bytes) -> bool:
    """Whether there are zero bytes that UTF-16 or UTF-32 does not explain."""
    start = body[:4096]
    if b"\0" not in start or _byte_order_mark(body):
        return False
    return not _looks_like_utf16(start) and start.count(0) > len(start) // 200


def _is_json(body: bytes) -> bool:
    if body.lstrip()[:1] not in (b"{", b"["):
        return False
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


# Characters

_BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_DECLARED_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_DECLARED_IN_PAGE = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARED_BY_XML = re.compile(rb"<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)

_AS_BROWSERS_READ = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "big5": "big5hkscs",
    "utf-16": "utf-16-le",
}
"""Python's names of what is declared → the larger set that is meant (WHATWG Encoding Standard)."""

_SAMPLE = 50_000


def decode(body: bytes, content_type: str | None) -> str:
    """The characters of `body`: by byte order mark, header, <meta>, UTF-8, or as detected, whichever fits first."""
    if marked := _byte_order_mark(body):
        mark, encoding = marked
        return body[len(mark) :].decode(encoding, "replace")
    declared = _declared(body, content_type)
    text = _as_utf8(body) if declared is None or _is_single_byte(declared) else None
    if text is None and declared is not None:
        text = _decoded(body, declared)
    if text is None:
        text = _as_utf8(body)
    return text if text is not None else _detected(body, declared)


def _declared(body: bytes, content_type: str | None) -> str | None:
    start = body[:4096]
    in_header = _DECLARED_IN_HEADER.search(content_type or "")
    in_page = _DECLARED_IN_PAGE.search(start) or _DECLARED_BY_XML.search(start)
    names = [in_header[1]] if in_header else []
    names += [in_page[1].decode("ascii")] if in_page else []
    known = [name for name in map(_known, names) if name]
    return known[0] if known else None


def _known(name: str) -> str | None:
    try:
        info = codecs.lookup(name.strip())
    except (LookupError, ValueError):
        return None
    if not getattr(info, "_is_text_encoding", True):
        return None
    return _AS_BROWSERS_READ.get(info.name, info.name)


def _is_single_byte(encoding: str) -> bool:
    """Whether any bytes at all decode as it: valid UTF-8 beyond ASCII is then stronger evidence than the label."""
    return encoding.startswith(("cp125", "iso8859", "koi8", "mac", "cp874", "cp866", "latin"))


def _decoded(body: bytes, encoding: str) -> str | None:
    """Strictly, but for a character that was cut at the very end."""
    for cut in range(4):
        try:
            return body[: len(body) - cut].decode(encoding)
        except UnicodeDecodeError as error:
            if error.start < len(body) - 4:
                break
    return _nearly_decoded(body, encoding)


def _nearly_decoded(body: bytes, encoding: str) -> str | None:
    """With a few broken bytes in an otherwise right text."""
    text = body.decode(encoding, "replace")
    broken = text.count("\ufffd")
    beyond_ascii = sum(character > "\x7f" for character in text[:_SAMPLE])
    return text if broken * 1000 < len(text) and broken * 10 < max(beyond_ascii, 20) else None


def _as_utf8(body: bytes) -> str | None:
    if body.isascii():
        return None if b"\x1b" in body else body.decode("ascii")
    return _decoded(body, "utf-8") if not _looks_like_utf16(body[:4096]) else None


def _detected(body: bytes, declared: str | None) -> str:
    if _looks_like_utf16(body[:4096]):
        return body.decode("utf-16-le" if body[1:2] == b"\0" else "utf-16-be", "replace")
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_SAMPLE]).best()
    encoding = _known(best.encoding) if best is not None else declared
    return body.decode(encoding or "cp1252", "replace")


def _byte_order_mark(body: bytes) -> tuple[bytes, str] | None:
    return next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), None)


def _looks_like_utf16(start: bytes) -> bool:
    if len(start) < 8 or b"\0" not in start:
        return False
    even, odd = start[0::2].count(0), start[1::2].count(0)
    return max(even, odd) > len(start) * 0.35 and min(even, odd) < len(start) * 0.02
