"""Files of many kinds: the words that a library reads in them, without markup, hidden text, or anything of today."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest

from marchwarden.corpus.documents import kind_of
from marchwarden.observations import Failure, Page
from marchwarden.reading.files.kinds import ENDINGS, NOTEBOOK, ODP, ODS, ODT, PPTX, XLSX
from marchwarden.reading.files.office.shown_text import raised
from marchwarden.reading.media_types import media_type
from marchwarden.reading.page import read_page
from tests.http.packed import packed

SAMPLES = Path(__file__).parents[2] / "cassettes" / "files"
FILES = sorted(path for path in SAMPLES.iterdir() if path.suffix not in (".txt", ".md"))


def read(body: str | bytes, name: str) -> Page:
    raw = body if isinstance(body, bytes) else body.encode()
    page = read_page(raw, url=f"/home/ada/{name}", content_type=kind_of(name))
    assert isinstance(page, Page), page
    again = read_page(raw, url=f"/home/ada/{name}", content_type=page.media_type)
    assert again == page
    assert all(page.text[each.start : each.end] == each.text for each in page.passages)
    return page


def quotes(body: str | bytes, name: str) -> list[str]:
    return [passage.text for passage in read(body, name).passages]


def under(body: str | bytes, name: str) -> list[tuple[str, str | None]]:
    return [(passage.text, passage.heading) for passage in read(body, name).passages]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_words_that_a_library_reads_are_read(path: Path) -> None:
    """Badges, `1.0` of whole numbers, links behind words, and the name of a single sheet aside."""

    def words(text: str) -> Counter[str]:
        return Counter(re.findall(r"[^\W_]+", text))

    theirs = words(path.with_name(path.name + ".txt").read_text(encoding="utf-8"))
    ours = words(read(path.read_bytes(), path.name).text)
    assert (theirs & ours).total() >= 0.86 * theirs.total()
    if path.suffix in (".xlsx", ".odt"):  # names of columns are written in each row
        ours = Counter(set(ours))
    assert (ours - theirs).total() <= 0.01 * ours.total()


@pytest.mark.parametrize("name", ["standardized.odt", "standardized.xlsx", "standardized.pptx"])
def test_an_office_file_is_told_by_its_bytes(name: str) -> None:
    body = (SAMPLES / name).read_bytes()
    assert media_type(body, "application/zip", "https://example.org/x") == kind_of(name)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://example.org/raw/garden.rst?x=1", "text/x-rst"),
        ("https://garden.org", "text/plain"),
        ("https://example.org/garden.py#L3", "text/x-python"),
    ],
)
def test_a_text_on_the_web_is_told_by_the_path_of_its_address(url: str, kind: str) -> None:
    assert media_type(b"Some text is here.", "text/plain", url) == kind


# Notebooks


def cell(kind: str, source: str, *outputs: object) -> dict[str, object]:
    return {"cell_type": kind, "source": source.splitlines(keepends=True), "outputs": list(outputs)}


def test_a_notebook_is_its_texts_its_code_and_its_results() -> None:
    frame = "<table><tr><th></th><th>peas</th></tr><tr><th>north</th><td>61</td></tr></table>"
    cells = [
        cell("markdown", "# Peas\n\nThe beds are counted here:"),
        cell("code", "count(beds)", {"data": {"text/html": [frame], "text/plain": "zzz"}}),
        cell(
            "code",
            "beds / 0",
            {"ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": ["\x1b[31m"]},
        ),
        cell(
            "code",
            "show()",
            {"data": {"image/png": "aWdub3Jl"}},
            {"output_type": "stream", "text": "10%\r90%\rdone\n"},
        ),
    ]
    page = read(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}), "peas.ipynb")
    assert page.title == "Peas"
    assert [(each.text, each.heading) for each in page.passages] == [
        ("The beds are counted here:\ncount(beds)", "Peas"),
        ("north | 61", "Peas · peas"),
        ("beds / 0", "Peas"),
        ("ZeroDivisionError: division by zero", "Peas"),
        ("show()", "Peas"),
        ("done", "Peas"),
    ]


# Tables


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("name,born,city\nAda,1815,London\n,,\nCharles,1791,\n", "people.csv"),
        ("name;born;city\nAda;1815;London\nCharles;1791;\n", "people.csv"),
        ("name\tborn\tcity\nAda\t1815\tLondon\nCharles\t1791\t\n", "people.tsv"),
        ('"name","born","city"\n"Ada","1815","London"\n"Charles","1791",""\n'.encode("utf-16"), "people.csv"),
    ],
)
def test_a_row_of_a_table_is_written_with_the_names_of_its_columns_and_knows_its_line(
    body: str | bytes, name: str
) -> None:
    lines = ["L2", "L4"] if ",,\n" in str(body) else ["L2", "L3"]
    assert [(each.text, each.heading, each.place) for each in read(body, name).passages] == [
        ("name: Ada | born: 1815 | city: London", "name | born | city", lines[0]),
        ("name: Charles | born: 1791", "name | born | city", lines[1]),
    ]


def test_a_row_begins_in_its_first_line_and_a_page_of_the_web_has_no_lines() -> None:
    body = 'name,said\nAda,"one\ntwo"\nCharles,three\n'
    assert [each.place for each in read(body, "said.csv").passages] == ["L2", "L4"]
    page = read_page(body.encode(), url="https://example.org/said.csv", content_type="text/csv")
    assert isinstance(page, Page)
    assert {each.place for each in page.passages} == {None}


def test_each_part_of_a_long_row_has_its_columns_names() -> None:
    body = "plot,soil,notes\nNorth," + "clay and sand " * 15 + "," + "sown late " * 20 + "\n"
    assert [each.partition(": ")[0] for each in quotes(body, "plots.csv")] == ["plot", "notes"]


def test_a_quotation_mark_that_is_not_closed_takes_no_other_rows_along() -> None:
    body = 'size,use\n5",short\n' + f"6,long{' and wide' * 40}\n" * 500
    assert quotes(body, "sizes.csv")[0] == 'size: 5" | use: short'


S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def xlsx(sheet: str, *, more: Mapping[str, str] = {}, sheets: str = '<sheet name="Beds" r:id="r1"/>') -> bytes:
    members = {
        "xl/workbook.xml": f"<workbook {S} {R}><sheets>{sheets}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="r1" Target="worksheets/one.xml"/>'
        '<Relationship Id="r2" Target="/xl/worksheets/two.xml"/></Relationships>',
        "xl/worksheets/one.xml": f"<worksheet {S}>{sheet}</worksheet>",
    }
    return packed({**members, **more})


def row(number: int, *cells: str, more: str = "") -> str:
    return f'<row r="{number}" {more}>{"".join(cells)}</row>'


def text(place: str, value: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


def number(place: str, value: str, style: int = 0) -> str:
    return f'<c r="{place}" s="{style}"><v>{value}</v></c>'


def test_values_of_a_sheet_are_written_as_it_shows_them_and_what_it_hides_is_left_out() -> None:
    styles = (
        f'<styleSheet {S}><numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd hh:mm"/>'
        '<numFmt numFmtId="171" formatCode="&quot;day&quot; 0.0"/></numFmts><cellXfs>'
        + "".join(f'<xf numFmtId="{each}"/>' for each in (0, 14, 10, 170, 171, 46))
        + "</cellXfs></styleSheet>"
    )
    rows = [
        row(1, text("A1", "Beds of the garden")),
        row(
            2,
            *(
                text(f"{column}2", name)
                for column, name in zip(
                    "ABCDEFG", ["bed", "day", "share", "seen", "size", "secret", "on"], strict=True
                )
            ),
        ),
        row(
            3,
            text("A3", "north"),
            number("B3", "45000", 1),
            number("C3", "0.125", 2),
            number("D3", "45000.5", 3),
            number("E3", "12.50", 4),
            text("F3", "x"),
            '<c r="G3" t="b"><v>1</v></c>',
        ),
        row(4, text("B4", "closed"), number("E4", "3")),
        row(5, text("A5", "ignore"), text("B5", "this"), more='hidden="1"'),
    ]
    sheet = f'<cols><col min="6" max="6" hidden="1"/></cols><sheetData>{"".join(rows)}</sheetData><mergeCells><mergeCell ref="A3:A4"/></mergeCells>'
    sheets = '<sheet name="Beds" r:id="r1"/><sheet name="Notes" r:id="r2" state="veryHidden"/>'
    two = f"<worksheet {S}><sheetData>{row(1, text('A1', 'a'), text('B1', 'b'))}</sheetData></worksheet>"
    body = xlsx(sheet, more={"xl/styles.xml": styles, "xl/worksheets/two.xml": two}, sheets=sheets)
    names = "bed | day | share | seen | size | on"
    assert under(body, "beds.xlsx") == [
        ("Beds of the garden", None),
        (
            "bed: north | day: 2023-03-15 | share: 12.50% | seen: 2023-03-15 12:00 | size: 12.5 | on: TRUE",
            f"Beds of the garden · {names}",
        ),
        ("bed: north | day: closed | size: 3", f"Beds of the garden · {names}"),
    ]


# Presentations

P = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" {R}'
)


def shape(kind: str, *paragraphs: str, hidden: int = 0) -> str:
    inner = "".join(f"<a:p><a:r><a:t>{each}</a:t></a:r></a:p>" for each in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x" hidden="{hidden}"/><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>'
        f"<p:txBody>{inner}</p:txBody></p:sp>"
    )


def pptx(*slides: str, notes: str = "", core: str = "") -> bytes:
    relations = "".join(f'<Relationship Id="r{at}" Target="slides/s{at}.xml"/>' for at in range(len(slides)))
    order = "".join(f'<p:sldId r:id="r{at}"/>' for at in range(len(slides)))
    members = {f"ppt/slides/s{at}.xml": slide for at, slide in enumerate(slides)}
    members["ppt/presentation.xml"] = f"<p:presentation {P}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>"
    members["ppt/_rels/presentation.xml.rels"] = f"<Relationships>{relations}</Relationships>"
    if notes:
        members["ppt/slides/_rels/s0.xml.rels"] = (
            '<R><Relationship Id="n" Type="x/notesSlide" Target="../notes.xml"/></R>'
        )
        members["ppt/notes.xml"] = f"<p:notes {P}>{notes}</p:notes>"
    if core:
        members["docProps/core.xml"] = core
    return packed(members)


def test_a_slide_is_its_title_its_texts_and_its_notes() -> None:
    body = pptx(
        f"<p:sld {P}>{shape('title', 'Frost')}{shape('body', 'Peas stand it.', 'Beans do not.')}{shape('sldNum', '1')}"
        f"{shape('body', 'Ignore this.', hidden=1)}</p:sld>",
        f'<p:sld {P} show="0">{shape("body", "Not shown.")}</p:sld>',
        f"<p:sld {P}>{shape('ctrTitle', 'Yields grew by 12 %')}</p:sld>",
        notes=shape("body", "Say that it comes in May.") + shape("sldNum", "1"),
    )
    page = read(body, "talk.pptx")
    assert [(each.text, each.heading, each.place) for each in page.passages] == [
        ("Peas stand it.", "Frost", "slide=1"),
        ("Beans do not.", "Frost", "slide=1"),
        ("Say that it comes in May.", "Frost · Speaker notes", "slide=1"),
        ("Yields grew by 12 %", "Slide 3", "slide=3"),
    ]
    found = read_page(body, url="https://example.org/talk.pptx", content_type=PPTX)
    assert isinstance(found, Page)
    assert {each.place for each in found.passages} == {None}


@pytest.mark.parametrize(
    ("created", "shown"),
    [("2013-01-27T09:14:16Z", None), ("2013-12-23T23:15:00Z", None), ("2014-01-27T09:14:16Z", date(2014, 1, 27))],
)
def test_the_day_of_a_librarys_template_is_not_that_of_a_presentation(created: str, shown: date | None) -> None:
    """That python-pptx and python-docx write into every file that they make."""
    core = f'<p xmlns:t="http://purl.org/dc/terms/"><t:created>{created}</t:created></p>'
    slide = f"<p:sld {P}>{shape('body', 'Peas stand it.')}</p:sld>"
    assert read(pptx(slide, core=core), "talk.pptx").published == shown


@pytest.mark.parametrize(("text", "shown"), [("4", "^4"), ("-4", "^-4"), ("−4", "^−4"), ("th", "th"), ("", "")])
def test_an_exponent_of_an_office_file_does_not_read_as_further_digits(text: str, shown: str) -> None:
    assert raised(text) == shown


# OpenDocument


def odt(body: str, styles: str = "", *, kind: str = ODT, part: str = "text", meta: str = "<meta/>") -> bytes:
    names = " ".join(
        f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"'
        for each in ("office", "text", "table", "style", "presentation")
    )
    names += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    content = (
        f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{part}>{body}</office:{part}></office:body></office:document-content>"
    )
    return packed({"mimetype": kind, "content.xml": content, "meta.xml": meta}, stored="mimetype")


def test_a_table_is_dated_by_what_its_file_states_and_not_by_what_its_cells_say() -> None:
    said = "Updated on 5 May 2001"
    core = (
        '<p xmlns:t="http://purl.org/dc/terms/"><t:created>2019-03-04T10:00:00Z</t:created>'
        "<t:modified>2020-05-06T10:00:00Z</t:modified></p>"
    )
    meta = (
        '<o xmlns:m="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" xmlns:d="http://purl.org/dc/elements/1.1/">'
        "<m:creation-date>2019-03-04T10:00:00</m:creation-date><d:date>2020-05-06T10:00:00</d:date></o>"
    )
    cells = f"<sheetData>{row(1, text('A1', 'bed'), text('B1', said))}{row(2, text('A2', 'x'), text('B2', said))}"
    table = "".join(f"<table:table-cell><text:p>{each}</text:p></table:table-cell>" for each in ("bed", said))
    rows = f'<table:table table:name="Beds">{2 * f"<table:table-row>{table}</table:table-row>"}</table:table>'
    files = {
        "a.xlsx": xlsx(f"{cells}</sheetData>", more={"docProps/core.xml": core}),
        "a.ods": odt(rows, kind=ODS, part="spreadsheet", meta=meta),
        "a.csv": f"bed,note\nx,{said}\n".encode(),
    }
    dates = {}
    for name, body in files.items():
        page = read_page(body, url=f"/home/ada/{name}", content_type=kind_of(name))
        assert isinstance(page, Page)
        dates[name] = (page.published, page.modified)
    stated = (date(2019, 3, 4), date(2020, 5, 6))
    assert dates == {"a.xlsx": stated, "a.ods": stated, "a.csv": (None, None)}


def test_rows_of_an_open_document_are_read_without_hidden_sheets_rows_columns_and_comments() -> None:
    def row(*cells: str, more: str = "") -> str:
        texts = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
        return f"<table:table-row {more}>{texts}</table:table-row>"

    styles = '<style:style style:name="off"><style:table-properties table:display="false"/></style:style>'
    comment = "<office:annotation><text:p>sure?</text:p></office:annotation>"
    body = (
        '<table:table table:name="Beds"><table:table-column/><table:table-column table:visibility="collapse"/>'
        '<table:table-column table:number-columns-repeated="16382"/>'
        + row("bed", "secret", "sown")
        + row("north", "x", f"3 May{comment}")
        + row("west", "x", "4 May", more='table:visibility="filter"')
        + '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row>'
        + row("south", "x", "5 May")
        + '</table:table><table:table table:name="Old" table:style-name="off">'
        + row("a", "b")
        + "</table:table>"
    )
    assert under(odt(body, styles, kind=ODS, part="spreadsheet"), "beds.ods") == [
        ("bed: north | sown: 3 May", "bed | sown"),
        ("bed: south | sown: 5 May", "bed | sown"),
    ]


def test_slides_of_an_open_document_are_read_with_their_notes_and_without_hidden_ones() -> None:
    def box(text: str, kind: str) -> str:
        return (
            f'<draw:frame presentation:class="{kind}"><draw:text-box><text:p>{text}</text:p></draw:text-box>'
            "</draw:frame>"
        )

    styles = '<style:style style:name="off"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>'
    notes = f"<presentation:notes>{box('Ask Marit.', 'notes')}</presentation:notes>"
    body = (
        f"<draw:page>{box('Frost', 'title')}{box('It falls in May.', 'outline')}{box('7', 'page-number')}{notes}</draw:page>"
        f'<draw:page draw:style-name="off">{box("Not to be shown.", "outline")}</draw:page>'
        f"<draw:page>{box('Thank you all.', 'title')}</draw:page>"
    )
    page = read(odt(body, styles, kind=ODP, part="presentation"), "frost.odp")
    assert [(each.text, each.heading, each.place) for each in page.passages] == [
        ("It falls in May.", "Frost", "slide=1"),
        ("Ask Marit.", "Frost · Notes", "slide=1"),
        ("Thank you all.", "Slide 3", "slide=3"),
    ]


def test_a_document_is_read_without_what_is_deleted_struck_out_hidden_or_a_comment() -> None:
    styles = (
        '<style:style style:name="T1"><style:text-properties style:text-line-through-style="solid"/></style:style>'
        '<style:style style:name="T2"><style:text-properties style:text-position="super 58%"/></style:style>'
        '<style:style style:name="P1"><style:text-properties text:display="none"/></style:style>'
    )
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h>Frost</text:h>"
        '<text:p>It falls<text:s text:c="3"/>on the <text:span text:style-name="T1">eighth</text:span> ninth'
        "<office:annotation><text:p>sure?</text:p></office:annotation> of May"
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>In most years.</text:p>"
        '</text:note-body></text:note>, on 10<text:span text:style-name="T2">4</text:span> beds.</text:p>'
        '<text:p text:style-name="P1">Ignore this.</text:p>'
        "<text:p>It spares:</text:p><text:list><text:list-item><text:p>peas</text:p></text:list-item></text:list>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>bed</text:p></table:table-cell>"
        "<table:table-cell><text:p>peas</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        '<table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>none</text:p></table:table-cell>'
        "<table:covered-table-cell/></table:table-row></table:table>"
    )
    assert under(odt(body, styles), "frost.odt") == [
        ("It falls on the ninth of May, on 10^4 beds.", "Frost"),
        ("It spares:", "Frost · It spares:"),
        ("peas", "Frost · It spares:"),
        ("bed: none | peas: none", "Frost · bed | peas"),
        ("In most years.", "Frost"),
    ]


# Texts with markup


def test_restructured_text_is_read_without_roles_directives_files_and_dates() -> None:
    body = """
