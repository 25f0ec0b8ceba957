"""What reference managers get: each cited work once, in a form that their readers take."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from marchwarden.audit.bibliography import bibliography, format_of
from marchwarden.contract import Citation


def cited(locator: str, **more: Any) -> Citation:
    return Citation(source="web", locator=locator, raw_excerpt="Random walks mix rapidly.", confidence=0.8, **more)


PREPRINT = cited(
    "https://arxiv.org/html/1605.08386v2#S3.SS2",
    title="Heat-bath walks: 50% of {Markov} bases & $n^2$ more",
    authors=["Caprice Stanley", "Tobias Windisch"],
    year=2016,
    venue="arXiv",
    version="v2",
)
ARTICLE = cited(
    "https://doi.org/10.1371/journal.pone.0046493",
    title="M. tuberculosis, again",
    authors=["Diomandé, Sadia V.", "Marylee van der Meulen", "Tuberculosis Study Group"],
    year=2012,
    venue="PLoS ONE",
    doi="10.1371/journal.pone.0046493",
    published=date(2012, 9, 28),
)
PAGE = cited("https://garden.example/crops?a=1_2", title="Garden crops", published=date(2024, 5, 3))
FILE = cited("/home/ann/my notes/garden.md#L12", title="Notes")
ROWS = cited("db:sales/orders?sha256=ab", title="orders")
ALL = [
    PREPRINT,
    PREPRINT.model_copy(update={"locator": "https://arxiv.org/html/1605.08386v2#S1"}),
    ARTICLE,
    PAGE,
    FILE,
    ROWS,
]
READ = date(2026, 11, 29)


def test_each_work_is_listed_once_in_bibtex() -> None:
    written = bibliography(ALL, "bibtex", READ)
    assert written.count("\n@") + 1 == 5
    assert written.startswith(
        "@misc{stanley2016heatbath,\n"
        "  title = {{Heat-bath walks: 50\\% of \\{Markov\\} bases \\& \\$n\\textasciicircum{}2\\$ more}},\n"
        "  author = {Stanley, Caprice and Windisch, Tobias},\n  year = {2016},\n  eprint = {1605.08386},\n"
        "  archiveprefix = {arXiv},\n  version = {v2},\n  url = {https://arxiv.org/html/1605.08386v2},\n"
        "  urldate = {2026-11-29},\n}\n"
    )
    assert "@article{diomande2012tuberculosis," in written
    assert "author = {Diomandé, Sadia V. and van der Meulen, Marylee and {Tuberculosis Study Group}}" in written
    assert "note = {File /home/ann/my notes/garden.md}" in written


@pytest.mark.parametrize(
    ("locator", "title", "key"),
    [
        ("https://extension.wasatchvalley-state.edu/a", "What to grow in Utah", "wasatchvalleystate2024what"),
        ("https://www.gov.uk/vat", "VAT rates", "gov2024rates"),
        ("https://notes.example/a", None, "notes2024"),
        ("/home/ann/bees.md#L3", "Bees", "bees2024"),
        ("/home/ann/蜂.md", "蜂", "web2024"),
        ("db:sales/orders?sha256=ab", "orders", "sales2024orders"),
    ],
)
def test_a_key_without_an_author_begins_with_the_site_or_the_file(locator: str, title: str | None, key: str) -> None:
    page = cited(locator, title=title, published=date(2024, 3, 12))
    assert f"@misc{{{key}," in bibliography([page], "bibtex")
    assert json.loads(bibliography([page], "csl"))[0]["id"] == key


@pytest.mark.parametrize(
    ("author", "written"),
    [
        ("Martin Luther King Jr.", "King Jr., Martin Luther"),
        ("King, Martin Luther, Jr.", "King Jr., Martin Luther"),
        ("JANE DOE", "DOE, JANE"),
        ("Smith JA", "Smith, JA"),
        ("José Ortega y Gasset", "Ortega y Gasset, José"),
        ("村上 春樹", "村上, 春樹"),
        ("نوال السعداوي", "السعداوي, نوال"),
        ("The New York Times", "{The New York Times}"),
        ("Centers for Disease Control and Prevention", "{Centers for Disease Control and Prevention}"),
        ("Simon & Schuster", "{Simon \\& Schuster}"),
        ("Acme, Inc.", "{Acme, Inc.}"),
        ("Reuters Staff", "{Reuters Staff}"),
        ("Department of Health, London", "{Department of Health, London}"),
    ],
)
def test_people_have_family_names_and_organisations_braces(author: str, written: str) -> None:
    assert f"  author = {{{written}}},\n" in bibliography([cited("https://a.example/b", authors=[author])], "bibtex")


def test_keys_are_different_where_names_are_the_same() -> None:
    other = ARTICLE.model_copy(update={"doi": "10.1000/b"})
    written = bibliography([ARTICLE, other], "bibtex")
    assert "{diomande2012tuberculosis," in written
    assert "{diomande2012tuberculosis2," in written


def test_ris_has_a_record_for_each_work() -> None:
    records = bibliography(ALL, "ris").split("ER  - \n")
    assert [record.split()[2] for record in records[:5]] == ["UNPB", "JOUR", "ELEC", "GEN", "DATA"]
    assert "AU  - Diomandé, Sadia V.\nAU  - van der Meulen, Marylee\nAU  - Tuberculosis Study Group\n" in records[1]
    assert "DO  - 10.1371/journal.pone.0046493\n" in records[1]


def test_csl_json_has_an_item_for_each_work() -> None:
    items = json.loads(bibliography(ALL, "csl", READ))
    assert [item["type"] for item in items] == ["article", "article-journal", "webpage", "document", "dataset"]
    assert items[1]["issued"] == {"date-parts": [[2012, 9, 28]]}
    assert items[1]["author"][2] == {"literal": "Tuberculosis Study Group"}
    assert items[0]["accessed"] == {"date-parts": [[2026, 11, 29]]}


@pytest.mark.parametrize(
    ("name", "form"), [("a.bib", "bibtex"), ("a.RIS", "ris"), ("a.csl.json", "csl"), ("a.json", None), ("bib", None)]
)
def test_the_ending_tells_the_format(name: str, form: str | None) -> None:
    assert format_of(Path(name)) == form


def test_bibtexparser_reads_what_was_written() -> None:
    bibtexparser = pytest.importorskip("bibtexparser", reason="bibtexparser is not installed", minversion="2")
    library = bibtexparser.parse_string(bibliography(ALL, "bibtex", READ))
    assert not library.failed_blocks
    assert [entry.entry_type for entry in library.entries] == ["misc", "article", "misc", "misc", "misc"]
    assert library.entries[1]["doi"] == ARTICLE.doi


def test_rispy_reads_what_was_written() -> None:
    rispy = pytest.importorskip("rispy", reason="rispy is not installed")
    records = rispy.loads(bibliography(ALL, "ris", READ))
    assert [record["title"] for record in records] == [each.title for each in (PREPRINT, ARTICLE, PAGE, FILE, ROWS)]
    assert records[1]["authors"] == ["Diomandé, Sadia V.", "van der Meulen, Marylee", "Tuberculosis Study Group"]


def test_citeproc_reads_what_was_written() -> None:
    source = pytest.importorskip("citeproc.source.json", reason="citeproc-py is not installed")
    items = source.CiteProcJSON(json.loads(bibliography(ALL, "csl", READ)))
    assert len(items) == 5
