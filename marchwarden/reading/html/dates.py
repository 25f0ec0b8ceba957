"""Dates as pages write them: in markup, in text near the top or beside "updated", in an address.

Own code beside dateparser and htmldate: both find a date in any text, also where a page only tells of a day.
"""

from __future__ import annotations

import re
from datetime import date

# First letters of month names in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
    "dec": 12, "jän": 1, "mär": 3, "mai": 5, "okt": 10, "dez": 12, "ene": 1, "abr": 4, "ago": 8, "dic": 12, "fév": 2,
    "avr": 4, "juin": 6, "juil": 7, "aoû": 8, "déc": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "set": 9, "ott": 10,
    "fev": 2, "out": 10, "mrt": 3, "mei": 5, "янв": 1, "фев": 2, "мар": 3, "апр": 4, "мая": 5, "май": 5, "июн": 6,
    "июл": 7, "авг": 8, "сен": 9, "окт": 10, "ноя": 11, "дек": 12,
}  # fmt: skip

_MONTH = r"(?P<month{n}>[A-Za-zäéûа-я]{{3,10}})\.?"
_DAY = r"(?P<day{n}>\d{{1,2}})(?:st|nd|rd|th|\.|er|º)?"
_YEAR = r"(?P<year{n}>(?:19|20)\d{{2}})"
_WRITTEN = "|".join(
    shape.format(n=n)
    for n, shape in enumerate(
        [
            r"(?P<year{n}>(?:19|20)\d{{2}})[-/.](?P<month{n}>\d{{1,2}})[-/.](?P<day{n}>\d{{1,2}})(?!\d)",
            rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
            rf"\b{_DAY}\s+(?:de\s+)?{_MONTH}\s+(?:de\s+)?{_YEAR}\b",
            rf"\b(?P<day{{n}}>\d{{{{1,2}}}})\.(?P<month{{n}}>\d{{{{1,2}}}})\.{_YEAR}\b",
            r"(?P<year{n}>(?:19|20)\d{{2}})年(?P<month{n}>\d{{1,2}})月(?P<day{n}>\d{{1,2}})日",
            rf"\b(?P<month{{n}}>\d{{{{1,2}}}})/(?P<day{{n}}>\d{{{{1,2}}}})/{_YEAR}\b",
        ]
    )
)
_DATE = re.compile(_WRITTEN)
_MONTH_AND_YEAR = re.compile(rf"\b{_MONTH.format(n='')}\s+(?:de\s+)?{_YEAR.format(n='')}\b")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?:/|-|$)")

_LABEL_GAP = r"[\s\xa0]*(?:on|am|le|at|:|–|-)?[\s\xa0]*(?:\w{3,9},[\s\xa0]+)?"
_UPDATED = re.compile(
    r"\b(?:last[\s\xa0]+)?(?:updated|modified|revised|reviewed|changed)\b"
    r"|\b(?:aktualisiert|geändert|Stand|mis à jour|modifié|actualizado|aggiornato|bijgewerkt|Обновлено|更新)\b",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"\b(?:published|posted|issued|released|date|veröffentlicht|publié|publicado|pubblicato|Опубликовано|公開)\b",
    re.IGNORECASE,
)
_GAP = re.compile(_LABEL_GAP, re.IGNORECASE)
# Where a byline stands, and what one looks like: characters from the top, words beside the date, characters of its
# line. Guesses, measured by evals/reading/metadata.py.
_TOP_CHARS = 400
_MAX_WORDS_BESIDE = 8
_MAX_BYLINE_CHARS = 90
_SENTENCE_END = re.compile(r"[.!?。]\s*$")


def as_date(text: str) -> date | None:
    """Parse the date at the start of a field of markup (`2021-05-03T…`, `20210503`, `May 3, 2021`); None for
    others."""
    text = text.strip()
    if compact := re.match(r"((?:19|20)\d{2})(\d{2})(\d{2})(?!\d)", text):
        return _day(*map(int, compact.groups()))
    found = _DATE.search(text[:60])
    if found:
        return _date_of(found)
    if month := re.match(r"((?:19|20)\d{2})-(\d{2})$", text):
        return _day(int(month[1]), int(month[2]), 1)
    return None


def in_address(url: str) -> date | None:
    """Return the date in a path such as `/2021/05/03/`; None where there is none."""
    found = _IN_ADDRESS.search(url)
    return _day(*map(int, found.groups())) if found else None


def shown_dates(text: str, top: str | None = None) -> tuple[date | None, date | None]:
    """Return the dates of publication and of the last change in the visible text; None for each that it lacks.

    A date counts beside a label anywhere; for publication also by itself on a line near the top, or in `top`.
    """
    published, updated = _labelled_date(_PUBLISHED, text), _labelled_date(_UPDATED, text)
    if published:
        return published, updated
    for line in (text[:_TOP_CHARS] if top is None else top).split("\n"):
        if len(line) <= _MAX_BYLINE_CHARS and not _UPDATED.search(line) and (found := _DATE.search(line)):
            beside = line[: found.start()] + line[found.end() :]
            # A date in a sentence is that of an event, one in a byline that of the page.
            if not _SENTENCE_END.search(line) and len(beside.split()) <= _MAX_WORDS_BESIDE:
                return _date_of(found), updated
    return None, updated


def _labelled_date(label: re.Pattern[str], text: str) -> date | None:
    for mark in label.finditer(text):
        gap = _GAP.match(text, mark.end())
        at = gap.end() if gap else mark.end()
        if found := _DATE.match(text, at):
            return _date_of(found)
        if month := _MONTH_AND_YEAR.match(text, at):
            return _day(int(month["year"]), _month(month["month"]), 1)
    return None


def _date_of(found: re.Match[str]) -> date | None:
    fields = {name[:-1]: value for name, value in found.groupdict().items() if value is not None}
    month, day = _month(fields["month"]), int(fields["day"])
    if month > 12 and "/" in found[0] and day <= 12:  # 25/12/2020
        month, day = day, month
    return _day(int(fields["year"]), month, day)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    name = text.lower()
    return _MONTHS.get(name[:4]) or _MONTHS.get(name[:3]) or 0


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
