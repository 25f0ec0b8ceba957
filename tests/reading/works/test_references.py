"""Lists of references: their entries, and the places in the text that cite them."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path

import pytest
from lxml import etree

from marchwarden.observations import Page, Reference, content_hash
from marchwarden.reading.page import read_page
from marchwarden.reading.works.references import cited_within, reference_of, text_references
from tests.shared_data import SHARED_DATA

SCHOLAR = SHARED_DATA / "scholar" / "recorded.tar.xz"
ARXIV = "https://arxiv.org/html/2501.00001v1"
PMC = "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"
FILLER = "The towns along the river drew their water from wells until the pipes were laid. " * 4
LATEXML = (
    "<!doctype html><html lang='en'><body><article class='ltx_document'><h1>Pipes</h1>"
    f"<section id='S1'><h2>1 Introduction</h2><p>{FILLER}</p>"
    "<p>Zinc lowers corrosion <cite class='ltx_cite'>[<a class='ltx_ref' href='#bib.bib2'>2</a>]</cite>. Copper was tried"
    "<sup><a class='ltx_ref' href='#bib.bib1'>1</a></sup> and zinc again [<a href='#bib.bib2'>2</a>].</p></section>"
    "<section class='ltx_bibliography' id='bib'><h2>References</h2><ul class='ltx_biblist'>"
    "<li class='ltx_bibitem' id='bib.bib1'><span class='ltx_tag'>[1]</span>"
    "<span class='ltx_bibblock'>A. Berg and B. Chen.</span><span class='ltx_bibblock'>Copper in the pipes of old towns.</span>"
    "<span class='ltx_bibblock'>Metals, 1999.</span></li>"
    "<li class='ltx_bibitem' id='bib.bib2'><span class='ltx_tag'>[2]</span>"
    "<span class='ltx_bibblock'>C. Diaz.</span><span class='ltx_bibblock'>Zinc on steel. arXiv preprint arXiv:2301.00002, "
    "2023.</span></li></ul></section></article></body></html>"
)
JATS = (
    "<article><front><article-meta><title-group><article-title>Pipes</article-title></title-group></article-meta></front>"
    f"<body><sec id='s1'><title>Results</title><p>{FILLER}</p><p>Zinc lowers corrosion.<sup><xref ref-type='bibr' "
    "rid='B1 B2'>1,2</xref></sup> Copper does not.</p></sec></body><back><ref-list><ref id='B1'><element-citation>"
    "<article-title>Zinc on steel</article-title><pub-id pub-id-type='pmid'>123456</pub-id></element-citation></ref>"
    "<ref id='B2'><mixed-citation>Chen. Zinc again. doi: 10.1000/XYZ.1</mixed-citation></ref></ref-list></back></article>"
)


def read(body: str, url: str, kind: str = "text/html") -> Page:
    page = read_page(body.encode(), url=url, content_type=kind)
    assert isinstance(page, Page)
    return page


def cited_after(page: Page, words: str) -> list[Reference]:
    """The references that the passage with these words cites."""
    passage = next(each for each in page.passages if words in each.text)
    return cited_within(page, passage.start, passage.end)


def test_html_of_arxiv_tells_what_each_sentence_cites() -> None:
    page = read(LATEXML, ARXIV)
    assert [each.work.arxiv for each in cited_after(page, "Zinc lowers")] == ["2301.00002"]
    # The raised mark is not in the text, yet its place is known.
    assert [each.title for each in cited_after(page, "Copper was tried")] == [
        "Copper in the pipes of old towns",
        None,
    ]
    assert [len(each.marks) for each in page.references] == [1, 2]


def test_jats_tells_what_each_sentence_cites() -> None:
    page = read(JATS, PMC, 'application/xml; profile="jats"')
    first, second = cited_after(page, "Zinc lowers")
    assert (first.work.pmid, first.title) == ("123456", "Zinc on steel")
    assert second.work.doi == "10.1000/xyz.1"
    assert cited_after(page, "Copper does not") == []


def test_numbers_in_brackets_are_marks_where_the_text_has_a_numbered_list() -> None:
    text = (
        "Zinc lowers corrosion [2, 4–6]. Copper does not.\n\nReferences\n\n[1] A. One.\n\n[2] B. Two, doi:10.1000/two.\n\n"
        "[4] D. Four.\n\n[5] E. Five.\n\n[6] F. Six."
    )
    page = text_references(Page(ARXIV, content_hash(b""), text, content_hash(b""), ()))
    assert [bool(each.marks) for each in page.references] == [False, True, True, True, True]
    assert page.references[1].work.doi == "10.1000/two"


def test_lines_without_words_take_time_in_proportion_to_their_number() -> None:
    """A page that calls itself a paper may be made of them: 20,000 characters took 10 seconds, 100,000 minutes."""
    text = "—\n" * 50_000 + "References\n\n[1] A. Smith. On bees.\n"
    began = time.process_time()
    page = text_references(Page(ARXIV, content_hash(b""), text, content_hash(b""), ()))
    assert time.process_time() - began < 2
    assert [each.text for each in page.references] == ["A. Smith. On bees."]


def test_a_page_that_is_no_paper_has_no_references() -> None:
    assert read(LATEXML, "https://www.example.com/pipes").references == ()


@pytest.mark.parametrize(
    ("text", "links", "named"),
    [
        ("Chen. Zinc. arXiv:2301.00002v2 [cs.LG]", (), (None, "2301.00002", None)),
        ("Chen. Zinc. arXiv preprint arXiv:2301.00002", (), (None, "2301.00002", None)),
        ("Chen. Zinc. https://doi.org/10.48550/arXiv.2301.00002", (), (None, "2301.00002", None)),
        ("Chen. Zinc. PMID: 123456.", (), (None, None, "123456")),
        ("Chen. Zinc.", ("https://doi.org/10.1000/zinc",), ("10.1000/zinc", None, None)),
        ("Chen. Zinc.", ("https://pubmed.ncbi.nlm.nih.gov/123456/",), (None, None, "123456")),
        ("Chen. Zinc.", ("https://scholar.example.com/?q=10.1000/zinc",), (None, None, None)),
    ],
)
def test_an_entry_names_its_work_in_several_ways(
    text: str, links: tuple[str, ...], named: tuple[str | None, str | None, str | None]
) -> None:
    work = reference_of(text, links).work
    assert (work.doi, work.arxiv, work.pmid) == named


@pytest.mark.skipif(not SCHOLAR.is_file(), reason=f"{SCHOLAR} is not there: recorded answers of scholarly services")
def test_the_marks_of_real_articles_are_found_in_their_text() -> None:
    found = listed = 0
    with tarfile.open(SCHOLAR) as archive:
        for member in archive:
            if Path(member.name).suffix == ".nxml" and (file := archive.extractfile(member)):
                body = file.read()
                page = read_page(body, url=PMC, content_type='application/xml; profile="jats"')
                assert isinstance(page, Page)
                tree = etree.fromstring(body, etree.XMLParser(recover=True))
                listed += len(tree.xpath("(//body | //abstract)//xref[@ref-type='bibr']"))
                found += sum(len(each.marks) for each in page.references)
    assert found >= 0.95 * listed > 0
