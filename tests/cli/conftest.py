"""The command line in this process, with its streams and its exit code."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from marchwarden.cli import main
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Concluded, Event
from marchwarden.trace.writer import TraceWriter
from tests.cli.running import ROOT
from tests.trace.samples import BODY, TEXT, TRACE_ID, a_whole_call, started


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """stderr with its line breaks and frames taken out."""
        return " ".join(self.err.translate({ord(char): " " for char in "│╭╮╰╯─"}).split())


Run = Callable[..., Ran]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Iterator[Run]:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    monkeypatch.setenv("COLUMNS", "160")  # or a line would be broken in the middle of a folder for tests
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["marchwarden", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsysbinary.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, out.decode(), err.decode())

    yield call
    root.setLevel(before[0])
    root.handlers[:] = before[1]


PAGE = """<html><head><title>Crops of Utah</title></head><body><main><h1>Crops of Utah</h1>
<p>Tomatoes, peppers and squash are crops that grow well in Utah when they are watered deeply.</p>
<p>Peas and lettuce are sown in early spring, long before the last frost of the year has gone.</p>
</main></body></html>"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A frozen web of one page."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "crops.html").write_text(PAGE)
    line = {"url": "https://garden.example/crops", "file": "crops.html", "status": 200}
    (folder / "manifest.jsonl").write_text(json.dumps({**line, "headers": {"content-type": "text/html"}}) + "\n")
    return folder


@pytest.fixture
def a_trace(tmp_path: Path) -> str:
    """The id of a finished call's trace in the test's folder, its page in the store."""
    return record(tmp_path / "traces", TRACE_ID, a_call())


def record(folder: Path, trace_id: str, events: list[Event]) -> str:
    store = Store(folder / "store")
    store.put(BODY)
    store.put(TEXT.encode())
    with TraceWriter(folder, trace_id) as writer:
        for event in events:
            writer.record(event)
    # Traces are in the order of the milliseconds in which they began.
    time.sleep(0.002)
    return trace_id


def a_call(question: str = "Was wächst in 日本?") -> list[Event]:
    def about(event: Event) -> Event:
        if not isinstance(event, Concluded):
            return event
        state = {
            part: {**told, "question": question} if part in ("request", "ledger") else told
            for part, told in event.state.items()
        }
        return event.model_copy(update={"state": state})

    return [started(question), *map(about, a_whole_call()[1:])]
