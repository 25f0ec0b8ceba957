"""`marchwarden chat`: one question after the other, each of which knows what was said before."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import NOTHING_FOUND, request_from, sources_in_force
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

An empty line is passed over; Ctrl-D or /quit ends it, and Ctrl-C takes back the question that is being asked.

Exit codes, where questions come from a pipe: 0 answers · 1 a question failed · 2 wrong usage
· 3 one found nothing."""


def command(
    follows: Annotated[
        str | None,
        typer.Option(
            "--continue",
            "-c",
            metavar="ID",
            autocompletion=complete_trace,
            help="Go on from an earlier answer; `latest` for the latest.",
        ),
    ] = None,
    depth: Annotated[str, typer.Option(metavar="DEPTH", help="shallow, balanced or deep, for every question.")] = (
        "balanced"
    ),
    budget: Annotated[
        int | None, typer.Option(metavar="TOKENS", help="Model tokens of each question at most. Default: 20000.")
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
    connection = Connection(None, overrides)
    connection.prepare()
    if connection.frozen_web_note:
        console.notice(*connection.frozen_web_note)
    before = follows
    statuses: set[Status] = set()
    is_echoed = not (sys.stdin.isatty() and sys.stdout.isatty())  # else the terminal shows what is typed
    while (question := _next_question()) is not None:
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
    """Return the next line that is no blank; None at the end."""
    from marchwarden.cli.views import console

    while True:
        if sys.stdin.isatty():
            console.prompt("> ")
        try:
            line = sys.stdin.buffer.readline()
        except KeyboardInterrupt:
            return None
        question = line.decode("utf-8", "surrogateescape").strip()
        if not line or question in ("/quit", "/exit"):
            return None
        if question.startswith("/"):
            console.notice(f"{question}: no such command. Type a question, or /quit to leave.")
        elif question:
            return question
