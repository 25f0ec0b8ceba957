"""`marchwarden sources`: what can be searched, what each source needs, and whether it is ready."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marchwarden.settings import Settings

EPILOGUE = """Examples:

marchwarden sources
marchwarden sources --online
    also searches each one that is ready, to see whether it can be reached
marchwarden ask --source arxiv,pubmed "Does vitamin D prevent influenza?"
    several sources at once; `open` stands for all that need no key
marchwarden sources --json | jq -r '.[] | select(.state == "ready") | .name'

Exit codes: 0 shown · 1 with --online: a source that is ready can't be reached · 2 wrong usage."""

# Seconds for one source to answer. A guess.
_ONLINE_TIMEOUT_S = 15.0
# Something that every encyclopedia, archive and forum knows.
_QUERY = "water"


def command(
    online: Annotated[
        bool, typer.Option("--online", metavar="", help="Also test each source with a small search.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """List the sources that can be searched, and what each needs; `*` marks those that are searched by default."""
    from marchwarden.cli.client.frozen_web_note import offline_note
    from marchwarden.cli.views import console
    from marchwarden.settings import load_settings
    from marchwarden.sources.reachability import with_reachable_sources

    given = load_settings()
    settings = with_reachable_sources(given)
    listed = list(_listed(settings, online=online))
    if json:
        console.json(listed)
    else:
        console.sources(listed)
    if note := offline_note(given, settings):
        console.notice(*note)
    if any(each["state"] == "unreachable" for each in listed):
        raise typer.Exit(1)


def _listed(settings: Settings, *, online: bool) -> Iterator[dict[str, Any]]:
    from marchwarden.environment import variable_of
    from marchwarden.source_table import GROUPS, SOURCES
    from marchwarden.sources.source_registry import is_ready, ready_members

    in_force = {
        member
        for source in settings.sources
        for member in (ready_members(settings, source) if source in GROUPS else (source.partition(":")[0],))
    }
    for name, entry in SOURCES.items():
        state, detail = "ready", None
        if not is_ready(settings, name):
            needed = [variable_of(need) for need in entry.needs]
            state, detail = "needs a key", f"Set {needed[0] if len(needed) == 1 else 'one of ' + ', '.join(needed)}."
        elif entry.is_named:
            state, said = state_of_named(name, settings)
            detail = "; ".join(said)
        elif online and entry.kind != "snapshot" and (failure := _failure(settings, name)):
            state, detail = "unreachable", failure
        yield {
            **asdict(entry),
            "needs": [variable_of(need) for need in entry.needs],
            "groups": [group for group, members in GROUPS.items() if name in members],
            "state": state,
            "detail": detail,
            "in_force": name in in_force,
        }


def state_of_named(kind: str, settings: Settings) -> tuple[str, list[str]]:
    """Return the state of a source that is asked for by name, and what there is to say of it.

    That begins with the names that can follow its colon. Each that can't be used is told with the reason.
    """
    from marchwarden.errors import ConfigurationError

    how_to_make = {
        "corpus": "Make one: marchwarden index FOLDER",
        "db": f"Name one in {settings.databases}, or in another file that MARCHWARDEN_DATABASES names.",
        "zim": f"Put a file of https://library.kiwix.org into {settings.zim_folder}",
    }
    try:
        problems = _problems(kind, settings)
    except ConfigurationError as error:
        return "broken", [str(error)]
    told = [name for name, problem in problems.items() if problem is None]
    state = "ready" if told else "broken" if problems else "none there"
    said = [", ".join(told)] if told else [] if problems else [how_to_make[kind]]
    said += [f"{name} can't be used: {problem}" for name, problem in problems.items() if problem]
    if kind == "corpus" and settings.store is not None:
        said.append("Those that are published in the object store can be used too: marchwarden index --list")
    return state, said


def _problems(kind: str, settings: Settings) -> dict[str, str | None]:
    """Return the names of a kind, each with the reason why it can't be used, or None.

    Raises ConfigurationError where the file of databases can't be used.
    """
    if kind == "db":
        from marchwarden.sources.database.database_names import open_names, problem_of

        return {name: problem_of(database) for name, database in open_names(settings.databases).items()}
    if kind == "zim":
        from marchwarden.sources.encyclopedia.zim_archive import problem_of_zim, zim_names

        folder = settings.zim_folder
        return {name: problem_of_zim(folder / f"{name}.zim") for name in zim_names(folder)}
    from marchwarden.corpus.corpora import all_corpora, problem_of_corpus

    return {corpus.name: problem_of_corpus(corpus.name) for corpus in all_corpora()}


def _failure(settings: Settings, name: str) -> str | None:
    """Search one source for a common word, and return what failed; None where nothing did."""
    import asyncio

    from marchwarden.contract import SourceFilter
    from marchwarden.errors import MarchwardenError
    from marchwarden.sources.source_registry import open_tools

    async def ask() -> str | None:
        tools = open_tools(settings.model_copy(update={"source": name}))
        try:
            outcome = await asyncio.wait_for(
                tools.search.search(_QUERY, max_results=1, source_filter=SourceFilter(None)), _ONLINE_TIMEOUT_S
            )
        except asyncio.TimeoutError:
            return f"no answer within {_ONLINE_TIMEOUT_S:.0f} s"
        finally:
            await tools.aclose()
        return outcome.failure.detail if outcome.failure else None

    try:
        return asyncio.run(ask())
    except MarchwardenError as error:
        return str(error)
