"""`marchwarden chat`: one question after the other, each of which knows what was said before."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from marchwarden.cli import options
from marchwarden.cli.ask import NOTHING_FOUND, request_from, sources_in_force, with_latest
from marchwarden.cli.client.follow_up import follow_up
from marchwarden.cli.configuration.completion import complete_trace
from marchwarden.cli.library.stored_traces import tell_unpublished

if TYPE_CHECKING:
    from marchwarden.contract import Status

FAILURE = 1

EPILOGUE = """Examples:

marchwarden chat
marchwarden chat --continue 3f2a --source corpus:notes
printf 'Who was world chess champion in 1921?\\nAnd who beat him?\\n' | marchwarden chat

/help says what else can be typed. Ctrl-D or /quit ends it, and Ctrl-C takes back the question that is being asked.

Exit codes, where questions come from a pipe: 0 answers · 1 a question failed · 2 wrong usage
· 3 one found nothing."""


_NEW = "/new"
_ENDS = ("/quit", "/exit", "/q", "quit", "exit")
_HELPS = ("/help", "/h", "/?", "help")
# A question may begin with a path.
_COMMAND = re.compile(r"/[^\s/]*(?:\s.*)?")
_HELP = """Type a question. The next question continues the conversation, so "it" and "there" are understood.
/new      begin a new conversation
/help     this text
/quit     end the chat; so do /exit and Ctrl-D
Ctrl-C    take back the question that is being asked
Each answer is stored: `marchwarden show` shows the latest again, `marchwarden history` lists all."""


class ChatCommand(TyperCommand):
    """A command whose `--continue` has a value that may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_latest(args))


def command(
    follows: Annotated[
        str | None,
        typer.Option(
            "--continue",
            "-c",
            metavar="[ID]",
            autocompletion=complete_trace,
            help="Continue from an earlier answer, over the same sources. Default: the latest.",
        ),
    ] = None,
    depth: options.Depth = "balanced",
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="TOKENS", help="Most model tokens for each question. Default: 20000, or 25000 with --depth deep."
        ),
    ] = None,
    source: options.Source = None,
    web: options.Web = None,
    model: options.Model = None,
) -> None:
    """Ask questions one after the other, as in a conversation.

    Each question is a call of its own, with its own budget and trace, and the trace names the one that it continues.
    What "it" and "there" stand for is taken from the answer before.
    """
    from marchwarden.cli.client.conversation import Conversation, Interrupted
    from marchwarden.cli.client.server_connection import Connection
    from marchwarden.cli.views import console
    from marchwarden.errors import MarchwardenError

    overrides = {"model": model, "source": sources_in_force(source, web), "web": web and web.absolute()}
    request_from("?", None, depth, {"token_budget": budget})  # a wrong option is said before the first question
    if follows is not None:
        earlier = follow_up(follows, None)  # and so is a wrong id
        overrides["source"] = overrides["source"] or earlier.source
    connection = Connection(None, overrides)
    connection.prepare()
    if connection.frozen_web_note:
        console.notice(*connection.frozen_web_note)
    if sys.stdin.isatty():
        console.notice("Ask a question. /help says what else can be typed; Ctrl-D ends the chat.")
    before = follows
    statuses: set[Status] = set()
    is_echoed = not (sys.stdin.isatty() and sys.stdout.isatty())  # else the terminal shows what is typed
    while (question := _next_question()) is not None:
        if question == _NEW:
            before = None
            console.notice("A new conversation begins: earlier questions and answers are no longer used.")
            continue
        if is_echoed:
            console.line(f"> {question}")
        try:
            following = follow_up(before, None) if before else None
            context = following.context if following else None
            request = request_from(question, context, depth, {"token_budget": budget})
            conversation = Conversation(request, connection, continues=following.continues if following else None)
            with console.progress() as tell:
                result = conversation.hold(tell)
        except Interrupted as interruption:
            console.notice(str(interruption), interruption.hint)
        except (MarchwardenError, typer.BadParameter) as error:
            statuses.add("failed")
            console.error(str(error), getattr(error, "hint", None))
        else:
            before = result.trace_id
            console.result(result)
            tell_unpublished(connection.traces / f"{result.trace_id}.jsonl")
            statuses.add(result.status)
    if not sys.stdin.isatty():
        code = FAILURE if "failed" in statuses else NOTHING_FOUND if "nothing_found" in statuses else 0
        raise typer.Exit(code)


def _next_question() -> str | None:
    """Return the next line that is a question, or /new; None at the end. Other commands are done here."""
    from marchwarden.cli.views import console

    is_asked_again = False
    while True:
        try:
            line = _read_line()
        except KeyboardInterrupt:
            # What was typed is thrown away, as in other prompts; so the chat is not lost by a key.
            if is_asked_again or not sys.stdin.isatty():
                return None
            console.notice("\nCtrl-D or /quit ends the chat, and so does Ctrl-C once more.")
            is_asked_again = True
            continue
        except UnicodeDecodeError:
            console.notice("This line is not valid text in the terminal's encoding.")
            continue
        is_asked_again = False
        if line is None or line.lower() in _ENDS:
            return None
        if line.lower() in _HELPS:
            console.notice(_HELP)
        elif line == _NEW or (line and not _COMMAND.fullmatch(line)):
            return line
        elif line:
            console.notice(f"{line}: no such command. Type a question, or /help.")


def _read_line() -> str | None:
    """Return the next line, stripped; None where there is none. On a terminal it can be edited, and earlier ones come
    back with the arrow keys."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        with suppress(ImportError):  # Windows has its own
            import readline  # noqa: F401  input() then uses it
        try:
            return input("> ").strip()
        except EOFError:
            return None
    if sys.stdin.isatty():
        from marchwarden.cli.views import console

        console.prompt("> ")
    line = sys.stdin.buffer.readline()
    return line.decode("utf-8", "surrogateescape").strip() if line else None
