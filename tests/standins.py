"""Research functions that misbehave in one way each, run by real workers in place of marchwarden.agent.research:research."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm  # type: ignore[import-untyped]

from marchwarden.agent.conclusion import Checkpoint
from marchwarden.contract import ConfidenceFactors, CostMetadata, ResearchRequest, ResearchResult, SourceAuthority
from marchwarden.errors import ConfigurationError
from marchwarden.ledger import Ledger
from marchwarden.settings import Settings
from marchwarden.text.ranking import rank
from marchwarden.trace.events import Dropped, Finished, ModelCalled, Recorder, Started

Keep = Callable[[Checkpoint], None] | None
ANOTHER = "3f2b8c1e-0d4a-4e5b-9c6d-7a8b9c0d1e2f"


def a_result(trace_id: str, answer: str = "Nothing could be found.", tokens_used: int = 0) -> ResearchResult:
    return ResearchResult(
        answer=answer,
        citations=[],
        gaps=[],
        discovery_events=[],
        open_questions=[],
        confidence=0.1,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=0,
            source_authority=SourceAuthority.LOW,
            contradiction_detected=False,
            query_specificity_match=0,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=tokens_used, iterations_run=1, wall_time_sec=0, budget_exhausted=False, model_id="standin"
        ),
        trace_id=trace_id,
    )


def started(request: ResearchRequest, settings: Settings) -> Started:
    return Started(
        decision="a stand-in",
        question=request.question,
        context=request.context,
        depth=request.depth,
        constraints=request.constraints,
        max_seconds=settings.seconds_for(request.depth),
        model_id="standin",
        source="snapshot",
        version="0",
    )


def model_called(tokens_used: int) -> ModelCalled:
    return ModelCalled(
        decision="ask",
        stage="plan",
        model_id="standin",
        input_tokens=tokens_used,
        output_tokens=0,
        reserved_tokens=tokens_used,
        charged_tokens=tokens_used,
        tokens_used=tokens_used,
        duration_sec=0.1,
    )


async def research(
    request: ResearchRequest, *, settings: Settings, recorder: Recorder, trace_id: str, checkpoint: Keep = None
) -> ResearchResult:
    """Does what the question's first word names: a function of this module."""
    recorder.record(started(request, settings))
    recorder.progress(f"doing: {request.question}")
    act = globals()[f"_{request.question.split()[0]}"]
    result: ResearchResult = await act(request, recorder, trace_id, checkpoint or (lambda _: None))
    recorder.record(Finished(decision="done", result=result))
    return result


def _a_checkpoint(request: ResearchRequest) -> Checkpoint:
    return Checkpoint(
        request=request,
        ledger=Ledger(question=request.question, queries=["a query that was sent"]),
        tokens_used=7,
        iterations_run=3,
        exhausted=[],
        model_id="standin",
        kind="web",
    )


