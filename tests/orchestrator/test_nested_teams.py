"""A team whose researchers are teams, on servers with addresses: as deep as they are nested, and never in a circle."""

from __future__ import annotations

import json
import socket
from collections import Counter
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.orchestrator.investigator_call import MOST_NESTED, investigator, run_investigation
from marchwarden.orchestrator.team import Team, read_team
from marchwarden.server.http.app import serve_http
from marchwarden.server.mcp import build
from marchwarden.server.service import Service
from tests.orchestrator.fakes import BUILT, QUESTION, TRACE_ID, Script, member, settings_of

pytestmark = pytest.mark.anyio

REFUSED = (
    "it refused: this researcher is a team that contains itself, directly or through the team of another server."
)


async def ask(
    asks: dict[str, list[str]], folder: Path, *, last: Team | None = None
) -> tuple[ResearchResult, Counter[str]]:
    """Return the result of an investigation of the team `a`, and how many calls each server began.

    The team of each server names servers; `last` is that of one which is named, but not given.
    """
    begun: Counter[str] = Counter()
    names = {*asks, *(each for named in asks.values() for each in named)}
    listeners = {name: socket.create_server(("127.0.0.1", 0)) for name in names}
    teams = {}
    for name, named in asks.items():
        servers = {each: {"url": f"http://127.0.0.1:{listeners[each].getsockname()[1]}/mcp"} for each in named}
        (folder / f"{name}.json").write_text(json.dumps({"mcpServers": servers}))
        teams[name] = read_team(folder / f"{name}.json")
    leave = anyio.Event()
    async with anyio.create_task_group() as group:
        for name, listener in listeners.items():
            (folder / name).mkdir()
            service = Service(settings_of(folder / name))
            service.on_call_end.append(lambda record, name=name: begun.update([name]))  # type: ignore[misc]
            server = build(
                service.settings, investigate=investigator(teams.get(name) or last or Team(())), service=service
            )
            group.start_soon(serve_http, server, service, listener, "127.0.0.1", None, leave)
        try:
            result = await run_investigation(
                ResearchRequest(question=QUESTION),
                teams["a"],
                settings_of(folder / "asker"),
                trace_id=TRACE_ID,
                seconds=60,
            )
        finally:
            leave.set()
    return result, begun


@pytest.mark.parametrize("asks", [{"a": ["a"]}, {"a": ["b"], "b": ["a"]}], ids=["itself", "through another"])
async def test_a_team_that_contains_itself_is_refused_where_the_circle_closes(
    asks: dict[str, list[str]], tmp_path: Path
) -> None:
    result, begun = await ask(asks, tmp_path)
    assert result.status == "failed"
    assert any(REFUSED in gap.detail for gap in result.gaps), result.gaps
    # What closes the circle does not begin, and is not asked again.
    assert begun == dict.fromkeys(asks.keys() - {"a"}, 1)


async def test_a_team_inside_another_answers(tmp_path: Path) -> None:
    built, one = member("one", tmp_path / "b", Script(pages=BUILT))
    result, _ = await ask({"a": ["b"]}, tmp_path, last=Team((one,)))
    assert result.citations
    assert len(built.asked) == 1
    assert built.asked[0].teams == (read_team(tmp_path / "a.json").fingerprint, Team((one,)).fingerprint)


async def test_teams_are_nested_to_a_limit(tmp_path: Path) -> None:
    depth = [chr(ord("a") + number) for number in range(MOST_NESTED + 1)]
    asks = {name: [inner] for name, inner in pairwise(depth)}
    _, one = member("one", tmp_path, Script(pages=BUILT))
    result, begun = await ask(asks, tmp_path, last=Team((one,)))
    assert begun == dict.fromkeys(depth[1:-1], 1)
    assert any(f"a team inside {MOST_NESTED} others" in gap.detail for gap in result.gaps), result.gaps
