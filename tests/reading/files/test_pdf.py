"""PDFs: columns, running heads, notes, tables and sentences over the ends of lines and pages, titles."""

from __future__ import annotations

import pytest

from marchwarden.observations import Page
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.pdf import read_pdf
from marchwarden.reading.page import read_page
from tests.reading.pages import pdf_pages

Shown = tuple[float, float, float, str]

LEFT = [
    "Peas are sown in March, as soon as",
    "the soil is dry enough to be worked.",
    "They climb up to two metres, and so",
    "they need sticks or a net to hold on.",
    "A row of ten metres gives about four",
    "kilograms of pods in a common summer.",
]
RIGHT = [
    "Beans are sown in May, since a night",
    "of frost kills them to the very roots.",
    "They are picked from July on, every",
    "two or three days, while still young.",
    "Dry beans are left on the plants until",
    "the leaves have fallen in late autumn.",
]


def blocks(*pages: list[Shown], info: str = "") -> list[tuple[str, str]]:
    content = read_pdf(pdf_pages(*pages, info=info))
    assert isinstance(content, FileContent)
    return [(block.kind, " ".join(block.text.split())) for block in content.blocks]


def column(lines: list[str], top: float = 700, left: float = 72, size: float = 10) -> list[Shown]:
    return [(left, top - 12 * number, size, line) for number, line in enumerate(lines)]


def test_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    one, two = column(LEFT), column(RIGHT, left=320)
    drawn = [piece for pair in zip(one, two, strict=True) for piece in pair]
    assert blocks(drawn) == [("paragraph", " ".join(LEFT)), ("paragraph", " ".join(RIGHT))]


def test_three_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    third = [
        "leeks are sown in April, under glass",
        "and set out in June in deep trenches",
        "that are filled little by little until",
        "the stems are as long as a hand, and",
        "they stand in frost and snow till they",
        "are wanted in the kitchen in winter.",
    ]
    columns = [[line.lower()[:26].strip() for line in lines] for lines in (LEFT, RIGHT, third)]
    placed = [column(lines, left=40 + 180 * at) for at, lines in enumerate(columns)]
    drawn = [piece for row in zip(*placed, strict=True) for piece in row]
    assert " ".join(text for _, text in blocks(drawn)) == " ".join(line for lines in columns for line in lines)


def test_short_columns_that_are_drawn_line_by_line_are_read_one_after_the_other() -> None:
    first = ["The moss of Kerrow was drained", "between 1791 and 1804 by the", "laird, for 230 shillings."]
    second = ["In 1956 the moss was flooded", "again for a nature reserve, and", "is home to 41 pairs of curlew."]
    drawn = [piece for pair in zip(column(first), column(second, left=320), strict=True) for piece in pair]
    assert blocks(drawn) == [("paragraph", " ".join(first)), ("paragraph", " ".join(second))]


def test_a_short_table_of_two_columns_of_words_stays_a_table() -> None:
    cells = [
        ("Peas of the early kind", "sown in March and April"),
        ("Beans of the late kind", "sown in May and June"),
    ] * 2
    rows: list[Shown] = [
        (left, 700 - 12 * at, 10, text)
        for at, row in enumerate(cells)
        for left, text in zip((72, 320), row, strict=True)
    ]
    assert {kind for kind, _ in blocks(rows)} == {"row"}


def test_a_table_of_three_columns_of_words_stays_a_table() -> None:
    cells = [("Peas of the early kind", "Sown in March and April", "Picked in June and July")] * 7
    rows: list[Shown] = [
        (left, 700 - 12 * at, 10, cell)
        for at, row in enumerate(cells)
        for left, cell in zip((40, 220, 400), row, strict=True)
    ]
    assert {kind for kind, _ in blocks(rows)} == {"row"}


def test_a_sentence_goes_on_in_the_next_column_and_on_the_next_page() -> None:
    one, two, three = LEFT[:5], [LEFT[5], *RIGHT[:3]], RIGHT[3:]
    assert blocks(column(one) + column(two, left=320), column(three)) == [("paragraph", " ".join(LEFT + RIGHT))]


def test_a_page_is_told_for_each_part_of_a_paragraph() -> None:
    body = pdf_pages(column(LEFT[:4]), column(LEFT[4:] + RIGHT[:2]))
    page = read_page(body, url="/a/b.pdf", content_type="application/pdf")
    assert isinstance(page, Page)
    assert [(each.text.split()[0], each.place) for each in page.passages] == [
        ("Peas", "page=1"),
        ("They", "page=1"),
        ("A", "page=2"),
        ("Beans", "page=2"),
    ]
    page = read_page(body, url="https://a.example/b.pdf", content_type="application/pdf")
    assert isinstance(page, Page)
    assert {each.place for each in page.passages} == {None}


