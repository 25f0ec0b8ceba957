"""Statements about an entity of Wikidata → a Page with a sentence for each property.

Own code: the libraries `Wikidata` and `qwikidata` read the same JSON, but give no text, and neither knows best ranks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.passages import with_text
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line

PROFILE = "wikidata"

# Values of one property that a sentence lists. A guess: a country has 190 of "diplomatic relation".
_MOST_VALUES = 12
# Characters of one value. A guess.
_MAX_VALUE_CHARS = 300
# Types of values that say something to a reader: no identifiers in other databases, no pictures, no addresses.
_SHOWN_TYPES = frozenset({"wikibase-item", "time", "quantity", "monolingualtext", "string"})
# Precisions of Wikibase: 7 is a century, 8 a decade, 9 a year, 10 a month, 11 a day.
_CENTURY, _DECADE, _YEAR, _MONTH, _DAY = 7, 8, 9, 10, 11
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_TIME = re.compile(r"([+-])0*(\d{1,11})-(\d\d)-(\d\d)T\d\d:\d\d:\d\dZ")
_JULIAN = "Q1985786"
# Qualifiers that say when a statement holds.
_TIMES = {"P585": "in", "P580": "from", "P582": "until"}
# Properties whose label is a noun: "The capital of Utah is Salt Lake City." Others end in a word that asks for one.
_NO_NOUN = re.compile(
    r"^(?:has|is|named|said|made|located|contains|shares|member|participant)\b"
    r"|\b(?:of|at|in|by|with|to|on|from|as|for|\w+ed)$"
)
# Properties that people ask for with a verb, and in which words.
_VERBS = {
    "P19": "was born in",
    "P20": "died in",
    "P69": "was educated at",
    "P112": "was founded by",
    "P127": "is owned by",
    "P131": "is located in",
}
_VERBS_OF_TIME = {"P569": "was born", "P570": "died", "P571": "was founded or created"}
# Properties about pages of Wikimedia, and values that are such pages.
_ABOUT_WIKIMEDIA = frozenset({"P373", "P935"})
_WIKIMEDIA_PAGE = re.compile(r"(?:Category|Portal|Template|Wikipedia|Commons):")
_ITEM = re.compile(r"Q\d{1,12}")
_PROPERTY = re.compile(r"P\d{1,8}")


@dataclass(frozen=True)
class _Value:
    text: str
    """Text of the value, or the id of an entity whose label it is."""
    is_entity: bool = False
    unit: str | None = None
    """Id of a number's unit."""
    times: str = ""
    """Times at which it holds: `in 2020`, `from 1979 until 1991`."""


def statements_of(body: bytes) -> dict[str, Any] | Failure | None:
    """Return what an answer of `wbgetentities` says of its entity, without references and links.

    None where the answer is not one; a failure where there is no such entity.
    """
    try:
        entities = json.loads(body)["entities"]
        (entity,) = entities.values() if isinstance(entities, dict) else entities
        if "missing" in entity:
            return Failure(FailureKind.NOT_FOUND, "Wikidata has no such entity")
        kept = {name: entity[name] for name in ("id", "labels", "claims", "lastrevid", "modified")}
        kept["descriptions"] = entity.get("descriptions")
        kept["claims"] = {
            each: [{name: part for name, part in claim.items() if name != "references"} for claim in claims]
            for each, claims in kept["claims"].items()
        }
        _values(kept)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None
    return kept


def ids_to_label(entity: Mapping[str, Any]) -> list[str]:
    """Return the ids of properties, entities and units in the statements; those that tell most with few first."""
    literal: dict[str, None] = {}
    named: dict[str, None] = {}
    for each, values in _values(entity).items():
        ids = named if any(value.is_entity for value in values) else literal
        ids[each] = None
        ids.update((value.text, None) for value in values if value.is_entity)
        ids.update((value.unit, None) for value in values if value.unit)
    return list(literal | named)


def label_of(entity: object) -> str | None:
    """Return the label in an entity of `wbgetentities`, English where it has one."""
    labels = entity.get("labels") if isinstance(entity, dict) else None
    label = labels.get("en") if isinstance(labels, dict) else None
    value = label.get("value") if isinstance(label, dict) else None
    return _line(value) or None if isinstance(value, str) else None


def read_wikidata(page: Page, body: bytes) -> Page | Failure:
    """Return the page of one entity: its description, then a sentence for each property."""
    try:
        entity = json.loads(body)
        labels = {each: str(label) for each, label in entity["shown"].items()}
        subject = label_of(entity)
        values = _values(entity)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return Failure(FailureKind.SERVICE_DOWN, "Wikidata did not answer with statements")
    if subject is None:
        return Failure(FailureKind.NO_TEXT, "the entity has no English label")
    blocks = [Block("heading", subject)]
    if about := label_of({"labels": entity.get("descriptions")}):
        blocks.append(Block("paragraph", f"{subject}: {about}."))
    for each, found in values.items():
        shown = list(dict.fromkeys(text for value in found if (text := _shown(value, labels))))
        if shown and each in labels:
            blocks.append(Block("paragraph", _sentence(subject, each, labels[each], shown)))
    modified: date | None = None
    if changed := re.match(r"(\d{4})-(\d\d)-(\d\d)T", str(entity.get("modified"))):
        with suppress(ValueError):
            modified = date(*map(int, changed.groups()))
    return replace(
        with_text(replace(page, language="en"), tuple(blocks)),
        title=subject,
        modified=modified,
        source=PROFILE,
        work=Work(version=str(entity.get("lastrevid")), venue="Wikidata"),
    )


