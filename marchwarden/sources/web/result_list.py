"""Results of a web search in JSON → hits: services name the same few fields differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from marchwarden.contract import SourceFilter
from marchwarden.observations import Failure, FailureKind, SearchHit, plain_line
from marchwarden.reading.html.dates import as_date

# Characters of a date, at most. A guess: ISO 8601 with a time needs 29.
_MAX_DATE_CHARS = 40


# Fields of an answer in which services tell of an error, though its status is 200; and those that hold its words, in
# which some also say that all went well, or that there is nothing.
_ERROR_FIELDS, _WORD_FIELDS = ("error", "errors"), ("message", "detail")
_OUTCOME_FIELDS = ("success", "status", "statusCode", "status_code")
_WENT_WELL = re.compile(
    r"\W*(?:ok(?:ay)?|success\w*|succeeded|done|completed?)\b"
    r"|.*\b(?:no|0|zero) (?:\w+ ){0,2}(?:results?|matches|hits|documents|pages)\b|.*\bnothing (?:was )?found\b",
    re.IGNORECASE | re.DOTALL,
)
# Characters of a service's own words on an error that are looked at: an error of many MB is not read whole. A guess.
_MAX_WORDS_CHARS = 10_000

# Domains that a query names. A guess: services cut long queries, Brave at 50 words.
_MOST_SITES = 8


def within_sites(query: str, source_filter: SourceFilter) -> str:
    """Return a query that names the domains of a filter: `beans (site:gov OR site:edu) -site:example.com`."""
    inside = " OR ".join(f"site:{name}" for name in source_filter.include[:_MOST_SITES])
    outside = [f"-site:{name}" for name in source_filter.exclude[: _MOST_SITES - len(source_filter.include)]]
    return " ".join(filter(None, [query, f"({inside})" if " OR " in inside else inside, *outside]))


def error_told(answer: object) -> str | None:
    """Return a service's own words where its answer, an object, tells of an error; None where it tells of none."""
    if isinstance(answer, list):
        return error_told(answer[0]) if answer else None
    if not isinstance(answer, dict):
        return str(answer)[:_MAX_WORDS_CHARS] if answer else None
    if told := next(filter(None, map(answer.get, _ERROR_FIELDS)), None):
        return error_told(told) or ""
    if any(_went_well(answer.get(name)) for name in _OUTCOME_FIELDS):
        return None
    words = (error_told(answer.get(name)) for name in _WORD_FIELDS)
    return next((each for each in words if each and not _WENT_WELL.match(each)), None)


def _went_well(outcome: object) -> bool:
    """Return whether a field of an answer says that the request was done: True, 200, "ok"."""
    if isinstance(outcome, int):
        return outcome is True or 200 <= outcome < 400
    return isinstance(outcome, str) and _WENT_WELL.match(outcome) is not None


def hits_of(
    found: Any, path: Sequence[str], service: str, *, address: str = "url", text: str, day: str
) -> list[SearchHit | None] | Failure:
    """Return a hit for each result in the list at `path`; None for a result without an address.

    `address`, `text` and `day` name the fields of a result. An answer that has no such list holds no results where it
    is an object that tells of no error, as services leave out what is empty; else it is the failure of a service that
    is down.
    """
    for key in path:
        if not isinstance(found, dict):
            return Failure(FailureKind.SERVICE_DOWN, f"{service} did not return search results")
        if found.get(key) is None and (said := error_told(found)) is not None:
            return Failure(FailureKind.SERVICE_DOWN, f"{service} reports an error{said and f': {said}'}")
        found = found.get(key, {} if key != path[-1] else [])
    if not isinstance(found, list):
        return Failure(FailureKind.SERVICE_DOWN, f"{service} did not return search results")
    return [_hit(each, address, text, day) for each in found]


def _hit(result: object, address: str, text: str, day: str) -> SearchHit | None:
    if not isinstance(result, dict) or not isinstance(url := result.get(address), str):
        return None
    title, snippet, published = result.get("title"), result.get(text), result.get(day)
    return SearchHit(
        url,
        title if isinstance(title, str) else "",
        snippet if isinstance(snippet, str) else "",
        published=as_date(plain_line(published, _MAX_DATE_CHARS)) if isinstance(published, str) else None,
    )
