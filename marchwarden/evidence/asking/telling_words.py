"""Find the names in a text and its words that tell something, by capitals and the stop words of its language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from marchwarden.evidence.framing import ASKING, FOREIGN_ASKING, INVERTED, PREPOSITION
from marchwarden.text.ranking import guess_language, terms
from marchwarden.text.stop_words import is_stop_word

# Terms of a question that say little about the pages that answer it.
VAGUE_TERMS = frozenset(
    terms(
        "best ideal good main major common many much most important different kind type way thing make use used "
        "using get give know people tell explain describe list name current currently today recent latest work "
        "works happen happened long far big large year time"
    )
)

OPENING = re.compile(
    r"(?:compare|contrast|explain|describe|list|name|tell|give|show|find|please|according|based|summari[sz]e|"
    r"outline|define|"
    r"calculate|identify|discuss|trace|state|dear|hi|hello|hey|thanks|yes|no|also|both|each|every|focus|"
    r"concentrate|note)",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|"
    r"wednesday|"
    r"thursday|friday|saturday|sunday)(?:['’]?s)?",
    re.IGNORECASE,
)
_MEASURE = re.compile(r"[GMTK]B|[kMG]?Wh?|[kMG]?Hz|mAh|USD|EUR|GBP|pH|CEO|PDF|FAQ|OK|PC")
JOINS = ("or", "and", "vs", "vs.", "versus", "&")
# "My brother Oskar": who somebody is to the asker.
_RELATION = re.compile(
    r"\b(?:my|our)(?: \w+)? (?:brother|sister|son|daughter|wife|husband|partner|friend|boss|teacher|colleague|"
    r"mother|father|mum|mom|dad|"
    r"aunt|uncle|cousin|neighbou?r|dog|cat|kids?|child(?:ren)?|doctor|manager|client|student)s?,? (?:called |"
    r"named )?$",
    re.IGNORECASE,
)
# A name of several words: "University of Arkansas".
_LINK = re.compile(r"(?:of|the|de|la|del|van|von|der|du|&|and)\Z")
_GERMAN_FORMAL = re.compile("Sie|Ihnen|Ihre?[rsmn]?")


@dataclass(frozen=True)
class NameRun:
    words: tuple[str, ...]
    placed: bool
    """True where "in", "at", "to" or "near" stands before it."""


# A word of a name that is written with a full stop, and the noun that a single letter goes with.
_SHORTENED = re.compile(r"[A-Z][a-z]{1,2}")
_NOUN_BEFORE = re.compile(r"\b(?P<noun>[a-z]{3,}) $")


def name_runs(text: str) -> Iterator[NameRun]:
    """Yield the names in a text, those of several words in one, without those of people the asker calls theirs."""
    text = in_small_letters(text)
    named = set(names_in(text))
    run: list[str] = []
    begin = end = 0
    for word in [*re.finditer(r"[^\s()\"“”]+", text), None]:
        plain = word[0].strip(".,;:!?'’") if word else ""
        between = text[end : word.start()].strip() if run and word else None
        # "St. George", "Mt. Vesuvius"
        goes_on = between in ("", ",", "'", "’") or (between == "." and _SHORTENED.fullmatch(run[-1]) is not None)
        if word and plain in named and (goes_on or not run) and not re.fullmatch(r"[\d.,:%]+", plain):
            begin = begin if run else word.start()
            run.append(plain)
            end = word.start() + len(plain)
        elif word and goes_on and _LINK.match(plain):
            end = word.end()
        else:
            if run and not _RELATION.search(text[:begin]):
                yield NameRun(tuple(run), bool(re.search(r"\b(?:in|at|to|near|from) (?:the )?$", text[:begin])))
            run = []
            if word and plain in named and not re.fullmatch(r"[\d.,:%]+", plain):
                begin, run, end = word.start(), [plain], word.start() + len(plain)
        noun = _NOUN_BEFORE.search(text[: word.start()]) if word and run == [plain] and len(plain) == 1 else None
        # "vitamin D", "hepatitis B", but not "the D train"
        if noun and not is_stop_word(noun["noun"], "en"):
            begin, run = noun.start(), [noun["noun"], plain]


def names_in(text: str) -> list[str]:
    """Return the words that name something: with a capital (Utah, mRNA) inside a sentence, or with a digit.

    The first word of a sentence is one where its capital is no sentence's (iPhone), or more capitals follow. Months
    and weekdays are none. Capitals tell nothing in German, and where every word has them or none.
    """
    words = words_of(text)
    tell = capitals_tell(text)
    # Positions of the words that begin a sentence.
    starts, count = {0}, 0
    for sentence in re.split(r"(?<=[?!:])\s+|(?<=[^\W\d_]{3}\.)\s+(?=[^\W\d_])", text):
        starts.add(count)
        count += len(words_of(sentence))
    return [
        word.strip(".'’")
        for position, word in enumerate(words)
        if re.search(r"\d", word) or (tell and _is_name(words, position, position in starts))
    ]


def _is_name(words: list[str], position: int, starts: bool) -> bool:
    word = words[position]
    if not any(map(str.isupper, word)) or word in ("I", "I'm", "I’m", "I've", "I’ve", "I'd", "I’d", "AD", "BC"):
        return False
    if _MEASURE.fullmatch(word):
        return False
    if _CALENDAR.fullmatch(word.strip(".'’")):
        return position > 1 and _is_name(words, position - 1, False)  # Black Friday
    if not starts or any(map(str.isupper, word[1:])):
        return not starts or not OPENING.fullmatch(word)
    if OPENING.fullmatch(word) or re.match(
        rf"(?:{ASKING}|{INVERTED}|{PREPOSITION.rstrip()}|{FOREIGN_ASKING})", f"{word} ", re.IGNORECASE
    ):
        return False
    if is_stop_word(word, "en"):
        return False
    following = words[position + 1 : position + 3]
    if following and following[0].casefold() in JOINS:
        following = following[1:]
    return bool(following) and following[0][:1].isupper() and not _CALENDAR.fullmatch(following[0])


def words_of(text: str) -> list[str]:
    return [re.sub(r"(?<=[^\W\d_]{3})\.$", "", word) for word in re.findall(r"[^\s,;:()?!¿¡\"“”«»]+", text)]


def capitals_tell(text: str) -> bool:
    words = [word for word in words_of(text) if word[0].isalpha()]
    small = [word for word in words if word[0].islower()]
    if not any(map(str.isupper, text)):
        return False
    if not small and len(words) > 1 and (text.isupper() or any(is_stop_word(word, "en") for word in words[1:])):
        return False
    return guess_language(text) != "de"


def in_small_letters(text: str) -> str:
    """Return a text in small letters where all its words are in capitals."""
    words = [word for word in words_of(text) if word[0].isalpha() and len(word) > 1]
    return text.lower() if len(words) > 2 and text.isupper() else text


def has_name(text: str) -> bool:
    return any(not re.fullmatch(r"[\d.,%]+", name) for name in names_in(text))


def german_nouns(text: str) -> list[str]:
    """Return the nouns and numbers of a German text: words with a capital, but for what only begins a sentence."""
    nouns: list[str] = []
    begins = True
    for found in re.finditer(r"[\w’'-]+|[.?!:]", text):
        word = found[0]
        is_asking = re.fullmatch(FOREIGN_ASKING, word, re.IGNORECASE)
        is_small = is_stop_word(word.lower(), "de") or is_asking or _GERMAN_FORMAL.fullmatch(word)
        # A question that does not begin with an asking word begins with its verb.
        is_verb = begins and text.rstrip().endswith("?")
        if word[0].isdigit() or (word[0].isupper() and not is_small and not is_verb):
            nouns.append(word)
        begins = word in ".?!:"
    return nouns
