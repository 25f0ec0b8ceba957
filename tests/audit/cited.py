"""A trace that cites given pages, each with one quote, as a call would have left it; written without a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from marchwarden.contract import NON_TEXT_SOURCE
from marchwarden.observations import Page, content_hash
from marchwarden.reading.page import read_page
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Finished
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import a_citation, a_result, fetched, started


@dataclass(frozen=True)
class CitedPage:
    body: bytes
    quote: str
    content_type: str = "text/html; charset=utf-8"


def a_trace_citing(
    folder: Path,
    pages: Mapping[str, CitedPage],
    source: str = "web",
    web: str | None = None,
    doi: str | None = None,
) -> Trace:
    """Write the trace and its store; the n-th page has citation n, and each citation this DOI."""
    store, trace_id, citations = Store(folder / "store"), str(uuid4()), []
    with TraceWriter(folder, trace_id) as writer:
        writer.record(started().model_copy(update={"source": source, "web": web}))
        for url, cited in pages.items():
            page = read_page(cited.body, url=url, content_type=cited.content_type)
            assert isinstance(page, Page), page
            store.put(cited.body)
            store.put(page.text.encode())
            assert cited.quote in page.text or cited.quote == NON_TEXT_SOURCE
            hashed = content_hash(cited.body)
            writer.record(fetched(url=url, final_url=url, content_hash=hashed, text_hash=page.text_hash))
            citations.append(
                a_citation(
                    source=source, locator=url, raw_excerpt=cited.quote, content_hash=hashed, published=None, doi=doi
                )
            )
        answer = "".join(f"A claim [{number}]. " for number in range(1, len(citations) + 1)) or "Nothing."
        result = a_result(trace_id=trace_id, citations=citations, answer=answer)
        writer.record(Finished(decision="done", result=result))
    return read_trace(folder / f"{trace_id}.jsonl")
