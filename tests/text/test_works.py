"""Identifiers of scholarly works in addresses, and the names of their authors."""

from __future__ import annotations

import pytest

from marchwarden.http.addresses import publisher_of
from marchwarden.observations import Work
from marchwarden.text.works import carries_works, has_same_authors, identified


@pytest.mark.parametrize(
    ("url", "publisher"),
    [
        ("https://arxiv.org/abs/2301.01234v2", "arXiv:2301.01234"),
        ("https://arxiv.org/pdf/2301.01234", "arXiv:2301.01234"),
        ("https://export.arxiv.org/html/hep-th/9901001", "arXiv:hep-th/9901001"),
        ("https://doi.org/10.48550/arXiv.2301.01234", "arXiv:2301.01234"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345678/", "pmid:12345678"),
        ("https://europepmc.org/article/MED/123", "pmid:123"),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC123456/", "PMC123456"),
        ("https://www.nature.com/articles/s41586-021-03819-2", "doi:10.1038/s41586-021-03819-2"),
        # News of the journal are its own, and no works.
        ("https://www.nature.com/articles/d41586-021-03819-2", "nature.com"),
        ("https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0046493", "doi:10.1371/journal.pone.0046493"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full", "doi:10.1101/2020.01.01.123456"),
        ("https://garden.example/10.1000/abc", "garden.example"),
        ("https://www.nih.gov/about", "nih.gov"),
        # Its statements are taken from Wikipedia, or go into it.
        ("https://www.wikidata.org/wiki/Q42", "wikipedia.org"),
    ],
)  # fmt: skip
def test_the_publisher_of_a_paper_is_the_work(url: str, publisher: str) -> None:
    assert publisher_of(url) == publisher


def test_identifiers_have_one_spelling() -> None:
    assert identified(Work(doi="https://doi.org/10.1000/ABC")).doi == "10.1000/abc"
    assert identified(Work(doi="doi:10.48550/arXiv.2301.01234v3")) == Work(arxiv="2301.01234", version="v3")
    assert identified(Work(arxiv="arXiv:2301.01234v2")) == Work(arxiv="2301.01234", version="v2")
    assert identified(Work(arxiv="nothing", doi="none", pmid="PMID: 12")) == Work(pmid="12")


@pytest.mark.parametrize("name", ["Smith, John", "John A. Smith", "Smith JA", "SMITH J", "J. Smith"])
def test_a_name_in_any_order_is_the_same_person(name: str) -> None:
    assert has_same_authors(Work(authors=(name,)), Work(authors=("Smith, J.",)))


def test_works_without_authors_have_no_authors_in_common() -> None:
    assert not has_same_authors(Work(), Work())


def test_a_host_that_ends_like_a_journal_is_none() -> None:
    assert carries_works("www.nature.com")
    assert not carries_works("notnature.com")
    assert not carries_works("nature.com.example.org")
