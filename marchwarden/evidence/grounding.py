"""Whether the excerpts that a claim cites carry it. Code, not a model: numbers, names and content words are compared.

A verbatim excerpt stops invented quotes; this stops quotes that are misused. What else a model words (an aspect, a
question, a reason) makes no claim, but may name nothing that was not met.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from marchwarden.text.ranking import terms

CARRIED, A_PART = 0.6, 0.25
"""The least share of a claim's content words that its excerpts must hold together, and that each of them must."""

_NUMBER = re.compile(r"\d[\d.,:]*\d|\d")
_LOCATOR = re.compile(
    r"https?://\S+|www\.\S+|\S+@\S+\.\w+|\b(?=[\w.-]*[A-Za-z])\w[\w-]+(?:\.\w[\w-]+)*\.(?:[a-z]{2,}|[A-Z]{2,})\b(?:/\S*)?"
)
_MAGNITUDE = re.compile(r"\b(hundred|thousand|million|billion|trillion)s?\b", re.IGNORECASE)
_CAPITALISED = re.compile(r"(?<![.!?:“\"'‘(] )(?<!^)\b[A-ZÀ-Þ][\w’'-]+")
_ANY_CAPITALISED = re.compile(r"\b[A-ZÀ-Þ][\w’'-]+")
_NEGATION = re.compile(
    r"\b(not|no|never|none|neither|nor|cannot|without|hardly|fails? to|nicht|kein\w*|niemals|nie|ohne|pas|jamais|"
    r"aucune?|sans|nunca|jamás|nessuno?|não|niet|geen|nooit|inte|ikke|не|нет|никогда)\b|n['’]t\b|[不没無]|ない|ません",
    re.IGNORECASE,
)
KNOWN_ALREADY = 0.85
"""A text of whose terms the caller's context holds this share says nothing new."""
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
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]


@dataclass(frozen=True)
class Support:
    """How far excerpts carry a claim."""

    words: float
    """0–1: the share of the claim's content words."""
    missing_numbers: tuple[str, ...]
    missing_names: tuple[str, ...]
    missing_locators: tuple[str, ...]
    negation_differs: bool

    @property
    def carried(self) -> bool:
        return self.problem is None

    @property
    def problem(self) -> str | None:
        """What the excerpts do not carry, in words; None where they carry the claim."""
        if self.missing_locators:
            return f"no cited excerpt names {', '.join(self.missing_locators)}"
        if self.missing_numbers:
            return f"no cited excerpt contains {', '.join(self.missing_numbers)}"
        if self.missing_names:
            return f"no cited excerpt names {', '.join(self.missing_names)}"
        if self.negation_differs:
            return "the claim and its excerpts differ in a negation"
        if self.words < CARRIED:
            return f"the cited excerpts contain only {self.words:.0%} of its words"
        return None


def support(claim: str, excerpts: Iterable[str], *, around: str = "", language: str = "en") -> Support:
    """Compare a claim with the excerpts that it cites.

    `around` is text that names may stand in besides (the title of the page), since an excerpt often says "the city"
    of what its title names. All else must stand in an excerpt itself: words that only `around` holds count for
    nothing.
    """
    excerpts = list(excerpts)
    text = "\n".join(excerpts)
    found = set(terms(text, language))
    nearby = set(terms(around, language)) - found
    lent = nearby & {term for name in _ANY_CAPITALISED.findall(claim) for term in terms(name, language)}
    content = {term for term in terms(claim, language) if not term.isdigit()} - lent
    words = len(content & found) / len(content) if content else float(not lent)
    return Support(
        words=words,
        missing_numbers=tuple(sorted(_amounts(claim) - _amounts(text))),
        missing_names=_names_missing(claim, text, found | nearby, language),
        missing_locators=tuple(each for each in _LOCATOR.findall(claim) if each not in text),
        negation_differs=words >= CARRIED and _denies(claim) not in _denials(content, excerpts, language),
    )


def speaks_for(excerpt: str, claim: str, *, around: str = "") -> bool:
    """Whether an excerpt, one of several that a claim cites, has a part in carrying it: it holds some of its words,
    and does not say the same of other numbers, or deny it."""
    found = support(claim, [excerpt], around=around)
    amounts = _amounts(claim)
    other_numbers = found.words >= CARRIED and amounts and not amounts & _amounts(excerpt)
    return found.words >= A_PART and not other_numbers and not found.negation_differs


def invented(text: str, met: str, *, asked: str = "") -> str | None:
    """What `text`, which makes no claim, names that is not in `met`: in words; None for nothing.

    Numbers and names must have been met; a locator must have been the caller's, since what is met on pages may be
    there to lead astray.
    """
    if links := [link for link in _LOCATOR.findall(text) if link not in asked]:
        return f"a model may not write addresses: {', '.join(links)}"
    if numbers := _amounts(text) - _amounts(f"{met}\n{asked}"):
        return f"nothing that was found contains {', '.join(sorted(numbers))}"
    known = f"{met}\n{asked}"
    if names := _names_missing(text, known, set(terms(known)), "en"):
        return f"nothing that was found names {', '.join(names)}"
    return None


def repeats(text: str, context: str | None) -> bool:
    """Whether the caller's context says it already."""
    words = set(terms(text))
    return bool(words) and len(words & set(terms(context or ""))) / len(words) >= KNOWN_ALREADY


def locators_in(text: str) -> set[str]:
    """URLs, hosts and mail addresses that a text names."""
    return set(_LOCATOR.findall(text))


def _names_missing(text: str, known: str, known_terms: set[str], language: str) -> tuple[str, ...]:
    names = dict.fromkeys(_CAPITALISED.findall(text))
    return tuple(name for name in names if name not in known and not set(terms(name, language)) <= known_terms)


def _denies(text: str) -> bool:
    return bool(_NEGATION.search(text))


def _denials(content: set[str], excerpts: list[str], language: str) -> set[bool]:
    """Whether the excerpts that carry most of a claim deny something."""
    shares = {excerpt: len(content & set(terms(excerpt, language))) for excerpt in excerpts}
    most = max(shares.values(), default=0)
    return {_denies(excerpt) for excerpt, share in shares.items() if share == most}


def _amounts(text: str) -> set[str]:
    """Numbers, and the words that say how large they are."""
    return numbers_in(text) | {word.casefold() for word in _MAGNITUDE.findall(text)}


def numbers_in(text: str) -> set[str]:
    """The numbers of a text, comparable: thousands separators dropped, small number words as digits."""
    found = {number.replace(",", "").rstrip(".:") for number in _NUMBER.findall(text)}
    words = set(re.findall(r"[a-z]+", text.casefold()))
    return found | {str(value) for value, word in enumerate(SMALL_NUMBERS) if word in words and word != "one"}
