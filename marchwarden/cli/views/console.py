"""Everything that the commands print: results to stdout, all else to stderr. No other module prints."""

from __future__ import annotations

import select
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column
from rich.text import Text

from marchwarden.text.escaping import json_text, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType
    from rich.progress import Progress

    from marchwarden.agent.rerun_call import Rerun
    from marchwarden.audit.verdict import Verdict
    from marchwarden.cli.configuration.doctor_check import Check
    from marchwarden.cli.views.programs_view import Shown
    from marchwarden.contract import ResearchResult
    from marchwarden.corpus.indexing import IndexReport
    from marchwarden.evaluation.datasets import DatasetReport
    from marchwarden.evaluation.labels.label_check import Problem as LabelProblem
    from marchwarden.evaluation.runs.calibration_fit import CalibrationReport
    from marchwarden.evaluation.runs.compare import Comparison
    from marchwarden.evaluation.runs.run import Run
    from marchwarden.evaluation.runs.scores import Scores
    from marchwarden.evaluation.scoring.judge import Agreement
    from marchwarden.optimization.estimate import Estimate, Order
    from marchwarden.optimization.examples.example_scoring import StageReport
    from marchwarden.optimization.model_free.parameter_search import ParametersReport
    from marchwarden.optimization.program_records import Outcome
    from marchwarden.programs import Listed
    from marchwarden.trace.json_view import TolerantJsonView
    from marchwarden.trace.reader import Trace, TraceSummary
    from marchwarden.trace.timeline import Entry


# Views are imported inside the functions below: each takes time, and a command needs one of them.


def console(*, stderr: bool = False) -> Console:
    """Return a console that takes text as it is: no markup, no emoji codes, no guessing at what to colour."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def show(view: Iterable[RenderableType], out: Console | None = None) -> None:
    """Print the parts of a view, to stdout unless another console is given."""
    from marchwarden.cli.views.tables import Lines, Trimmed

    out = out or console()
    for each in view:
        # Lines that are longer than the terminal hold an address, which is not cut.
        out.print(Lines(each) if isinstance(each, Text) else Trimmed(each), crop=False)


def result(research: ResearchResult | TolerantJsonView) -> None:
    """Print a result for people, with the command for each trace that lies here."""
    import os.path

    from marchwarden.cli.early import trace_folder
    from marchwarden.cli.views.result_view import result_view

    folder = trace_folder()
    # Path.is_file raises an error for some of what can stand in a damaged trace.
    show(result_view(research, lambda trace_id: os.path.isfile(folder / f"{trace_id}.jsonl")))  # noqa: PTH113


def timeline(trace: Trace, entries: Sequence[Entry], *, stderr: bool = False) -> None:
    """Print the steps of a call."""
    from marchwarden.cli.views.trace_view import timeline_view

    show(timeline_view(trace, entries), console(stderr=stderr))


def verdict(found: Verdict) -> None:
    """Print the verdict over a trace or a bundle, with each check."""
    from marchwarden.cli.views.trace_view import verdict_view

    show(verdict_view(found))


def rerun(trace_id: str, ran: Rerun, exchanged: Sequence[str]) -> None:
    """Print what differs between a recorded result and a re-run's."""
    from marchwarden.cli.views.rerun_view import rerun_view

    show(rerun_view(trace_id, ran, exchanged))


def trace_list(summaries: Sequence[TraceSummary]) -> None:
    """Print traces as a table."""
    from marchwarden.cli.views.trace_view import trace_list_view

    out = console()
    show(trace_list_view(summaries, out.width), out)


def checks(found: Sequence[Check]) -> None:
    """Print the checks of `marchwarden doctor`, one on each line, with advice beneath it."""
    marks = {"ok": ("ok", "green"), "note": ("note", "yellow"), "broken": ("broken", "bold red")}
    rows = []
    for check in found:
        word, style = marks[check.state]
        advice = (f"\n→ {visible(check.advice)}", "dim") if check.advice else ""
        rows.append((f"{check.name}", (word, style), Text.assemble(visible(check.detail), advice)))
    _entries(rows)


def sources(listed: Sequence[Mapping[str, Any]]) -> None:
    """Print the sources of `marchwarden sources`: `*` marks those that are searched where none is named."""
    styles = {"ready": "green", "unreachable": "bold red", "broken": "bold red"}
    rows = []
    for each in listed:
        name = f"{each['name']}:NAME" if each["is_named"] else each["name"]
        said = [
            (f"\n{text}", "dim") for text in (each["rule"] if each["rule"] != "none" else "", each["detail"]) if text
        ]
        rows.append(
            (
                f"{name}{' *' if each['in_force'] else ''}",
                (each["state"], styles.get(each["state"], "yellow")),
                Text.assemble(visible(each["about"]), *((visible(text), style) for text, style in said)),
            )
        )
    _entries(rows)
    show([Text("\n* is searched where no source is named.", style="dim")])


