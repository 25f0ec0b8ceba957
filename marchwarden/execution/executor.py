"""Executor: one protocol for the calls of a run, and its usual form, a process of this machine for each call."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Protocol

import anyio.to_thread

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.execution.run_budget import RunBudget
from marchwarden.server.worker import research_in_worker, warm_up
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.trace.reader import whole_line


class Executor(Protocol):
    """Maker of a run's calls. When `research` returns or fails, the trace and its pages are in `settings.traces`."""

    async def prepare(self, settings: Settings) -> None:
        """Make ready what calls need, so that the first ones don't pay for it with their time."""
        ...

    async def research(
        self, request: ResearchRequest, settings: Settings, trace_id: str
    ) -> tuple[ResearchResult, float]:
        """Make one call; return its result, and its seconds where it was made.

        Raises MarchwardenError; of it, ResearchFailed alone says nothing of the other calls.
        """
        ...


class LocalProcesses:
    """Executor in processes of this machine."""

    def __init__(self, budget: RunBudget | None = None) -> None:
        self._budget = budget or RunBudget()

    async def prepare(self, settings: Settings) -> None:
        warm_up(settings)
        if "snapshot" in settings.sources:
            await anyio.to_thread.run_sync(SnapshotSearch(settings).prepare)

    async def research(
        self, request: ResearchRequest, settings: Settings, trace_id: str
    ) -> tuple[ResearchResult, float]:
        tokens = tokens_at_most(request, settings)
        await self._budget.reserve(tokens)
        used, began = tokens, time.monotonic()
        try:
            result = await research_in_worker(
                request, settings=settings, trace_id=trace_id, on_progress=lambda message: None
            )
            used = result.cost_metadata.tokens_used
            return result, time.monotonic() - began
        except Exception:
            used = 0
            with suppress(OSError):
                used = tokens_in((settings.traces / f"{trace_id}.jsonl").read_bytes())
            raise
        finally:
            await self._budget.settle(tokens, used)


def tokens_at_most(request: ResearchRequest, settings: Settings) -> int:
    """Return the tokens that a call may use."""
    return 0 if settings.model_id == EXTRACTIVE else request.constraints.token_budget


def tokens_in(trace: bytes) -> int:
    """Return the tokens that a call has used, by its trace."""
    lines = (whole_line(line) or {} for line in trace.split(b"\n"))
    return max((line["tokens_used"] for line in lines if line.get("action") == "model_call"), default=0)
