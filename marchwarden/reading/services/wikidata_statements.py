"""Statements about an entity of Wikidata, as its query service gives them (SPARQL 1.1 JSON) → a Page of sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.passages import Block, visible, with_text

# Values of one property that a sentence lists. A guess: a country has 190 of "diplomatic relation".
_MOST_VALUES = 30
# Characters of one value. A guess.
_MAX_VALUE_CHARS = 300
# Precisions of Wikibase: 9 is a year, 10 a month, 11 a day; below 9 are decades and more.
_YEAR, _MONTH, _DAY = 9, 10, 11
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TIME = re.compile(r"(-?)(\d{4,})-(\d\d)-(\d\d)T\d\d:\d\d:\d\dZ")
# Properties whose label is a noun: "The capital of Utah is Salt Lake City." Others end in a word that asks for one.
_NO_NOUN = re.compile(r"^(?:has|is|part|named|said|made|located)\b|\b(?:of|at|in|by|with|to|on|from|as|for|\w+ed)$")
_UNITLESS = "1"

Row = Mapping[str, str]


def read_wikidata(page: Page, body: bytes) -> Page | Failure:
    """Return the page of one entity: its description, then a sentence for each property."""
    rows = _rows_of(body)
    if rows is None:
        return Failure(FailureKind.SERVICE_DOWN, "Wikidata's query service did not answer with statements")
    rows = [row for row in rows if all(row.get(name) for name in ("subjectLabel", "propertyLabel", "value"))]
    if not rows:
        return Failure(FailureKind.NOT_FOUND, "Wikidata has no statements about it")
    first = rows[0]
    subject = first["subjectLabel"]
    blocks = [Block("heading", subject)]
    if about := first.get("subjectDescription"):
        blocks.append(Block("paragraph", f"{subject}: {about}."))
    values: dict[str, dict[str, None]] = {}
    for row in rows:
        values.setdefault(row["propertyLabel"], {})[_value(row)] = None
    blocks += [Block("paragraph", _sentence(subject, label, list(each))) for label, each in values.items()]
    changed = _TIME.fullmatch(first.get("modified", ""))
    return replace(
        with_text(replace(page, language="en"), tuple(blocks)),
        title=subject,
        site="Wikidata",
        modified=date(int(changed[2]), int(changed[3]), int(changed[4])) if changed else None,
        source="wikidata",
        work=Work(version=first.get("revision"), venue="Wikidata"),
    )


def _rows_of(body: bytes) -> list[dict[str, str]] | None:
    """Return the rows of an answer, each with its values by variable; None where it is none."""
    try:
        bindings = json.loads(body)["results"]["bindings"]
        rows = [{name: str(cell["value"]) for name, cell in row.items()} for row in bindings]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return [
        {name: " ".join(visible(value).split())[:_MAX_VALUE_CHARS] for name, value in row.items()} for row in rows
    ]


def _sentence(subject: str, label: str, values: list[str]) -> str:
    shown = values[:_MOST_VALUES]
    said = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    if len(values) > len(shown):
        said += f" (and {len(values) - len(shown)} more)"
    if _NO_NOUN.search(label):
        return f"{subject}: {label} {said}."
    return f"The {label} of {subject} is {said}."


def _value(row: Row) -> str:
    """Return a statement's value as text: a label, a date, a number with its unit; then the time for which it holds."""
    value = row["value"]
    if _TIME.fullmatch(value):
        said = _time(value, int(row.get("precision") or _DAY))
    elif value.startswith("http"):
        said = row.get("valueLabel") or value
    else:
        unit = row.get("unitLabel", "")
        number = f"{int(value):,}" if re.fullmatch(r"[+-]?\d{5,}", value) else value
        said = f"{number} {unit}" if unit and unit != _UNITLESS else number
    times = {"in": row.get("at"), "from": row.get("from"), "until": row.get("until")}
    told = " ".join(f"{word} {_time(time, _YEAR)}" for word, time in times.items() if time and _TIME.fullmatch(time))
    return f"{said} ({told})" if told else said


def _time(text: str, precision: int) -> str:
    """Return `11 March 1952`, `March 1952` or `1952`, as exact as the statement is."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    year = f"{int(found[2])}{' BC' if found[1] else ''}"
    month, day = int(found[3]), int(found[4])
    if precision < _MONTH or not 1 <= month <= len(_MONTHS):
        return year if precision >= _YEAR else f"about {year}"
    return f"{day} {_MONTHS[month - 1]} {year}" if precision >= _DAY else f"{_MONTHS[month - 1]} {year}"
