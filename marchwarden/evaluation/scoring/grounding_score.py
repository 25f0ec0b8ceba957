"""A score of how far excerpts carry a claim: the decision of evidence/grounding.py, graded, and a plain baseline.

The gate of the loop says yes or no. A score can be ranked by, so that it can be measured on public claim-support sets
(datasets/wice.py, datasets/expertqa.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from marchwarden.evidence.grounding import Support, support
from marchwarden.text.ranking import terms_of
from marchwarden.text.segmentation.sentences import sentences

# Sentences in a row that may carry a claim together: words that are scattered over a page say less. Chosen with WiCE
# and ExpertQA in sight.
NEAR = 5
# Factor on the score for each number, name or locator that no excerpt holds, and for a negation that differs. Chosen
# with the same sets in sight; from 0.5 to 0.9 they hardly show a difference.
KEPT = 0.7


def grounding_score(claim: str, excerpts: Sequence[str], *, found: Support | None = None) -> float:
    """Return how far `excerpts`, in the order of their page, carry `claim`, 0–1.

    (near + pairs) / 2 × 0.7 ^ missing, where `near` is the share of the claim's content words that the best five
    sentences in a row hold, `pairs` the share of its neighbouring content words that stand side by side in a
    sentence too, and `missing` counts what `support` misses. 0: no word of it is there. 1: it is there word by word.
    Weighting words by how rare they are on the page (IDF) was tried, and made it worse. `found` is what `support`
    says of them, where it is known already. Claim and excerpts are English.
    """
    found = found or support(claim, excerpts)
    parts = [excerpt[start:end] for excerpt in excerpts for start, end in sentences(excerpt, "en")]
    said, *read = terms_of([claim, *parts], "en")
    content = set(said)
    windows = [read[start : start + NEAR] for start in range(max(1, len(read) - NEAR + 1))]
    held = [len(content & {term for sentence in window for term in sentence}) for window in windows]
    near = pairs = max(held) / len(content) if content else 0.0
    if wanted := set(pairwise(said)):  # a claim of one word has no pair
        pairs = len(wanted & {pair for sentence in read for pair in pairwise(sentence)}) / len(wanted)
    lacking = (*found.missing_numbers, *found.missing_names, *found.missing_locators)
    return (near + pairs) / 2 * KEPT ** (len(lacking) + found.negation_differs)


def token_overlap(claim: str, excerpts: Sequence[str]) -> float:
    """Return the share of the claim's words that the excerpts hold, 0–1: the usual baseline.

    Each word counts once, stop words too.
    """
    said, held = (set(re.findall(r"\w+", text.casefold())) for text in (claim, "\n".join(excerpts)))
    return len(said & held) / len(said) if said else 0.0
