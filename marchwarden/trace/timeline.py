"""A trace as a timeline that a person can read: what was done, when, and why. Pure: prints nothing, opens nothing.

Reads the lines as they stand in the file, not as models: building the models takes longer than a whole `replay` may.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from marchwarden.observations import is_file
from marchwarden.trace.json_view import JsonView
from marchwarden.trace.reader import Trace, instant

if TYPE_CHECKING:
    from marchwarden.trace.events import Event


@dataclass(frozen=True)
class Entry:
    """One step of a timeline."""

    step: int
    offset: float
    """Seconds since the first step."""
    kind: str
    """The event's action."""
    line: str
    """What happened, on one line."""
    decision: str
    """Why."""
    details: tuple[tuple[str, str], ...] = ()
    """(label, value), in the order to show them; a label can come more than once."""


def timeline(trace: Trace) -> list[Entry]:
    """Every step of a trace; one that this version does not know is shown by its name."""
    return [_entry(line, trace.started) for line in trace.raw]


def describe(event: Event) -> str:
    """What happened, on one line."""
    return _LINES[event.action](JsonView.of(event.model_dump(mode="json")))


def details_of(event: Event) -> tuple[tuple[str, str], ...]:
    """What else there is to know of an event, as (label, value)."""
    return _details(JsonView.of(event.model_dump(mode="json")))


_STOPS = {
    "covered": "every aspect is covered",
    "no_new_leads": "no new leads",
    "iterations": "no iterations are left",
    "sources": "no sources are left",
    "seconds": "the time is up",
}
_KILLS = {
    "seconds": "it did not stop in time",
    "tokens": "it used more tokens than it was given",
}


def _entry(line: dict[str, Any], start: datetime | None) -> Entry:
    time = instant(line.get("timestamp"))
    offset = (time - start).total_seconds() if time and start else 0.0
    head = (_number(line.get("step")), max(0.0, offset), str(line.get("action", "?")))
    decision = str(line.get("decision", ""))
    try:
        event = JsonView.of(line)
        return Entry(*head, _LINES[event.action](event), decision, _details(event))
    except (AttributeError, KeyError, TypeError, ValueError):
        return Entry(*head, "(a step that this version does not know)", decision)


def _details(event: JsonView) -> tuple[tuple[str, str], ...]:
    return _DETAILS[event.action](event) if event.action in _DETAILS else ()


def _start_line(event: JsonView) -> str:
    return f'asked "{_one_line(event.question)}" ({event.depth}, {event.model_id}, {event.source})'


def _start_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    told = JsonView(**{**_NO_PROGRAM, **vars(event)})
    given = {"context": _one_line(event.context or ""), "limits": _limits(event), "program": _program(told)}
    notes = _each("note", told.program_notes)
    return (*((label, value) for label, value in given.items() if value), *notes, ("version", event.version))


# What traces say that are older than programs.
_NO_PROGRAM: dict[str, Any] = {"program": None, "compiled": [], "program_of": None, "program_notes": []}


def _program(event: JsonView) -> str:
    compiled = f", compiled {', '.join(event.compiled)}" if event.compiled else ""
    of = f" for {event.program_of}" if event.program_of else ""
    return f"{event.program}{compiled}{of}" if event.program else ""


def _limits(event: JsonView) -> str:
    limits = (f"{name} {value}" for name, value in vars(event.constraints).items() if value is not None)
    return f"{', '.join(limits)}, max_seconds {event.max_seconds:g}"


def _plan_line(event: JsonView) -> str:
    if event.done:
        return f"planned turn {event.iteration}: nothing more to do{_form(event.stage_form)}"
    parts = [_count(len(event.queries), "search", "searches"), f"{_count(len(event.read), 'page')} to read"]
    return f"planned turn {event.iteration}: {', '.join(parts)}{_form(event.stage_form)}"


def _plan_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    return (*_each("aspect", event.aspects), *_each("query", event.queries), *_each("read", event.read))


def _search_line(event: JsonView) -> str:
    return f'searched "{_one_line(event.query)}": {_found(event)}'


def _search_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    return _each("hit", [f"{_one_line(hit.title)} {hit.url}" for hit in event.hits])


def _found(event: JsonView) -> str:
    if event.failure:
        return f"{event.failure.kind}, {_one_line(event.failure.detail)}"
    return f"{_count(len(event.hits), 'hit')} from {event.provider} in {event.duration_sec:.1f} s"


def _page_line(event: JsonView) -> str:
    return f"read {event.final_url}: {_page_state(event)}"