def _values(entity: Mapping[str, Any]) -> dict[str, list[_Value]]:
    """Return the values of best rank by property, in the order of the properties' numbers."""
    found = {}
    for each, claims in entity["claims"].items():
        if not _PROPERTY.fullmatch(each) or each in _ABOUT_WIKIMEDIA or not isinstance(claims, list):
            continue
        ranks = {claim.get("rank") for claim in claims if isinstance(claim, dict)}
        best = "preferred" if "preferred" in ranks else "normal"
        values = [
            value
            for claim in claims
            if isinstance(claim, dict) and claim.get("rank") == best and (value := _value(claim))
        ]
        if values:
            found[each] = values
    return {each: found[each] for each in sorted(found, key=lambda name: int(name[1:]))}


def _value(claim: Mapping[str, Any]) -> _Value | None:
    snak = claim.get("mainsnak")
    if not isinstance(snak, dict) or snak.get("datatype") not in _SHOWN_TYPES:
        return None
    data = snak.get("datavalue")
    value = data.get("value") if isinstance(data, dict) else None
    qualifiers, told = claim.get("qualifiers"), []
    for each, word in _TIMES.items():
        snaks = qualifiers.get(each) if isinstance(qualifiers, dict) else None
        if not isinstance(snaks, list) or not snaks or not isinstance(snaks[0], dict):
            continue
        inner = snaks[0].get("datavalue")
        moment = inner.get("value") if isinstance(inner, dict) else None
        if not isinstance(moment, dict):
            continue
        precision = moment.get("precision")
        year_at_most = min(precision, _YEAR) if isinstance(precision, int) else _YEAR
        if time := _time({**moment, "precision": year_at_most}):
            told.append(f"{word} {time}")
    times = " ".join(told)
    if isinstance(value, str):
        return _Value(_line(value), times=times) if value.strip() else None
    if not isinstance(value, dict):
        return None
    if snak["datatype"] == "wikibase-item":
        item = str(value.get("id"))
        return _Value(item, is_entity=True, times=times) if _ITEM.fullmatch(item) else None
    if snak["datatype"] == "quantity":
        amount = re.fullmatch(r"\+?(-?)(\d{1,30})(\.\d{1,30})?", str(value.get("amount")))
        if amount is None:
            return None
        whole = f"{int(amount[2]):,}" if len(amount[2]) > 4 else amount[2]
        unit = _ITEM.search(str(value.get("unit")))
        return _Value(f"{amount[1]}{whole}{amount[3] or ''}", unit=unit[0] if unit else None, times=times)
    text = value.get("text") if snak["datatype"] == "monolingualtext" else _time(value)
    return _Value(_line(text), times=times) if isinstance(text, str) and text.strip() else None


def _time(value: Mapping[str, Any]) -> str | None:
    """Return `11 March 1952`, `March 1952`, `1952`, `1950s` or `20th century`, as exact as the statement is."""
    found, precision = _TIME.fullmatch(str(value.get("time"))), value.get("precision")
    if found is None or not isinstance(precision, int) or precision < _CENTURY:
        return None
    year, month, day = int(found[2]), int(found[3]), int(found[4])
    era = " BC" if found[1] == "-" else ""
    if precision == _CENTURY:
        number = -(-year // 100)
        ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending} century{era}"
    if precision == _DECADE:
        return f"{year // 10 * 10}s{era}"
    if precision < _MONTH or not 1 <= month <= len(_MONTHS):
        return f"{year}{era}"
    said = f"{_MONTHS[month - 1]} {year}{era}"
    if precision == _MONTH or not day:
        return said
    calendar = " (Julian calendar)" if str(value.get("calendarmodel")).endswith(_JULIAN) else ""
    return f"{day} {said}{calendar}"


def _shown(value: _Value, labels: Mapping[str, str]) -> str | None:
    """Return a value as text: a label, a date, a number with its unit; then when it holds. None without its label."""
    said = labels.get(value.text) if value.is_entity else value.text
    if said is None or _WIKIMEDIA_PAGE.match(said) or (value.unit and value.unit not in labels):
        return None
    if value.unit:
        said += f" {labels[value.unit]}"
    return f"{said} ({value.times})" if value.times else said


def _sentence(subject: str, name: str, label: str, values: list[str]) -> str:
    shown = values[:_MOST_VALUES]
    said = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    if len(values) > len(shown):
        said += f" (and {len(values) - len(shown)} more)"
    if name in _VERBS_OF_TIME:
        return f"{subject} {_VERBS_OF_TIME[name]} {'on' if re.match('[0-9]{1,2} ', said) else 'in'} {said}."
    if name in _VERBS:
        return f"{subject} {_VERBS[name]} {said}."
    if _NO_NOUN.search(label):
        return f"{subject}: {label} {said}."
    return f"The {label} of {subject} is {said}."


def _line(text: str) -> str:
    return visible_line(text)[:_MAX_VALUE_CHARS]
