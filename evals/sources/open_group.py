"""What Wikidata beside Wikipedia does to answers: HotpotQA's paragraphs stand in for Wikipedia.

    python evals/sources/open_group.py ../shared/data 60

Wikipedia's search is played by BM25 over the paragraphs of all questions. Wikidata has an entity for each name that
is looked up, which says nothing but that it is a thing: the worst case, since a real one may hold the answer.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import httpx

from marchwarden.agent.recording import CallContext, Origin, Replacements
from marchwarden.agent.research import research_in
from marchwarden.budget import Budget
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.text.ranking import rank_terms, terms, terms_of
from marchwarden.trace.writer import TraceWriter

GROUPS = ("wikipedia", "wikipedia,wikidata")


class StandIn(httpx.AsyncBaseTransport):
    """Wikipedia made of paragraphs by title, and a Wikidata that knows every name and nothing about it."""

    def __init__(self, paragraphs: Mapping[str, str]) -> None:
        self.paragraphs = dict(paragraphs)
        self.terms = terms_of([f"{title} {text}" for title, text in self.paragraphs.items()])
        self.names: list[str] = []
        self.requests = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/robots.txt":
            return httpx.Response(404)
        self.requests += 1
        if request.url.host == "www.wikidata.org":
            return httpx.Response(200, json=self._wikidata(request.url.params))
        if request.url.path == "/w/api.php":
            return httpx.Response(200, json=self._search(request.url.params["srsearch"]))
        title = unquote(request.url.path.removeprefix("/wiki/")).replace("_", " ")
        text = self.paragraphs.get(title)
        if text is None:
            return httpx.Response(404)
        head = f"<html lang=en><title>{html.escape(title)} - Wikipedia</title><main><h1>{html.escape(title)}</h1>"
        return httpx.Response(200, html=f"{head}<p>{html.escape(text)}</p></main></html>")

    def _search(self, query: str) -> Any:
        scores = rank_terms(terms(query), self.terms)
        best = sorted(zip(scores, self.paragraphs, strict=True), reverse=True)[:10]
        return {
            "query": {
                "search": [
                    {"title": title, "snippet": html.escape(self.paragraphs[title][:200])}
                    for score, title in best
                    if score > 0
                ]
            }
        }

    def _wikidata(self, asked: httpx.QueryParams) -> Any:
        if asked["action"] == "wbsearchentities":
            self.names.append(asked["search"])
            return {"search": [{"id": f"Q{len(self.names)}", "label": asked["search"], "description": "thing"}]}
        ids = asked["ids"].split("|")
        if asked["props"] == "labels":
            known = {"P31": "instance of", "Q9999999": "thing"}
            return {"entities": {each: {"labels": {"en": {"value": known[each]}}} for each in ids}}
        value = {"datatype": "wikibase-item", "datavalue": {"value": {"id": "Q9999999"}}}
        entity = {
            "id": ids[0],
            "labels": {"en": {"value": self.names[int(ids[0][1:]) - 1]}},
            "claims": {"P31": [{"rank": "normal", "mainsnak": value}]},
            "lastrevid": 1,
            "modified": "2025-01-01T00:00:00Z",
        }
        return {"entities": {ids[0]: entity}}


async def ask(question: str, configured: Settings, network: StandIn) -> ResearchResult:
    trace_id = str(uuid.uuid4())
    writer = TraceWriter(configured.traces, trace_id)
    request = ResearchRequest(question=question)
    given = Replacements(open_tools(configured, transport=network), None, DEFAULT, Origin())
    context = CallContext(Budget(request.constraints, 60), writer, trace_id, replacements=given)
    try:
        return await research_in(context, request, configured)
    finally:
        writer.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("number", type=int)
    given = parser.parse_args()
    lines = (given.folder / "qa-hotpot-100" / "hotpot_distractor_100.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    paragraphs = {
        title: " ".join(sentences)
        for each in questions
        for title, sentences in zip(each["context"]["title"], each["context"]["sentences"], strict=True)
    }
    for group in GROUPS:
        configured = load_settings(model="extractive", source=group)
        network, began = StandIn(paragraphs), time.process_time()
        cited = answered = support = 0
        for each in questions[: given.number]:
            result = asyncio.run(ask(each["question"], configured, network))
            wanted = {
                f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='()/:,')}"
                for title in each["supporting_facts"]["title"]
            }
            cited += len(wanted & {citation.locator for citation in result.citations})
            support += len(wanted)
            answered += any(each["answer"].lower() in citation.raw_excerpt.lower() for citation in result.citations)
        seconds = (time.process_time() - began) / given.number
        print(
            f"{group}: {given.number} questions, supporting pages cited {cited / support:.3f}, answer cited "
            f"{answered / given.number:.3f}, requests {network.requests / given.number:.1f}, CPU s {seconds:.2f}"
        )


if __name__ == "__main__":
    main()
