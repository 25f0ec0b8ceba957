"""Days, months and parts of a year, as conditions on columns of days: `in May`, `on 3 May 2023`, `Q3 2023`.

Own code beside dateparser and dateutil, which read a lone `may` or `second` as a day too.
"""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1,
    )
    for name in names.split()
}  # fmt: skip
# Words before a month, and before one that follows another.
_BEFORE = frozenset({"in", "during", "since", "before", "after", "until", "of", "by", "from", "early", "late"})
_BETWEEN = frozenset({"or", "and", "to", "between", ","})
_ORDINALS = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th"), start=1)
    for word in words.split()
}
_COUNTED = {
    word: number
    for number, word in enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=2)
}
# Days of `the last 30 days`, at most. A guess: ten years.
_MOST_DAYS = 3660
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)})"
# A part of a year as it is written, without its year.
PART_OF_YEAR = rf"(?:the )?(?:q[1-4]|h[12]|(?:{_ORDINAL}|last) quarter|(?:first|1st|second|2nd) half)"


@dataclass(frozen=True)
class Period:
    """A day, a month, several months in a row, or a month of any year."""

    month: int
    year: int | None = None
    day: int | None = None
    months: int = 1
    """Number of its months, where it has no day."""

    @property
    def first(self) -> str:
        return f"{self.year:04}-{self.month:02}-{self.day or 1:02}"

    @property
    def last(self) -> str:
        # Months since year 0 of the last month.
        last = (self.year or 2000) * 12 + self.month + self.months - 2
        year, month = last // 12, last % 12 + 1
        day = self.day or calendar.monthrange(year, month)[1]
        return f"{year:04}-{month:02}-{day:02}"


@dataclass(frozen=True)
class Days(Period):
    """Days from one to another, both with them."""

    until: date | None = None

    @property
    def last(self) -> str:
        return str(self.until)


def _days_until(first: date, last: date) -> Days:
    return Days(first.month, first.year, first.day, until=last)


