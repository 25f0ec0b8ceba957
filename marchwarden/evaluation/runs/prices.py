"""Prices of models' tokens, from the list that LiteLLM carries. It is read as a file: importing litellm takes
seconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# The list's file in the package litellm.
_LIST = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True)
class Price:
    """Prices in US dollars for each token."""

    input: float
    output: float
    cached: float
    """US dollars for a prompt token that the service had read before."""

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float:
        """Return the price of a call in US dollars. `cached_tokens` are part of `input_tokens`."""
        return (input_tokens - cached_tokens) * self.input + cached_tokens * self.cached + output_tokens * self.output


def price_of(model_id: str) -> Price | None:
    """Return the price of a model; None where the list does not know it."""
    prices = _prices()
    # Some models are listed with their provider, others without.
    entry = prices.get(model_id) or prices.get(model_id.partition("/")[2])
    if not entry or "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
        return None
    read = float(entry["input_cost_per_token"])
    return Price(read, float(entry["output_cost_per_token"]), float(entry.get("cache_read_input_token_cost") or read))


@cache
def _prices() -> dict[str, dict[str, Any]]:
    spec = find_spec("litellm")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        try:
            found: dict[str, dict[str, Any]] = json.loads((Path(folder) / _LIST).read_bytes())
            return found
        except (OSError, ValueError):
            continue
    return {}
