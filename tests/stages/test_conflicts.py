"""Which excerpts disagree."""

from __future__ import annotations

import pytest

from marchwarden.ledger import Excerpt
from marchwarden.stages.conflicts import disagreement, quantities


def excerpt(text: str) -> Excerpt:
    return Excerpt(number=0, locator="https://a.org/", aspect=1, start=0, end=len(text), text=text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is 352 metres long."),
        ("Adults should take 600 IU of vitamin D a day.", "Adults should take 1,500–2,000 IU of vitamin D a day."),
        (
            "The marathon world record is 2:00:35, set in Chicago.",
            "The marathon world record is 2:01:09, set in Berlin.",
        ),
        ("Ingenuity has made five flights on Mars.", "Ingenuity has made 72 flights on Mars."),
        ("Tomatoes ripen above 6,000 feet in Utah.", "Tomatoes do not ripen above 6,000 feet in Utah."),
        ("Coffee contains about 95 mg of caffeine a cup.", "Coffee contains 135 mg of caffeine a cup."),
    ],
)
def test_the_same_thing_with_another_value_or_denied_is_a_disagreement(one: str, other: str) -> None:
    assert disagreement(excerpt(one), excerpt(other))
    assert disagreement(excerpt(other), excerpt(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is about 409 metres long."),
        ("The Halden Bridge is 410 metres long.", "The Halden Bridge is 12 metres wide."),
        ("The Halden Bridge was built in 1931.", "The Halden Bridge was repaired in 1967."),
        (
            "Adults should take 600 IU of vitamin D a day.",
            "Adults should not take more than 4,000 IU of vitamin D a day.",
        ),
        (
            "Adults may require at least 1,500 IU of vitamin D a day.",
            "Adults should not take more than 4,000 IU of vitamin D a day.",
        ),
        ("Coffee contains 90 to 100 mg of caffeine a cup.", "Coffee contains about 95 mg of caffeine a cup."),
        ("Peas grow in spring.", "The rover landed in a crater in 2021."),
    ],
)
def test_rounding_ranges_limits_and_other_things_are_none(one: str, other: str) -> None:
    assert not disagreement(excerpt(one), excerpt(other))


def test_a_time_is_told_whole_and_compared_to_the_second() -> None:
    one, other = (f"The marathon world record is {time}, set in {city}." for time, city in (("2:00:35", "Chicago"), ("2:01:09", "Berlin")))  # fmt: skip
    assert disagreement(excerpt(one), excerpt(other)) == "2:00:35 against 2:01:09"
    assert not disagreement(
        excerpt(one), excerpt("Geoffrey Mutai ran the marathon in 2:03:02, near the world record.")
    )


def test_years_are_no_quantities() -> None:
    assert quantities("Built in 1931 and opened in May 1932.") == []
