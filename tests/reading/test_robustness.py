"""Pages that are built to keep a reader busy: what took minutes, as the square of a page's length, takes a moment."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest
from lxml.html import document_fromstring

from marchwarden.observations import Failure, FailureKind, Page
from marchwarden.reading import text_blocks
from marchwarden.reading.files import archive
from marchwarden.reading.files import pdf as pdfs
from marchwarden.reading.files.kinds import DOCX
from marchwarden.reading.files.plain_text import plain_blocks
from marchwarden.reading.html.blocks import read_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.html.style_sheets import rules_of
from marchwarden.reading.page import read_page, refresh_target
from marchwarden.reading.passages import lay_out
from marchwarden.reading.text_blocks import Block, first_blocks
from tests.http.packed import docx as document
from tests.http.packed import epub, paragraph
from tests.profiles import a_moment
from tests.reading.pages import html, pdf

URL = "https://example.org/garden/crops"
SENTENCE = "The garden has twelve beds, and each of them was dug in the spring."


@pytest.mark.parametrize("piece", ["@a", "a,", "/*", "@media a{", "a{", "}", "a{b:c}"])
def test_a_style_sheet_is_read_in_one_pass(piece: str) -> None:
    with a_moment():
        list(rules_of(piece * 100_000))


def test_rules_that_hold_always_are_told_from_those_for_some_media_or_within_others() -> None:
    sheet = (
        "@charset 'utf-8'; .a, #b { display: none } /* .c { x: y } */ @media print { .d { e: f } .g { h: i } }"
        ".j { k: l; .m { n: o } } } .p{q} /* .r{s}"
    )
    assert [(selectors, " ".join(declarations.split())) for selectors, declarations in rules_of(sheet)] == [
        (".a, #b", "display: none"),
        (".j", "k: l; .m"),
        (".p", "q"),
    ]


def test_many_hidden_elements_are_taken_out_and_the_words_behind_them_stay() -> None:
    tree = document_fromstring("<body>" + "<img src=x>word " * 20_000 + "<p>end<br hidden>ed")
    with a_moment():
        prepare(tree)
    assert tree.text_content().split() == ["word"] * 20_000 + ["ended"]


def test_control_characters_around_what_is_hidden_do_not_stop_the_reader() -> None:
    body = html(
        "<p>Peas climb up.</p><img src=x>\x0b\x01Beans <img src=x>climb\x1f &#xfffe;too.<p>Chard does not.</p>"
    )
    page = read_page(body, url=URL, content_type="text/html")
    assert isinstance(page, Page)
    assert " ".join(page.text.split()) == "Peas climb up. Beans climb too. Chard does not."


def test_many_lines_that_go_on_are_one_block() -> None:
    line = "and a line of a hundred characters that goes on in the next, since that begins with a small letter<br>"
    tree = document_fromstring(f"<body><p>{line * 20_000}")
    with a_moment():
        assert len(list(read_blocks(tree))) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [(f"{SENTENCE}\n" * 20_000, "paragraph"), ("Bed   Crop\n---\n" + "one   peas\n" * 30_000, "row")],
)
def test_a_long_text_without_blank_lines_is_read_line_by_line(text: str, kind: str) -> None:
    with a_moment():
        blocks = list(plain_blocks(text))
    assert {block.kind for block in blocks} == {kind}
    assert kind == "paragraph" or blocks[-1].header == "Bed Crop"


def test_of_a_text_beyond_all_measure_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_blocks, "MOST_CHARACTERS", 30)
    asked = iter(
        [Block("paragraph", "Peas climb."), Block("paragraph", "Beans climb up to the roof."), Block("item", "x")]
    )
    assert [block.text for block in first_blocks(asked)] == ["Peas climb.", "Beans climb up to"]
    assert next(asked).text == "x"


def test_a_time_to_refresh_of_very_many_digits_is_no_redirect() -> None:
    head = f"<meta http-equiv=refresh content='{'1' * 9000};url=/a'>"
    assert refresh_target(head.encode(), url=URL, content_type="text/html") is None


def test_a_broken_page_of_a_pdf_does_not_cost_the_others() -> None:
    body = pdf([SENTENCE]).replace(b"/Kids [3 0 R] /Count 1", b"/Kids [9 0 R 3 0 R] /Count 2")
    page = read_page(body, url=URL, content_type="application/pdf")
    assert isinstance(page, Page)
    assert page.text == SENTENCE


def test_an_xml_part_too_large_to_be_held_as_a_tree_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_XML_BYTES", 1000)
    found = read_page(document(paragraph(SENTENCE) * 100), url=URL, content_type=DOCX)
    assert isinstance(found, Failure)
    assert "is larger than" in found.detail


def test_tables_within_tables_are_read_once() -> None:
    inner = "<w:tbl><w:tr><w:tc>{0}</w:tc><w:tc>{1}</w:tc></w:tr></w:tbl>"
    body = inner.format(paragraph("Bed"), inner.format(paragraph("peas"), paragraph("beans")))
    page = read_page(document(body), url=URL, content_type=DOCX)
    assert isinstance(page, Page)
    assert page.text.split() == ["Bed", "peas", "|", "beans"]


def test_a_chapter_that_a_book_names_often_is_read_once() -> None:
    body = epub({"a.xhtml": f"<p>{SENTENCE}</p>"})
    often = repacked(
        body,
        "OEBPS/book.opf",
        lambda package: package.replace(b"</spine>", b'<itemref idref="c0"/>' * 9 + b"</spine>"),
    )
    page = read_page(often, url=URL, content_type="application/epub+zip")
    assert isinstance(page, Page)
    assert page.text == SENTENCE


def repacked(body: bytes, name: str, change: Callable[[bytes], bytes]) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as source, zipfile.ZipFile(found, "w") as target:
        for each in source.namelist():
            content = source.read(each)
            target.writestr(each, change(content) if each == name else content)
    return found.getvalue()


@pytest.mark.parametrize("body", [b"[" * 20_000, b'{"a":' * 20_000, b'["a b",' * 900 + b"1" + b"]" * 900])
def test_deep_json_is_text_or_nothing(body: bytes) -> None:
    assert isinstance(read_page(body, url=URL, content_type="application/json"), Page | Failure)


@pytest.mark.parametrize("mark", ["[", "> ", "- a\n "])
def test_marks_of_markdown_over_and_over_are_read_in_a_moment(mark: str) -> None:
    with a_moment():
        read_page((mark * 2_000).encode(), url=URL, content_type="text/markdown")


@pytest.mark.parametrize("sign", ["“", "” ", "。」", "A. B. ", "e.g. ", "a", " (a) "])
def test_signs_over_and_over_are_laid_out_in_a_moment(sign: str) -> None:
    with a_moment():
        lay_out([Block("paragraph", (sign * 30_000)[:30_000].strip())])


@pytest.mark.parametrize(
    ("program", "seconds", "detail"),
    [
        ("import os; os.abort()", 60.0, "the PDF is built in a way that crashes its reader"),
        ("import time; time.sleep(9)", 0.2, "reading the PDF takes more than 0.2 seconds"),
    ],
)
def test_a_pdf_that_crashes_or_stalls_its_reader_is_a_failure_of_this_page_alone(
    monkeypatch: pytest.MonkeyPatch, program: str, seconds: float, detail: str
) -> None:
    monkeypatch.setattr(pdfs, "_PROGRAM", program)
    monkeypatch.setattr(pdfs, "_TIMEOUT_S", seconds)
    found = read_page(pdf([SENTENCE]), url=URL, content_type="application/pdf")
    assert found == Failure(FailureKind.NO_TEXT, detail)
