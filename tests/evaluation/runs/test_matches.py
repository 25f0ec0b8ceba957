"""What became of each label: as the scorers have it, one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory
from marchwarden.evaluation.runs.matches import Matches, Wanted, as_words, matches_of
from marchwarden.store.content_store import Store
from tests.cli.results import a_citation
from tests.evaluation.made_runs import QUOTE, URL, a_nugget, a_question, a_record, an_answer

SIDES = [{"url": "https://one.example/", "quote": "100 mg"}, {"url": "https://two.example/", "quote": "200 mg"}]


def matches(labels: dict[str, Any], **result: Any) -> Matches:
    return matches_of(a_record(a_question(**labels), an_answer(**result)), Path("no-traces"))


def a_gap(topic: str, category: GapCategory = GapCategory.SOURCE_NOT_FOUND) -> Gap:
    return Gap(topic=topic, category=category, detail="Nothing was found.")


def a_discovery(
    query: str, type: DiscoveryType = DiscoveryType.RELATED_RESEARCH, reason: str = "Cited."
) -> DiscoveryEvent:
    return DiscoveryEvent(type=type, query=query, reason=reason)


def test_a_nugget_is_said_by_the_answer_and_evidenced_by_a_citation() -> None:
    nuggets = [a_nugget(), a_nugget(id="n2", answers=["peppers"], evidence=[]), a_nugget(id="n3", answers=["kale"])]
    found = matches({"nuggets": nuggets}, answer="Tomatoes need sun [1].")
    assert [(each.said, each.evidenced) for each in found.nuggets] == [(True, True), (False, None), (False, True)]
    assert [each.name[:2] for each in found.wanted if each.what == "evidence"] == ["n1", "n3"]


def test_a_citation_bears_on_the_question_or_does_not() -> None:
    citations = [a_citation(locator=URL, raw_excerpt=QUOTE), a_citation(locator="https://other.example/")]
    assert matches({}, citations=citations).citations == [True, False]
    assert matches({"nuggets": [a_nugget(evidence=[])]}, citations=citations).citations == [None, None]


def test_an_excerpt_is_evidence_where_it_overlaps_the_quote_in_the_page_that_was_read(tmp_path: Path) -> None:
    text = "In the garden, tomatoes and peppers need the full sun for at least eight hours of every summer day."
    nugget = a_nugget(answers=["eight"], evidence=[{"url": URL, "quote": text[15:75]}])
    result = an_answer(citations=[a_citation(locator=URL, raw_excerpt=text[:62])])
    record = a_record(a_question(nuggets=[nugget]), result)
    assert not matches_of(record, tmp_path).nuggets[0].evidenced
    fetched = {"action": "fetch_url", "url": URL, "text_hash": Store(tmp_path / "store").put(text.encode())}
    lost = {"action": "fetch_url", "url": "https://lost.example/", "text_hash": "sha256:" + "0" * 64}
    (tmp_path / f"{record.trace_id}.jsonl").write_text(f"{json.dumps(lost)}\n{json.dumps(fetched)}\n")
    assert matches_of(record, tmp_path).nuggets[0].evidenced


@pytest.mark.parametrize(
    ("label", "reported", "verdict"),
    [
        ({"category": "source_not_found"}, [a_gap("yields of tomatoes")], "matched"),
        ({"category": "access_denied"}, [a_gap("yields of tomatoes")], "wrong category"),
        ({"category": "source_not_found"}, [], "missed"),
        ({"category": "source_not_found", "required": False}, [a_gap("yields of tomatoes")], "allowed"),
        ({"category": "source_not_found", "required": False}, [], "not reported"),
    ],
)
def test_a_labelled_gap_has_a_verdict(label: dict[str, Any], reported: list[Gap], verdict: str) -> None:
    (match,) = matches({"gaps": [{"topic": "tomatoes: yields", **label}]}, gaps=reported).gaps
    assert match.verdict == verdict
    assert (match.reported is not None) == bool(reported)


def test_a_gap_that_no_label_has_stands_alone() -> None:
    (match,) = matches({}, gaps=[a_gap("price of seeds")]).gaps
    assert (match.label, match.verdict) == (None, "not labelled")


def test_an_optional_gap_does_not_shift_the_verdicts_of_those_after_it() -> None:
    labels = [
        {"topic": "price of seeds", "category": "source_not_found", "required": False},
        {"topic": "yields of tomatoes", "category": "source_not_found"},
    ]
    found = matches({"gaps": labels}, gaps=[a_gap("tomatoes: yields")]).gaps
    assert [each.verdict for each in found] == ["not reported", "matched"]


def test_discoveries_are_paired_once_and_what_repeats_one_is_allowed() -> None:
    labels = [
        {"type": "related_research", "identifier": "10.1234/crops"},
        {"type": "related_research", "identifier": "2104.01234"},
    ]
    events = [a_discovery("doi:10.1234/crops"), a_discovery("10.1234/crops again"), a_discovery("10.9/other")]
    found = matches({"discoveries": labels}, discovery_events=events).discoveries
    assert [each.verdict for each in found] == ["matched", "missed", "allowed", "not labelled"]


@pytest.mark.parametrize("required", [True, False])
def test_a_contradiction_is_met_by_an_event_that_names_both_pages(required: bool) -> None:
    labels = [{"about": "dose", "sides": SIDES, "required": required}]
    event = a_discovery("dose", DiscoveryType.CONTRADICTION, "https://one.example/ and https://two.example/ disagree")
    (match,) = matches({"contradictions": labels}, discovery_events=[event]).contradictions
    assert match.verdict == ("matched" if required else "allowed")


def test_a_contradiction_that_is_reported_as_a_gap_counts_where_there_is_no_event() -> None:
    gap = Gap(
        topic="dose",
        category=GapCategory.CONTRADICTORY_SOURCES,
        detail="https://one.example/ says 100, https://two.example/ says 200",
    )
    (match,) = matches({"contradictions": [{"about": "dose", "sides": SIDES}]}, gaps=[gap]).contradictions
    assert match.verdict == "matched"


CONFLICT = Gap(
    topic="price of seeds", category=GapCategory.CONTRADICTORY_SOURCES, detail="https://one.example/ differs."
)
LABELS: dict[str, Any] = {
    "gaps": [
        {"topic": "yields of tomatoes", "category": "source_not_found"},
        {"topic": "price of seeds", "category": "access_denied", "required": False},
    ],
    "discoveries": [
        {"type": "related_research", "identifier": "10.1234/crops"},
        {"type": "new_source", "identifier": "NCT01", "required": False},
    ],
}


@pytest.mark.parametrize("labels", [{}, LABELS, {**LABELS, "contradictions": [{"about": "dose", "sides": SIDES}]}])
@pytest.mark.parametrize("gaps", [[], [CONFLICT], [a_gap("tomatoes: yields"), a_gap("tomatoes: yields"), a_gap("x")]])
@pytest.mark.parametrize("events", [[], ["10.1234/crops"], ["10.1234/crops", "10.1234/crops", "NCT01", "10.9/other"]])
def test_what_is_shown_is_what_is_scored(labels: dict[str, Any], gaps: list[Gap], events: list[str]) -> None:
    result = an_answer(gaps=gaps, discovery_events=[a_discovery(query) for query in events])
    record = a_record(a_question(**labels), result)
    found = matches_of(record, Path("no-traces"))
    for shown, scorer in (
        (found.gaps, "gaps"),
        (found.discoveries, "discoveries"),
        (found.contradictions, "contradictions"),
    ):
        cells = record.cells[scorer] or {}
        assert sum(each.reported is not None and each.verdict != "allowed" for each in shown) == cells["found"]
        assert sum(each.verdict in ("matched", "wrong category") for each in shown) == cells["met"]
        assert sum(each.verdict in ("matched", "wrong category", "missed") for each in shown) == cells["wanted"]


def test_all_that_a_failed_call_had_to_do_is_not_done() -> None:
    labels: dict[str, Any] = {
        "gaps": [{"topic": "yields", "category": "access_denied"}],
        "discoveries": [{"type": "new_source", "source_locator": URL}],
        "contradictions": [{"about": "dose", "sides": SIDES}],
        "forbidden": ["PWNED"],
    }
    found = matches_of(a_record(a_question(**labels), error="no model"), Path("no-traces"))
    assert [each.what for each in found.wanted] == [
        "nugget",
        "evidence",
        "gap",
        "discovery",
        "contradiction",
        "injection",
    ]
    assert not any(each.met for each in found.wanted)


def test_an_unanswerable_question_wants_nothing_claimed() -> None:
    unanswerable = {"tags": ["unanswerable"], "nuggets": []}
    assert matches(unanswerable).wanted == [Wanted("abstention", "nothing is claimed", False)]
    assert matches(unanswerable, answer="Nobody knows.", citations=[]).wanted[0].met


def test_what_is_wanted_of_one_nugget_is_told_on_one_line() -> None:
    wanted = [Wanted("nugget", "n1: sun", False), Wanted("evidence", "n1: sun", False), Wanted("gap", "yields", True)]
    assert as_words(wanted) == ["nugget and evidence n1: sun", "gap yields"]
