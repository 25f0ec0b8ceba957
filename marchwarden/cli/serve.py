"""`marchwarden serve`: the MCP server, over stdio or HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from marchwarden.cli import options
from marchwarden.cli.ask import sources_in_force

EPILOGUE = """Examples:

marchwarden serve
    for a client that starts its server itself, over stdio
marchwarden serve --transport http --port 8111
    at http://127.0.0.1:8111/mcp, for `marchwarden ask --server` and others
marchwarden serve --source web,corpus:notes
    over the live web and files of your own (`marchwarden index`)
marchwarden serve --team team.json
    one researcher in front of several (`marchwarden investigate --help`)"""


# Options that mean something over HTTP alone.
_FOR_HTTP = {"host": "--host", "port": "--port", "allow_remote": "--allow-remote"}


def command(
    context: typer.Context,
    transport: Annotated[Literal["stdio", "http"], typer.Option(help="How clients connect.")] = "stdio",
    host: Annotated[str, typer.Option(help="Address to listen on, for http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on, for http.")] = 8111,
    allow_remote: Annotated[
        bool,
        typer.Option(
            "--allow-remote",
            metavar="",
            help="Let other machines reach --host without a token. Their calls use your keys.",
        ),
    ] = False,
    model: options.Model = None,
    source: options.Source = None,
    web: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of another frozen web.")] = None,
    team: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Answer by asking the researchers of this team file; its commands are started."
        ),
    ] = None,
) -> None:
    """Serve the tool `research` over MCP."""
    given = [
        option
        for name, option in _FOR_HTTP.items()
        if getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE"
    ]
    if transport != "http" and given:
        raise typer.BadParameter(f"{' and '.join(given)} can't go with stdio; add --transport http")
    if team is not None and (source is not None or web is not None):
        raise typer.BadParameter("--team can't go with --source or --web: its servers have their own sources")
    if team is not None:
        options.check_input(team, "--team")
    named = sources_in_force(source, None)
    from marchwarden.settings import Settings, load_settings
    from marchwarden.sources.reachability import with_reachable_sources

    def read_settings() -> Settings:
        return with_reachable_sources(load_settings(model=model, source=named, web=web))

    settings = read_settings()

    from marchwarden.cli.optimization.program_notes import Once
    from marchwarden.cli.views import console
    from marchwarden.environment import folder_notes
    from marchwarden.server.transports import serve

    for note in folder_notes():
        console.notice(note)
    investigate = None
    if team is not None:
        from marchwarden.orchestrator.investigator_call import investigator
        from marchwarden.orchestrator.team import read_team

        investigate = investigator(read_team(team))
    serve(
        settings,
        transport=transport,
        host=host,
        port=port,
        allow_remote=allow_remote,
        announce=lambda url: console.done(f"Serving {url}"),
        warn=Once(),
        investigate=investigate,
        reload=read_settings,
    )
