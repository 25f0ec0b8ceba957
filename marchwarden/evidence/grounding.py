"""Grounding check: do the excerpts that a claim cites support it? Numbers, names and content words are compared.

Verbatim excerpts stop invented quotes; this stops quotes that are misused. Other texts that a model words (an aspect,
a question, a reason) make no claim, but may name nothing that was not found.

Own code: an entailment model would take another model and its time. `marchwarden eval --dataset wice` measures it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from marchwarden.text.numbers import numbers_in
from marchwarden.text.ranking import terms
from marchwarden.text.turns import without_turns

# Least share of a claim's content words in its excerpts together, and in each of them. Chosen in sight of the items
# of WiCE and ExpertQA: `marchwarden eval --dataset wice --path DIR`.
CARRIED, A_PART = 0.6, 0.25
# Least share of a text's terms in the caller's context from which on the text says nothing new. A guess.
KNOWN_ALREADY = 0.85

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


@dataclass(frozen=True)
class Support:
    """Result of comparing a claim with its excerpts."""

    words: float
    """Share of the claim's content words that its excerpts hold, 0–1."""
    missing_numbers: tuple[str, ...]
    missing_names: tuple[str, ...]
    missing_locators: tuple[str, ...]
    negation_differs: bool

    @property
    def carried(self) -> bool:
        return self.problem is None

    @property
    def problem(self) -> str | None:
        """Reason why the excerpts do not support the claim; None where they do."""
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
    # Names that stand only nearby are neither required nor counted.
    nearby = set(terms(around, language)) - found
    lent = nearby & {term for name in _ANY_CAPITALISED.findall(claim) for term in terms(name, language)}
    content = {term for term in terms(claim, language) if not term.isdigit()} - lent
    words = len(content & found) / len(content) if content else float(not lent)
    # Only the excerpts that hold most of the claim are asked whether they deny it.
    shares = {excerpt: len(content & set(terms(excerpt, language))) for excerpt in excerpts}
    most = max(shares.values(), default=0)
    denials = {bool(_NEGATION.search(excerpt)) for excerpt, share in shares.items() if share == most}
    return Support(
        words=words,
        missing_numbers=tuple(sorted(_amounts(claim) - _amounts(text))),
        missing_names=_names_missing(claim, text, found | nearby, language),
        missing_locators=tuple(each for each in _LOCATOR.findall(claim) if each not in text),
        negation_differs=words >= CARRIED and bool(_NEGATION.search(claim)) not in denials,
    )


def speaks_for(excerpt: str, claim: str, *, around: str = "") -> bool:
    """Return whether an excerpt, one of several that a claim cites, supports a part of it.

    It holds some of the claim's words, does not give other numbers in the same words, and does not deny the claim.
    """
    found = support(claim, [excerpt], around=around)
    amounts = _amounts(claim)
    other_numbers = found.words >= CARRIED and amounts and not amounts & _amounts(excerpt)
    return found.words >= A_PART and not other_numbers and not found.negation_differs


def invented(text: str, met: str, *, asked: str = "") -> str | None:
    """Return the reason why a text that makes no claim may not be used; None where it may.

    Its numbers and names must stand in `met`, the texts that were found, or in `asked`, the caller's. Its addresses
    must be the caller's: an address on a page may be there to lead astray.
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
    """Return whether the caller's context already says what a text says. Earlier answers may be cited again."""
    words = set(terms(text))
    return bool(words) and len(words & set(terms(without_turns(context)))) / len(words) >= KNOWN_ALREADY


def locators_in(text: str) -> set[str]:
    """Return the URLs, hosts and mail addresses that a text names."""
    return set(_LOCATOR.findall(text))


def _names_missing(text: str, known: str, known_terms: set[str], language: str) -> tuple[str, ...]:
    names = dict.fromkeys(_CAPITALISED.findall(text))
    return tuple(name for name in names if name not in known and not set(terms(name, language)) <= known_terms)


def _amounts(text: str) -> set[str]:
    """Return the numbers of a text, and its words for orders of magnitude."""
    return numbers_in(text) | {word.casefold() for word in _MAGNITUDE.findall(text)}
