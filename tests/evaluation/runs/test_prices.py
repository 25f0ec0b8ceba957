from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evaluation.runs.prices import Price, price_of


@pytest.mark.parametrize("model_id", ["gpt-4o", "openai/gpt-4o"])
def test_a_known_model_has_a_price_with_or_without_its_provider(model_id: str) -> None:
    price = price_of(model_id)
    assert price is not None
    assert 0 < price.cached <= price.input <= price.output < 0.001


@pytest.mark.parametrize("model_id", ["extractive", "openai/smollm2-of-ours", "", "sample_spec/", "/"])
def test_a_model_that_the_list_does_not_know_has_none(model_id: str) -> None:
    assert price_of(model_id) is None


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_tokens_that_were_read_before_cost_less(uncached: int, cached: int, output: int) -> None:
    price = Price(input=3e-6, output=15e-6, cached=0.3e-6)
    cost = price.of(uncached + cached, output, cached)
    assert cost == pytest.approx(uncached * 3e-6 + cached * 0.3e-6 + output * 15e-6)
    assert 0 <= cost <= price.of(uncached + cached, output, 0) + 1e-12
