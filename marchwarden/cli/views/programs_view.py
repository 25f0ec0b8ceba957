"""Programs as rich renderables: a list of them, and one in full. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible, word
from marchwarden.cli.views.tables import INTERVAL, Figures, Indented
from marchwarden.programs import PARAMETERS
from marchwarden.programs.parameters import DEFAULT

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.programs import CompiledStage, FigureRecord, Listed, Note, StageRecord

    View: TypeAlias = Iterable[RenderableType]

_STATES = {"in force": "", "in force in part": "", "stale": "yellow", "shadowed by own": "dim"}
_LINES = {"+": "green", "-": "red", "@": "cyan"}


@dataclass(frozen=True)
class Shown:
    """A program, with all of its stages that can be read, stale or not."""

    listed: Listed
    stages: Mapping[str, CompiledStage]
    uncompiled: Mapping[str, str]
    """Instructions of the stages as they are where nothing is compiled."""

    def difference(self, name: str) -> list[str]:
        """Return a unified diff of a stage's instructions against the uncompiled ones, without the names of files."""
        before, after = self.uncompiled.get(name, ""), self.stages[name].instructions
        # The first two lines of a unified diff name files.
        return list(unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm=""))[2:]


def programs_view(found: Sequence[Listed]) -> View:
    """Show a row for each program, the scores of its stages, and notes on parts that are not used."""
    head = ("program of", "where", "compiled", "calibrated", "date", "state")
    rows = []
    for each in found:
        info, fitted = each.program.info, each.program.calibration
        compiled = f"{len(each.program.in_force)} of {len(info.stages)}" if info else "–"
        date = info.date if info else fitted.date if fitted else "–"
        calibrated = "yes" if fitted else "no"
        rows.append((one_line(each.model_id), each.where, compiled, calibrated, one_line(date), each.state))
    yield Figures(head, rows, spare=("calibrated", "date"), styles=[_STATES[each.state] for each in found])
    for each in found:
        if each.program.info and (stages := each.program.info.stages):
            yield Text(f"{visible(each.model_id)}, {each.where}: scores on dev", style="bold")
            scores = [
                (word(name), _uncompiled(stage), number(stage.compiled), _between(stage.difference), stage.verdict)
                for name, stage in stages.items()
            ]
            yield Figures(
                ("stage", "uncompiled", "compiled", f"{INTERVAL} of the difference", ""),
                scores,
                styles=["" if stage.kept else "dim" for stage in stages.values()],
            )
        yield from _notes(each.program.notes)


def _notes(notes: Iterable[Note]) -> View:
    for note in notes:
        advice = f"\n→ {visible(note.fix)}" if note.fix else ""
        yield Text.assemble((visible(note.said), "yellow"), (advice, "dim"), "\n")


# One in full


def program_view(shown: Shown, names: Sequence[str]) -> View:
    """Show one program in full: its origin, its scores, then each of the named stages."""
    listed, program, info = shown.listed, shown.listed.program, shown.listed.program.info
    yield Text.assemble(
        (one_line(listed.model_id), "bold"), f": {listed.state}, {visible(str(program.folder))}", overflow="fold"
    )
    yield from _notes(program.notes)
    if info:
        reflection = f", with {info.reflection_model} to reflect" if info.reflection_model else ""
        dollars = "" if info.cost.dollars is None else f", ${info.cost.dollars:.2f}"
        took = _took(info.cost.calls, info.cost.tokens, info.cost.seconds)
        lines = (
            f"Compiled {info.date} by Marchwarden {info.version} with DSPy {info.dspy}{reflection}",
            f"The last compile took {took}{dollars}",
            f"seed {info.seed}, reading by {info.reads_by}, labels {info.labels}, pages {info.pages}",
        )
        yield Text(visible("\n".join(lines)))
        if info.whole:
            yield Text(f"\n{count(info.whole.questions, 'question')} of {visible(info.whole.split)}", style="bold")
            yield figures_table(info.whole.figures)
    if program.calibration:
        yield Text(f"Confidence is {visible(program.calibration.described)}.\n")
    for name in names:
        assert info is not None  # names are of its stages
        yield from _stage(name, info.stages[name])
        if name in shown.stages:
            yield from _compiled(shown.stages[name], shown.difference(name))
        if name == PARAMETERS and program.parameters:
            changes = DEFAULT.changes(program.parameters)
            yield Figures(
                ("parameter", "was", "is"), [(key, f"{was:g}", f"{now:g}") for key, (was, now) in changes.items()]
            )


def _took(calls: int, tokens: int, seconds: float) -> str:
    return f"{count(calls, 'model call')}, {count(tokens, 'token')}, {seconds:,.0f} s"


def figures_table(figures: Mapping[str, FigureRecord]) -> Figures:
    rows = [
        (
            word(name),
            number(each.uncompiled),
            number(each.compiled),
            _between(None if each.low is None or each.high is None else (each.low, each.high)),
        )
        for name, each in figures.items()
    ]
    return Figures(("metric", "uncompiled", "compiled", f"{INTERVAL} of the difference"), rows)


def _stage(name: str, record: StageRecord) -> View:
    yield Text(f"\n{word(name)}: {record.verdict}. {visible(record.reason)}", style="bold")
    yield Text(
        f"{_uncompiled(record)} → {number(record.compiled)} on {count(record.dev_examples, 'dev example')}, "
        f"difference {_between(record.difference)} (95 %), without the model {number(record.model_free)}"
    )
    if record.valid_uncompiled is not None:
        yield Text(f"valid output {number(record.valid_uncompiled)} → {number(record.valid_compiled)}")
    yield Text(
        f"{visible(record.optimizer)}, seed {record.seed}: {_took(record.calls, record.tokens, record.seconds)}\n",
        style="dim",
    )


def _uncompiled(record: StageRecord) -> str:
    return number(record.uncompiled if record.dev_examples else None)


def _compiled(stage: CompiledStage, changed: Sequence[str]) -> View:
    if stage.form == "model_free":
        yield Text("It has no prompt: the model-free form takes its place.")
        return
    yield Text("Instructions", style="bold")
    yield Indented(Text(visible(stage.instructions)))
    yield Text("What changed in them" if changed else "They are as they were uncompiled.", style="bold")
    for line in changed:
        yield Indented(Text(visible(line), style=_LINES.get(line[:1], "")))
    for place, demo in enumerate(stage.demos, start=1):
        yield Text(f"Demonstration {place} of {len(stage.demos)}", style="bold")
        for field, value in demo.items():
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield Indented(Text.assemble((f"{one_line(field)}: ", "cyan"), visible(shown)))
    if not stage.demos:
        yield Text("No demonstrations", style="bold")


def number(value: float | None) -> str:
    """Return a share with three decimals, tokens and seconds with one; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) <= 1 else f"{value:,.1f}"


def _between(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0]:+.2f} – {interval[1]:+.2f}"
