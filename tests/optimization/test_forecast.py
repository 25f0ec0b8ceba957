"""The pace of a model, by which hours are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.contract import ResearchRequest
from marchwarden.optimization.forecast import Pace, pace_of
from marchwarden.settings import load_settings
from tests.sharing.calls import a_trace
from tests.standins import model_called, started

SETTINGS = {"model": "openai/some-model-70b"}


def test_the_pace_is_that_of_earlier_calls_of_the_model(tmp_path: Path) -> None:
    settings = load_settings(**SETTINGS, trace_dir=tmp_path)
    assert pace_of(settings).calls == 0
    another = started(ResearchRequest(question="What grows?"), settings)
    begun = another.model_copy(update={"model_id": settings.model_id})
    call = model_called(10).model_copy(update={"input_tokens": 2200, "cached_tokens": 200, "output_tokens": 100})
    slow, failed = call.model_copy(update={"duration_sec": 4.0}), call.model_copy(update={"error": "gone"})
    a_trace(tmp_path, begun, slow, failed)
    a_trace(tmp_path, another, call.model_copy(update={"duration_sec": 99.0}))
    found = pace_of(settings)
    assert (found.calls, found.seconds) == (1, pytest.approx(4 / 200))
    assert "earlier calls of this model, at 50 tokens a second" in found.said


def test_hours_are_shared_by_calls_that_run_at_once() -> None:
    pace = Pace(0.02, 0)
    assert pace.hours(0, 180_000, 1) == pytest.approx(1)
    assert pace.hours(3_600_000, 0, 2) == pytest.approx(0.5)
    assert "guessed" in pace.said
