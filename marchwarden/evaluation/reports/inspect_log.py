"""A run as a log of Inspect (inspect_ai), in its JSON format, version 2: `inspect view` and `read_eval_log` read it.

Own code rather than inspect_ai: the log is plain JSON, and the package would bring some sixty others.
A slow test has inspect_ai read what is written here. Fields are those of https://inspect.aisi.org.uk/eval-logs.html.
"""

from __future__ import annotations

from typing import Any

from marchwarden import __version__
from marchwarden.evaluation.runs.run import Record, Run
from marchwarden.evaluation.runs.scores import scores_of
from marchwarden.evaluation.scoring.aggregates import has_something
from marchwarden.evaluation.scoring.metrics import METRICS, figure

_VERSION = 2
_TASK = "marchwarden/research"


def file_name(run: Run) -> str:
    """Return the name under which Inspect finds a run's log in a folder: it begins with a time."""
    return f"{run.info.started:%Y-%m-%dT%H-%M-%S}_marchwarden_{run.name}.json"


def inspect_log(run: Run) -> dict[str, Any]:
    """Return the log of a run: a sample for each question and epoch, with a score of each metric that it has."""
    scores = scores_of(run)
    # Answers are kept in the order in which they came, which the next run has otherwise.
    records = sorted(run.records, key=lambda each: (each.epoch, each.id))
    names = list(dict.fromkeys(record.id for record in records))
    results = []
    for score in scores.overall:
        if score.value is None:
            continue
        values = {"figure": score.value, "ci_low": score.low, "ci_high": score.high, "epoch_sd": score.spread}
        metrics = {name: {"name": name, "value": value} for name, value in values.items() if value is not None}
        results.append({"name": score.metric.name, "scorer": score.metric.name, "params": {}, "metrics": metrics})
    dataset = {"name": run.info.questions, "samples": scores.info.asked or len(names), "sample_ids": names}
    return {
        "version": _VERSION,
        "status": "success" if scores.answers >= scores.planned else "cancelled",
        "eval": {
            "eval_id": run.info.labels,
            "run_id": run.name,
            "created": run.info.started.isoformat(),
            "task": _TASK,
            "task_id": run.name,
            "task_version": 0,
            "dataset": dataset,
            "model": run.info.model_id,
            "model_args": {},
            "task_args": {"source": run.info.source, "split": run.info.split, "program": run.info.program},
            "config": {"epochs": run.info.epochs},
            "packages": {"marchwarden": run.info.version},
            "metadata": {"written_by": f"marchwarden {__version__}", "pages": run.info.pages},
        },
        "plan": {"name": "plan", "steps": [{"solver": _TASK, "params": {}}], "config": {}},
        "results": {
            "total_samples": scores.planned,
            "completed_samples": scores.answers - scores.failed,
            "scores": results,
        },
        "stats": {
            "started_at": run.info.started.isoformat(),
            "completed_at": "",
            "model_usage": {run.info.model_id: _usage(sum(_tokens(each) for each in run.records))},
        },
        "samples": [_sample(run, record) for record in records],
    }


def _sample(run: Run, record: Record) -> dict[str, Any]:
    question, answer = record.question, record.result.answer if record.result else ""
    source = {"role": "assistant", "content": answer, "source": "generate"}
    return {
        "id": record.id,
        "epoch": record.epoch,
        "input": question.question,
        "target": [nugget.text for nugget in question.vital],
        "messages": [{"role": "user", "content": question.question, "source": "input"}, source],
        "output": {
            "model": run.info.model_id,
            "choices": [{"message": source, "stop_reason": "stop" if record.result else "unknown"}],
            "completion": answer,
            "usage": _usage(_tokens(record)),
            "time": record.seconds,
            **({} if record.result else {"error": record.error}),
        },
        "scores": {
            metric.name: {"value": value, "answer": answer, "metadata": record.cells[metric.cells]}
            for metric in METRICS
            if has_something(record.cells.get(metric.cells)) and (value := figure(metric, [record.cells])) is not None
        },
        "metadata": {
            "tags": question.tags,
            "context": question.context,
            "depth": question.depth.value,
            "trace_id": record.trace_id,
            "confidence": record.result.confidence if record.result else None,
            "citations": [
                {"locator": each.locator, "title": each.title or "", "quote": each.raw_excerpt}
                for each in (record.result.citations if record.result else [])
            ],
            "gaps": [gap.model_dump(mode="json") for gap in record.result.gaps] if record.result else [],
        },
        **({} if record.result else {"error": {"message": record.error, "traceback": "", "traceback_ansi": ""}}),
        "store": {},
        "events": [],
        "model_usage": {run.info.model_id: _usage(_tokens(record))},
        "total_time": record.seconds,
        "attachments": {},
    }


def _tokens(record: Record) -> int:
    return record.result.cost_metadata.tokens_used if record.result else 0


def _usage(tokens: int) -> dict[str, int]:
    # A result has the sum alone.
    return {"input_tokens": 0, "output_tokens": 0, "total_tokens": tokens}
