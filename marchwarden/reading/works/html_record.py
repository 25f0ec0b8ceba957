"""Bibliographic record of an HTML page, from Highwire and Dublin Core tags, JSON-LD and the address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lxml.html import HtmlElement

from marchwarden.observations import Work
from marchwarden.reading.works.author_names import author_names, named_in
from marchwarden.text.works import doi_of, identified, reviewed_by_host, work_of_address, year_of_arxiv

_DOIS = (
    "citation_doi",
    "bepress_citation_doi",
    "prism.doi",
    "dc.identifier.doi",
    "dc.identifier",
    "dcterms.identifier",
)
_AUTHORS = ("citation_author", "bepress_citation_author", "dc.creator", "dcterms.creator")
_VENUES = (
    "citation_journal_title", "citation_conference_title", "prism.publicationname", "bepress_citation_journal_title",
    "citation_inbook_title", "dcterms.ispartof", "dc.source",
)  # fmt: skip
_YEARS = (
    "citation_publication_date", "citation_date", "citation_online_date", "citation_year", "prism.publicationdate",
    "dc.date", "dcterms.issued", "dc.date.issued",
)  # fmt: skip
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_WORKS = re.compile(r"ScholarlyArticle|MedicalScholarlyArticle|Thesis|PublicationIssue|Report")


# Characters of a name. A guess: affiliations and several names in one are longer, or have digits and signs.
_MAX_NAME_CHARS = 60


def read_work(tree: HtmlElement, meta: Mapping[str, list[str]], about: Mapping[str, Any], url: str) -> Work | None:
    """Return the record of the work that a page holds; None where neither its markup nor its address names one.

    `tree` is the parsed page, `meta` has the contents of its tags by their names in lower case, `about` what JSON-LD
    says of its article.
    """
    in_address = work_of_address(url)
    dois = [text for name in _DOIS for text in meta.get(name, ())]
    if _WORKS.search(str(about.get("@type"))):
        named = [*as_list(about.get("identifier")), *as_list(about.get("sameAs")), about.get("@id")]
        texts = (each.get("value") if isinstance(each, dict) else each for each in named)
        dois += [text for text in texts if isinstance(text, str)]
    found = identified(
        Work(
            doi=next(filter(None, map(doi_of, dois)), None),
            arxiv=_first(meta, ("citation_arxiv_id",)),
            pmid=_first(meta, ("citation_pmid",)),
        )
    )
    work = replace(found, **{name: value for name, value in vars(in_address or Work()).items() if value})
    if not (work.doi or work.arxiv or work.pmid):
        return None
    years = [int(year[0]) for name in _YEARS for text in meta.get(name, ()) if (year := _YEAR.search(text))]
    if not years and isinstance(published := about.get("datePublished"), str) and (year := _YEAR.search(published)):
        years = [int(year[0])]
    authors = _authors(meta, about)
    if not authors:
        # HTML that LaTeXML made has no tags for them.
        spans = (each for each in tree.iter("span") if "ltx_personname" in (each.get("class") or "").split())
        written = ("".join(map(str, span.xpath(".//text()[not(ancestor::sup)]"))) for span in spans)
        names = (" ".join(text.split()).strip(" ,;") for text in written)
        fitting = (name for name in names if 0 < len(name) <= _MAX_NAME_CHARS and not re.search(r"[\d@&;]", name))
        authors = tuple(dict.fromkeys(fitting))
    venue = _first(meta, _VENUES)
    if not venue and _WORKS.search(str(about.get("@type"))):
        # The name of the journal stands above the issue and the volume.
        part: object = about
        for _ in range(4):  # article, issue, volume, journal
            part = part.get("isPartOf") if isinstance(part, dict) else None
            if isinstance(part, dict) and isinstance(part.get("name"), str):
                venue = str(part["name"])
    return replace(
        work,
        authors=authors,
        year=years[0] if years else year_of_arxiv(work.arxiv) if work.arxiv else None,
        venue=venue or ("arXiv" if work.arxiv and not work.doi else None),
        is_peer_reviewed=reviewed_by_host(url),
    )


def _first(meta: Mapping[str, list[str]], names: Sequence[str]) -> str | None:
    return next((text for name in names for text in meta.get(name, ())), None)


def _authors(meta: Mapping[str, list[str]], about: Mapping[str, Any]) -> tuple[str, ...]:
    tagged = next((meta[name] for name in _AUTHORS if name in meta), [])
    if not tagged and _WORKS.search(str(about.get("@type"))):
        tagged = named_in(about.get("author"))
    return author_names(tagged, inverted=True)


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
