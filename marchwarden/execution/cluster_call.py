"""One call on a worker of a cluster: the order that is sent, the set-up that it must find, and what goes back.

What decides an answer travels: model, sources, limits. Keys, addresses of services and permissions do not: they are
those of the worker's own environment. Both sides are JSON and bytes, so versions of Python may differ.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import platform
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

from marchwarden import __version__
from marchwarden.contract import ResearchRequest
from marchwarden.errors import ConfigurationError, MarchwardenError, StorageError
from marchwarden.frozen_web.pages import manifest_hash
from marchwarden.server.worker import research_in_worker, warm_up
from marchwarden.settings import Settings, load_settings
from marchwarden.sharing.publication import names_in
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.stages.registry import program_in_force
from marchwarden.store.content_store import Store
from marchwarden.text.embedding import is_used

# Settings that decide what is answered, beside those that are resolved here: the model, the sources, reading by
# meaning.
_TRAVEL = ("program", "max_seconds", "model_calls", "web_search", "fetch_timeout", "max_page_bytes", "http_cache")

_first = threading.Lock()


class Answer(TypedDict, total=False):
    """Message that goes back from a worker."""

    lost: str
    """Reason that another worker has to be asked, as a clause."""
    result: dict[str, Any]
    seconds: float
    """Seconds of a call that has a result."""
    error: dict[str, Any]
    """Class, message and hint of an error of ours."""
    trace: bytes
    objects: dict[str, bytes]
    """Compressed pages, texts and programs by their hashes."""


@dataclass(frozen=True)
class SetUp:
    """Things that a call must find on its worker."""

    settings: str
    """Settings that travel, as JSON."""
    version: str
    program: str | None
    web: str | None

    @classmethod
    def of(cls, settings: Settings) -> SetUp:
        """Return the set-up of this machine. Raises ConfigurationError."""
        travelling = {name: getattr(settings, name) for name in _TRAVEL}
        travelling |= {"model": settings.model_id, "source": settings.source_name, "semantic": is_used(settings)}
        travelling |= {"web": settings.web and str(settings.web)} if "snapshot" in settings.sources else {}
        return cls(json.dumps(travelling), __version__, *_in_force(settings))

    def problem(self, settings: Settings) -> str | None:
        """Return the first difference between this set-up and a worker's, in words; None without one."""
        program, web = _in_force(settings)
        if self.version != __version__:
            return f"it has Marchwarden {__version__}, and {self.version} is needed"
        if self.program != program:
            return (
                f"its program for {settings.model_id} is {program or 'none'}, and {self.program or 'none'} is needed"
            )
        if self.web != web:
            return f"the frozen web in {settings.frozen_web} is another one there, or is not there"
        return None


def _in_force(settings: Settings) -> tuple[str | None, str | None]:
    """Return the fingerprint of the program and the hash of the frozen web in force; None for none."""
    program = program_in_force(settings)
    web = manifest_hash(settings.frozen_web) if "snapshot" in settings.sources else None
    return program.fingerprint if program else None, web


def order_of(request: ResearchRequest, set_up: SetUp, trace_id: str) -> str:
    """Return the order of a call."""
    return json.dumps({"request": request.model_dump(mode="json"), "trace_id": trace_id, **vars(set_up)})


def run_order(order: str) -> Answer:
    """Make the call of an order on this machine, in a process of its own. Blocks; raises nothing of ours."""
    read = json.loads(order)
    request, trace_id = read.pop("request"), read.pop("trace_id")
    try:
        settings = _ready(SetUp(**read))
    except (ConfigurationError, StorageError) as error:
        return {"error": _told(error)}
    with tempfile.TemporaryDirectory(prefix="marchwarden-") as folder:
        own = settings.model_copy(update={"trace_dir": Path(folder)})
        answer: Answer = {}
        began = time.monotonic()
        try:
            result = asyncio.run(
                research_in_worker(
                    ResearchRequest.model_validate(request),
                    settings=own,
                    trace_id=trace_id,
                    on_progress=lambda message: None,
                )
            )
            answer = {"result": result.model_dump(mode="json"), "seconds": time.monotonic() - began}
        except StorageError as error:
            return {"lost": f"the disk of {platform.node()}: {error}"}
        except MarchwardenError as error:
            answer = {"error": _told(error)}
        return answer | _left(own, trace_id)


@lru_cache(maxsize=8)
def _ready(set_up: SetUp) -> Settings:
    """Return the settings of calls with this set-up, once what they need is prepared.

    Raises ConfigurationError where the worker has another set-up, and StorageError.
    """
    with _first:
        # Workers that a nanny watches are daemons, which may have no processes of their own. Calls end with their
        # worker anyway.
        if multiprocessing.current_process().daemon:
            multiprocessing.current_process().daemon = False
        settings = load_settings(**json.loads(set_up.settings)).model_copy(
            update={"store": None, "signing_key": None}
        )
        if problem := set_up.problem(settings):
            raise ConfigurationError(
                f"the worker on {platform.node()} can't be used: {problem}",
                hint="Every worker needs the same version, program and frozen web as here.",
            )
        settings.require_model()
        settings.require_search_key()
        warm_up(settings)
        if "snapshot" in settings.sources:
            SnapshotSearch(settings).prepare()
        return settings


def _told(error: MarchwardenError) -> dict[str, Any]:
    return {"class": type(error).__name__, "message": str(error), "hint": error.hint}


def _left(settings: Settings, trace_id: str) -> Answer:
    """Return the trace of a call, and what it names; nothing where it left none."""
    try:
        trace = (settings.traces / f"{trace_id}.jsonl").read_bytes()
    except FileNotFoundError:
        return {}
    content = Store(settings.store_folder)
    packed = {key: content.get_packed(key) for key in names_in(trace)}
    return {"trace": trace, "objects": {key: body for key, body in packed.items() if body is not None}}
