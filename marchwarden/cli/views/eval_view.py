"""Evaluation as rich renderables: scores, labels, differences. Pure: console.py prints them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line, visible
from marchwarden.cli.views.tables import INTERVAL, NO_BREAK, Figures, Indented
from marchwarden.evaluation.reports.figures import FEW, between, between_epochs, number, words
from marchwarden.evaluation.scoring.metrics import MAIN

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.evaluation.datasets import DatasetReport
    from marchwarden.evaluation.labels.label_check import Problem
    from marchwarden.evaluation.runs.calibration_fit import BeforeAfter, CalibrationReport, Quality
    from marchwarden.evaluation.runs.compare import Comparison
    from marchwarden.evaluation.runs.run import Grade, Run
    from marchwarden.evaluation.runs.scores import Scores
    from marchwarden.evaluation.scoring.bootstrap import Difference
    from marchwarden.evaluation.scoring.judge import Agreement

    View: TypeAlias = Iterable[RenderableType]

GRADES: tuple[Grade, ...] = ("supported", "partly", "not")


def scores_view(scores: Scores) -> View:
    """Show a run's figures with their intervals, then the main ones by kind."""
    info = scores.info
    program = f", program {info.program}" if info.program else ""
    failed = f", {scores.failed} failed" if scores.failed else ""
    asked = f"{info.model_id}, reading by {info.reads_by}{program}: {scores.how_many}{failed}"
    yield Text(visible(asked), style="bold")
    has_epochs = info.epochs > 1
    rows = [
        (
            words(score.metric.name),
            number(score.metric, score.value),
            between(score),
            *([between_epochs(score)] if has_epochs else []),
            str(score.questions),
        )
        for score in scores.overall
        if score.value is not None
    ]
    head = ("metric", "score", INTERVAL, *(["between epochs"] if has_epochs else []), "questions")
    yield Figures(head, rows, spare=("questions", INTERVAL))
    # A kind without anything to score for a metric leaves its cell empty.
    by_kind = [
        (one_line(kind), *("" if (value := figures[name]) is None else f"{value:.2f}" for name in MAIN))
        for kind, figures in scores.by_kind.items()
    ]
    yield Figures(("kind", *map(words, MAIN)), by_kind)


def runs_view(runs: Sequence[Run]) -> View:
    """Show a row for each run: when it began, its questions (of several epochs, each once), and its main figures."""
    rows = []
    for run in runs:
        done, asked = len(run.records), (run.info.asked or 0) * run.info.epochs
        answers = " answers" if run.info.epochs > 1 else ""
        questions = len({record.id for record in run.records})
        figures = run.figures()
        rows.append(
            (
                one_line(run.name),
                f"{run.info.started.astimezone():%Y-%m-%d %H:%M}",
                f"{done} of {asked}{answers}" if done < asked else str(questions),
                *("–" if (value := figures[each]) is None else f"{value:.2f}" for each in MAIN),
            )
        )
    yield Figures(("run", "began", "questions", *map(words, MAIN)), rows, spare=("began", *map(words, MAIN[:1:-1])))


def running(figures: Mapping[str, float | None]) -> str:
    """Return the main scores so far, on one line that a terminal of 80 columns has room for behind a bar."""
    names = {"evidence_recall": "evidence", "nugget_recall": "nuggets", "gap_category_accuracy": "gaps"}
    return " · ".join(f"{short} {value:.2f}" for name, short in names.items() if (value := figures[name]) is not None)


def labels_view(
    counts: Mapping[str, Mapping[str, int]], shared: Mapping[str, set[str]], problems: Sequence[Problem]
) -> View:
    """Show the number of labels of each kind, the pages that splits share, and the problems."""
    for what, counted in counts.items():
        yield Text.assemble((f"{what}: ", "bold"), " · ".join(f"{name} {count}" for name, count in counted.items()))
    for page, splits in shared.items():
        yield Text(f"shared: {visible(page)} by {', '.join(sorted(splits))}", style="yellow")
    left = [problem for problem in problems if problem.is_open]
    wrong = [problem for problem in problems if not problem.is_open]
    for each in (*left, *wrong):
        yield Text.assemble((f"{each.question}: ", "bold yellow" if each.is_open else "bold red"), visible(each.what))
    if left:
        waiting = len({each.question for each in left})
        yield Text(f"Not labelled yet: {count(len(left), 'thing')} in {count(waiting, 'question')}.")
    failing = f"{count(len(wrong), 'label')} {'does' if len(wrong) == 1 else 'do'} not hold."
    yield Text(failing if wrong else "Every existing label is correct." if left else "Every label holds.")


