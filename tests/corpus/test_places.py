"""Where a passage stands in the file that a person opens."""

from __future__ import annotations

from pathlib import Path

from marchwarden.corpus.documents import page_of
from marchwarden.corpus.places import with_places
from marchwarden.observations import Page, placed, without_place
from tests.http.packed import epub
from tests.profiles import a_moment


def places(path: str, body: str) -> dict[str, str | None]:
    page = page_of(path, body.encode(), None)
    assert isinstance(page, Page)
    return {" ".join(each.text.split()): each.place for each in with_places(page, body.encode()).passages}


def test_a_passage_of_a_text_is_placed_on_its_first_line() -> None:
    text = "Diary\n=====\n\nPeas climb.\n\nThe queen was\nreplaced in 2021. Beans climb too,\nup to the roof.\n"
    assert places("/d.txt", text) == {
        "Peas climb.": "L4",
        "The queen was replaced in 2021.": "L6",
        "Beans climb too, up to the roof.": "L7",
    }


def test_markup_between_words_does_not_lose_the_place() -> None:
    text = (
        "---\ntitle: Bees\n---\n\n# Bees\n\n> The hive **weighs** about [40](http://x.example/a-b) kg.\n\n"
        "| Month | Feed |\n|---|---|\n| June | none |\n\n1. Feed *sugar* late.\n"
    )
    found = places("/d.md", text)
    assert found["The hive weighs about 40 kg."] == "L7"
    assert found["June | none"] == "L11"
    assert found["1. Feed sugar late."] == "L13"


def test_the_same_words_further_down_are_placed_there() -> None:
    text = "Peas climb.\n\nBeans climb.\n\nPeas climb.\n"
    page = page_of("/d.txt", text.encode(), None)
    assert isinstance(page, Page)
    assert [each.place for each in with_places(page, text.encode()).passages] == ["L1", "L3", "L5"]


def test_words_that_a_reader_adds_do_not_lose_the_place() -> None:
    text = "Diary\n=====\n\n.. versionadded:: 2.0\n   Peas climb up the long pole.\n\nBeans climb.\n"
    assert places("/d.rst", text) == {
        "Added in version 2.0: Peas climb up the long pole.": "L4",
        "Beans climb.": "L7",
    }


def test_a_place_too_far_ahead_does_not_lose_the_ones_between() -> None:
    text = "Sow [our](a.md) peas at noon.\n\nBeans climb.\n\nLeeks stand.\n\nSow our peas late.\n"
    found = places("/d.md", text)
    assert (found["Beans climb."], found["Leeks stand."], found["Sow our peas late."]) == ("L3", "L5", "L7")


def test_a_passage_of_a_pdf_is_placed_on_its_page(tmp_path: Path) -> None:
    body = two_pages("The orchard has 412 apple trees.", "The pond was dug in 2019.")
    page = page_of("/d.pdf", body, None)
    assert isinstance(page, Page)
    assert [(each.text, each.place) for each in with_places(page, body).passages] == [
        ("The orchard has 412 apple trees.", "page=1"),
        ("The pond was dug in 2019.", "page=2"),
    ]


def two_pages(*lines: str) -> bytes:
    """A PDF with a page for each line."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(lines)))
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids}] /Count {len(lines)} >>"]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, line in enumerate(lines):
        stream = f"BT /F1 12 Tf 72 720 Td ({line}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * number} 0 R /Resources {font} >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    body, offsets = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    return (
        f"{body}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{body.index('xref')}\n%%EOF".encode()
    )


def test_a_passage_of_a_book_is_placed_in_its_chapter() -> None:
    body = epub({"a.xhtml": "<p>Peas climb.</p>", "b.xhtml": "<p>Beans climb too.</p><p>Peas climb.</p>"})
    page = page_of("/d.epub", body, None)
    assert isinstance(page, Page)
    placed_passages = with_places(page, body).passages
    assert [(each.text, each.place) for each in placed_passages] == [
        ("Peas climb.", "epubcfi(/6/2)"),
        ("Beans climb too.", "epubcfi(/6/4)"),
        ("Peas climb.", "epubcfi(/6/4)"),
    ]
    assert without_place(placed("/d.epub", placed_passages[0].place)) == "/d.epub"


def test_the_same_short_line_very_often_is_placed_in_a_moment() -> None:
    text = "- a\n" * 15_000
    with a_moment():
        assert places("/d.txt", text)["- a"] == "L15000"


def test_a_place_is_told_from_a_name_in_files() -> None:
    assert placed("/a/b.pdf", "page=3") == "/a/b.pdf#page=3"
    assert placed("/a/b.pdf", None) == "/a/b.pdf"
    assert without_place("/a/c#.md#L12") == "/a/c#.md"
    assert without_place("/a/b.pptx#slide=3") == "/a/b.pptx"
    assert without_place("https://a.example/#S3") == "https://a.example/", "no page is read under a fragment"