def test_running_heads_page_numbers_and_notes_do_not_stand_in_a_sentence() -> None:
    def page(number: int, lines: list[str], note: str) -> list[Shown]:
        head, foot = (72.0, 760.0, 8.0, f"Garden Letters {number}"), (300.0, 30.0, 8.0, f"- {number} -")
        return [head, *column(lines), (72.0, 60.0, 7.0, note), foot]

    pages = page(4, LEFT[:3], "1 In a dry year."), page(5, LEFT[3:], "2 By hand."), page(6, RIGHT, "3 On sand.")
    found = blocks(*pages)
    assert found[0] == ("paragraph", " ".join(LEFT))
    assert [text for _, text in found[1:]] == ["1 In a dry year.", "2 By hand.", " ".join(RIGHT), "3 On sand."]


def test_a_figure_between_two_pages_does_not_cut_a_sentence() -> None:
    caption = column(["Figure 2: A row of peas."], top=740, size=8)
    found = blocks(column(LEFT[:3]), caption + column(LEFT[3:]))
    assert found == [("paragraph", " ".join(LEFT)), ("paragraph", "Figure 2: A row of peas.")]


def test_a_table_goes_on_over_a_page_end_with_the_names_of_its_columns() -> None:
    def row(y: float, *cells: str) -> list[Shown]:
        return [(72.0 + 140 * number, y, 10.0, cell) for number, cell in enumerate(cells)]

    first = column(LEFT) + row(80, "Crop", "Sown in", "Yield") + row(66, "Peas", "March", "4 kg")
    second = row(740, "Beans", "May", "6 kg") + row(726, "Leeks", "April", "9 kg") + column(RIGHT, top=690)
    content = read_pdf(pdf_pages(first, second))
    assert isinstance(content, FileContent)
    rows = [(block.text, block.header, block.shown) for block in content.blocks if block.kind == "row"]
    assert rows == [
        ("Crop | Sown in | Yield", None, False),
        ("Peas | March | 4 kg", "Crop | Sown in | Yield", True),
        ("Beans | May | 6 kg", "Crop | Sown in | Yield", True),
        ("Leeks | April | 9 kg", "Crop | Sown in | Yield", True),
    ]


def row(y: float, *cells: str, size: float = 10, apart: float = 140) -> list[Shown]:
    return [(72.0 + apart * number, y, size, cell) for number, cell in enumerate(cells)]


def rows_of(*pages: list[Shown]) -> list[tuple[str, str | None, bool]]:
    content = read_pdf(pdf_pages(*pages))
    assert isinstance(content, FileContent)
    return [(block.text, block.header, block.shown) for block in content.blocks if block.kind == "row"]


def test_names_that_are_said_again_on_the_next_page_are_no_row() -> None:
    first = column(LEFT) + row(90, "Crop", "Soil", "Shade") + row(76, "Peas", "loam", "none")
    first += [(72.0, 40.0, 7.0, "1 In a dry year.")]
    second = row(740, "Crop", "Soil", "Shade") + row(726, "Beans", "sand", "some") + row(712, "Leeks", "clay", "none")
    names = "Crop | Soil | Shade"
    assert rows_of(first, second) == [
        (names, None, False),
        ("Peas | loam | none", names, True),
        (names, None, False),
        ("Beans | sand | some", names, True),
        ("Leeks | clay | none", names, True),
    ]


def test_a_cell_of_two_lines_is_one_and_a_missing_one_leaves_its_column_empty() -> None:
    shown = row(700, "Crop", "Sown in", "Yield") + row(680, "Peas", "March and", "4 kg")
    shown += [(212.0, 668.0, 10.0, "April")]
    shown += row(648, "Beans", "May", "6 kg") + row(628, "Leeks", "April", "9 kg")
    shown += [(72.0, 608.0, 10.0, "Kale"), (352.0, 608.0, 10.0, "7 kg")]
    names = "Crop | Sown in | Yield"
    assert rows_of(shown) == [
        (names, None, False),
        ("Peas | March and April | 4 kg", names, True),
        ("Beans | May | 6 kg", names, True),
        ("Leeks | April | 9 kg", names, True),
        ("Kale |  | 7 kg", names, True),
    ]


def test_words_of_a_justified_line_are_no_cells() -> None:
    def spread(y: float, blank: float, line: str) -> list[Shown]:
        shown, left = [], 72.0
        for word in line.split():
            shown.append((left, y, 10.0, word))
            left += 6 * len(word) + blank
        return shown

    lines = ["It is a hard metal", "that is cut in cold", "air by a thin saw in", "a day or in a night."]
    shown = [piece for at, line in enumerate(lines) for piece in spread(700 - 12 * at, 14 + at, line)]
    assert blocks(shown) == [("paragraph", " ".join(lines))]


