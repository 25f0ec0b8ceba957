"""Tell whether a question is complete by itself, and if not, what kind of words it leaves out.

Rules on forms in English, German, French and Spanish; of Russian, pronouns alone. A question that no rule calls
incomplete is complete: words that are added in vain lead a search astray.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from marchwarden.evidence.asking.telling_words import (
    OPENING,
    VAGUE_TERMS,
    german_nouns,
    has_name,
    names_in,
    words_of,
)
from marchwarden.evidence.framing import ASKING, ASKING_IN, FOREIGN_ASKING, INVERTED, PREPOSITION
from marchwarden.judge.thesaurus import has_opposite, is_english_word
from marchwarden.text.ranking import guess_language, terms

# Pronouns of German, French, Spanish and Russian that no English word is spelt like.
_FOREIGN = (
    r"ihn|ihm|ihre?[rsmn]?|seine?[rsmn]?|dort|elle|ils|elles|lui|leurs?|ella|ellos|ellas|sus?|allí|él|"
    r"его|её|их|им|он|она|они|там|нём|ней"
)
BACKWARD = re.compile(
    r"\b(it|its|they|them|their|he|his|him|she|her|this|that|these|those|there|one|then|" + _FOREIGN + r")\b",
    re.IGNORECASE,
)
PERSONAL = re.compile(r"\b(it|its|they|them|their|he|his|him|she|her|there|" + _FOREIGN + r")\b", re.IGNORECASE)
PERSON = re.compile(r"\b(he|his|him|she|her)\b", re.IGNORECASE)
POSSESSIVES = frozenset({"its", "their", "his", "her"})
_GERMAN_IT = re.compile(r"\bes\b", re.IGNORECASE)  # Spanish "es" is "is"
# Words of that form that stand for nothing before: "are there", "is it true", "the day that", "which one", and "they"
# or "their" of what the same clause names ("Why do cats purr when they sleep?", "How do trees lose their leaves?").
_NOT_BACKWARD = re.compile(
    rf"\b(?:{INVERTED}|be|been) there\b|\bthere (?:is|are|was|were|has|have)\b|\bthen (?:is|are|was|were)\b|"
    r"\b(?:is|was|does|did|would|can|will) it (?:worth|possible|true|safe|legal|necessary|better|ok|okay|healthy|"
    r"allowed|normal|really|take|cost to|make sense|rain\w*|snow\w*)|"
    r"\b(?:is|was) it (?!going|able|likely|due|about|ready|meant|built|made|known|said|set|\w+ed\b)\w+ (?:to|that)\b"
    r"|\bmake it\b|\bwhat (?:time|day|date|year) is it\b|"
    rf"\b(?!(?:{INVERTED}|{PREPOSITION.replace(' )', ')')}|do|or|than|like|all|only|just)\b)[\w'’-]+ that\b|"
    r"\bas (?:its|their)\b|\bwhich one\b|\bno one\b|\bone (?:of|can|day|year|has)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"\b(?:when|if|because|while|before|after|until|once|where|that|than|as|how|whether|what) $", re.IGNORECASE
)
_AFTER_PREPOSITION = re.compile(rf"\b{PREPOSITION}$", re.IGNORECASE)
# What stands for something before in German, in small letters: "Sie" is who is spoken to.
_GERMAN_PRONOUN = re.compile(
    r"\b(?:er|sie|es|ihn|ihm|ihnen|dort|dorthin|dessen|deren|da(?:bei|durch|für|gegen|mit|nach|ran|rauf|rin|rüber|von"
    r"|vor|zu)|diese[rsmn]?|das(?=\W*$)|(?P<possessive>ihre?[rsmn]?|seine?[rsmn]?))\b"
)
_GERMAN_IMPERSONAL = re.compile(
    r"\b(?:gibt|geht|regnet|schneit|dauert|heißt|stimmt) es\b|\bes (?:gibt|geht|regnet|schneit|dauert|heißt|stimmt)\b"
    r"|\b(?:ist|war|wird|wäre) es (?:besser|erlaubt|gefährlich|gesund|kalt|legal|möglich|nötig|sinnvoll|wahr|warm)\b",
    re.IGNORECASE,
)
_FRENCH_PRONOUN = re.compile(
    r"\b(?:ils?|elles?|lui|leurs?|celui|celles?|ceux|cela|ça|là|(?P<possessive>son|sa|ses)|"
    r"l['’](?:a|ont|est|avait|aurait|était)\b(?! pas))\b",
    re.IGNORECASE,
)
# "Pourquoi le ciel est-il bleu ?": the pronoun is that subject's.
_FRENCH_SUBJECT = re.compile(r"\b(?:(?:les?|la|une?|des|ces?|cette|mon|ma|mes) |l['’])\w+.*-(?:t-)?$", re.IGNORECASE)
_FRENCH_IMPERSONAL = re.compile(
    r"\by a-t-il\b|\bil (?:y a|faut|pleut|neige|fait|s['’]agit)\b|"
    r"\b(?:fait|est|existe)-(?:t-)?il (?=(?:beau|chaud|froid|possible|vrai|nécessaire|dangereux|sûr|des?|une?|en)\b)"
    r"|\b(?:faut|pleut|neige|s['’]agit)-(?:t-)?il",
    re.IGNORECASE,
)
_SPANISH_PRONOUN = re.compile(
    r"\b(?:él|ellos|ellas?|allí|ahí|eso|esto|aquello|(?P<possessive>sus?))\b|"
    rf"^¿?(?:y )?{ASKING_IN['es']} (?:l[aoe]s?) (?:\w+|h[ae]\w* \w+)\W*$",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:there|dort|dorthin|là|allí|ahí|там)\b", re.IGNORECASE)
_WHOLE = re.compile(
    r"\b(?:this|that|these|those|das(?=\W*$)|d(?:abei|adurch|afür|agegen|amit|avon|azu)|cela|ça|eso|esto|aquello)\b|"
    r"\b(?:of|which|how many) (?:them|these|those|ones?)\b|"
    r"\bhow many (?:people|persons|men|women|children|others|lives) (?:\w+ )?\w+\W*$|"
    rf"\bhow many {INVERTED}|\bhow (?:much|many) \w+\W*$",
    re.IGNORECASE,
)
_LEAD = r"(?:and|or|but|so|und|oder|aber|et|mais|y|pero|а|и)"
_GOES_ON = re.compile(rf"^[¿\s]*{_LEAD}\b", re.IGNORECASE)
_ABOUT = (
    r"(?:(?:what|how) about|wie (?:ist|sieht) es (?:mit|in)|was ist mit|qu['’]en est-il d[e'’u]|"
    r"qué (?:hay de|tal|pasa con))"
)
_PREPOSITION_IN = {
    "de": r"(?:(?:in|im|an|am|aus|bei|nach|auf|von|vom|für|mit|seit|ab|um|zu|zum|zur|ohne) )",
    "fr": r"(?:(?:à|au|aux|en|dans|de|du|des|pour|avec|depuis|sans|chez|vers) |d['’])",
    "es": r"(?:(?:en|de|del|para|con|desde|sin|a|al|por) )",
}
_ARTICLE_IN = {
    "de": r"(?:der|die|das|den|dem|sein\w*|ihre?\w?)",
    "fr": r"(?:les?|la|l['’]|son|sa|ses|leurs?)",
    "es": r"(?:el|la|los|las|sus?)",
}
# Things that belong to something else ("the price" asks whose), and what only a name tells apart ("the company").
_RELATIONAL = re.compile(
    r"\b(?:the|any|some) (?:\w+ )?(?:side effects?|effects?|symptoms?|causes?|reasons?|prices?|costs?|fees?|"
    r"population|capital|authors?|writers?|director|founders?|inventor|owner|president|leader|winner|loser|results?|"
    r"outcome|score|length|height|weight|size|age|area|depth|temperature|climate|name|meaning|purpose|risks?|benefits?|"
    r"(?:dis)?advantages?|drawbacks?|alternatives?|consequences|dos(?:e|age)|currency|language|rest|others?|latter|"
    r"former|plot|company|firm|book|novel|film|movie|city|town|country|island|river|drug|treaty|"
    r"battle|band|team|species|(?:main )?characters?|ingredients|requirements|deadline|penalt(?:y|ies)|fines?|"
    r"exceptions?|differences?)\b"
    r"(?!.*\b(?:of|between)\b)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"^[¿\s]*(?:what(?:['’]s| is| are| was| were| does| do)|was (?:ist|sind|war|bedeutet)|qué (?:es|son|significa)|"
    r"qu['’]est-ce qu|c['’]est quoi|что такое)\b"
    r"(?! (?:the )?(?:first|second|third|fourth|fifth|next|last|else|best|worst|better|worse|cheaper|happening)\b)",
    re.IGNORECASE,
)
_ORDERS = re.compile(rf"^{OPENING.pattern}\b", re.IGNORECASE)
# Who does what is asked about is nobody who was spoken of: "Why do we dream?".
_ANYBODY = re.compile(r"\b(?:we|on|man)\b|\bse\b(?= \w)", re.IGNORECASE)
_LIGHT = ("next", "else", "exactly", "again", "happened", "happens", "happen")
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)

Kind = Literal["exchange", "whole", "person", "place", "thing"]


@dataclass(frozen=True)
class Omission:
    """Words that a question leaves out since they were said before."""

    kind: Kind
    """Of a pronoun, what it may stand for; `exchange` where one thing of the question before gives way to another
    ("And in Berlin?"), `whole` where all else of the question before is meant ("Why?", "And the price?")."""
    language: str
    """ISO 639-1 code of the language that both questions are in."""
    rest: str = ""
    """Words that are exchanged, with their preposition."""


def language_of(question: str, *said: str) -> str:
    """Return the language of a question: its asking words tell it, else those of what was `said` before."""
    for text in (question, *said):
        for code, asking in ASKING_IN.items():
            begins = re.match(rf"[¿\s]*(?:{_LEAD} )?{asking}", text, re.IGNORECASE)
            if begins and begins[0].casefold().split()[-1] not in ("was", "en", "a"):
                return code
        if re.match(rf"\s*(?:{_LEAD} )?{PREPOSITION}?(?:{ASKING}|{INVERTED})", text, re.IGNORECASE):
            return guess_language(text) if text.casefold().lstrip().startswith("was ") else "en"
        if "¿" in text:
            return "es"
    return guess_language(" ".join((question, *said)))


def telling(text: str, language: str) -> list[str]:
    """Return the words of a text that are no stop words and do not ask; of French ones without `l'` and `d'`."""
    words = words_of(_ELIDED.sub("", text)) if language == "fr" else words_of(text)
    plain = [word.strip(".'’-") for word in words]
    return [
        word
        for word in plain
        if terms(word, language)
        and not re.fullmatch(rf"{ASKING}|{FOREIGN_ASKING}|[\W_]*", word, re.IGNORECASE)
        and not (language == "fr" and re.search(r"-(?:ils?|elles?|on|ce)$|^(?:y|a)$", word, re.IGNORECASE))
    ]


def names_of(text: str, language: str) -> list[str]:
    """Return the words that name something; in German every noun, since all have capitals."""
    return german_nouns(text) if language == "de" else names_in(text)


def omission_of(clause: str, *said: str) -> Omission | None:
    """Return what a clause that asks leaves out; None where it is complete by itself.

    `said` is what was said before, the last first: a short question alone hardly tells its language.
    """
    language = language_of(clause, *said)
    plain = clause.strip(" \n")
    if (rest := _exchanged(plain, language)) is not None:
        return Omission("exchange" if rest else "whole", language, rest)
    if is_pointing(plain, language):
        return Omission(_kind_of_pronoun(plain), language)
    if language == "en" and _compares(plain):
        return Omission("whole", language)
    if names_of(plain, language) or len(words := telling(plain, language)) > 3:
        return None
    is_general = any(form.search(plain) for form in (_WHAT_IS, _ORDERS, _ANYBODY))
    says_little = len([word for word in words if word.casefold() not in _LIGHT]) < (1 if is_general else 2)
    goes_on = bool(_GOES_ON.match(plain)) and len(words) < 3
    if says_little or goes_on or (language == "en" and (_RELATIONAL.search(plain) or _WHOLE.search(plain))):
        return Omission("whole", language)
    return None


def _exchanged(clause: str, language: str) -> str | None:
    """Return the words of a clause without a verb, where they take another's place; "" where they only add to it.

    None for a clause that asks something of its own. "And the price?" adds, "And in Berlin?" takes a place.
    """
    preposition = _PREPOSITION_IN.get(language, PREPOSITION)
    found = re.fullmatch(
        rf"[¿\s]*(?P<lead>{_LEAD}\s+)?(?P<about>{_ABOUT}\s*)?"
        rf"(?P<rest>(?P<preposition>{preposition})?(?:[\w'’.-]+ ?){{1,4}})[\s?.!]*",
        clause,
        re.IGNORECASE,
    )
    if not found:
        return None
    rest = found["rest"].strip()
    asks = rf"{preposition}?(?:{ASKING}|{FOREIGN_ASKING}|{INVERTED})"
    if not (found["lead"] or found["about"]):
        # A question of two words may ask, and keywords have no question mark.
        is_short = len(telling(rest, language)) < (3 if language == "en" else 2)
        if not clause.endswith("?") or not is_short or OPENING.match(rest) or re.match(_SPOKEN_TO, rest):
            return None
        if language != "en" and not found["preposition"] and not has_name(f"x {rest}"):
            return None
    if re.match(asks, rest, re.IGNORECASE):
        return None
    # "Side effects?", "Price?": the capital is the sentence's.
    is_noun = clause[:1].isupper() and clause.startswith(rest) and language == "en"
    if is_noun and (_RELATIONAL.fullmatch(f"the {rest.lower()}") or _is_common(rest)):
        return ""
    article = _ARTICLE_IN.get(language, r"(?:the|its|his|her|their)")
    is_added = re.match(rf"{article}\b", rest, re.IGNORECASE) and (language == "de" or not has_name(f"x {rest}"))
    return "" if is_added or not telling(rest, language) else rest


def _is_common(words: str) -> bool:
    """Return whether words are those of no name, but for the capital of the first: "Side effects"."""
    first, *others = words.split()
    return bool(others) and not has_name(f"x {' '.join(others)}") and is_english_word(first)


def _compares(clause: str) -> bool:
    """Return whether a clause compares one thing with what was spoken of: "Is the Nordwind 5 stronger?"."""
    found = _COMPARES.match(clause)
    if not found:
        return False
    word = found["word"].lower()
    stem = word[:-2]
    undoubled = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
    plain = (stem, f"{stem}e", f"{stem[:-1]}y", undoubled)
    return word in ("more", "less", "better", "worse") or any(map(has_opposite, plain))


_COMPARES = re.compile(
    rf"(?:and |but |so )?{INVERTED} .*(?<!\ba )(?<!\ban )(?<!\bthe )\b"
    r"(?P<word>more|less|better|worse|\w{2,}er)\W*$",
    re.IGNORECASE,
)
_SPOKEN_TO = re.compile(r"(?:thanks|thank you|ok|okay|hello|hi|really|yes|no|danke|merci|gracias)\b", re.IGNORECASE)


def is_pointing(clause: str, language: str | None = None) -> bool:
    """Return whether a clause says "it" or "that" before anything that it may stand for."""
    language = language or language_of(clause)
    if language == "de":
        return _points_back_in_german(clause)
    if language in ("fr", "es"):
        pronoun, impersonal = (_FRENCH_PRONOUN, _FRENCH_IMPERSONAL) if language == "fr" else (_SPANISH_PRONOUN, None)
        plain = impersonal.sub(" ", clause) if impersonal else clause
        found = pronoun.search(plain)
        if found is None:
            return False
        before = plain[: found.start()]
        is_own = found["possessive"] and telling(before, language)
        return not (names_in(before) or is_own or (language == "fr" and _FRENCH_SUBJECT.search(before)))
    plain = _NOT_BACKWARD.sub(" ", clause)
    pronouns = PERSONAL if has_name(clause) else BACKWARD
    return any(not _stands_for_own(plain[: each.start()], each[0].casefold()) for each in pronouns.finditer(plain))


def _stands_for_own(before: str, pronoun: str) -> bool:
    """Return whether an English pronoun may stand for what its clause says before it."""
    if any(not name.isupper() for name in names_in(before)):
        return True
    said = len(set(terms(before)) - VAGUE_TERMS)
    if _SUBORDINATE.search(before):
        return said > 0
    is_possessed = pronoun in POSSESSIVES and not _AFTER_PREPOSITION.search(before)
    return said >= (2 if is_possessed else 4)


def is_backward(clause: str) -> bool:
    """Return whether a clause says "it", "that" or the like, whatever it stands for."""
    plain = _NOT_BACKWARD.sub(" ", clause)
    return bool(BACKWARD.search(plain)) or (bool(_GERMAN_IT.search(plain)) and language_of(clause) == "de")


def is_about_another(clause: str) -> bool:
    """Return whether a clause with a name says "it", "there" or "she" of something else."""
    plain = _NOT_BACKWARD.sub(" ", clause)
    # "its" after a name is that name's; "it" may be anything.
    return any(
        each[0].casefold() not in POSSESSIVES or not has_name(plain[: each.start()])
        for each in PERSONAL.finditer(plain)
    )


def _kind_of_pronoun(clause: str) -> Kind:
    plain = _NOT_BACKWARD.sub(" ", clause)
    if PERSON.search(plain):
        return "person"
    if _PLACE.search(plain):
        return "place"
    return "whole" if _WHOLE.search(plain) else "thing"


def _points_back_in_german(question: str) -> bool:
    """Return whether a German question says "er" or "dort" of what it does not name before in another clause."""
    plain = _GERMAN_IMPERSONAL.sub(" ", question)
    found = _GERMAN_PRONOUN.search(plain)
    if found is None:
        return False
    before = plain[: found.start()]
    if found["possessive"]:
        return not german_nouns(before)
    clauses: Sequence[str] = re.split(r",|\b(?:und|oder)\b", before)
    return not german_nouns(" ".join(clauses[:-1]))
