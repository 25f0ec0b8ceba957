"""Text from outside stays text, in every medium."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from marchwarden.observations import UNSAFE
from marchwarden.text.escaping import (
    _HIDDEN,
    json_text,
    markdown_address,
    markdown_line,
    markdown_text,
    one_line,
    visible,
    web_address,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x07b\x9bc\x7f", "a\\x07b\\x9bc\\x7f"),
        ("left\u202egnp.exe", "left\\u202egnp.exe"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("smuggled 😀\U000e0120\U000e0121", "smuggled 😀\\U000e0120\\U000e0121"),
        ("葛\U000e0100城", "葛\U000e0100城"),
        ("bank．example", "bank\\uff0eexample"),
        ("である．また３．５", "である．また３．５"),
        ("lone \ud800", "lone \\ud800"),
        ("line\r\nline\rline\tcell", "line\nline\nline cell"),
        ("naïve 日本語 👩\u200d🌾 שלום", "naïve 日本語 👩\u200d🌾 שלום"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text())
def test_no_control_character_but_the_newline_is_left(text: str) -> None:
    assert {char for char in visible(text) if unicodedata.category(char) in ("Cc", "Cs")} <= {"\n"}


@given(st.text(), st.integers(2, 40))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


MARKUP = st.lists(
    st.sampled_from([*"[](){}<>!*_`~#|&$\\:/@.=-\n 1ab", "https", "javascript", "www.", "[1]", "&lt;", "img src=x"]),
    max_size=40,
).map("".join)
"""Runs of what Markdown is made of."""


def kinds_of(text: str) -> set[str]:
    """The kinds of Markdown that a reader makes of a text, but for paragraphs, lists and line ends."""
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    found = {token.type for each in tokens for token in [each, *(each.children or [])]}
    plain = {
        "paragraph",
        "inline",
        "text",
        "softbreak",
        "bullet_list",
        "ordered_list",
        "list_item",
        "code_block",
        "hr",
    }
    return {kind for kind in found if kind.removesuffix("_open").removesuffix("_close") not in plain}


@given(MARKUP)
def test_markup_of_a_page_is_text_in_markdown(text: str) -> None:
    assert kinds_of(markdown_text(text, markers=True)) == set()
    assert kinds_of(f"# {markdown_line(text)}") <= {"heading_open", "heading_close"}


@given(MARKUP)
def test_a_line_shows_its_text_and_nothing_else(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(f"x {markdown_line(text)}")
    assert " ".join((tokens[1].children or [])[0].content.split()) == " ".join(f"x {text}".split())


def test_lists_stay_lists_and_the_markers_of_citations_stay() -> None:
    assert markdown_text("- tea [1]\n- salt [2](x)", markers=True) == "- tea [1]\n- salt \\[2\\](x)"
    assert markdown_text("[1]: javascript:x") == "\\[1\\]\\: javascript\\:x"


@pytest.mark.parametrize(
    ("locator", "address"),
    [
        ("https://a.example/b_(c)?d=1&e=2#f", "https://a.example/b_(c)?d=1&e=2#f"),
        ("https://例え.example/野菜", "https://例え.example/野菜"),
        ("https://evil．example/a．b。c", "https://evil.example/a%EF%BC%8Eb。c"),
        ("HTTP://a.example/x y\n<z>\"'", "HTTP://a.example/x%20y%0A%3Cz%3E%22'"),
        ("https://a.example/\u202egnp", "https://a.example/%E2%80%AEgnp"),
        ("https://bank.example@evil.example/", None),
        ("https://evil.example\\@bank.example/", None),
        ("https://\u202ebank.example/", None),
        ("https:///x", None),
        ("https://[x", None),
        ("javascript:alert(1)//https://x.example", None),
        (" https://x.example", None),
        ("data:text/html,x", None),
        ("file:///etc/passwd", None),
        ("/notes/report.pdf#page=3", None),
        (None, None),
    ],
)
def test_only_an_address_of_the_web_is_a_link(locator: str | None, address: str | None) -> None:
    assert web_address(locator) == address


@given(MARKUP)
def test_an_address_in_markdown_is_one_link_or_none(path: str) -> None:
    tokens = MarkdownIt("commonmark").parse(markdown_address(f"https://a.example/{path}") + " end")
    links = [token for token in tokens[1].children or [] if token.type == "link_open"]
    assert len(links) == 1
    assert str(links[0].attrs["href"]).startswith("https://a.example/")
    assert kinds_of(markdown_address(f"javascript:{path}")) == set()


@given(st.text())
def test_json_reads_back_as_the_same_and_shows_nothing_unsafe(text: str) -> None:
    written = json_text(json.dumps([text], ensure_ascii=False))
    assert json.loads(written) == [text.encode("utf-8", "replace").decode()]
    assert UNSAFE.search(written) is None


@pytest.mark.parametrize(
    ("character", "written"),
    [("\x85", r"\u0085"), ("\u202e", r"\u202e"), ("\U000e0041", r"\udb40\udc41"), ("\ud800", "?")],
)
def test_an_unsafe_character_in_json_is_an_escape_of_json(character: str, written: str) -> None:
    assert json_text(f'"a{character}"') == f'"a{written}"'


def test_what_makes_no_markup_is_left_as_it_is_for_those_who_read_markdown_unrendered() -> None:
    plain = "R&D wrote file_name in C# (100 % of it). Eureka!"
    assert markdown_text(plain) == plain
    assert markdown_text("_x_ ![a] &lt; # b") == r"\_x\_ \!\[a\] \&lt; \# b"


def test_every_character_that_is_hidden_is_found_wherever_it_stands_alone() -> None:
    characters = [chr(code) for code in range(0x110000) if chr(code) not in "\r\n\t"]
    hidden = {found for text in ("".join(characters), "a".join(characters)) for found in _HIDDEN.findall(text)}
    assert len(hidden) > 500
    assert [each for each in hidden if visible(f"a{each}b") == f"a{each}b"] == []
