"""A follow-up: the call that it continues, and the conversation up to it as the context of its question."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.early import trace_folder
from marchwarden.cli.library.stored_traces import LATEST, stored_trace

if TYPE_CHECKING:
    from marchwarden.text.turns import Turn
    from marchwarden.trace.reader import Trace

# Turns of a conversation that are read back, at most; a context holds the newest two or three. A guess.
_MOST_TURNS = 6
# Characters of a context: the contract's limit.
_CONTEXT_LIMIT = 2000
# Characters of a question in a note. A guess.
NOTE_CHARS = 120


@dataclass(frozen=True)
class FollowUp:
    continues: str
    """Id of the trace that is continued."""
    context: str | None
    """Conversation up to now, behind what the caller says."""
    source: str | None
    """Sources that the earlier call searched, in the settings' spelling; None for a team of other servers."""
    question: str
    """Question of the earlier call."""

    @property
    def note(self) -> str:
        """Sentence on what is continued, for stderr: the latest call may not be the one that is meant."""
        from marchwarden.observations import plain_line

        return f"A follow-up to {self.continues[:8]}: {plain_line(self.question, NOTE_CHARS)}"


def follow_up(trace: str, given: str | None) -> FollowUp:
    """Return what a follow-up on a call needs; `trace` is the start of its id, or `latest` for the latest answer.

    Raises TraceError where there is no such call, or where it has no answer.
    """
    from marchwarden.errors import TraceError
    from marchwarden.text.turns import as_context
    from marchwarden.trace.reader import latest_answer, read_trace

    latest = latest_answer(trace_folder()) if trace == LATEST else None
    found = read_trace(latest or stored_trace(trace))
    if found.result is None:
        raise TraceError(f"{found.trace_id} is {found.outcome}: there is no answer to go on from")
    context = as_context(_conversation(found), _CONTEXT_LIMIT, given)
    source = searched_sources(found)
    # Of an investigation, only names of the form `corpus:NAME` are certain to be sources, and no servers of a team.
    if found.raw[0].get("team") and not all(":" in each for each in (source or "").split(",")):
        source = None
    return FollowUp(found.trace_id, context, source, str(found.raw[0].get("question") or ""))


def searched_sources(trace: Trace) -> str | None:
    """Return the sources that a call searched, in the settings' spelling; None where its trace names none.

    A server of a team may have the name of a source, such as `web`.
    """
    from marchwarden.settings import sources_of

    try:
        return ",".join(sources_of(str(trace.raw[0].get("source") or "")))
    except ValueError:
        return None


def _conversation(trace: Trace) -> list[Turn]:
    """Return the turns up to a call, the oldest first, each question with the words that it left out."""
    from marchwarden.errors import TraceError
    from marchwarden.evidence.question import standalone
    from marchwarden.text.turns import NOTHING_FOUND, turn_of
    from marchwarden.trace.reader import read_trace

    turns: list[Turn] = []
    at: Trace | None = trace
    while at is not None and len(turns) < _MOST_TURNS:
        first = at.raw[0]
        question, context, before = (
            value if isinstance(value := first.get(name), str) else ""
            for name in ("question", "context", "continues")
        )
        if at.result is not None and question:
            asked = standalone(question, context) if before else question
            turns.insert(0, turn_of(asked, at.result.answer if at.result.citations else NOTHING_FOUND))
        try:
            earlier = trace.path.parent / f"{Path(before).name}.jsonl"
            at = read_trace(earlier) if before else None
        except TraceError:  # removed meanwhile
            at = None
    return turns
