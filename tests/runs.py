"""One research call in a test: over a small web, in this process, with its trace and store at hand."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marchwarden.agent.research import research
from marchwarden.audit.bundle import Views
from marchwarden.audit.verdict import verdict
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.settings import Settings, load_settings
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.standalone_verifier import VERIFIED
from marchwarden.trace.verify import verify
from marchwarden.trace.writer import TraceWriter
from tests.webs import make_web


@dataclass(frozen=True)
class Run:
    result: ResearchResult
    trace: Trace
    store: Store
    progress: list[str]

    def events(self, action: str) -> list[Any]:
        return [event for _, _, event in self.trace.events if event.action == action]

    @property
    def problems(self) -> list[object]:
        """Everything of the result that can't be verified offline."""
        found = verdict(self.trace.path, Views(report=lambda result, question: question)).findings
        unproven = [each for each in found if each.state != VERIFIED and each.needed]
        return [*verify(self.result, self.trace, self.store), *unproven]

    def categories(self) -> list[str]:
        return [gap.category.value for gap in self.result.gaps]

    def locators(self) -> set[str]:
        return {citation.locator for citation in self.result.citations}


async def run(
    question: str,
    *,
    web: Path | None = None,
    pages: Mapping[str, str | bytes | dict[str, Any]] | None = None,
    settings: Settings | None = None,
    **arguments: Any,
) -> Run:
    """Research `question` over `pages` (or the folder `web`, or the shipped one); `arguments` are the contract's."""
    folder = make_web(Path.cwd() / f"web{uuid.uuid4().hex[:6]}", pages) if pages is not None else web
    settings = settings or load_settings(model="extractive", source="snapshot", web=folder)
    request = ResearchRequest.model_validate({"question": question, **arguments})
    trace_id = str(uuid.uuid4())
    progress: list[str] = []
    writer = TraceWriter(settings.traces, trace_id, on_progress=progress.append)
    try:
        result = await research(request, settings=settings, recorder=writer, trace_id=trace_id)
    finally:
        writer.close()
    return Run(result, read_trace(writer.path), Store(settings.store_folder), progress)


def actions(events: list[tuple[int, Any, Event]]) -> list[str]:
    return [event.action for _, _, event in events]
