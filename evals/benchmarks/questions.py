"""Runs questions over the shipped frozen web and tells, for each, what it cost, what fell back, and whether every
excerpt verifies offline.

    python evals/benchmarks/questions.py                                     # without a model
    MARCHWARDEN_MODEL=openai/NAME MARCHWARDEN_API_BASE=http://127.0.0.1:8101/v1 MARCHWARDEN_MAX_SECONDS=600 \\
        python evals/benchmarks/questions.py --limit 10 --depth shallow      # with a local one
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import uuid
from collections import Counter
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))

from marchwarden.agent.research import research
from marchwarden.contract import ResearchRequest
from marchwarden.settings import Settings, load_settings
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import read_trace
from marchwarden.trace.verify import verify
from marchwarden.trace.writer import TraceWriter
from tests.questions import QUESTIONS


async def one(question: str, settings: Settings, arguments: dict[str, object]) -> tuple[float, int, int]:
    """Run one question and print its row; returns seconds, excerpts, and excerpts that do not verify."""
    trace_id = str(uuid.uuid4())
    request = ResearchRequest.model_validate({"question": question, **arguments})
    with TraceWriter(settings.traces, trace_id) as writer:
        result = await research(request, settings=settings, recorder=writer, trace_id=trace_id)
    trace = read_trace(writer.path)
    wrong = verify(result, trace, Store(settings.store_folder))
    cost = result.cost_metadata
    calls = Counter(event.stage for _, _, event in trace.events if event.action == "model_call")
    fell = [event for _, _, event in trace.events if event.action == "fallback"]
    dropped = sum(event.action == "drop" for _, _, event in trace.events)
    print(
        f"{question[:58]:58} {cost.wall_time_sec:7.2f}s {cost.tokens_used:6}/{request.constraints.token_budget}"
        f" cited {len(result.citations)} wrong {len(wrong)} gaps {[gap.category.value for gap in result.gaps]}"
        f" confidence {result.confidence} calls {dict(calls)} dropped {dropped}"
        f" fell back {dict(Counter(f'{event.stage}: {event.reason[:70]}' for event in fell))}",
        flush=True,
    )
    return cost.wall_time_sec, len(result.citations), len(wrong)


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=len(QUESTIONS))
    parser.add_argument("--depth", default="balanced")
    parser.add_argument("--budget", type=int)
    options = parser.parse_args()
    arguments: dict[str, object] = {"depth": options.depth}
    if options.budget:
        arguments["constraints"] = {"token_budget": options.budget}
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(source="snapshot", trace_dir=Path(folder))
        await one(QUESTIONS[0], settings.model_copy(update={"model": "extractive"}), {})  # builds the search index
        rows = [await one(question, settings, arguments) for question in QUESTIONS[: options.limit]]
    seconds, cited, wrong = zip(*rows, strict=True)
    print(
        f"{settings.model_id}: {len(rows)} questions, {sum(cited)} excerpts, {sum(wrong)} not verified, "
        f"median {statistics.median(seconds):.3f} s, longest {max(seconds):.3f} s"
    )
    return 1 if sum(wrong) else 0


if __name__ == "__main__":
    sys.exit(anyio.run(main))
