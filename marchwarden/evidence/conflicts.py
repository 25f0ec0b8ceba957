"""Which excerpts can't both be right, and whether one stands. Code: disagreements.py compares what two of them say.

A conflict is resolved where one side was retracted or superseded, or where one side is newer: clearly so, where the
question or the older side is about what changes with time; by many years, where the question is of the present.
Else it stays open, for a person.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import combinations

from marchwarden.evidence.disagreements import different_answers, disagreement, other_word
from marchwarden.evidence.statements import asked, statement
from marchwarden.ledger import Aspect, Conflict, Excerpt, Ledger
from marchwarden.programs.parameters import DEFAULT, Conflicts, Parameters

NEWER = timedelta(days=270)
"""How much later one side must be dated for the newer one to stand, where things change with time."""
OUTDATED = timedelta(days=12 * 365.25)
"""The same, for what is asked of the present."""

CHANGES = re.compile(
    r"\b(current|currently|now|nowadays|today|at present|yet|record|latest|fastest|population of|price|holds?|as of|"
    r"so far|still|(most )?recent(ly)?|estimated|how many people (live|are)|apply|applies|deadline|have to|must|"
    r"required?|last (time|erupt\w*|held|won|met|happen\w*|seen))\b",
    re.IGNORECASE,
)
"""Words of what changes with time."""
_PRESENT = re.compile(r"\b(is|are|do|does|has|have|can|should|must|will)\b", re.IGNORECASE)


def find_conflicts(ledger: Ledger, parameters: Parameters = DEFAULT) -> list[Conflict]:
    """Pairs of excerpts on one aspect, from different organisations, that state other values or deny each other."""
    found = []
    for aspect in ledger.aspects:
        for one, other in combinations(_telling(ledger, aspect, parameters.conflicts), 2):
            if about := _about(ledger, aspect, one, other, parameters.conflicts.answers):
                found.append(_settled(ledger, one, other, about))
    return _one_for_each_pair_of_pages(ledger, _that_stand(found))


def _telling(ledger: Ledger, aspect: Aspect, parameters: Conflicts) -> list[Excerpt]:
    """Those that carry about as much of their aspect as the best: others are on something else, and may differ. Not
    those that tell what others say, since their page may say otherwise."""
    excerpts = ledger.excerpts_for(aspect.number)
    least = parameters.close_to_best * max((excerpt.relevance for excerpt in excerpts), default=0.0)
    return [each for each in excerpts if each.relevance >= least and not statement(each.text).is_reported]


def _about(ledger: Ledger, aspect: Aspect, one: Excerpt, other: Excerpt, answers: float) -> str | None:
    """What two excerpts disagree about, in words; None where they don't."""
    if one.locator == other.locator:
        return None
    here, there = (statement(each.text, ledger.source(each.locator).title or "") for each in (one, other))
    wanted = asked(aspect.text)
    about = None
    if len(ledger.organisations([one, other])) == 2 or _standing_differs(ledger, one, other):
        about = disagreement(here, there, wanted, stances_differ=one.stance != other.stance)
        if about is None and min(one.relevance, other.relevance) >= answers:
            about = different_answers(here, there, wanted)
    return about or other_word(here, there, wanted)  # this also where one page is a copy of the other, but for a word


def _standing_differs(ledger: Ledger, one: Excerpt, other: Excerpt) -> bool:
    return ledger.source(one.locator).standing != ledger.source(other.locator).standing


def _settled(ledger: Ledger, one: Excerpt, other: Excerpt, about: str) -> Conflict:
    conflict = Conflict(about=about, sides=(one.number, other.number), resolved=None)
    for lost, stands in ((one, other), (other, one)):
        if reason := _why_it_lost(ledger, lost, stands):
            return conflict.model_copy(update={"resolved": reason, "preferred": stands.number})
    return conflict


def _why_it_lost(ledger: Ledger, lost: Excerpt, stands: Excerpt) -> str | None:
    """Why the second of two excerpts stands against the first; None where it doesn't, or nothing tells."""
    stale, fresh = ledger.source(lost.locator), ledger.source(stands.locator)
    if stale.standing and not fresh.standing:
        return f"{stale.locator} says that it was {stale.standing}"
    if not stale.dated or not fresh.dated:
        return None
    newer_by, question = fresh.dated - stale.dated, ledger.question
    about_now = _PRESENT.search(question) is not None
    changes = CHANGES.search(question) or (about_now and CHANGES.search(lost.text))
    if (changes and newer_by >= NEWER) or (about_now and newer_by >= OUTDATED):
        return f"{fresh.locator} is newer ({fresh.dated}) than {stale.locator} ({stale.dated})"
    return None


def _that_stand(conflicts: list[Conflict]) -> list[Conflict]:
    """Without those that an excerpt which has lost another would keep open."""
    lost = {side for each in conflicts if each.preferred for side in each.sides if side != each.preferred}
    return [each for each in conflicts if each.resolved or not lost & set(each.sides)]


def _one_for_each_pair_of_pages(ledger: Ledger, conflicts: list[Conflict]) -> list[Conflict]:
    """The conflict between two pages that bears most on what is asked, in the order in which they were met."""
    kept: dict[frozenset[str], Conflict] = {}
    for conflict in conflicts:
        pages = frozenset(ledger.excerpts[number - 1].locator for number in conflict.sides)
        known = kept.setdefault(pages, conflict)
        if _relevance(ledger, conflict) > _relevance(ledger, known):
            kept[pages] = conflict
    return list(kept.values())


def _relevance(ledger: Ledger, conflict: Conflict) -> float:
    return min(ledger.excerpts[number - 1].relevance for number in conflict.sides)
