"""Corrections of the question before, as the follow-up that asks the same: "No, I meant the film." asks as "And the
film?" does.

English, German, French and Spanish.
"""

from __future__ import annotations

import re

from marchwarden.evidence.framing import ASKING, FOREIGN_ASKING, INVERTED, PREPOSITION

_NO = {
    "And": r"no|nope|not (?:that|this)(?: one)?|sorry|oops|oh|wait|actually|hm+",
    "Und": r"nein|nö|nicht (?:der|die|das)|entschuldigung|ach|halt",
    "Et": r"non|pardon|désolée?|pas (?:celui|celle)-là",
    "Y": r"perdón|no,? perdón|ese no|esa no",
}
_MEANT = {
    "And": r"(?:i|we) (?:actually |really )?(?:mean|meant|(?:was |am )?ask(?:ed|ing) about)|rather|make (?:it|that)",
    "Und": r"ich mein(?:t)?e|gemeint (?:ist|war)|sondern",
    "Et": r"je (?:voulais dire|parlais (?:de|du)|pensais à)|plutôt",
    "Y": r"(?:quise decir|me refiero a|me refería a|quería decir)",
}
_CORRECTIONS = [
    (
        lead,
        re.compile(
            rf"^(?P<no>(?:(?:{_NO[lead]})\b[\s,.!:;–—-]*)*)"
            rf"(?P<meant>(?:{_MEANT[lead]})\b[\s,:]*(?:that )?)?(?P<rest>.+)$",
            re.IGNORECASE | re.DOTALL,
        ),
    )
    for lead in _NO
]
# ", not the film": what was not meant is not searched for.
_NOT_MEANT = re.compile(
    r"[,;]? (?:and |und |et |y )?(?:not|instead of|rather than|nicht|statt|pas|no) [^,;?]+$", re.IGNORECASE
)
_ASKS = re.compile(rf"(?:{PREPOSITION})?(?:{ASKING}|{INVERTED}|{FOREIGN_ASKING})", re.IGNORECASE)
# Words of what is meant, at most: what is longer is a remark. A guess.
_MOST_WORDS = 6


def as_follow_up(question: str) -> str:
    """Return a correction as a follow-up, without what was not meant; any other question as it is."""
    for lead, form in _CORRECTIONS:
        found = form.match(question.strip())
        if not found or not (found["no"] or found["meant"]):
            continue
        rest = found["rest"].strip()
        if _ASKS.match(rest):
            return f"{rest[:1].upper()}{rest[1:]}"
        plain = _NOT_MEANT.sub("", rest.rstrip(" .!?")).strip(" ,;")
        if 0 < len(plain.split()) <= _MOST_WORDS:
            return f"{lead} {plain}?"
    return question
