"""The differences between a recorded result and a re-run's, as rich renderables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.cli.views.tables import Lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.agent.rerun_call import Rerun
    from marchwarden.trace.differences import Difference, FirstStep

    View: TypeAlias = Iterable[RenderableType]

# Characters of a value in a line: `--json` has the rest. A guess.
_VALUE_CHARS = 300


def rerun_view(trace_id: str, ran: Rerun, exchanged: Sequence[str]) -> View:
    """Show the verdict, every difference, and what was missing."""
    what = f"of {trace_id} with {', '.join(exchanged)}" if exchanged else f"of {trace_id}"
    yield Text.assemble(("Re-run ", "bold"), one_line(what), end="\n\n")
    if ran.recorded is None:
        yield Text("The recorded call has no result to compare with. The answer now:\n", style="yellow")
        yield Lines(Text(visible(ran.result.answer)), 2)
    elif ran.is_same:
        yield Text("The same result: all but ids and times is identical.", style="green")
    else:
        yield Text(f"Another result: {count(len(ran.differences), 'difference')}.\n", style="yellow")
        yield from differences_view(ran.differences)
        if ran.first:
            yield Text(_first(ran.first), style="dim")
    for title, sentences in (("Missing", ran.lacks), ("Note", ran.notes)):
        for sentence in sentences:
            yield Text(f"{title}: {one_line(sentence)}", style="yellow")
    if ran.kept:
        yield Text(f"\nKept as a trace: marchwarden replay {ran.result.trace_id[:8]}", style="dim")


def differences_view(found: Sequence[Difference]) -> Iterator[RenderableType]:
    """Show differences of two results, under the part of the result in which they are."""
    heading = None
    for each in found:
        field = each.field.partition(".")[0].partition("[")[0]
        if field != heading:
            heading = field
            yield Text(word(field).capitalize(), style="bold")
        lines = Text()
        if each.change == "order":
            lines.append("the same, in another order")
        else:
            label = "" if each.field == field else f"{each.field.removeprefix(field)} "
            then, now = (_value(value, field) for value in (each.then, each.now))
            if each.change != "added":
                lines.append(f"- {label}{then}", style="red")
            if each.change == "changed":
                lines.append("\n")
            if each.change != "removed":
                lines.append(f"+ {label}{now}", style="green")
        yield Lines(lines, 2)


def _value(value: Any, field: str) -> str:
    """Return a value, or the parts of it by which a person knows it, on one line."""
    if isinstance(value, Mapping):
        shown = {
            "citations": ("locator", "raw_excerpt"),
            "gaps": ("category", "topic", "detail"),
            "discovery_events": ("type", "suggested_researcher", "query"),
            "open_questions": ("question",),
        }.get(field, tuple(value))
        return one_line(" · ".join(str(value[name]) for name in shown if value.get(name)), _VALUE_CHARS)
    return one_line(str(value), None if field == "answer" else _VALUE_CHARS)


def _first(first: FirstStep) -> str:
    """Return where the calls went apart, in a line."""
    if first.then is None:
        return f"\nThe calls go apart at the end of the recorded one: {_action(first.now)} comes after it."
    now = "nothing" if first.now is None else _action(first.now)
    return f"\nThe calls go apart at step {first.step}: {_action(first.then)} then, {now} now."


def _action(line: Mapping[str, Any] | None) -> str:
    told = line or {}
    about = next((told[name] for name in ("query", "url", "what", "reason") if isinstance(told.get(name), str)), "")
    return one_line(f"{word(told.get('action', '?'))} {about}".strip(), _VALUE_CHARS)
