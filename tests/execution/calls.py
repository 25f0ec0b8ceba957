"""Functions that stand in for a call on a worker; each is named to the cluster as `module:name`."""

from __future__ import annotations

import json
import os

from marchwarden.execution.cluster_call import Answer
from tests.standins import a_result

TRACE = b'{"step": 1, "action": "model_call", "tokens_used": 321}\n'


def answers(order: str) -> Answer:
    result = a_result(json.loads(order)["trace_id"])
    return {"result": result.model_dump(mode="json"), "seconds": 0.5, "trace": TRACE, "objects": {}}


def fails(order: str) -> Answer:
    told = {"class": "ResearchFailed", "message": "the research failed", "hint": None}
    return {"error": told, "trace": TRACE, "objects": {}}


def finds_another_version(order: str) -> Answer:
    told = {"class": "ConfigurationError", "message": "the worker can't be used", "hint": "Install it."}
    return {"error": told}


def has_a_full_disk(order: str) -> Answer:
    return {"lost": "the disk was full"}


def kills_its_worker(order: str) -> Answer:
    os._exit(1)
