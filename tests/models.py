"""Scripted models for tests of the whole researcher."""

from __future__ import annotations

from typing import Any

from marchwarden.budget import Budget
from marchwarden.lm import Model
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.settings import Settings
from marchwarden.trace.events import Recorder


def connected(engine: ScriptedEngine, model_id: str = "scripted/model") -> Any:
    """What `Researcher(connect=…)` takes: every call asks this engine, through a meter of its own."""

    def connect(settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        return Model(model_id, engine, budget, recorder, retries=0)

    return connect
