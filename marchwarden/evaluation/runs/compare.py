"""Two runs of the same questions: how every metric differs, how sure that is, and which questions moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marchwarden.errors import EvaluationError
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
            "the frozen web": (self.a.pages, self.b.pages),
            "whether pages were read by meaning": (self.a.reads_by, self.b.reads_by),
            "how many questions ran side by side (seconds)": (self.a.jobs, self.b.jobs),
        }
        return [what for what, (one, other) in pairs.items() if one != other]

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
    theirs = {record.id: record for record in b.records}
    both = [(record, theirs[record.id]) for record in a.records if record.id in theirs]
    pairs = [(one, other) for one, other in both if one.question == other.question]
    left_out = LeftOut(len(a.records) - len(both), len(b.records) - len(both), len(both) - len(pairs))
    if not pairs:
        raise EvaluationError(
            f"{a.name} and {b.name} have no question in common with equal labels",
            hint="Run both on the same --questions or --split.",
        )
    found = differences([one.cells for one, _ in pairs], [other.cells for _, other in pairs])
    # Questions of which B met other labels than A.
    moved = []
    for one, other in pairs:
        # Equal labels are wanted in equal order, so that they can be compared one by one.
        wanted = zip(matches_of(one, a.traces).wanted, matches_of(other, b.traces).wanted, strict=True)
        changes = [(before, after) for before, after in wanted if before.met != after.met]
        if changes:
            gained = [after for _, after in changes if after.met]
            lost = [before for before, _ in changes if before.met]
            moved.append(Moved(one.question, gained, lost, one, other))
    return Comparison(
        a=a.info,
        b=b.info,
        names=(a.name, b.name),
        questions=len(pairs),
        left_out=left_out,
        differences=[each for each in found if each.a is not None or each.b is not None],
        moved=sorted(moved, key=lambda each: (-abs(len(each.gained) - len(each.lost)), each.question.id)),
    )
