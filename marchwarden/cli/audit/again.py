"""`marchwarden ask --again`: the question of an earlier call, asked once more, and what changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marchwarden.cli.client.follow_up import NOTE_CHARS
from marchwarden.cli.library.stored_traces import named_trace

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.contract import ResearchRequest, ResearchResult
    from marchwarden.trace.differences import Difference


@dataclass(frozen=True)
class Earlier:
    """An earlier call, as its trace recorded it."""

    trace_id: str
    request: ResearchRequest
    settings: Mapping[str, object]
    """Settings of the call that decide its answer, by name."""
    result: Mapping[str, Any]
    """Result as it stands in the trace."""
    day: str
    """Day of the call, `2026-01-31`; empty where its trace has none."""
    version: str
    """Version of Marchwarden that made the call."""

    @property
    def note(self) -> str:
        """Sentence on what is asked again, for stderr: the latest call may not be the one that is meant."""
        from marchwarden.observations import plain_line

        return f"Asking again, as in {self.trace_id[:8]}: {plain_line(self.request.question, NOTE_CHARS)}"

    def changes(self, now: ResearchResult) -> list[Difference]:
        """Return what differs in a result of today, ids, times and costs aside."""
        from marchwarden import __version__
        from marchwarden.trace.differences import differences

        found = differences(self.result, now.model_dump(mode="json"), same_version=self.version == __version__)
        return [each for each in found if not each.field.startswith("cost_metadata.")]

    def plain(self, now: ResearchResult) -> dict[str, Any]:
        """Return the result of today with what changed, as JSON."""
        return {
            "again_of": self.trace_id,
            "differences": [asdict(each) for each in self.changes(now)],
            "result": now.model_dump(mode="json"),
        }


def earlier_call(trace: str | None, web: Path | None) -> Earlier:
    """Return the call of a trace, named by the start of its id or by its file, the latest answer's without; `web` is
    the folder of a frozen web.

    Raises TraceError where there is none, or where it has no result, ConfigurationError where it searched a frozen
    web that is not at hand.
    """
    from marchwarden.contract import ResearchRequest
    from marchwarden.errors import ConfigurationError, TraceError
    from marchwarden.frozen_web.pages import manifest_hash
    from marchwarden.settings import load_settings, shipped
    from marchwarden.trace.events import Started
    from marchwarden.trace.reader import read_trace

    read = read_trace(named_trace(trace))
    events = [event for _, _, event in read.events]
    if read.result is None or not isinstance(events[0], Started):
        raise TraceError(f"{read.trace_id} is {read.outcome}: it has no result to compare with")
    started = events[0]
    folder = None
    if "snapshot" in started.source.split(","):
        folder = web or (load_settings().frozen_web if started.web else shipped("web"))
        if web is None and manifest_hash(folder) != started.web:
            raise ConfigurationError(
                f"{read.trace_id} searched another frozen web than the one in use",
                hint="Name its folder: --web DIR.",
            )
    return Earlier(
        read.trace_id,
        ResearchRequest(
            question=started.question,
            context=started.context,
            depth=started.depth,
            constraints=started.constraints,
        ),
        {
            "model": started.model_id,
            "source": started.source,
            "web": folder and folder.absolute(),
            "max_seconds": started.max_seconds,
            "semantic": started.semantic,
            "model_calls": started.model_calls,
        },
        next(line["result"] for line in reversed(read.raw) if line.get("action") == "result"),
        f"{read.started:%Y-%m-%d}" if read.started else "",
        started.version,
    )


def changes_view(earlier: Earlier, now: ResearchResult) -> Iterator[RenderableType]:
    """Show what changed since an earlier call."""
    from rich.text import Text

    from marchwarden import __version__
    from marchwarden.cli.views.rerun_view import differences_view
    from marchwarden.cli.views.safe_text import count, one_line

    found = earlier.changes(now)
    since = f"Since {earlier.day}" if earlier.day else "Since then"
    if found:
        yield Text(f"\n{since}: {count(len(found), 'difference')}.\n", style="bold yellow")
        yield from differences_view(found)
    else:
        yield Text(f"\n{since} nothing has changed: answer, evidence and confidence are the same.", style="green")
    if earlier.version != __version__:
        told = f"Note: version {one_line(earlier.version)} gave the earlier answer, and {__version__} this one."
        yield Text(told, style="yellow")
