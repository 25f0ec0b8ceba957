"""Calls of scholarly sources over recorded networks."""

from __future__ import annotations

import uuid
from typing import Any

from marchwarden.agent.recording import CallContext, Origin, Replacements
from marchwarden.agent.research import research_in
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import read_trace
from marchwarden.trace.writer import TraceWriter
from tests.runs import Run
from tests.sources.scholarly.recorded_network import RecordedNetwork


def settings(source: str, **more: object) -> Settings:
    return load_settings(model="extractive", source=source, openalex_api_key="secret", **more)


async def call(question: str, network: RecordedNetwork, source: str, **arguments: Any) -> Run:
    """Ask a source over a recorded network; `arguments` are the contract's."""
    configured = settings(source)
    tools = open_tools(configured, transport=network)
    trace_id = str(uuid.uuid4())
    writer = TraceWriter(configured.traces, trace_id)
    request = ResearchRequest.model_validate({"question": question, **arguments})
    given = Replacements(tools, None, DEFAULT, Origin())
    context = CallContext(Budget(request.constraints, 20), writer, trace_id, replacements=given)
    try:
        result: ResearchResult = await research_in(context, request, configured)
    finally:
        writer.close()
    return Run(result, read_trace(writer.path), Store(configured.store_folder), [])
