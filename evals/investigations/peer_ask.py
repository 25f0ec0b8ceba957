"""Ask GPT Researcher one question; peer.py runs this in an environment that has `gpt-researcher`.

    python peer_ask.py REPORT_TYPE OUT < QUESTION

OUT is written twice: when the research is done, and with the report. Its settings come from the environment.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path


async def main(kind: str, out: Path, question: str) -> None:
    researcher = import_module("gpt_researcher").GPTResearcher(query=question, report_type=kind, verbose=False)
    context = await researcher.conduct_research()
    context = context if isinstance(context, str) else "\n".join(map(str, context))
    keep(out, context, None)
    keep(out, context, await researcher.write_report())


def keep(out: Path, context: str, report: str | None) -> None:
    out.write_text(json.dumps({"context": context, "report": report}), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.stdin.read()))
