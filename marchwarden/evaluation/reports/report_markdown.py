"""A run's report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from marchwarden.evaluation.reports.figures import amount, between, number, words
from marchwarden.evaluation.reports.report import MAIN, TOLD, WORST, Asked, Report, Spent, meaning
from marchwarden.evaluation.runs.matches import as_words
from marchwarden.evaluation.runs.scores import Score


def markdown(report: Report) -> str:
    """The report as a Markdown document; what came from pages, models and labels is escaped."""
    return "\n\n".join(block for block in _blocks(report) if block) + "\n"


def _blocks(report: Report) -> Iterator[str]:
    yield f"# {_escaped(report.info.model_id)} on {report.scores.how_many} questions"
    yield _set_up(report)
    yield "## Scores\n\n" + _table(
        ["metric", "score", "95 % interval", "n", "what it is"], [_score_row(each) for each in report.scores.overall]
    )
    yield "## By kind\n\n" + _by_kind(report)
    if report.cells("gap_categories"):
        rows = [[words(gold), *map(str, counts)] for gold, counts in report.confusion()]
        yield "## Gap categories\n\nA row is what the labels say, a column what was reported."
        yield _table(["labelled ↓ · reported →", *map(words, TOLD)], rows)
    if report.cells("forecast"):
        yield "## Confidence\n\n" + _confidence(report)
    if costs := report.costs():
        rows = [[each.unit, str(each.questions), *map(amount, _amounts(each))] for each in costs]
        yield "## Cost of a question\n\n" + _table(["", "n", "mean", "median", "most", "total"], rows)
    yield _failures(report)
    yield _worst(report)


def _set_up(report: Report) -> str:
    info = report.info
    facts = {
        "model": info.model_id,
        "program": info.program or "none",
        "pages read by": info.reads_by,
        "version": info.version,
        "date": f"{info.started:%Y-%m-%d %H:%M} UTC",
        "questions": f"{info.questions}{f' ({info.split})' if info.split else ''}",
        "labels": info.labels,
        "pages": info.pages,
    }
    return " · ".join(f"{name} {_escaped(value)}" for name, value in facts.items())


def _score_row(score: Score) -> list[str]:
    what = meaning(score.metric).replace("|", r"\|")
    return [words(score.metric.name), number(score.metric, score.value), between(score), str(score.questions), what]


def _by_kind(report: Report) -> str:
    kinds, by_kind = report.kinds(), report.scores.by_kind
    rows = [
        [
            _escaped(kind),
            str(count),
            *("" if (value := by_kind[kind][name]) is None else f"{value:.2f}" for name in MAIN),
        ]
        for kind, count in kinds.items()
    ]
    return _table(["kind", "n", *map(words, MAIN)], rows)


def _confidence(report: Report) -> str:
    figures = [(name, report.scores.value(name)) for name in ("brier", "calibration_error", "confidence_auroc")]
    said = " · ".join(f"{words(name)} {value:.3f}" for name, value in figures if value is not None)
    rows = [
        [f"{each.low:.1f} – {each.high:.1f}", str(each.count), f"{each.confidence:.2f}", f"{each.right:.2f}"]
        for each in report.reliability()
    ]
    return f"{said}\n\n" + _table(["confidence", "answers", "mean confidence", "share right"], rows)


def _amounts(spent: Spent) -> tuple[float, ...]:
    return spent.mean, spent.median, spent.most, spent.total


def _failures(report: Report) -> str:
    rows = [f"- `{each.record.id}`: {_escaped(each.record.error or 'no reason is known')}" for each in report.failed]
    return "## Questions that failed\n\n" + "\n".join(rows) if rows else ""


def _worst(report: Report) -> str:
    worst = [each for each in report.from_worst if not each.is_whole][:WORST]
    rows = [
        [
            f"`{each.record.id}`",
            _escaped(each.record.question.question),
            f"{each.met} of {len(each.wanted)}",
            _left(each),
        ]
        for each in worst
    ]
    head = "## Worst questions\n\nThose of whose labels the smallest share was met.\n\n"
    return head + _table(["id", "question", "met", "not met"], rows) if rows else ""


def _left(asked: Asked) -> str:
    return "the call failed" if asked.failed else _escaped(" · ".join(as_words(asked.missed)))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of figures are set to the right."""
    rows = list(rows)
    rule = ["--:" if _is_figures([row[column] for row in rows]) else "---" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])


def _is_figures(cells: Sequence[str]) -> bool:
    return any(cells) and all(re.fullmatch(r"[\d.,–\s-]*", cell) for cell in cells)


_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
