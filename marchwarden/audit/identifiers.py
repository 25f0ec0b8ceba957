"""DOIs and arXiv ids in addresses, and the notices that their registries hold: retractions, newer versions. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote

from marchwarden.http.addresses import host_of

NoticeKind: TypeAlias = Literal["retracted", "superseded", "corrected", "newer_version"]

DOI_RESOLVER = "https://doi.org/"
_CROSSREF = "https://api.crossref.org/works/"
_ARXIV = "https://arxiv.org/abs/"

# The DOI handbook's form; the suffix ends where an address has its query or fragment.
_DOI = re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"<>?#&]+")
_DOI_ENDINGS = re.compile(r"(?:/(?:full(?:text)?|abstract|pdf|epdf|html|meta)|\.pdf)$", re.IGNORECASE)
_ARXIV_PATH = re.compile(
    r"//(?:\w+\.)?arxiv\.org/(?:abs|pdf|html)/(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v(?P<version>\d{1,3}))?"
)
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


@dataclass(frozen=True)
class ArxivPaper:
    id: str
    version: int | None
    """Version that the address names; None where it names the latest."""

    @property
    def address(self) -> str:
        return f"{_ARXIV}{self.id}"

    def latest_version(self, body: bytes) -> int | None:
        """Return the highest version that the paper's page names; None where it names none."""
        text = body.decode("utf-8", "replace")
        named = re.findall(rf"{re.escape(self.id)}v(\d{{1,3}})\b|\[v(\d{{1,3}})\]", text)
        return max((int(one or other) for one, other in named), default=None)


def doi_of(url: str) -> str | None:
    """Return the DOI in an address, `10.1000/xyz`; None where it has none."""
    found = _DOI.search(unquote(url))
    return _DOI_ENDINGS.sub("", found[0]).rstrip("/.,;)") if found else None


def is_doi_address(url: str) -> bool:
    """Return whether an address is a DOI's own, which is meant to lead elsewhere."""
    return host_of(url) in ("doi.org", "dx.doi.org")


def arxiv_paper_of(url: str) -> ArxivPaper | None:
    found = _ARXIV_PATH.search(url)
    return ArxivPaper(found["id"], int(found["version"]) if found["version"] else None) if found else None


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
    updates = message.get("updated-by")
    seen: set[str] = set()
    for update in updates if isinstance(updates, list) else ():
        name = str(update.get("type", "")).casefold().replace("-", "_") if isinstance(update, dict) else ""
        if name not in _UPDATES or name in seen:
            continue
        seen.add(name)
        doi = update.get("DOI")
        url = f"{DOI_RESOLVER}{doi}" if isinstance(doi, str) and _DOI.fullmatch(doi) else None
        yield Notice(_UPDATES[name], f"Crossref has a notice of {name.replace('_', ' ')}", url)
