"""Executor on the workers of a Dask cluster. A call whose worker dies is made again, under the run's budget.

Dask itself would run a task again on the next worker, unseen and unpaid for. So a task claims its question before it
begins: when Dask runs it a second time it finds the claim, and says so, and it is decided here whether to ask again.
"""

from __future__ import annotations

import logging
import math
import pkgutil
import re
import time
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.errors import ClusterError, ConfigurationError, ResearchFailed, StorageError, leaves, missing_package
from marchwarden.execution.cluster_call import Answer, SetUp, order_of
from marchwarden.execution.executor import tokens_at_most, tokens_in
from marchwarden.execution.run_budget import RunBudget
from marchwarden.files import make_private_folder, write_whole
from marchwarden.settings import Settings
from marchwarden.sharing.publication import last_action, publishing
from marchwarden.store.content_store import Store
from marchwarden.trace.signing import SigningError, sign
from marchwarden.trace.standalone_verifier import ENDINGS

if TYPE_CHECKING:
    from distributed import Client

_log = logging.getLogger(__name__)

CALL = "marchwarden.execution.cluster_call:run_order"
# Times that a question is asked whose worker dies. A guess: three machines rarely die by chance under one question.
TRIES = 3
# Port of a scheduler, where an address names none: Dask's own default.
_PORT = 8786
# Seconds for reaching the scheduler, for the first worker to join, and for another one where all have left. Guesses:
# a batch system takes minutes to start machines again.
_CONNECT_S = 10.0
JOIN_S = 60.0
_ABSENT_S = 300.0
# Seconds between two looks at the workers. A guess.
_LOOK_S = 15.0
# Questions at once for each place of the workers: one runs, and one waits beside it. A guess.
_AT_ONCE = 2

_FREE, _TAKEN = "free", "taken"
_DIED = "its worker died"
_FORMS = "dask://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT"


