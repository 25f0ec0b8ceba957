"""Researchers that `ask --file` puts its questions to: a server, or the workers of a cluster.

A server starts one process that the calls are forked from, so that a question costs no start-up of its own. The
workers of a cluster do the same.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias
from uuid import uuid4

from marchwarden.cli.client.frozen_web_note import frozen_web_note
from marchwarden.cli.early import trace_folder
from marchwarden.errors import MarchwardenError, leaves

if TYPE_CHECKING:
    from marchwarden.cli.client.server_connection import Connection
    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.execution.run_budget import RunBudget
    from marchwarden.settings import Settings

    Ask: TypeAlias = Callable[[ResearchRequest], Awaitable[ResearchResult]]

# Questions side by side that a server is asked, at most, where the user names no number. A guess.
_MOST_JOBS = 4


class Researchers(Protocol):
    """Those who are asked: a server (OverServer), or the workers of a cluster (OnCluster)."""

    @property
    def traces(self) -> Path:
        """Folder of the calls' traces, once prepared."""
        ...

    @property
    def frozen_web_note(self) -> tuple[str, str] | None:
        """Reason for which the frozen web stands in, and what to do; None where it does not."""
        ...

    def prepare(self) -> None:
        """Read the settings. Raises ConfigurationError where something lacks."""
        ...

    def opened(self, budget: RunBudget) -> AbstractAsyncContextManager[tuple[Ask, int]]:
        """Connect; return the way to ask one question, and how many to ask side by side by default."""
        ...

    def explained(self, error: Exception) -> MarchwardenError:
        """Return a failure of the connection in our words."""
        ...


class OverServer:
    """Calls of our own, or a running server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.prepare = connection.prepare
        self.explained = connection.explained

    @property
    def traces(self) -> Path:
        return self._connection.traces

    @property
    def frozen_web_note(self) -> tuple[str, str] | None:
        return self._connection.frozen_web_note

    @asynccontextmanager
    async def opened(self, budget: RunBudget) -> AsyncIterator[tuple[Ask, int]]:
        async with self._connection.opened() as ask_one:

            async def ask(request: ResearchRequest) -> ResearchResult:
                reserved = used = 0 if self._connection.is_model_free else request.constraints.token_budget
                await budget.reserve(reserved)
                try:
                    result = await ask_one(request, lambda message: None)
                    used = result.cost_metadata.tokens_used
                finally:
                    await budget.settle(reserved, used)
                return result

            yield ask, min(_MOST_JOBS, os.cpu_count() or 1)


class OnCluster:
    """The workers of a Dask cluster; `scheduler` is its address as Dask has it."""

    def __init__(self, scheduler: str, overrides: Mapping[str, object]) -> None:
        self.traces: Path = trace_folder()
        self.frozen_web_note: tuple[str, str] | None = None
        self._scheduler = scheduler
        self._overrides = overrides
        self._settings: Settings | None = None

    def prepare(self) -> None:
        from marchwarden.execution.cluster_call import SetUp
        from marchwarden.settings import load_settings
        from marchwarden.sharing.object_store import open_store
        from marchwarden.sources.reachability import with_reachable_sources

        settings = load_settings(**self._overrides)
        if settings.store is not None:
            open_store(settings.store)
        self.traces = settings.traces
        self._settings = with_reachable_sources(settings)
        self.frozen_web_note = frozen_web_note(settings, self._settings)
        SetUp.of(self._settings)  # what is wrong with the program or the frozen web is said before any question

    @asynccontextmanager
    async def opened(self, budget: RunBudget) -> AsyncIterator[tuple[Ask, int]]:
        from marchwarden.execution.dask_cluster import open_cluster

        settings = self._settings
        assert settings is not None
        async with open_cluster(self._scheduler, budget) as cluster:

            async def ask(request: ResearchRequest) -> ResearchResult:
                return (await cluster.research(request, settings, str(uuid4())))[0]

            yield ask, cluster.jobs

    def explained(self, error: Exception) -> MarchwardenError:
        ours = next((each for each in leaves(error) if isinstance(each, MarchwardenError)), None)
        return ours or MarchwardenError(f"the cluster failed: {error or type(error).__name__}")
