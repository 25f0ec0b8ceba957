"""Calls as machines leave them in their folders of traces."""

from __future__ import annotations

import shutil
from pathlib import Path
from uuid import uuid4

from marchwarden.observations import content_hash
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event, Fetched, Finished, Searched
from marchwarden.trace.writer import TraceWriter
from tests.standins import a_result

# A page, its text, and the trace.
OBJECTS = 3


def fetched(folder: Path, page: bytes) -> Fetched:
    """A page that was read, and is in the content store of a folder."""
    store, url = Store(folder / "store"), "https://garden.example/tomatoes"
    return Fetched(
        decision="read",
        url=url,
        final_url=url,
        status=200,
        content_type="text/html",
        content_length=len(page),
        duration_sec=0.1,
        content_hash=store.put(page),
        text_hash=store.put(b"text of " + page),
    )


def searched(query: str = "tomatoes") -> Searched:
    return Searched(decision="searched", query=query, provider="web", hits=[], duration_sec=0.1)


def a_trace(folder: Path, *events: Event, trace_id: str | None = None) -> Path:
    with TraceWriter(folder, trace_id or str(uuid4())) as writer:
        for event in events:
            writer.record(event)
    return writer.path


def a_call(folder: Path, page: bytes = b"<p>Tomatoes ripen in July.</p>", trace_id: str | None = None) -> Path:
    """A finished call that read one page."""
    trace_id = trace_id or str(uuid4())
    return a_trace(
        folder, fetched(folder, page), Finished(decision="done", result=a_result(trace_id)), trace_id=trace_id
    )


def objects_in(folder: Path) -> list[str]:
    """Names of the objects in a `file:` store."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def page_of(folder: Path, page: bytes) -> bytes:
    return Store(folder / "store").get(content_hash(page))


def without_store(folder: Path) -> None:
    """Take a `file:` store away, as a disk that is not mounted."""
    folder.rename(folder.with_name(f"{folder.name}.away"))


def with_store(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name(f"{folder.name}.away").rename(folder)
