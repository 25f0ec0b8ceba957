"""What follow-ups bring, by kind, and the numbers of the utility that follow from it (orchestrator/agenda.py).

    python -m evals.investigations.utility collect STEPS.jsonl [--split train] [--most N]
    python -m evals.investigations.utility fit STEPS.jsonl

collect asks the labelled questions of the frozen web, dealt to three servers (partition.py) and with closed pages
whose copies a second server has (follow_ups.py), and follows every step, whatever it is worth. A line tells one step:
its kind, the features of its utility, and how many vital nuggets its researcher found evidence for that none before
it had.

fit prints for each kind how often a step brought something new, and the prior: the share of steps that bring it
after the other factors are divided out. A kind with few steps stays near its present prior, which counts as much as
eight steps. It then prints, for several least utilities, the nuggets and the calls that would be left.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel

from evals.investigations.asking import ask, member_of, settings_for, start
from evals.investigations.follow_ups import ANSWERS, CLOSED, movable, write_webs
from evals.investigations.partition import PARTS
from evals.investigations.parts import by_organisation, deal
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import Question, evenly_spaced, load_questions
from marchwarden.evaluation.runs.matches import texts_of
from marchwarden.evaluation.scoring.answer_scorers import evidence_recall
from marchwarden.ledger import Ledger
from marchwarden.orchestrator import agenda, next_steps
from marchwarden.orchestrator.agenda import Valued, gained_of, needs_of, share_of, worth
from marchwarden.orchestrator.rihla import PRIOR_OPEN_QUESTION, Step
from marchwarden.orchestrator.team import TeamMember
from marchwarden.settings import Settings, shipped
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Dispatched, Returned
from marchwarden.trace.reader import read_trace

# Steps that the present prior of a kind counts for. A guess.
PRESENT_COUNTS = 8
FIRST = "sub_question"
PRIORITIES = {prior: priority.value for priority, prior in PRIOR_OPEN_QUESTION.items()}


class Followed(BaseModel):
    """One question to a researcher, and what it brought."""

    set: str
    question: str
    rihla: int
    kind: str
    parent: int | None
    prior: float
    share: float
    generation: int
    need: float
    gained: float
    new: int
    """Vital nuggets with evidence that no rihla before it had."""

    def utility(self, prior: float, factors: agenda.Factors) -> float:
        return worth(prior, self.share, self.generation, self.need, self.gained, factors)


async def collect(split: str, most: int, steps: Path) -> None:
    questions = [each for each in load_questions(shipped("questions") / f"{split}.jsonl") if each.vital]
    closed = [each for each in questions if movable(each, CLOSED)]
    if most:
        questions, closed = evenly_spaced(questions, most), evenly_spaced(closed, most)
    next_steps.LEAST_UTILITY = 0.0
    seen: dict[tuple[str, str], dict[str, Any]] = {}
    next_steps.ranked = _noting(seen)
    with tempfile.TemporaryDirectory() as made, steps.open("a", encoding="utf-8") as lines:
        folder = Path(made)
        own = settings_for(shipped("web"), folder / "traces")
        start(own)
        parts = [settings_for(part, folder / "traces") for part in deal(folder, by_organisation(PARTS), PARTS)]
        three = [member_of(f"part{number}", part) for number, part in enumerate(parts, start=1)]
        moved = set().union(*(movable(each, CLOSED) for each in closed))
        web, library = (settings_for(each, folder / "traces") for each in write_webs(folder, moved, CLOSED))
        two = [member_of("web", web), member_of("library", library, ANSWERS[CLOSED])]
        for name, asked, team in (("partition", questions, three), (CLOSED, closed, two)):
            for question in asked:
                seen.clear()
                for each in await _followed(name, question, team, own, seen):
                    lines.write(each.model_dump_json() + "\n")
                lines.flush()


def _noting(seen: dict[tuple[str, str], dict[str, Any]]) -> Callable[..., list[Valued]]:
    """Return `ranked`, which also notes what each step had when it was last ranked."""

    def ranked(steps: Iterable[Step], question: str, gains: Sequence[float], ledger: Ledger) -> list[Valued]:
        found = agenda.ranked(list(steps), question, gains, ledger)
        needs = needs_of(ledger)
        for step in (each.step for each in found):
            priority = f" {PRIORITIES[step.prior]}" if step.origin == "open_question" else ""
            seen[step.researcher, step.question] = {
                "kind": step.origin + priority,
                "prior": step.prior,
                "share": share_of(step, question),
                "generation": step.generation,
                "need": needs.get(step.aspect, 0.0),
                "gained": gained_of(gains),
            }
        return found

    return ranked


async def _followed(
    name: str,
    question: Question,
    team: Sequence[TeamMember],
    own: Settings,
    seen: dict[tuple[str, str], dict[str, Any]],
) -> list[Followed]:
    answered = await ask(question, team, own)
    traces = {event.rihla: event.trace_id for _, _, event in answered.trace.events if isinstance(event, Returned)}
    known: set[int] = set()
    found = []
    for _, _, event in answered.trace.events:
        if not isinstance(event, Dispatched):
            continue
        nuggets = _evidenced(question, traces.get(event.rihla), own)
        first = {"kind": FIRST, "prior": 1.0, "share": 1.0, "generation": 0, "need": 1.0, "gained": 1.0}
        told = first if event.origin == FIRST else seen[event.researcher, event.question]
        of_rihla = {"set": name, "question": question.id, "rihla": event.rihla, "parent": event.parent}
        found.append(Followed(**of_rihla, **told, new=len(nuggets - known)))
        known |= nuggets
    return found


def _evidenced(question: Question, trace_id: str | None, settings: Settings) -> set[int]:
    """Return the places of the vital nuggets that a researcher's citations give evidence for."""
    trace = read_trace(settings.traces / f"{trace_id}.jsonl") if trace_id else None
    if trace is None or trace.result is None:
        return set()
    texts = texts_of(trace, Store(settings.store_folder))
    return {
        number
        for number, nugget in enumerate(question.vital)
        if (
            evidence_recall(
                Case(question=question.model_copy(update={"nuggets": [nugget]}), result=trace.result, texts=texts)
            )
            or {}
        ).get("hits")
    }


