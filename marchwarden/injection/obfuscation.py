"""What a text says beneath a disguise: letters of other alphabets, spaced or swapped ones, encodings, reversal."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

_ACCENTS = re.compile("[\u0300-\u036f\u0489]+")


def folded(text: str) -> str:
    """In lower case, without accents, in plain letters (fullwidth, mathematical and enclosed ones are such)."""
    if text.isascii():
        return text.casefold()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()


def undisguised(text: str, plain: str) -> Iterator[str]:
    """Other readings of a text, folded; `plain` is its plain one. Nothing where it wears no disguise."""
    if not plain.isascii() and _MIXED.search(plain):
        yield plain.translate(_LOOKALIKES)
    if _DIGIT_IN_WORD.search(plain):
        yield from (plain.translate(letters) for letters in _LETTERS_OF_DIGITS)
    if "%" in plain or "&" in plain or "\\" in plain:
        yield folded(_unescaped(text))
    if _SINGLE_LETTERS.search(plain):
        yield _GLUED.sub(r"\1 \2 \3", _SPACED.sub(_closed_up, plain))
    if max(map(len, text.split()), default=0) >= _LONG:
        for encoded in _ENCODED.findall(text):
            yield from map(folded, _decoded(encoded))


def mirrored(plain: str) -> Iterator[str]:
    """A text read backwards, and with its letters rotated by thirteen."""
    yield plain[::-1]
    yield codecs.decode(plain, "rot13")


_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝӏмткнвαορνιτκηυχɪɢɴᴏʀᴇᴀᴛʜᴄᴜʟᴘᴍᴅᴊᴋᴠᴡʏᴢʙ", "aeopcyxijshdqwlmtkhbaopvitknuxignoreathculpmdjkvwyzb"
)
_MIXED = re.compile("[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]|[ɢɴʀʜʟʙ]")
_DIGIT_IN_WORD = re.compile(r"[013457@$](?<=[a-z].)(?=[a-z])|[1734](?=[a-z]{4})")
_LETTERS_OF_DIGITS = (str.maketrans("013457@$", "oieastas"), str.maketrans("013457@$", "oleastas"))
_LONG = 24
"""Letters of the shortest word that may be an encoded text."""
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:([.*_-])[^\W_](?:\1[^\W_])+|(?: [^\W_]){2,})(?![^\W_])")
"""Letters with a mark between them, all of one kind."""
_SINGLE_LETTERS = re.compile(r"[ .*_-][^\W_][ .*_-][^\W_](?![^\W_])")
_GLUED = re.compile(
    r"(ignore|disregard|forget)((?:all|any|the|your|previous|prior|earlier|above|of|these)+)(instructions?|prompts?|rules)"
)
_ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{_LONG},}}")


def _closed_up(spaced: re.Match[str]) -> str:
    return re.sub(r"[\W_]", "", spaced[0])


def _unescaped(text: str) -> str:
    text = html.unescape(unquote(text))
    return re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), text)


def _decoded(encoded: str) -> Iterator[str]:
    with_padding = encoded.translate(str.maketrans("-_", "+/")) + "=" * (-len(encoded) % 4)
    for decode in (bytes.fromhex, base64.b64decode):
        try:
            text = decode(encoded if decode is bytes.fromhex else with_padding).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            continue
        if sum(letter.isalpha() or letter.isspace() for letter in text) > 0.8 * len(text):
            yield text