def databases(listed: Sequence[Mapping[str, Any]]) -> None:
    """Print the user's databases, one on each line, with what may be read of each and what is wrong with it."""
    rows = []
    for each in listed:
        state = ("broken", "bold red") if each["problem"] else ("ready", "green")
        about = [
            f"only {', '.join(each['tables'])}" if each["tables"] is not None else "",
            each["description"],
            each["problem"] or "",
        ]
        said = [(f"\n{visible(text)}", "dim") for text in about if text]
        rows.append((f"db:{each['name']}", state, Text.assemble(visible(each["place"]), *said)))
    _entries(rows)


def settings(listed: Sequence[Mapping[str, Any]]) -> None:
    """Print settings or keys, one on each line, with the place that each comes from."""
    from marchwarden.cli.views.tables import Entries
    from marchwarden.environment import as_text

    rows = []
    for each in listed:
        text = "–" if each["value"] is None else as_text(each["value"])
        place = (f"  {each['from']}", "dim") if each["from"] else ""
        rows.append((Text(each["name"]), Text.assemble(visible(text), place)))
    show([Entries(rows)])


def _entries(rows: Sequence[tuple[str, tuple[str, str], Text]]) -> None:
    """Print rows of a name, its state in words with the style of these, and a text."""
    from marchwarden.cli.views.tables import GAP, Entries

    states = max((len(state) for _, (state, _), _ in rows), default=0) + GAP
    show([Entries([(Text.assemble((f"{said:<{states}}", style), name), text) for name, (said, style), text in rows])])


def scores(found: Scores) -> None:
    """Print the figures of an evaluation run."""
    from marchwarden.cli.views.eval_view import scores_view

    show(scores_view(found))


def runs(found: Sequence[Run]) -> None:
    """Print runs as a table."""
    from marchwarden.cli.views.eval_view import runs_view

    show(runs_view(found))


def labels(
    counts: Mapping[str, Mapping[str, int]], shared: Mapping[str, set[str]], problems: Sequence[LabelProblem]
) -> None:
    """Print how many labels there are of each kind, and the problems of those that don't hold."""
    from marchwarden.cli.views.eval_view import labels_view

    show(labels_view(counts, shared, problems))


def comparison(found: Comparison) -> None:
    """Print the differences between two runs."""
    from marchwarden.cli.views.eval_view import comparison_view

    show(comparison_view(found))


def calibration(found: CalibrationReport) -> None:
    """Print the figures of a calibration."""
    from marchwarden.cli.views.eval_view import calibration_view

    show(calibration_view(found))


def agreement(found: Agreement) -> None:
    """Print the agreement of a judge's marks with the labels."""
    from marchwarden.cli.views.eval_view import agreement_view

    show(agreement_view(found))


def dataset(found: DatasetReport) -> None:
    """Print the scores of one part of Marchwarden on a public data set."""
    from marchwarden.cli.views.eval_view import dataset_view

    show(dataset_view(found))


def compile_estimates(
    order: Order, estimates: Sequence[Estimate], hours: Mapping[str, float], whole: tuple[int, float]
) -> None:
    """Print the estimated cost of a compile; `whole` are tokens and hours of the questions from end to end."""
    from marchwarden.cli.views.compile_view import estimates_view

    show(estimates_view(order, estimates, hours, whole))


def compiled(outcome: Outcome, search: ParametersReport | None = None) -> None:
    """Print the outcome of a compile."""
    from marchwarden.cli.views.compile_view import outcome_view

    show(outcome_view(outcome, search))


def stage(found: StageReport) -> None:
    """Print the scores of one stage, and its worst examples."""
    from marchwarden.cli.views.stage_view import stage_view

    show(stage_view(found))


def programs(found: Sequence[Listed]) -> None:
    """Print programs as a table."""
    from marchwarden.cli.views.programs_view import programs_view

    show(programs_view(found))


def program(shown: Shown, names: Sequence[str]) -> None:
    """Print one program in full."""
    from marchwarden.cli.views.programs_view import program_view

    show(program_view(shown, names))


def indexed(report: IndexReport) -> None:
    """Print the outcome of indexing; files that could not be read go to stderr."""
    from marchwarden.cli.views.index_view import failures_view, indexed_view

    show(failures_view(report.failed), console(stderr=True))
    show(indexed_view(report))


def corpora(found: Sequence[Mapping[str, Any]]) -> None:
    """Print corpora as a table."""
    from marchwarden.cli.views.index_view import corpora_view

    show(corpora_view(found))


def line(text: str) -> None:
    """Print one line to stdout."""
    console().print(Text(visible(text)), soft_wrap=True)


def prompt(text: str) -> None:
    """Print the start of a line that the user goes on with, to stderr."""
    console(stderr=True).print(Text(text, style="bold"), end="", soft_wrap=True)


def data(body: bytes) -> None:
    """Write bytes to stdout exactly as they are, whatever the terminal's encoding."""
    # What was printed as text must come out before the bytes, which bypass the text layer.
    sys.stdout.flush()
    sys.stdout.buffer.write(body)
    sys.stdout.buffer.flush()


