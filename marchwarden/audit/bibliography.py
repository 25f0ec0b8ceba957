"""Works that an answer cites, in the formats of reference managers: BibTeX, RIS and CSL-JSON. Pure.

Each work is listed once, however often it is cited.

Own code beside bibtexparser, rispy and citeproc-py, which are made to read such files; tests read ours with them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

from marchwarden.contract import Citation
from marchwarden.http.addresses import host_of, organisation_of
from marchwarden.observations import DATABASE, is_file, without_place
from marchwarden.text.works import arxiv_paper_of, parts_of_name

BibliographyFormat: TypeAlias = Literal["bibtex", "ris", "csl"]
EntryKind: TypeAlias = Literal["article", "preprint", "page", "file", "data"]

ENDINGS: dict[str, BibliographyFormat] = {".bib": "bibtex", ".ris": "ris", ".csl.json": "csl"}
"""Formats by the ending of a file's name."""

_CSL_TYPES: dict[EntryKind, str] = {
    "article": "article-journal",
    "preprint": "article",
    "page": "webpage",
    "file": "document",
    "data": "dataset",
}
_RIS_TYPES: dict[EntryKind, str] = {
    "article": "JOUR",
    "preprint": "UNPB",
    "page": "ELEC",
    "file": "GEN",
    "data": "DATA",
}
# Characters that TeX reads as commands.
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}


@dataclass(frozen=True)
class _Entry:
    key: str
    kind: EntryKind
    citation: Citation
    arxiv: str | None
    accessed: date | None

    @property
    def title(self) -> str:
        return self.citation.title or self.locator

    @property
    def locator(self) -> str:
        return without_place(self.citation.locator)

    @property
    def year(self) -> int | None:
        published = self.citation.published
        return self.citation.year or (published.year if published else None)

    @property
    def authors(self) -> list[str]:
        return self.citation.authors or []

    @property
    def issued(self) -> list[int]:
        """Year, month and day of the publication, as far as they are known and of one year."""
        published = self.citation.published
        if published and published.year == self.year:
            return [published.year, published.month, published.day]
        return [self.year] if self.year else []


def bibliography(citations: Sequence[Citation], form: BibliographyFormat, accessed: date | None = None) -> str:
    """Return the works that these citations name, in their order, as the text of a file.

    `accessed` is the day on which the pages were read.
    """
    found: dict[str, _Entry] = {}
    keys: set[str] = set()
    for citation in citations:
        paper = arxiv_paper_of(citation.locator)
        locator = without_place(citation.locator)
        work = citation.doi or (paper.id if paper else locator)
        if work in found:
            continue
        # A name for the entry, such as `ahuja2022testing`, that no other entry has.
        parts = parts_of_name(citation.authors[0]) if citation.authors else None
        first = parts[0] if parts else (citation.authors or [citation.venue or _place_of(locator)])[0]
        year = citation.year or (citation.published.year if citation.published else "")
        words = (_ascii(word) for word in (citation.title or "").split())
        # Articles and prepositions tell no title from another. A guess.
        word = next((word for word in words if len(word) > 3), "")
        begin = _ascii(first) or citation.source
        plain = f"{begin}{year}{word if word != begin else ''}"
        key = next(name for name in (plain, *(f"{plain}{number}" for number in range(2, 10_000))) if name not in keys)
        keys.add(key)
        found[work] = _Entry(key, _kind_of(citation), citation, paper.id if paper else None, accessed)
    return _WRITERS[form](list(found.values()))


def format_of(path: Path) -> BibliographyFormat | None:
    """Return the format that a file's name asks for; None where its ending is none of ENDINGS."""
    return next((form for ending, form in ENDINGS.items() if path.name.lower().endswith(ending)), None)


def _place_of(locator: str) -> str:
    """Return the name of what a locator leads to: of a page its site (`wasatchvalley`), of a file its own name."""
    if locator.startswith(DATABASE):
        return re.split("[/?]", locator.removeprefix(DATABASE))[0]
    if is_file(locator):
        return PurePath(locator).stem
    return organisation_of(host_of(locator).removeprefix("www.")).partition(".")[0]


