"""Two runs of the same questions: how every metric differs, how sure that is, and which questions moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from marchwarden.errors import EvaluationError
from marchwarden.evaluation.labels.known_pages import LIVE
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.runs.matches import Wanted, as_words, matches_of
from marchwarden.evaluation.runs.run import Record, Run, RunInfo
from marchwarden.evaluation.scoring.bootstrap import Difference, differences


@dataclass(frozen=True)
class LeftOut:
    """Questions that are not compared."""

    only_in_a: int
    only_in_b: int
    labels_differ: int
    """Number of questions that both runs asked, with other labels, constraints or words."""

    def __bool__(self) -> bool:
        return bool(self.only_in_a or self.only_in_b or self.labels_differ)


@dataclass(frozen=True)
class Moved:
    """A question of which B met other labels than A."""

    question: Question
    gained: list[Wanted]
    """Labels that B met and A did not."""
    lost: list[Wanted]
    """Labels that A met and B did not."""
    a: Record
    b: Record

    @property
    def gains(self) -> list[str]:
        return as_words(self.gained)

    @property
    def losses(self) -> list[str]:
        return as_words(self.lost)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.question.id,
            "question": self.question.question,
            "gained": self.gains,
            "lost": self.losses,
            "trace_a": self.a.trace_id,
            "trace_b": self.b.trace_id,
        }


@dataclass(frozen=True)
class Comparison:
    a: RunInfo
    b: RunInfo
    names: tuple[str, str]
    """Names of the runs' folders, A's first."""
    questions: int
    """Number of questions that are compared."""
    left_out: LeftOut
    differences: list[Difference]
    """Differences of the metrics that either run has a figure for."""
    moved: list[Moved]
    """Questions of which B met other labels, the largest change of their number first."""

    @property
    def cautions(self) -> list[str]:
        """Things besides the model that are not the same, so that a difference may come from them."""
        pairs = {
            "the program": (self.a.program, self.b.program),
            "Marchwarden's version": (self.a.version, self.b.version),
            "the sources": (self.a.source, self.b.source),
            "the pages": (self.a.pages, self.b.pages),
            "the number of epochs": (self.a.epochs, self.b.epochs),
            "whether pages were read by meaning": (self.a.reads_by, self.b.reads_by),
            "how many questions ran side by side (seconds)": (self.a.jobs, self.b.jobs),
        }
        live = ["the pages, which were live"] if LIVE in (self.a.pages, self.b.pages) else []
        return [what for what, (one, other) in pairs.items() if one != other] + live

    def as_json(self) -> dict[str, Any]:
        differences = [
            {
                "metric": each.metric.name,
                "a": each.a,
                "b": each.b,
                "difference": each.value,
                "interval": None if each.low is None else [each.low, each.high],
                "questions": each.questions,
                "certain": each.is_certain,
                "better": each.is_better,
            }
            for each in self.differences
        ]
        return {
            "a": {"name": self.names[0], **self.a.model_dump(mode="json")},
            "b": {"name": self.names[1], **self.b.model_dump(mode="json")},
            "questions": self.questions,
            "left_out": vars(self.left_out),
            "cautions": self.cautions,
            "differences": differences,
            "moved": [each.as_json() for each in self.moved],
        }


def compare(a: Run, b: Run) -> Comparison:
    """Compare B with A, over the questions that both have with equal labels.

    Raises EvaluationError where there is no such question.
    """
    theirs = {record.key: record for record in b.records}
    both = [(record, theirs[record.key]) for record in a.records if record.key in theirs]
    pairs = [(one, other) for one, other in both if one.question == other.question]
    shared = {one.id for one, _ in both}
    compared = list(dict.fromkeys(one.id for one, _ in pairs))
    only_in_a, only_in_b = (len({record.id for record in run.records} - shared) for run in (a, b))
    left_out = LeftOut(only_in_a, only_in_b, len(shared) - len(compared))
    if not pairs:
        raise EvaluationError(
            f"{a.name} and {b.name} have no question in common with equal labels",
            hint="Run both on the same --questions or --split.",
        )
    names = [one.id for one, _ in pairs]
    found = differences([one.cells for one, _ in pairs], [other.cells for _, other in pairs], names)
    # Questions of which B met other labels than A.
    moved = []
    for name in compared:
        its = [pair for pair in pairs if pair[0].id == name]
        before, after = _mostly_met([one for one, _ in its], a), _mostly_met([other for _, other in its], b)
        # Equal labels are wanted in equal order, so that they can be compared one by one.
        changes = [(one, other) for one, other in zip(before, after, strict=True) if one.met != other.met]
        if changes:
            gained = [other for _, other in changes if other.met]
            lost = [one for one, _ in changes if one.met]
            moved.append(Moved(its[0][0].question, gained, lost, *its[0]))
    return Comparison(
        a=a.info,
        b=b.info,
        names=(a.name, b.name),
        questions=len(compared),
        left_out=left_out,
        differences=[each for each in found if each.a is not None or each.b is not None],
        moved=sorted(moved, key=lambda each: (-abs(len(each.gained) - len(each.lost)), each.question.id)),
    )


def _mostly_met(records: Sequence[Record], run: Run) -> list[Wanted]:
    """Return the labels of a question, each as met where more than half of the epochs met it."""
    epochs = [matches_of(record, run.traces).wanted for record in records]
    return [
        replace(label[0], met=2 * sum(each.met for each in label) > len(label)) for label in zip(*epochs, strict=True)
    ]