def fit(steps: list[Followed]) -> None:
    after = [each for each in steps if each.kind != FIRST]
    by_kind: dict[str, list[Followed]] = defaultdict(list)
    for each in after:
        by_kind[each.kind].append(each)
    present = agenda.FACTORS
    grid = product((0.2, 0.4, 0.7, 1.0), (0.1, 0.3, 0.6, 1.0), (0.1, 0.3, 0.6, 1.0))
    candidates = [agenda.Factors(*values) for values in grid]
    for name, factors in {
        "present factors": present,
        "best factors": max(candidates, key=lambda each: _likelihood(by_kind, each)),
    }.items():
        priors = _priors(by_kind, factors)
        print(f"{name}: {factors}, log-likelihood {_likelihood(by_kind, factors):.2f}")
        for kind, of_kind in sorted(by_kind.items()):
            hits = sum(each.new > 0 for each in of_kind)
            print(f"  {kind}: {len(of_kind)} steps, {hits} brought something; prior {priors[kind]:.3f}")
        for least in (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15):
            print(f"  from {least}: {_left(steps, priors, factors, least)}")
    print(f"present priors: {_left(steps, {each.kind: each.prior for each in after}, present, agenda.LEAST_UTILITY)}")


def _priors(by_kind: dict[str, list[Followed]], factors: agenda.Factors) -> dict[str, float]:
    """Return for each kind the prior with which as many steps are expected to bring something as did."""
    found = {}
    for kind, of_kind in by_kind.items():
        expected = sum(each.utility(1.0, factors) for each in of_kind)
        usual = expected / len(of_kind)
        hits = sum(each.new > 0 for each in of_kind) + PRESENT_COUNTS * usual * of_kind[0].prior
        found[kind] = min(1.0, hits / (expected + PRESENT_COUNTS * usual))
    return found


def _likelihood(by_kind: dict[str, list[Followed]], factors: agenda.Factors) -> float:
    from math import log

    priors = _priors(by_kind, factors)
    chances = [
        (each.new > 0, min(0.99, max(0.001, each.utility(priors[kind], factors))))
        for kind, of_kind in by_kind.items()
        for each in of_kind
    ]
    return sum(log(chance if hit else 1 - chance) for hit, chance in chances)


def _left(steps: list[Followed], priors: dict[str, float], factors: agenda.Factors, least: float) -> str:
    """Tell the nuggets and calls of the steps that are worth `least`, with all that they follow."""
    kept: dict[tuple[str, str], set[int]] = defaultdict(set)
    nuggets = calls = 0
    for each in steps:
        taken = kept[each.set, each.question]
        is_first = each.kind == FIRST
        if is_first or (
            (each.parent is None or each.parent in taken) and each.utility(priors[each.kind], factors) >= least
        ):
            taken.add(each.rihla)
            calls += not is_first
            nuggets += 0 if is_first else each.new
    return f"{nuggets} nuggets by {calls} follow-ups"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["collect", "fit"])
    parser.add_argument("steps", type=Path)
    parser.add_argument("--split", default="train")
    parser.add_argument("--most", type=int, default=0)
    given = parser.parse_args()
    if given.do == "collect":
        anyio.run(collect, given.split, given.most, given.steps)
    else:
        rows = given.steps.read_text(encoding="utf-8").splitlines()
        fit([Followed.model_validate(json.loads(row)) for row in rows])
