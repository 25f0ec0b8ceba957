"""Whether the excerpts that a claim cites carry it. Code, not a model: numbers, names and content words are compared.

A verbatim excerpt stops invented quotes; this stops quotes that are misused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from marchwarden.ranking import terms

CARRIED = 0.6
"""The least share of a claim's content words that its excerpts must hold."""

_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
_CAPITALISED = re.compile(r"(?<![.!?:“\"'‘(] )(?<!^)\b[A-ZÀ-Þ][\w’'-]+")
_NEGATION = re.compile(r"\b(not|no|never|none|neither|nor|cannot|without|hardly|fails? to)\b|n['’]t\b", re.IGNORECASE)
SMALL_NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


@dataclass(frozen=True)
class Support:
    """How far excerpts carry a claim."""

    words: float
    """0–1: the share of the claim's content words."""
    missing_numbers: tuple[str, ...]
    missing_names: tuple[str, ...]
    negation_differs: bool

    @property
    def carried(self) -> bool:
        return self.problem is None

    @property
    def problem(self) -> str | None:
        """What the excerpts do not carry, in words; None where they carry the claim."""
        if self.missing_numbers:
            return f"no cited excerpt holds {', '.join(self.missing_numbers)}"
        if self.missing_names:
            return f"no cited excerpt names {', '.join(self.missing_names)}"
        if self.negation_differs:
            return "the claim and its excerpts differ in a negation"
        if self.words < CARRIED:
            return f"the cited excerpts hold {self.words:.0%} of its words"
        return None


def support(claim: str, excerpts: Iterable[str], *, around: str = "", language: str = "en") -> Support:
    """Compare a claim with the excerpts that it cites.

    `around` is text that names may stand in besides (the title of the page, the question), since an excerpt often
    says "the city" of what its title names; numbers and negations must stand in an excerpt itself.
    """
    text = "\n".join(excerpts)
    asked = set(terms(claim, language))
    found = set(terms(text, language))
    known = found | set(terms(around, language))
    content = {term for term in asked if not term.isdigit()}
    words = len(content & known) / len(content) if content else 1.0
    return Support(
        words=words,
        missing_numbers=tuple(sorted(numbers_in(claim) - numbers_in(text))),
        missing_names=tuple(
            name for name in _names(claim) if name not in text and not set(terms(name, language)) <= known
        ),
        negation_differs=bool(_NEGATION.search(claim)) != bool(_NEGATION.search(text)) and words >= CARRIED,
    )


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, comparable: thousands separators dropped, small number words as digits."""
    found = {number.replace(",", "").rstrip(".:") for number in _NUMBER.findall(text)}
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return found | {str(value) for value, word in enumerate(SMALL_NUMBERS) if word in words and word != "one"}


def _names(claim: str) -> list[str]:
    return list(dict.fromkeys(_CAPITALISED.findall(claim)))
