"""Where words end, in any script."""

from __future__ import annotations

import pytest

from marchwarden.text.segmentation.sentence_marks import between_words, next_edge


@pytest.mark.parametrize(
    "whole",
    [
        "word", "don't", "don’t", "1,200.50", "3.5", "café", "cafe\u0301", "Straße", "мельница", "كِتَاب", "किताब", "क्षि", "한국어",
        "가", "カタカナ", "か\u3099", "👩\u200d👩\u200d👧", "👍🏽", "🇩🇪", "1\ufe0f\u20e3", "ที่", "q" + "\u0323" * 30, "می\u200cخواهم", "snake_case",
    ],
)  # fmt: skip
def test_no_place_inside_a_word_or_character_is_between_words(whole: str) -> None:
    text = f"a {whole} b"
    assert [at for at in range(2, len(text) - 1) if between_words(text, at)] == [2, 2 + len(whole)]


@pytest.mark.parametrize("text", ["番茄", "とこ", "ไทย", "ລາວ"])
def test_scripts_without_blanks_part_between_characters(text: str) -> None:
    assert all(between_words(text, at) for at in range(len(text) + 1))


def test_the_next_edge_is_where_a_long_word_ends() -> None:
    text = "A" * 2_000 + "ß" * 2_000 + " end"
    assert next_edge(text, 500, len(text)) == 4_000
    assert next_edge(text[:4_000], 500, 4_000) == 4_000
