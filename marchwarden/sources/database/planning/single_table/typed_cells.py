"""Cells of text as numbers: dates, years, times, heights, amounts and places in an order, a whole column of one kind.

Own code beside dateparser: it reads any text as some date, takes 0.1 s a column, and knows no scores or heights.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from marchwarden.sources.database.planning.everyday.periods import MONTHS

Kind: TypeAlias = Literal["date", "year", "time", "height", "amount", "place"]
# Share of a column's values that are of its kind at least, and values that a column of a kind may have. Guesses.
_LEAST_SHARE, MOST_CELLS = 0.65, 400

_MONTH = r"(?P<month>" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_SPAN = r"(?:\s*[-–—/]\s*\d{1,2}(?:st|nd|rd|th)?)?"
_YEAR = r"(?P<year>1[0-9]\d\d|20\d\d|2[1-9]\d\d)"
_CLOCK = r"\d{1,2}[:.]\d\d ?(?:[ap]m)?"
# There is one way only to read each of its parts: with two, a cell of forty stars took hours.
_REST = r"(?:\s*(?:/ ?[\d.,]+(?: ?[a-z]{1,3})?|\([^()]*\)|\[[^\[\]]*\]|[†‡*#]))*"
_DATES = tuple(
    re.compile(pattern + _REST, re.IGNORECASE)
    for pattern in (
        rf"(?:[a-z]{{3,9}}\.?,? )?{_DAY}{_SPAN}\s+(?:of )?{_MONTH},?\s*(?:{_YEAR})?(?:\s+{_CLOCK})?",
        rf"(?:[a-z]{{3,9}}\.?,? )?{_MONTH}\s+{_DAY}{_SPAN},?\s*(?:{_YEAR})?(?:\s+{_CLOCK})?",
        rf"{_MONTH},?\s+{_YEAR}",
        rf"{_YEAR}-(?P<number>\d\d)-{_DAY}",
    )
)
_YEARS = re.compile(rf"(?:c\.|ca\.|circa|late|early)?\s*{_YEAR}(?:\s*[-–—/]\s*(?:\d{{2,4}}|present)?)?{_REST}", re.I)
_TIME = re.compile(
    rf"(?:(?P<hours>\d{{1,3}}):)?(?P<minutes>\d{{1,2}}):(?P<seconds>\d\d(?:\.\d+)?)(?: ?[a-z]+)?{_REST}"
)
_HEIGHT = re.compile(r"""(?P<feet>\d)\s*[-'′]\s*(?P<inches>\d{1,2})\s*["″]?""" + _REST)
_AMOUNT = re.compile(
    r"(?:[^\w\s.-]|US|A|C|NZ|HK|S)?\$?\s*(?P<sign>[-+−]?)[^\w\s.-]?"
    r"(?P<number>(?:\d{1,3}(?:[, ]\d{3})+|\d+)(?:\.\d+)?|\.\d+)"
    r"\s*(?P<scale>million|billion|m\b(?!\w)|bn\b)?\s*(?P<unit>%|[a-zA-Z²³/]{0,12})" + _REST
)
_PLACE = re.compile(r"[T=]?(?P<place>\d{1,4})(?:st|nd|rd|th)\b.{0,12}", re.IGNORECASE | re.DOTALL)
_SCALES = {"million": 1e6, "billion": 1e9, "bn": 1e9, "m": 1.0}


def date_of(text: str) -> float | None:
    """Return a day as a number that orders days: 20040512; without a year 512, without a day 20040500."""
    for pattern in _DATES:
        if found := pattern.fullmatch(text.strip()):
            parts = found.groupdict()
            month = int(parts["number"]) if parts.get("number") else MONTHS[parts["month"].lower()]
            day, year = int(parts.get("day") or 0), int(parts.get("year") or 0)
            if month <= 12 and day <= 31:
                return float(10_000 * year + 100 * month + day)
    return None


def _year_of(text: str) -> float | None:
    found = _YEARS.fullmatch(text.strip())
    return float(found["year"]) if found else None


def time_of(text: str) -> float | None:
    """Return a time such as `1:55.45` in seconds."""
    found = _TIME.fullmatch(text.strip())
    return 3600 * int(found["hours"] or 0) + 60 * int(found["minutes"]) + float(found["seconds"]) if found else None


def _height_of(text: str) -> float | None:
    found = _HEIGHT.fullmatch(text.strip())
    return 12.0 * int(found["feet"]) + int(found["inches"]) if found and int(found["inches"]) < 12 else None


def _amount_of(text: str) -> float | None:
    found = _AMOUNT.fullmatch(text.strip())
    if not found:
        return None
    number = float(found["number"].replace(",", "").replace(" ", ""))
    return (-number if found["sign"] in ("-", "−") else number) * _SCALES.get(found["scale"] or "", 1.0)


def _unit_of(text: str) -> str:
    found = _AMOUNT.fullmatch(text.strip())
    return found["unit"] if found else ""


def _place_of(text: str) -> float | None:
    found = _PLACE.fullmatch(text.strip())
    return float(found["place"]) if found else None


_READERS: dict[Kind, Callable[[str], float | None]] = {
    "date": date_of,
    "year": _year_of,
    "time": time_of,
    "height": _height_of,
    "amount": _amount_of,
    "place": _place_of,
}


def read_cells(name: str, values: Iterable[str]) -> tuple[Kind, dict[str, float]] | None:
    """Return the kind of a column's values and the number of each that has one; None where they are of no kind.

    Dates with and without a year have no order among each other, so they are of no kind together.
    """
    texts = [value for value in values if value.strip(" -–—?")]
    if not 2 <= len(texts) <= MOST_CELLS:
        return None
    for kind, read in _READERS.items():
        found = {text: number for text in texts if (number := read(text)) is not None}
        if len(found) < _LEAST_SHARE * len(texts):
            continue
        if kind == "height" and "height" not in name.lower():  # `6-3` is a score elsewhere
            continue
        if kind == "amount" and len({unit for text in found if (unit := _unit_of(text))}) > 1:
            continue
        if kind == "date" and len({number >= 10_000_000 for number in found.values()}) > 1:
            continue
        return kind, found
    return None
