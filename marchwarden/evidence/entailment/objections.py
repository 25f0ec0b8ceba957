"""Objections to a claim that its excerpts do not entail.

grounding.py compares words, numbers and names. A claim can share all of them with its quote and still say something
else: another unit, exchanged names, a dropped condition. Each rule names one such way. A few of them are right
nearly always and decide alone. Of the rest a fitted model (judge/) makes one probability, together with how the
words of the claim and its quotes differ (features.py). It was fitted on English, and on claims that say one thing.
Other languages, and disagreements of several excerpts, are judged by the rules. These look at one excerpt at a
time, since two together may hold the words of a claim that neither states. What is let through and refused, kind by
kind, is measured by `python evals/claims/measure.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isclose

from marchwarden.evidence.entailment.features import measure
from marchwarden.evidence.entailment.pair import Pair, split_sentences
from marchwarden.evidence.entailment.rules import RULES, VETOES, Rule
from marchwarden.evidence.grounding import locators_in
from marchwarden.evidence.quantities import quantities
from marchwarden.judge.boosted_trees import load_entailment
from marchwarden.text.ranking import guess_language, terms

# Content words that make a part of a claim a clause of its own. A guess.
CLAUSE_TERMS = 3

_CLAUSE_END = re.compile(r";\s+|,\s+(?:and|but|while|whereas|although)\s+", re.IGNORECASE)
# A claim that tells of a disagreement is carried by its excerpts together.
_ALTERNATIVES = re.compile(r"\b(?:or|disagree|differ|others?)\b", re.IGNORECASE)
URL = re.compile(r"\(?https?://[^\s)]+\)?")


def find_objection(claim: str, excerpts: Iterable[str], *, around: str = "") -> str | None:
    """Return why the excerpts do not entail the claim, in words; None where nothing speaks against it.

    `around` is text that names may stand in besides, such as the title of the page. A claim whose sentences are whole
    sentences of an excerpt is entailed.
    """
    excerpts = [excerpt for excerpt in excerpts if excerpt.strip()]
    if not excerpts:
        return "nothing is cited"

    def plain(text: str) -> str:
        return " ".join(URL.sub("", text).split()).strip(' .!?;:“”"').casefold()

    # A part of a sentence is not enough: what it leaves out may be its condition.
    lines = [line for excerpt in excerpts for line in (excerpt, *excerpt.splitlines())]
    copied = {plain(whole) for line in lines for whole in (line, *split_sentences(line))}
    if plain(claim) in copied or all(plain(each) in copied for each in split_sentences(claim)):
        return None
    if invented := sorted(each for each in locators_in(claim) if not any(each in excerpt for excerpt in excerpts)):
        return f"no cited excerpt names {', '.join(invented)}"
    is_english = guess_language(claim) == "en" == guess_language(" ".join(excerpts))
    if not is_english or (len(excerpts) > 1 and _ALTERNATIVES.search(claim)):
        return _object_by(RULES, claim, excerpts, around)
    if vetoed := _object_by(VETOES, claim, excerpts, around):
        return vetoed
    model = load_entailment()
    # The claim with its amounts as the excerpts write them: "1,500 m" as "1.5 km", where they say so.
    reworded, there = claim, [value for excerpt in excerpts for value in quantities(excerpt)]
    for value in quantities(claim):
        same = [each for each in there if each.dimension == value.dimension and isclose(each.low, value.low)]
        if same and value.written in reworded and not any(value.written == each.written for each in same):
            reworded = reworded.replace(value.written, same[0].written)
    probability = model.probability(measure(reworded, excerpts, around, model.weigh))
    if probability > model.threshold:
        return None
    reason = _object_by(RULES, claim, excerpts, around) or "the excerpts say something else"
    return f"{reason} (supported with probability {probability:.2f})"


def _object_by(rules: Sequence[Rule], claim: str, excerpts: Sequence[str], around: str) -> str | None:
    """Return the first rule's objection where one holds of every excerpt, for any clause of the claim."""
    clauses: list[str] = []
    for part in _CLAUSE_END.split(claim):
        # A part that is too short for a statement stays with its neighbour.
        if clauses and (len(terms(part)) < CLAUSE_TERMS or len(terms(clauses[-1])) < CLAUSE_TERMS):
            clauses[-1] = f"{clauses[-1]}, {part}"
        else:
            clauses.append(part)
    for clause in clauses:
        together = ["\n".join(excerpts)] if _ALTERNATIVES.search(clause) and len(excerpts) > 1 else []
        pairs = [Pair(clause, excerpt, around) for excerpt in (*excerpts, *together)]
        objections = [next((problem for rule in rules if (problem := rule(pair))), None) for pair in pairs]
        if None not in objections:
            return objections[0]
    return None
