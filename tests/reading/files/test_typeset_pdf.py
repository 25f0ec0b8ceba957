"""PDFs that Typst and WeasyPrint typeset from known text: Arabic, Hebrew, notes, other hyphens, a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.leftward import Letter, lines_of, text_of
from marchwarden.reading.files.pdf import read_pdf

FOLDER = Path(__file__).with_name("typeset")

# In the order of reading, marks and brackets as they are written.
ARABIC = [
    "بُنيت المدرسة عام 1928 على مساحة 3.5 هكتار، وفيها 42 صفاً (Open Data Charter 2015). زارها الوزير يوم الإثنين، "
    "وقال إن «العمل مستمرٌ» في البناء. لا يزال السوق القديم مفتوحاً.",
    "المدينة | السكان | السنة",
    "عدن | 1,080 | 2014",
    "حلب | 2,098 | 2015",
    "أربيل | 879 | 2016",
]
HEBREW = [
    "האפונה נזרעת במרץ, כאשר האדמה יבשה די הצורך. היא מטפסת עד 2.5 מטר, ולכן צריכה רשת (WHO, 2019). שורה של עשרה "
    "מטרים נותנת כארבעה קילוגרמים.",
    "השעועית נזרעת במאי, כי לילה של כפור הורג אותה. את התרמילים קוטפים מיולי ועד ספטמבר, כל 2– 3 ימים, כשהם עדיין "
    "צעירים. השעועית היבשה נשארת על השיח עד שהעלים נושרים בסתיו.",
]


def content(name: str) -> FileContent:
    found = read_pdf((FOLDER / name).read_bytes())
    assert isinstance(found, FileContent)
    return found


@pytest.mark.parametrize(("name", "expected"), [("arabic.pdf", ARABIC), ("hebrew.pdf", HEBREW)])
def test_text_from_right_to_left_is_read_in_order(name: str, expected: list[str]) -> None:
    assert [" ".join(block.text.split()) for block in content(name).blocks] == expected


def test_columns_of_a_table_from_right_to_left_have_their_names() -> None:
    rows = [block for block in content("arabic.pdf").blocks if block.kind == "row"]
    assert [row.header for row in rows] == [None, *["المدينة | السكان | السنة"] * 3]
    assert [[cell.name for cell in row.cells] for row in rows[1:]] == [["المدينة", "السكان", "السنة"]] * 3


def test_notes_stand_apart_and_divided_words_are_joined() -> None:
    found = content("english.pdf")
    assert found.title == "Peas and beans"  # and not "paper.dvi"
    texts = [" ".join(block.text.split()) for block in found.blocks if block.kind != "row"]
    assert texts == [
        "Peas and beans",
        "Traditional gardeners sow peas in March, as soon as the soil is sufficiently dry to be cultivated. The town had "
        "4,200¹ inhabitants then, and its municipal administration distributed agricultural implements among the "
        "twentieth-century settlers of the surrounding districts. Experienced horticulturists recommend intermediate "
        "temperatures, extraordinarily careful irrigation and well-prepared compost.² Representatives of the "
        "neighbourhood's associations subsequently established a demonstration garden.",
        "1. By the count of 1928, which left out the village.",
        "2. In a dry year the beds are watered twice.",
    ]


def test_narrow_cells_below_centered_bold_names_are_columns() -> None:
    rows = [block for block in content("english.pdf").blocks if block.kind == "row"]
    assert [(row.text, row.header, row.shown) for row in rows[:3]] == [
        ("Crop | Sown in | Soil", None, False),
        ("Peas | March | loam", "Crop | Sown in | Soil", True),
        ("Beans | May | sand", "Crop | Sown in | Soil", True),
    ]
    assert len(rows) == 9


def seen(text: str) -> list[Letter]:
    """Letters as they are drawn from left to right, each ten points high and five wide."""
    return [Letter(at, letter, 5.0 * at, 5.0 * at + 5, 0.0, 10.0) for at, letter in enumerate(text)]


@pytest.mark.parametrize(
    ("drawn", "leftward", "read"),
    [
        # What is drawn is written here as it is seen, from left to right.
        (".1990 תנש", True, "שנת 1990."),
        ("3.5% יכ", True, "כי 3.5%"),
        ("%3.5 يف", True, "في 3.5%"),
        ("2015-2010 יב", True, "בי 2015-2010"),
        ("2015-2010 يف", True, "في 2010-2015"),
        (".(Foo Bar 2015) רמא", True, "אמר (Foo Bar 2015)."),
        ("Foo (bar) ןמ", True, "מן Foo (bar)"),
        ("the word םולש here.", False, "the word שלום here."),
        ("(WHO, 2019).", False, "(WHO, 2019)."),
        (".(WHO, 2019)", True, "(WHO, 2019)."),
        ("1,200", True, "1,200"),
        ("ٍ", True, "ٍ"),  # a mark without a letter
    ],
)
def test_a_line_is_read_in_its_direction(drawn: str, leftward: bool, read: str) -> None:
    (line,) = lines_of(seen(drawn), 0.9, 0.5)
    assert text_of(line, leftward=leftward) == read


def test_letters_of_one_glyph_and_marks_that_are_drawn_apart_are_put_in_order() -> None:
    # A ligature gives its letters in reverse, and a mark that is drawn apart the letter below it once more.
    drawn = [
        Letter(0, "س", 20.0, 25.0, 0.0, 10.0),
        Letter(1, "ا", 15.0, 20.0, 0.0, 10.0),
        Letter(2, "ل", 15.0, 20.0, 0.0, 10.0),
        Letter(3, "م", 10.0, 15.0, 0.0, 10.0),
        None,
        Letter(5, "ٌ", 11.0, 13.0, 1.0, 10.0),
        Letter(6, "م", 11.0, 13.0, 1.0, 10.0),
    ]
    (line,) = lines_of(drawn, 0.9, 0.5)
    assert text_of(line, leftward=True) == "سلامٌ"
