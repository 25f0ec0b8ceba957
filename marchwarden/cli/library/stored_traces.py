"""Traces as commands find them: in the folder of traces, or else in the object store of MARCHWARDEN_STORE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.early import index_url, store_url, trace_folder

if TYPE_CHECKING:
    from marchwarden.sharing.outbox import Waiting
    from marchwarden.trace.reader import TraceSummary
    from marchwarden.trace.trace_search import Wanted

# The value of an option, or an argument, that stands for the latest answer.
LATEST = "latest"
HOW_TO_PUBLISH = "`marchwarden store push` publishes it, and so does the next call."


def named_trace(name: str | None) -> Path:
    """Return the trace of a file `….jsonl`, or that of an id as `stored_trace` does."""
    return Path(name) if name and name.endswith(".jsonl") else stored_trace(name)


def stored_trace(prefix: str | None) -> Path:
    """Return the trace whose id begins with `prefix`, with all that it names; the latest answer here without, or for
    `latest`.

    What is missing here comes from the store. Raises TraceError where there is no such trace or more than one.
    """
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.trace.reader import find_trace

    url, folder = store_url(), trace_folder()
    prefix = None if prefix == LATEST else prefix
    if url is None:
        return find_trace(folder, prefix)
    from marchwarden.sharing.object_store import COMMAND_S, ObjectStore
    from marchwarden.sharing.retrieval import find_shared_trace

    if prefix is None:
        prefix = find_trace(folder).stem
    store = ObjectStore(url, request_s=COMMAND_S)
    try:
        return find_shared_trace(folder, store, prefix)
    except StorageError as error:
        # What is here is shown all the same.
        console.notice(f"What is missing here can't be fetched: {error}", error.hint)
        return find_trace(folder, prefix)


def listed_traces(wanted: Wanted) -> list[TraceSummary]:
    """Return the calls that are wanted, newest first: by the index where there is one, else by the traces themselves,
    after those of the store were fetched. A problem is told."""
    from marchwarden.trace.trace_search import search_traces

    url, index_at = store_url(), index_url()
    if url and index_at:
        from marchwarden.cli.views import console
        from marchwarden.errors import StorageError
        from marchwarden.sharing.object_store import ObjectStore
        from marchwarden.sharing.trace_index import trace_index

        index = trace_index(index_at, ObjectStore(url))
        try:
            return index.search(trace_folder(), wanted) if index else []
        except StorageError as error:
            console.notice(f"The traces are listed without their index: {error}", error.hint)
    fetch_traces()
    return search_traces(trace_folder(), wanted)


def fetch_traces() -> None:
    """Fetch the traces that are in the store and not here, without their pages. A problem is told."""
    url = store_url()
    if url is None:
        return
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.sharing.object_store import COMMAND_S, ObjectStore
    from marchwarden.sharing.retrieval import MOST_TRACES, fetch_missing_traces

    store = ObjectStore(url, request_s=COMMAND_S)
    try:
        _, left = fetch_missing_traces(trace_folder(), store)
        if left:
            console.notice(
                f"{left:,} older calls are in the store, and are not listed: {MOST_TRACES:,} come at once."
            )
    except StorageError as error:
        console.notice(f"Only calls of this machine are listed: {error}", error.hint)


def publish_check(trace: Path) -> None:
    """Publish the checks of a trace of the user's own folder. Raises StorageError."""
    url = store_url()
    if url is not None and trace.resolve().parent == trace_folder().resolve():
        from marchwarden.sharing.object_store import COMMAND_S, ObjectStore
        from marchwarden.sharing.publication import publish_trace

        publish_trace(trace, ObjectStore(url, request_s=COMMAND_S))


def tell_unpublished(trace: Path) -> None:
    """Tell where a trace is not in the store, or not in its index, yet, and why."""
    waiting = _waiting(trace)
    if waiting is not None:
        from marchwarden.cli.views import console

        lacking = "in the store, and not in its index yet" if waiting.is_published else "not in the store yet"
        why = f": {waiting.reason}" if waiting.reason else ""
        console.notice(f"This trace is {lacking}{why}.", HOW_TO_PUBLISH)


def is_unpublished(trace: Path) -> bool:
    """Return whether a trace of this machine should be in the store and is not."""
    waiting = _waiting(trace)
    return waiting is not None and not waiting.is_published


def _waiting(trace: Path) -> Waiting | None:
    """Return what waits of a trace; None where nothing does, or there is no store."""
    if store_url() is None:
        return None
    from marchwarden.sharing.outbox import Outbox

    return Outbox(trace.parent).find(trace.stem)
