"""Conflicts between excerpts, by rule, and which side is preferred. contradictions/ compares two statements.

A conflict is resolved where one side was retracted or superseded, or where one side is newer. The newer side is
preferred where the question or the older side is about something that changes with time, and, if it is newer by many
years, where the question is about the present. Other conflicts stay open, for a person.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import combinations

from marchwarden.evidence.asking.changing import CHANGES, NEWER
from marchwarden.evidence.contradictions.disagreements import different_answers, disagreement
from marchwarden.evidence.contradictions.near_copies import other_word
from marchwarden.evidence.framing import asked_text
from marchwarden.evidence.statements import asked, statement
from marchwarden.ledger import Aspect, Conflict, Excerpt, Ledger
from marchwarden.programs.parameters import DEFAULT, Parameters

# Least difference between two dates for the newer side to win where the question is about the present. A guess.
OUTDATED = timedelta(days=12 * 365.25)

_PRESENT = re.compile(r"\b(is|are|do|does|has|have|can|should|must|will)\b", re.IGNORECASE)


def find_conflicts(ledger: Ledger, parameters: Parameters = DEFAULT) -> list[Conflict]:
    """Find pairs of excerpts on one aspect that state different values or deny each other.

    They are from different organisations, or from copies of a page that differ in a word. Of two pages, only the
    conflict that is most relevant is kept.
    """
    found = []
    for aspect in ledger.aspects:
        excerpts = ledger.evidence_for(aspect.number)
        # Excerpts that are far less relevant than the best are on something else, and may differ. Those that tell
        # what others say are left out, since their page may say the opposite.
        least = parameters.conflicts.close_to_best * max((excerpt.relevance for excerpt in excerpts), default=0.0)
        compared = [each for each in excerpts if each.relevance >= least and not statement(each.key_text).is_reported]
        for one, other in combinations(compared, 2):
            if about := _about(ledger, aspect, one, other, parameters.conflicts.answers):
                conflict = Conflict(about=about, sides=(one.number, other.number), resolved=None)
                # It is resolved where one side is preferred.
                for loser, preferred in ((one, other), (other, one)):
                    if reason := _why_it_lost(ledger, loser, preferred):
                        update = {"resolved": reason, "preferred": preferred.number}
                        conflict = conflict.model_copy(update=update)
                        break
                found.append(conflict)
    # An excerpt that has lost a conflict keeps no other open.
    lost = {side for each in found if each.preferred for side in each.sides if side != each.preferred}
    kept: dict[frozenset[str], Conflict] = {}
    for conflict in found:
        if conflict.resolved or not lost & set(conflict.sides):
            pages = frozenset(ledger.excerpts[number - 1].locator for number in conflict.sides)
            known = kept.setdefault(pages, conflict)
            # A conflict is as relevant as the less relevant of its sides.
            relevance, known_relevance = (
                min(ledger.excerpts[number - 1].relevance for number in each.sides) for each in (conflict, known)
            )
            if relevance > known_relevance:
                kept[pages] = conflict
    return list(kept.values())


def _about(ledger: Ledger, aspect: Aspect, one: Excerpt, other: Excerpt, answers: float) -> str | None:
    """Return the disagreement of two excerpts in words, such as `352 metres against 410 metres`; None for none."""
    if one.locator == other.locator:
        return None
    here, there = (statement(each.key_text, ledger.source(each.locator).title or "") for each in (one, other))
    wanted = asked(aspect.text)
    about = None
    standing_differs = ledger.source(one.locator).standing != ledger.source(other.locator).standing
    if len(ledger.separate_texts([one, other])) == 2 or standing_differs:
        about = disagreement(here, there, wanted, stances_differ=one.stance != other.stance)
        if about is None and min(one.relevance, other.relevance) >= answers:
            about = different_answers(here, there, wanted)
    # Another word is looked for in a copy of a page, too.
    return about or other_word(here, there, wanted)


def _why_it_lost(ledger: Ledger, lost: Excerpt, preferred: Excerpt) -> str | None:
    """Return the reason why the first of two excerpts loses to the second; None where it doesn't."""
    stale, fresh = ledger.source(lost.locator), ledger.source(preferred.locator)
    if stale.standing and not fresh.standing:
        return f"{stale.locator} says that it was {stale.standing}"
    if not stale.dated or not fresh.dated:
        return None
    newer_by, question = fresh.dated - stale.dated, asked_text(ledger.question)
    about_now = _PRESENT.search(question) is not None
    changes = CHANGES.search(question) or (about_now and CHANGES.search(lost.text))
    if (changes and newer_by >= NEWER) or (about_now and newer_by >= OUTDATED):
        # The day of each, named where it is another than the one that a citation shows.
        days = [f"changed {each.modified}" if each.modified else f"{each.published}" for each in (fresh, stale)]
        return f"{fresh.locator} is newer ({days[0]}) than {stale.locator} ({days[1]})"
    return None
