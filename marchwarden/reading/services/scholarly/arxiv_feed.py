"""arXiv's API (Atom) → records of papers, and the page of one (https://info.arxiv.org/help/api/user-manual.html).

Own code beside the package arxiv: it sends its own requests, past our cache and rate limits. A test compares both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from marchwarden.observations import Failure, Page, Work
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.services.scholarly.work_records import WorkRecord, no_answer, page_of_records
from marchwarden.reading.services.scholarly.xml_trees import parse_xml
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible_line
from marchwarden.text.works import arxiv_paper_of, identified

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
# Words by which a comment says that the paper was taken back; a comment may also tell of another paper.
_WITHDRAWN = re.compile(
    r"^\W*(?:withdrawn|retracted)\b|\b(?:this|the) (?:[\w-]+ ){0,3}(?:has|have|is|was)(?: been| now)? (?:[\w-]+ )?"
    r"(?:withdrawn|retracted)\b|\b(?:paper|article|submission|manuscript|preprint) (?:withdrawn|retracted)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ArxivEntry:
    """Fields of an entry as arXiv sends them, with blanks as they are."""

    id: str
    """Address of this version: `http://arxiv.org/abs/2202.12139v1`."""
    title: str
    summary: str
    updated: str
    published: str
    authors: tuple[str, ...]
    comment: str | None
    journal_ref: str | None
    doi: str | None
    primary_category: str | None
    categories: tuple[str, ...]
    pdf: str | None

    def record(self) -> WorkRecord | None:
        """Return the record of the paper; None for an entry that names none, as errors do."""
        paper = arxiv_paper_of(self.id)
        if paper is None:
            return None
        first = as_date(self.published)
        summary = visible_line(self.summary)
        name = f"{paper.id}v{paper.version}" if paper.version else paper.id
        is_withdrawn = any(map(_WITHDRAWN.search, (self.comment or "", self.summary.strip())))
        return WorkRecord(
            source="arxiv",
            url=f"https://arxiv.org/abs/{paper.id}v{paper.version or 1}",
            title=visible_line(self.title),
            work=identified(
                Work(
                    doi=self.doi,
                    arxiv=paper.id,
                    version=f"v{paper.version or 1}",
                    authors=self.authors,
                    year=first.year if first else None,
                    venue=self.journal_ref or "arXiv",
                    is_peer_reviewed=bool(self.journal_ref),
                )
            ),
            abstract=(Block("paragraph", summary),) if summary else (),
            published=first,
            modified=as_date(self.updated) if self.updated[:10] != self.published[:10] else None,
            standing="retracted" if is_withdrawn else None,
            # The best first; HTML is there for papers since the end of 2023.
            open_copies=(f"https://arxiv.org/html/{name}", f"https://arxiv.org/pdf/{name}"),
        )


def arxiv_entries(body: bytes) -> list[ArxivEntry] | None:
    """Return the entries of a feed; None where it is no feed."""
    root = parse_xml(body)
    if root is None or root.tag != f"{_ATOM}feed":
        return None
    entries = []
    for element in root.iter(f"{_ATOM}entry"):
        links = element.iter(f"{_ATOM}link")
        names = (each.text or "" for each in element.iter(f"{_ATOM}name"))
        primary = element.find(f"{_ARXIV}primary_category")
        entries.append(
            ArxivEntry(
                id=(element.findtext(f"{_ATOM}id") or "").strip(),
                title=element.findtext(f"{_ATOM}title") or "",
                summary=element.findtext(f"{_ATOM}summary") or "",
                updated=element.findtext(f"{_ATOM}updated") or "",
                published=element.findtext(f"{_ATOM}published") or "",
                authors=tuple(" ".join(name.split()) for name in names if name),
                comment=element.findtext(f"{_ARXIV}comment"),
                journal_ref=element.findtext(f"{_ARXIV}journal_ref"),
                doi=element.findtext(f"{_ARXIV}doi"),
                primary_category=None if primary is None else primary.get("term"),
                categories=tuple(each.get("term") or "" for each in element.iter(f"{_ATOM}category")),
                pdf=next((link.get("href") for link in links if link.get("title") == "pdf"), None),
            )
        )
    return entries


def read_arxiv(page: Page, body: bytes) -> Page | Failure:
    """Read the feed of one paper: its title and abstract."""
    entries = arxiv_entries(body)
    if entries is None:
        return no_answer("arXiv")
    return page_of_records(page, [record for entry in entries if (record := entry.record())])