Garden
======

:Date: 2026-03-01

.. |today| date::
.. toctree::

   secret

Use :class:`~garden.Frost`, :ref:`the guide <guide>` and ``warn``. It was |today|.

.. deprecated:: 3.0
   Use *peas*.

.. note:: Peas stand frost [1]_.

.. function:: warn(*args)

   Warns of frost.

An example:

.. code-block:: python
   :linenos:

   warn(1)

.. include:: /etc/passwd
.. raw:: html

   <b>raw</b>

.. image:: a.png
   :alt: picture

.. [1] In most years.
"""
    page = read(body, "garden.rst")
    assert (page.title, page.published) == ("Garden", date(2026, 3, 1))
    assert [each.text for each in page.passages] == [
        "Date: 2026-03-01",
        "Use Frost, the guide and warn.",
        "It was |today|.",
        "Deprecated since version 3.0: Use peas.",
        "Note",
        "Peas stand frost [1].",
        "warn(*args)",
        "Warns of frost.",
        "An example:\nwarn(1)",
        "In most years.",
    ]


def test_a_line_longer_than_docutils_takes_is_read() -> None:
    page = read(f"Frost comes in May. {'a' * 8000} {'It is cold. ' * 2000}\n", "long.rst")
    assert page.text.startswith("Frost comes in May.")
    assert page.text.endswith("It is cold.")


def test_what_one_file_declares_has_no_meaning_in_the_next() -> None:
    read(".. role:: bed(emphasis)\n.. default-role:: bed\n\nSome text is here.\n", "one.rst")
    assert quotes("The :bed:`north` is `cold`.\n", "two.rst") == ["The north is cold."]


def test_an_org_file_is_read_without_its_marks() -> None:
    body = """#+TITLE: Garden notes
