"""A clause of a claim beside the excerpt that is to entail it, with what the rules look at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from marchwarden.text.numbers import NUMBER
from marchwarden.text.ranking import terms
from marchwarden.text.segmentation.sentences import sentences

# Where one part of a sentence ends and another begins.
SEGMENT_END = re.compile(r"[;,:]\s+|\s+(?=(?:and|but|while|whereas|although)\s)|\s[–—]\s")
_TERMS_OF = re.compile(
    r"\s*(?:and |but )?(?:if|unless|except|provided|as long as|so long as|only if|only when|when|until)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_NAME = re.compile(r"\b(?:[A-ZÀ-Þ][\w’'-]*|[A-Z]{2,})(?:\s+(?:of\s+|de\s+|van\s+|von\s+)?[A-ZÀ-Þ][\w’'-]*)*")
# Words that have a capital only because they begin a sentence.
_OPENING = re.compile(
    r"^(?:The|A|An|In|On|At|For|If|When|Some|Most|All|Many|Before|After|According|It|Its|He|She|They|This|That|By|As|"
    r"No|Only|Both)\s+"
)


@dataclass(frozen=True)
class Pair:
    """A clause of a claim, the excerpt that is to entail it, and text around the excerpt that may lend it names."""

    claim: str
    excerpt: str
    around: str

    @cached_property
    def claim_terms(self) -> set[str]:
        return set(terms(self.claim))

    @cached_property
    def excerpt_terms(self) -> set[str]:
        return set(terms(self.excerpt))

    @cached_property
    def sentence(self) -> str:
        """The sentence of the excerpt that shares most with the claim: its hedges and conditions are the claim's."""
        found = split_sentences(self.excerpt) or [self.excerpt]
        return max(found, key=lambda each: len(self.claim_terms & set(terms(each))))

    @cached_property
    def segment(self) -> str:
        """The parts of that sentence that the claim is about.

        Those are the part that shares most with the claim, other parts that share something more, and clauses that
        begin with "if", "unless" and the like.
        """
        parts = [part for part in SEGMENT_END.split(self.sentence) if part.strip()] or [self.sentence]
        most = max(range(len(parts)), key=lambda place: len(self.claim_terms & set(terms(parts[place]))))
        known = set(terms(parts[most]))
        kept = [
            part
            for place, part in enumerate(parts)
            if place == most or _TERMS_OF.match(part) or (self.claim_terms & set(terms(part))) - known
        ]
        return ", ".join(kept)

    @cached_property
    def names(self) -> list[str]:
        """Names in the claim, each once, in their order."""
        return list(dict.fromkeys(names_in_order(self.claim)))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without the blanks between them."""
    return [sentence for start, end in sentences(text) if (sentence := text[start:end].strip())]


def names_in_order(text: str) -> list[str]:
    """Return the words with capitals, without what opens a sentence. The first word counts: it may be a name."""
    names = (_OPENING.sub("", match[0]) for match in _NAME.finditer(text))
    return [name for name in names if name not in ("", "The", "A", "An", "It", "I")]


def lower_words(text: str) -> list[str]:
    """Return the words of a text in lower case, in their order."""
    return [word.casefold() for word in _WORD.findall(text)]


def words_in_place(text: str) -> list[tuple[str, bool]]:
    """Return the words of a text in their order, and for each whether it is a number.

    A word is its stem, and "" where it says nothing alone. A number has no separators of thousands.
    """
    found = []
    for word in _WORD.findall(text):
        if NUMBER.fullmatch(word):
            found.append((word.replace(",", "").rstrip("."), True))
        else:
            found.append((_stem(word), False))
    return found


# Words are looked at one by one, and the same ones by many rules.
@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    return next(iter(terms(word)), "")


def terms_around(text: str, word: str) -> tuple[set[str], set[str]] | None:
    """Return the terms before and behind a word; None where it does not stand in the text."""
    found = re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE)
    return (set(terms(text[: found.start()])), set(terms(text[found.end() :]))) if found else None
