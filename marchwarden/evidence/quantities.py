"""Values that a text states, in comparable form: in one unit a dimension, each with its precision.

Years, dates, ordinals and numbers of nothing are no values.

Own code: libraries for quantities such as quantulum3 read English only, and know no rounding and no bounds.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from marchwarden.evidence.units import BLANK, MULTIPLE, UNIT, times, unit_of
from marchwarden.text.numbers import SMALL_NUMBERS
from marchwarden.text.ranking import guess_language, terms

Bound: TypeAlias = Literal["", "least", "most"]

# Difference between a value that is said to be about right and another, as a share of it, up to which both can be
# right. A guess.
HEDGED = 0.02
# Most that the zeros at a value's end may hide, as a share of it. A guess.
ROUNDED = 0.03
# Two counts that are lower bounds, as of the dead, disagree where one is below this share of the other. A guess.
FAR_BELOW = 0.75
# Characters of a value, at most: a longer match is no number that somebody states. A guess.
LONGEST = 100
THINGS = "things"
_COUNTS = (THINGS, "people", "deaths", "attendance")


@dataclass(frozen=True)
class Quantity:
    """A value, or a range of values, in the unit that its dimension is measured in."""

    low: float
    high: float
    dimension: str
    """Dimension that the value measures, such as `length`, or things that it counts: `people`, `things`."""
    written: str
    """Value as the text has it, with its unit."""
    things: frozenset[str] = frozenset()
    """Terms of the things that are counted, or timed."""
    unit: float = 1.0
    """Value of one of the units in which the text has it, in the unit of the dimension."""
    step: float = 0.0
    """Value of the last significant digit's one; the quantity is right to half of it."""
    hedged: bool = False
    """True where the text says "about"."""
    bound: Bound = ""
    """`least` or `most` where the value is a lower or an upper bound; else empty."""
    norm: bool = False
    """True where the bound says what ought to be, rather than what is."""
    denied: bool = False
    """True where the text says that the value is wrong."""

    def is_of_what(self, other: "Quantity") -> bool:
        """Return whether both measure or count the same."""
        return self.dimension == other.dimension and (not self.things or bool(self.things & other.things))

    def disagrees(self, other: "Quantity") -> bool:
        """Return whether both can't be right.

        They can where one rounds the other, or lies within the other's range or bound. A limit that ought to be kept
        does not disagree with a usual value, nor a lower bound with an upper one.
        """
        if not self.is_of_what(other) or self.denied or other.denied or self.norm is not other.norm:
            return False
        counts = self.dimension in _COUNTS and not self.norm
        if counts and self.bound == other.bound == "least":
            small, large = sorted((self.low, other.low))
            return small < FAR_BELOW * large
        # "Above 6,000 feet" says where something holds, and is no height that something has.
        if not counts and self.bound != other.bound:
            return False
        open_ended = self.bound != other.bound
        (low, high), (low_there, high_there) = (
            (
                float("-inf") if open_ended and each.bound == "most" else each.low,
                float("inf") if open_ended and each.bound == "least" else each.high,
            )
            for each in (self, other)
        )
        tolerances = (max(each.step / 2, HEDGED * abs(each.high) if each.hedged else 0.0) for each in (self, other))
        return max(low, low_there) - min(high, high_there) > max(tolerances)


# How numbers are written