def read_relative(words: Sequence[str], place: int, today: date) -> tuple[Period | int, int] | None:
    """Return the period that words such as `last month` mean on a day, or the year, with the number of the words.

    A week begins on Sunday for some people and on Monday for others, so weeks are not read.
    """
    rest = [word.lower().rstrip(",.") for word in words[place : place + 3]]
    if rest[0] in ("last", "past", "previous") and rest[2:] == ["days"]:
        number = int(rest[1]) if rest[1].isdecimal() else _COUNTED.get(rest[1], 0)
        if 0 < number <= _MOST_DAYS:
            return _days_until(today - timedelta(days=number), today), 3
    if rest[0] in ("today", "yesterday"):
        day = today - timedelta(days=rest[0] == "yesterday")
        return Period(day.month, day.year, day.day), 1
    shift = {"this": 0, "last": -1, "next": 1}.get(rest[0])
    if shift is None or len(rest) < 2:
        return None
    if rest[1] == "year":
        return today.year + shift, 2
    months = {"month": 1, "quarter": 3}.get(rest[1])
    if months is None or _part_of_year(words, place):
        return None  # `the last quarter of 2023`
    # Months since year 0 of the first month of the period.
    first = (today.year * 12 + today.month - 1) // months * months + shift * months
    return Period(first % 12 + 1, first // 12, months=months), 2


def read_period(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the period that begins at a word, with the number of its words; None where there is none.

    `words` are as they are written: `May` alone is a month only behind a word such as `in`.
    """
    return (
        _half_of_month(words, place)
        or _days_in_a_row(words, place)
        or _part_of_year(words, place)
        or _months_in_a_row(words, place)
        or _day_or_month(words, place)
    )


def _half_of_month(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the days of `the first half of May 2024`: the first half of each month has 15 days."""
    rest = [word.lower().rstrip(",.") for word in words[place : place + 5]]
    if len(rest) < 5 or rest[1:3] != ["half", "of"] or rest[3] not in MONTHS or not _is_year(rest[4]):
        return None
    half, month, year = _ORDINALS.get(rest[0], 0), MONTHS[rest[3]], int(rest[4])
    if half == 1:
        return _days_until(date(year, month, 1), date(year, month, 15)), 5
    if half == 2:
        return _days_until(date(year, month, 16), date(year, month, calendar.monthrange(year, month)[1])), 5
    return None


def _days_in_a_row(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the days of `from 3 May to 8 June 2024` or `between 1 March 2023 and 4 May 2024`, both with them."""
    opening = words[place].lower()
    at = place + (opening in ("from", "between"))
    first = _day_of_year(words, at)
    joints = {"from": ("to", "until", "through"), "between": ("and",)}.get(opening, ("to", "until", "through"))
    if first is None or len(words) <= first[3] or words[first[3]].lower() not in joints:
        return None
    last = _day_of_year(words, first[3] + 1)
    if last is None or last[2] is None:
        return None
    year = first[2] or last[2]
    if not (_is_day(year, first[1], first[0]) and _is_day(last[2], last[1], last[0])):
        return None
    begins, ends = date(year, first[1], first[0]), date(last[2], last[1], last[0])
    return (_days_until(begins, ends), last[3] - place) if begins <= ends else None


def _day_of_year(words: Sequence[str], at: int) -> tuple[int, int, int | None, int] | None:
    """Return day, month and year of `3 May 2024` or `May 3`, and the place behind it."""
    rest = [word.lower().rstrip(",.") for word in words[at : at + 3]]
    if len(rest) < 2:
        return None
    day, month = (rest[0], rest[1]) if rest[1] in MONTHS else (rest[1], rest[0])
    if month not in MONTHS or (number := _day(day)) is None:
        return None
    has_year = len(rest) > 2 and _is_year(rest[2])
    return number, MONTHS[month], int(rest[2]) if has_year else None, at + 2 + has_year


def _part_of_year(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the quarter, half or first or last months of a year: `Q3 2023`, `the first three months of 2024`.

    Those of a fiscal year begin with another month, and are not read.
    """
    rest = [word.lower().rstrip(",.") for word in words[place : place + 5]]
    if _is_year(rest[0]) and len(rest) > 1 and (part := _PARTS.get(rest[1])):
        return Period(part[0], int(rest[0]), months=part[1]), 2
    part, length = _PARTS.get(rest[0]), 1
    if part is None and len(rest) > 1:
        part, length = _PARTS.get(" ".join(rest[:2])), 2
    if part is None and len(rest) > 2 and rest[0] in ("first", "last") and rest[2] == "months":
        months = int(rest[1]) if rest[1].isdecimal() else _COUNTED.get(rest[1], 0)
        if not 1 < months < 12:
            return None
        part, length = (1 if rest[0] == "first" else 13 - months, months), 3
    if part is None:
        return None
    length += rest[length : length + 1] == ["of"]
    if len(rest) <= length or not _is_year(rest[length]):
        return None
    return Period(part[0], int(rest[length]), months=part[1]), length + 1


# First month and number of months of each part of a year.
_PARTS = {
    **{f"q{number}": (number * 3 - 2, 3) for number in range(1, 5)},
    **{f"h{number}": (number * 6 - 5, 6) for number in (1, 2)},
    **{f"{word} quarter": (number * 3 - 2, 3) for word, number in _ORDINALS.items()},
    **{f"{word} half": (number * 6 - 5, 6) for word, number in _ORDINALS.items() if number < 3},
    "last quarter": (10, 3), "final quarter": (10, 3),
}  # fmt: skip


def _months_in_a_row(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the months from one to another, both with them: `from July to September 1997`, `June and July 2005`."""
    rest = [word.lower().rstrip(",.") for word in words[place : place + 6]]
    opening = rest[0] if rest[0] in ("from", "between") else ""
    at = 1 if opening else 0
    months, years, joint = [], [], ""
    for each in range(2):
        if len(rest) <= at or rest[at] not in MONTHS:
            return None
        months.append(MONTHS[rest[at]])
        has_year = len(rest) > at + 1 and _is_year(rest[at + 1])
        years.append(int(rest[at + 1]) if has_year else 0)
        at += 1 + has_year
        if each == 0:
            joint = rest[at] if len(rest) > at else ""
            at += 1
    if joint not in (
        ("and",) if opening == "between" else ("to", "through") if opening else ("and", "to", "through")
    ):
        return None
    first, last = ((year or years[1]) * 12 + month for year, month in zip(years, months, strict=True))
    # `in June and August` leaves a month out.
    if not years[1] or last <= first or (joint == "and" and not opening and last > first + 1):
        return None
    return Period(months[0], years[0] or years[1], months=last - first + 1), at


def _is_year(word: str) -> bool:
    return len(word) == 4 and word.isdecimal() and word[0] in "12"


def _day_or_month(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    rest = [word.lower().rstrip(",.") for word in words[place : place + 4]]
    day: int | None = None
    length = 0
    if (found := _day(rest[0])) and len(rest) > 1 and (rest[1] in MONTHS or rest[1:2] == ["of"]):
        day, length = found, 2 if rest[1] == "of" else 1
    if len(rest) <= length or rest[length] not in MONTHS:
        return None
    is_name = words[place + length][:1].isupper()
    before = words[place - 1].lower() if place else ""
    is_told = before in _BEFORE or (is_name and before in _BETWEEN)
    month = MONTHS[rest[length]]
    length += 1
    if day is None and len(rest) > length and (found := _day(rest[length])):
        day, length = found, length + 1
    year = None
    behind = words[place + length : place + length + 2]
    behind = behind[1:] if behind[:1] == [","] else behind[:1]
    if behind and behind[0].isdecimal() and len(behind[0]) == 4:
        year, length = int(behind[0]), length + 1 + (words[place + length] == ",")
    if day is None and year is None and not is_told:
        return None  # a verb, `may`, or a person, `Jan`
    if day is not None and (year is None or not _is_day(year, month, day)):
        return None
    return Period(month, year, day), length


def _day(word: str) -> int | None:
    number = word.removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    return int(number) if number.isdecimal() and 1 <= int(number) <= 31 else None


def _is_day(year: int, month: int, day: int) -> bool:
    return year > 0 and day <= calendar.monthrange(year, month)[1]
