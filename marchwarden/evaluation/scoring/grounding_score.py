"""How far excerpts carry a claim, as a figure: what evidence/grounding.py decides, graded, and two plain baselines.

The gate of the loop says yes or no, and why; a score can be ranked by, so that it can be measured as a checker
(datasets/wice.py, datasets/expertqa.py) and shown beside an answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from marchwarden.evidence.grounding import Support, support
from marchwarden.text.ranking import terms_of
from marchwarden.text.sentences import sentences

# Sentences that may carry a claim together: words that are scattered over a page say less.
NEAR = 5
# What is left of the score for each number, name or locator that no excerpt holds, and for a negation that differs.
# From 0.5 to 0.9 the public sets hardly tell the difference.
KEPT = 0.7


def grounding_score(
    claim: str, excerpts: Sequence[str], *, around: str = "", language: str = "en", found: Support | None = None
) -> float:
    """0–1: how far `excerpts`, in the order of their page, carry `claim`.

    (near + pairs) / 2 × 0.7 ^ missing, where `near` is the share of the claim's content words that the best five
    sentences in a row hold, `pairs` the share of its neighbouring content words that stand side by side in a
    sentence too, and `missing` counts what `support` misses. 0: no word of it is there. 1: it is there word by word.
    Weighting words by how rare they are on the page (IDF) was tried, and made it worse. `around` is as for `support`,
    `found` what that says of them, where it is known already.
    """
    found = found or support(claim, excerpts, around=around, language=language)
    parts = [excerpt[start:end] for excerpt in excerpts for start, end in sentences(excerpt, language)]
    said, *read = terms_of([claim, *parts], language)
    return (_near(said, read) + _pairs(said, read)) / 2 * KEPT ** _missing(found)


def token_overlap(claim: str, excerpts: Sequence[str]) -> float:
    """0–1: the share of the claim's words, stop words too, each once, that the excerpts hold: the usual baseline."""
    said = _tokens(claim)
    return len(said & _tokens("\n".join(excerpts))) / len(said) if said else 0.0


def _near(said: Sequence[str], read: Sequence[Sequence[str]]) -> float:
    content = set(said)
    windows = [read[start : start + NEAR] for start in range(max(1, len(read) - NEAR + 1))]
    held = (len(content & {term for sentence in window for term in sentence}) for window in windows)
    return max(held) / len(content) if content else 0.0


def _pairs(said: Sequence[str], read: Sequence[Sequence[str]]) -> float:
    wanted = set(pairwise(said))
    if not wanted:  # a claim of one word
        return _near(said, read)
    return len(wanted & {pair for sentence in read for pair in pairwise(sentence)}) / len(wanted)


def _missing(found: Support) -> int:
    lacking = (*found.missing_numbers, *found.missing_names, *found.missing_locators)
    return len(lacking) + found.negation_differs


def _tokens(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
