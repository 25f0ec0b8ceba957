"""Calls as a frozen web: the same question over it finds the same, and its labels can be checked and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.datasets.freeze import freeze
from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import load_settings
from tests.corpora import corpus_of
from tests.runs import run
from tests.webs import article

pytestmark = pytest.mark.anyio

QUESTION = "When was the Halden Bridge built?"
PAGE = "https://bridges.halden-county.gov/halden"
PAGES: dict[str, Any] = {
    PAGE: article("Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista."),
    "https://halden-gazette.com/bridge": {
        "status": 402, "title": "The Halden Bridge", "snippet": "When was the Halden Bridge built? Subscribers know.",
    },
    "https://old.halden-college.edu/bridge": {
        "status": 301, "redirect": "https://new.halden-college.edu/bridge", "title": "Halden Bridge history",
        "snippet": "The Halden Bridge was built long ago.",
    },
    "https://new.halden-college.edu/bridge": article(
        "A history of the Halden Bridge", "Workers built the Halden Bridge between 1929 and 1931."
    ),
}  # fmt: skip


async def test_the_same_question_over_the_frozen_calls_finds_the_same(tmp_path: Path) -> None:
    done = await run(QUESTION, pages=PAGES)
    frozen = freeze([done.trace], tmp_path / "frozen")
    assert (frozen.questions, frozen.left_out) == (1, [])
    settings = load_settings(model="extractive", source="snapshot", web=tmp_path / "frozen/web")
    again = await run(QUESTION, settings=settings)
    assert again.result.answer == done.result.answer
    assert again.locators() == done.locators()
    assert again.categories() == done.categories()
    assert {each.content_hash for each in again.result.citations} == {
        each.content_hash for each in done.result.citations
    }


async def test_closed_pages_redirects_and_hits_that_were_not_read_are_kept(tmp_path: Path) -> None:
    few = await run(QUESTION, pages=PAGES, constraints={"max_sources": 1})
    freeze([few.trace], tmp_path / "few")
    web = FrozenWeb.load(tmp_path / "few/web").pages
    hits = {hit.url for event in few.events("search") for hit in event.hits}
    unread = hits - {event.url for event in few.events("fetch_url")}
    assert len(unread) > 1
    assert {(web[url].status, bool(web[url].title)) for url in unread} == {(404, True)}
    every = await run(QUESTION, pages=PAGES)
    freeze([few.trace, every.trace], tmp_path / "every")
    web = FrozenWeb.load(tmp_path / "every/web").pages
    old, new = "https://old.halden-college.edu/bridge", "https://new.halden-college.edu/bridge"
    assert (web[old].redirect, web[new].status, web["https://halden-gazette.com/bridge"].status) == (new, 200, 402)


async def test_a_stub_has_the_call_and_waits_for_labels(tmp_path: Path) -> None:
    first = await run(QUESTION, pages=PAGES, context="a bridge in Halden", constraints={"max_sources": 3})
    again = await run(QUESTION, pages=PAGES, context="a bridge in Halden", constraints={"max_sources": 3})
    frozen = freeze([first.trace, again.trace], tmp_path / "frozen")
    (stub,) = load_questions(tmp_path / "frozen/questions.jsonl")
    assert frozen.questions == 1
    assert (stub.question, stub.context, stub.constraints) == (QUESTION, "a bridge in Halden", {"max_sources": 3})
    assert (stub.nuggets, stub.gaps, stub.tags) == ([], [], [])
    assert stub.id == f"trace-{first.trace.trace_id[:8]}"
    assert "To be labelled" in str(stub.note)


async def test_files_and_pages_that_are_gone_are_left_out_by_name(tmp_path: Path) -> None:
    corpus_of(tmp_path / "files", {"bees.md": "# Bees\n\nThe queen of the north hive was replaced in June 2021.\n"})
    bees = await run(
        "When was the queen of the north hive replaced?", settings=load_settings(model="extractive", source="corpus")
    )
    with pytest.raises(EvaluationError, match="these calls met no page"):
        freeze([bees.trace], tmp_path / "frozen")
    done = await run(QUESTION, pages={PAGE: PAGES[PAGE]})
    key = done.events("fetch_url")[0].content_hash
    (done.store.folder / key[7:9] / f"{key[9:]}.zst").unlink()
    frozen = freeze([bees.trace, done.trace], tmp_path / "frozen")
    assert [each.partition(": ")[0] for each in frozen.left_out] == [f"{tmp_path}/files/bees.md", PAGE]
    manifest = (tmp_path / "frozen/web/manifest.jsonl").read_text()
    assert [json.loads(line)["status"] for line in manifest.splitlines()] == [404]