def comparison_view(comparison: Comparison) -> View:
    """Show how every metric of B differs from A's, then what each question gained and lost."""
    for letter, name, info in zip("AB", comparison.names, (comparison.a, comparison.b), strict=True):
        program = f"program {info.program}" if info.program else "no program"
        set_up = visible(f"{info.model_id}, reading by {info.reads_by}, {program}")
        yield Text.assemble((f"{letter} {visible(name)}: ", "bold"), set_up)
    left = comparison.left_out
    reasons = ((left.only_in_a, "only in A"), (left.only_in_b, "only in B"), (left.labels_differ, "labels differ"))
    said = ", ".join(f"{number} {reason}" for number, reason in reasons if number)
    after = f" compared; left out: {said}" if said else " compared"
    yield Text(count(comparison.questions, "question") + after, "bold")
    for caution in comparison.cautions:
        yield Text(f"Different in the two runs: {caution}.", style="yellow")
    yield _differences(comparison.differences)
    if not comparison.moved:
        yield Text("No question moved.")
        return
    better = sum(len(moved.gained) > len(moved.lost) for moved in comparison.moved)
    worse = sum(len(moved.gained) < len(moved.lost) for moved in comparison.moved)
    yield Text(f"{count(len(comparison.moved), 'question')} moved: {better} better, {worse} worse in B", style="bold")
    for moved in comparison.moved:
        yield Text.assemble((moved.question.id, "bold"), f" {one_line(moved.question.question)}")
        lines = [("+", "green", each) for each in moved.gains] + [("−", "red", each) for each in moved.losses]
        for sign, style, each in lines:
            yield Indented(Text(f"{sign} {one_line(each)}", style=style))


def _differences(found: Sequence[Difference]) -> Figures:
    rows, styles = [], []
    for each in found:
        # A word only for a difference that is certain, and of more than a few questions.
        if not each.is_certain or each.questions < FEW:
            word, style = "", "dim"
        elif each.is_better is None:
            word, style = "changed", ""
        else:
            word, style = ("better", "green") if each.is_better else ("worse", "red")
        if each.low is None:
            interval = ""
        elif each.questions < FEW:
            interval = "–"
        else:
            interval = f"{_signed(each, each.low)} … {_signed(each, each.high)}"
        figures = (number(each.metric, each.a), number(each.metric, each.b), _signed(each, each.value))
        rows.append((words(each.metric.name), *figures, interval, str(each.questions), word))
        styles.append(style)
    return Figures(
        ("metric", "A", "B", f"B{NO_BREAK}−{NO_BREAK}A", INTERVAL, "n", ""),
        rows,
        spare=("n", INTERVAL),
        styles=styles,
    )


def _signed(difference: Difference, value: float | None) -> str:
    """Return a value of the difference's metric with its sign; nothing for None."""
    if not value:
        return "" if value is None else "0"
    if difference.metric.is_share:
        return f"{value:+.3f}"
    return f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.2g}"


# Scores whose calibrated value is shown: the bounds of the contract's bands, and some between. A guess.
SAMPLE_SCORES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)


def calibration_view(report: CalibrationReport) -> View:
    """Show the figures before and after on either set of questions, then a few scores and their calibrated values."""
    fitted = report.calibration
    yield Text(f"{visible(fitted.model_id)}: confidence {visible(fitted.described)}", style="bold")
    rows = _before_after(report.own, "cross-validated")
    if report.test:
        rows += _before_after(report.test, "calibrated")
    yield Figures(("", "answers", "right", "Brier", "calibration error", "AUROC"), rows)
    told = " · ".join(f"{score:.2f} → {fitted.apply(score):.2f}" for score in SAMPLE_SCORES)
    yield Text(f"Scores before → after calibration: {told}")


def _before_after(measured: BeforeAfter, after: str) -> list[tuple[str, ...]]:
    where = one_line(measured.questions)
    right = f"{measured.right:.3f}"
    return [
        (f"{where}: uncalibrated", str(measured.forecasts), right, *_qualities(measured.before)),
        (f"{where}: {after}", "", "", *_qualities(measured.after)),
    ]


def _qualities(quality: Quality) -> tuple[str, str, str]:
    auroc = "–" if quality.auroc is None else f"{quality.auroc:.3f}"
    return f"{quality.brier:.3f}", f"{quality.calibration_error:.3f}", auroc


def agreement_view(found: Agreement) -> View:
    """Show how a judge's marks compare with the string labels."""
    left_out = ((found.unreadable, "not readable"), (found.unasked, "not marked"))
    said = "".join(f", {number} {what}" for number, what in left_out if number)
    yield Text(f"Judge {visible(found.model_id)}: {count(found.answers, 'answer')} marked{said}", style="bold")
    rows = [
        (name, *(str(found.grades.get((labelled, grade), 0)) for grade in GRADES))
        for labelled, name in ((True, "said"), (False, "not said"))
    ]
    yield Figures(("by the labels", *GRADES), rows)
    agreed = "–" if found.agreement is None else f"{found.agreement:.3f}"
    kappa = "–" if found.kappa is None else f"{found.kappa:.3f}"
    yield Text(f"Agreement with the labels on {count(found.facts, 'fact')}: {agreed}, Cohen's kappa {kappa}")


def dataset_view(found: DatasetReport) -> View:
    """Show the figures of a data set, and notes on how to read them."""
    yield Text(f"{found.name}: {found.what}, {count(found.items, 'item')}", style="bold")
    yield Figures(("figure", ""), [(words(name), f"{value:.3f}") for name, value in found.figures.items()])
    for note in found.notes:
        yield Text(f"– {note}", style="dim")
