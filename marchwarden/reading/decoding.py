"""Bytes → their characters."""

from __future__ import annotations

import codecs
import re
import unicodedata

_BYTE_ORDER_MARKS = [
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
]
_DECLARED_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([^\s\"';,]+)", re.IGNORECASE)
_DECLARED_IN_PAGE = re.compile(rb"<meta[^<>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_DECLARED_BY_XML = re.compile(rb"<\?xml[^<>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)

_LABELS = {
    "cn-big5": "big5",
    "dos-874": "cp874",
    "gb_2312-80": "gb2312",
    "iso-8859-8-e": "iso8859-8",
    "iso-8859-8-i": "iso8859-8",
    "ks_c_5601-1989": "euc_kr",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-949": "cp949",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-roman": "mac-roman",
    "x-sjis": "shift_jis",
    "x-x-big5": "big5",
}
"""Labels of the WHATWG Encoding Standard that Python does not know → its names."""

_AS_BROWSERS_READ = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "shift_jis_2004": "cp932",
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "big5": "big5hkscs",
}
"""Python's names of what is declared or detected → the larger set that is meant (the same standard)."""

_DECLARABLE = re.compile(
    r"utf-8|ascii|iso8859|iso2022|koi8|mac-|gb|big5|euc_|shift_jis|johab|hz|tis-620|kz1048|ptcp154"
    r"|cp(?!037|273|424|500|875|1026|1140)\d"  # those are EBCDIC
)
"""Encodings in which ASCII is ASCII. Of others UTF-16 and UTF-32 show by their bytes; the rest could only garble a
page, or change it in ways that no browser shows (UTF-7, Python's own escapes)."""

_IN_PAIRS = ("gb", "big5", "euc_", "cp932", "cp949", "johab")
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_NOT_IN_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
"""Categories of Unicode: control characters, and what is not assigned."""

_HEAD = 20_000
"""Bytes in which a page declares its encoding: scripts and styles may stand before that."""
_SAMPLE = 50_000
"""Bytes that the encoding is detected by."""
_SEARCHED = 1_000_000
"""Bytes among which they are looked for."""
_BETWEEN_TEXT = re.compile(rb"<[^<>]*>|[\r\n]+")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_TWO_BEYOND_ASCII = re.compile(rb"[\x80-\xff]{2}")
_ALIKE = bytes(range(0x80)) + bytes.fromhex("8284858687898b91929394959697999ba0a6a7a9abacadaeb0b1b5b6b7bb")
"""ASCII, and the punctuation that all code pages of Windows share."""
_ESCAPE = re.compile(rb"\x1b|~\{")
"""What ISO-2022 and HZ begin with, which write every character with the bytes of ASCII."""


def decode(body: bytes, content_type: str | None) -> str:
    """The characters of `body`: by byte order mark, as UTF-8 where it is that, as declared (Content-Type, then <meta>
    or XML), or as detected, whichever fits first."""
    if marked := _byte_order_mark(body):
        mark, encoding = marked
        return body[len(mark) :].decode(encoding, "replace")
    if wide := _wide(body):
        return body.decode(wide, "replace")
    text = None if body.isascii() else _decoded(body, "utf-8")
    declared = _declared(body, content_type)
    if declared is not None and (text is None or _may_be_chance(text, declared)):
        text = _decoded(body, declared) or text
    return text if text is not None else _detected(body, declared or "cp1252")


def _declared(body: bytes, content_type: str | None) -> str | None:
    start = body[:_HEAD]
    in_header = _DECLARED_IN_HEADER.search(content_type or "")
    in_page = _DECLARED_IN_PAGE.search(start) or _DECLARED_BY_XML.search(start)
    names = [in_header[1]] if in_header else []
    names += [in_page[1].decode("ascii")] if in_page else []
    known = [name for name in map(_known, names) if name]
    return known[0] if known else None


def _known(name: str) -> str | None:
    """Python's name of the encoding that is meant."""
    label = name.strip().lower()
    try:
        info = codecs.lookup(_LABELS.get(label, label))
    except (LookupError, ValueError):
        return None
    if not getattr(info, "_is_text_encoding", True) or not _DECLARABLE.match(info.name):
        return None
    return _AS_BROWSERS_READ.get(info.name, info.name)


def _may_be_chance(text: str, declared: str) -> bool:
    """Whether `text`, which is valid UTF-8, may be a word or two of an encoding that writes characters as pairs."""
    return declared.startswith(_IN_PAIRS) and len(re.findall(r"[^\x00-\x7f]", text)) < 4


def _decoded(body: bytes, encoding: str) -> str | None:
    """Strictly, but for a character that was cut at the very end of several."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(body)
    except UnicodeDecodeError:
        return _nearly_decoded(body, encoding)
    is_cut = decoder.getstate()[0]
    return None if is_cut and text.isascii() else text


def _nearly_decoded(body: bytes, encoding: str) -> str | None:
    """With a few broken bytes among many more that show the encoding to be right."""
    text = body.decode(encoding, "replace")
    broken = text.count("\ufffd")
    whole = sum(character > "\x7f" for character in text) - broken
    if encoding == "utf-8":  # nothing else has so many of its sequences, though parts of a page may be something else
        return text if whole > 2 * broken else None
    return text if broken * 1000 < len(text) and broken * 10 < whole else None


def _detected(body: bytes, otherwise: str) -> str:
    begin = (_ESCAPE if body.isascii() else _BEYOND_ASCII).search(body)
    if begin is None:
        return body.decode("ascii")
    sample = _telling(body, begin.start())
    if _tells_little(sample):
        return body.decode("cp1252", "replace")
    from chardet import EncodingEra, detect

    found = detect(sample, encoding_era=EncodingEra.ALL & ~EncodingEra.MAINFRAME, compat_names=False)["encoding"]
    return body.decode((found and _known(found)) or otherwise, "replace")


def _telling(body: bytes, begin: int) -> bytes:
    """What of `body`, from `begin` on, tells its encoding: not the markup, which looks the same in most of them."""
    if body.isascii():
        return body[begin:][:_SAMPLE]
    pieces = _BETWEEN_TEXT.split(body[begin : begin + _SEARCHED])
    return b"\n".join(piece for piece in pieces if not piece.isascii())[:_SAMPLE] or body[begin:][:_SAMPLE]


def _tells_little(sample: bytes) -> bool:
    """Whether there are but a few accents and quotation marks: most such pages were written on a Western Windows."""
    return not sample.isascii() and not _TWO_BEYOND_ASCII.search(sample) and len(sample.translate(None, _ALIKE)) < 4


def is_marked_or_wide(body: bytes) -> bool:
    """Whether zero bytes in `body` are no sign that it is no text: it begins with a byte order mark, or is UTF-16 or
    UTF-32 without one."""
    return _byte_order_mark(body) is not None or _wide(body) is not None


def _byte_order_mark(body: bytes) -> tuple[bytes, str] | None:
    return next(((mark, name) for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), None)


def _wide(body: bytes) -> str | None:
    """The encoding of what is UTF-16 or UTF-32 without a mark."""
    start = body[:4096]
    if len(start) < 8 or b"\0" not in start:
        return None
    return next((encoding for encoding in _WIDE if _reads_as(start, encoding)), None)


def _reads_as(start: bytes, encoding: str) -> bool:
    """Whether that gives text. In the wrong order of bytes UTF-16 does too, of signs from all over Unicode."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        return False
    strange = sum(unicodedata.category(sign) in _NOT_IN_TEXT and sign not in "\t\n\f\r" for sign in text)
    if strange * 100 > len(text):
        return False
    high, low = (start[1::2], start[0::2]) if encoding.endswith("le") else (start[0::2], start[1::2])
    return encoding.startswith("utf-32") or 2 * len(set(high)) <= len(set(low))