_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_NUMBER_WORD = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<ones>{'|'.join(SMALL_NUMBERS[1:10])}))?|"
    rf"(?P<small>{'|'.join(SMALL_NUMBERS[2:20])})|(?P<one>one|an?)(?=\s(?:{MULTIPLE})\b))\b",
    re.IGNORECASE,
)
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|"
    r"mai|juni|juli|oktober|dezember|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre)"
)
# Addresses and identifiers, whose digits say nothing: "10.1016/j.foo.2013.05.001".
ADDRESS = re.compile(r"\bhttps?://\S+|\bwww\.\S+|\b10\.\d{4,9}/\S+|\barxiv:\S+|\bISBN[\d: -]+", re.IGNORECASE)
# Dates, ordinals and markers.
_NO_VALUE = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s(?:of\s|de\s)?{_MONTH}\b(?:,?\s\d{{4}}\b)?|"
    rf"\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s\d{{4}}\b)?|"
    r"\b\d{4}-\d\d-\d\d\b|\b\d+(?:st|nd|rd|th|s)\b|\[\d+\]",
    re.IGNORECASE,
)
_DIGITS = r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)(?:,\d+)?|\d+(?:[.,]\d+)*"
_BETWEEN = re.compile(
    rf"\b(?:between|zwischen|entre|tra|fra)\s(?P<low>{_DIGITS})\s(?:and|und|et|y|e)\s(?P<high>{_DIGITS})",
    re.IGNORECASE,
)
# Digits of other scripts, and full-width ones, with their signs.
_DIGIT_FORMS = str.maketrans(
    {
        chr(zero + digit): str(digit)
        for zero in (0xFF10, 0x0660, 0x06F0, 0x0966)  # full-width, Arabic, Persian, Devanagari
        for digit in range(10)
    }
    | {"，": ",", "．": ".", "％": "%", "٫": ".", "٬": ","}
)
_HAN_OR_KANA = "\u3040-\u30ff\u3400-\u9fff"
_EAST = re.compile(f"[{_HAN_OR_KANA}]")
_EASTERN_POWERS = {"兆": 1e12, "億": 1e8, "亿": 1e8, "万": 1e4, "萬": 1e4, "千": 1e3, "百": 1e2}
# "1億2674万", "1.84万", "3千": digits with units of ten thousand.
_EASTERN_NUMBER = re.compile(
    rf"(?:\d[\d,]*(?:\.\d+)?[{''.join(_EASTERN_POWERS)}]+)+(?:\d[\d,]*)?(?![\d.])(?!米(?!尺))|"
    rf"(?:\d[\d,]*(?:\.\d+)?[{''.join(_EASTERN_POWERS)}]+)+"
)
_QUANTITY = re.compile(
    rf"(?:(?<![\w.,:/-])|(?<=[{_HAN_OR_KANA}]))(?P<currency>US\$|[$€£¥])?\s?(?P<low>\d+(?::\d\d)+(?:\.\d+)?|{_DIGITS})"
    rf"(?:\s?(?:to|bis|à|a|[-–—])\s?(?P<high>{_DIGITS}))?"
    rf"(?P<multiple>(?:{BLANK}(?:{MULTIPLE})s?(?![^\W_]))*)"
    r"(?:\sof\s(?:the\s|its\s)?[\d,.]*\d)?"  # "29 of 31 patients"
    rf"(?:{BLANK}?(?:(?:de\s|d['’]))?(?:[^\W\d_]+\s)??(?P<unit>{UNIT})(?:(?![\w²³])|(?<=[{_HAN_OR_KANA}])))?",
    re.IGNORECASE,
)
_COUNTED = re.compile(rf"{BLANK}?(?:de\s|d['’])?(?P<things>[^\W\d_][\w-]*(?:\s[^\W\d_][\w-]*){{0,2}})")
_NO_THING = re.compile(
    r"more|less|fewer|other|new|different|when|per|than|out|last|next|since|ago|according", re.IGNORECASE
)
# Languages that group digits with commas.
_COMMA_GROUPS = frozenset(("en", "ja", "zh", "ko", "hi", "th", "ar", "he", "fa"))
# A plain number from the first to the second is a year, unless a unit of measure follows. A guess.
_YEARS = (1000, 2100)

# What the words around make of a value

