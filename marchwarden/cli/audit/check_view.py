"""The state of citations, as rich renderables. Pure. It takes checks as they are kept, too: unchecked JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line
from marchwarden.cli.views.tables import Lines
from marchwarden.store.check_record import STATE_WORDS

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.audit.citation_check import TraceCheck

    View: TypeAlias = Iterable[RenderableType]

# Characters of a sentence: `--json` has the rest. A guess.
_SENTENCE_CHARS = 400

_COLORS = {
    "same": "green",
    "elsewhere": "green",
    "moved": "yellow",
    "changed": "red",
    "gone": "red",
    "closed": "yellow",
    "unreachable": "yellow",
}


def check_view(check: TraceCheck) -> View:
    """Show every citation of a trace with its state."""
    yield Text.assemble(
        ("Check ", "bold"), f"of {one_line(check.trace_id)}: ", one_line(check.question, _SENTENCE_CHARS)
    )
    yield from _citations(check.record()["citations"], brief=False)
    yield Text(f"\n{_summary(check.record()['citations'])}\n", style="bold")


def kept_check_view(kept: dict[str, Any]) -> View:
    """Show a check that was kept beside its trace: a line for all of it, and each citation that needs a look."""
    yield Text(f"\nChecked {one_line(str(kept['checked']))}: {_summary(kept['citations'])}", style="bold")
    yield from _citations(kept["citations"], brief=True)


def summary_view(checks: Sequence[TraceCheck]) -> View:
    """Show the counts over several traces."""
    every = [each for check in checks for each in check.record()["citations"]]
    yield Text(f"{count(len(checks), 'call')}: {_summary(every)}", style="bold")


def _summary(citations: Sequence[Any]) -> str:
    states = Counter(str(each.get("state")) for each in citations if isinstance(each, dict))
    told = [f"{states[state]} {words}" for state, words in STATE_WORDS.items() if states[state]]
    notices = sum(bool(each.get("notices")) for each in citations if isinstance(each, dict))
    return f"{count(len(citations), 'citation')}: {', '.join(told)}" + (
        f"; {notices} with corrections or other news" if notices else ""
    )


def _citations(citations: Sequence[Any], *, brief: bool) -> View:
    for each in citations:
        if not isinstance(each, dict):
            continue
        state = str(each.get("state"))
        if brief and state == "same" and not each.get("notices"):
            continue
        words, style = STATE_WORDS.get(state, one_line(state)), _COLORS.get(state, "yellow")
        detail = f": {one_line(str(each['detail']), _SENTENCE_CHARS)}" if each.get("detail") else ""
        head = f"[{each.get('number')}] {one_line(str(each.get('locator')))}"
        yield Text.assemble(head, "\n    ", (f"{words}{detail}", style))
        lines = [
            (label, each.get(name))
            for label, name in (("then", "old_sentence"), ("now", "new_sentence"), ("at", "new_locator"))
        ]
        if each.get("old_sentence") and not each.get("new_sentence"):
            lines.append(("now", "no similar sentence"))
        lines += [
            ("news", f"{notice.get('detail')} {notice.get('url') or ''}")
            for notice in each.get("notices") or ()
            if isinstance(notice, dict)
        ]
        for label, value in lines:
            if value:
                yield Lines(Text(f"{label}: {one_line(str(value), _SENTENCE_CHARS)}", style="dim"), 4)
