"""`marchwarden store`: the state of the object store that machines share, and the publication of what it lacks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.early import index_url, store_url, trace_folder
from marchwarden.cli.quick import QuickCommand, QuickGroup
from marchwarden.cli.traces import show_figures

EPILOGUE = """Examples:

marchwarden store
    can it be reached, and what is not there yet?
marchwarden store push
    publish what is missing there
marchwarden store --json | jq '.waiting[].trace_id'
marchwarden store --stats
    what traces and stored pages take on this machine, as `marchwarden traces` shows it"""

_PUSH_EPILOGUE = """Exit codes: 0 everything but running calls is in the store and its index · 1 something is not.

Examples:

marchwarden store push
marchwarden store push --json | jq .left"""


app = typer.Typer(
    cls=QuickGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.callback(epilog=EPILOGUE)
def command(
    context: typer.Context,
    stats: Annotated[
        bool,
        typer.Option("--stats", metavar="", help="Show what the store of this machine takes, as `traces` does."),
    ] = False,
    json: options.PlainJson = False,
) -> None:
    """Show whether the object store of MARCHWARDEN_STORE can be used, and which traces of this machine it lacks.

    Traces from before the store was set count too. While it can't be reached, only traces that a call failed to
    publish are counted.
    """
    if context.invoked_subcommand is not None:
        if stats:
            raise typer.BadParameter(f"--stats can't go with {context.invoked_subcommand}")
        return
    if stats:
        show_figures(trace_folder(), json=json)
        return
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.errors import StorageError
    from marchwarden.sharing.outbox import Outbox
    from marchwarden.sharing.publication import stores_of, unpublished
    from marchwarden.trace.reader import trace_files

    stores = list(stores_of(trace_folder(), _url()))
    store, problem = stores[0][1], None
    try:
        store.check()
        waiting = [each for folder, store in stores for each in unpublished(folder, store)]
    except StorageError as error:
        problem = error
        waiting = [each for folder, _ in stores for each in Outbox(folder).waiting() if not each.is_published]
    if json:
        told = [{"trace_id": each.trace.stem, "reason": each.reason or None} for each in waiting]
        console.json({"store": store.shown, "problem": problem and str(problem), "waiting": told})
    else:
        console.line(f"Store    {store.shown}")
        console.line(f"State    {problem or 'it can be reached'}")
        waits = f"{'at least ' if problem else ''}{count(len(waiting), 'trace')} not there yet"
        if problem and not waiting:
            here = count(sum(len(trace_files(folder)) for folder, _ in stores), "trace")
            waits = f"not known while the store can't be read; {here} here"
        console.line(f"Waiting  {waits}")
        if waiting and not problem:
            console.done("Publish them: marchwarden store push")
    if problem:
        raise typer.Exit(1)


@app.command("push", epilog=_PUSH_EPILOGUE, cls=QuickCommand)
def push_command(
    json: options.PlainJson = False,
) -> None:
    """Publish every trace and page of this machine that the store does not have.

    A call publishes its own trace, and what was left before. This command is for traces from before the store was
    set, and for those that could not be published. Calls that still run are left out. A killed call is published as
    far as it came. With MARCHWARDEN_TRACE_INDEX, every trace of this machine is listed there afterwards.
    """
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.sharing.publication import Published, publish_all, stores_of
    from marchwarden.sharing.trace_index import trace_index

    done = Published()
    for folder, store in stores_of(trace_folder(), _url()):
        publish_all(folder, store, done, trace_index(index_url(), store))
    if json:
        console.json(asdict(done))
    else:
        console.line(f"Published {count(done.traces, 'trace')}, {count(done.objects, 'object')}.")
        if done.running:
            console.done(f"{count(done.running, 'call')} still running")
    if done.problem:
        if not json:
            left = f"{count(done.left, 'trace')} left: " if done.left else ""
            if not left and done.unlisted:
                left = f"{count(done.unlisted, 'trace')} not in the index: "
            console.error(f"{left}{done.problem}", None)
        raise typer.Exit(1)


def _url() -> str:
    from marchwarden.errors import ConfigurationError
    from marchwarden.sharing.object_store import FORMS

    url = store_url()
    if url is None:
        raise ConfigurationError(
            "there is no store: MARCHWARDEN_STORE is not set",
            hint=f"Set it to {FORMS}. `marchwarden store --stats` shows what is stored on this machine.",
        )
    return url
