"""What chooses among the sources of a group, and the language of an encyclopedia: the question, not a query of it."""

from __future__ import annotations

import uuid
from datetime import date
from pathlib import Path

import httpx
import pytest

from marchwarden.budget import Budget
from marchwarden.contract import Constraints, SourceFilter
from marchwarden.settings import Settings
from marchwarden.source_table import GROUPS
from marchwarden.sources.combined import combine_tools
from marchwarden.sources.source_choice import choose_sources
from marchwarden.sources.source_registry import open_tools
from marchwarden.stages.stage import StageRunner
from marchwarden.trace.writer import TraceWriter

pytestmark = pytest.mark.anyio

EVERYTHING = SourceFilter(None)


def test_without_meanings_all_but_forums_are_searched() -> None:
    names = GROUPS["open"]
    chosen = [names[place] for place in choose_sources("Where was the singer born?", names, None)]
    assert chosen == [name for name in names if name not in ("stackexchange", "hackernews")]


async def test_the_question_of_a_call_chooses_the_sources_and_the_language_for_all_of_its_queries(
    tmp_path: Path,
) -> None:
    hosts: list[str] = []
    chosen_by: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return httpx.Response(200, json={"query": {"search": []}})

    def choose(question: str) -> list[int]:
        chosen_by.append(question)
        return [0]

    opened = open_tools(Settings(source="wikipedia", cache_dir=tmp_path), transport=httpx.MockTransport(respond))
    tools = combine_tools([opened, opened], choose)
    writer = TraceWriter(tmp_path, str(uuid.uuid4()))
    await tools.search.search("free original pointer realloc", max_results=1, source_filter=EVERYTHING)
    question = "Wie heißt die Hauptstadt von Utah?"
    tools.begin(question, StageRunner(None, Budget(Constraints(), 10), writer), date(2026, 1, 15))
    await tools.search.search("Utah", max_results=1, source_filter=EVERYTHING)
    writer.close()
    assert chosen_by == ["free original pointer realloc", question]
    assert hosts[1:] == ["de.wikipedia.org"]
