"""Disagreements of two statements on one thing: about a value, a year, a name, or whether it is so at all.

conflicts.py decides which statements are compared, and which of them is preferred.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.evidence.contradictions.near_copies import compare
from marchwarden.evidence.entailment.pair import Pair
from marchwarden.evidence.entailment.role_rules import are_converse, find_exchanged_roles, find_exchanged_sides
from marchwarden.evidence.entailment.wording_rules import find_antonym
from marchwarden.evidence.quantities import Quantity
from marchwarden.evidence.statements import Asked, Denial, Statement
from marchwarden.text.ranking import terms

# Every number here is a guess.

# Least share of the shorter statement's content words that two statements on one thing have in common.
SAME_THING = 0.45
# Least share of the words of a statement that the denial of it, with its page's title and the question, holds.
SAME_CLAIM = 0.5
# Least share of the words of a question for yes or no that each of two opposite answers holds.
COVERED = 0.75
# Fewest words in a denial, and in two statements that say the opposite.
MIN_CLAIM_TERMS = 3
# Most that two answers with a year may differ in, as a share of the question's words: beyond it they are on different
# parts of the question.
ANOTHER_PART = 0.25
DENIED = "one affirms what the other denies"
TURNED = "one has the other way round what the other says"

_PREDICATE = re.compile(r"(?:(?<=\b[Ii]s\s)|(?<=\bare\s)|(?<=\bwas\s)|(?<=\bwere\s))[\w-]+")
_NAME = r"[A-ZÀ-Þ][\w’'-]+(?:\s(?:(?:of|de|da|du|van|von|la|le|el|al|bin)\s)?[A-ZÀ-Þ][\w’'-]*)*"
_PLACE = re.compile(rf"\b(?:in|at|near)\s({_NAME})")
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
_REGION = re.compile(
    rf"\b(?:in|at|on|within)\s(?:the\s)?(?P<region>(?P<ways>(?:(?i:north|south|east|west)(?i:ern)?(?i:most)?[\s-]?)+)"
    rf"(?:\s?(?:part|region|tip|end|edge|corner|area|half|side|coast))?(?:\s?of)?\s?(?:the\s)?(?P<whole>{_NAME}))"
)
# Countries and continents, which may hold the place that the other side names.
_LARGE = frozenset(
    terms(
        "Africa America Asia Europe Australia Austria Belgium Brazil Britain Canada China Denmark Egypt England "
        "Finland France Germany Greece India Indonesia Ireland Israel Italy Japan Kenya Korea Mexico Netherlands "
        "Nigeria Norway Pakistan Poland Portugal Russia Scotland Spain Sweden Switzerland Turkey Ukraine Kingdom "
        "States Wales"
    )
)
_NO_NAME = re.compile(r"(The|A|An|In|On|At|It|He|She|They|His|Her|This|That|There|Its|Their|When|While|After)\b")


# Statements in much the same words


def disagreement(here: Statement, there: Statement, wanted: Asked, *, stances_differ: bool = False) -> str | None:
    """Return the disagreement of two statements in much the same words; None where they do not disagree."""
    if _shared(here, there) < SAME_THING or not wanted.compares(here, there):
        return None
    if denied := denial(here, there, wanted) or opposite(here, there):
        return denied
    # Something else may stand in the place of what is asked about, as tea does for coffee.
    if _have_other_subjects(here, there):
        return None
    for place in compare(here.text, there.text).places:
        for said, instead, elsewhere in ((place.ours, place.theirs, there), (place.theirs, place.ours, here)):
            subject = set(terms(said)) & wanted.given.words
            if subject and terms(instead) and not subject & elsewhere.words:
                return None
    if pair := _different_values(here.values, there.values, wanted):
        return pair
    return DENIED if stances_differ else None


def _have_other_subjects(here: Statement, there: Statement) -> bool:
    """Return whether words before a value name two things that each have their own, such as two towers."""
    for place in compare(here.text, there.text).places:
        named = []
        for said, owner, other in ((place.ours, here, there), (place.theirs, there, here)):
            words = said.split()
            front = list(takewhile(lambda word: not any(map(str.isdigit, word)), words))
            opens = re.search(rf"(?:^|\b(?:the|an?|of|for)\s){re.escape(words[0])}\b", owner.text, re.IGNORECASE)
            if not any(map(str.isdigit, place.before)) and front and (opens or front[0][0].isupper()):
                named.append(set(terms(" ".join(front))) - other.around)
        if len(named) == 2 and all(named):
            return True
    return False


def _shared(here: Statement, there: Statement) -> float:
    """Return the share of the shorter statement's content words that both hold; 0 where it has fewer than three."""
    fewer = min(len(here.words), len(there.words))
    return len(here.words & there.words) / fewer if fewer >= 3 else 0.0


