"""PubMed's efetch (XML) → records of articles, and the page of one (https://dtd.nlm.nih.gov/ncbi/pubmed/doc/)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from lxml import etree

from marchwarden.observations import Failure, Page, Reference, Work
from marchwarden.reading.services.scholarly.work_records import WorkRecord, day_of, no_answer, page_of_records
from marchwarden.reading.services.scholarly.xml_trees import parse_xml, text_of
from marchwarden.reading.text_blocks import Block
from marchwarden.reading.works.notices import listed_notice
from marchwarden.reading.works.references import reference_of
from marchwarden.text.invisible import visible
from marchwarden.text.works import identified

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), start=1
    )
}
# Kinds of relation between a preprint and its published form.
_OTHER_FORMS = ("UpdateIn", "UpdateOf")


def pubmed_articles(body: bytes) -> list[WorkRecord] | None:
    """Return the articles of an answer; None where it is no answer of PubMed's."""
    root = parse_xml(body)
    if root is None or root.tag != "PubmedArticleSet":
        return None
    return [_record(element) for element in root.iter("PubmedArticle")]


def found_pmids(body: bytes) -> list[str] | None:
    """Return the numbers of the articles that a search found (esearch, XML); None where it is no answer to one."""
    root = parse_xml(body)
    if root is None or root.tag != "eSearchResult" or root.find("ERROR") is not None:
        return None
    return [pmid for each in root.findall("IdList/Id") if (pmid := text_of(each)).isdigit()]


def linked_pmids(body: bytes, link: str) -> list[str] | None:
    """Return the numbers of the articles under a link (elink, XML), such as those that cite one; None where it is no
    answer to such a request."""
    root = parse_xml(body)
    if root is None or root.tag != "eLinkResult" or root.find("ERROR") is not None:
        return None
    links = (each for each in root.iter("LinkSetDb") if text_of(each.find("LinkName")) == link)
    return [pmid for each in links for found in each.findall("Link/Id") if (pmid := text_of(found)).isdigit()]


def read_pubmed(page: Page, body: bytes) -> Page | Failure:
    """Read the answer for one article: its title and abstract."""
    articles = pubmed_articles(body)
    return no_answer("PubMed") if articles is None else page_of_records(page, articles)


def _record(element: etree._Element) -> WorkRecord:
    article = element.find("MedlineCitation/Article")
    if article is None:
        article = etree.Element("Article")
    pmid = text_of(element.find("MedlineCitation/PMID"))
    types = {text_of(each) for each in article.iter("PublicationType")}
    ids = {each.get("IdType"): text_of(each) for each in element.findall("PubmedData/ArticleIdList/ArticleId")}
    located = (text_of(each) for each in article.findall("ELocationID") if each.get("EIdType") == "doi")
    published = _published(article)
    year = text_of(article.find("Journal/JournalIssue/PubDate/Year"))
    medline = text_of(article.find("Journal/JournalIssue/PubDate/MedlineDate"))
    printed = year or medline[:4]
    corrections = [(each.get("RefType"), each) for each in element.iter("CommentsCorrections")]
    told = {kind for kind, _ in corrections}
    is_retracted = "Retracted Publication" in types or "RetractionIn" in told
    notices = [
        listed_notice(kind or "", "PubMed", f"https://pubmed.ncbi.nlm.nih.gov/{other}/" if other else None)
        for kind, each in corrections
        for other in [text_of(each.find("PMID"))]
    ]
    references: list[Reference] = []
    for each in element.findall("PubmedData/ReferenceList//Reference"):
        cited = {found.get("IdType"): text_of(found) for found in each.findall("ArticleIdList/ArticleId")}
        known = Work(doi=cited.get("doi"), pmid=cited.get("pubmed"))
        references.append(reference_of(text_of(each.find("Citation")), work=known))
    other_forms = [text_of(each.find("PMID")) for kind, each in corrections if kind in _OTHER_FORMS]
    return WorkRecord(
        source="pubmed",
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        title=text_of(article.find("ArticleTitle")) or text_of(article.find("VernacularTitle")),
        work=identified(
            Work(
                doi=ids.get("doi") or next(located, None),
                pmid=pmid,
                authors=tuple(filter(None, map(_name, article.findall("AuthorList/Author")))),
                year=int(printed) if printed.isdecimal() else published.year if published else None,
                venue=text_of(article.find("Journal/Title")) or None,
                is_peer_reviewed=False if "Preprint" in types else True if "Journal Article" in types else None,
                same_as=tuple(f"pmid:{other}" for other in other_forms if other),
            )
        ),
        abstract=tuple(_abstract(article)),
        published=published,
        standing="retracted" if is_retracted else "superseded" if "RepublishedIn" in told else None,
        references=tuple(references),
        notices=tuple(filter(None, notices)),
        pmcid=ids.get("pmc"),
        open_copies=(f"https://pmc.ncbi.nlm.nih.gov/articles/{ids['pmc']}/",) if ids.get("pmc") else (),
    )


def _abstract(article: etree._Element) -> Iterator[Block]:
    for part in article.findall("Abstract/AbstractText"):
        label = part.get("Label")
        if label and label != "UNLABELLED":
            yield Block("heading", " ".join(label.split()))
        if text := visible(text_of(part)):
            yield Block("paragraph", text)


def _name(author: etree._Element) -> str:
    group, family = text_of(author.find("CollectiveName")), text_of(author.find("LastName"))
    given = text_of(author.find("ForeName")) or text_of(author.find("Initials"))
    return group or ", ".join(filter(None, (family, given)))


def _published(article: etree._Element) -> date | None:
    for where in ("ArticleDate", "Journal/JournalIssue/PubDate"):
        told = article.find(where)
        if told is not None:
            month = text_of(told.find("Month"))
            number = month if month.isdecimal() else str(_MONTHS.get(month[:3].lower(), ""))
            if day := day_of((text_of(told.find("Year")), number, text_of(told.find("Day")))):
                return day
    return None
