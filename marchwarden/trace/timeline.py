"""A trace as a timeline for people: each step with its time and its reason. Pure: prints nothing, opens nothing.

It reads the lines as they stand in the file, not as models: building the models takes longer than a whole `replay`
may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marchwarden.observations import is_database, is_file
from marchwarden.trace.json_view import JsonView
from marchwarden.trace.reader import Trace, instant


@dataclass(frozen=True)
class Entry:
    """One step of a timeline."""

    step: int
    offset: float
    """Seconds since the first step."""
    kind: str
    """Action of the event."""
    line: str
    """Description of the event, on one line."""
    decision: str
    """Reason for the event, in a sentence."""
    details: tuple[tuple[str, str], ...] = ()
    """Pairs of (label, value), in the order to show them; a label can come more than once."""


def timeline(trace: Trace) -> list[Entry]:
    """Return every step of a trace; one that this version does not know has only its name and time."""
    entries = []
    for line in trace.raw:
        time, step = instant(line.get("timestamp")), line.get("step")
        offset = (time - trace.started).total_seconds() if time and trace.started else 0.0
        head = (step if isinstance(step, int) else 0, max(0.0, offset), str(line.get("action", "?")))
        decision = str(line.get("decision", ""))
        # A line of an unknown action, or without an expected field, may be of another version.
        try:
            event = JsonView.of(line)
            entries.append(Entry(*head, _describe(event), decision, _details(event)))
        except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError):
            entries.append(Entry(*head, "(a step that this version does not know)", decision))
    return entries


# Words for the reasons of `stop` and `killed`. A reason that is not here, of a newer version, is shown as it stands.
_STOPS = {
    "covered": "every sub-question is covered",
    "no_new_leads": "there are no new candidate pages",
    "iterations": "no iterations are left",
    "sources": "no sources are left",
    "seconds": "the time is up",
    "tokens": "the token budget is used up",
    "low_utility": "no next step is worth its cost",
    "interrupted": "it was interrupted",
}
_KILLS = {
    "seconds": "it did not stop in time",
    "tokens": "it used more tokens than its budget",
    "stopped": "the server was stopped by its operator",
}


def _describe(event: JsonView) -> str:
    """Return the description of an event, on one line. Raises KeyError for an unknown action."""
    match event.action:
        case "start":
            return f'asked "{_one_line(event.question)}" ({event.depth}, {event.model_id}, {event.source})'
        case "dispatch":
            asked = f'asked {event.researcher} (rihla {event.rihla}): "{_one_line(event.question)}"'
            return f"{asked} ({event.origin.replace('_', ' ')}, {event.tokens} tokens)"
        case "return":
            found = f"{_count(event.citations, 'citation')}, {_count(event.gaps, 'gap')}"
            spent = f"{event.charged_tokens} tokens in {event.duration_sec:.1f} s"
            return f"{event.researcher} answered (rihla {event.rihla}): {found}, {spent}, trace {event.trace_id}"
        case "keep_trace":
            return f"kept the trace of {event.researcher} (rihla {event.rihla}): {event.trace_id}"
        case "lost":
            return f"no result from {event.researcher} (rihla {event.rihla}): {event.charged_tokens} tokens charged"
        case "skip":
            return f'did not ask {event.researcher or "anybody"}: "{_one_line(event.question)}" ({event.origin})'
        case "resume":
            return f"resumed: {_count(len(event.finished), 'question')} finished, {len(event.in_flight)} asked again"
        case "plan" if event.done:
            return f"planned turn {event.iteration}: nothing more to do{_form(event.stage_form)}"
        case "plan":
            searches, pages = _count(len(event.queries), "search", "searches"), _count(len(event.read), "page")
            return f"planned turn {event.iteration}: {searches}, {pages} to read{_form(event.stage_form)}"
        case "search" if event.failure:
            return f'searched "{_one_line(event.query)}": {event.failure.kind}, {_one_line(event.failure.detail)}'
        case "search":
            hits = f"{_count(len(event.hits), 'hit')} from {event.provider} in {event.duration_sec:.1f} s"
            missing = "; incomplete" if getattr(event, "incomplete", None) else ""
            return f'searched "{_one_line(event.query)}": {hits}{missing}'
        case "fetch_url":
            kind = "file" if is_file(event.final_url) else "database" if is_database(event.final_url) else "no answer"
            status = kind if event.status is None else str(event.status)
            if event.failure:
                failure = f"{event.failure.kind}, {_one_line(event.failure.detail)}"
                return f"read {event.final_url}: {status}, {failure}"
            size = f", {event.content_length:,} bytes" if event.content_length is not None else ""
            return f"read {event.final_url}: {status}{size} in {event.duration_sec:.1f} s"
        case "extract":
            return f"picked {_count(len(event.picks), 'excerpt')} from {event.url}{_form(event.stage_form)}"
        case "model_call":
            cached = f" ({event.cached_tokens} cached)" if event.cached_tokens else ""
            cost = f"{event.input_tokens}{cached} + {event.output_tokens} tokens in {event.duration_sec:.1f} s"
            error = f", {_one_line(event.error)}" if event.error else ""
            return f"{event.stage} asked {event.model_id}: {cost}, {event.tokens_used} so far{error}"
        case "fallback":
            return f"{event.stage} went on without the model: {_one_line(event.reason)}"
        case "drop":
            what = "sub-question" if event.what == "aspect" else event.what.replace("_", " ")
            article = "an" if what[0] in "aeio" else "a"
            return f'dropped {article} {what}: "{_one_line(event.text)}"'
        case "stop":
            turns = _count(event.iterations_run, "iteration")
            return f"stopped after {turns}: {_STOPS.get(event.reason, event.reason)}"
        case "synthesize":
            return f"wrote {_count(event.claims, 'claim')}, dropped {event.dropped}{_form(event.stage_form)}"
        case "assess":
            gaps = _count(len(event.gaps), "gap")
            discoveries = _count(len(event.discovery_events), "discovery", "discoveries")
            questions = _count(len(event.open_questions), "open question")
            before = "" if event.uncalibrated is None else f" (uncalibrated {event.uncalibrated:.2f})"
            return f"assessed: {gaps}, {discoveries}, {questions}, confidence {event.confidence:.2f}{before}"
        case "conclude":
            evidence = _count(len(event.state.ledger.excerpts), "excerpt")
            return f"concluded: {_count(len(event.claims), 'claim')} from {evidence}, as of {event.day}"
        case "cancelled":
            return "ended by the operator of the server" if event.by == "operator" else "cancelled by the caller"
        case "killed":
            return f"stopped from outside: {_KILLS.get(event.reason, event.reason)}"
        case "failed":
            return f"failed: {event.error}"
        case "result":
            result, cost = event.result, event.result.cost_metadata
            cited = _count(len(result.citations), "citation")
            spent = f"{cost.tokens_used} tokens, {cost.wall_time_sec:.1f} s"
            return f"answered with {cited}, confidence {result.confidence:.2f}, {spent}"
        case unknown:
            raise KeyError(unknown)


def _details(event: JsonView) -> tuple[tuple[str, str], ...]:
    """Return the details of an event that its description leaves out, as (label, value)."""
    match event.action:
        case "start":
            # Traces of versions without programs have none of these fields.
            none: dict[str, Any] = {"program": None, "compiled": [], "program_of": None, "program_notes": []}
            told = JsonView(**{**none, **vars(event)})
            limits = [f"{name} {value}" for name, value in vars(event.constraints).items() if value is not None]
            compiled = f", compiled {', '.join(told.compiled)}" if told.compiled else ""
            of = f" for {told.program_of}" if told.program_of else ""
            known = {
                "context": _one_line(event.context or ""),
                "limits": f"{', '.join(limits)}, max_seconds {event.max_seconds:g}",
                "program": f"{told.program}{compiled}{of}" if told.program else "",
            }
            return (*_known(known), *_each("note", told.program_notes), ("version", str(event.version)))
        case "plan":
            return (*_each("sub-question", event.aspects), *_each("query", event.queries), *_each("read", event.read))
        case "resume":
            # Traces of earlier versions have neither.
            told = JsonView(**{"token_budget": None, "max_seconds": None, **vars(event)})
            if told.token_budget is None:
                return ()
            return (("limits", f"token_budget {told.token_budget}, max_seconds {told.max_seconds:g}"),)
        case "dispatch":
            return tuple(_known({"context": _one_line(event.context or ""), "call": event.call_id}))
        case "search":
            return _each("hit", [f"{_one_line(hit.title)} {hit.url}" for hit in event.hits])
        case "fetch_url":
            known = {
                "title": _one_line(event.title or ""),
                "asked": event.url if event.url != event.final_url else "",
                "type": event.content_type or "",
                "hash": event.content_hash or "",
                "published": str(event.published or ""),
            }
            return (*_known(known), *_each("redirect", event.redirects))
        case "extract":
            return _each("excerpt", [f"{_one_line(pick.excerpt)} ({pick.stance})" for pick in event.picks])
        case "assess":
            gaps = [f"{gap.category}: {_one_line(gap.topic)}" for gap in event.gaps]
            leads = [f"{lead.type}: {_one_line(lead.query)}" for lead in event.discovery_events]
            asks = [_one_line(ask.question) for ask in event.open_questions]
            return (*_each("gap", gaps), *_each("discovery", leads), *_each("open question", asks))
        case _:
            return ()


def _known(values: dict[str, str]) -> list[tuple[str, str]]:
    return [(label, str(value)) for label, value in values.items() if value]


def _each(label: str, values: list[str]) -> tuple[tuple[str, str], ...]:
    # A damaged trace may hold anything for a text.
    return tuple((label, str(value)) for value in values)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _form(stage_form: str) -> str:
    return "" if stage_form == "model" else " (without a model)"


def _one_line(text: str) -> str:
    return " ".join(text.split())
