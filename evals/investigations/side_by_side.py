"""Many researchers at once: 1, 10 and 100, each with its own connection, and what one more costs.

    python evals/investigations/side_by_side.py

The researchers are real MCP servers in this process that answer at once from one stored page, so that what is
measured is the investigator's own part.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import Call, McpMember
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.server.mcp import build
from marchwarden.settings import Settings
from marchwarden.trace.reader import read_trace
from tests.orchestrator.fakes import QUESTION, FakeMember, Script, an_id, page, settings_of

SECONDS_EACH = 0.5


def a_member(number: int, settings: Settings) -> TeamMember:
    """Return a researcher that takes half a second, and quotes a page of its own."""
    words = ["stone", "iron", "timber", "brick", "river", "valley", "harbour", "market", "chapel", "mill"]
    told = " ".join(words[int(digit)] for digit in f"{number:03}")
    said = (
        f"The Halden Bridge was built in 1931, and the salt company paid for it, says the {told} society of Halden."
    )
    fake = FakeMember(
        "", settings.traces, lambda call, count: Script(pages=page(f"https://site{number}.example.org/", said))
    )

    async def research(request: ResearchRequest, *, trace_id: str, **more: Any) -> ResearchResult:
        await anyio.sleep(SECONDS_EACH)
        call = Call(trace_id, request.question, None, request.depth, request.constraints.token_budget)
        reply = await fake.ask(call, lambda message: None)
        assert reply.result
        return reply.result

    name = f"r{number}"
    server = build(settings, research=research)
    return TeamMember(name=name, open=lambda: McpMember(name, lambda: server), identity=name)


async def main() -> None:
    for count in (1, 1, 10, 50, 100):
        with tempfile.TemporaryDirectory() as folder:
            settings = settings_of(Path(folder))
            team = Team(tuple(a_member(number, settings) for number in range(count)))
            request = ResearchRequest.model_validate({"question": QUESTION, "constraints": {"token_budget": 100_000}})
            began, cpu = time.monotonic(), time.process_time()
            result = await run_investigation(
                request, team, settings, trace_id=an_id(count), seconds=120, at_once=count
            )
            took, used = time.monotonic() - began, time.process_time() - cpu
            lines = read_trace(settings.traces / f"{an_id(count)}.jsonl").raw
            lineage = result.lineage or []
            told = {
                "researchers": count,
                "answered": sum(each.outcome == "answered" for each in lineage),
                "seconds": round(took, 2),
                "cpu seconds": round(used, 2),
                "lines of the trace": len(lines),
                "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            }
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    anyio.run(main)
