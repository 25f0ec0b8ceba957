"""Programs are looked for, as they are where no test forbids it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _with_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_PROGRAM")
