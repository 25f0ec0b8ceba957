"""Scripted models for tests of the whole researcher."""

from __future__ import annotations

from typing import Any

from marchwarden.budget import Budget
from marchwarden.lm import Model
from marchwarden.lm.scripted import ScriptedEngine
from marchwarden.settings import Settings
from marchwarden.trace.events import Recorder


def connected(engine: ScriptedEngine, model_id: str = "scripted/model", made: list[Model] | None = None) -> Any:
    """What `Researcher(connect=…)` takes: every call asks this engine, through a meter of its own.

    The models are added to `made`.
    """

    def connect(settings: Settings, budget: Budget, recorder: Recorder) -> Model:
        model = Model(model_id, engine, budget, recorder, retries=0)
        if made is not None:
            made.append(model)
        return model

    return connect
