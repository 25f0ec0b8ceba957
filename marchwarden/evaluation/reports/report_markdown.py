"""A run's report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from marchwarden.evaluation.reports.figures import amount, between, between_epochs, number, words
from marchwarden.evaluation.reports.report import TOLD, WORST, Report, meaning
from marchwarden.evaluation.runs.matches import as_words
from marchwarden.evaluation.scoring.metrics import MAIN
from marchwarden.text.escaping import markdown_line


def markdown(report: Report) -> str:
    """Return the report as a Markdown document; text of pages, models and labels is escaped."""
    return "\n\n".join(block for block in _blocks(report) if block) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    yield f"# {markdown_line(report.info.model_id)} on {report.scores.how_many}"
    info = report.info
    facts = {
        "model": info.model_id,
        "program": info.program or "none",
        "pages read by": info.reads_by,
        "version": info.version,
        "date": f"{info.started:%Y-%m-%d %H:%M} UTC",
        "questions": f"{info.questions}{f' ({info.split})' if info.split else ''}",
        "labels": info.labels,
        "source": info.source,
        "pages": info.pages,
    }
    yield " · ".join(f"{name} {markdown_line(value)}" for name, value in facts.items())
    has_epochs = report.info.epochs > 1
    rows = [
        [
            words(each.metric.name),
            number(each.metric, each.value),
            between(each),
            *([between_epochs(each)] if has_epochs else []),
            str(each.questions),
            meaning(each.metric).replace("|", r"\|"),
        ]
        for each in report.scores.overall
        if each.questions
    ]
    yield "## Scores\n\n" + _table(
        ["metric", "score", "95 % interval", *(["epochs"] if has_epochs else []), "n", "what it is"], rows
    )
    if empty := [words(each.metric.name) for each in report.scores.overall if not each.questions]:
        yield f"No question has a label or a result for: {', '.join(empty)}."
    by_kind = report.scores.by_kind
    rows = [
        [
            markdown_line(kind),
            str(count),
            *("" if (value := by_kind[kind][name]) is None else f"{value:.2f}" for name in MAIN),
        ]
        for kind, count in report.kinds().items()
    ]
    yield "## By kind\n\n" + _table(["kind", "n", *map(words, MAIN)], rows)
    if report.cells("gap_categories"):
        rows = [[words(gold), *map(str, counts)] for gold, counts in report.confusion()]
        yield "## Gap categories\n\nA row is what the labels say, a column what was reported."
        yield _table(["labelled ↓ · reported →", *map(words, TOLD)], rows)
    if report.cells("forecast"):
        yield "## Confidence\n\n" + _confidence(report)
    if costs := report.costs():
        rows = [
            [
                each.unit,
                str(each.questions),
                *([str(each.answers)] if has_epochs else []),
                *map(amount, (each.mean, each.median, each.most, each.total)),
            ]
            for each in costs
        ]
        head = ["", "n", *(["answers"] if has_epochs else []), "mean", "median", "most", "total"]
        yield f"## Cost of {'an answer' if has_epochs else 'a question'}\n\n" + _table(head, rows)
    if failed := report.failed:
        reasons = [
            f"- `{each.record.name}`: {markdown_line(each.record.error or 'no reason is known')}" for each in failed
        ]
        yield "## Questions that failed\n\n" + "\n".join(reasons)
    if worst := [each for each in report.from_worst if not each.is_whole][:WORST]:
        rows = [
            [
                f"`{each.record.name}`",
                markdown_line(each.record.question.question),
                f"{each.met} of {len(each.wanted)}",
                "the call failed" if each.failed else markdown_line(" · ".join(as_words(each.missed))),
            ]
            for each in worst
        ]
        yield "## Worst questions\n\nThose of whose labels the smallest share was met."
        yield _table(["id", "question", "met", "not met"], rows)


def _confidence(report: Report) -> str:
    figures = [(name, report.scores.value(name)) for name in ("brier", "calibration_error", "confidence_auroc")]
    said = " · ".join(f"{words(name)} {value:.3f}" for name, value in figures if value is not None)
    rows = [
        [f"{each.low:.1f} – {each.high:.1f}", str(each.count), f"{each.confidence:.2f}", f"{each.right:.2f}"]
        for each in report.reliability()
    ]
    return f"{said}\n\n" + _table(["confidence", "answers", "mean confidence", "share right"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; columns of figures are set to the right."""
    rows = list(rows)
    rule = []
    for column in range(len(head)):
        cells = [row[column] for row in rows]
        are_figures = any(cells) and all(re.fullmatch(r"[\d.,–\s-]*", cell) for cell in cells)
        rule.append("--:" if are_figures else "---")
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])
