from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import marchwarden
from marchwarden import (
    ConfigurationError,
    Constraints,
    Depth,
    InvalidRequest,
    ResearchFailed,
    ResearchResult,
    Settings,
    StorageError,
    research,
    research_sync,
)
from marchwarden.agent.arguments import request_of
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace, list_traces, read_trace
from marchwarden.trace.verify import verify
from tests.webs import article, make_web

ROOT = Path(__file__).parents[1]
QUESTION = "When do tomatoes ripen in Utah?"


def some_settings(tmp_path: Path, delay_s: float = 0.0, **changes: Any) -> Settings:
    page = article(
        "Tomatoes in Utah", "Tomatoes ripen in Utah from late July to September.", "Frost ends the season."
    )
    web = make_web(tmp_path / "web", {"https://garden.example/tomatoes": {"body": page, "delay_s": delay_s}})
    given: dict[str, Any] = {"web": web, "source": "snapshot", "model": "extractive", **changes}
    return Settings(**given)


def the_trace(tmp_path: Path) -> Trace:
    (summary,) = list_traces(tmp_path / "traces")
    return read_trace(summary.path)


@pytest.mark.anyio
async def test_settings_can_be_a_dict_and_progress_is_told(tmp_path: Path) -> None:
    settings = some_settings(tmp_path)
    told: list[str] = []
    named: dict[str, object] = {"model": "extractive", "source": "snapshot", "web": settings.web}
    result = await research(QUESTION, depth="shallow", settings=named, on_progress=told.append)
    assert "late July" in result.answer
    assert told
    document = result.to_markdown(QUESTION)
    assert document.startswith(f"# {QUESTION}\n\n")
    assert result._repr_markdown_() == result.to_markdown() == document.partition("\n\n")[2]
    assert "> Tomatoes ripen in Utah from late July to September." in document


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"modle": "extractive"}, "modle: no such setting"),
        ({"max_seconds": "soon"}, "MARCHWARDEN_MAX_SECONDS: must be a number"),
        ("extractive", "settings are a dict or Settings, not str"),
    ],
)
def test_settings_that_are_none_are_refused_in_plain_words(settings: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        research_sync(QUESTION, settings=settings)


def test_files_are_indexed_and_their_corpus_is_named(tmp_path: Path) -> None:
    (tmp_path / "rain.md").write_text("In 2024 we measured 14 litres of rain a week in the rain barrel.")
    told: list[tuple[int, int, int]] = []
    report = marchwarden.index(tmp_path / "rain.md", name="rain", on_progress=lambda *counts: told.append(counts))
    assert (report.documents, report.added) == (1, 1)
    assert told
    assert marchwarden.index(name="rain").unchanged == 1
    with pytest.raises(ConfigurationError, match="no such file or folder: nowhere"):
        marchwarden.index("nowhere")
    with pytest.raises(ConfigurationError, match="there is no corpus default"):
        marchwarden.index()


def test_dir_lists_the_public_names_alone() -> None:
    assert {name for name in dir(marchwarden) if not name.startswith("__")} == set(marchwarden.__all__)


@pytest.mark.anyio
async def test_a_question_gets_an_answer_with_a_trace_that_bears_it_out(tmp_path: Path) -> None:
    settings = some_settings(tmp_path)
    result = await research(QUESTION, depth="shallow", settings=settings)
    trace = the_trace(tmp_path)
    assert "late July" in result.answer
    assert result.trace_id == trace.trace_id
    assert trace.result
    assert ResearchResult.of(trace.result) == result
    assert trace.outcome == "finished"
    assert verify(result, trace, Store(settings.store_folder)) == []


def test_without_an_event_loop_there_is_a_plain_call_and_settings_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MARCHWARDEN_WEB", str(some_settings(tmp_path).web))
    result = research_sync(QUESTION, "It is about raised beds.", Depth.SHALLOW, Constraints(max_sources=1))
    assert result.citations[0].locator == "https://garden.example/tomatoes"
    assert the_trace(tmp_path).raw[0]["constraints"]["max_sources"] == 1


@pytest.mark.anyio
async def test_the_plain_call_inside_an_event_loop_says_what_to_use_instead(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="await research"):
        research_sync(QUESTION, settings=some_settings(tmp_path))
    assert not (tmp_path / "traces").exists()


@pytest.mark.parametrize(
    ("arguments", "field", "limit"),
    [
        ({"question": " "}, "question", "is empty"),
        ({"question": "x" * 501}, "question", "500"),
        ({"question": "q", "context": "x" * 2001}, "context", "2000"),
        ({"question": "q", "depth": "abyssal"}, "depth", "deep"),
        ({"question": "q", "constraints": {"token_budget": 1}}, "constraints.token_budget", "500"),
        ({"question": "q", "constraints": {"colour": "red"}}, "constraints.colour", "is not known here"),
        ({"question": "q", "constraints": [1]}, "constraints", "must be an object"),
    ],
)
def test_bad_arguments_are_named_with_their_limit_and_nothing_is_left_behind(
    tmp_path: Path, arguments: dict[str, Any], field: str, limit: str
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        research_sync(**arguments)
    ((named, problem),) = caught.value.problems
    assert named == field
    assert limit in problem
    assert not (tmp_path / "traces").exists()


def test_a_deep_call_gets_its_larger_budget_whichever_way_constraints_are_given() -> None:
    for given in (None, {}, {"max_sources": 3}, Constraints(max_sources=3)):
        assert request_of("q", None, "deep", given).constraints.token_budget == 25_000
        assert request_of("q", None, Depth.DEEP, given).constraints.token_budget == 25_000
    assert request_of("q", None, "deep", Constraints(token_budget=600)).constraints.token_budget == 600
    assert request_of("q", None, "balanced", None).constraints.token_budget == 20_000


@pytest.mark.anyio
async def test_a_cancelled_call_says_so_in_its_trace(tmp_path: Path) -> None:
    call = asyncio.create_task(research(QUESTION, settings=some_settings(tmp_path, delay_s=30)))
    while not list_traces(tmp_path / "traces"):  # noqa: ASYNC110  a file can't set an event
        await asyncio.sleep(0.02)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert the_trace(tmp_path).outcome == "cancelled"


@pytest.mark.anyio
async def test_an_internal_failure_carries_the_trace_and_its_cause(tmp_path: Path) -> None:
    """A path with a NUL in it: the kind of thing that nobody thought of."""
    settings = some_settings(tmp_path, web=Path("a\0b"))
    with pytest.raises(ResearchFailed, match="internal error") as caught:
        await research(QUESTION, settings=settings)
    assert caught.value.__cause__ is not None
    assert the_trace(tmp_path).trace_id == caught.value.trace_id
    assert the_trace(tmp_path).outcome == "failed"


def test_a_missing_web_and_a_folder_that_cannot_be_written_are_errors_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError):
        research_sync(QUESTION, settings=Settings(web=tmp_path / "nowhere", source="snapshot"))
    with pytest.raises(StorageError):
        research_sync(QUESTION, settings=some_settings(tmp_path, trace_dir=tmp_path / "file" / "traces"))


def test_a_store_that_can_no_longer_be_written_ends_the_trace_too(tmp_path: Path) -> None:
    settings = some_settings(tmp_path)
    settings.traces.mkdir()
    settings.store_folder.write_text("a file")
    with pytest.raises(StorageError):
        research_sync(QUESTION, settings=settings)
    assert the_trace(tmp_path).outcome == "failed"
    assert "can't be written" in the_trace(tmp_path).raw[-1]["decision"]


def test_every_public_name_is_there() -> None:
    for name in marchwarden.__all__:
        assert getattr(marchwarden, name).__name__ == name
    assert set(marchwarden.__all__) <= set(dir(marchwarden))
    with pytest.raises(AttributeError, match="no attribute 'reserch'"):
        marchwarden.reserch  # noqa: B018


def test_the_version_is_that_of_the_project() -> None:
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert declared
    assert marchwarden.__version__ == declared[1]


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import json, sys; before = set(sys.modules); import marchwarden; print(json.dumps([*{*sys.modules} - before]))"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)}
    )
    assert {name.partition(".")[0] for name in json.loads(run.stdout)} <= {"marchwarden", *sys.stdlib_module_names}
    assert "marchwarden.contract" not in json.loads(run.stdout)
