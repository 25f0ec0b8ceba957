"""Rules that each name one way in which a claim says something else than its excerpt, and those that decide alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from marchwarden.evidence.entailment.number_rules import (
    find_numbers_apart,
    find_other_measure,
    find_other_name,
    find_other_noun,
    find_other_unit,
    find_other_words,
    missing_amounts,
)
from marchwarden.evidence.entailment.pair import Pair
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
from marchwarden.text.ranking import terms

# Share of a clause's content words that one excerpt must hold by itself. Less than the 0.6 that grounding.py asks of
# all excerpts together, since the rules look at the rest. Chosen on evals/claims/pairs.jsonl, with measure.py there.
CLAUSE_SHARE = 0.45

Rule = Callable[[Pair], str | None]


def find_missing_words(pair: Pair) -> str | None:
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


def find_missing_figure(pair: Pair) -> str | None:
    """Return a number in figures that neither the excerpt nor the text around it holds."""
    written = re.sub(r"(?<=\d),(?=\d{3})", "", pair.claim)
    figures = set(re.findall(r"\d+(?:\.\d+)?", written))
    missing = sorted(missing_amounts(Pair(pair.claim, f"{pair.excerpt}\n{pair.around}", "")) & figures)
    return f"no single excerpt holds {', '.join(missing)}" if missing else None


RULES: Sequence[Rule] = (
    find_missing_words,
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

# Rules that decide alone. On the set `fit` they refused one true claim and 30 false ones; no other rule was as sure.
VETOES: Sequence[Rule] = (find_missing_figure, find_other_unit, find_other_measure, find_exchanged_acts)
