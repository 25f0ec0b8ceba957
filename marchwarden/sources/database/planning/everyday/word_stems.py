"""Stems of English words, by which names and values are compared."""

from __future__ import annotations

from functools import lru_cache

import Stemmer


@lru_cache(maxsize=16_384)
def stem_of(word: str) -> str:
    return str(Stemmer.Stemmer("english").stemWord(word.lower()))