_HEDGE = re.compile(
    r"(\b(about|around|approximately|roughly|nearly|almost|some|estimated|circa|environ|etwa|rund|ungefähr|près de|"
    r"cerca de|unos|unas)|~)\s*$",
    re.IGNORECASE,
)
_LEAST = r"more than|at least|over|above|beyond|exceed\w*|no (?:less|fewer) than|mindestens|plus de|más de|mehr als"
_MOST = r"less than|fewer than|at most|up to|under|below|no more than|weniger als|moins de|menos de|bis zu"
_BOUND = re.compile(
    rf"\b(?P<no>(?:not|never|nobody)\s(?:\w+\s){{0,3}})?(?:(?P<least>{_LEAST})|(?P<most>{_MOST}))\s(?:\w+\s){{0,2}}$|"
    r"\b(?:(?P<lower>minimum|lowest)|(?P<upper>maximum|upper|highest))\b[^.;,]*$",
    re.IGNORECASE,
)
# A value that the next one, in brackets, converts: its bound is also the next one's.
_CONVERTED = re.compile(r"[\d.,]+\s?[^\W\d_]+\s\($")
_NORM = re.compile(
    r"\b(should|must|shall|ought|needs?|needed|requires?d?|recommend\w*|advi[sc]e\w*|limits?|allow\w*|permit\w*|safe|"
    r"maximum|minimum|tolerable|guideline|fined?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(not|rather than|instead of|no longer|(up|down) from|formerly|previously)( \w+)?\s*$", re.IGNORECASE
)
_KILLED = re.compile(
    r"[^.;,]{0,30}\b(were killed|died|(are|were) dead|lost (their|his|her) li\w+|perished|starved|have died)\b",
    re.IGNORECASE,
)
_SAID_BEFORE = (
    ("people", re.compile(r"\b(population|inhabitants)\b[^.;,]{0,50}$", re.IGNORECASE)),
    ("deaths", re.compile(r"\b(death toll|deaths|toll)\b[^.;,]{0,50}$", re.IGNORECASE)),
    ("attendance", re.compile(r"\b(attendance|crowd)\b[^.;,]{0,80}$", re.IGNORECASE)),
)
_NUMBER_OF = re.compile(
    r"\bnumber of (?P<things>[\w -]{3,40}?)\s(?:is|was|at|of|to|reached)\b[^.;,]{0,30}$", re.IGNORECASE
)