def _kind_of(citation: Citation) -> EntryKind:
    if citation.locator.startswith(DATABASE):
        return "data"
    if is_file(citation.locator):
        return "file"
    if arxiv_paper_of(citation.locator) and (citation.venue or "arXiv") == "arXiv":
        return "preprint"
    return "article" if citation.doi or (citation.venue and citation.authors) else "page"


def _ascii(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", plain.lower())[:30]


# BibTeX


def _bibtex(entries: Iterable[_Entry]) -> str:
    written = []
    for entry in entries:
        citation = entry.citation
        authors = [
            ", ".join(map(_tex, parts)) if (parts := parts_of_name(author)) else f"{{{_tex(author)}}}"
            for author in entry.authors
        ]
        fields = {
            # The inner braces keep the title's capitals.
            "title": f"{{{_tex(entry.title)}}}",
            "author": " and ".join(authors),
            "journal": _tex(citation.venue or "") if entry.kind == "article" else "",
            "howpublished": _tex(citation.venue or "") if entry.kind not in ("article", "preprint") else "",
            "year": str(entry.year or ""),
            "doi": citation.doi or "",
            "eprint": entry.arxiv or "",
            "archiveprefix": "arXiv" if entry.arxiv else "",
            "version": citation.version or "",
            "url": "" if is_file(entry.locator) else entry.locator.replace("{", "%7B").replace("}", "%7D"),
            "note": f"File {_tex(entry.locator)}" if is_file(entry.locator) else "",
            "urldate": entry.accessed.isoformat() if entry.accessed else "",
        }
        kind = "article" if entry.kind == "article" else "misc"
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        written.append("\n".join([f"@{kind}{{{entry.key},", *lines, "}", ""]))
    return "\n".join(written)


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in " ".join(text.split()))


# RIS


def _ris(entries: Iterable[_Entry]) -> str:
    written = []
    for entry in entries:
        citation = entry.citation
        authors = [", ".join(parts_of_name(author) or (author,)) for author in entry.authors]
        issued = "/".join(f"{number:02}" for number in entry.issued)
        lines = [
            ("TY", _RIS_TYPES[entry.kind]),
            ("ID", entry.key),
            *(("AU", author) for author in authors),
            ("TI", entry.title),
            ("T2", citation.venue),
            ("PY", str(entry.year or "")),
            ("DA", issued if len(entry.issued) == 3 else ""),
            ("DO", citation.doi),
            ("ET", citation.version),
            ("AN", f"arXiv:{entry.arxiv}" if entry.arxiv else ""),
            ("UR", entry.locator),
            ("Y2", f"{entry.accessed:%Y/%m/%d}" if entry.accessed else ""),
        ]
        # A line of a record has its two letters, two blanks, a hyphen and a blank.
        texts = [f"{tag}  - {' '.join(value.split())}" for tag, value in lines if value]
        written.append("\n".join([*texts, "ER  - ", ""]))
    return "\n".join(written)


# CSL-JSON


def _csl(entries: Iterable[_Entry]) -> str:
    written = []
    for entry in entries:
        citation = entry.citation
        accessed = entry.accessed
        known = {
            "id": entry.key,
            "type": _CSL_TYPES[entry.kind],
            "title": entry.title,
            "author": [
                {"family": parts[0], "given": parts[1]} if (parts := parts_of_name(author)) else {"literal": author}
                for author in entry.authors
            ],
            "container-title": citation.venue if entry.kind in ("article", "page") else None,
            "publisher": citation.venue if entry.kind == "preprint" else None,
            "issued": {"date-parts": [entry.issued]} if entry.issued else None,
            "DOI": citation.doi,
            "number": f"arXiv:{entry.arxiv}" if entry.arxiv else None,
            "version": citation.version,
            "URL": entry.locator,
            "accessed": {"date-parts": [[accessed.year, accessed.month, accessed.day]]} if accessed else None,
        }
        written.append({name: value for name, value in known.items() if value})
    return json.dumps(written, ensure_ascii=False, indent=2) + "\n"


_WRITERS: dict[BibliographyFormat, Callable[[Iterable[_Entry]], str]] = {"bibtex": _bibtex, "ris": _ris, "csl": _csl}
