"""Days and months of a question, as conditions on columns of days: `in May`, `on 3 May 2023`, `last month`.

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


@dataclass(frozen=True)
class Period:
    """A day, a month, several months of a year, or a month of any year."""

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
        month = self.month + self.months - 1
        day = self.day or calendar.monthrange(self.year or 2000, month)[1]
        return f"{self.year:04}-{month:02}-{day:02}"


def read_relative(words: Sequence[str], place: int, today: date) -> tuple[Period | int, int] | None:
    """Return the period that words such as `last month` mean on a day, or the year, with the number of the words.

    A week begins on Sunday for some people and on Monday for others, so weeks are not read.
    """
    rest = [word.lower().rstrip(",.") for word in words[place : place + 2]]
    if rest[0] in ("today", "yesterday"):
        day = today - timedelta(days=rest[0] == "yesterday")
        return Period(day.month, day.year, day.day), 1
    shift = {"this": 0, "last": -1, "next": 1}.get(rest[0])
    if shift is None or len(rest) < 2:
        return None
    if rest[1] == "year":
        return today.year + shift, 2
    months = {"month": 1, "quarter": 3}.get(rest[1])
    if months is None:
        return None
    # Months since year 0 of the first month of the period.
    first = (today.year * 12 + today.month - 1) // months * months + shift * months
    return Period(first % 12 + 1, first // 12, months=months), 2


def read_period(words: Sequence[str], place: int) -> tuple[Period, int] | None:
    """Return the period that begins at a word, with the number of its words; None where there is none.

    `words` are as they are written: `May` alone is a month only behind a word such as `in`.
    """
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
    if behind and behind[0].isdigit() and len(behind[0]) == 4:
        year, length = int(behind[0]), length + 1 + (words[place + length] == ",")
    if day is None and year is None and not is_told:
        return None  # a verb, `may`, or a person, `Jan`
    if day is not None and (year is None or not _is_day(year, month, day)):
        return None
    return Period(month, year, day), length


def _day(word: str) -> int | None:
    number = word.removesuffix("st").removesuffix("nd").removesuffix("rd").removesuffix("th")
    return int(number) if number.isdigit() and 1 <= int(number) <= 31 else None


def _is_day(year: int, month: int, day: int) -> bool:
    return year > 0 and day <= calendar.monthrange(year, month)[1]
