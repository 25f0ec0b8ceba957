"""Passages: exact slices of one text, about a sentence each."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.tools.passages import Block, lay_out, sentences, visible

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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Frost ends in May. Then plant.", ["Frost ends in May.", "Then plant."]),
        ("The U.S. Department of Agriculture says so.", ["The U.S. Department of Agriculture says so."]),
        ("See vol. 3 and Fig. 4. It rained 5.5 in. in all.", ["See vol. 3 and Fig. 4.", "It rained 5.5 in. in all."]),
        ("Approx. 10 in. of rain fell.", ["Approx. 10 in. of rain fell."]),
        ("1. Sow peas. 2. Sow beans.", ["1. Sow peas.", "2. Sow beans."]),
        ("Rain fell.[3] It stopped.[4][a]", ["Rain fell.[3]", "It stopped.[4][a]"]),
        ("One line\nthat goes on. Another.", ["One line\nthat goes on.", "Another."]),
        ("Wirklich? Ja.", ["Wirklich?", "Ja."]),
        ("Beets bear 4 dS/m. Salt is leached.", ["Beets bear 4 dS/m.", "Salt is leached."]),
        ("It is 0 °C. Cover at 5 m. Then wait.", ["It is 0 °C.", "Cover at 5 m.", "Then wait."]),
        ("In K.-H. W. v. Germany it was so.", ["In K.-H. W. v. Germany it was so."]),
        ("第一句。第二句。", ["第一句。", "第二句。"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, found: list[str]) -> None:
    assert [text[start:end].strip() for start, end in sentences(text)] == found


def test_an_unknown_language_is_read_as_english() -> None:
    assert sentences("One. Two.", "tlh-Latn") == sentences("One. Two.", "en")


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
