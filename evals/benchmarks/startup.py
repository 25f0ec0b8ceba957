"""How long the quick commands take, against importing what any such command line needs: `import typer, rich`.

    python evals/benchmarks/startup.py [--runs 15]

Paired: each run times every command once, in turn, and the ratios are taken within the run, so that a busy machine
weighs on both sides alike. Prints the medians. The aim is a ratio of at most 3.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    Constraints,
    CostMetadata,
    Depth,
    ResearchResult,
    SourceAuthority,
)
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event, Fetched, Finished, HitRecord, ModelCalled, Searched, Started
from marchwarden.trace.writer import TraceWriter

AIM = 3.0
STEPS = 200
CITATIONS = 7
TRACE_ID = "3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"
SENTENCE = "Tomatoes, peppers and squash need full sun, at least eight hours of it, and a deep watering once a week."


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--runs", type=int, default=15)
    runs = arguments.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        write_trace(Path(folder))
        times = measure(commands(), {**os.environ, "MARCHWARDEN_TRACE_DIR": folder}, runs)
    report(times, runs)


def commands() -> dict[str, list[str]]:
    """The base first."""
    run = [sys.executable, "-m", "marchwarden"]
    return {
        "import typer, rich": [sys.executable, "-c", "import typer, rich"],
        "marchwarden --help": [*run, "--help"],
        f"marchwarden replay ({STEPS} steps)": [*run, "replay", TRACE_ID[:4]],
        "marchwarden history": [*run, "history"],
    }


def measure(programs: dict[str, list[str]], environment: dict[str, str], runs: int) -> dict[str, list[float]]:
    """Seconds of each run; one run more is made first, and not counted, so that all is compiled and cached."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(runs + 1):
        for name, command in programs.items():
            began = time.perf_counter()
            # The trace is made up, so that `replay` ends with the verdict that it is damaged.
            ran = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment)
            if ran.returncode > 1:
                raise subprocess.CalledProcessError(ran.returncode, command)
            if number:
                times[name].append(time.perf_counter() - began)
    return times


def report(times: dict[str, list[float]], runs: int) -> None:
    base = next(iter(times.values()))
    table = Table(title=f"Start-up, medians of {runs} interleaved runs")
    for heading in ("command", "ms", "ratio", f"at most {AIM:g}"):
        table.add_column(heading, justify="left" if heading == "command" else "right")
    for name, seconds in times.items():
        ratio = statistics.median(one / other for one, other in zip(seconds, base, strict=True))
        held = "" if seconds is base else "yes" if ratio <= AIM else "no"
        table.add_row(name, f"{statistics.median(seconds) * 1000:.0f}", f"{ratio:.2f}", held)
    Console().print(table)


def write_trace(folder: Path) -> None:
    """A finished call of STEPS steps whose excerpts are in the store."""
    store = Store(folder / "store")
    pages = [_page(number, store) for number in range(CITATIONS)]
    with TraceWriter(folder, TRACE_ID) as writer:
        writer.record(_started())
        while writer.steps < STEPS - 1:
            writer.record(_step(writer.steps, pages))
        writer.record(Finished(decision="everything is assessed", result=_result(pages)))


def _started() -> Started:
    return Started(
        decision="a new question",
        question="What are ideal crops for a garden in Utah?",
        context=None,
        depth=Depth.DEEP,
        constraints=Constraints(),
        max_seconds=180,
        model_id="anthropic/claude-sonnet-5-5",
        source="web",
        version="0.1.0",
    )


def _step(number: int, pages: list[Fetched]) -> Event:
    if number % 3 == 0:
        return pages[number // 3 % CITATIONS]
    if number % 3 == 1:
        return _model_call(number)
    hits = [HitRecord(url=page.url, title=f"Page {page.url}") for page in pages]
    return Searched(
        decision="an aspect is open", query=f"utah crops {number}", provider="tavily", hits=hits, duration_sec=0.4
    )


def _model_call(number: int) -> ModelCalled:
    return ModelCalled(
        decision="extract asks the model",
        stage="extract",
        model_id="anthropic/claude-sonnet-5-5",
        input_tokens=1200,
        output_tokens=80,
        reserved_tokens=1500,
        charged_tokens=1280,
        tokens_used=number * 1280,
        duration_sec=1.2,
    )


def _page(number: int, store: Store) -> Fetched:
    text = f"Page {number}. {SENTENCE} " * 50
    return Fetched(
        decision="one of the best hits",
        url=f"https://extension{number}.example/crops",
        final_url=f"https://extension{number}.example/crops",
        status=200,
        content_type="text/html",
        content_hash=store.put(f"<p>{text}</p>".encode()),
        content_length=len(text) + 7,
        text_hash=store.put(text.encode()),
        locator=f"https://extension{number}.example/crops",
        title=f"Crops {number}",
        published=date(2025, 3, 1),
        duration_sec=0.3,
    )


def _result(pages: list[Fetched]) -> ResearchResult:
    citations = [
        Citation(
            source="web",
            locator=page.url,
            title=page.title,
            raw_excerpt=SENTENCE,
            confidence=0.8,
            content_hash=page.content_hash,
            published=page.published,
        )
        for page in pages
    ]
    return ResearchResult(
        answer=" ".join(f"Tomatoes do well [{number}]." for number in range(1, CITATIONS + 1)),
        citations=citations,
        gaps=[],
        discovery_events=[],
        open_questions=[],
        confidence=0.8,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=CITATIONS,
            source_authority=SourceAuthority.HIGH,
            contradiction_detected=False,
            query_specificity_match=0.8,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=100_000, iterations_run=5, wall_time_sec=60, budget_exhausted=False, model_id="anthropic/x"
        ),
        trace_id=TRACE_ID,
    )


if __name__ == "__main__":
    main()
