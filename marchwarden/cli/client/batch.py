"""Many questions, asked side by side of researchers.py: each answer is on the disk as soon as it is there."""

from __future__ import annotations

import errno
import json
import os
import signal
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from marchwarden.cli.client.question_file import Asked, read_questions
from marchwarden.cli.library.stored_traces import HOW_TO_PUBLISH, is_unpublished
from marchwarden.cli.options import check_output
from marchwarden.errors import (
    BudgetExhausted,
    ClusterError,
    ConfigurationError,
    MarchwardenError,
    StorageError,
    leaves,
)
from marchwarden.files import append_line, remove_torn_end, sync_open

if TYPE_CHECKING:
    import anyio

    from marchwarden.cli.client.researchers import Ask, Researchers
    from marchwarden.cli.views.console import Bar
    from marchwarden.contract import ResearchResult, Status
    from marchwarden.execution.run_budget import RunBudget

FAILURE, NOTHING_FOUND, INTERRUPTED = 1, 3, 130


@dataclass(frozen=True)
class Batch:
    """Options of `ask --file`."""

    file: Path
    given: Mapping[str, Any]
    """Context, depth and constraints of every question that has none of its own."""
    output: Path | None
    jobs: int | None
    resume: bool
    force: bool
    quiet: bool
    total_budget: int | None = None
    """Tokens of all questions together; None for no limit."""


@dataclass
class _Sink:
    """Place for the answers, a line each: a file that is synced after every line, or stdout.

    The file is made, or emptied, with the first line: a run that asks nothing leaves everything as it was.
    """

    path: Path | None
    replaces: bool
    """True where the answers replace what is in the file; else they follow it."""
    counts: Counter[Status] = field(default_factory=Counter)
    tokens: int = 0
    model_failed: int = 0
    """Number of answers in which steps ran without the model because it failed."""
    _file: int | None = None

    def _open(self, path: Path) -> int:
        from marchwarden.trace.reader import whole_line

        if not self.replaces:
            remove_torn_end(path, lambda line: whole_line(line) is not None)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        return os.open(path, flags | os.O_TRUNC if self.replaces else flags, 0o666)

    def write(self, asked: Asked, status: Status, result: ResearchResult | None, error: str | None) -> None:
        from marchwarden.cli.views import console
        from marchwarden.text.escaping import json_text

        self.counts[status] += 1
        if result:
            self.tokens += result.cost_metadata.tokens_used
            self.model_failed += any(gap.cause == "model_failed" for gap in result.gaps)
        told: dict[str, Any] = {"id": asked.id, "question": asked.request.question, "context": asked.request.context}
        told |= {"status": status, "error": error, "result": result and result.model_dump(mode="json")}
        line = json_text(json.dumps(told, ensure_ascii=False)).encode("utf-8") + b"\n"
        if self.path is None:
            try:
                console.data(line)
            except BrokenPipeError as error:
                raise _NobodyReads from error
            return
        try:
            if self._file is None:
                self._file = self._open(self.path)
            append_line(self._file, line)
            if self.path.is_file():
                sync_open(self._file)
        except OSError as error:
            console.data(line)  # it was paid for
            raise StorageError(
                f"{self.path} can't be written: {error.strerror or error}; the missing answer is on stdout",
                hint="Free some space, then --resume.",
            ) from error

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def summary(self, of: int) -> str:
        left = of - self.counts.total()
        written = f"; {self.path}" if self.path and self.counts else ""
        return f"{_in_words(self.counts)}{f', {left} not asked' if left else ''}; {self.tokens:,} tokens{written}"


class _NobodyReads(Exception):
    """The reader of stdout has gone, as `head` does when it has enough."""


def _in_words(counts: Mapping[Status, int]) -> str:
    """Return how many questions ended in which way, such as `3 answered, 1 found nothing`."""
    parts = [f"{counts['answered']} answered"]
    parts += [f"{counts['nothing_found']} found nothing"] if counts["nothing_found"] else []
    parts += [f"{counts['failed']} failed"] if counts["failed"] else []
    return ", ".join(parts)


