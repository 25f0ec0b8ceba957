"""Papers on the web: the record of the work, and the section that each passage stands in."""

from __future__ import annotations

from datetime import date

from marchwarden.observations import Page, Work
from marchwarden.reading.page import read_page
from tests.reading.pages import article, html, pdf

LONG = "The diameter of these graphs on fibers of a fixed integer matrix is bounded from above by a constant. " * 3


def read(body: bytes, url: str, kind: str = "text/html") -> Page:
    page = read_page(body, url=url, content_type=kind)
    assert isinstance(page, Page)
    return page


def test_highwire_tags_tell_the_work() -> None:
    head = (
        '<title>Walks</title><meta name="citation_title" content="Walks"><meta name="citation_author" content="Lee, A">'
        '<meta name="citation_author" content="Wu, B"><meta name="citation_doi" content="doi:10.1371/JOURNAL.pone.1">'
        '<meta name="citation_pmid" content="99"><meta name="citation_journal_title" content="PLoS ONE">'
        '<meta name="citation_publication_date" content="2012/09/28">'
    )
    page = read(article(head=head), "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.1")
    assert page.work == Work(
        doi="10.1371/journal.pone.1",
        pmid="99",
        authors=("Lee, A", "Wu, B"),
        year=2012,
        venue="PLoS ONE",
        is_peer_reviewed=True,
    )
    assert page.published == date(2012, 9, 28)


def test_an_abstract_page_of_arxiv_tells_the_paper_and_its_version() -> None:
    head = (
        '<title>[1605.08386] Walks</title><meta name="citation_arxiv_id" content="1605.08386">'
        '<meta name="citation_author" content="Stanley, Caprice"><meta name="citation_date" content="2016/05/26">'
    )
    page = read(article(head=head), "https://arxiv.org/abs/1605.08386v1")
    assert page.source == "arxiv"
    assert page.work == Work(
        arxiv="1605.08386",
        version="v1",
        authors=("Stanley, Caprice",),
        year=2016,
        venue="arXiv",
        is_peer_reviewed=False,
    )


def test_json_ld_of_a_scholarly_article_tells_the_work() -> None:
    about = """{"@type": "ScholarlyArticle", "headline": "Walks", "datePublished": "2019-03-01",
        "sameAs": "https://doi.org/10.1038/s41586-1", "author": [{"name": "Ann Lee"}, {"name": "Bo Wu"}],
        "isPartOf": {"@type": "PublicationIssue", "isPartOf": {"@type": "Periodical", "name": "Nature"}}}"""
    page = read(article(head=f'<script type="application/ld+json">{about}</script>'), "https://www.nature.com/x")
    assert page.work == Work(
        doi="10.1038/s41586-1", authors=("Ann Lee", "Bo Wu"), year=2019, venue="Nature", is_peer_reviewed=True
    )


def test_a_page_that_is_no_paper_has_no_work() -> None:
    head = '<title>Garden</title><meta name="author" content="Ann"><meta name="dc.identifier" content="page 7">'
    page = read(article(head=head), "https://garden.example/")
    assert page.work is None
    assert {passage.place for passage in page.passages} == {None}


def test_passages_of_a_paper_name_their_section() -> None:
    body = (
        '<article class="ltx_document"><h1 class="ltx_title">Walks</h1>'
        f'<section id="S1" class="ltx_section"><h2><span>1 </span>Introduction</h2><p>{LONG}</p></section>'
        f'<section id="S3" class="ltx_section"><h2><span>3 </span>Mixing</h2><p>In short, {LONG}</p>'
        f'<section id="S3.SS2"><h3><span>3.2 </span>Heat baths</h3><p>Indeed, {LONG}</p></section></section></article>'
    )
    page = read(html(body), "https://arxiv.org/html/1605.08386v2")
    places = {passage.heading: passage.place for passage in page.passages}
    assert places == {"1 Introduction": "S1", "3 Mixing": "S3", "3.2 Heat baths": "S3.SS2"}
    assert (page.source, page.work and page.work.version) == ("arxiv", "v2")


def test_passages_of_a_paper_in_pdf_name_their_page() -> None:
    lines = ["The diameter of these graphs is bounded from above by a constant.", "Random walks mix rapidly on them."]
    page = read(pdf(lines), "https://arxiv.org/pdf/1605.08386v1", "application/pdf")
    assert {passage.place for passage in page.passages} == {"page=1"}
    assert page.work == Work(arxiv="1605.08386", version="v1", year=2016, venue="arXiv", is_peer_reviewed=False)
    elsewhere = read(pdf(lines), "https://garden.example/a.pdf", "application/pdf")
    assert {passage.place for passage in elsewhere.passages} == {None}
