"""Public collections to measure with, where they lie beside the checkout; tests that use them skip where they don't."""

from __future__ import annotations

from pathlib import Path

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
