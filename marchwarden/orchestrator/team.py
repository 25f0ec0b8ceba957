"""A team: the researchers that an investigation may ask, from an MCP client's configuration or from the settings.

A team file starts commands and sends questions to addresses, so it is read only where it is named.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from marchwarden.environment import without_credentials
from marchwarden.errors import ConfigurationError, InvalidRequest
from marchwarden.orchestrator.members import Endpoint, McpMember, Member, Program
from marchwarden.settings import Settings
from marchwarden.source_table import GROUPS, SOURCES
from marchwarden.sources.source_registry import open_tools, ready_members
from marchwarden.trace.events import MemberRecord

# What only a specialist has: such a researcher is asked first where a sub-question asks for it.
SPECIALITIES = frozenset({"academic", "arxiv", "database", "legal"})
# The word in `answers` of a researcher that has copies of pages which are closed to others.
OPEN_COPIES = "open_copies"
# Likeness of two words from which on one is a misspelling of the other, 0–1. A guess: `at-once`, `answer`, `databse`;
# keys of other clients, such as `type`, `envFile`, `timeout` and `autoApprove`, are below.
_LIKE = 0.8
_NAME = re.compile(r"[\w][\w .:-]{0,63}")


@dataclass(frozen=True)
class TeamMember:
    name: str
    open: Callable[[], Member]
    """Makes the connection, which begins when it is run."""
    identity: str
    """Text by which a resumed investigation knows the researcher again: command or address, without secrets."""
    answers: tuple[str, ...] = ()
    """Kinds of questions that it is meant for: `academic`, `database`, `open_copies` …; none for a general one."""
    at_once: int = 1
    """Questions that it is asked at the same time, at most."""
    share: float = 1.0
    """Weight of its part of the tokens."""
    is_own: bool = False
    """True for a researcher of this process, whose figures are those of this code."""

    @property
    def record(self) -> MemberRecord:
        """The researcher as a trace names it."""
        return MemberRecord(name=self.name, answers=list(self.answers), share=self.share, is_own=self.is_own)

    @property
    def is_general(self) -> bool:
        """True where it can be asked anything."""
        return not self.answers or not set(self.answers) <= SPECIALITIES | {OPEN_COPIES}


@dataclass(frozen=True)
class Team:
    members: tuple[TeamMember, ...]

    @property
    def fingerprint(self) -> str:
        """Hash of what a resumed investigation must have again."""
        told = [[each.name, each.identity, each.answers, each.at_once, each.share] for each in self.members]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def named(self, name: str) -> TeamMember:
        return next(each for each in self.members if each.name == name)

    def answering(self, kind: str) -> list[TeamMember]:
        """Return the members that say that they answer for a kind of question."""
        # An arXiv paper is academic, too.
        kinds = {kind, "academic"} if kind == "arxiv" else {kind}
        return [each for each in self.members if kinds & set(each.answers)]


class _Server(BaseModel):
    """An entry of `mcpServers`; clients have more keys, which are left alone."""

    model_config = ConfigDict(extra="ignore")

    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    disabled: bool = False
    answers: list[str] = []
    at_once: int = Field(1, ge=1, le=100)
    share: float = Field(1.0, gt=0, le=100)


def read_team(path: Path) -> Team:
    """Return the team in a file: `{"mcpServers": {NAME: {"command": …} or {"url": …}}}`.

    Raises ConfigurationError, which names what is wrong, where there is none.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{path} can't be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from None
    servers = found.get("mcpServers") if isinstance(found, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise ConfigurationError(
            f"{path} names no researcher",
            hint='A team file is the configuration of an MCP client: {"mcpServers": {"web": {"command": …}}}',
        )
    members = [_member(path, str(name), entry) for name, entry in servers.items()]
    kept = tuple(each for each in members if each is not None)
    if not kept:
        raise ConfigurationError(f"every researcher in {path} is disabled")
    return Team(kept)


def _member(path: Path, name: str, entry: Any) -> TeamMember | None:
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"{path}: {name!r} is not a valid name of a researcher: use letters, digits, spaces, . : - _"
        )
    try:
        server = _Server.model_validate(entry)
    except ValidationError as error:
        problems = "; ".join(f"{field}: {problem}" for field, problem in InvalidRequest.of(error).problems)
        raise ConfigurationError(f"{path}: {name}: {problems}") from None
    # A word that is nearly one of ours is a misspelling, which would change who is asked what, unnoticed.
    answers = tuple(dict.fromkeys(each.strip().lower() for each in server.answers))
    for given, known in ((entry, {*_Server.model_fields}), (answers, SPECIALITIES | {OPEN_COPIES})):
        for word in given:
            near = next(iter(get_close_matches(word.lower(), known, n=1, cutoff=_LIKE)), None)
            if near and word not in known:
                raise ConfigurationError(f"{path}: {name}: {word!r} is not known (did you mean {near}?)")
    if server.disabled:
        return None
    if bool(server.command) == bool(server.url):
        raise ConfigurationError(f"{path}: {name} needs either a command or a url")
    if server.url and not server.url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{path}: {name}: url must begin with http:// or https://")
    identity = (
        without_credentials(server.url) if server.url else json.dumps([server.command, *server.args, server.cwd])
    )

    def opened() -> McpMember:
        place = Endpoint(server.url) if server.url else Program()
        return McpMember(name, lambda: _target(server, place), place=place)

    return TeamMember(
        name=name,
        open=opened,
        identity=identity,
        answers=answers,
        at_once=server.at_once,
        share=server.share,
    )


