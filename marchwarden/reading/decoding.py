"""Bytes → their characters.

Own code beside chardet and charset-normalizer: neither reads what a page declares, and both guess at short samples.
evals/reading/charsets.py measures ours; chardet decides where nothing is declared.
"""

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

# Labels of the WHATWG Encoding Standard that Python does not know → its names.
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

# Python's names of what is declared or detected → the larger set that is meant (the same standard).
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

# Encodings in which ASCII is ASCII. Of others UTF-16 and UTF-32 show by their bytes; the rest could only garble a
# page, or change it in ways that no browser shows (UTF-7, Python's own escapes).
_DECLARABLE = re.compile(
    r"utf-8|ascii|iso8859|iso2022|koi8|mac-|gb|big5|euc_|shift_jis|johab|hz|tis-620|kz1048|ptcp154"
    r"|cp(?!037|273|424|500|875|1026|1140)\d"  # those are EBCDIC
)

_IN_PAIRS = ("gb", "big5", "euc_", "cp932", "cp949", "johab")
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
# Categories of Unicode: control characters, and what is not assigned.
_NOT_IN_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})

# Bytes in which a page declares its encoding: scripts and styles may stand before the declaration. A guess.
_HEAD_BYTES = 20_000
# Bytes that the encoding is detected by, and those among which they are looked for. Guesses.
_SAMPLE_BYTES = 50_000
_SEARCHED_BYTES = 1_000_000
# Bytes by which UTF-16 and UTF-32 are recognised. A guess.
_START_BYTES = 4096
_BETWEEN_TEXT = re.compile(rb"<[^<>]*>|[\r\n]+")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_TWO_BEYOND_ASCII = re.compile(rb"[\x80-\xff]{2}")
# ASCII, and the punctuation that all code pages of Windows share.
_ALIKE = bytes(range(0x80)) + bytes.fromhex("8284858687898b91929394959697999ba0a6a7a9abacadaeb0b1b5b6b7bb")
# First bytes of ISO-2022 and HZ, which write every character with the bytes of ASCII.
_ESCAPE = re.compile(rb"\x1b|~\{")


def decode(body: bytes, content_type: str | None) -> str:
    """Return the characters of `body`, in the first encoding that fits.

    The order: by a byte order mark, as UTF-8, as declared (Content-Type, then <meta> or XML), as detected.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(encoding, "replace")
    if wide := _find_wide_encoding(body):
        return body.decode(wide, "replace")
    text = None if body.isascii() else _try_encoding(body, "utf-8")
    in_header = _DECLARED_IN_HEADER.search(content_type or "")
    in_page = _DECLARED_IN_PAGE.search(body[:_HEAD_BYTES]) or _DECLARED_BY_XML.search(body[:_HEAD_BYTES])
    names = [in_header[1]] if in_header else []
    names += [in_page[1].decode("ascii")] if in_page else []
    declared = next(filter(None, map(_python_name, names)), None)
    if declared is not None:
        # Valid UTF-8 may be a word or two of an encoding that writes characters as pairs of bytes.
        may_be_chance = text and declared.startswith(_IN_PAIRS) and len(re.findall(r"[^\x00-\x7f]", text)) < 4
        if text is None or may_be_chance:
            text = _try_encoding(body, declared) or text
    if text is not None:
        return text
    begin = (_ESCAPE if body.isascii() else _BEYOND_ASCII).search(body)
    if begin is None:
        return body.decode("ascii")
    at = begin.start()
    sample = body[at:][:_SAMPLE_BYTES]
    if not body.isascii():
        # Markup is left out: it looks the same in most encodings.
        pieces = _BETWEEN_TEXT.split(body[at : at + _SEARCHED_BYTES])
        sample = b"\n".join(piece for piece in pieces if not piece.isascii())[:_SAMPLE_BYTES] or sample
        # Most pages with but a few accents and quotation marks were written on a Western Windows.
        if not _TWO_BEYOND_ASCII.search(sample) and len(sample.translate(None, _ALIKE)) < 4:
            return body.decode("cp1252", "replace")
    from chardet import EncodingEra, detect

    found = detect(sample, encoding_era=EncodingEra.ALL & ~EncodingEra.MAINFRAME, compat_names=False)["encoding"]
    return body.decode((found and _python_name(found)) or declared or "cp1252", "replace")


def _python_name(name: str) -> str | None:
    """Return Python's name of the encoding that a label means; None where it is unknown or can't be declared."""
    label = name.strip().lower()
    try:
        info = codecs.lookup(_LABELS.get(label, label))
    except (LookupError, ValueError):
        return None
    if not getattr(info, "_is_text_encoding", True) or not _DECLARABLE.match(info.name):
        return None
    return _AS_BROWSERS_READ.get(info.name, info.name)


def _try_encoding(body: bytes, encoding: str) -> str | None:
    """Decode strictly, but for a character that is cut at the end, and for a few broken bytes among many good
    ones."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        text = decoder.decode(body)
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
        broken = text.count("\ufffd")
        whole = sum(character > "\x7f" for character in text) - broken
        # No other encoding has so many sequences of UTF-8, though parts of a page may be in another one.
        if encoding == "utf-8":
            return text if whole > 2 * broken else None
        return text if broken * 1000 < len(text) and broken * 10 < whole else None
    is_cut = decoder.getstate()[0]
    return None if is_cut and text.isascii() else text


def is_marked_or_wide(body: bytes) -> bool:
    """True for a byte order mark, UTF-16 and UTF-32: zero bytes are no sign then that `body` is no text."""
    return any(body.startswith(mark) for mark, _ in _BYTE_ORDER_MARKS) or _find_wide_encoding(body) is not None


def _find_wide_encoding(body: bytes) -> str | None:
    """Return the encoding of UTF-16 or UTF-32 without a byte order mark; None for other bytes."""
    start = body[:_START_BYTES]
    if len(start) < 8 or b"\0" not in start:
        return None
    for encoding in _WIDE:
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(start)
        except UnicodeDecodeError:
            continue
        strange = sum(unicodedata.category(sign) in _NOT_IN_TEXT and sign not in "\t\n\f\r" for sign in text)
        if strange * 100 > len(text):
            continue
        # UTF-16 in the wrong order of bytes is text as well, of characters from all over Unicode.
        high, low = (start[1::2], start[0::2]) if encoding.endswith("le") else (start[0::2], start[1::2])
        if encoding.startswith("utf-32") or 2 * len(set(high)) <= len(set(low)):
            return encoding
    return None
