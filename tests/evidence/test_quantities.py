"""Which values a text states, and when two of them can't both be right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.quantities import Quantity, quantities


def only(text: str) -> Quantity:
    (value,) = quantities(text)
    return value


def disagree(one: str, other: str) -> bool:
    here, there = only(one), only(other)
    assert here.disagrees(there) is there.disagrees(here)
    return here.disagrees(there)


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("93.5 percent", "93.5 %"),
        ("93.5 per cent", "93,5 Prozent der Fälle und nicht mehr"),
        ("17 km", "17 kilometres"),
        ("面積は214平方キロメートルです。", "214 km²"),
        ("人口１億２６７４万人", "126,740,000 inhabitants"),
        ("约有1.84万人居住", "18,400 people"),
        ("深度为87米", "87 metres"),
        ("入場料は3千円", "3,000円"),
        ("1,250 मीटर लंबा", "1,250 metres"),
        ("जनसंख्या 12 लाख लोग", "1.2 million people"),
        ("٢١٤ كيلومترا مربعا", "214 km²"),
        ("около 2,5 миллиона человек", "about 2.5 million people"),
        ("214 квадратных километров", "214 km²"),
        ("17,000 metres", "17 kilometers"),
        ("580 square kilometres", "une superficie de 580 kilomètres carrés"),
        ("580 km²", "58,000 hectares"),
        ("2.5 million euros", "€2,500,000"),
        ("2.5 billion people", "environ 2,5 milliards de personnes dans le monde"),
        ("24 million slices", "24,000,000 slices"),
        ("a hundred thousand flights", "100,000 flights"),
        ("twenty-five ships", "25 ships"),
        ("between 4 and 5 km", "4 to 5 kilometres"),
        ("12 consecutive months", "12 months"),
        ("1.500,5 Kilometer ist die Mauer lang", "1,500.5 km"),
        ("5 200 habitants de la ville", "5,200 inhabitants"),
        ("a population of 5,200", "5,200 people"),
        ("the death toll was 71,000", "71,000 deaths"),
        ("140 people were killed", "140 victims"),
        ("an attendance of 173,850", "173,850 spectators"),
        ("10 micrograms", "10 mcg"),
    ],
)
def test_a_value_is_the_same_in_other_units_multiples_and_languages(written: str, same: str) -> None:
    one, other = only(written), only(same)
    assert one.is_of_what(other)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "Built in 1931 and opened in May 1932.",
        "On 16 July 1950, on October 13, 2019, am 3. Mai 1871 and on 2024-05-01.",
        "The 53rd game, in the 19th century and the 1990s.",
        "See [12] and https://a.org/4/metres.",
        "Cited as 10.1016/j.tree.2013.05/12 metres, arXiv:2301.01234 m, ISBN 978 3 16 148410 0.",
        "2000 was a year.",
    ],
)
def test_years_dates_ordinals_and_markers_are_no_values(text: str) -> None:
    assert quantities(text) == ()


def test_a_number_of_four_digits_with_a_unit_of_measure_is_no_year() -> None:
    assert only("2000 IU").low == 2000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("97 %", "93.5 percent"),
        ("2 per cent", "3 per cent"),
        ("17.0 kilometres", "nearly 18 kilometres"),
        ("582 square kilometres", "580 kilomètres carrés de superficie"),
        ("about 71,000 deaths", "about 92,000 lives"),
        ("one billion bicycles", "roughly two billion bicycles"),
        ("24 million slices", "about 20 million slices"),
        ("at least 140 people were killed", "more than 200 people were killed"),
        ("140 people were killed", "more than 200 people were killed"),
        ("21 member countries", "nineteen of the 28 countries"),
        ("600 IU", "1,500 to 2,000 IU"),
        ("up to €35 million", "up to €30 million"),
        ("12,950 animals", "27,000 animals"),
    ],
)
def test_values_that_can_not_both_be_right_disagree(one: str, other: str) -> None:
    assert disagree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("410 metres", "about 409 metres"),
        ("2,102,650 people", "2.1 million people"),
        ("12,950 animals", "13,000 animals"),
        ("59.7 %", "60 %"),
        ("29.9 metres", "98 feet"),
        ("95 mg", "90 to 100 mg"),
        ("250 people were killed", "more than 200 people were killed"),
        ("at least 190 people died", "more than 200 people died"),
        ("17 km", "17 kg"),
        ("17 ships", "12 trains"),
        ("600 IU", "should not take more than 4,000 IU"),
        ("require at least 1,500 IU", "should not take more than 4,000 IU"),
        ("above 6,000 feet", "4,200 feet"),
        ("104 matches", "up from 64 matches"),
        ("12 groups", "not in 16 groups"),
    ],
)
def test_rounding_ranges_bounds_norms_other_things_and_what_is_denied_do_not(one: str, other: str) -> None:
    assert not disagree(one, other)


def test_a_conversion_in_brackets_is_bounded_as_the_value_that_it_converts() -> None:
    grams, units = quantities("Nobody should take more than 100 micrograms (4,000 IU) a day.")
    assert (grams.bound, units.bound) == ("most", "most")


def test_a_time_is_told_to_the_second_and_of_what_it_is() -> None:
    record = only("The marathon world record is 2:00:35.")
    assert record.written == "2:00:35"
    assert record.disagrees(only("He holds the marathon world record with 2:01:09."))
    assert not record.disagrees(only("She won the race in Berlin in 2:14:04."))


@given(st.text(alphabet="0123456789.,:-–/()[]%$€ \u00a0abtoKm", max_size=60))
def test_any_text_has_values_that_agree_with_themselves(text: str) -> None:
    assert not any(value.disagrees(value) for value in quantities(text))
