"""Which excerpts can't both be right, and whether one stands. Code: the same thing, with other numbers or denied.

A conflict is resolved where one side's page was retracted or superseded, or where the question or the older side is
about a value that changes with time, and one side is clearly newer; else it stays open, for a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations

from marchwarden.ledger import Conflict, Excerpt, Ledger
from marchwarden.ranking import terms
from marchwarden.stages.grounding import SMALL_NUMBERS

SAME_THING = 0.45
"""The least share of the shorter excerpt's content words that two excerpts on one thing have in common."""
CLOSE_TO_BEST = 0.65
"""What an excerpt must carry of its aspect, as a share of what the best one carries, to count for it."""
ANSWERS = 0.85
"""An excerpt that carries this share of an aspect that asks when, and holds a year, answers it."""
DIFFERENT = 0.02
"""Two values that differ by no more than this share are the same, rounded."""
NEWER = timedelta(days=270)
"""How much later one side must be dated for the newer one to stand."""

_ASKS_WHEN = re.compile(r"\b(when|(what|which) (year|date|day))\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(1[0-9]{3}|20[0-9]{2})\b")
_QUANTITY = re.compile(
    r"(?P<low>\d+(?::\d\d)+|\d+(?:,\d{3})*(?:\.\d+)?)(?:\s?(?:to|[-–—])\s?(?P<high>\d+(?:,\d{3})*(?:\.\d+)?))?"
    r"[\s\u00a0\u202f]?(?P<unit>%|°\s?[CF]|[^\W\d_]+)?"
)
_LIMIT_WORD = (
    r"\b(more than|at most|at least|up to|maximum|minimum|upper|highest|lowest|fewer|less than|beyond|over|under|"
    r"exceed\w*)\b"
)
_LIMIT = re.compile(_LIMIT_WORD, re.IGNORECASE)
_LIMIT_BEFORE = re.compile(_LIMIT_WORD + r"[^.;,]*$", re.IGNORECASE)
_FLOOR = re.compile(r"more than|at least|minimum|lowest|beyond|over|exceed\w*", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(not|no|never|cannot|rarely|seldom|fails? to|too short|myth|false)\b|n['’]t\b", re.IGNORECASE
)
CHANGES = re.compile(
    r"\b(current|currently|now|today|record|latest|fastest|population|price|holds?|as of|so far|still|recent|"
    r"estimated|how many people|apply|applies|deadline)\b",
    re.IGNORECASE,
)
"""Words of what changes with time."""


@dataclass(frozen=True)
class Quantity:
    low: float
    high: float
    unit: str

    def disagrees(self, other: Quantity) -> bool:
        """The same unit, and ranges that don't meet by more than rounding; a time to the second is not rounded."""
        if self.unit != other.unit:
            return False
        gap = max(self.low, other.low) - min(self.high, other.high)
        rounding = 0.0 if self.unit.startswith("time: ") else DIFFERENT * max(abs(self.high), abs(other.high))
        return gap > rounding


def find_conflicts(ledger: Ledger) -> list[Conflict]:
    """Pairs of excerpts on one aspect, from different organisations, that state other values or deny each other."""
    found = []
    for aspect in ledger.aspects:
        asks_when = bool(_ASKS_WHEN.search(aspect.text))
        for one, other in combinations(_telling(ledger.excerpts_for(aspect.number)), 2):
            if len(ledger.organisations([one, other])) < 2 and not _standing_differs(ledger, one, other):
                continue
            if about := disagreement(one, other) or (asks_when and _different_years(one, other)):
                found.append(_settled(ledger, one, other, about))
    return _one_for_each_pair_of_pages(ledger, found)


def _telling(excerpts: list[Excerpt]) -> list[Excerpt]:
    """Those that carry about as much of their aspect as the best: others are on something else, and may differ."""
    least = CLOSE_TO_BEST * max((excerpt.relevance for excerpt in excerpts), default=0.0)
    return [excerpt for excerpt in excerpts if excerpt.relevance >= least]


def _different_years(one: Excerpt, other: Excerpt) -> str | None:
    """For an aspect that asks when: two excerpts that carry nearly all of it and share no year."""
    if min(one.relevance, other.relevance) < ANSWERS:
        return None
    ours, theirs = _YEAR.findall(one.text), _YEAR.findall(other.text)
    if not ours or not theirs or set(ours) & set(theirs):
        return None
    return f"{ours[0]} against {theirs[0]}"


def disagreement(one: Excerpt, other: Excerpt) -> str | None:
    """What two excerpts disagree about, in words; None where they don't."""
    ours, theirs = set(terms(one.text)), set(terms(other.text))
    shared = {term for term in ours & theirs if not term[0].isdigit()}
    fewer = min(len([term for term in words if not term[0].isdigit()]) for words in (ours, theirs))
    if fewer < 3 or len(shared) / fewer < SAME_THING:
        return None
    if pair := _different_values(one.text, other.text):
        return f"{pair[0]} against {pair[1]}"
    if one.stance != other.stance or (len(shared) / fewer >= 0.6 and _denies(one.text) != _denies(other.text)):
        return "one affirms what the other denies"
    return None


def _denies(text: str) -> bool:
    """Whether a text says that something is not so; "not more than" is a limit, no denial."""
    return bool(_NEGATION.search(text)) and not _LIMIT.search(text)


def quantities(text: str) -> list[tuple[Quantity, str]]:
    """The values with a unit that a text states, and how it writes them. Years are no values."""
    found = []
    text = _NUMBER_WORD.sub(lambda word: str(SMALL_NUMBERS.index(word[0].casefold())), text)
    for match in _QUANTITY.finditer(text):
        unit = (match["unit"] or "").casefold().replace(" ", "")
        low = _value(match["low"])
        written = match[0].strip()
        if ":" in match["low"]:
            said_to_be = " ".join(text[: match.start()].casefold().split()[-2:])
            unit, written = f"time: {said_to_be}", match["low"]  # "record is 2:00:35": each race has its own times
        elif _NO_UNIT.fullmatch(unit) or (1000 <= low <= 2100 and "," not in match["low"] and not match["high"]):
            continue
        high = _value(match["high"]) if match["high"] else low
        unit = unit.rstrip("s")
        unit += _limit(text[: match.start()])
        found.append((Quantity(min(low, high), max(low, high), unit), written))
    return found


def _limit(before: str) -> str:
    """Which limit the words before a value make of it, if any: what is allowed is no other value of what is usual,
    nor what is the least of what is the most."""
    word = _LIMIT_BEFORE.search(before)
    if word is None:
        return ""
    denied = _NEGATION.search(before[: word.start()]) is not None
    return " (at least)" if bool(_FLOOR.fullmatch(word[1])) is not denied else " (at most)"


_DIMENSION = re.compile(r"\b(long|wide|high|tall|deep|thick|old|heavy|fast)\b")
_NUMBER_WORD = re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE)
_NO_UNIT = re.compile(
    r"(and|or|to|in|of|on|at|by|for|the|a|an|is|was|are|were|with|from|as|but|january|february|march|april|may|june|"
    r"july|august|september|october|november|december)?"
)