def scheduler_of(address: str) -> str:
    """Return the address of a scheduler as Dask has it: `dask://HOST` is `tcp://HOST:8786`.

    Raises ValueError with a sentence, and ConfigurationError where Dask is not installed.
    """
    if find_spec("distributed") is None:
        raise missing_package("distributed", "--cluster")
    try:
        parts = urlsplit(address.strip())
        port = parts.port or _PORT
    except ValueError:
        parts, port = urlsplit(""), _PORT
    if parts.scheme == "ray":
        raise ValueError(f"clusters of Ray are not supported; those of Dask are: {_FORMS}")
    is_bare = not (parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in ("dask", "tcp", "tls") or not parts.hostname or not is_bare:
        shown = re.sub(r"//[^/]*@", "//", address)
        raise ValueError(f"{shown} is not the address of a scheduler, which looks like {_FORMS}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{'tls' if parts.scheme == 'tls' else 'tcp'}://{host}:{port}"


def run_claimed(claim: str, order: str, call: str) -> Answer:
    """Make the call of an order on a worker, unless another worker began it. Runs in a thread of the worker.

    `call` names the function that makes it, as `module:name`.
    """
    from distributed import Variable

    mark = Variable(claim)
    if mark.get(timeout=_CONNECT_S) != _FREE:
        return {"lost": _DIED}
    mark.set(_TAKEN)
    answer: Answer = pkgutil.resolve_name(call)(order)
    return answer


@asynccontextmanager
async def open_cluster(
    address: str, budget: RunBudget | None = None, *, call: str = CALL
) -> AsyncIterator[DaskCluster]:
    """Connect to a scheduler, as scheduler_of returns it, and wait for a worker.

    `call` names the function that makes a call on a worker. Raises ClusterError; also later, in place of what runs
    inside, when no worker is left.
    """
    from distributed import Client

    try:
        client = await Client(
            address, asynchronous=True, timeout=_CONNECT_S, set_as_default=False, name="marchwarden"
        )
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"no scheduler answers at {address}: {str(error).partition(chr(10))[0]}",
            hint="Start one with `dask scheduler`, and workers with `dask worker`.",
        ) from None
    try:
        async with anyio.create_task_group() as group:
            cluster = DaskCluster(client, address, budget or RunBudget(), call)
            cluster.places = await cluster.wait_for_workers()
            group.start_soon(cluster.watch)
            yield cluster
            group.cancel_scope.cancel()
    except Exception as error:
        # The task group makes a group of any error.
        inside = list(leaves(error))
        ours = next((each for each in inside if isinstance(each, ClusterError)), None)
        raise ours or (inside[0] if len(inside) == 1 else error) from None
    finally:
        with anyio.CancelScope(shield=True), suppress(Exception):
            await client.close(timeout=_CONNECT_S)


class DaskCluster:
    """Executor on the workers of a scheduler (`open_cluster`)."""

    def __init__(self, client: Client, address: str, budget: RunBudget, call: str) -> None:
        self.places = 1
        """Calls that the workers run at once, as of the start."""
        self._client = client
        self._address = address
        self._budget = budget
        self._call = call
        self._set_ups: dict[Settings, SetUp] = {}

    @property
    def jobs(self) -> int:
        """Questions to ask side by side, so that no worker waits for one."""
        return _AT_ONCE * self.places

    async def prepare(self, settings: Settings) -> None:
        """Do nothing: each worker prepares itself before its first call."""

    async def research(
        self, request: ResearchRequest, settings: Settings, trace_id: str
    ) -> tuple[ResearchResult, float]:
        if settings not in self._set_ups:
            self._set_ups[settings] = await anyio.to_thread.run_sync(SetUp.of, settings)
        order, lost = order_of(request, self._set_ups[settings], trace_id), ""
        async with publishing(settings, trace_id):
            for number in range(TRIES):
                answer = await self._try(f"{trace_id}-{number}", order, tokens_at_most(request, settings), settings)
                if "trace" in answer:
                    await anyio.to_thread.run_sync(_keep, answer, settings, trace_id)
                if "result" in answer:
                    return ResearchResult.model_validate(answer["result"]), answer["seconds"]
                if "error" in answer:
                    told = answer["error"]
                    if told["class"] == ConfigurationError.__name__:
                        raise ConfigurationError(told["message"], hint=told["hint"])
                    raise ResearchFailed(told["message"], trace_id=trace_id, hint=told["hint"])
                lost = answer["lost"]
        raise ResearchFailed(f"the question was asked {TRIES} times, and each time {lost}", trace_id=trace_id)

    async def _try(self, name: str, order: str, tokens: int, settings: Settings) -> Answer:
        """Ask once. A try that was lost counts as having used all that it might."""
        from distributed import KilledWorker, Variable

        await self._budget.reserve(tokens)
        used = tokens
        key = f"marchwarden-{name}"
        claim = Variable(key, client=self._client)
        try:
            await claim.set(_FREE)
            future = self._client.submit(run_claimed, key, order, self._call, key=key, pure=False)
            try:
                answer: Answer = await future.result()
            finally:
                future.release()
            if "result" in answer:
                used = answer["result"]["cost_metadata"]["tokens_used"]
            elif "error" in answer:
                used = min(tokens, tokens_in(answer.get("trace", b"")))
            return answer
        except KilledWorker:
            return {"lost": _DIED}
        except (CancelledError, OSError) as error:
            raise ClusterError(
                f"the scheduler at {self._address} is gone: {type(error).__name__}",
                hint="What was answered is kept: go on with --resume.",
            ) from None
        finally:
            claim.delete()
            await self._budget.settle(tokens, used)

    async def wait_for_workers(self) -> int:
        """Wait for the first worker, and return the calls that the workers run at once. Raises ClusterError."""
        end = time.monotonic() + JOIN_S
        while True:
            places: int = sum((await self._client.nthreads()).values())
            if places:
                return places
            if time.monotonic() > end:
                raise ClusterError(
                    f"no worker has joined {self._address} in {JOIN_S:.0f} s",
                    hint=f"Start one where Marchwarden is installed: dask worker {self._address}",
                )
            await anyio.sleep(1)

    async def watch(self) -> None:
        """Look after the workers for ever. Raises ClusterError when there has been none for long."""
        since = math.inf
        while True:
            await anyio.sleep(_LOOK_S)
            try:
                there = bool(await self._client.nthreads())
            except (OSError, CancelledError):
                # The scheduler is away for a moment. When it is gone, the questions in flight fail.
                continue
            since = math.inf if there else min(since, time.monotonic())
            if time.monotonic() - since > _ABSENT_S:
                raise ClusterError(
                    f"there has been no worker at {self._address} for {_ABSENT_S:.0f} s",
                    hint="What was answered is kept: go on with --resume.",
                )


def _keep(answer: Answer, settings: Settings, trace_id: str) -> None:
    """Bring the trace of a call, and what it names, to the disk here. Raises StorageError."""
    content = Store(settings.store_folder)
    kept = [key for key, packed in answer["objects"].items() if content.put_packed(key, packed)]
    content.sync(kept)
    path = settings.traces / f"{trace_id}.jsonl"
    try:
        make_private_folder(path.parent)
        write_whole(path, answer["trace"], private=True)
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror or error}") from error
    if settings.signing_key and last_action(answer["trace"]) in ENDINGS:
        try:
            sign(path, settings.signing_key)
        except SigningError as error:
            _log.warning("%s was not signed: %s", path, error)
