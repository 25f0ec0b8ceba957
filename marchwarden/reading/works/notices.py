"""Notices of works that the registry of their DOIs holds: retractions, corrections, newer versions. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from marchwarden.text.works import DOI, DOI_RESOLVER

NoticeKind: TypeAlias = Literal["retracted", "superseded", "corrected", "newer_version"]

_CROSSREF = "https://api.crossref.org/works/"

# Kinds of updates in Crossref's records; any other, such as `clarification`, is no news to a reader.
_UPDATES: dict[str, NoticeKind] = {
    "retraction": "retracted",
    "partial_retraction": "retracted",
    "withdrawal": "retracted",
    "removal": "retracted",
    "expression_of_concern": "corrected",
    "correction": "corrected",
    "corrigendum": "corrected",
    "erratum": "corrected",
    "new_version": "newer_version",
    "new_edition": "newer_version",
}


@dataclass(frozen=True)
class Notice:
    """News of a cited work as a whole, beside its quotes."""

    kind: NoticeKind
    detail: str
    """The news, in a sentence."""
    url: str | None = None
    """Address of the notice or of the newer version; None where it is the page itself."""


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
    updates = message.get("updated-by")
    seen: set[str] = set()
    for update in updates if isinstance(updates, list) else ():
        name = str(update.get("type", "")).casefold().replace("-", "_") if isinstance(update, dict) else ""
        if name not in _UPDATES or name in seen:
            continue
        seen.add(name)
        doi = update.get("DOI")
        url = f"{DOI_RESOLVER}{doi}" if isinstance(doi, str) and DOI.fullmatch(doi) else None
        yield Notice(_UPDATES[name], f"Crossref has a notice of {name.replace('_', ' ')}", url)
