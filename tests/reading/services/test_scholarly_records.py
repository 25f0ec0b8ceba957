"""Answers of scholarly services become pages with the record of the work; what is no answer is a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date

import pytest

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.services.scholarly.arxiv_feed import arxiv_entries, read_arxiv
from marchwarden.reading.services.scholarly.crossref_works import crossref_items, read_crossref
from marchwarden.reading.services.scholarly.europepmc_results import europepmc_results, read_europepmc
from marchwarden.reading.services.scholarly.jats import read_jats
from marchwarden.reading.services.scholarly.openalex_works import read_openalex
from marchwarden.reading.services.scholarly.pubmed_articles import linked_pmids, pubmed_articles, read_pubmed
from marchwarden.reading.services.scholarly.semanticscholar_papers import read_semanticscholar
from marchwarden.reading.services.scholarly.work_records import abstract_blocks, title_line
from tests.reading.services.recorded_answers import answer, empty_page

Reader = Callable[[Page, bytes], Page | Failure]
READERS: dict[str, Reader] = {
    "arxiv-paper.xml": read_arxiv,
    "crossref-work.json": read_crossref,
    "europepmc-search.json": read_europepmc,
    "jats-article.xml": read_jats,
    "openalex-work.json": read_openalex,
    "pubmed-article.xml": read_pubmed,
    "semanticscholar-paper.json": read_semanticscholar,
}


# An answer may hold several articles: the page's address says which one is meant.
ARTICLE = "https://pubmed.ncbi.nlm.nih.gov/11748933/"


def read(reader: Reader, body: bytes) -> Page:
    page = reader(empty_page(body, ARTICLE) if reader is read_pubmed else empty_page(body), body)
    assert isinstance(page, Page), page
    assert all(page.text[each.start : each.end] == each.text for each in page.passages)
    return page


def recorded(name: str) -> Page:
    return read(READERS[name], answer(name))


def test_arxiv_tells_the_version_and_the_authors() -> None:
    page = recorded("arxiv-paper.xml")
    assert page.title == "Heat-bath random walks with Markov bases"
    assert page.text.partition("\n\n")[2].startswith("Graphs on lattice points are studied whose edges come from")
    assert page.work == Work(
        arxiv="1605.08386",
        version="v1",
        authors=("Caprice Stanley", "Tobias Windisch"),
        year=2016,
        venue="arXiv",
        is_peer_reviewed=False,
        is_abstract=True,
    )
    assert (page.source, page.published, page.standing) == ("arxiv", date(2016, 5, 26), None)
    assert page.links == ("https://arxiv.org/html/1605.08386v1", "https://arxiv.org/pdf/1605.08386v1")


def test_arxiv_names_the_published_form_of_a_paper() -> None:
    entries = arxiv_entries(answer("arxiv-search.xml"))
    assert entries is not None
    record = entries[0].record()
    assert record is not None
    assert (record.work.doi, record.work.is_peer_reviewed) == ("10.1109/icstw55395.2022.00035", True)
    assert record.url == "https://arxiv.org/abs/2202.12139v1"


@pytest.mark.parametrize(
    ("comment", "standing"),
    [
        ("This paper has been withdrawn by the author due to a crucial error in equation 1", "retracted"),
        ("Withdrawn: the proof of Lemma 3 fails", "retracted"),
        ("10 pages. The authors have withdrawn this", "retracted"),
        ("Paper withdrawn", "retracted"),
        ("12 pages; supersedes a withdrawn manuscript", None),
        ("32 pages", None),
    ],
)
def test_a_withdrawn_paper_of_arxiv_is_known_by_its_comment(comment: str, standing: str | None) -> None:
    told = re.sub(rb"(?<=<arxiv:comment>)[^<]*", comment.encode(), answer("arxiv-paper.xml"))
    assert comment.encode() in told
    assert read(read_arxiv, told).standing == standing


def test_crossref_tells_journal_preprint_and_open_copies() -> None:
    page = recorded("crossref-work.json")
    assert page.work == Work(
        doi="10.7717/peerj.3811",
        authors=(
            "Ali, Najib M.", "Khan, Haris A.", "Then, Amy Y-Hui", "Ving Ching, Chong", "Gaur, Manas",
            "Dhillon, Sarinder Kaur",
        ),
        year=2017,
        venue="PeerJ",
        is_peer_reviewed=True,
        same_as=("doi:10.7287/peerj.preprints.3020",),
        is_abstract=True,
    )  # fmt: skip
    assert page.passages[0].text.startswith("Life science ontologies play an important role")
    assert page.links[0] == "https://peerj.com/articles/3811.pdf"
    assert page.source == "crossref"


def test_crossref_tells_of_a_retraction_that_retraction_watch_lists() -> None:
    [record] = crossref_items(answer("crossref-retracted.json")) or []
    assert record.standing == "retracted"
    message = json.loads(answer("crossref-work.json"))
    message["message"]["updated-by"] = [{"type": "correction", "DOI": "10.7717/peerj.9"}]
    assert read(read_crossref, json.dumps(message).encode()).standing is None


def test_europepmc_tells_group_authors_and_the_journal() -> None:
    page = recorded("europepmc-search.json")
    assert page.work is not None
    assert page.work.authors[:2] == ("1000 Genomes Project Consortium", "Abecasis, Gonçalo R")
    assert (page.work.doi, page.work.pmid, page.work.venue) == ("10.1038/nature09534", "20981092", "Nature")
    assert (page.work.is_peer_reviewed, page.published) == (True, date(2010, 10, 1))


def test_europepmc_tells_preprints_and_retractions() -> None:
    body = json.loads(answer("europepmc-search.json"))
    result = body["resultList"]["result"][0]
    result["pubTypeList"] = {"pubType": ["Retracted Publication", "Journal Article"]}
    assert read(read_europepmc, json.dumps(body).encode()).standing == "retracted"
    result |= {"source": "PPR", "pubTypeList": {"pubType": ["Preprint"]}}
    page = read(read_europepmc, json.dumps(body).encode())
    assert page.work is not None
    assert (page.standing, page.work.is_peer_reviewed) == (None, False)


def test_openalex_turns_its_index_of_words_into_the_abstract() -> None:
    page = recorded("openalex-work.json")
    start = "Pharmacokinetic properties of oligonucleotides are largely driven by chemistry of the backbone"
    assert page.passages[0].text.startswith(start)
    assert page.work is not None
    assert (page.work.doi, page.work.pmid, page.work.year) == ("10.1016/j.addr.2015.01.008", "25666165", 2015)
    body = json.loads(answer("openalex-work.json")) | {"is_retracted": True}
    assert read(read_openalex, json.dumps(body).encode()).standing == "retracted"


def test_pubmed_tells_the_article() -> None:
    page = recorded("pubmed-article.xml")
    assert page.work is not None
    assert (page.work.pmid, page.work.doi) == ("11748933", "10.1006/cryo.2001.2328")
    assert (page.work.venue, page.work.year, page.published) == ("Cryobiology", 2001, date(2001, 6, 1))
    retracted = answer("pubmed-article.xml").replace(
        b"<PublicationTypeList>", b"<PublicationTypeList><PublicationType>Retracted Publication</PublicationType>"
    )
    assert read(read_pubmed, retracted).standing == "retracted"


def test_pubmed_keeps_the_labels_of_an_abstract_as_headings() -> None:
    body = answer("pubmed-article.xml").replace(b"<AbstractText>", b'<AbstractText Label="METHODS">', 1)
    assert {each.heading for each in read(read_pubmed, body).passages} == {"METHODS"}


def test_semantic_scholar_tells_the_paper() -> None:
    page = recorded("semanticscholar-paper.json")
    assert page.title == "Computing Machinery and Intelligence"
    assert page.work is not None
    assert page.work.doi == "10.1093/mind/lix.236.433"
    assert page.standing is None


def test_a_full_text_has_sections_with_their_ids() -> None:
    page = recorded("jats-article.xml")
    places = {each.heading: each.place for each in page.passages}
    assert places["Background"] is None
    assert places["Introduction"] == "s1"
    assert places["Linear Fitness Decline"] == "s2a"
    assert page.work == Work(
        doi="10.1371/journal.pone.0000217",
        pmid="17299597",
        authors=("Tenaillon, Olivier", "Silander, Olin K.", "Uzan, Jean-Philippe", "Chao, Lin"),
        year=2007,
        venue="PLoS ONE",
        is_peer_reviewed=True,
    )
    assert page.published == date(2007, 2, 14)
    assert all(link.startswith("https://doi.org/10.") for link in page.links)


def test_a_sentence_of_an_abstract_is_not_placed_in_a_section_of_the_same_name() -> None:
    body = (
        b"<article><front><article-meta><title-group><article-title>Tea</article-title></title-group>"
        b"<abstract><sec><title>Results</title><p>Tea was found in the harbour of Boston.</p></sec></abstract>"
        b'</article-meta></front><body><sec id="s3"><label>3</label><title>Results</title><p>The chests held 342 '
        b'kinds of tea<xref ref-type="bibr" rid="b1"><sup>12</sup></xref>, as <xref ref-type="fig">Figure 1</xref> '
        b"shows.</p></sec></body></article>"
    )
    page = read(read_jats, body)
    assert [(each.place, each.text) for each in page.passages] == [
        (None, "Tea was found in the harbour of Boston."),
        ("s3", "The chests held 342 kinds of tea, as Figure 1 shows."),
    ]
    assert page.passages[1].heading == "3 Results"


def test_a_retracted_full_text_says_so() -> None:
    body = answer("jats-article.xml").replace(
        b"</article-meta>", b'<related-article related-article-type="retraction-forward"/></article-meta>'
    )
    assert read(read_jats, body).standing == "retracted"


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"null", b"<html></html>", b"<a", b'{"message": 1}', b"\xff\x00"]
)
def test_what_is_no_answer_is_a_failure(name: str, body: bytes) -> None:
    found = READERS[name](empty_page(body), body)
    assert isinstance(found, Failure)
    assert found.kind in (FailureKind.SERVICE_DOWN, FailureKind.NO_TEXT, FailureKind.NOT_FOUND)


@pytest.mark.parametrize("name", [name for name in READERS if name.endswith(".json")])
def test_values_of_another_kind_are_left_out(name: str) -> None:
    def spoil(value: object) -> object:
        if isinstance(value, dict):
            return {key: spoil(each) for key, each in value.items()}
        return [7, None, *map(spoil, value)] if isinstance(value, list) else 7 if isinstance(value, str) else "x"

    body = json.dumps(spoil(json.loads(answer(name)))).encode()
    assert isinstance(READERS[name](empty_page(body), body), Page | Failure)


def test_markup_of_abstracts_and_titles_is_read_and_less_than_stays() -> None:
    [heading, text] = abstract_blocks(
        "<jats:title>Aims</jats:title><jats:p>It is <jats:italic>P</jats:italic>.</jats:p>"
    )
    assert (heading.kind, heading.text, text.text) == ("heading", "Aims", "It is P.")
    [plain] = abstract_blocks("It fell (P < 0.05) and rose\nagain.")
    assert plain.text == "It fell (P < 0.05) and rose again."
    assert title_line("Growth of <i>E. coli</i> &amp; others") == "Growth of E. coli & others"
    # As Europe PMC sent it, with a change of a gene and a number that are no markup.
    escaped = "&lt;i&gt;ATM&lt;/i&gt; c.7271T&gt;G and m&lt;sup&gt;6&lt;/sup&gt;A (p&lt;0.05)"
    assert title_line(escaped) == "ATM c.7271T>G and m6A (p<0.05)"


# Notices and references


def test_pubmed_lists_corrections_and_concerns_beside_the_references() -> None:
    body = answer("pubmed-article.xml").replace(
        b"</MedlineCitation>",
        b"<CommentsCorrectionsList><CommentsCorrections RefType='ErratumIn'><PMID>7</PMID></CommentsCorrections>"
        b"<CommentsCorrections RefType='ExpressionOfConcernIn'><PMID>8</PMID></CommentsCorrections>"
        b"<CommentsCorrections RefType='CommentIn'><PMID>9</PMID></CommentsCorrections></CommentsCorrectionsList>"
        b"</MedlineCitation>",
        1,
    )
    records = pubmed_articles(body)
    assert records is not None
    assert [(each.kind, each.url) for each in records[0].notices] == [
        ("corrected", "https://pubmed.ncbi.nlm.nih.gov/7/"),
        ("concern", "https://pubmed.ncbi.nlm.nih.gov/8/"),
    ]


def test_europe_pmc_lists_corrections_and_concerns() -> None:
    body = json.loads(answer("europepmc-search.json"))
    listed = [
        {"type": "Erratum in", "source": "MED", "id": "7"},
        {"type": "Expression of concern in", "source": "MED", "id": "8"},
        {"type": "Erratum for", "source": "MED", "id": "9"},
    ]
    body["resultList"]["result"][0]["commentCorrectionList"] = {"commentCorrection": listed}
    records = europepmc_results(json.dumps(body).encode())
    assert records is not None
    assert [each.kind for each in records[0].notices] == ["corrected", "concern", "notice"]


def test_a_recorded_notice_of_an_erratum_says_that_it_is_one() -> None:
    records = europepmc_results(answer("europepmc-core.json"))
    assert records is not None
    told = {record.title: record.notices for record in records if record.notices}
    assert len(told) == 2
    assert {notice.kind for notices in told.values() for notice in notices} == {"notice"}
    assert all((notice.url or "").startswith("https://europepmc.org/") for each in told.values() for notice in each)


def test_crossref_tells_what_a_work_cites_and_whether_it_is_itself_a_notice() -> None:
    body = json.loads(answer("crossref-work.json"))
    body["message"] |= {
        "reference": [{"DOI": "10.1000/ONE", "article-title": "One"}, {"unstructured": "Two. doi:10.1000/two"}],
        "update-to": [{"type": "correction", "DOI": "10.1000/corrected"}],
    }
    (record,) = crossref_items(json.dumps(body).encode()) or []
    assert [(each.work.doi, each.title) for each in record.references] == [
        ("10.1000/one", "One"),
        ("10.1000/two", None),
    ]
    assert [(each.kind, each.url) for each in record.notices] == [("notice", "https://doi.org/10.1000/corrected")]


def test_pubmed_links_tell_which_articles_cite_one() -> None:
    links = (
        b"<eLinkResult><LinkSet><LinkSetDb><LinkName>pubmed_pubmed</LinkName><Link><Id>1</Id></Link></LinkSetDb>"
        b"<LinkSetDb><LinkName>pubmed_pubmed_citedin</LinkName><Link><Id>2</Id></Link><Link><Id>3</Id></Link>"
        b"</LinkSetDb></LinkSet></eLinkResult>"
    )
    assert linked_pmids(links, "pubmed_pubmed_citedin") == ["2", "3"]
    assert linked_pmids(links, "pubmed_pubmed_refs") == []
    assert linked_pmids(b"<html/>", "pubmed_pubmed_refs") is None