#+AUTHOR: Ada
* TODO [#A] Frost   :cold:
DEADLINE: <2026-05-09 Sat>
:PROPERTIES:
:ID: 12
:END:
The /last/ frost of =May=, see [[https://example.org/f][the table]].
- [X] Peas
# no text
| Bed   | Size |
|-------+------|
| North | 12   |
Run:
#+BEGIN_SRC sh
  frost *now*
#+END_SRC
* Diary :noexport:
hidden
** below
hidden
"""
    page = read(body, "notes.org")
    assert (page.title, page.authors, page.links) == ("Garden notes", ("Ada",), ("https://example.org/f",))
    assert [(each.text, each.heading) for each in page.passages] == [
        ("The last frost of May, see the table.", "Frost"),
        ("☑ Peas", "Frost"),
        ("Bed: North | Size: 12", "Frost · Bed | Size"),
        ("Run:\nfrost *now*", "Frost"),
    ]


def test_a_line_of_indented_code_is_no_tag() -> None:
    page = read("Build it:\n\n    #include\n    #endif\n\n#frost\n\nPeas stand it.\n", "a.md")
    assert [each.text for each in page.passages] == ["Build it:\n#include\n#endif", "Peas stand it."]


def test_only_the_sentence_right_above_code_is_quoted_with_it() -> None:
    page = read("The mast is 42 metres high. It is new. Start it:\n\n```\nmast up\n```\n", "a.md")
    found = [(each.text, each.code) for each in page.passages]
    assert found == [("The mast is 42 metres high.", None), ("It is new.", None), ("Start it:\nmast up", 10)]
    assert page.text.splitlines() == ["The mast is 42 metres high. It is new. Start it:", "mast up"]


@pytest.mark.parametrize(
    ("name", "body", "passage", "code"),
    [
        ("a.org", "Run:\n#+BEGIN_SRC sh\nfrost\n#+END_SRC\n", "Run:\nfrost", "frost"),
        ("a.org", "It is cold.\n\n* Results\n: 6.3 °C at dawn\n", "6.3 °C at dawn", "6.3 °C at dawn"),
        ("a.rst", "Run::\n\n   frost --now\n", "Run:\nfrost --now", "frost --now"),
        ("a.md", "Run:\n\n```sh\nfrost --now\n```\n", "Run:\nfrost --now", "frost --now"),
        ("a.tex", "Run:\n\\begin{verbatim}\nfrost --now\n\\end{verbatim}", "Run:\nfrost --now", "frost --now"),
        (
            "a.py",
            'def frost() -> int:\n    """Tell the frost."""\n',
            None,
            'def frost() -> int:\n    """Tell the frost."""',
        ),
        ("a.md", "Peas stand it.\n", "Peas stand it.", None),
    ],
)
def test_a_passage_knows_from_where_on_it_is_code(
    name: str, body: str, passage: str | None, code: str | None
) -> None:
    found = read(body, name).passages[-1]
    assert found.text == (passage or code)
    assert (None if found.code is None else found.text[found.code :]) == code


def test_latex_is_read_without_its_commands() -> None:
    body = r"""\documentclass{article}
\title{On \emph{Frost}}\author{Ada \and Bob}\date{2026-03-01}
\begin{document}\maketitle
\begin{abstract}It falls in May.% or not
\end{abstract}
\section{Peas \& leeks}\label{sec:p}
Caf\'e pe\-as~\cite{a,b} stand $\alpha$ frosts. It was \today.
\begin{itemize}\item Leeks \item[Kale] too\end{itemize}
\begin{tabular}{l|r}Bed & Size \\ \hline North & 12\% \\\end{tabular}
\begin{verbatim}
frost % now
\end{verbatim}
\input{/etc/passwd}
\end{document}
"""
    page = read(body, "frost.tex")
    assert (page.title, page.authors, page.published) == ("On Frost", ("Ada", "Bob"), date(2026, 3, 1))
    heading = "Peas & leeks"
    assert [(each.text, each.heading) for each in page.passages] == [
        ("It falls in May.", "On Frost"),
        ("Café peas stand α frosts.", heading),
        ("It was .", heading),
        ("Leeks", heading),
        ("Kale too", heading),
        ("Bed: North | Size: 12%", f"{heading} · Bed | Size"),
        ("frost % now", heading),
    ]


@pytest.mark.parametrize(
    "authors",
    [
        r"\author{Jane Doe\thanks{Supported by {\em nobody}.} \\ Valley College \and Ann Lee \\ \texttt{ann@example.org}}",
        r"\author[1]{Jane Doe}\author[2]{Ann Lee\textsuperscript{2}}",
        r"\author{Jane Doe\inst{1} \and Ann Lee\inst{2}}",
    ],
)
def test_an_author_of_latex_is_the_name_without_notes_and_places(authors: str) -> None:
    body = rf"\documentclass{{article}}\title{{Frost}}{authors}\begin{{document}}Beds freeze in May.\end{{document}}"
    page = read(body, "frost.tex")
    assert page.authors == ("Jane Doe", "Ann Lee")
    assert [passage.text for passage in page.passages] == ["Beds freeze in May."]


MARKDOWN = """---
title: Frost
---
# Frost guide {#frost .big}

!!! warning "Mind the frost"
    It falls on [[May#Ninth|the ninth]] in the ==valley==.

    ??? note
        Peas stand it.

Back `[[here]]`.{ .small } %%secret%% ![[photo.png]] ^block-1

#garden/frost
#Frost #spring

=== "Linux"

    Run this:

    ```sh
    frost --warn  # [[no]]
    ```

> [!tip]- Cover the beds
> Fleece ~~never~~ holds two degrees.

:::note[Mind]
It thaws[^1].
:::

```{warning}
It freezes.
```

--8<-- "snippets/foot.md"

Plants that stand frost:

- [x] Leeks
- [ ] Kale, with ++ctrl+s++

[^1]: In most years.
"""


def test_markdown_is_read_without_what_mkdocs_obsidian_and_others_add() -> None:
    page = read(MARKDOWN, "frost.md")
    assert page.title == "Frost"
    assert [each.text for each in page.passages] == [
        "Mind the frost",
        "It falls on the ninth in the valley.",
        "Peas stand it.",
        "Back [[here]].",
        "Linux",
        "Run this:\nfrost --warn  # [[no]]",
        "Cover the beds",
        "Fleece holds two degrees.",
        "Mind",
        "It thaws.",
        "It freezes.",
        "Plants that stand frost:",
        "☑ Leeks",
        "☐ Kale, with ctrl+s",
        "In most years.",
    ]
    assert page.passages[-2].heading == "Frost guide · Plants that stand frost:"


MYST = """# Frost

Cover the beds with {ref}`fleece <label-2>`, see {doc}`/guide/beds` and {meth}`~garden.bed.warn`. A {braced} word stays.

```{versionadded} 2.0
It warns of frost.
```

````{tab} Linux
```
frost --warn
```

Read [the log]({{ site.url }}/log) or [the guide]({% link guide.md %}).
````
"""


def test_roles_tabs_and_versions_of_myst_are_read_for_their_text() -> None:
    assert [each.text for each in read(MYST, "frost.md").passages] == [
        "Cover the beds with fleece, see /guide/beds and warn.",
        "A {braced} word stays.",
        "Added in version 2.0",
        "It warns of frost.",
        "Linux\nfrost --warn",
        "Read the log or the guide.",
    ]


def test_an_admonition_within_a_list_item_is_text_of_the_item() -> None:
    steps = """1.  Remove the binaries:

    === "Linux"

        ```console
        $ rm frost
        ```

        !!! note

            See [the guide](guide.md).

2.  Restart.
"""
    assert [each.text for each in read(steps, "frost.md").passages] == [
        "1. Remove the binaries:",
        "Linux",
        "$ rm frost",
        "See the guide.",
        "2. Restart.",
    ]


# Source code


PYTHON = (
    '''"""Warns of frost."""

import math

# Degrees. A guess.
LIMIT = 2


class Bed:
    """A bed of the garden."""

    def warn(
        self,
        level: int,
    ) -> None:
        """Warn of frost.

        It waits.
        """
'''
    + "".join(f"        step_{number}(self, level, {number})\n" for number in range(20))
    + """
    def close(self) -> None:
        pass
"""
)


def test_a_definition_keeps_its_comment_its_signature_and_its_documentation() -> None:
    found = under(PYTHON, "frost.py")
    assert found[:5] == [
        ('"""Warns of frost."""', None),
        ("import math", None),
        ("# Degrees. A guess.\nLIMIT = 2", None),
        ('class Bed:\n    """A bed of the garden."""', "Bed"),
        (
            'def warn(\n    self,\n    level: int,\n) -> None:\n    """Warn of frost.\n    It waits.\n    """',
            "Bed › warn",
        ),
    ]
    assert {heading for _, heading in found[5:-1]} == {"Bed › warn"}
    assert found[-1] == ("def close(self) -> None:\n    pass", "Bed › close")


@pytest.mark.parametrize(
    ("name", "code", "heading"),
    [
        ("a.go", "// Warn tells of frost.\nfunc (b *Bed) Warn(level int) error {\n    return nil\n}", "Warn"),
        ("a.c", "/* Warns. */\nstatic int warn(int level)\n{\n    return 0;\n}", "warn"),
        ("a.js", "// Warns.\nexport const warn = (level) => {\n  return level;\n};", "warn"),
        ("a.sql", "-- Beds.\nCREATE TABLE IF NOT EXISTS beds (\n    size INT\n);", "beds"),
        ("a.rb", "# Warns.\ndef warn(level)\n  level\nend", "warn"),
    ],
)
def test_definitions_of_many_languages_are_one_passage_each(name: str, code: str, heading: str) -> None:
    assert under(f"{code}\n\n{code}\n", name) == [(code, heading), (code, heading)]


# Broken and hostile files


BOMB = (
    '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + at)} "{f"&{chr(97 + at)};" * 10}">' for at in range(9))
    + "]>"
)


@pytest.mark.parametrize("ending", [".ipynb", ".xlsx", ".pptx", ".odt", ".ods", ".odp"])
@pytest.mark.parametrize(
    "body", [b"PK\x03\x04" + bytes(range(256)) * 9, bytes(range(256)) * 9, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{"]
)
def test_rubbish_has_a_reason_and_no_text(ending: str, body: bytes) -> None:
    found = read_page(body, url=f"/home/ada/x{ending}", content_type=ENDINGS[ending])
    assert isinstance(found, Failure) or not found.passages


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (
            xlsx(f"<sheetData>{row(1, text('A1', 'a b'), text('ZZZ1', 'far'), text('ZZZZZZZ1', 'x'))}</sheetData>"),
            XLSX,
        ),
        (xlsx(f"<sheetData>{row(10**30, text('A1', 'a b'))}</sheetData>"), XLSX),
        (odt('<text:p>a b<text:s text:c="99999999999"/></text:p>'), ODT),
        (odt(f'<text:p>a b<text:s text:c="{"9" * 5000}"/></text:p>'), ODT),
        (
            odt(
                '<table:table><table:table-row><table:table-cell table:number-columns-repeated="99999999"><text:p>a b</text:p></table:table-cell><table:table-cell/></table:table-row></table:table>'
            ),
            ODT,
        ),
        (
            json.dumps(
                {
                    "cells": [
                        1,
                        None,
                        {"cell_type": [1]},
                        {"cell_type": "code", "source": "a b", "outputs": [5, {"data": [1], "text": [1]}]},
                    ]
                }
            ).encode(),
            NOTEBOOK,
        ),
    ],
)
def test_numbers_that_a_file_claims_take_neither_time_nor_memory(body: bytes, kind: str) -> None:
    found = read_page(body, url="/home/ada/x", content_type=kind)
    assert isinstance(found, Page)
    assert len(found.text) < 1000
    assert "a b" in found.text


@pytest.mark.parametrize(
    ("members", "kind", "reason"),
    [
        ({"content.xml": f"{BOMB}<a>&j;</a>"}, ODT, "damaged"),
        ({"content.xml": "<a>" * 100_000}, ODT, "damaged"),
        ({"ppt/presentation.xml": "<a>"}, PPTX, "damaged"),
        ({"xl/workbook.xml": "<a/>"}, XLSX, "xl/_rels/workbook.xml.rels"),
    ],
)
def test_a_hostile_archive_is_refused_with_a_reason(members: dict[str, str], kind: str, reason: str) -> None:
    found = read_page(packed(members), url="/home/ada/x", content_type=kind)
    assert isinstance(found, Failure)
    assert reason in found.detail


def test_an_encrypted_document_is_told_as_such() -> None:
    found = read_page(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), url="/home/ada/x.xlsx", content_type=XLSX)
    assert isinstance(found, Failure)
    assert "password" in found.detail


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("x.md", "%% `a ==b [[c {#d ~~e [^f] " * 2_000 + "!!! " + " " * 5_000 + "x("),
        ("x.rst", "Text is.\n\n" + "=" * 100_000 + "\n\n" + " " * 100_000 + "a\n\n" + "> " * 400),
        ("x.org", "Text is.\n" + "*a [[ <2024-01-01 ~b " * 5_000 + "#+BEGIN_SRC\n" * 2_000),
        ("x.tex", "Text is.\n\n" + "{" * 100_000 + r"\begin{verbatim}" * 500 + r"\section{" * 500),
        ("x.py", "text\n" + "a(" * 100_000 + "\n" + "\n".join(" " * depth + "def a():" for depth in range(300))),
        ("x.csv", "a,b\n" + "|" * 100_000 + "\n" + '"' * 9_999),
    ],
)
def test_marks_without_end_end(name: str, body: str) -> None:
    assert quotes(body, name)
