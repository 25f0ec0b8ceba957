"""Notices of works that registries hold: retractions, expressions of concern, corrections, newer versions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from marchwarden.observations import Notice, NoticeKind
from marchwarden.text.works import DOI, DOI_RESOLVER

_CROSSREF = "https://api.crossref.org/works/"

# Kinds of notices by their names in Crossref's records; any other, such as `clarification`, is no news to a reader.
_UPDATES: dict[str, NoticeKind] = {
    "retraction": "retracted",
    "partial_retraction": "retracted",
    "withdrawal": "retracted",
    "removal": "retracted",
    "expression_of_concern": "concern",
    "correction": "corrected",
    "corrigendum": "corrected",
    "erratum": "corrected",
    "addendum": "corrected",
    "new_version": "newer_version",
    "new_edition": "newer_version",
}


# The same in the lists of PubMed and Europe PMC, by their letters: `ErratumIn`, "Expression of concern in".
_LISTED = {
    "retractionin": "retraction",
    "partialretractionin": "partial retraction",
    "expressionofconcernin": "expression of concern",
    "erratumin": "erratum",
    "correctedandrepublishedin": "correction",
    "updatein": "new version",
}
_LISTED_OF_OTHERS = {
    "retractionof": "retraction",
    "expressionofconcernfor": "expression of concern",
    "erratumfor": "erratum",
}


def crossref_address(doi: str) -> str:
    """Return the address of a DOI's record at Crossref, which holds its retractions and corrections."""
    return f"{_CROSSREF}{quote(doi, safe='')}"


def crossref_notices(body: bytes) -> Iterator[Notice]:
    """Yield the notices in a record of Crossref, each kind of update of the work once. Raises ValueError for what is
    no record."""
    record = json.loads(body)
    message = record.get("message") if isinstance(record, dict) else None
    if not isinstance(message, dict):
        raise ValueError("no record of a work")
    yield from notices_of(message)


def notices_of(message: Mapping[str, Any]) -> Iterator[Notice]:
    """Yield the notices in what Crossref says of one work, as `crossref_notices` does."""
    for kind, words, url in _updates(message.get("updated-by")):
        yield Notice(kind, f"Crossref has a notice of {words}", url)
    for kind, words, url in _updates(message.get("update-to")):
        if kind != "newer_version":
            yield Notice("notice", f"it is itself the notice of {words} of another work", url)


def listed_notice(name: str, registry: str, url: str | None) -> Notice | None:
    """Return the notice that a list of comments and corrections names, `ErratumIn`; None for any other entry."""
    letters = "".join(filter(str.isalpha, name)).casefold()
    if words := _LISTED.get(letters):
        return Notice(_UPDATES[words.replace(" ", "_")], f"{registry} lists a notice of {words}", url)
    if words := _LISTED_OF_OTHERS.get(letters):
        return Notice("notice", f"it is itself the notice of {words} of another work", url)
    return None


def _updates(listed: object) -> Iterator[tuple[NoticeKind, str, str | None]]:
    """Yield the kind, the name in words and the address of each kind of update, once."""
    seen: set[str] = set()
    for update in listed if isinstance(listed, list) else ():
        name = str(update.get("type", "")).casefold().replace("-", "_") if isinstance(update, dict) else ""
        if name not in _UPDATES or name in seen:
            continue
        seen.add(name)
        doi = update.get("DOI")
        url = f"{DOI_RESOLVER}{doi}" if isinstance(doi, str) and DOI.fullmatch(doi) else None
        yield _UPDATES[name], name.replace("_", " "), url
