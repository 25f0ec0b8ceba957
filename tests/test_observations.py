"""Texts from outside are bounded, and hold no control characters, wherever they came from."""

from __future__ import annotations

import pytest

from marchwarden.observations import (
    DETAIL_CHARS,
    TITLE_CHARS,
    Failure,
    FailureKind,
    FetchOutcome,
    Page,
    SearchHit,
    content_hash,
    plain_line,
    plain_text,
)

NASTY = "\x1b]0;owned\x07\x1b[1;31mred\x1b[0m \u202etext\x00\n\ud800end"


def test_titles_details_and_headers_are_plain_and_bounded() -> None:
    page = Page(
        "https://a.org/", content_hash(b""), "", content_hash(b""), (), title=NASTY, authors=("a" * 9_000_000,) * 900
    )
    assert page.title == "red text end"
    assert [len(name) for name in page.authors] == [TITLE_CHARS]
    assert Failure(FailureKind.NETWORK, NASTY).detail == "red text end"
    assert len(Failure(FailureKind.NETWORK, "x" * 9_000_000).detail) == DETAIL_CHARS
    outcome = FetchOutcome("https://a.org/", "https://a.org/", content_type="text/html\x1b[31m" + "x" * 60_000)
    assert len(outcome.content_type or "") == TITLE_CHARS


def test_a_hit_without_a_title_is_named_by_its_address() -> None:
    assert SearchHit("https://a.org/", " \x00 ").title == "https://a.org/"


@pytest.mark.parametrize("text", ["a" * 10, "a" * 11, "\x00" * 30 + "a", "a\x00" * 12, ""])
def test_a_text_keeps_its_start_and_its_limit(text: str) -> None:
    short = plain_text(text, 10)
    assert len(short) <= 10
    assert len(plain_line(text, 10)) <= 10
    assert short == text if text in ("", "a" * 10) else short.removesuffix("…") == "a" * short.count("a")
