"""The command line: one file a command, console.py for what they print, and the one place where errors end.

Commands import what is heavy when they run, so that help, completion, `replay` and `history` start fast.
"""

from __future__ import annotations

import inspect
import io
import os
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from marchwarden import logs
from marchwarden.cli import ask, chat, doctor, index, investigate, serve, sources, traces
from marchwarden.cli.audit import check, export, open_page, replay, rerun, verify_trace
from marchwarden.cli.configuration import config, keys
from marchwarden.cli.early import debugging
from marchwarden.cli.evaluation import eval
from marchwarden.cli.library import history, show, store
from marchwarden.cli.optimization import calibrate, compile, programs
from marchwarden.cli.quick import INTERRUPTED, WRONG_USAGE, QuestionCommand, QuickCommand, QuickGroup
from marchwarden.errors import EXTRAS, MarchwardenError, WrongArgument, missing_package

FAILURE = 1

_EXIT_CODES = """Exit codes: 0 an answer · 1 a failure · 2 wrong usage · 3 nothing found · 130 interrupted.

Settings come from MARCHWARDEN_* variables, .env and ~/.marchwarden/config.toml; MARCHWARDEN_DEBUG=1 logs to stderr.
Results go to stdout, everything else to stderr."""

app = typer.Typer(
    name="marchwarden",
    cls=QuickGroup,
    help="Ask a question and get an answer whose every claim can be checked.",
    epilog=_EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ask", epilog=ask.EPILOGUE, cls=ask.AskCommand)(ask.command)
app.command("investigate", epilog=investigate.EPILOGUE, cls=QuestionCommand)(investigate.command)
app.command("chat", epilog=chat.EPILOGUE, cls=chat.ChatCommand)(chat.command)
app.command("history", epilog=history.EPILOGUE, cls=QuickCommand)(history.command)
app.command("show", epilog=show.EPILOGUE)(show.command)
app.command("replay", epilog=replay.EPILOGUE, cls=QuickCommand)(replay.command)
app.command("open", epilog=open_page.EPILOGUE)(open_page.command)
app.command("rerun", epilog=rerun.EPILOGUE)(rerun.command)
app.command("verify", epilog=verify_trace.EPILOGUE)(verify_trace.command)
app.command("check", epilog=check.EPILOGUE)(check.command)
app.command("export", epilog=export.EPILOGUE)(export.command)
app.add_typer(traces.app, name="traces")
app.add_typer(store.app, name="store")
app.command("index", epilog=index.EPILOGUE)(index.command)
app.add_typer(eval.app, name="eval")
app.command("compile", epilog=compile.EPILOGUE, cls=compile.CompileCommand)(compile.command)
app.command("calibrate", epilog=calibrate.EPILOGUE)(calibrate.command)
app.add_typer(programs.app, name="programs")
app.add_typer(sources.app, name="sources")
app.add_typer(config.app, name="config")
app.add_typer(keys.app, name="keys")
app.command("doctor", epilog=doctor.EPILOGUE)(doctor.command)
app.command("serve", epilog=serve.EPILOGUE)(serve.command)


def _unwrap(text: str) -> str:
    """Return a help text with each paragraph on one line, since typer keeps the line ends of the source; examples,
    one a line, stay."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        paragraph if before.startswith("Examples:") else paragraph.replace("\n", " ")
        for before, paragraph in zip(["", *paragraphs], paragraphs, strict=False)
    )


for each in (app, traces.app, store.app, eval.app, programs.app, sources.app, config.app, keys.app):
    for command in each.registered_commands:
        command.help = _unwrap(command.callback.__doc__ or "") if command.callback else None
        command.epilog = _unwrap(command.epilog or "")
    if callback := each.registered_callback:
        if callback.callback and not isinstance(each.info.help, str):
            callback.help = _unwrap(callback.callback.__doc__ or "")
        callback.epilog = _unwrap(callback.epilog or "")


def _version(wanted: bool) -> None:
    if wanted:
        from marchwarden import __version__
        from marchwarden.cli.views import console

        console.line(f"marchwarden {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@cache
def command_line() -> Any:
    """Return the commands as click has them. Typer would make them anew for each run, at 40 CPU ms."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command that the arguments name and exit with its code."""
    try:
        _open_closed_streams()
        _make_notes_losable()
        logs.configure(debug=debugging())
        command_line()(prog_name="marchwarden")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        _report(error)
        sys.exit(WRONG_USAGE if isinstance(error, WrongArgument) else FAILURE)


def _make_notes_losable() -> None:
    """Let standard error drop what can't be written, and both streams show what their encoding lacks as `?`."""
    if sys.stderr is sys.__stderr__:
        encoding = getattr(sys.stderr, "encoding", None)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(_Notes(2, "w", closefd=False)), encoding, line_buffering=True)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _open_closed_streams() -> None:
    """Replace each standard stream that the caller has closed (`>&-`) by an empty one, in child processes too."""
    # Else the next file that is opened gets its number, and is written to as though it were stdout.
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != descriptor:
                os.dup2(nothing, descriptor)
                os.close(nothing)
            os.set_inheritable(descriptor, True)
            setattr(sys, name, open(descriptor, "w" if descriptor else "r", closefd=False))  # noqa: SIM115


class _Notes(io.FileIO):
    """Standard error that drops what can't be written, since its disk is full or its reader has gone.

    A note that nobody gets does not make a failure of an answer that was given.
    """

    def write(self, body: Any) -> int:
        try:
            return super().write(body)
        except OSError:
            return len(body)


def _report(error: Exception) -> None:
    from marchwarden.cli.views import console
    from marchwarden.files import is_full

    if debugging():
        console.traceback()
    if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
        error = missing_package(error.name)
    if isinstance(error, MarchwardenError):
        console.error(str(error), error.hint)
    elif isinstance(error, OSError) and is_full(error) and error.filename is None:
        # Traces and other files of our own that can't be written are a StorageError.
        console.error(f"the output could not be written: {error.strerror}", "Free some space, or write it elsewhere.")
    elif isinstance(error, OSError) and error.filename is not None and error.strerror:
        # A path that someone gave, and that no command looked at more closely: one that is too long, say.
        console.error(
            f"{os.fsdecode(error.filename)}: {error.strerror}", "Check the path and your permissions there."
        )
    elif isinstance(error, FileNotFoundError) and _is_folder_gone():
        console.error("the folder that you are in was removed", "Change to another folder first.")
    else:
        hint = None if debugging() else "Set MARCHWARDEN_DEBUG=1 for details."
        console.error(f"unexpected {type(error).__name__}: {error}", hint)


def _is_folder_gone() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False
