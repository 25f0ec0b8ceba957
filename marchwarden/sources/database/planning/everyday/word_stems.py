"""Stems of English words, by which names and values are compared."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import Stemmer


@lru_cache(maxsize=16_384)
def stem_of(word: str) -> str:
    return str(Stemmer.Stemmer("english").stemWord(word.lower()))


def without_accents(text: str) -> str:
    """Return a text as people type it who have no accents on their keyboard: `Debon` for `Debón`."""
    if text.isascii():
        return text
    return "".join(each for each in unicodedata.normalize("NFD", text) if unicodedata.category(each) != "Mn")