def test_a_running_head_beside_a_page_number_does_not_stand_in_a_sentence() -> None:
    def page(number: int, left: list[str], right: list[str]) -> list[Shown]:
        head = [(72.0, 760.0, 10.0, str(number)), (400.0, 760.0, 10.0, "Letters of a garden")]
        return head + column(left, top=680) + column(right, top=680, left=320)

    found = blocks(page(1, LEFT, RIGHT[:5]), page(2, [RIGHT[5], *LEFT[:5]], RIGHT))
    assert found[1] == ("paragraph", " ".join([*RIGHT, *LEFT[:5], *RIGHT]))


def test_a_caption_of_two_lines_does_not_stand_in_a_sentence() -> None:
    caption = [(200.0, 740.0, 10.0, "Figure 2: A row of peas in the"), (251.0, 728.0, 10.0, "garden in May")]
    found = blocks(column(LEFT[:3]), caption + column(LEFT[3:]))
    assert found == [("paragraph", " ".join(LEFT)), ("paragraph", "Figure 2: A row of peas in the garden in May")]


def test_wide_blanks_of_justified_lines_are_no_table() -> None:
    def justified(top: float, *parts: tuple[float, str]) -> list[Shown]:
        return [(left, top, 10.0, text) for left, text in parts]

    shown = justified(700, (72, "Peas are sown in March."), (230, "They climb up to two"))
    shown += justified(688, (72, "metres."), (134, "Beans are sown in May, since a")) + column(LEFT[1:], top=676)
    expected = "Peas are sown in March. They climb up to two metres. Beans are sown in May, since a"
    assert blocks(shown)[0] == ("paragraph", f"{expected} {' '.join(LEFT[1:])}")


def test_paragraphs_are_divided_by_space_and_by_indentation() -> None:
    lines = column(LEFT[:2]) + column(LEFT[2:4], top=660) + [(90.0, 636.0, 10.0, LEFT[4])]
    assert [text for _, text in blocks(lines)] == [" ".join(LEFT[:2]), " ".join(LEFT[2:4]), LEFT[4]]


def test_a_divided_word_is_joined_and_a_compound_keeps_its_hyphen() -> None:
    lines = [
        "The rake is a well-known gar-",
        "den tool, and there is no other well-",
        "known tool for a low-",
        "level bed.",
    ]
    expected = "The rake is a well-known garden tool, and there is no other well-known tool for a low-level bed."
    assert blocks(column(lines)) == [("paragraph", expected)]


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("well", "known", "well-known"),
        ("two", "thirds", "two-thirds"),
        ("e", "commerce", "e-commerce"),
        ("region", "al", "regional"),
        ("some", "thing", "something"),
        ("for", "wards", "forwards"),
        ("small", "est", "smallest"),
        ("re", "brand", "rebrand"),
        ("Blue", "tooth", "Bluetooth"),
    ],
)
def test_a_compound_that_stands_nowhere_else_keeps_its_hyphen(before: str, after: str, joined: str) -> None:
    lines = [f"They spoke of {before}-", f"{after} plans, and no more was said of it then."]
    assert blocks(column(lines))[0][1].startswith(f"They spoke of {joined} plans")


def test_a_word_of_capitals_keeps_its_hyphen_before_another_one() -> None:
    lines = ["The virus was called SARS-", "CoV-2 in the 20th-", "birthday letter."]
    assert blocks(column(lines)) == [("paragraph", "The virus was called SARS-CoV-2 in the 20th-birthday letter.")]


def test_the_number_of_a_note_does_not_join_its_first_word() -> None:
    shown = [(72.0, 104.0, 6.0, "2"), (76.0, 100.0, 10.0, "A dry year.")]
    assert blocks([*column(LEFT), *shown])[1] == ("paragraph", "² A dry year.")


def test_the_mark_of_a_note_within_a_number_does_not_join_it() -> None:
    shown = [(72.0, 700.0, 10.0, "The town had 10"), (162.0, 704.0, 6.0, "3"), (166.0, 700.0, 10.0, ",000 people.")]
    assert blocks(shown) == [("paragraph", "The town had 10³,000 people.")]


def test_the_mark_of_a_note_does_not_join_a_number() -> None:
    shown = [
        (72.0, 700.0, 10.0, "The town had 4,200"),
        (180.0, 704.0, 6.0, "3"),
        (184.0, 700.0, 10.0, " people then."),
    ]
    assert blocks(shown) == [("paragraph", "The town had 4,200³ people then.")]


@pytest.mark.parametrize("declared", ["paper.dvi", "Microsoft Word - final_v2.doc", "untitled", "", "b.pdf"])
def test_a_title_that_is_the_name_of_a_file_gives_way_to_the_largest_line(declared: str) -> None:
    shown = [(72.0, 740.0, 18.0, "Peas and beans"), *column(LEFT)]
    content = read_pdf(pdf_pages(shown, info=f"/Title ({declared})"))
    assert isinstance(content, FileContent)
    assert content.title == "Peas and beans"


def test_a_declared_title_is_kept() -> None:
    content = read_pdf(pdf_pages(column(LEFT), info="/Title (Garden Letters)"))
    assert isinstance(content, FileContent)
    assert content.title == "Garden Letters"