async def _answer(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    return a_result(trace_id, f"process {os.getpid()} says: {request.question}")


async def _rank(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    return a_result(trace_id, f"Scores: {rank('beans', ['Beans grow.', 'Rain fell.'])}")


async def _die_while_ranking(
    request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep
) -> ResearchResult:
    """Ranking shows its progress with tqdm, which takes its lock for that."""
    with tqdm.get_lock():
        os.kill(os.getpid(), signal.SIGKILL)
    return a_result(trace_id)


async def _sleep(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    await asyncio.sleep(600)
    return a_result(trace_id)


async def _save_and_sleep(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    assert keep
    keep(_a_checkpoint(request))
    time.sleep(600)  # noqa: ASYNC251  a blocked loop is the point
    return a_result(trace_id)


async def _hold_the_gil(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Catastrophic backtracking: no other thread of the process runs, for longer than anybody waits."""
    re.match(r"(a+)+$", "a" * 60 + "b")
    return a_result(trace_id)


async def _overspend(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    assert keep
    keep(_a_checkpoint(request))
    recorder.record(model_called(400))
    recorder.record(model_called(501))
    return a_result(trace_id, tokens_used=501)


async def _segfault(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    ctypes.string_at(0)
    return a_result(trace_id)


async def _exit(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    os._exit(3)


async def _eat_memory(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    _ = bytearray(1 << 40)
    return a_result(trace_id)


async def _raise(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    raise KeyError("sk-secret-in-a-message")


async def _misconfigured(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    raise ConfigurationError("the model has no key", hint="Set ANTHROPIC_API_KEY.")


async def _print(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Write to stdout in every way there is, and read from stdin."""
    print("from Python", flush=True)
    os.write(1, b"from the descriptor\n")
    ctypes.CDLL(None).puts(b"from C")
    subprocess.run(["echo", "from a child"], check=True)  # noqa: ASYNC221
    logging.getLogger("x").critical("from logging")
    return a_result(trace_id, f"stdin holds {sys.stdin.read()!r}")


async def _garble(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Write what is not a frame to the parent."""
    channel = recorder._channel  # type: ignore[attr-defined]
    channel.sendall(b"result of nothing\n{}")
    await asyncio.sleep(600)
    return a_result(trace_id)


async def _lose_pages(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Cite a page that the disk does not take."""

    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    os.fsync = broken
    name = recorder._store.put(b"page")  # type: ignore[attr-defined]
    recorder.record(Dropped(decision=name, what="claim", text="t"))
    return a_result(trace_id, "The page says so.")


async def _overstate(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Claim to send more than any call has to say."""
    recorder._channel.sendall(b"result 999999999\n{}")  # type: ignore[attr-defined]
    await asyncio.sleep(600)
    return a_result(trace_id)


async def _finish_another(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """End with the result of another call."""
    return a_result(ANOTHER)


async def _return_another(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Return the result of another call, which no event holds."""
    recorder.result(a_result(ANOTHER))  # type: ignore[attr-defined]
    await asyncio.sleep(600)
    return a_result(trace_id)


async def _misreport(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Report an event that there is not."""
    recorder.send("event", '{"action": "invent", "decision": "more"}')  # type: ignore[attr-defined]
    await asyncio.sleep(600)
    return a_result(trace_id)


async def _forge(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Report events that claim to be other lines of the trace, before and after the answer."""
    forged = (
        '{"action": "drop", "decision": "d", "what": "claim", "text": "t", "step": 9, "before": "x", "seal": "y"}'
    )
    recorder.send("event", forged)  # type: ignore[attr-defined]
    result = a_result(trace_id, "the answer")
    recorder.record(Finished(decision="done", result=result))
    recorder.send("event", forged)  # type: ignore[attr-defined]
    return result


async def _die_with_the_answer(
    request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep
) -> ResearchResult:
    recorder.record(Finished(decision="done", result=a_result(trace_id, "the answer")))
    os.kill(os.getpid(), signal.SIGKILL)
    return a_result(trace_id)


async def _say_much(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Report an event that the channel has no room for."""
    recorder.record(Dropped(decision="too long", what="claim", text="x" * 8_000_000))
    return a_result(trace_id, "the answer")


async def _misreport_numbers(
    request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep
) -> ResearchResult:
    """Report what is no JSON for Python, and then that it is done by the file that the question names."""
    recorder.send("event", "1" * 10_000)  # type: ignore[attr-defined]
    Path(request.question.split()[1]).touch()  # noqa: ASYNC240
    time.sleep(600)  # noqa: ASYNC251
    return a_result(trace_id)


async def _tell_pid(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    """Leave the process's id in the file that the question names, then hold the GIL."""
    Path(request.question.split()[1]).write_text(str(os.getpid()))  # noqa: ASYNC240
    return await _hold_the_gil(request, recorder, trace_id, keep)


async def _kill_itself(request: ResearchRequest, recorder: Recorder, trace_id: str, keep: Keep) -> ResearchResult:
    os.kill(os.getpid(), signal.SIGKILL)
    return a_result(trace_id)
