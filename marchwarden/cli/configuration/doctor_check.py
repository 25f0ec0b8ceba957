"""One finding of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    name: str
    state: Literal["ok", "note", "broken"]
    """Result: `note` works, but is worth knowing; `broken` stops research until it is mended."""
    detail: str
    advice: str | None = None
    """Step that mends the problem; None where there is none."""
