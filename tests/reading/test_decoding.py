"""The characters of bytes, whatever is said of them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reading.decoding import decode
from tests.reading.paragraphs import PARAGRAPHS
from tests.shared_data import SHARED_DATA

GERMAN = "Die Gärten in Köln blühen früh, und die Straßen sind naß – „schön“, sagte er; das kostet 5 €. " * 4
RUSSIAN = "В мае огурцы высаживают в открытый грунт, когда почва прогреется до пятнадцати градусов. " * 4
JAPANESE = "トマトは五月に植えます。夏の終わりまで収穫できます。" * 6


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x1b"), max_size=300))
def test_utf8_is_read_whatever_is_declared(text: str) -> None:
    assert decode(text.encode("utf-8"), "text/html; charset=utf-8").lstrip("\ufeff") == text.lstrip("\ufeff")


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (GERMAN.encode("cp1252"), "text/html; charset=windows-1252", GERMAN),
        (GERMAN.encode("cp1252"), "text/html; charset=iso-8859-1", GERMAN),
        (
            b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251"),
            None,
            '<meta charset="windows-1251">' + RUSSIAN,
        ),
        (JAPANESE.encode("shift_jis"), "text/html; charset=Shift_JIS", JAPANESE),
        (JAPANESE.encode("euc_jp"), 'text/html; charset="EUC-JP"', JAPANESE),
        (b"\xef\xbb\xbf" + GERMAN.encode(), "text/html; charset=iso-8859-1", GERMAN),
        (GERMAN.encode("utf-16"), None, GERMAN),
        (GERMAN.encode("utf-16-le"), None, GERMAN),
        (GERMAN.encode("utf-16-be"), "text/plain; charset=utf-16be", GERMAN),
    ],
)
def test_declared_encodings_are_followed(body: bytes, content_type: str | None, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (GERMAN.encode("utf-8"), "text/html; charset=iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "text/html; charset=utf-8", GERMAN),
        (RUSSIAN.encode("cp1251"), "text/html; charset=utf-8", RUSSIAN),
        (RUSSIAN.encode("koi8-r"), None, RUSSIAN),
        (RUSSIAN.encode("cp1251"), None, RUSSIAN),
        (JAPANESE.encode("shift_jis"), None, JAPANESE),
        (RUSSIAN.encode("utf-8"), "text/html; charset=nonsense", RUSSIAN),
        (RUSSIAN.encode("utf-8"), "text/html; charset=base64", RUSSIAN),
    ],
)
def test_a_wrong_or_missing_declaration_is_recognised(body: bytes, content_type: str | None, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("language", "encoding"),
    [(language, encoding) for language, (_, encodings) in PARAGRAPHS.items() for encoding in encodings],
)
def test_a_paragraph_is_read_in_each_encoding_of_its_language_though_none_is_declared(
    language: str, encoding: str
) -> None:
    text = PARAGRAPHS[language][0]
    page = PAGE.format(text=text)
    assert decode(text.encode(encoding), None) == text
    assert decode(page.encode(encoding), "text/html") == page


PAGE = """<!DOCTYPE html><html><head><title>The old mill</title><link rel="stylesheet" href="/style.css?a=1">
<script>var shown = {menu: function () { return "x" }}</script></head><body><ul class="menu">"""
PAGE += '<li><a href="/page.html?number=12">Home</a></li>' * 60
PAGE = PAGE.replace("{", "{{").replace("}", "}}") + "</ul><p>{text}</p><p>All rights reserved.</p></body></html>"


@pytest.mark.parametrize(
    "phrase",
    [
        "It’s the miller’s daughter.",
        "“Nobody goes home dry”",
        "It costs 5 € a bottle",
        "20 °C in May, ±1 °C",
        "½ cup",
        "10 µm",
        "© 2004 The Old Mill",
        "naïve",
        "à la carte",
        "Straße",
        "Malmö",
        "el año",
        "Å",
    ],
)
def test_few_accents_and_quotation_marks_in_plain_text_are_those_of_western_windows(phrase: str) -> None:
    for text in (phrase, PAGE.format(text=phrase)):
        assert decode(text.encode("cp1252"), None) == text
        assert decode(text.encode("cp1252"), "text/html; charset=utf-8") == text
        assert decode(text.encode("utf-8"), "text/html; charset=iso-8859-1") == text


def test_an_encoding_is_detected_by_what_comes_late() -> None:
    text = "key: value\n" * 20_000 + RUSSIAN
    assert decode(text.encode("koi8-r"), None) == text
    assert decode(text.encode("iso2022_jp", "ignore") + JAPANESE.encode("iso2022_jp"), None).endswith(JAPANESE)


@pytest.mark.parametrize("label", ["utf-16", "utf-16be", "utf-7", "unicode_escape", "ibm037", "idna", "punycode"])
def test_a_declaration_that_would_garble_what_reads_well_is_passed_over(label: str) -> None:
    text = f'<meta charset="{label}"><p>In UTF-7 this is no tag: +ADw-b+AD4-, nor is \\u0041 a letter.</p>'
    assert decode(text.encode(), None) == text
    assert decode(text.encode(), f"text/html; charset={label}") == text


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("x-sjis", "cp932", "麦"),
        ("windows-31j", "cp932", "①"),
        ("x-euc-jp", "euc_jp", "麦"),
        ("x-gbk", "gbk", "苹"),
        ("GB2312", "gb18030", "鎔€"),
        ("windows-949", "cp949", "똠"),
        ("iso-8859-8-i", "iso8859-8", "שלום"),
        ("windows-874", "cp874", "ไทย"),
        ("x-mac-roman", "mac-roman", "é"),
        ("latin1", "cp1252", "“”"),
    ],
)
def test_labels_mean_what_they_mean_in_browsers(label: str, encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), f"text/html; charset={label}") == text


def test_plain_text_with_zero_bytes_is_no_utf16() -> None:
    assert decode(b"./a.txt\0./another.txt\0./third.txt\0" * 20, None).startswith("./a.txt\0./another")


def test_a_character_cut_at_the_end_or_a_few_broken_ones_do_not_change_the_encoding() -> None:
    body = (RUSSIAN * 20).encode()
    assert decode(body[:-3], "text/html; charset=utf-8").startswith(RUSSIAN)
    assert decode("Malmö".encode("cp1252"), "text/html; charset=utf-8") == "Malmö", "no character is cut here"
    assert decode(body + b"\xff" + body, None) == RUSSIAN * 20 + "\ufffd" + RUSSIAN * 20


def test_a_utf8_page_stays_one_though_parts_of_it_are_something_else() -> None:
    body = GERMAN.encode() + "<q>Später, größer</q>".encode("cp1252")
    for content_type in ("text/html; charset=utf-8", None):
        assert decode(body, content_type) == GERMAN + "<q>Sp\ufffdter, gr\ufffd\ufffder</q>"


def test_a_declaration_after_scripts_is_found() -> None:
    page = "<html><head><script>" + "var a = 1;\n" * 1000 + '</script><meta charset="iso-8859-7"></head><p>ή</p>'
    assert decode(page.encode("iso8859-7"), None) == page


ENCODINGS = SHARED_DATA / "encodings-chardet/encodings.tar.xz"


@pytest.mark.skipif(not ENCODINGS.is_file(), reason=f"the public set of encodings is not at {ENCODINGS}")
def test_encodings_of_a_public_set_are_found() -> None:
    script = Path(__file__).parents[2] / "evals" / "reading" / "charsets.py"
    score = runpy.run_path(str(script))["measured"](ENCODINGS)
    assert score.files.total() == 425
    assert score.as_it_is.total() >= 0.99 * 425
    assert score.undeclared.total() >= 0.99 * 425
