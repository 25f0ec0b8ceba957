"""The frozen web dealt to three servers by organisation: does a team find what one server with all pages finds?

    python evals/investigations/partition.py [--split test] [--most N]

Prints the vital nuggets with evidence of: one server with all pages, each member alone, the best member of each
question (known afterwards), and the team.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from uuid import uuid4

import anyio

from evals.investigations.asking import ask, member_of, score, settings_for, start
from evals.investigations.parts import by_organisation, deal
from marchwarden.evaluation.labels.questions import evenly_spaced, load_questions
from marchwarden.server.worker import research_in_worker
from marchwarden.settings import shipped
from marchwarden.trace.events import Returned
from marchwarden.trace.reader import read_trace

PARTS = 3


async def main(split: str, most: int) -> None:
    questions = [each for each in load_questions(shipped("questions") / f"{split}.jsonl") if each.vital]
    questions = evenly_spaced(questions, most) if most else questions
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        parts = deal(folder, by_organisation(PARTS), PARTS)
        own = settings_for(shipped("web"), folder / "traces")
        start(own)
        servers = [own.model_copy(update={"web": part}) for part in parts]
        for part in parts:
            settings_for(part, folder / "traces")
        team = [member_of(f"part{number}", settings) for number, settings in enumerate(servers, start=1)]
        totals = dict.fromkeys(
            ["vital", "all", "all said", "team", "team said", "best", "conflict all", "conflict"], 0
        )
        alone = dict.fromkeys([each.name for each in team], 0)
        rihlas, seconds, seconds_all, unverified = 0, 0.0, 0.0, 0
        for question in questions:
            began = time.monotonic()
            trace_id = str(uuid4())
            result = await research_in_worker(
                question.request, settings=own, trace_id=trace_id, on_progress=lambda message: None
            )
            seconds_all += time.monotonic() - began
            whole = score(question, result, read_trace(own.traces / f"{trace_id}.jsonl"), own)
            began = time.monotonic()
            merged = await ask(question, team, own)
            seconds += time.monotonic() - began
            each_alone = dict.fromkeys(alone, 0)
            for _, _, event in merged.trace.events:
                if isinstance(event, Returned) and event.rihla <= PARTS:
                    trace = read_trace(own.traces / f"{event.trace_id}.jsonl")
                    if trace.result:
                        each_alone[event.researcher] = score(question, trace.result, trace, own).found
            for name, found in each_alone.items():
                alone[name] += found
            rihlas += len(merged.result.lineage or [])
            unverified += merged.unverified
            for name, value in {
                "vital": whole.vital,
                "all": whole.found,
                "all said": whole.said,
                "team": merged.found,
                "team said": merged.said,
                "best": max(each_alone.values()),
                "conflict all": whole.result.confidence_factors.contradiction_detected,
                "conflict": merged.result.confidence_factors.contradiction_detected,
            }.items():
                totals[name] += int(value)
            if merged.found != whole.found:
                print(f"{question.id}: team {merged.found}, one server {whole.found} of {whole.vital}", flush=True)
    report = {
        "split": split,
        "questions": len(questions),
        **totals,
        "alone": alone,
        "rihlas": rihlas,
        "unverified": unverified,
        "seconds a question": round(seconds / len(questions), 2),
        "seconds a question, one server": round(seconds_all / len(questions), 2),
    }
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="test")
    parser.add_argument("--most", type=int, default=0)
    given = parser.parse_args()
    anyio.run(main, given.split, given.most)
