"""Countries that a text names, whatever they are called."""

from __future__ import annotations

import pytest

from marchwarden.text.countries import countries_in


@pytest.mark.parametrize(
    ("text", "named", "with_adjectives"),
    [
        ("How high was inflation in America in 2022?", {"usa"}, {"usa"}),
        ("In the United States of America, and in Great Britain", {"usa", "uk"}, {"usa", "uk"}),
        ("The US and the U.K. agreed.", {"usa", "uk"}, {"usa", "uk"}),
        ("Tell us how a French press works.", set(), {"france"}),
        ("British prices rose, and those of the Netherlands fell.", {"netherlands"}, {"netherlands", "uk"}),
        ("Savannah is a city in Georgia.", set(), set()),
        ("A non-germany-based firm in Chinatown", set(), set()),
    ],
)
def test_countries_are_known_by_each_of_their_names(text: str, named: set[str], with_adjectives: set[str]) -> None:
    assert countries_in(text) == named
    assert countries_in(text, by_adjective=True) == with_adjectives
