"""Differences of two results: entries are known again wherever they stand; ids and times don't count."""

from __future__ import annotations

from typing import Any

import pytest

from marchwarden.contract import DiscoveryEvent, DiscoveryType, GapCategory
from marchwarden.trace.differences import differences, first_step
from tests.trace.samples import GAP, a_citation, a_result


def plain(**changes: Any) -> dict[str, Any]:
    return a_result(**changes).model_dump(mode="json")


def found(then: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each.field, each.change) for each in differences(then, now)]


def test_ids_and_times_are_no_difference() -> None:
    cost = a_result().cost_metadata.model_copy(update={"wall_time_sec": 99.0})
    other = plain(trace_id="00000000-0000-4000-8000-000000000000", cost_metadata=cost)
    assert differences(plain(), other) == []


OTHER = a_citation(locator="https://other.example/", raw_excerpt="Peas.")
CLOSED = GAP.model_copy(update={"category": GapCategory.ACCESS_DENIED})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"answer": "Badly [1]."}, [("answer", "changed")]),
        ({"confidence": 0.5}, [("confidence", "changed")]),
        ({"citations": [a_citation(confidence=0.1)]}, [("citations[0].confidence", "changed")]),
        ({"citations": [OTHER, a_citation()]}, [("citations", "added")]),
        ({"gaps": []}, [("gaps", "removed")]),
        ({"gaps": [CLOSED]}, [("gaps", "removed"), ("gaps", "added")]),
        (
            {"cost_metadata": a_result().cost_metadata.model_copy(update={"tokens_used": 9})},
            [("cost_metadata.tokens_used", "changed")],
        ),
    ],
)
def test_each_change_is_named_by_its_field(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found(plain(), plain(**changes)) == expected


def test_entries_in_another_order_are_one_difference() -> None:
    then, now = plain(citations=[a_citation(), OTHER]), plain(citations=[OTHER, a_citation()])
    assert found(then, now) == [("citations", "order")]


def test_fields_of_a_newer_version_count_only_within_one_version() -> None:
    then = plain()
    del then["contract_version"]
    assert [each.field for each in differences(then, plain())] == ["contract_version"]
    assert differences(then, plain(), same_version=False) == []


def test_calls_go_apart_at_the_first_step_that_did_something_else() -> None:
    plan = {"step": 2, "action": "plan", "aspects": ["a"], "queries": ["q"], "read": [], "done": False}
    search = {"step": 4, "action": "search", "query": "q", "hits": [{"url": "u"}], "duration_sec": 1}
    other = {**search, "hits": [{"url": "u", "snippet": "new"}], "duration_sec": 2}
    assert first_step([plan, search], [plan, {"action": "progress"}, other]) is None
    apart = first_step([plan, search], [plan, {**search, "query": "r"}])
    assert apart is not None
    assert apart.step == 4
    fewer, more = first_step([plan, search], [plan]), first_step([plan], [plan, search])
    assert fewer is not None
    assert more is not None
    assert (fewer.step, fewer.now, more.step, more.then) == (4, None, 0, None)


def test_entries_with_the_same_key_are_compared_in_their_order() -> None:
    both = [
        DiscoveryEvent(
            type=DiscoveryType.CONTRADICTION, query="How tall?", reason=reason, source_locator="https://a.example/"
        )
        for reason in ("It is at odds with b.example.", "It is at odds with c.example.")
    ]
    then = plain(discovery_events=both)
    assert found(then, plain(discovery_events=both)) == []
    assert found(then, plain(discovery_events=both[:1])) == [("discovery_events", "removed")]
    assert found(plain(discovery_events=both[:1]), then) == [("discovery_events", "added")]