def _page_state(event: JsonView) -> str:
    of_a_file = event.status is None and is_file(event.final_url)
    status = "file" if of_a_file else "no answer" if event.status is None else str(event.status)
    if event.failure:
        return f"{status}, {event.failure.kind}, {_one_line(event.failure.detail)}"
    size = f", {event.content_length:,} bytes" if event.content_length is not None else ""
    return f"{status}{size} in {event.duration_sec:.1f} s"


def _page_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    known = {
        "title": _one_line(event.title or ""),
        "asked": event.url if event.url != event.final_url else "",
        "type": event.content_type or "",
        "hash": event.content_hash or "",
        "published": str(event.published or ""),
    }
    return (*((label, value) for label, value in known.items() if value), *_each("redirect", event.redirects))


def _extract_line(event: JsonView) -> str:
    return f"picked {_count(len(event.picks), 'excerpt')} from {event.url}{_form(event.stage_form)}"


def _extract_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    return _each("excerpt", [f"{_one_line(pick.excerpt)} ({pick.stance})" for pick in event.picks])


def _model_line(event: JsonView) -> str:
    cached = f" ({event.cached_tokens} cached)" if event.cached_tokens else ""
    cost = f"{event.input_tokens}{cached} + {event.output_tokens} tokens in {event.duration_sec:.1f} s"
    failure = f", {_one_line(event.error)}" if event.error else ""
    return f"{event.stage} asked {event.model_id}: {cost}, {event.tokens_used} so far{failure}"


def _fallback_line(event: JsonView) -> str:
    return f"{event.stage} went on without the model: {_one_line(event.reason)}"


def _drop_line(event: JsonView) -> str:
    article = "an" if event.what[0] in "aeio" else "a"
    return f'dropped {article} {event.what.replace("_", " ")}: "{_one_line(event.text)}"'


def _stop_line(event: JsonView) -> str:
    return f"stopped after {_count(event.iterations_run, 'iteration')}: {_STOPS.get(event.reason, event.reason)}"


def _synthesis_line(event: JsonView) -> str:
    return f"wrote {_count(event.claims, 'claim')}, dropped {event.dropped}{_form(event.stage_form)}"


def _assessment_line(event: JsonView) -> str:
    parts = (
        _count(len(event.gaps), "gap"),
        _count(len(event.discovery_events), "discovery", "discoveries"),
        _count(len(event.open_questions), "open question"),
    )
    before = "" if event.uncalibrated is None else f" (uncalibrated {event.uncalibrated:.2f})"
    return f"assessed: {', '.join(parts)}, confidence {event.confidence:.2f}{before}"


def _assessment_details(event: JsonView) -> tuple[tuple[str, str], ...]:
    gaps = [f"{gap.category}: {_one_line(gap.topic)}" for gap in event.gaps]
    leads = [f"{lead.type}: {_one_line(lead.query)}" for lead in event.discovery_events]
    asks = [_one_line(ask.question) for ask in event.open_questions]
    return (*_each("gap", gaps), *_each("discovery", leads), *_each("open question", asks))


def _cancelled_line(event: JsonView) -> str:
    return "cancelled by the caller"


def _killed_line(event: JsonView) -> str:
    return f"stopped from outside: {_KILLS.get(event.reason, event.reason)}"


def _failed_line(event: JsonView) -> str:
    return f"failed: {event.error}"


def _result_line(event: JsonView) -> str:
    result, cost = event.result, event.result.cost_metadata
    cited = _count(len(result.citations), "citation")
    spent = f"{cost.tokens_used} tokens, {cost.wall_time_sec:.1f} s"
    return f"answered with {cited}, confidence {result.confidence:.2f}, {spent}"


def _each(label: str, values: list[str]) -> tuple[tuple[str, str], ...]:
    return tuple((label, value) for value in values)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _form(stage_form: str) -> str:
    return "" if stage_form == "model" else " (without a model)"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


_LINES: dict[str, Callable[[JsonView], str]] = {
    "start": _start_line,
    "plan": _plan_line,
    "search": _search_line,
    "fetch_url": _page_line,
    "extract": _extract_line,
    "model_call": _model_line,
    "fallback": _fallback_line,
    "drop": _drop_line,
    "stop": _stop_line,
    "synthesize": _synthesis_line,
    "assess": _assessment_line,
    "cancelled": _cancelled_line,
    "killed": _killed_line,
    "failed": _failed_line,
    "result": _result_line,
}
_DETAILS: dict[str, Callable[[JsonView], tuple[tuple[str, str], ...]]] = {
    "start": _start_details,
    "plan": _plan_details,
    "search": _search_details,
    "fetch_url": _page_details,
    "extract": _extract_details,
    "assess": _assessment_details,
}