@lru_cache(maxsize=2048)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the values that a text states, in its order."""
    language = guess_language(text)
    text = text.translate(_DIGIT_FORMS) if not text.isascii() else text
    if _EAST.search(text):
        text = _EASTERN_NUMBER.sub(_written_out, text)
    plain = text
    for none in (ADDRESS, _NO_VALUE):
        plain = none.sub(lambda found: "|" * len(found[0]), plain)
    plain = _BETWEEN.sub(r"\g<low>–\g<high>", _NUMBER_WORD.sub(_as_digits, plain))
    found = (_quantity(match, plain, language) for match in _QUANTITY.finditer(plain) if len(match[0]) <= LONGEST)
    return tuple(quantity for quantity in found if quantity)


def _written_out(number: re.Match[str]) -> str:
    """Return a number with 万 and the like in plain digits."""
    total = 0.0
    for digits, powers in re.findall(rf"([\d,.]+)([{''.join(_EASTERN_POWERS)}]*)", number[0]):
        worth = float(digits.replace(",", ""))
        for power in powers:
            worth *= _EASTERN_POWERS[power]
        total += worth
    return f"{total:.0f}" if total == int(total) else f"{total}"


def _as_digits(word: re.Match[str]) -> str:
    if word["one"]:
        return "1"
    if word["small"]:
        return str(SMALL_NUMBERS.index(word["small"].casefold()))
    ones = SMALL_NUMBERS.index(word["ones"].casefold()) if word["ones"] else 0
    return str(20 + 10 * _TENS.index(word["tens"].casefold()) + ones)


def _quantity(match: re.Match[str], text: str, language: str) -> Quantity | None:
    before, after = text[: match.start()], text[match.end() :]
    if ":" in match["low"]:
        # A time of day or of a race. The words before it tell them apart: each race has its own times.
        seconds = 0.0
        for part in match["low"].split(":"):
            seconds = seconds * 60 + float(part)
        things = frozenset(terms(before)[-2:])
        return Quantity(low=seconds, high=seconds, dimension="time", written=match["low"], things=things)
    low, step = _number(match["low"], language)
    high, finer = _number(match["high"], language) if match["high"] else (low, step)
    multiple = times(match["multiple"])
    is_year = _YEARS[0] <= low <= _YEARS[1] and match["low"].isdigit() and multiple == 1
    measured = _measured(match, after) or (None if is_year else _counted(before, after, language))
    if measured is None:
        return None
    dimension, unit, things, shown = measured
    hedged = _HEDGE.search(before) is not None
    # Nobody says "580 kilometres" of 582.
    if step == 10 and multiple == 1 and not hedged:
        step = 1.0
    bound: Bound = ""
    if word := _BOUND.search(_CONVERTED.sub("", before)):
        least = bool(word["least"] or word["lower"]) is not bool(word["no"])
        bound = "least" if least else "most"
    return Quantity(
        low=min(low, high) * multiple * unit,
        high=max(low, high) * multiple * unit,
        dimension=dimension,
        written=f"{match[0].strip()} {shown}".strip(),
        things=things,
        unit=unit,
        step=min(step, finer, max(1.0, 2 * ROUNDED * high)) * multiple * unit,
        hedged=hedged,
        bound=bound,
        norm=bool(bound) and _NORM.search(text) is not None,
        denied=_DENIED.search(before) is not None,
    )


# Dimension, value of one unit, terms of the things counted, and words to show beside the number.
_Measured: TypeAlias = tuple[str, float, frozenset[str], str]


def _measured(match: re.Match[str], after: str) -> _Measured | None:
    if match["currency"]:
        return match["currency"].upper().removeprefix("US"), 1.0, frozenset(), ""
    known = unit_of(match["unit"] or "")
    if known is None:
        return None
    dimension, unit = known
    return ("deaths" if dimension == "people" and _KILLED.match(after) else dimension), unit, frozenset(), ""


def _counted(before: str, after: str, language: str) -> _Measured | None:
    """Return the things that a number without a unit counts: those named after it, else before it; None for none."""
    found = _COUNTED.match(after)
    words: list[str] = []
    for word in found["things"].split() if found else ():
        new_phrase = bool(words) and word[0].isupper()
        if new_phrase or not terms(word, language) or _NO_THING.fullmatch(word):
            break
        words.append(word)
    if words:
        said = " ".join(words)
        return THINGS, 1.0, frozenset(terms(said, language)), said
    for dimension, has_one in _SAID_BEFORE:
        if has_one.search(before):
            return dimension, 1.0, frozenset(), ""
    number_of = _NUMBER_OF.search(before)
    return (THINGS, 1.0, frozenset(terms(number_of["things"], language)), "") if number_of else None


def _number(written: str, language: str) -> tuple[float, float]:
    """Return a number as it is written, and the value of its last significant digit's one."""
    plain = re.sub(r"[ \u00a0\u202f]", "", written)
    marks = re.findall(r"[.,]", plain)
    front, rest = plain, ""
    if marks:
        whole, _, last = plain.partition(marks[0])
        # The last mark separates thousands where it is met before (1,500,000), or in 1,500, or, where decimals have a
        # comma, in 1.500.
        if len(marks) > 1:
            thousands = plain.count(marks[-1]) > 1
        else:
            plausible = len(last) == 3 and whole != "0" and len(whole) <= 3
            thousands = plausible and (marks[0] == ",") is (language in _COMMA_GROUPS)
        if not thousands:
            front, _, rest = plain.rpartition(marks[-1])
    digits = re.sub(r"[.,]", "", front)
    zeros = 0 if rest else len(digits) - len(digits.rstrip("0"))
    return float(f"{digits}.{rest}"), 10.0 ** (zeros or -len(rest))
