"""`marchwarden check`: cited pages and files read again, and what became of their quotes."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.early import trace_folder
from marchwarden.cli.library.stored_traces import named_trace, publish_check

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from marchwarden.audit.citation_check import Plan, TraceCheck
    from marchwarden.settings import Settings

DRIFTED, NOTHING_TO_CHECK, NOT_REACHED = 1, 3, 4

EPILOGUE = """Exit codes: 0 every quote is still there · 1 something changed, is gone or was retracted · 3 nothing to
check · 4 nothing changed, but a page is closed now or can't be reached.

Examples:

marchwarden check
    the latest answer
marchwarden check 3f2a
    the call whose id begins with 3f2a; `marchwarden history` lists ids
marchwarden check --all --since 30d
    every call of the last thirty days; also 12h, 8w, or a day: 2026-01-31
marchwarden check --all --json | jq -r '.traces[].citations[] | select(.state == "changed") | .locator'"""

_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def command(
    trace: options.Trace = None,
    every: Annotated[bool, typer.Option("--all", metavar="", help="Check every call that has citations.")] = False,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="AGE", help="With --all: only calls that are newer than this age (12h, 30d, 8w) or day."
        ),
    ] = None,
    web: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the frozen web to check against. Default: the call's own."),
    ] = None,
    json: options.PlainJson = False,
) -> None:
    """Read cited pages again, and say for each quote whether it is still there, changed, moved, gone or closed.

    Pages are fetched as in research, with the same rules for robots.txt, pauses and addresses. For DOIs and arXiv
    ids, retractions, corrections and newer versions are reported. The result is stored beside the trace, and `replay`
    shows it.
    """
    import anyio

    from marchwarden.cli.audit.check_view import check_view, summary_view
    from marchwarden.cli.views import console
    from marchwarden.errors import StorageError
    from marchwarden.settings import load_settings
    from marchwarden.store.check_record import keep_check

    if trace and every:
        raise typer.BadParameter("give either a trace or --all")
    if since and not every:
        raise typer.BadParameter("--since goes with --all")
    plans, left_out = _plans(trace, every=every, since=_moment(since) if since else None)
    for sentence in left_out:
        console.notice(sentence)
    if not any(plan.cited for plan in plans):
        if json:
            console.json({"traces": [], "counts": {}})
        why = "no call here has a citation" if every else f"the {'call' if trace else 'latest answer'} cites nothing"
        console.done(f"There is nothing to check: {why}.")
        raise typer.Exit(NOTHING_TO_CHECK)
    lost: list[StorageError] = []

    def keep(plan: Plan, check: TraceCheck) -> None:
        try:
            keep_check(plan.trace.path, check.record())
            publish_check(plan.trace.path)
        except StorageError as error:  # what was found is shown all the same
            lost.append(error)

    checks = anyio.run(_check, load_settings(), plans, web and web.absolute(), keep)
    if json:
        console.json(_plain(checks))
    else:
        for check in checks:
            console.show(check_view(check))
        if len(checks) > 1:
            console.show(summary_view(checks))
    if lost:
        raise lost[0]
    raise typer.Exit(_exit_code(checks))


async def _check(
    settings: Settings, plans: Sequence[Plan], web: Path | None, keep: Callable[[Plan, TraceCheck], None]
) -> list[TraceCheck]:
    from marchwarden.audit.citation_check import open_checker
    from marchwarden.cli.views import console

    total = len(set().union(*(plan.addresses for plan in plans)))
    with console.counting(total) as bar:
        async with open_checker(settings, plans, web) as checker:
            return await checker.check(plans, lambda address: bar.advance(lambda: address), keep)


def _plans(trace: str | None, *, every: bool, since: datetime | None) -> tuple[list[Plan], list[str]]:
    """Return the checks to be made, and a sentence on each trace that can't be checked."""
    from marchwarden.audit.citation_check import plan_check
    from marchwarden.errors import TraceError
    from marchwarden.trace.reader import list_traces, read_trace

    folder = trace_folder()
    if every:
        found = [
            each.path
            for each in list_traces(folder)
            if each.outcome == "finished" and (since is None or (each.started is not None and each.started >= since))
        ]
    else:
        found = [named_trace(trace)]
    plans, left_out = [], []
    for path in found:
        read = read_trace(path)
        try:
            plan = plan_check(read)
        except TraceError as error:
            left_out.append(str(error))
        else:
            plans += [plan] if plan.cited else []
    return plans, left_out


def _moment(since: str) -> datetime:
    """Return the time that an age or a day names. Raises a usage error."""
    now = datetime.now(timezone.utc)
    try:
        if age := re.fullmatch(r"(\d{1,6})([hdw])", since.strip()):
            return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
        return datetime.fromisoformat(since.strip()).replace(tzinfo=timezone.utc)
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"--since takes an age (12h, 30d, 8w) or a day (2026-01-31), not {since!r}"
        ) from None


def _plain(checks: Sequence[TraceCheck]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for check in checks:
        for each in check.citations:
            counts[each.state] = counts.get(each.state, 0) + 1
    return {
        "traces": [{"trace_id": check.trace_id, "question": check.question, **check.record()} for check in checks],
        "counts": counts,
    }


def _exit_code(checks: Sequence[TraceCheck]) -> int:
    from marchwarden.audit.citation_check import STILL_SAID

    citations = [each for check in checks for each in check.citations]
    if any(each.has_drifted for each in citations):
        return DRIFTED
    return NOT_REACHED if any(each.state not in STILL_SAID for each in citations) else 0