def ask_many(batch: Batch, researchers: Researchers) -> None:
    """Ask the questions of a file.

    Raises typer.Exit with 1 where a question failed or the budget was too small for all of them, 3 where one found
    nothing, earlier ones included, 130 after Ctrl-C; a usage error for the file of questions or of answers;
    MarchwardenError where the server is not there or the disk is full.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.execution.run_budget import MORE_TOKENS, RunBudget

    if batch.output is None and batch.resume:
        raise typer.BadParameter("--resume needs the file of answers: --output answers.jsonl")
    if batch.output is not None:
        check_output(batch.output, "--output", (".jsonl",), force=True, replaces=False)
        if batch.output.is_file() and not (batch.force or batch.resume):
            raise typer.BadParameter(f"--output {batch.output} already exists; add --resume to continue, or --force")
    asked = read_questions(batch.file, batch.given)
    done, used = _asked_before(batch.output) if batch.resume and batch.output is not None else ({}, 0)
    left = [each for each in asked if each.key not in done]
    before = Counter(done[each.key] for each in asked if each.key in done)
    if before and not batch.quiet:
        console.done(f"{before.total()} of {len(asked)} questions were asked before: {_in_words(before)}.")
    if not left:
        if before["nothing_found"]:
            raise typer.Exit(NOTHING_FOUND)
        return
    researchers.prepare()
    if researchers.frozen_web_note and not batch.quiet:
        console.notice(*researchers.frozen_web_note)
    sink = _Sink(batch.output, replaces=batch.force and not batch.resume)
    try:
        with console.counting(0 if batch.quiet else len(left)) as bar:
            run = _Run(researchers, left, sink, bar)
            interrupted = run.run(batch.jobs, RunBudget(batch.total_budget, used))
        if run.unpublished:
            console.notice(f"{count(run.unpublished, 'trace')} not in the store yet.", HOW_TO_PUBLISH)
    finally:
        sink.close()
        if not batch.quiet:
            console.done(sink.summary(len(left)))
        if sink.model_failed:
            again = "the same command with --force" if batch.output else "the same command"
            console.notice(
                f"The model failed in {sink.model_failed} of {count(sink.counts.total(), 'question')}, so some steps "
                "ran without it. The gaps of these results say why.",
                f"`marchwarden doctor --online` checks the model. To ask all questions again: {again}.",
            )
    # With --force, what is still in the file after a run that wrote nothing is what it was to replace.
    is_resumable = bool(batch.output and (batch.resume or sink.counts))
    if interrupted:
        hint = "To ask the other questions, run the same command with --resume." if is_resumable else None
        console.notice("Interrupted.", hint)
        raise typer.Exit(INTERRUPTED)
    if run.spent:
        console.notice(
            f"The other questions were not asked: {run.spent}.",
            MORE_TOKENS if is_resumable else "Allow more with --total-budget.",
        )
    if run.spent or sink.counts["failed"]:
        raise typer.Exit(FAILURE)
    if sink.counts["nothing_found"] or before["nothing_found"]:
        raise typer.Exit(NOTHING_FOUND)


def _asked_before(path: Path) -> tuple[dict[tuple[str, ...], Status], int]:
    """Return the keys of the questions that a file of answers has a result for, with the status of each, and the
    tokens of all these results."""
    from marchwarden.trace.reader import whole_line

    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}, 0
    found: dict[tuple[str, ...], Status] = {}
    tokens = 0
    for line in lines:
        told = whole_line(line) or {}
        status = told.get("status")
        if status in ("answered", "nothing_found"):
            found[(str(told.get("id")),)] = status
            found[str(told.get("question")), str(told.get("context") or "")] = status
            with suppress(KeyError, TypeError, ValueError):
                tokens += int(told["result"]["cost_metadata"]["tokens_used"])
    return found, tokens


class _Run:
    """The questions of a batch that are left, while they are asked."""

    def __init__(self, researchers: Researchers, left: list[Asked], sink: _Sink, bar: Bar) -> None:
        self.spent = ""
        """Reason that not all questions were asked, as a clause; empty where they were."""
        self._researchers = researchers
        self._left = iter(left)
        self._sink = sink
        self._bar = bar
        self._interrupted = False
        self.unpublished = 0
        """Number of traces that could not be published in the store."""

    def run(self, jobs: int | None, budget: RunBudget) -> bool:
        """Ask all of them; return whether Ctrl-C ended it. Raises MarchwardenError where the server fails."""
        import anyio

        try:
            anyio.run(self._interruptibly, jobs, budget)
        except BaseException as error:
            if self._interrupted or any(isinstance(each, KeyboardInterrupt) for each in leaves(error)):
                return True
            if not isinstance(error, Exception):
                raise
            if any(isinstance(each, _NobodyReads) for each in leaves(error)):
                raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None  # ends the command quietly
            raise self._researchers.explained(error) from error
        return self._interrupted

    async def _interruptibly(self, jobs: int | None, budget: RunBudget) -> None:
        import anyio

        async with anyio.create_task_group() as group:
            group.start_soon(self._listen_for_interrupts, group.cancel_scope)
            async with self._researchers.opened(budget) as (ask, usual), anyio.create_task_group() as workers:
                for _ in range(jobs or usual):
                    workers.start_soon(self._work, ask)
            group.cancel_scope.cancel()

    async def _listen_for_interrupts(self, everything: anyio.CancelScope) -> None:
        import anyio

        try:
            with anyio.open_signal_receiver(signal.SIGINT) as signals:
                async for _ in signals:
                    self._interrupted = True
                    everything.cancel()
        except NotImplementedError:  # no such thing on Windows: there Ctrl-C arrives as KeyboardInterrupt
            return

    async def _work(self, ask: Ask) -> None:
        for asked in self._left:
            status: Status = "failed"
            result, error = None, None
            try:
                result = await ask(asked.request)
                status = result.status
                error = result.answer if status == "failed" else None
            except BudgetExhausted as exhausted:
                self.spent = str(exhausted)
                return
            except (ClusterError, ConfigurationError):  # every other question would meet it, too
                raise
            except MarchwardenError as failure:
                error = str(failure)
            self._sink.write(asked, status, result, error)
            if result and is_unpublished(self._researchers.traces / f"{result.trace_id}.jsonl"):
                self.unpublished += 1
            self._bar.advance(self._so_far)

    def _so_far(self) -> str:
        failed = self._sink.counts["failed"]
        return f"{self._sink.tokens:,} tokens" + (f" · {failed} failed" if failed else "")
