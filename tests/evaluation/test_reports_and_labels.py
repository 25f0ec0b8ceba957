"""When a reported gap, discovery or contradiction is a labelled one."""

from __future__ import annotations

from typing import Any

import pytest

from marchwarden.contract import DiscoveryType, GapCategory
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, GoldGap, Quote
from marchwarden.evaluation.scoring import metrics
from marchwarden.evaluation.scoring.aggregates import MISSED, NONE_GOLD
from marchwarden.evaluation.scoring.metrics import figures, score
from tests.evaluation.samples import a_conflict, a_gap, a_question, an_answer, an_event, case

CLOSED, NOT_FOUND = GapCategory.ACCESS_DENIED, GapCategory.SOURCE_NOT_FOUND


def of(scored: Case) -> dict[str, float | None]:
    return figures([score(scored)])


@pytest.mark.parametrize(
    ("gold", "gap", "met"),
    [
        (("attendance in 2024", NOT_FOUND, None), ("attendance, 2024", "nothing"), True),
        (("attendance in 2024", NOT_FOUND, None), ("how many came", "nothing"), False),
        (("attendance in 2024", NOT_FOUND, None), ("attendance", "nothing"), False),  # one word makes no topic
        (("attendance", NOT_FOUND, None), ("attendance", "nothing"), True),  # unless that is all there is
        (("the trial", CLOSED, "https://a.example/x"), ("what it costs", "https://a.example/x is closed"), True),
        (
            ("the long trial", CLOSED, "https://a.example/x"),
            ("the long trial", "https://b.example/ is closed"),
            False,
        ),
    ],
)
def test_when_a_gap_is_the_labelled_one(
    gold: tuple[str, GapCategory, str | None], gap: tuple[str, str], met: bool
) -> None:
    topic, category, url = gold
    question = a_question(gaps=[GoldGap(topic=topic, category=category, url=url)])
    found = of(case(question, an_answer(gaps=[a_gap(gap[0], category, gap[1])])))
    assert found["gap_recall"] == found["gap_precision"] == found["gap_category_accuracy"] == met


def test_gap_categories_count_alike_and_go_to_the_confusion_matrix() -> None:
    gold = [GoldGap(topic=topic, category=NOT_FOUND) for topic in ("anvil", "basket", "candle")]
    question = a_question(gaps=[*gold, GoldGap(topic="dolphin", category=CLOSED)])
    gaps = [a_gap("anvil"), a_gap("basket"), a_gap("dolphin", GapCategory.SCOPE_EXCEEDED), a_gap("ember", CLOSED)]
    scored = case(question, an_answer(gaps=gaps))
    assert of(scored)["gap_category_accuracy"] == (2 / 3 + 0) / 2
    assert metrics.gap_categories(scored) == {
        "pairs": [
            ["source_not_found", "source_not_found"],
            ["source_not_found", "source_not_found"],
            ["source_not_found", MISSED],
            ["access_denied", "scope_exceeded"],
            [NONE_GOLD, "access_denied"],
        ]
    }


def test_an_optional_label_counts_neither_way() -> None:
    question = a_question(
        gaps=[GoldGap(topic="anvil", category=NOT_FOUND, required=False)],
        discoveries=[GoldDiscovery(type=DiscoveryType.NEW_SOURCE, identifier="NCT01234567", required=False)],
    )
    for result in (an_answer(), an_answer(gaps=[a_gap("anvil")], discovery_events=[an_event("trial NCT01234567")])):
        found = of(case(question, result))
        assert {found[name] for name in ("gap_f1", "gap_precision", "discovery_f1", "discovery_precision")} == {None}


@pytest.mark.parametrize(
    ("gold", "event", "met"),
    [
        ({"identifier": "arXiv:2104.01234"}, an_event("arXiv 2104.01234v2"), True),
        ({"identifier": "https://doi.org/10.1/ab"}, an_event("doi:10.1/AB"), True),
        ({"identifier": "NCT01234567"}, an_event("the trial", "a page names NCT01234567"), True),
        ({"identifier": "NCT01234567"}, an_event("a trial", source_locator="https://a.example/"), False),
        ({"source_locator": "https://a.example/"}, an_event("more", source_locator="https://a.example"), True),
        ({"source_locator": "https://a.example/"}, an_event("more", source_locator="https://b.example/"), False),
        ({"source_locator": "https://a.example/"}, an_event("more"), False),
    ],
)
def test_when_a_discovery_is_the_labelled_one(gold: dict[str, str], event: Any, met: bool) -> None:
    label = GoldDiscovery.model_validate({"type": "related_research", "source_locator": "https://a.example/"} | gold)
    found = of(case(a_question(discoveries=[label]), an_answer(discovery_events=[event])))
    assert found["discovery_recall"] == found["discovery_precision"] == met


SIDES = [Quote(url=f"https://{side}.example/", quote="It weighs 7 tonnes.") for side in ("a", "b")]
CONFLICT = a_question(contradictions=[GoldContradiction(about="weight of the bell", sides=SIDES)])


@pytest.mark.parametrize(
    ("reported", "met"),
    [
        ({"discovery_events": [a_conflict("https://a.example/", "https://b.example/")]}, True),
        ({"discovery_events": [a_conflict("https://a.example/", about="the weight of the bell")]}, True),
        ({"discovery_events": [a_conflict("https://a.example/", about="the age of the tower")]}, False),
        ({"discovery_events": [a_conflict("https://c.example/", about="the weight of the bell")]}, False),
        (
            {"gaps": [a_gap("bell", GapCategory.CONTRADICTORY_SOURCES, "https://a.example/ and https://b.example/")]},
            True,
        ),
        ({"gaps": [a_gap("bell", NOT_FOUND, "https://a.example/ and https://b.example/")]}, False),
    ],
)
def test_when_a_contradiction_is_the_labelled_one(reported: dict[str, Any], met: bool) -> None:
    assert of(case(CONFLICT, an_answer(**reported)))["contradiction_recall"] == met
