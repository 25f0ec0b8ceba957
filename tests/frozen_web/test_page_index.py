"""The index finds by stems, treats a query as words alone, and is whole or not there."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.frozen_web.crawl import Listing
from marchwarden.frozen_web.page_index import SEAL, PageIndex

CROPS = Listing(
    "https://a.example.org/crops",
    "Crops for Utah",
    ("Tomatoes are the ideal crops for a garden in Utah.", "Garlic “stands” the dry air."),
    published=date(2024, 5, 1),
)
LAKE = Listing(
    "https://b.example.org/lake", "The lake", ("The lake fell in 2022.", "Gardens and crops take its water.")
)
CLOSED = Listing("https://c.example.org/short-season-varieties", "Closed", (), "Sixty-two tomatoes compared.")
WALL = Listing("https://d.example.de/mauer", "Die Mauer", ("Die Häuser an der Mauer wurden geräumt.",), language="de")
TEA = Listing("https://e.example.jp/ocha", "お茶の淹れ方", ("お湯の温度は八十度である。",), language="ja")
ALL = [CROPS, LAKE, CLOSED, WALL, TEA]

SYNTAX = [
    '"',
    "'",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "*",
    "?",
    "~",
    "^",
    "+",
    "-",
    "/",
    "\\",
    "AND",
    "OR",
    "NOT",
    "IN",
    "TO",
]


@pytest.fixture(scope="module")
def index() -> PageIndex:
    return PageIndex.build(ALL)


def found(index: PageIndex, query: str) -> list[str]:
    return [listing.url.removeprefix("https://")[0] for _, listing in index.find(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ideal crop for gardening", ["a", "b"]),
        ("lakes", ["b"]),
        ("tomato comparison", ["c", "a"]),
        ("short season variety", ["c"]),
        ("geräumte Haus", ["d"]),
        ("お湯の温度", ["e"]),
        ("bitcoin", []),
        ("the of and", []),
        ("", []),
    ],
)
def test_stems_in_title_text_snippet_and_address_are_found(index: PageIndex, query: str, expected: list[str]) -> None:
    assert found(index, query) == expected


def test_a_word_in_the_title_counts_for_more(index: PageIndex) -> None:
    assert found(index, "crops")[0] == "a"


def test_scores_fall_and_listings_come_back_whole(index: PageIndex) -> None:
    scored = list(index.find("garden crops in Utah"))
    assert [score for score, _ in scored] == sorted((score for score, _ in scored), reverse=True)
    assert scored[0][1] == CROPS


@given(st.lists(st.sampled_from([*SYNTAX, "lake", "title:lake", "lake~2", "l*ke"]), max_size=8))
def test_nothing_in_a_query_is_syntax(parts: list[str]) -> None:
    """Whatever stands around it, a query finds what its words find."""
    index = PageIndex.build([LAKE, CROPS])
    expected = ["b"] if any("lake" in part for part in parts) else []
    assert found(index, " ".join(parts)) == expected


@given(st.text(max_size=60))
def test_any_text_can_be_asked(query: str) -> None:
    list(_SHARED.find(query))


_SHARED = PageIndex.build(ALL)


def test_an_empty_index_finds_nothing() -> None:
    assert list(PageIndex.build([]).find("crops")) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    empty = tmp_path / "index"
    empty.mkdir()
    return empty


def test_one_on_disk_is_opened_as_it_was_built(folder: Path) -> None:
    PageIndex.build(ALL, folder)
    opened = PageIndex.open(folder)
    for query in ("ideal crops in Utah", "geräumte Haus", "tomato"):
        assert found(opened, query) == found(_SHARED, query) != []


def test_one_that_was_not_finished_does_not_open(folder: Path) -> None:
    PageIndex.build(ALL, folder)
    (folder / SEAL).unlink()
    with pytest.raises(OSError, match=SEAL):
        PageIndex.open(folder)


@pytest.mark.parametrize("harm", ["cut", "changed", "gone", "more", "seal"])
def test_one_that_is_damaged_does_not_open(folder: Path, harm: str) -> None:
    PageIndex.build(ALL, folder)
    store = next(folder.glob("*.store"))
    body = store.read_bytes()
    match harm:
        case "cut":
            store.write_bytes(body[:-1])
        case "changed":
            store.write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
        case "gone":
            store.unlink()
        case "more":
            (folder / "other.store").write_bytes(b"x")
        case "seal":
            (folder / SEAL).write_text("[]", encoding="utf-8")
    with pytest.raises(ValueError, match="damaged"):
        PageIndex.open(folder)
