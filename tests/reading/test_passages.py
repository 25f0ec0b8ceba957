"""Passages: exact slices of one text, about a sentence each."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.reading.passages import MOST_PASSAGES, lay_out
from marchwarden.reading.text_blocks import Block
from marchwarden.text.invisible import visible
from tests.profiles import cpu_clock

KINDS = st.sampled_from(["heading", "paragraph", "item", "row", "line"])
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=900)
BLOCKS = st.lists(st.builds(Block, KINDS, WORDS.map(lambda text: " ".join(text.split())).filter(bool)), max_size=6)


@given(BLOCKS)
def test_a_passage_is_a_trimmed_slice_of_at_most_500_characters(blocks: list[Block]) -> None:
    text, passages = lay_out(blocks)
    for number, passage in enumerate(passages, 1):
        assert passage.number == number
        assert text[passage.start : passage.end] == passage.text
        assert passage.text == passage.text.strip()
        assert 0 < len(passage.text) <= 500
    assert all(earlier.end <= later.start for earlier, later in pairwise(passages))


@given(
    st.lists(st.text(st.characters(categories=["Ll"], max_codepoint=0x17F), min_size=1, max_size=60), min_size=150)
)
def test_no_passage_begins_or_ends_inside_a_word(words: list[str]) -> None:
    text, passages = lay_out([Block("paragraph", " ".join(words))])
    assert passages
    for passage in passages:
        assert passage.start == 0 or text[passage.start - 1].isspace()
        assert passage.end == len(text) or text[passage.end].isspace()


def test_a_long_sentence_is_cut_after_a_clause() -> None:
    clause = "the growers of the valley plant what they planted before"
    _, passages = lay_out([Block("paragraph", ", ".join([clause] * 20) + ".")])
    assert len(passages) > 1
    assert all(passage.text.endswith(("before,", "before.")) for passage in passages)


def test_a_single_word_longer_than_an_excerpt_is_not_quoted() -> None:
    _, passages = lay_out([Block("paragraph", "Key: " + "QUJD" * 400 + " ends here.")])
    assert [passage.text for passage in passages] == ["Key:", "ends here."]


def test_text_without_blanks_between_words_is_cut_between_characters() -> None:
    _, passages = lay_out([Block("paragraph", "番茄生长在犹他州" * 100)])
    assert [len(passage.text) for passage in passages] == [500, 300]


def test_a_full_width_address_is_not_cut_at_its_full_stops() -> None:
    text = "茄" * 300 + "ｗｗｗ．" + "ａ" * 180 + "．ｊｐ" + "番" * 100
    _, passages = lay_out([Block("paragraph", text)])
    assert [len(passage.text) for passage in passages] == [500, 87]


def test_headings_are_text_and_name_what_follows_but_are_no_passages() -> None:
    blocks = [
        Block("paragraph", "Before any heading."),
        Block("heading", "Warm-season\ncrops"),
        Block("item", "Tomatoes"),
        Block("item", "Peppers"),
    ]
    text, passages = lay_out(blocks)
    assert text == "Before any heading.\n\nWarm-season\ncrops\n\nTomatoes\nPeppers"
    assert [(p.text, p.heading) for p in passages] == [
        ("Before any heading.", None),
        ("Tomatoes", "Warm-season crops"),
        ("Peppers", "Warm-season crops"),
    ]


def test_a_row_is_headed_by_the_names_of_its_columns() -> None:
    names = Block("row", "Crop | Days", shown=False)
    _, (passage,) = lay_out([Block("heading", "Beans"), names, Block("row", "Bush | 55", header="Crop | Days")])
    assert (passage.text, passage.heading) == ("Bush | 55", "Beans · Crop | Days")


def test_what_has_no_letters_is_not_quoted() -> None:
    assert lay_out([Block("paragraph", "* * *"), Block("line", "- 12 -")])[1] == ()


def test_a_long_quotation_is_cut_after_its_sentences() -> None:
    quoted = "The growers of the valley plant what they planted before, as it was. " * 12
    _, passages = lay_out([Block("paragraph", f"She said: “{quoted.strip()}”")])
    assert len(passages) > 1
    assert all(passage.text.endswith(("was.", "was.”")) for passage in passages)


@pytest.mark.parametrize("declared", [None, "en", "en-US"])
def test_a_page_is_read_in_its_language_whatever_it_declares(declared: str | None) -> None:
    text = (
        "Am 12. Mai 1999 kam der Brief, und er war nicht für mich. Im 19. Jahrhundert hätte man ihn mit einem Pferd "
        "gebracht, z. B. aus Wien. Die Post ist seit dem 3. Oktober nicht mehr in der Hauptstr. 12 zu finden."
    )
    _, passages = lay_out([Block("paragraph", text)], declared)
    assert [passage.text[:8] for passage in passages] == ["Am 12. M", "Im 19. J", "Die Post"]


# Words are as readers see them, and are not told by what cuts them.

_SPACED = [
    "valley",
    "don't",
    "é\u0301te\u0301",
    "1,200.50",
    "Straße",
    "мельница",
    "क्षिप्र",
    "किताब",
    "كِتَاب",
    "한국어는",
    "μύλος",
]
_CLUSTERS = ["👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "q\u0323\u0307", "กำ", "ที่", "番", "茄", "カタカナ", "が", "か\u3099"]
_MIXED = st.lists(st.sampled_from([*_SPACED, *_CLUSTERS]), min_size=1, max_size=4)


@given(st.lists(_MIXED, min_size=30, max_size=120), st.sampled_from(["", ". ", "。", "! ", ", "]))
def test_no_passage_begins_or_ends_inside_a_character_or_word_of_any_script(runs: list[list[str]], sign: str) -> None:
    pieces = [piece for run in runs for piece in (*_parted(run), sign or " ")]
    text, passages = lay_out([Block("paragraph", "".join(pieces).strip())])
    allowed = {0, len(text), *accumulate(map(len, pieces))}
    for passage in passages:
        assert passage.start in allowed, text[passage.start - 5 : passage.start + 5]
        assert passage.end in allowed or text[passage.end :].startswith((sign, " ")), text[passage.end - 5 :][:10]


def _parted(run: list[str]) -> list[str]:
    """The words of a run, with blanks where their script has them."""
    return [part for piece in run for part in ([piece, " "] if piece in _SPACED else [piece])]


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=1500), st.sampled_from([None, "de", "ja", "ar", "xx"])
)
def test_passages_hold_whole_characters_whatever_the_text(text: str, language: str | None) -> None:
    laid_out, passages = lay_out([Block("paragraph", text.strip() or "x")], language)
    edges = {0, *accumulate(map(len, regex.findall(r"\X", laid_out)))}
    for passage in passages:
        assert laid_out[passage.start : passage.end] == passage.text
        assert 0 < len(passage.text) <= 500
        assert passage.start in edges
        assert passage.end in edges


_OF_SPACED_SCRIPTS = "aéÜb\u0301Яцкиك\u064eبतकि्षा가힣ά0٣3"
_BETWEEN = ".．․։,!?…‼„“”»«()[]'’-—:;|।॥؟۔。 \n"


@given(st.text(_OF_SPACED_SCRIPTS + _BETWEEN, min_size=300, max_size=1500), st.sampled_from([None, "de", "hi", "ko"]))
def test_no_edge_of_a_passage_stands_between_two_letters(text: str, language: str | None) -> None:
    laid_out, passages = lay_out([Block("paragraph", " ".join(text.split()) or "x")], language)
    for edge in (edge for passage in passages for edge in (passage.start, passage.end)):
        around = laid_out[max(0, edge - 1) : edge + 1]
        assert edge in (0, len(laid_out)) or not all(letter in _OF_SPACED_SCRIPTS for letter in around), around


@pytest.mark.parametrize(
    "unit", [".", "”", "z. B. ", "J. ", "番", "番茄。", "“a ", "(", '"a ', "1. a ", "[3]", "e\u0301", "a,"]
)
def test_time_grows_with_the_length_of_a_text_alone(unit: str) -> None:
    def seconds(length: int) -> float:
        block = Block("paragraph", (unit * (length // len(unit))).strip())
        with cpu_clock() as spent:
            lay_out([block], "en")
            return spent()

    long, short = (min(seconds(length) for _ in range(3)) for length in (24_000, 6_000))
    assert long < 8 * max(short, 0.01)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth\u200d\ufeff", "zerowidth"),
        ("\u202eright to left\u202c", "right to left"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("bell\x07\x00 and\x1b[31m", "bell and[31m"),
        ("variation\ufe0f\U000e0101", "variation"),
        ("filler\u3164\u115f", "filler"),
        ("a\r\nb\rc\u2028d\x85e\x0cf", "a\nb\nc\nd\ne\nf"),
        ("tab\tstays", "tab\tstays"),
        ("“curly” ﬁne no\u00a0break e\u0301", "“curly” ﬁne no\u00a0break e\u0301"),
    ],
)
def test_only_what_no_reader_sees_is_removed(raw: str, seen: str) -> None:
    assert visible(raw) == seen


@pytest.mark.parametrize(
    "blocks",
    [[Block("item", "so it is")] * (MOST_PASSAGES + 5), [Block("paragraph", "It is. " * (MOST_PASSAGES + 5))]],
    ids=["items", "one paragraph"],
)
def test_of_a_flood_of_passages_the_first_are_quoted(blocks: list[Block]) -> None:
    _, passages = lay_out(blocks)
    assert len(passages) == MOST_PASSAGES


def test_a_price_alone_on_its_line_can_be_quoted_under_the_heading_that_names_the_thing() -> None:
    _, passages = lay_out(
        [Block("heading", "Half-acre mower"), Block("paragraph", "$ 2,499.99"), Block("line", "17")]
    )
    assert [(each.text, each.heading) for each in passages] == [("$ 2,499.99", "Half-acre mower")]
