"""Which names a free field of authors holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.corpus.documents import page_of_line
from marchwarden.observations import Page
from marchwarden.reading.page import read_page
from marchwarden.reading.works.author_names import author_names
from marchwarden.text.works import parts_of_name
from tests.reading.pages import ARTICLE, article, html


@pytest.mark.parametrize(
    ("field", "names"),
    [
        ("A. Lee and B. Stone; C. Doe", ["A. Lee", "B. Stone", "C. Doe"]),
        ("Jane Doe, John Smith, and Ann Lee", ["Jane Doe", "John Smith", "Ann Lee"]),
        ("Jean Doe & Will Lee", ["Jean Doe", "Will Lee"]),
        ("Müller, Jürgen und Schmidt, Eva", ["Müller, Jürgen", "Schmidt, Eva"]),
        ("Smith J, Doe A, Lee B", ["Smith J", "Doe A", "Lee B"]),
        ("Smith, J. A., Doe, A., and Lee, B.", ["Smith, J. A.", "Doe, A.", "Lee, B."]),
        ("['Jane Doe', 'Zoe Lee']", ["Jane Doe", "Zoe Lee"]),
        ("Marit Halvorsen, Valley University Extension", ["Marit Halvorsen", "Valley University Extension"]),
        ("Troy L. Smith, Cleveland.com", ["Troy L. Smith", "Cleveland.com"]),
        (
            ", ".join(f"Ann Lee{letter}" for letter in "abcdefghijklmnopqrst"),
            [f"Ann Lee{c}" for c in "abcdefghijklmnopqrst"],
        ),
        ("jane@example.org (Jane Doe)", ["Jane Doe"]),
        ("Jane Doe <jane@example.org>, Ann Lee <ann@example.org>", ["Jane Doe", "Ann Lee"]),
        ("By TOM KRISHER, AP Auto Writer", ["TOM KRISHER"]),
        ("Jane Doe | Senior Editor", ["Jane Doe"]),
        ("Delia Rountree, M.S., R.D.", ["Delia Rountree"]),
        ("Dr Perpetua Lindqvist", ["Perpetua Lindqvist"]),
    ],
)
def test_a_field_is_divided_into_names_without_addresses_offices_and_degrees(field: str, names: list[str]) -> None:
    assert author_names([field]) == tuple(names)


@pytest.mark.parametrize(
    "name",
    [
        "Doe, Jane",
        "de la Cruz, Ana María",
        "José Ortega y Gasset",
        "Centers for Disease Control and Prevention",
        "Department of Health and Social Care",
        "Simon & Schuster",
        "Acme, Inc.",
        "Dr. Oetker",
        "jane_doe42",
        "نوال السعداوي",
        "村上 春樹",
    ],
)
def test_one_name_stays_whole(name: str) -> None:
    assert author_names([name]) == (name,)


@pytest.mark.parametrize(
    "field",
    ["admin", "q_admin", "NOC Admin", "Microsoft Office User", "Windows User", "root", "python-docx", "Unknown Author",
     "jane@example.org", "https://example.org/jane", "(anonymous)", "N/A", ";", ""],
)  # fmt: skip
def test_an_account_or_an_address_is_no_author(field: str) -> None:
    assert author_names([field]) == ()


def test_a_name_of_a_list_keeps_its_comma() -> None:
    assert author_names(["García López, Ana María", "Doe, Jane"]) == ("García López, Ana María", "Doe, Jane")
    assert author_names(["García López, Ana María"], inverted=True) == ("García López, Ana María",)


def test_one_kind_of_tag_of_a_page_tells_its_authors() -> None:
    head = (
        "<meta name='citation_author' content='García López, Ana María'><meta name='author' content='Ana García'>"
        "<meta name='dc.creator' content='García López, Ana María'>"
    )
    page = read_page(article(head=head), url="https://example.org/a", content_type="text/html")
    assert isinstance(page, Page)
    assert page.authors == ("García López, Ana María",)


@pytest.mark.parametrize(("declared", "names"), [("admin", ()), ("https://example.org/cy", ("Cy Dee",))])
def test_no_visible_name_stands_in_for_an_account(declared: str, names: tuple[str, ...]) -> None:
    head = f"<meta property='og:type' content='article'><meta name='author' content='{declared}'>"
    body = html(f"<main><p class='author'>Cy Dee</p>{ARTICLE}</main>", head)
    page = read_page(body, url="https://example.org/a", content_type="text/html")
    assert isinstance(page, Page)
    assert page.authors == names


@pytest.mark.parametrize(
    "front",
    [
        "author: Jane Doe and Ann Lee",
        "authors: [Jane Doe, 'Ann Lee']",
        "author:\n  - Jane Doe\n  - Ann Lee",
        "authors:\n- name: Jane Doe\n  affiliation: Valley College\n- name: Ann Lee\n  title: Dean",
    ],
)
def test_front_matter_lists_authors_in_each_form_of_yaml(front: str) -> None:
    body = f"---\ntitle: Crops\n{front}\ntags:\n  - soil\n---\n# Crops\n\nPeas like cool soil.\n".encode()
    page = read_page(body, url="/home/ann/crops.md", content_type="text/markdown")
    assert isinstance(page, Page)
    assert (page.title, page.authors) == ("Crops", ("Jane Doe", "Ann Lee"))
    assert [passage.text for passage in page.passages] == ["Peas like cool soil."]


@pytest.mark.parametrize(
    "authors", [["Jane Doe", "Ann Lee"], "Jane Doe, Ann Lee", [{"name": "Jane Doe"}, {"name": "Ann Lee"}]]
)
def test_a_line_of_json_lists_authors(authors: object, tmp_path: Path) -> None:
    body = json.dumps({"text": "Peas like cool soil.", "authors": authors}).encode()
    page = page_of_line(f"{tmp_path}/peas.jsonl#L1", body, None)
    assert isinstance(page, Page)
    assert page.authors == ("Jane Doe", "Ann Lee")


@pytest.mark.parametrize("field", ["•", "(;)", "Ann; ,; Bee", "A | , | B", ",", " / / ", "12"])
def test_a_field_of_marks_is_no_error(field: str) -> None:
    page = read_page(
        html(f"<main>{ARTICLE}</main>", f"<meta name='author' content='{field}'>"),
        url="https://a.org/", content_type="text/html",
    )  # fmt: skip
    assert isinstance(page, Page)
    assert all(any(map(str.isalpha, name)) for name in page.authors)


# The marks that divide and surround names, between pieces of names.
PIECES = st.sampled_from(
    ["Ann", "Doe", "de", "J.", "Jr.", "松", "1", ",", ";", "|", "•", "/", "and", "&", "by", "(", ")", "@", ".", " "]
)


@given(st.lists(PIECES, max_size=12).map(" ".join) | st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_any_field_gives_names_or_none(field: str, inverted: bool) -> None:
    for name in author_names([field], inverted=inverted):
        assert any(map(str.isalpha, name))
        assert parts_of_name(name) is None or all(parts_of_name(name) or ())
