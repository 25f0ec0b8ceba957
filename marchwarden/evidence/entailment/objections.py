"""Objections to a claim that its excerpts do not entail, by rule.

grounding.py compares words, numbers and names. A claim can share all of them with its quote and still say something
else: another unit, exchanged names, a dropped condition. Each rule names one such way. Rules look at one excerpt at a
time, since two excerpts together may hold the words of a claim that neither states. They read English; of other
languages words, numbers and names are compared. What they let through and refuse, kind by kind, is measured by
`python evals/claims/measure.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from marchwarden.evidence.entailment.number_rules import (
    find_numbers_apart,
    find_other_measure,
    find_other_name,
    find_other_noun,
    find_other_unit,
    find_other_words,
    missing_amounts,
)
from marchwarden.evidence.entailment.pair import Pair, split_sentences
from marchwarden.evidence.entailment.role_rules import (
    find_exchanged_acts,
    find_exchanged_roles,
    find_exchanged_sides,
    find_other_cause,
)
from marchwarden.evidence.entailment.wording_rules import (
    find_added_certainty,
    find_added_detail,
    find_antonym,
    find_dropped_condition,
    find_negation,
    find_other_time,
    find_wider_scope,
)
from marchwarden.evidence.grounding import locators_in
from marchwarden.text.ranking import terms

# Share of a clause's content words that one excerpt must hold by itself. Less than the 0.6 that grounding.py asks of
# all excerpts together, since the rules look at the rest. Chosen on evals/claims/pairs.jsonl, with measure.py there.
CLAUSE_SHARE = 0.45
# Content words that make a part of a claim a clause of its own. A guess.
CLAUSE_TERMS = 3

_CLAUSE_END = re.compile(r";\s+|,\s+(?:and|but|while|whereas|although)\s+", re.IGNORECASE)
# A claim that tells of a disagreement is carried by its excerpts together.
_ALTERNATIVES = re.compile(r"\b(?:or|disagree|differ|others?)\b", re.IGNORECASE)
_URL = re.compile(r"\(?https?://[^\s)]+\)?")


def find_objection(claim: str, excerpts: Iterable[str], *, around: str = "") -> str | None:
    """Return why no excerpt entails the claim, in words; None where no rule speaks against it.

    `around` is text that names may stand in besides, such as the title of the page. A claim that is a whole sentence
    of an excerpt is entailed. Of any other claim each clause must be carried by one excerpt.
    """
    excerpts = [excerpt for excerpt in excerpts if excerpt.strip()]

    def plain(text: str) -> str:
        return " ".join(_URL.sub("", text).split()).strip(' .!?;:“”"').casefold()

    # A part of a sentence is not enough: what it leaves out may be its condition.
    if any(plain(claim) == plain(whole) for excerpt in excerpts for whole in (excerpt, *split_sentences(excerpt))):
        return None
    if invented := sorted(each for each in locators_in(claim) if not any(each in excerpt for excerpt in excerpts)):
        return f"no cited excerpt names {', '.join(invented)}"
    for clause in _split_clauses(claim):
        together = ["\n".join(excerpts)] if _ALTERNATIVES.search(clause) and len(excerpts) > 1 else []
        pairs = [Pair(clause, excerpt, around) for excerpt in (*excerpts, *together)]
        objections = [next((problem for rule in _RULES if (problem := rule(pair))), None) for pair in pairs]
        if None not in objections:
            return next((each for each in objections if each), "nothing is cited")
    return None


def _split_clauses(claim: str) -> list[str]:
    """Split a claim where a new statement begins. A part that is too short for one stays with its neighbour."""
    clauses: list[str] = []
    for part in _CLAUSE_END.split(claim):
        if clauses and (len(terms(part)) < CLAUSE_TERMS or len(terms(clauses[-1])) < CLAUSE_TERMS):
            clauses[-1] = f"{clauses[-1]}, {part}"
        else:
            clauses.append(part)
    return clauses


def _find_missing_words(pair: Pair) -> str | None:
    """Return a name, a number or the words that the excerpt lacks."""
    known = f"{pair.excerpt} {pair.around}"
    known_terms = set(terms(known))
    for name in pair.names:
        # The first word of a claim has a capital whatever it is.
        is_surely_one = pair.claim.find(name) > 0 or " " in name
        if is_surely_one and name not in known and not set(terms(name)) <= known_terms:
            return f"no single excerpt names {name}"
    if missing := missing_amounts(pair):
        return f"no single excerpt holds {', '.join(sorted(missing))}"
    own = {term for term in pair.claim_terms if not term.isdigit()} - (set(terms(pair.around)) - pair.excerpt_terms)
    share = len(own & pair.excerpt_terms) / len(own) if own else 1.0
    return None if share >= CLAUSE_SHARE else "no single excerpt states it"


_RULES: Sequence[Callable[[Pair], str | None]] = (
    _find_missing_words,
    find_other_unit,
    find_other_measure,
    find_other_words,
    find_other_noun,
    find_other_name,
    find_numbers_apart,
    find_exchanged_roles,
    find_exchanged_acts,
    find_exchanged_sides,
    find_antonym,
    find_negation,
    find_added_certainty,
    find_wider_scope,
    find_dropped_condition,
    find_other_time,
    find_other_cause,
    find_added_detail,
)
