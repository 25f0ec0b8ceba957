"""Identifiers on read pages: which are found, whole, and of which kind."""

from __future__ import annotations

import pytest

from marchwarden.ledger import Ledger, Pointer
from marchwarden.reading.page import read_page
from marchwarden.stages.discoveries import DiscoveriesGiven, find_pointers
from tests.webs import article


def pointers(sentence: str) -> set[tuple[str, str]]:
    return {(pointer.kind, pointer.value) for pointer in named("Bridges", sentence, "bridges")}


def named(title: str, sentence: str, question: str) -> list[Pointer]:
    page = read_page(article(title, sentence).encode(), url="https://a.org/", content_type="text/html")
    return find_pointers(page, question)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It is in the journal (doi:10.1016/S0004-3702(01)00129-1).", {("doi", "10.1016/S0004-3702(01)00129-1")}),
        ("It is in a study (10.5555/hb.24); it was read widely.", {("doi", "10.5555/hb.24")}),
        ("The data set “Spans of Europe” is deposited as doi:10.5555/spans.v2.", {("dataset", "10.5555/spans.v2")}),
        ("Spans stand in the data set “Spans of Europe”.", {("dataset", "data set “Spans of Europe”")}),
        ("Cite as: Moe I. Bridges 6, 118. doi:10.5555/own.1.", set()),
        ("The trial is NCT01234567, the preprint arXiv:2401.12345v2.", {("trial", "NCT01234567"), ("arxiv", "2401.12345v2")}),
    ],
)  # fmt: skip
def test_identifiers_are_found_whole_and_of_their_kind(sentence: str, found: set[tuple[str, str]]) -> None:
    assert pointers(sentence) == found


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("Why is the sky blue?", False),
        ("Where was Deep Blue described?", True),
        ("Blue?", True),
        ("What did Deep Blue's makers say of a sky full of stars above Philadelphia in 1996?", False),
    ],
)
def test_a_page_without_evidence_points_on_only_where_it_shares_more_than_a_word(
    question: str, is_told: bool
) -> None:
    text = "Its makers described Deep Blue in Artificial Intelligence (doi:10.1016/S0004-3702(01)00129-1)."
    ledger = Ledger(question=question, pointers=named("Chess in 1997", text, question))
    assert bool(DiscoveriesGiven(ledger).pointers) == is_told
