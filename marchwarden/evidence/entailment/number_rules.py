"""Numbers of a claim that its excerpt states in another unit, by another measure, or of something else."""

from __future__ import annotations

import re

from marchwarden.evidence.entailment.pair import SEGMENT_END, Pair, names_in_order, words_in_place
from marchwarden.evidence.quantities import THINGS, quantities
from marchwarden.text.numbers import NUMBER, SMALL_NUMBERS, numbers_in

# What is counted is named in many ways ("seats 1,200 people", "has 1,200 seats"), so only measures are compared.
_COUNTS = {THINGS, "people", "deaths", "attendance"}
_WORTH = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_SCALED = re.compile(rf"(\d+(?:,\d{{3}})*(?:\.\d+)?)[\s-]+({'|'.join(_WORTH)})s?\b", re.IGNORECASE)
_SPELLED = re.compile(rf"\b(?:{'|'.join(SMALL_NUMBERS[1:])})\b(?=[ -](?:{'|'.join(_WORTH)}))", re.IGNORECASE)
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_PER = re.compile(
    r"\b(?:per|an?|each|every)\s+(hour|day|week|month|year|night|person|unit|dose|kg|kilogram|pound|lb|ounce|"
    r"gram|litre|liter|gallon|mile|km|minute|second)\b|"
    r"\b(hourly|daily|weekly|monthly|quarterly|yearly|annual|annually|nightly)\b",
    re.IGNORECASE,
)
_PERIODS = {
    "hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
    "annual": "year", "annually": "year", "nightly": "night", "kilogram": "kg", "liter": "litre",
}  # fmt: skip
# Measures that are taken for each other: one that the claim has and the excerpt lacks, and what the excerpt has then.
_MEASURES: tuple[tuple[str, str], ...] = (
    (r"percentage points?", r"per ?cent|%"),
    (r"(?:°\s?|degrees )c(?:elsius)?\b", r"(?:°\s?|degrees )f(?:ahrenheit)?\b"),
    (r"£|\bpounds sterling|\bgbp\b", r"\$|\bdollars?\b|€|\beuros?\b"),
    (r"\$|\bdollars?\b|\busd\b", r"€|\beuros?\b|£|\bgbp\b"),
    (r"€|\beuros?\b", r"\$|\bdollars?\b|£|\bgbp\b"),
)
# Shares and spans that are told in words, with the figures in percent, years or pieces that say the same.
_FIGURES = {
    "half": ("50",), "third": ("33",), "two thirds": ("66", "67"), "quarter": ("25",), "three quarters": ("75",),
    "fifth": ("20",), "tenth": ("10",), "dozen": ("12",), "decade": ("10",), "two decades": ("20",),
    "three decades": ("30",), "century": ("100",),
}  # fmt: skip
_SHARE = re.compile(
    r"\b((?:two|three|four)[ -](?:thirds|quarters|fifths|decades|centuries)|half|third|quarter|fifth|tenth|dozen|"
    r"decade|century|(?:one|two|three|four) (?:in|out of) (?:two|three|four|five|six|seven|eight|nine|ten))\b",
    re.IGNORECASE,
)
_TENS_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_TENS = re.compile(rf"\b({'|'.join(_TENS_WORDS)})(?:[ -]({'|'.join(SMALL_NUMBERS[1:10])}))?\b", re.IGNORECASE)
# Words beside a number that say what it is of, nearest first. A guess.
_NEAREST = 3


def missing_amounts(pair: Pair) -> set[str]:
    """Return the numbers of the claim that the excerpt lacks, as figures; none where it has their values in another
    unit: 1.5 km is 1,500 m."""
    missing = _amounts(_SHARE.sub(" ", pair.claim)) - _amounts(pair.excerpt) - _in_words(pair.excerpt)
    there = quantities(pair.excerpt)
    ours = [value for value in quantities(pair.claim) if value.dimension not in _COUNTS]
    same = bool(ours) and all(
        any(value.dimension == each.dimension and _is_close(each.low, value.low) for each in there) for value in ours
    )
    return set() if same else missing


def _in_words(text: str) -> set[str]:
    """Return the figures that words stand for besides: "a quarter" may be 25 percent, "forty-five" is 45."""
    found = {
        figure for word in _SHARE.findall(text) for figure in _FIGURES.get(word.casefold().replace("-", " "), ())
    }
    for tens, ones in _TENS.findall(text):
        value = 10 * (_TENS_WORDS.index(tens.casefold()) + 2)
        found.add(str(value + (SMALL_NUMBERS.index(ones.casefold()) if ones else 0)))
    return found


def _amounts(text: str) -> set[str]:
    """Return the numbers of a text as plain figures: "two" is 2, "3.5 million" is 3500000."""

    def figure(value: float) -> str:
        return f"{value:.6f}".rstrip("0").rstrip(".")

    digits = _SPELLED.sub(lambda found: str(SMALL_NUMBERS.index(found[0].casefold())), text)
    whole = _SCALED.sub(lambda found: figure(float(found[1].replace(",", "")) * _WORTH[found[2].casefold()]), digits)
    return {figure(float(number)) if _PLAIN.fullmatch(number) else number for number in numbers_in(whole)}


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-6 * max(abs(one), abs(other), 1.0)


