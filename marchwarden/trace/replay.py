"""A trace as a timeline that a person can read: what was done, when, and why. Pure: prints nothing, opens nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from typing_extensions import assert_never

from marchwarden.contract import confidence_band
from marchwarden.trace import events
from marchwarden.trace.events import Event, parse_event
from marchwarden.trace.reader import Trace, instant


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
    """Every step of a trace; one of an action that this version does not know is shown by its name."""
    return [_entry(line, trace) for line in trace.raw]


def describe(event: Event) -> str:
    """What happened, on one line."""
    match event:
        case events.Started():
            return f'asked "{_one_line(event.question)}" ({event.depth.value}, {event.model_id}, {event.source})'
        case events.Planned():
            return _plan_line(event)
        case events.Searched():
            return f'searched "{_one_line(event.query)}": {_found(event)}'
        case events.Fetched():
            return f"read {event.final_url}: {_page_state(event)}"
        case events.Extracted():
            return f"picked {_count(len(event.picks), 'excerpt')} from {event.url}"
        case events.ModelCalled():
            return _model_line(event)
        case events.FellBack():
            return f"{event.stage} went on without the model: {_one_line(event.reason)}"
        case events.Dropped():
            return f'dropped a {event.what.replace("_", " ")}: "{_one_line(event.text)}"'
        case events.Stopped():
            return f"stopped after {_count(event.iterations_run, 'iteration')}: {_STOPS[event.reason]}"
        case events.Synthesized():
            return f"wrote {_count(event.claims, 'claim')}, dropped {event.dropped}{_form(event.stage_form)}"
        case events.Assessed():
            return _assessment_line(event)
        case events.WasCancelled():
            return "cancelled by the caller"
        case events.WasKilled():
            return f"stopped from outside: {_KILLS[event.reason]}"
        case events.Failed():
            return f"failed: {event.error}"
        case events.Finished():
            return _result_line(event)
        case _:
            assert_never(event)


def details_of(event: Event) -> tuple[tuple[str, str], ...]:
    """What else there is to know of an event, as (label, value)."""
    match event:
        case events.Started():
            limits = (f"{name} {value}" for name, value in event.constraints if value is not None)
            given = (("context", _one_line(event.context)),) if event.context else ()
            return (*given, ("limits", f"{', '.join(limits)}, {event.max_seconds:g} s"), *_program(event))
        case events.Planned():
            return (*_each("aspect", event.aspects), *_each("query", event.queries), *_each("read", event.read))
        case events.Searched():
            return _each("hit", [f"{_one_line(hit.title)} {hit.url}" for hit in event.hits])
        case events.Fetched():
            return _page_details(event)
        case events.Extracted():
            return _each("excerpt", [f"{_one_line(pick.excerpt)} ({pick.stance})" for pick in event.picks])
        case events.Assessed():
            gaps = [f"{gap.category.value}: {_one_line(gap.topic)}" for gap in event.gaps]
            leads = [f"{lead.type.value}: {_one_line(lead.query)}" for lead in event.discovery_events]
            asks = [_one_line(ask.question) for ask in event.open_questions]
            return (*_each("gap", gaps), *_each("discovery", leads), *_each("open question", asks))
        case _:
            return ()


_STOPS = {
    "covered": "every aspect is covered",
    "no_new_leads": "no new leads",
    "tokens": "the token budget is used up",
    "iterations": "no iterations are left",
    "sources": "no sources are left",
    "seconds": "the time is up",
}
_KILLS = {
    "seconds": "it did not stop in time",
    "tokens": "it used more tokens than it was given",
    "crash": "its process died",
}


def _entry(line: dict[str, Any], trace: Trace) -> Entry:
    time, start = instant(line.get("timestamp")), trace.started
    offset = (time - start).total_seconds() if time and start else 0.0
    head = (_number(line.get("step")), max(0.0, offset), str(line.get("action", "?")))
    decision = str(line.get("decision", ""))
    try:
        event = parse_event(line)
    except ValidationError:
        return Entry(*head, "(a step that this version does not know)", decision)
    return Entry(*head, describe(event), decision, details_of(event))


def _plan_line(event: events.Planned) -> str:
    if event.done:
        return f"planned turn {event.iteration}: nothing more to do{_form(event.stage_form)}"
    parts = [_count(len(event.queries), "search", "searches"), f"{_count(len(event.read), 'page')} to read"]
    return f"planned turn {event.iteration}: {', '.join(parts)}{_form(event.stage_form)}"


def _found(event: events.Searched) -> str:
    if event.failure:
        return f"{event.failure.kind}, {_one_line(event.failure.detail)}"
    return f"{_count(len(event.hits), 'hit')} from {event.provider} in {event.duration_sec:.1f} s"


def _page_state(event: events.Fetched) -> str:
    status = "no answer" if event.status is None else str(event.status)
    if event.failure:
        return f"{status}, {event.failure.kind}, {_one_line(event.failure.detail)}"
    size = f", {event.content_length:,} bytes" if event.content_length is not None else ""
    return f"{status}{size} in {event.duration_sec:.1f} s"


def _page_details(event: events.Fetched) -> tuple[tuple[str, str], ...]:
    known = {
        "title": _one_line(event.title or ""),
        "asked": event.url if event.url != event.final_url else "",
        "cited as": event.locator if event.locator and event.locator != event.final_url else "",
        "type": event.content_type or "",
        "hash": event.content_hash or "",
        "published": event.published.isoformat() if event.published else "",
    }
    return (*((label, value) for label, value in known.items() if value), *_each("redirect", event.redirects))


def _model_line(event: events.ModelCalled) -> str:
    cached = f" ({event.cached_tokens} cached)" if event.cached_tokens else ""
    cost = f"{event.input_tokens}{cached} + {event.output_tokens} tokens in {event.duration_sec:.1f} s"
    failure = f", {_one_line(event.error)}" if event.error else ""
    return f"{event.stage} asked {event.model_id}: {cost}, {event.tokens_used} so far{failure}"


def _assessment_line(event: events.Assessed) -> str:
    parts = (
        _count(len(event.gaps), "gap"),
        _count(len(event.discovery_events), "discovery", "discoveries"),
        _count(len(event.open_questions), "open question"),
    )
    return f"assessed: {', '.join(parts)}, confidence {event.confidence:.2f}"


def _result_line(event: events.Finished) -> str:
    result = event.result
    confidence = f"confidence {result.confidence:.2f} ({confidence_band(result.confidence)})"
    cost = f"{result.cost_metadata.tokens_used} tokens, {result.cost_metadata.wall_time_sec:.1f} s"
    return f"answered with {_count(len(result.citations), 'citation')}, {confidence}, {cost}"


def _program(event: events.Started) -> tuple[tuple[str, str], ...]:
    return (("program", event.program or "uncompiled"), ("version", event.version))


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
