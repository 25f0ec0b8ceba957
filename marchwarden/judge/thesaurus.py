"""Relation of two words, by WordNet: the same, wider, narrower, opposite, or of one kind.

Own reader beside nltk's and wn's: those want the whole of WordNet on disk and a download; this reads a table of
0.8 MB that evals/claims/build_thesaurus.py makes. English only; words are stems, as text/ranking.py makes them.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel

from marchwarden.text.ranking import terms

Relation = Literal["same", "wider", "narrower", "opposite", "sibling", "none"]


class Thesaurus(BaseModel):
    senses: dict[str, list[int]]
    """Synsets of each stem, most frequent first."""
    up: dict[int, list[int]]
    """Wider synsets of a synset."""
    against: dict[str, set[str]]
    """Opposites of each stem."""
    kin: dict[str, set[str]]
    """Stems that are derived from each other: "die" and "death"."""
    forms: dict[str, str]
    """Stems of irregular forms, with the stem of the word: "bought" is "buy"."""

    def has(self, stem: str) -> bool:
        """Return whether a stem is one of an English word."""
        return stem in self.senses or stem in self.forms or stem in self.kin

    def relate(self, word: str, other: str) -> Relation:
        """Return what `word` is to `other`: "wider" where it names a class that `other` belongs to."""
        word, other = self.forms.get(word, word), self.forms.get(other, other)
        if word == other or other in self.kin.get(word, ()) or word in self.kin.get(other, ()):
            return "same"
        if other in self.against.get(word, ()) or word in self.against.get(other, ()):
            return "opposite"
        ours, theirs = self.senses.get(word), self.senses.get(other)
        if not ours or not theirs:
            return "none"
        if not set(ours).isdisjoint(theirs):
            return "same"
        above_ours, above_theirs = (
            {parent for each in synsets for parent in self.up.get(each, ())} for synsets in (ours, theirs)
        )
        if not above_theirs.isdisjoint(ours):
            return "wider"
        if not above_ours.isdisjoint(theirs):
            return "narrower"
        return "none" if above_ours.isdisjoint(above_theirs) else "sibling"

    def closest(self, word: str, others: Iterable[str]) -> Relation:
        """Return the closest relation of `word` to any of `others`; an opposite counts before a sibling."""
        found = {self.relate(word, other) for other in others}
        return next((each for each in _CLOSEST_FIRST if each in found), "none")


_CLOSEST_FIRST: tuple[Relation, ...] = ("same", "wider", "opposite", "narrower", "sibling")


@cache
def load_thesaurus() -> Thesaurus:
    """Read the table on first use, once a process."""
    packed = (files("marchwarden.judge") / "thesaurus.json.gz").read_bytes()
    return Thesaurus.model_validate_json(gzip.decompress(packed))


def is_english_word(word: str) -> bool:
    """Return whether WordNet has a word, in any form. It has few names, and no words such as "which"."""
    return any(load_thesaurus().has(stem) for stem in terms(word, "en"))


def has_opposite(word: str) -> bool:
    """Return whether WordNet has an opposite of a word, as it has of most adjectives that compare: "strong"."""
    return any(stem in load_thesaurus().against for stem in terms(word, "en"))
