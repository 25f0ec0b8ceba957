"""The plain text beneath a disguise: letters of other alphabets, spaced or swapped letters, encodings, reversal.

Own code beside confusable-homoglyphs and ftfy: they know letters of other alphabets, and none of the other disguises.
"""

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
    """Return the text in lower case, without accents, in plain letters (also for fullwidth and mathematical ones)."""
    if text.isascii():
        return text.casefold()
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", text)).casefold()


def undisguised(text: str, plain: str) -> Iterator[str]:
    """Yield other readings of a text, folded; `plain` is its plain one. None for a text without disguise."""
    if not plain.isascii() and _MIXED.search(plain):
        yield plain.translate(_LOOKALIKES)
    if _DIGIT_IN_WORD.search(plain):
        yield from (plain.translate(letters) for letters in _LETTERS_OF_DIGITS)
    if "%" in plain or "&" in plain or "\\" in plain:
        unescaped = html.unescape(unquote(text))
        yield folded(re.sub(r"\\(?:u00|x)([0-9a-fA-F]{2})", lambda code: chr(int(code[1], 16)), unescaped))
    if _SINGLE_LETTERS.search(plain):
        yield _GLUED.sub(r"\1 \2 \3", _SPACED.sub(lambda spaced: re.sub(r"[\W_]", "", spaced[0]), plain))
    if max(map(len, text.split()), default=0) >= _MIN_ENCODED_CHARS:
        for encoded in _ENCODED.findall(text):
            yield from map(folded, _decoded(encoded))


def in_latin(text: str) -> str:
    """Return the text, as long as it was, in plain Latin letters.

    They take the place of fullwidth and mathematical ones, and of letters that look like them in words that mix both.
    """
    if text.isascii():
        return text
    text = _SHAPED.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)
    return _MIXED_WORD.sub(lambda word: word[0].translate(_LOOKALIKES | _CAPITAL_LOOKALIKES), text)


def mirrored(plain: str) -> Iterator[str]:
    """Yield a text read backwards, and with its letters rotated by thirteen."""
    yield plain[::-1]
    yield codecs.decode(plain, "rot13")


_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝӏмткнвαορνιτκηυχɪɢɴᴏʀᴇᴀᴛʜᴄᴜʟᴘᴍᴅᴊᴋᴠᴡʏᴢʙ", "aeopcyxijshdqwlmtkhbaopvitknuxignoreathculpmdjkvwyzb"
)
_CAPITAL_LOOKALIKES = str.maketrans("АВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEKMHOPCTYXIJSABEZHIKMNOPTYX")
# Punctuation counts where it follows such a letter: in Chinese and Japanese it is always so wide.
_SHAPED = re.compile("[\uff21-\uff3a\uff41-\uff5a][\uff01-\uff5e]*|[\U0001d400-\U0001d7ff]+")
_MIXED_WORD = re.compile(r"\w*(?:[A-Za-z][\u0370-\u04ff]|[\u0370-\u04ff][A-Za-z])\w*")
_MIXED = re.compile("[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]|[ɢɴʀʜʟʙ]")
_DIGIT_IN_WORD = re.compile(r"[013457@$](?<=[a-z].)(?=[a-z])|[1734](?=[a-z]{4})")
_LETTERS_OF_DIGITS = (str.maketrans("013457@$", "oieastas"), str.maketrans("013457@$", "oleastas"))
# Characters of the shortest word that may be an encoded text: 18 bytes in Base64. A guess.
_MIN_ENCODED_CHARS = 24
# Share of letters and blanks from which on decoded bytes are a text. A guess.
_MIN_LETTERS = 0.8
# Letters with a mark between them, all of one kind.
_SPACED = re.compile(r"(?<![^\W_])[^\W_](?:([.*_-])[^\W_](?:\1[^\W_])+|(?: [^\W_]){2,})(?![^\W_])")
_SINGLE_LETTERS = re.compile(r"[ .*_-][^\W_][ .*_-][^\W_](?![^\W_])")
_GLUED = re.compile(
    r"(ignore|disregard|forget)((?:all|any|the|your|previous|prior|earlier|above|of|these)+)(instructions?|prompts?|rules)"
)
_ENCODED = re.compile(rf"[A-Za-z0-9+/_-]{{{_MIN_ENCODED_CHARS},}}")


def _decoded(encoded: str) -> Iterator[str]:
    with_padding = encoded.translate(str.maketrans("-_", "+/")) + "=" * (-len(encoded) % 4)
    for decode in (bytes.fromhex, base64.b64decode):
        try:
            text = decode(encoded if decode is bytes.fromhex else with_padding).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            continue
        if sum(letter.isalpha() or letter.isspace() for letter in text) > _MIN_LETTERS * len(text):
            yield text