def _different_values(ours: Sequence[Quantity], theirs: Sequence[Quantity], wanted: Asked) -> str | None:
    """Return two values of one kind that differ, where neither side also states the other's; None for none."""
    # Values that the question gives are not asked for.
    ours, theirs = ([value for value in side if not wanted.is_given(value)] for side in (ours, theirs))
    for value in ours:
        own = [each for each in ours if each.is_of_what(value)]
        others = [each for each in theirs if each.is_of_what(value)]
        if others and all(each.disagrees(mine) for each in others for mine in own):
            return f"{value.written} against {others[0].written}"
    return None


# Denials and opposites


def denial(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return that one statement affirms what the other denies, in the same words of the same subject; else None."""
    is_named = wanted.is_named_by(here) and wanted.is_named_by(there)
    for no, yes in ((here, there), (there, here)):
        # A denial without a name of its own may be said of anything: it must be of what the question names.
        if (is_named or names_in(no.text)) and any(_is_affirmed(each, no, yes, wanted) for each in no.denials):
            return DENIED
    return None


def _is_affirmed(no: Denial, denying: Statement, yes: Statement, wanted: Asked) -> bool:
    """Return whether a statement says all words of a denial, and in general little else.

    Other names or numbers are another case, unless one case refutes the denial.
    """
    if yes.limits or (yes.is_conditional and not no.condition) or not no.denied:
        return False
    # "It does not …" is said of what the question names.
    if not no.subject and not no.is_general and not wanted.names:
        return False
    said = frozenset(terms(yes.text))
    missing = no.terms - said
    # "Did not write" against "wrote": the verb stands in another form.
    if missing == {no.denied[0]} and any(term[0] == no.denied[0][0] for term in said - no.terms):
        missing = frozenset()
    if missing or len(no.terms) < MIN_CLAIM_TERMS:
        return False
    if no.is_general:
        return True
    known = denying.around | wanted.given.around
    names = {term for name in names_in(yes.text) for term in terms(name) if not term[0].isdigit()}
    # A date is another case only where the denial has one, too.
    numbers = {term for term in said - yes.years if term[0].isdigit() and not (yes.years and len(term) < 3)}
    return names | numbers <= known and len(yes.words & known) >= SAME_CLAIM * len(yes.words)


def _is_answered(no: Denial, yes: Statement, wanted: Asked) -> bool:
    """Return whether a denial and a statement are the two answers to a question for yes or no."""
    asked_for = wanted.given.words
    if yes.limits or yes.is_conditional or no.condition or not no.denied:
        return False
    if min(len(asked_for & words) for words in (no.terms, yes.words)) < COVERED * len(asked_for):
        return False
    is_same_subject = no.is_general or no.terms <= yes.around | asked_for
    return is_same_subject and bool(wanted.matters & set(no.denied) & yes.words) and no.denied[0] in yes.words


def opposite(here: Statement, there: Statement) -> str | None:
    """Return how two statements in the same words say the opposite of each other; None where they do not.

    They have two names or sides exchanged, as in "A is longer than B", or differ in one word after "is" or "was".
    """
    if here.limits != there.limits:
        return None
    ours, theirs = set(terms(here.text)), set(terms(there.text))
    own, other = ours - theirs, theirs - ours
    if min(len(ours), len(theirs)) < MIN_CLAIM_TERMS or len(own) > 1 or len(other) > 1 or len(own) != len(other):
        return None
    pair = Pair(here.text, there.text, "")
    if not own or are_converse(here.text, there.text):
        return TURNED if find_exchanged_roles(pair) or find_exchanged_sides(pair) else None
    words = [
        match[0]
        for each, only in ((here, own), (there, other))
        for match in _PREDICATE.finditer(each.text)
        if set(terms(match[0])) == only
    ]
    if len(words) == 2 and find_antonym(Pair(words[0].casefold(), words[1].casefold(), "")):
        return f"{words[0]} against {words[1]}"
    return None


# Answers to one question, in any words


def different_answers(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return the disagreement of two answers to a question: years, values, names, or yes and no; None for none.

    Unlike for `disagreement`, they may be in any words. The caller must know that both are answers.
    """
    if not wanted.compares(here, there):
        return None
    matters = wanted.matters
    if wanted.yes_or_no:
        for no, yes in ((here, there), (there, here)):
            if any(_is_answered(each, yes, wanted) for each in no.denials):
                return DENIED
    if not wanted.is_named_by(here) or not wanted.is_named_by(there):
        return None
    # Two years differ only in answers to the same part of the question.
    same_part = len((here.words ^ there.words) & matters) <= ANOTHER_PART * len(matters)
    if wanted.when and same_part and here.years and there.years and not here.years & there.years:
        return f"{min(here.years)} against {min(there.years)}"
    together = here.words & there.words
    is_same = not _have_other_subjects(here, there)
    if is_same and (
        wanted.names & together or 2 * len(matters & together) >= len(matters) or here.language != there.language
    ):
        ours, theirs = ([value for value in each.values if wanted.wants(value)] for each in (here, there))
        if pair := _different_values(ours, theirs, wanted):
            return pair
    # Two names for who did something or who has a role, where neither answer holds the other's name.
    our_names, their_names = _names_for(wanted, here), _names_for(wanted, there)
    if our_names and their_names:
        both = ((our_names, there), (their_names, here))
        if not any(set(terms(name)) & other.around for names, other in both for name in names):
            return f"{our_names[0]} against {their_names[0]}"
    return _opposite_regions(here, there, wanted) or _different_places(here, there, wanted)


def _opposite_regions(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return two opposite parts of what the question names, "north west Minnesota" and "the southernmost tip of
    Minnesota", of two answers to where something is; None for none."""
    # The compass in the question belongs to a name, such as North Dakota.
    if not wanted.where or here.limits or there.limits or _REGION.search(wanted.given.text):
        return None
    found = []
    for answer in (here, there):
        regions = [each for each in _REGION.finditer(answer.text) if set(terms(each["whole"])) <= wanted.names]
        if len(regions) != 1 or not wanted.names <= frozenset(terms(answer.text[: regions[0].end()])):
            return None
        found.append((regions[0]["region"], {way for way in _OPPOSITE if way in regions[0]["ways"].casefold()}))
    (ours, ways), (theirs, ways_there) = found
    is_opposite = any(_OPPOSITE[way] in ways_there for way in ways)
    return f"{ours} against {theirs}" if is_opposite and not ways & ways_there else None


def _names_for(wanted: Asked, answer: Statement) -> list[str]:
    """Return the names of who did it or has the role: "Bell invented", "invented by Bell", "inventor was Bell"."""
    if not wanted.role:
        return []
    role = rf"\b(?i:{re.escape(wanted.role)})\w*"
    link = r"(?:,[^.;]{1,60}?,)?\s(?:(?:is|was|remains|became|has|had|who|first|also)\s(?:[\w’'-]+\s){0,4})?"
    pattern = (
        rf"(?P<doer>{_NAME}){link}{role}|{role} by (?P<by>{_NAME})|{role}[^.,;]{{0,50}}? (?:is|was) (?P<one>{_NAME})"
    )
    found = [match["doer"] or match["by"] or match["one"] for match in re.finditer(pattern, answer.text)]
    given = wanted.given.words
    return [name for name in found if not _NO_NAME.match(name) and terms(name) and not set(terms(name)) & given]


def _different_places(here: Statement, there: Statement, wanted: Asked) -> str | None:
    """Return two places where something is or was, of answers to one question; None for none.

    A place is the last of the names in the clause that says what is asked.
    """
    if not wanted.where or here.limits or there.limits:
        return None
    found = []
    for answer, other in ((here, there), (there, here)):
        if not wanted.matters | wanted.names <= answer.around:
            return None
        places = [name for name in _PLACE.findall(answer.text) if not set(terms(name)) & wanted.given.words]
        if len(places) != 1 or set(terms(places[0])) & (other.around | _LARGE):
            return None
        found.append(places[0])
    # Where both tell something of their own, such as another office, both can be right.
    known = wanted.given.words.union(terms(" ".join(found)))
    if here.words - there.words - known and there.words - here.words - known:
        return None
    return f"{found[0]} against {found[1]}"