def _value(written: str) -> float:
    if ":" in written:
        total = 0.0
        for part in written.split(":"):
            total = total * 60 + float(part)
        return total
    return float(written.replace(",", ""))


def _different_values(one: str, other: str) -> tuple[str, str] | None:
    """Values of one unit that differ, where neither text also states the other's value."""
    dimensions = [set(_DIMENSION.findall(text.casefold())) for text in (one, other)]
    if all(dimensions) and not dimensions[0] & dimensions[1]:
        return None
    ours, theirs = quantities(one), quantities(other)
    for quantity, written in ours:
        same_unit = [(each, text) for each, text in theirs if each.unit == quantity.unit]
        own_unit = [each for each, _ in ours if each.unit == quantity.unit]
        if same_unit and all(each.disagrees(own) for each, _ in same_unit for own in own_unit):
            return written, same_unit[0][1]
    return None


def _standing_differs(ledger: Ledger, one: Excerpt, other: Excerpt) -> bool:
    return ledger.source(one.locator).standing != ledger.source(other.locator).standing


def _settled(ledger: Ledger, one: Excerpt, other: Excerpt, about: str) -> Conflict:
    conflict = Conflict(about=about, sides=(one.number, other.number), resolved=None)
    first, second = ledger.source(one.locator), ledger.source(other.locator)
    for stale, fresh, stands in ((first, second, other), (second, first, one)):
        if stale.standing and not fresh.standing:
            return conflict.model_copy(
                update={"resolved": f"{stale.locator} says that it was {stale.standing}", "preferred": stands.number}
            )
        lost = one if stands is other else other
        if (
            (CHANGES.search(ledger.question) or CHANGES.search(lost.text))
            and stale.dated
            and fresh.dated
            and fresh.dated - stale.dated >= NEWER
        ):
            reason = f"{fresh.locator} is newer ({fresh.dated}) than {stale.locator} ({stale.dated})"
            return conflict.model_copy(update={"resolved": reason, "preferred": stands.number})
    return conflict


def _one_for_each_pair_of_pages(ledger: Ledger, conflicts: list[Conflict]) -> list[Conflict]:
    kept: dict[frozenset[str], Conflict] = {}
    for conflict in conflicts:
        pages = frozenset(ledger.excerpts[number - 1].locator for number in conflict.sides)
        kept.setdefault(pages, conflict)
    return list(kept.values())
