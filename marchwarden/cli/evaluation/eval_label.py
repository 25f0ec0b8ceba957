"""`marchwarden eval label`: label questions in the browser, beside the pages that they are about."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import sources_in_force
from marchwarden.cli.configuration.completion import complete_source

if TYPE_CHECKING:
    import socket

    from marchwarden.settings import Settings

EPILOGUE = """Examples:

marchwarden eval label mine.jsonl --source corpus:notes
    over your own files; --web DIR for a frozen web
marchwarden eval freeze 3f2a 77c0 --out frozen
marchwarden eval label frozen
    the questions of earlier calls, over the pages that they read

Ctrl-C ends it. What was saved is in the file, and `marchwarden eval --check` says what is left."""


def command(
    dataset: Annotated[
        Path,
        typer.Argument(metavar="DATASET", help="Questions as JSONL, or a folder that `eval freeze` made."),
    ],
    web: options.QuestionsWeb = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCES",
            autocompletion=complete_source,
            help="Sources that the questions are about instead: corpus:NAME, web …",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port on this machine. Default: a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Open the page, or only print its address.")
    ] = True,
) -> None:
    """Label questions in the browser: write facts and right answers beside the pages, and select text to quote it.

    Only this machine can open the page, and only with the address that is printed. Each save writes one question to
    the file.
    """
    if web is not None and source is not None:
        raise typer.BadParameter("--source and --web can't be used together")
    # Imported here: `--help` must import none of the heavy modules.
    import socket

    import anyio

    from marchwarden.cli.views import console
    from marchwarden.errors import ConfigurationError
    from marchwarden.evaluation.datasets.freeze import QUESTIONS, WEB
    from marchwarden.evaluation.labels.questions import load_questions
    from marchwarden.settings import load_settings

    if dataset.is_dir():
        web = web or (dataset / WEB if source is None else None)
        dataset = dataset / QUESTIONS
    settings = load_settings(source=sources_in_force(source, web) or "snapshot", web=web and web.absolute())
    settings.require_search_key()
    options.check_input(dataset, "DATASET")
    load_questions(dataset)  # what is wrong with the file is said before a browser opens
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise ConfigurationError(
            f"port {port} can't be used: {error.strerror or error}", hint="Name none."
        ) from error
    with suppress(KeyboardInterrupt):
        anyio.run(_serve, dataset, settings, listener, web is not None or source is not None, browser)
    console.done(f"Ended. What was saved is in {dataset}.")


async def _serve(
    dataset: Path, settings: Settings, listener: socket.socket, is_their_web: bool, browser: bool
) -> None:
    import webbrowser
    from tempfile import TemporaryDirectory

    import uvicorn

    from marchwarden.cli.views import console
    from marchwarden.evaluation.labels.label_app import LabelSession
    from marchwarden.sources.source_registry import open_tools

    tools = open_tools(settings)
    try:
        with console.progress() as tell:
            tools.prepare(tell)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        session = LabelSession(dataset, settings, tools, address, is_their_web=is_their_web)
        config = uvicorn.Config(
            session.app(), log_config=None, access_log=False, server_header=False, ws="none", lifespan="off"
        )
        console.line(session.url)
        with TemporaryDirectory(prefix="marchwarden-") as private:
            # Others of this machine see the arguments of a browser, and not what is in this folder.
            page = Path(private) / "label.html"
            page.write_text(f'<meta http-equiv="refresh" content="0; url={session.url}">', "utf-8")
            if browser and not webbrowser.open(page.as_uri()):
                console.notice("No browser could be opened.", "Open the address above.")
            await uvicorn.Server(config).serve(sockets=[listener])
    finally:
        await tools.aclose()
