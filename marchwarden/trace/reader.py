"""Search, list and read traces. A torn last line, a missing end and unknown actions are tolerated.

The models of events are imported only where events are asked for: they take longer than `history` and `replay` may.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from marchwarden.errors import TraceError, reason_of
from marchwarden.trace.json_view import TolerantJsonView
from marchwarden.trace.standalone_verifier import is_too_deep

if TYPE_CHECKING:
    from marchwarden.contract import ResearchResult, Status
    from marchwarden.trace.events import Event

Outcome: TypeAlias = Literal["finished", "cancelled", "failed", "unfinished"]

# A UUID, which a trace's file is named after.
_TRACE_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Outcomes by the action of a line that ends a call.
_ENDINGS: dict[str, Outcome] = {"result": "finished", "cancelled": "cancelled", "failed": "failed"}
# Bytes at the end of a trace that a list reads first: most results fit. A guess.
_TAIL_BYTES = 65_536


@dataclass(frozen=True)
class TraceSummary:
    """A trace as a list shows it; None where the file does not say."""

    trace_id: str
    path: Path
    started: datetime | None
    question: str | None
    model_id: str | None
    outcome: Outcome
    confidence: float | None
    tokens_used: int | None
    seconds: float | None
    """Wall time of the call in seconds."""
    size: int
    """Size of the file in bytes."""
    rerun_of: str | None = None
    """Id of the call that this one made again; None for any other call."""
    continues: str | None = None
    """Id of the call that this one follows up; None for any other call."""
    source: str | None = None
    """Sources that were searched, separated by commas."""
    has_citations: bool = False
    """True where the result cites anything."""
    ended: datetime | None = None
    """Time of the last line."""
    sources_failed: bool = False
    """True where the result says that no source could be asked."""
    is_investigation: bool = False
    """True where several researchers were asked; their calls have traces of their own."""

    @property
    def status(self) -> Status:
        """Status of the call: `failed` where there is no result, for whatever reason, or no source could be asked."""
        # The rule of ResearchResult.status, which takes too long to import for a list of traces.
        if self.outcome != "finished" or (self.sources_failed and not self.has_citations):
            return "failed"
        return "answered" if self.has_citations else "nothing_found"

    @property
    def ending(self) -> str:
        """Status in words, and for a call without a result the reason: failed, cancelled or unfinished."""
        return self.status.replace("_", " ") if self.outcome == "finished" else self.outcome


class Trace:
    """One call's trace. `raw` holds every whole line as it stands; `events` those that this version understands."""

    def __init__(self, path: Path, raw: list[dict[str, Any]]) -> None:
        self.path = path
        self.trace_id = path.stem
        self.raw = raw

    @cached_property
    def events(self) -> list[tuple[int, datetime, Event]]:
        """Tuples of (step, timestamp, event), in the order in which they were written."""
        return [parsed for line in self.raw if (parsed := _parsed(line))]

    @property
    def program_notes(self) -> list[str]:
        """Notes on parts of the program that were not used, from the call's first line, unchecked."""
        written = self.raw[0].get("program_notes") if self.raw else None
        return [str(note) for note in written] if isinstance(written, list) else []

    @property
    def started(self) -> datetime | None:
        """Time of the first line, in UTC; None where the line has none."""
        return instant(self.raw[0].get("timestamp")) if self.raw else None

    @cached_property
    def result(self) -> ResearchResult | None:
        """Result of the call; None where the trace has none, or one that breaks the contract."""
        for line in reversed(self.raw):
            if line.get("action") == "result":
                parsed = _parsed(line)
                return parsed[2].result if parsed and parsed[2].action == "result" else None
        return None

    @property
    def written_result(self) -> TolerantJsonView | None:
        """Result as it stands in the file; None where there is none.

        It has a ResearchResult's names, but is unchecked, and a name that the file lacks gives None.
        """
        written = next((line.get("result") for line in reversed(self.raw) if line.get("action") == "result"), None)
        if written is None:
            return None
        view = TolerantJsonView.of(written)
        # A result that is no JSON object gives a view without members.
        return view if isinstance(view, TolerantJsonView) else TolerantJsonView()

    @property
    def fetches(self) -> list[TolerantJsonView]:
        """Lines of the action `fetch_url` as they stand in the file, unchecked."""
        return [TolerantJsonView.of(line) for line in self.raw if line.get("action") == "fetch_url"]

    @property
    def is_investigation(self) -> bool:
        """True where several researchers were asked; their calls have traces of their own."""
        return value_of(self.raw[0], "team", list) is not None

    @property
    def outcome(self) -> Outcome:
        """End of the call: `unfinished` where it is still running, or where its process was killed."""
        return _outcome(self.raw)


def list_traces(folder: Path) -> list[TraceSummary]:
    """Return the traces of a folder, newest first; none where the folder does not exist.

    Raises TraceError where the folder can't be read.
    """
    return newest_first(summary_of(path) for path in trace_files(folder))


def newest_first(summaries: Iterable[TraceSummary]) -> list[TraceSummary]:
    """Return summaries as lists have them: by the start of the call, the newest first, then by id."""
    by_id = sorted(summaries, key=lambda each: each.trace_id)
    return sorted(by_id, key=lambda each: each.started.timestamp() if each.started else 0.0, reverse=True)


