"""Two things that one clause asks for: "the symptoms and treatment of sleep apnoea" are told in two places.

A passage that tells one of them answers only half of such a clause, and looks as if it answered none of it. English.
"""

from __future__ import annotations

import re

from marchwarden.evidence.framing import ASKING, INVERTED
from marchwarden.text.stop_words import is_stop_word

# A noun of one or two words. More can't be told from what stands beside it.
_THING = r"[a-z-]+(?: [a-z-]+)?"
_PREFACE = r"(?:.{0,80}[,:] )?"
_ASKED_FOR = (
    # "How many games and goals did he …", "What oven heat and baking time does it …"
    rf"^(?P<before>{_PREFACE}(?:how (?:many|much)|what|which)) (?P<one>{_THING}) and (?P<other>{_THING})"
    rf"(?P<rest> {INVERTED} .+)$",
    # "What are the symptoms and treatment of …"
    rf"^(?P<before>{_PREFACE}(?:what|which|who) (?:is|are|was|were) the) (?P<one>{_THING}) and (?:the )?"
    rf"(?P<other>{_THING})(?P<rest> (?:of|for|in) .+)$",
)
# "redonda ground dragon size and colour": keywords, with what they are about before the two.
_KEYWORDS = re.compile(
    r"^(?P<before>\S+ (?:\S+ )*\S+) (?P<one>[a-z-]+) and (?P<other>[a-z-]+)(?P<rest>)$", re.IGNORECASE
)
_ASKS = re.compile(rf"\b(?:{ASKING}|{INVERTED})", re.IGNORECASE)
_PATTERNS = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _ASKED_FOR)


def asked_apart(clause: str) -> list[str]:
    """Return a clause as two, one for each thing that it asks for; the clause itself where it asks for one."""
    for pattern in _PATTERNS:
        if found := pattern.match(clause):
            # "weekly and monthly jobs" are jobs, both of them.
            shares_noun = len(found["one"].split()) < len(found["other"].split())
            return [clause] if shares_noun or _is_one_name(found) else _apart(found)
    if not _ASKS.search(clause) and (found := _KEYWORDS.match(clause)):
        follows_name = is_stop_word(found["before"].split()[-1], "en")
        return [clause] if follows_name or _is_one_name(found) else _apart(found)
    return [clause]


def _apart(found: re.Match[str]) -> list[str]:
    return [f"{found['before']} {found[thing]}{found['rest']}" for thing in ("one", "other")]


def _is_one_name(found: re.Match[str]) -> bool:
    """Return whether two things are parts of one name: "johnson and johnson", or of one with a small word in it."""
    things = found["one"].lower(), found["other"].lower()
    return things[0] == things[1] or any(is_stop_word(word, "en") for thing in things for word in thing.split())
