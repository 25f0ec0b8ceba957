"""Claims in which two things have changed places: who did it and to whom, what came of what."""

from __future__ import annotations

import re
from collections.abc import Iterator

from marchwarden.evidence.entailment.pair import Pair, lower_words, terms_around
from marchwarden.text.ranking import terms

# Words of which one says with its two sides exchanged what the other says.
CONVERSES: tuple[tuple[str, str], ...] = (
    ("bought", "sold"), ("buys", "sells"), ("larger", "smaller"), ("bigger", "smaller"), ("taller", "shorter"),
    ("higher", "lower"), ("older", "younger"), ("faster", "slower"), ("longer", "shorter"), ("more", "fewer"),
    ("more", "less"), ("beat", "lost"), ("defeated", "lost"), ("parent", "subsidiary"), ("precedes", "follows"),
    ("preceded", "followed"), ("lent", "borrowed"), ("teacher", "student"), ("parent", "child"), ("father", "son"),
    ("father", "daughter"), ("mother", "son"), ("mother", "daughter"), ("above", "below"), ("before", "after"),
    ("north", "south"), ("east", "west"), ("employer", "employee"),
)  # fmt: skip
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|got)\s+(?:\w+ly\s+)?(?:\w+ed|bought|sold|beaten|written|made|built|taken|"
    r"given|shown|won|led|held|run|owned|known|drawn|sued|hit|paid|found|founded|fought|taught|lent|sent|told|set|"
    r"overtaken)\b|\bby\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"[\s,]*(?:and|or|,|&|with|plus|versus|vs\.?|as well as)?[\s,]*", re.IGNORECASE)
# Words around which nothing can change places, or any order is the same.
_NO_PIVOT = {
    "between", "with", "both", "from", "that", "than", "more", "were", "have", "this", "into", "also", "when", "which"
}  # fmt: skip
_REPORTING = {"research", "found", "find", "said", "say", "report", "accord"}
_FORWARD = re.compile(
    r"\b(?:causes?|caused(?! by)|leads? to|led to|leading to|results? in|resulted in|resulting in|triggers?|"
    r"triggered(?! by)|brings? about|brought about|prompts?|prompted(?! by)|makes?|made|drives?|drove|"
    r"contribut\w+ to|"
    r"reduce[sd]?|prevent(?:s|ed)|brought down|so that|therefore)\b",
    re.IGNORECASE,
)
_BACKWARD = re.compile(
    r"\b(?:because|because of|due to|owing to|caused by|as a result of|result(?:s|ed)? from|thanks to|triggered by|"
    r"driven by|prompted by|brought about by|stem(?:s|med)? from|attributed to|blamed on)\b",
    re.IGNORECASE,
)
_PLAINLY_CAUSAL = re.compile(
    r"\b(?:caus\w+|led to|leads? to|result\w* in|trigger\w*|made|makes|reduced)\b", re.IGNORECASE
)
# Words with which an excerpt may give a reason without naming a cause.
_REASON = re.compile(r"\b(?:so|thus|hence|having|leaving|why|reasons?|thanks|blam\w+|means?|meant)\b", re.IGNORECASE)
_LINKED = re.compile(
    r"\b(?:associated|association|linked|correlat\w+|tend(?:s|ed)? to|coincid\w+|followed|after)\b", re.IGNORECASE
)


def are_converse(here: str, there: str) -> bool:
    """Return whether the two texts hold the two words of a converse pair, as "bought" and "sold"."""
    ours, theirs = set(lower_words(here)), set(lower_words(there))
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in CONVERSES)


def _is_voice_other(here: str, there: str) -> bool:
    return bool(_PASSIVE.search(here)) != bool(_PASSIVE.search(there))


def _name_pairs(pair: Pair, text: str) -> Iterator[tuple[str, str]]:
    known = [name for name in pair.names if name in text]
    for place, one in enumerate(known):
        yield from ((one, other) for other in known[place + 1 :] if one not in other and other not in one)