def _target(server: _Server, place: Endpoint | Program) -> Any:
    """Return what the SDK's client connects to."""
    if isinstance(place, Endpoint):
        return _over_http(server, place)
    if server.cwd and not Path(server.cwd).is_dir():
        raise OSError(f"there is no folder {server.cwd}")
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    program = StdioServerParameters(
        command=server.command or "", args=server.args, env=server.env or None, cwd=server.cwd
    )
    # On our own standard error it would be drawn over the tree, and would not say whose it is.
    return stdio_client(program, errlog=place.stream())


@asynccontextmanager
async def _over_http(server: _Server, place: Endpoint) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # Nothing waits for longer than the member allows. The SDK does not close a client that it was given.
    async with (
        httpx2.AsyncClient(headers=server.headers, timeout=None, event_hooks={"response": [place.note]}) as client,
        streamable_http_client(place.url, http_client=client) as streams,
    ):
        yield streams


def own_team(settings: Settings) -> Team:
    """Return the team of the sources in the settings: one researcher for each, served in this process."""

    def member(source: str) -> TeamMember:
        def server() -> Any:
            from marchwarden.server.mcp import build

            return build(settings.model_copy(update={"source": source}))

        return TeamMember(
            name=source,
            open=lambda: McpMember(source, server),
            identity=f"source {source}",
            is_own=True,
            answers=answers_of(source),
        )

    return Team(tuple(member(source) for source in ready_sources(settings)))


async def checked_own_team(settings: Settings) -> Team:
    """Return own_team. Raises ConfigurationError where one of its sources can't be opened: a corpus is missing."""
    await open_tools(settings).aclose()
    return own_team(settings)


def ready_sources(settings: Settings) -> Sequence[str]:
    """Return the sources that can be searched with these settings, those of a group one by one."""
    found = [
        member
        for source in settings.sources
        for member in (ready_members(settings, source) if source in GROUPS else (source,))
    ]
    return list(dict.fromkeys(found))


def answers_of(source: str) -> tuple[str, ...]:
    """Return the kinds of questions that a source is meant for; none for a general one."""
    name = source.partition(":")[0]
    match SOURCES[name].kind:
        case "scholarly":
            return ("academic", "arxiv") if name == "arxiv" else ("academic",)
        case "database":
            return ("database",)
        case _:
            return ()