def find_other_unit(pair: Pair) -> str | None:
    """Return a value that the excerpt states in another unit, in words."""
    there = [each for each in quantities(pair.excerpt) if each.dimension not in _COUNTS]
    for value in quantities(pair.claim):
        if value.dimension in _COUNTS:
            continue
        same = [each for each in there if _is_close(each.low / each.unit, value.low / value.unit)]
        if same and not any(value.dimension == each.dimension and _is_close(each.low, value.low) for each in same):
            return f"the excerpt states {same[0].written}, not {value.written}"
    return None


def find_other_measure(pair: Pair) -> str | None:
    """Return a rate by another period, a number of another size, or a measure that only resembles the excerpt's."""

    found = (
        [(first or second).casefold() for first, second in _PER.findall(text)] for text in (pair.claim, pair.excerpt)
    )
    ours, theirs = ({_PERIODS.get(word, word) for word in words} for words in found)
    if ours and theirs and not ours & theirs:
        return f"the excerpt says per {min(theirs)}, not per {min(ours)}"
    sizes = {(number, size.casefold()) for number, size in _SCALED.findall(pair.excerpt)}
    for number, size in _SCALED.findall(pair.claim):
        if (number, size.casefold()) not in sizes and any(number == known for known, _ in sizes):
            return f"the excerpt does not say {number} {size}"
    points = set(re.findall(r"([\d.,]+)[- ]percentage[- ]point", pair.excerpt))
    if points & set(re.findall(r"([\d.,]+) ?(?:%|per ?cent\b)", pair.claim)):
        return "the excerpt says percentage points"
    for one, other in _MEASURES:
        here, there = (re.search(one, text, re.IGNORECASE) for text in (pair.claim, pair.excerpt))
        if here and not there and re.search(other, pair.excerpt, re.IGNORECASE):
            return f"the excerpt does not measure in {here[0]}"
    return None


def find_other_words(pair: Pair) -> str | None:
    """Return a number that stands with other words in the excerpt, where that states several numbers."""
    there, here = words_in_place(pair.excerpt), words_in_place(pair.claim)
    numbers = [(place, word) for place, (word, is_number) in enumerate(there) if is_number]
    if len({word for _, word in numbers}) < 2:
        return None
    for place, (number, is_number) in enumerate(here):
        if not is_number or number not in {word for _, word in numbers}:
            continue
        words = [(abs(other - place), word) for other, (word, is_one) in enumerate(here) if word and not is_one]
        parts = ({word for word, _ in words_in_place(part)} for part in SEGMENT_END.split(pair.excerpt))
        beside: set[str] = next((part for part in parts if number in part), set())
        votes = []
        for _, word in sorted(words)[:_NEAREST]:
            spots = [spot for spot, (known, _) in enumerate(there) if known == word]
            if len(spots) == 1:
                distance = {found: abs(where - spots[0]) for where, found in sorted(numbers, reverse=True)}
                votes.append(word in beside or distance[number] == min(distance.values()))
        if len(votes) >= 2 and not any(votes):
            return f"{number} is said of something else"
    return None


def find_other_noun(pair: Pair) -> str | None:
    """Return a number before a noun that has another number in the excerpt."""

    def nouns(placed: list[tuple[str, bool]], place: int) -> list[str]:
        """Return the next two content words behind a number, up to the next number."""
        found = []
        for word, is_number in placed[place + 1 : place + 4]:
            if is_number:
                break
            if word:
                found.append(word)
        return found[:2]

    there, here = words_in_place(pair.excerpt), words_in_place(pair.claim)
    counted: dict[str, set[str]] = {}
    for place, (word, is_number) in enumerate(there):
        for noun in nouns(there, place) if is_number else ():
            counted.setdefault(noun, set()).add(word)
    numbers = {word for word, is_number in there if is_number}
    for place, (number, is_number) in enumerate(here):
        for noun in nouns(here, place)[:1] if is_number and number in numbers else ():
            if noun in counted and number not in counted[noun]:
                return f"{number} is said of something else than {noun}"
    return None


def find_other_name(pair: Pair) -> str | None:
    """Return a number that the excerpt says of another name, where it names the claim's own too."""
    for match in NUMBER.finditer(pair.claim):
        ours, theirs = _name_before(pair.claim, match[0]), _name_before(pair.excerpt, match[0])
        if ours and theirs and ours != theirs and ours in pair.excerpt and theirs not in pair.claim:
            return f"{match[0]} is said of {theirs}"
    return None


def _name_before(text: str, number: str) -> str | None:
    """Return the last name before a number; None where the number stands twice, or behind no name."""
    if len(re.findall(rf"(?<![\d.,]){re.escape(number)}(?![\d]|[.,]\d)", text)) != 1:
        return None
    before = text[: text.find(number)]
    # The first word of a sentence has a capital whatever it is.
    names = [name for name in names_in_order(before) if (len(name) > 2 and before.find(name) > 0) or " " in name]
    return names[-1] if names else None


def find_numbers_apart(pair: Pair) -> str | None:
    """Return two numbers that the claim joins, and that the excerpt states of things with other numbers beside."""
    ours = {word for word, is_number in words_in_place(pair.claim) if is_number}
    parts = [
        {word for word, is_number in words_in_place(part) if is_number} for part in SEGMENT_END.split(pair.excerpt)
    ]
    where = {number: [place for place, part in enumerate(parts) if number in part] for number in ours}
    if len(ours) != 2 or any(len(places) != 1 for places in where.values()):
        return None
    (one,), (other,) = where.values()
    if one != other and (parts[one] | parts[other]) - ours:
        return f"the excerpt does not say {' and '.join(sorted(ours))} of one thing"
    return None