def find_exchanged_roles(pair: Pair) -> str | None:
    """Return two names that stand in the other order about the same verb.

    A passive or a converse accounts for another order: "A bought B" is "B was bought by A".
    """

    def between(text: str, one: str, other: str) -> tuple[bool, str]:
        """Return whether `one` stands first, and the words between the two."""
        first, second = text.find(one), text.find(other)
        if first < second:
            return True, text[first + len(one) : second]
        return False, text[second + len(other) : first]

    for one, other in _name_pairs(pair, pair.sentence):
        (first, words), (first_there, words_there) = (
            between(text, one, other) for text in (pair.claim, pair.sentence)
        )
        if _LISTED.fullmatch(words) or _LISTED.fullmatch(words_there):
            continue
        converse = are_converse(words, words_there)
        turned = (first != first_there) ^ _is_voice_other(words, words_there) ^ converse
        if turned and (set(terms(words)) & set(terms(words_there)) or converse or first == first_there):
            return f"the excerpt has {one} and {other} in each other's place"
    return None


def find_exchanged_acts(pair: Pair) -> str | None:
    """Return two names each of which does in the claim what the other does in the excerpt."""

    def acts(text: str, name: str, other: str) -> set[str]:
        """Return the terms behind a name, as far as the other name or the end of the clause."""
        begin, limit = text.find(name) + len(name), text.find(other)
        return set(terms(re.split(r"[.;]", text[begin : limit if limit > begin else len(text)], maxsplit=1)[0]))

    if _is_voice_other(pair.claim, pair.sentence) or are_converse(pair.claim, pair.sentence):
        return None
    for one, other in _name_pairs(pair, pair.excerpt):
        here, here_other = acts(pair.claim, one, other), acts(pair.claim, other, one)
        there, there_other = acts(pair.excerpt, one, other), acts(pair.excerpt, other, one)
        if here & there_other and here_other & there and not here & there and not here_other & there_other:
            return f"the excerpt says of {other} what the claim says of {one}"
    return None


def find_exchanged_sides(pair: Pair) -> str | None:
    """Return two terms that stand on the other sides of a word than in the excerpt."""
    if are_converse(pair.claim, pair.sentence) or _is_voice_other(pair.claim, pair.sentence):
        return None
    for word in dict.fromkeys(lower_words(pair.claim)):
        stems = terms(word)
        same = next((each for each in lower_words(pair.sentence) if stems and terms(each) == stems), None)
        if len(word) < 4 or word in _NO_PIVOT or same is None:
            continue
        ours, theirs = terms_around(pair.claim, word), terms_around(pair.sentence, same)
        if ours is None or theirs is None:
            continue
        to_back = {t for t in (ours[0] - ours[1]) & (theirs[1] - theirs[0]) if not t[0].isdigit()}
        to_front = {t for t in (ours[1] - ours[0]) & (theirs[0] - theirs[1]) if not t[0].isdigit()}
        kept = ((ours[0] & theirs[0]) | (ours[1] & theirs[1])) - _REPORTING
        if to_back and to_front and len(to_back | to_front) > len(kept):
            return f"the excerpt has {min(to_back)} and {min(to_front)} the other way round"
    return None


def find_other_cause(pair: Pair) -> str | None:
    """Return a cause that the excerpt does not tell, or tells the other way round."""

    def sides(text: str) -> tuple[set[str], set[str]] | None:
        """Return the terms of the cause and of the effect; None where no cause is told."""
        if found := _BACKWARD.search(text):
            return set(terms(text[found.end() :])), set(terms(text[: found.start()]))
        if found := _FORWARD.search(text):
            return set(terms(text[: found.start()])), set(terms(text[found.end() :]))
        return None

    ours, theirs = sides(pair.claim), sides(pair.sentence) or sides(pair.excerpt)
    if ours is None:
        return None
    if theirs is None:
        plain = _BACKWARD.search(pair.claim) or _PLAINLY_CAUSAL.search(pair.claim) or _LINKED.search(pair.sentence)
        told = _REASON.search(pair.excerpt)
        return "no excerpt says that one is the cause of the other" if plain and not told else None
    (cause, effect), (cause_there, effect_there) = ours, theirs
    crossed = len(cause & effect_there) + len(effect & cause_there)
    straight = len(cause & cause_there) + len(effect & effect_there)
    return "the excerpt has cause and effect the other way round" if crossed > straight else None
