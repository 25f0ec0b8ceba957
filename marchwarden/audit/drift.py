"""Drift of a quoted page: is a quote still there, has it moved, which sentence took its place. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from marchwarden.contract import EXCERPT_CUT
from marchwarden.text.segmentation.sentences import sentences

# Characters around a quote in which neighbouring sentences are looked for. A guess: a screen of text each way.
_AROUND_CHARS = 4_000
# Characters of a neighbouring sentence, at least: shorter ones ("Read more.") stand in many places. A guess.
_MIN_NEIGHBOUR_CHARS = 20
# Places of a quote on one page that are looked at. A guess.
_MOST_PLACES = 100
# Passages of the new text whose sentences are compared with the old one. A guess.
_MOST_PASSAGES = 8
# Characters of a passage that are compared. A guess: it bounds the time on pages that are one paragraph.
_MOST_PASSAGE_CHARS = 20_000
# Share of words, in order, that a sentence has in common with the one that it replaced (difflib's ratio). A guess.
_LEAST_LIKENESS = 0.5

_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_SPELLINGS = str.maketrans(
    {**dict.fromkeys("“”„«»″", '"'), **dict.fromkeys("‘’‚‹›′`´", "'"), **dict.fromkeys("‐‑‒–—―−", "-")}
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Drift:
    """The state of one quote on the page as it is now."""

    state: Literal["same", "elsewhere", "changed"]
    old_sentence: str | None = None
    """First sentence of the quote that is gone; None where none is."""
    new_sentence: str | None = None
    """Sentence that took its place; None where none is like it."""


def flat(text: str) -> str:
    """Return a text in the spelling in which quotes are compared: typography and white space do not count."""
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_SPELLINGS)).split())


def find_drift(quote: str, then: str | None, now: str, language: str | None = None) -> Drift:
    """Compare a page's text `then`, in which the quote stood, with its text `now`.

    `then` is None where that text is lost: then a quote that is there counts as unmoved.
    """
    quote = quote.removesuffix(EXCERPT_CUT)
    quoted, old, new = flat(quote), flat(then or ""), flat(now)
    if old and old == new:
        return Drift("same")
    if quoted in new:
        before, after = _whole_sentences(quote, then or "", language), _whole_sentences(quote, now, language)
        # “Peas grow here” is no longer said by “Peas grow here, but only in pots”.
        if before and after and not set(before) & set(after):
            return Drift("changed", before[0], after[0])
        return Drift("same" if not old or _is_in_place(quoted, old, new, language) else "elsewhere")
    parts = (part for line in quote.split("\n") for part in _sentences(line, language))
    # Counted, since rows of tables and signatures of posts stand on a page more than once.
    gone = [part for part in parts if new.count(flat(part)) < max(1, old.count(flat(part)))]
    if not gone:  # every sentence is there, but no longer one after the other
        return Drift("elsewhere")
    # The new sentence that is most like the one that is gone.
    words = _WORD.findall(gone[0].casefold())
    wanted = set(words)
    passages = sorted(
        (part[:_MOST_PASSAGE_CHARS] for part in now.split("\n") if part.strip()),
        key=lambda part: len(wanted & set(_WORD.findall(part.casefold()))),
        reverse=True,
    )
    successor, likeness = None, _LEAST_LIKENESS
    for passage in passages[:_MOST_PASSAGES]:
        for part in _sentences(passage, language):
            ratio = SequenceMatcher(None, words, _WORD.findall(part.casefold()), autojunk=False).ratio()
            # What stood there already replaced nothing.
            if ratio >= likeness and (not old or flat(part) not in old):
                successor, likeness = " ".join(part.split()), ratio
    return Drift("changed", " ".join(gone[0].split()), successor)


def _whole_sentences(quote: str, text: str, language: str | None) -> list[str]:
    """Return, for each place of the quote in a text, the sentences of its lines that it begins, fills or ends in."""
    found: list[str] = []
    at = text.find(quote)
    while at >= 0 and len(found) < _MOST_PLACES:
        end = at + len(quote)
        start, stop = text.rfind("\n", 0, at) + 1, text.find("\n", end)
        line = text[max(start, at - _AROUND_CHARS) : min(stop if stop >= 0 else len(text), end + _AROUND_CHARS)]
        inside = at - max(start, at - _AROUND_CHARS)
        spans = [(a, b) for a, b in sentences(line, language) if a < inside + len(quote) and b > inside]
        found.append(flat(line[spans[0][0] : spans[-1][1]]))
        at = text.find(quote, end)
    return found


def _is_in_place(quote: str, old: str, new: str, language: str | None) -> bool:
    """Return whether the quote stands between the same neighbours: the nearest sentences that are still there."""
    at = old.find(quote)
    if at < 0:
        return True
    ahead = old[max(0, at - _AROUND_CHARS) : at]
    behind = old[at + len(quote) : at + len(quote) + _AROUND_CHARS]
    before = next(_anchors(reversed(_sentences(ahead, language)), new), None)
    after = next(_anchors(iter(_sentences(behind, language)), new), None)
    if before is None and after is None:
        return not (ahead.strip() or behind.strip())
    place, seen = new.find(quote), 0
    while place >= 0 and seen < _MOST_PLACES:
        if (before is None or before < place) and (after is None or place < after):
            return True
        place, seen = new.find(quote, place + 1), seen + 1
    return False


def _sentences(text: str, language: str | None) -> list[str]:
    return [text[start:end].strip() for start, end in sentences(text, language)]


def _anchors(parts: Iterator[str], new: str) -> Iterator[int]:
    """Yield the places of those sentences that stand in the new text exactly once."""
    for part in parts:
        if len(part) >= _MIN_NEIGHBOUR_CHARS and new.count(part) == 1:
            yield new.find(part)
