"""How a result looks, at any width, whatever its texts hold."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from marchwarden.cli.views.console import show
from marchwarden.cli.views.result_view import band, result_view
from marchwarden.contract import Gap, GapCategory, Lineage, ResearchResult, WorkNotice, confidence_band
from marchwarden.server.markdown import as_markdown
from marchwarden.text.escaping import web_address
from tests.cli.results import TRACE_ID, a_citation, a_hostile_result, a_result, an_empty_result


def shown(result: ResearchResult, width: int = 80, *, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        markup=False,
        emoji=False,
        highlight=False,
        force_terminal=terminal,
        no_color=not terminal,
    )
    show(result_view(result), console)
    return file.getvalue()


@given(st.floats(0, 1))
def test_the_words_for_a_score_are_the_contracts(confidence: float) -> None:
    assert band(confidence) == confidence_band(confidence)


def test_a_calibrated_confidence_says_on_what_and_what_it_was_before() -> None:
    result = a_result()
    told = {"uncalibrated": 0.86, "calibration": "calibrated on 70\x1b answers"}
    factors = result.confidence_factors.model_copy(update=told)
    text = " ".join(shown(result.model_copy(update={"confidence_factors": factors}), 140).split())
    assert "0.78 (moderate) · calibrated on 70\\x1b answers (uncalibrated 0.86) · 2 corroborating sources" in text


@pytest.mark.parametrize("width", [45, 60, 80, 140])
def test_everything_is_there_and_fits_but_addresses(width: int) -> None:
    text = shown(a_result(), width)
    assert max(cell_len(line) for line in text.splitlines() if "://" not in line) <= width
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    flat = "".join(text.split())
    for part in (
        "moderateconfidence(0.78)",
        "TomatoesdowellinUtah[1].Peasgoinearly[2].",
        "Warm-seasonvegetablesforUtah",
        "2025-03-01",
        "豆は早春に植えます。",
        "Yields(accessdenied)",
        "doi:10.1234/crops(relatedresearch→arxiv)",
        "Whichcultivarsstandsalt?(highpriority)",
        "2corroboratingsources·sourceauthorityhigh·newestsource1to3yearsold",
        "12,345tokens·2iterations·1.3s·modelextractive",
        TRACE_ID,
        "marchwardenreplay3f2a1b2c",
    ):
        assert part in flat


@pytest.mark.parametrize("width", [20, 200])
def test_an_address_is_never_broken(width: int) -> None:
    address = "https://extension.usu.example/gardening/(warm-season)?a=1&b=2"
    gap = Gap(topic="Yields", category=GapCategory.ACCESS_DENIED, detail=f"{address} could not be read: 402.")
    text = shown(a_result(gaps=[gap]), width)
    assert f"      {address}\n" in text
    assert f"    {address}" in text.partition("Gaps")[2]


def test_news_of_a_cited_work_stands_beside_its_citation() -> None:
    notice = WorkNotice(kind="concern", detail="Crossref has a notice of expression of concern")
    told = a_result()
    first = told.citations[0].model_copy(update={"notices": [notice]})
    text = shown(told.model_copy(update={"citations": [first, *told.citations[1:]]}), 140)
    assert "News of this work: Crossref has a notice of expression of concern\n" in text


def test_an_investigation_says_who_found_a_source_and_why_each_researcher_was_asked() -> None:
    asked = [
        ("web", "sub_question", "answered"),
        ("papers", "source_not_found", "nothing"),
        ("a", "of_later", "lost"),
    ]
    lineage = [
        Lineage(trace_id=TRACE_ID, researcher=who, question="What grows?", origin=origin, tokens_used=0, outcome=end)
        for who, origin, end in asked
    ]
    result = a_result(
        answer="Tomatoes do well [1].", citations=[a_citation(researcher="web", authors=["Ada"])], lineage=lineage
    )
    said = " ".join(shown(result).split())
    assert "Ada · 2025-03-01 · found by web" in said
    for who, why, outcome in [
        ("web", "at first", "answered"),
        ("papers", "others found nothing", "found nothing"),
        ("a", "of later", "gave no result"),
    ]:
        assert f"{who} ({why}) What grows? {outcome} · 0 tokens" in said
        assert f"**{who}** ({why}): What grows? ({outcome}, 0 tokens" in as_markdown(result)


def test_files_that_may_have_one_author_are_not_said_to_confirm_each_other() -> None:
    told = a_result()
    files = [each.model_copy(update={"source": "file"}) for each in told.citations]
    text = shown(told.model_copy(update={"citations": files}), 140)
    assert "0.78 (moderate) · quotes from 2 files · source authority high" in text


def test_sections_without_content_are_left_out() -> None:
    text = shown(an_empty_result())
    assert "Citations" not in text
    assert "Discoveries" not in text
    assert text.startswith("No answer\n\n")
    assert "Confidence" not in text
    assert "All of it (source not found)" in text


@pytest.mark.parametrize(("confidence", "is_told"), [(0.49, True), (0.5, False)])
def test_an_answer_of_very_low_confidence_says_in_words_that_it_may_be_none(confidence: float, is_told: bool) -> None:
    text = shown(a_result().model_copy(update={"confidence": confidence}))
    assert ("It may not answer the question: read the quotes.\n\n" in text) == is_told


@pytest.mark.parametrize("width", [60, 140])
def test_texts_from_outside_are_neither_markup_nor_commands(width: int) -> None:
    plain = shown(a_hostile_result(), width)
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert "\u202e" not in plain
    flat = "".join(plain.split())
    assert "\\x1b[2J\\x1b]8;;https://evil.example\\x07click" in flat
    assert "[red]red[/red]:smile:<b>" in flat


def test_on_a_terminal_only_colours_and_links_to_cited_pages_are_added() -> None:
    text = shown(a_hostile_result(), 140, terminal=True)
    assert "\x1b[1m" in text
    assert "\x1b[2J" not in text
    targets = set(re.findall(r"\x1b\]8;[^;]*;([^\x1b]*)\x1b", text)) - {""}
    assert targets == {web_address(a_hostile_result().citations[0].locator)}
    assert "\x1b]8" not in shown(a_hostile_result(), 140)
