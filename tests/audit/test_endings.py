"""However a call ends, its trace can be checked."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from marchwarden.agent.conclusion import Checkpoint, finish
from marchwarden.agent.research import research
from marchwarden.audit.verdict import Verdict, quick_verdict, verdict
from marchwarden.contract import ResearchRequest
from marchwarden.settings import load_settings
from marchwarden.trace.events import Event, Failed, Finished, WasCancelled, WasKilled
from marchwarden.trace.writer import TraceWriter
from tests.audit.calls import QUESTION, VIEWS, a_web
from tests.trace.samples import TRACE_ID, started

pytestmark = pytest.mark.anyio


def states(found: Verdict) -> dict[str, str]:
    return {finding.check: finding.state for finding in found.findings}


async def test_a_call_that_was_killed_verifies_with_what_had_been_kept(tmp_path: Path) -> None:
    settings = load_settings(web=a_web(tmp_path / "web"), source="snapshot", model="extractive")
    kept: list[str] = []
    events: list[Event] = []

    class Recorder:
        def record(self, event: Event) -> None:
            events.append(event)

        def progress(self, message: str) -> None:
            pass

    request = ResearchRequest(question=QUESTION)
    await research(
        request,
        settings=settings,
        recorder=Recorder(),
        trace_id=TRACE_ID,
        checkpoint=lambda state: kept.append(state.model_dump_json()),
    )
    last = max(number for number, event in enumerate(events) if event.action == "extract")
    for state in kept[:-1]:
        result, record = await finish(
            Checkpoint.model_validate_json(state), limit="seconds", trace_id=TRACE_ID, seconds=0.0
        )
        with TraceWriter(settings.traces, TRACE_ID) as writer:
            for event in [*events[: last + 1], WasKilled(decision="x", reason="seconds"), record]:
                writer.record(event)
            writer.record(Finished(decision="x", result=result))
        found = await anyio.to_thread.run_sync(verdict, writer.path, VIEWS)
        told = {finding.check: finding for finding in found.findings if finding.state != "verified"}
        assert told.keys() <= {"signature", "findings"}, told
        writer.path.unlink()


def test_a_call_without_a_result_is_sealed_and_there_is_nothing_to_check(tmp_path: Path) -> None:
    for number, ending in enumerate((WasCancelled(decision="x"), Failed(decision="x", error="KeyError"))):
        with TraceWriter(tmp_path, f"{number}{TRACE_ID[1:]}") as writer:
            writer.record(started())
            writer.record(ending)
        found = quick_verdict(writer.path)
        assert found.state == "unchecked"
        assert states(found)["seal"] == states(found)["chain"] == "verified"
        assert states(found)["result"] == "unchecked"


def test_a_call_that_still_runs_is_chained_so_far(tmp_path: Path) -> None:
    with TraceWriter(tmp_path, TRACE_ID) as writer:
        writer.record(started())
        found = quick_verdict(writer.path)
    assert (states(found)["chain"], states(found)["seal"], found.state) == ("verified", "missing", "missing")