def find_trace(folder: Path, prefix: str | None = None) -> Path:
    """Return the trace whose id begins with `prefix`; without, the latest answer, or where there is none the latest
    call.

    Raises TraceError, with a hint, where there is no such trace or more than one.
    """
    if prefix is None:
        traces = list_traces(folder)
        if not traces:
            raise TraceError(f"there are no traces in {folder}", hint='Ask something first: marchwarden ask "…"')
        return latest_answer(folder) or traces[0].path
    wanted = prefix.strip().lower()
    found = [path for path in trace_files(folder) if wanted and path.stem.startswith(wanted)]
    if not found:
        raise TraceError(f"no trace begins with {prefix!r} in {folder}", hint="`marchwarden history` lists them.")
    if len(found) > 1:
        some = ", ".join(path.stem for path in found[:5])
        raise TraceError(f"{len(found)} traces begin with {prefix!r}: {some}", hint="Give more of the id.")
    return found[0]


def latest_answer(folder: Path) -> Path | None:
    """Return the trace whose answer came last; None where there is none. Re-runs are no answers of their own."""
    answers = [each for each in list_traces(folder) if each.outcome == "finished" and not each.rerun_of]
    # By their end: the researchers of an investigation begin after it, and end before it. One that was killed may be
    # gone on with days later.
    ends = {each.path: each.ended.timestamp() for each in answers if each.ended}
    return max(ends, key=lambda path: ends[path], default=None)


def read_trace(path: Path) -> Trace:
    """Return the trace in a file. Raises TraceError where the file can't be read or holds no trace."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise TraceError(f"{path} can't be read: {error.strerror or error}") from error
    raw = [whole for line in lines if (whole := whole_line(line))]
    if not raw:
        raise TraceError(f"{path} holds no trace", hint="The process was stopped before its first step was written.")
    return Trace(path, raw)


def instant(timestamp: object) -> datetime | None:
    """Return the time of a trace line, in UTC; None where it is not a time that a call can have been made at."""
    if not isinstance(timestamp, str):
        return None
    try:
        time = datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
    except ValueError:
        return None
    # The conversion to UTC can't overflow between these years.
    if not 1970 < time.year < 9999:
        return None
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)


def trace_files(folder: Path) -> list[Path]:
    """Return the files of the traces of a folder; none where the folder does not exist.

    Raises TraceError where the folder can't be read.
    """
    try:
        paths = list(folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TraceError(
            f"{folder} can't be read: {reason_of(error)}",
            hint="Correct its permissions, or set MARCHWARDEN_TRACE_DIR to another folder.",
        ) from error
    return sorted(path for path in paths if path.suffix == ".jsonl" and is_trace_id(path.stem))


def is_trace_id(name: str) -> bool:
    """Return whether `name` is the id of a trace, as its file is named."""
    return _TRACE_ID.fullmatch(name) is not None


def whole_line(line: bytes) -> dict[str, Any] | None:
    """Return a line as it was written; None for one that is torn, empty or damaged."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("action", ""), str) or is_too_deep(data):
        return None
    return data


def _parsed(line: dict[str, Any]) -> tuple[int, datetime, Event] | None:
    from pydantic import ValidationError

    from marchwarden.trace.events import parse_event

    time = instant(line.get("timestamp"))
    if time is None:
        return None
    step = line.get("step")
    try:
        return step if isinstance(step, int) else 0, time, parse_event(line)
    except ValidationError:
        return None


def _outcome(raw: list[dict[str, Any]]) -> Outcome:
    # A call that was killed late may have both a result and another ending: the result counts.
    endings = [_ENDINGS[line["action"]] for line in raw if line.get("action") in _ENDINGS]
    if "finished" in endings:
        return "finished"
    return endings[-1] if endings else "unfinished"


def summary_of(path: Path) -> TraceSummary:
    """Return a trace's summary from the first line and the end of its file."""
    try:
        with path.open("rb") as file:
            first = whole_line(file.readline()) or {}
            size = file.seek(0, 2)
            length = _TAIL_BYTES
            # Read further back while the last line is longer than the bytes read.
            while True:
                file.seek(max(0, size - length))
                lines = [line for line in file.read(length).split(b"\n") if line]
                if len(lines) > 2 or length >= size:
                    break
                length *= 4
            # Where the last line is torn, the one before it counts.
            ending = [whole for line in lines[-2:] if (whole := whole_line(line))]
    except OSError:
        first, ending, size = {}, [], 0
    result: dict[str, Any] = next((line["result"] for line in ending if isinstance(line.get("result"), dict)), {})
    cost = result.get("cost_metadata")
    cost = cost if isinstance(cost, dict) else {}
    return TraceSummary(
        trace_id=path.stem,
        path=path,
        started=instant(first.get("timestamp")),
        question=value_of(first, "question", str),
        model_id=value_of(first, "model_id", str),
        outcome=_outcome(ending),
        confidence=value_of(result, "confidence", float, int),
        tokens_used=value_of(cost, "tokens_used", int),
        seconds=value_of(cost, "wall_time_sec", float, int),
        size=size,
        rerun_of=value_of(first, "rerun_of", str),
        continues=value_of(first, "continues", str),
        source=value_of(first, "source", str),
        has_citations=bool(value_of(result, "citations", list)),
        ended=max(filter(None, (instant(line.get("timestamp")) for line in ending)), default=None),
        sources_failed=result.get("sources_failed") is True,
        is_investigation=value_of(first, "team", list) is not None,
    )


def value_of(data: dict[str, Any], name: str, *kinds: type) -> Any:
    """Return a field of a line that can be damaged; None where it is not of its kind."""
    value = data.get(name)
    return value if isinstance(value, kinds) and not isinstance(value, bool) else None