def unbuffered(body: bytes) -> None:
    """Write bytes to stdout past its buffer.

    A thread that waits for their reader would hold the buffer's lock, without which Python can't end.
    """
    out = getattr(sys.stdout.buffer, "raw", sys.stdout.buffer)
    rest = memoryview(body)
    while rest:
        count = out.write(rest)
        if count is None:  # a pipe that does not block, and is full
            select.select((), (out,), ())
        rest = rest[count or 0 :]


def json(value: Any) -> None:
    """Print a plain value as indented JSON in UTF-8, with a line end."""
    import json as codec

    data(json_text(codec.dumps(value, ensure_ascii=False, indent=2)).encode("utf-8") + b"\n")


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is happening, with the seconds passed; to a pipe, or where it is to be quiet,
    it shows nothing."""
    out = console(stderr=True)
    if quiet or not out.is_terminal or out.is_dumb_terminal:
        yield lambda message: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    # The usual spinner is of Braille characters, which only UTF terminals can show.
    spinner = SpinnerColumn("dots" if out.encoding.startswith("utf") else "line")
    columns = (spinner, TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=out, transient=True) as shown:
        task = shown.add_task("", total=None)
        yield lambda message: shown.update(task, description=one_line(message, max(10, out.width - 15)))


# Columns of a bar, and of what stands beside it: `100/248 0:12:34` and the gaps.
BAR, COUNTS = 20, 20


def whole_parts(text: str, room: int) -> str:
    """Return as many of the parts of `text` (separated by ` · `) as fit into `room` columns; none of them is cut."""
    while text and len(text) > room:
        text = text.rpartition(" · ")[0]
    return text


class Bar:
    """Progress of a count, shown on a terminal; a pipe gets nothing."""

    def __init__(self, shown: Progress | None, total: int | None) -> None:
        self._shown = shown
        self._task = shown.add_task("", total=total) if shown else None

    @property
    def is_silent(self) -> bool:
        """True where nothing is shown, since stderr is no terminal."""
        return self._shown is None

    def of(self, total: int) -> None:
        """Set the total, where it is known only later."""
        if self._shown and self._task is not None:
            self._shown.update(self._task, total=total)

    def advance(self, text: Callable[[], str], by: int = 1) -> None:
        """Count one more as done, or as many as are given; `text` stands behind the bar."""
        if self._shown and self._task is not None:
            room = self._shown.console.width - BAR - COUNTS
            self._shown.update(self._task, advance=by, description=whole_parts(one_line(text()), room))


@contextmanager
def counting(total: int | None) -> Iterator[Bar]:
    """Show a bar with the number done and the time left. A total of None is not known yet; 0 shows no bar."""
    out = console(stderr=True)
    if not out.is_terminal or out.is_dumb_terminal or total == 0:
        yield Bar(None, total)
        return
    # rich looks up sys.stderr at each write, and a library that is kept quiet meanwhile replaces that name.
    out.file = sys.stderr
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(BAR),
        MofNCompleteColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(elapsed_when_finished=True, table_column=Column(no_wrap=True)),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
    )
    with Progress(*columns, console=out, transient=True) as shown:
        yield Bar(shown, total)


@contextmanager
def evaluation_progress(
    done: int, total: int, figures: Callable[[], Mapping[str, float | None]], *, every: float = 30.0
) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each question. It moves a bar with the scores so far on a terminal, and prints a
    line at most each `every` seconds to a pipe. `done` of the `total` questions are there already."""
    import time

    from marchwarden.cli.views.eval_view import running

    out, told = console(stderr=True), time.monotonic()
    with counting(total - done) as bar:

        def advance() -> None:
            nonlocal done, told
            done += 1
            bar.advance(lambda: running(figures()))
            if not out.is_terminal and time.monotonic() - told >= every:
                told = time.monotonic()
                recall = figures()["nugget_recall"]
                so_far = "" if recall is None else f", nugget recall {recall:.2f}"
                out.print(Text(f"{done} of {total} questions{so_far}", style="dim"), soft_wrap=True)

        yield advance


def notice(message: str, hint: str | None = None) -> None:
    """Print something that the user should know beside the result, to stderr."""
    _say(_with_hint(Text(visible(message), style="yellow"), hint))


def done(message: str) -> None:
    """Print a line on something done beside the result, to stderr."""
    console(stderr=True).print(Text(visible(message), style="dim"), soft_wrap=True)


def error(message: str, hint: str | None = None) -> None:
    """Print an error and, beneath it, what to do about it, to stderr."""
    text = Text.assemble(("Error: ", "bold red"), visible(message))
    _say(_with_hint(text, hint))


def traceback() -> None:
    """Print the exception being handled in full, to stderr: for debugging only."""
    import traceback as frames

    sys.stderr.write(visible(frames.format_exc()))


def _say(text: Text) -> None:
    """Print to stderr: addresses, paths and commands are never broken, and a pipe gets whole lines."""
    out = console(stderr=True)
    out.print(text, soft_wrap=not out.is_terminal, overflow="ignore", crop=False)


def _with_hint(text: Text, hint: str | None) -> Text:
    return text.append(f"\n{visible(hint)}", style="dim") if hint else text
