"""Rihlas, and the next ones that a result suggests: by the category of each gap, by discovery, by open question.

A rihla is one journey of one researcher: a question, its share of the tokens, and why it was sent. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from typing_extensions import assert_never

from marchwarden.contract import (
    Depth,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    GapCategory,
    Priority,
    ResearchResult,
)
from marchwarden.ledger import Aspect, Ledger
from marchwarden.orchestrator.team import OPEN_COPIES, Team, TeamMember
from marchwarden.stages.discoveries import RESEARCHERS, asks_for
from marchwarden.text.ranking import coverage, terms

if TYPE_CHECKING:
    from marchwarden.orchestrator.verified_evidence import QuotedPage

# Tokens that a question is doubled to, at most: the contract's maximum.
MOST_TOKENS = 1_000_000
# Characters of a question and of a context, by the contract.
_QUESTION_CHARS, _CONTEXT_CHARS = 500, 2000
# Researchers that are asked about one disagreement, at most. A guess.
_JUDGES = 2
# Share of a sub-question's terms that a gap's topic holds to be about it. A guess.
_SAME_TOPIC = 0.5

# Chance that a step brings something new for the question, before anything else is known, 0–1. Fitted to 530 steps of
# labelled questions by `evals.investigations.utility` (evals/reports/investigations.md).
PRIOR_CLOSED, PRIOR_NOT_FOUND, PRIOR_UNASKED, PRIOR_BUDGET = 0.81, 0.75, 0.63, 0.36
# Of open questions: none of 256 of medium and low priority brought anything; those of high priority were 2.
PRIOR_OPEN_QUESTION = {Priority.HIGH: 0.19, Priority.MEDIUM: 0.01, Priority.LOW: 0.003}
# Of steps that did not occur, and of those that settle what sources disagree on, which no label counts. Guesses.
PRIOR_SCOPE, PRIOR_DISCOVERY, PRIOR_TIE_BREAK, PRIOR_RETRY = 0.42, 0.36, 0.3, 0.48

# Limits of a researcher that ran out of budget, when it is asked again.
_MORE: dict[str, Any] = {"max_iterations": 10, "max_sources": 20}


@dataclass(frozen=True)
class Step:
    """A question that may be asked next."""

    researcher: str
    question: str
    origin: str
    """`sub_question`, the category of a gap, `too_few_sources`, `discovery`, `open_question`, `tie_break` or
    `retry`."""
    aspect: int
    """Number of the sub-question that it is for."""
    reason: str
    prior: float = 1.0
    context: str | None = None
    depth: Depth = Depth.BALANCED
    parent: int | None = None
    generation: int = 0
    """Steps from the first question to this one."""
    doubles: bool = False
    """True where it is to have twice the tokens of its parent."""
    constraints: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, frozenset[str], bool]:
        """Key that two steps share where they ask one researcher the same words."""
        return self.researcher, frozenset(terms(self.question)), self.doubles or self.origin == "retry"


@dataclass(frozen=True)
class Unserved:
    """Something that nobody in the team can be asked."""

    question: str
    origin: str
    aspect: int
    parent: int
    reason: str
    gap: Gap | None = None
    """Gap that the caller gets for it; None where another gap tells it already."""


# Reasons for which a rihla is lost that lie in the investigation itself; they stand in traces.
INTERRUPTED = "the investigation was interrupted"
TIME_IS_UP = "the time is up"
ENDED_BEFORE = "the investigation ended before"
NOT_ASKED = "it was not asked before the end"
CUT_OFF = frozenset({INTERRUPTED, TIME_IS_UP, ENDED_BEFORE, NOT_ASKED})


@dataclass
class Rihla:
    """One journey: a step that was taken, and what came of it."""

    number: int
    call_id: str
    step: Step
    tokens: int
    result: ResearchResult | None = None
    lost: str | None = None
    """Reason for which no result came; None where one came, or is still awaited."""
    final: bool = False
    """True where it is lost, and would be lost again."""
    charged: int = 0
    is_taken: bool = False
    """True once what it quotes was verified."""
    unchecked: str | None = None
    """Reason for which what it quotes could not be checked; None where it was, or quotes nothing."""
    evidence: list[QuotedPage] = field(default_factory=list)
    """Pages with verified excerpts."""

    @property
    def is_cut_off(self) -> bool:
        """True where it is lost because the investigation ended first: its researcher is not to blame."""
        return self.lost in CUT_OFF

    @property
    def has_failed(self) -> bool:
        """True where nothing of it counts for a reason that says nothing about the question."""
        if self.result is None:
            return self.lost is not None
        return self.result.status == "failed" or (self.unchecked is not None and not self.evidence)

    @property
    def trace_id(self) -> str:
        return self.result.trace_id if self.result else self.call_id


def first_steps(
    question: str, aspects: Sequence[Aspect], team: Team, context: str | None, depth: Depth
) -> list[Step]:
    """Return the first questions: each researcher is asked the sub-questions that fit it, all in one question.

    A general researcher fits all. A specialist fits those that ask for its kind of source; where nobody is general,
    everybody fits. A researcher splits a question as the investigator does, so that one call is enough.
    """
    everybody = not any(member.is_general for member in team.members)
    steps = []
    for member in team.members:
        fitting = [aspect for aspect in aspects if member.is_general or everybody or _fits(member, aspect)]
        if not fitting:
            continue
        whole = len(fitting) == len(aspects)
        asked = question if whole else " ".join(aspect.text for aspect in fitting)[:_QUESTION_CHARS]
        steps.append(
            Step(
                researcher=member.name,
                question=asked,
                origin="sub_question",
                aspect=fitting[0].number,
                reason=f"{member.name} can be asked {'the whole question' if whole else 'a part of the question'}.",
                context=context,
                depth=depth,
            )
        )
    return steps


def _fits(member: TeamMember, aspect: Aspect) -> bool:
    wanted = asks_for(aspect.text)
    return wanted is not None and bool(
        {RESEARCHERS[wanted], "academic" if wanted == "arxiv" else ""} & {*member.answers}
    )


def follow_ups(
    rihla: Rihla, rihlas: Sequence[Rihla], team: Team, ledger: Ledger, *, context: str | None
) -> Iterator[Step | Unserved]:
    """Yield the next steps that a rihla's result suggests, after all `rihlas`, and what nobody can be asked."""
    result, step = rihla.result, rihla.step
    after: dict[str, Any] = {"parent": rihla.number, "generation": step.generation + 1, "context": context}
    if result is None:
        if rihla.lost and not rihla.final and step.origin != "retry":
            yield Step(
                step.researcher, step.question, "retry", step.aspect, "It was lost before.", PRIOR_RETRY,
                depth=step.depth, constraints=step.constraints, **after,
            )  # fmt: skip
        return
    asked = {each.step.key for each in rihlas}
    for gap in result.gaps:
        if not any(is_settled_by(each, rihla, gap) for each in rihlas):
            yield from _after_gap(rihla, gap, team, ledger, after, asked)
    for event in result.discovery_events:
        if event.type is DiscoveryType.RELATED_RESEARCH and event.suggested_researcher:
            yield from _after_discovery(rihla, event, team, after)
    for raised in result.open_questions:
        named = team.answering(raised.suggested_researcher) if raised.suggested_researcher else []
        for name in [member.name for member in named] or [step.researcher]:
            yield Step(
                name, raised.question[:_QUESTION_CHARS], "open_question", step.aspect,
                f"An open question of {raised.priority.value} priority.",
                PRIOR_OPEN_QUESTION[raised.priority], **after,
            )  # fmt: skip


def to_unasked(
    heard: Container[str], team: Team, ledger: Ledger, open_: Sequence[Aspect], context: str | None
) -> Iterator[Step]:
    """Yield the open sub-questions, in one question, to the members that are not among those who `heard` of them.

    A sentence that only looks like an answer leaves no gap that would send anybody.
    """
    if not open_:
        return
    whole = len(open_) == len(ledger.aspects)
    question = ledger.question if whole else " ".join(aspect.text for aspect in open_)[:_QUESTION_CHARS]
    needs = {aspect.number: len(ledger.separate_texts(ledger.evidence_for(aspect.number))) for aspect in open_}
    neediest = min(needs, key=lambda number: (needs[number], number))
    for member in team.members:
        if member.name not in heard:
            yield Step(
                member.name, question, "too_few_sources", neediest, "It was not asked yet, and sources are too few.",
                PRIOR_UNASKED, context=context, generation=1,
            )  # fmt: skip


def _after_gap(
    rihla: Rihla,
    gap: Gap,
    team: Team,
    ledger: Ledger,
    after: dict[str, Any],
    asked: Container[object],
) -> Iterator[Step | Unserved]:
    step, category = rihla.step, gap.category
    aspect = aspect_of(gap, ledger, step.aspect)
    sought = ledger.aspect(aspect).text
    others = [member for member in team.members if member.name != step.researcher]

    def to(member: TeamMember, question: str, prior: float, reason: str, **more: Any) -> Step:
        return Step(
            member.name, question[:_QUESTION_CHARS], category.value, aspect, reason, prior, **{**after, **more}
        )

    def to_unasked_of(members: Sequence[TeamMember], prior: float, reason: str) -> Iterator[Step]:
        # They get the whole question: a part of it alone may not say what it is about. Whoever had it has looked for
        # each part: of 269 parts that were asked again alone, 2 brought something (evals/reports/investigations.md).
        wholes = (to(member, ledger.question, prior, reason) for member in members)
        return (each for each in wholes if each.key not in asked)

    match category:
        case GapCategory.SCOPE_EXCEEDED:
            wanted = asks_for(gap.topic) or asks_for(sought)
            kind = RESEARCHERS[wanted] if wanted else None
            if kind is None:
                yield from to_unasked_of(others, PRIOR_SCOPE, f"{step.researcher} can't look up: {gap.topic}")
                return
            named = [each for each in team.answering(kind) if each.name != step.researcher]
            for member in named:
                yield to(member, _question(gap.topic, sought), PRIOR_SCOPE, f"It is for {kind}.")
            if not named:
                told = _told_of_nobody(gap, f"is for {kind!r}")
                reason = f"no researcher is for {kind!r}"
                yield Unserved(gap.topic, category.value, aspect, rihla.number, reason, told)
        case GapCategory.SOURCE_NOT_FOUND:
            yield from to_unasked_of(others, PRIOR_NOT_FOUND, f"{step.researcher} found nothing on: {gap.topic}")
        case GapCategory.ACCESS_DENIED:
            openers = [each for each in others if OPEN_COPIES in each.answers]
            # A page of many on what is answered already is worth no question to those who were asked that before.
            is_open = any(each.number == aspect for each in ledger.unanswered())
            reason = f"{step.researcher} met a closed page: {gap.topic}"
            yield from to_unasked_of(openers or (others if is_open else []), PRIOR_CLOSED, reason)
            if not openers and gap.cause is None:  # else it is a service that failed
                told = _told_of_nobody(gap, "has open copies")
                reason = "no researcher is for 'open_copies'"
                yield Unserved(gap.topic, category.value, aspect, rihla.number, reason, told)
        case GapCategory.BUDGET_EXHAUSTED:
            if not step.doubles and rihla.tokens < MOST_TOKENS:
                quoted = " ".join(each.raw_excerpt for each in rihla.result.citations) if rihla.result else ""
                known = " ".join(filter(None, [after["context"], quoted]))[:_CONTEXT_CHARS] or None
                yield to(
                    team.named(step.researcher), step.question, PRIOR_BUDGET, "It ran out of its budget.",
                    doubles=True, depth=Depth.DEEP, constraints=_MORE, context=known,
                )  # fmt: skip
        case GapCategory.CONTRADICTORY_SOURCES:
            return  # conflicts of the merged evidence are followed, which are these and those between researchers
        case _:
            assert_never(category)


def _told_of_nobody(gap: Gap, can: str) -> Gap:
    """Return a gap that also says what no researcher of the team is or has."""
    return gap.model_copy(update={"detail": f"{gap.detail.rstrip('.')}. No researcher of the team {can}."})


def _after_discovery(
    rihla: Rihla, event: DiscoveryEvent, team: Team, after: dict[str, Any]
) -> Iterator[Step | Unserved]:
    kind = event.suggested_researcher or ""
    named = [each for each in team.answering(kind) if each.name != rihla.step.researcher]
    question = question_of(event)
    for member in named:
        yield Step(
            member.name, question, "discovery", rihla.step.aspect,
            f"{rihla.step.researcher} met {event.identifier or 'something'} for {kind}.", PRIOR_DISCOVERY, **after,
        )  # fmt: skip
    if not named:
        reason = f"no researcher is for {kind!r}"
        named_on = f", named on {event.source_locator}" if event.source_locator else ""
        told = Gap(
            topic=question,
            category=GapCategory.SCOPE_EXCEEDED,
            detail=f"{event.identifier or 'Something'}{named_on}, may have the answer. No researcher of the "
            f"team is for {kind!r}.",
        )
        yield Unserved(question, "discovery", rihla.step.aspect, rihla.number, reason, told)


# An identifier before the words of a question, as servers of earlier versions wrote queries.
_LEADING = re.compile(
    r"^(10\.\d{4,9}/\S+|\d{4}\.\d{4,5}(?:v\d+)?|(?:NCT|ISRCTN)\d{8}|[CT][-‑–]\d{1,4}/\d{2})\s+(?=\S)"
)


def question_of(event: DiscoveryEvent) -> str:
    """Return the query of a discovery as a question that can be asked as it is."""
    found = _LEADING.match(event.query)
    if found is None:
        return event.query[:_QUESTION_CHARS]
    asked = event.query[found.end() :].rstrip(" ?.")
    named = f", according to {found[1]}?"
    return asked[: _QUESTION_CHARS - len(named)] + named


def is_settled_by(later: Rihla, rihla: Rihla, gap: Gap) -> bool:
    """Return whether a later rihla, sent for a gap of this one, brought evidence.

    One with more budget settles the gap of the budget in any case: what is still missing is told by its own gaps.
    """
    step = later.step
    if step.parent != rihla.number or step.origin != gap.category.value:
        return False
    return bool(later.evidence) or (gap.category is GapCategory.BUDGET_EXHAUSTED and later.result is not None)


def tie_breaks(team: Team, ledger: Ledger) -> Iterator[Step]:
    """Yield questions to independent researchers about disagreements that nothing settled."""
    for conflict in ledger.conflicts:
        if conflict.resolved:
            continue
        sides = [ledger.excerpts[number - 1] for number in conflict.sides]
        heard = {ledger.source(side.locator).researcher for side in sides}
        aspect = sides[0].aspect
        about = conflict.about.replace(" against ", " or ")
        question = f"{ledger.aspect(aspect).text.rstrip(' ?.')}: {about}?"[:_QUESTION_CHARS]
        independent = [each for each in team.members if each.name not in heard and each.is_general]
        for member in independent[:_JUDGES]:
            yield Step(
                member.name, question, "tie_break", aspect, f"Sources disagree: {conflict.about}.",
                PRIOR_TIE_BREAK, depth=Depth.SHALLOW, generation=1,
            )  # fmt: skip


def aspect_of(gap: Gap, ledger: Ledger, default: int) -> int:
    """Return the number of the sub-question that a gap is about; `default` where its topic tells nothing."""
    topic = set(terms(gap.topic))
    shares = {each.number: coverage(set(terms(each.text)), topic, {}) for each in ledger.aspects}
    best = max(shares, key=lambda number: (shares[number], -number), default=default)
    return best if shares.get(best, 0.0) >= _SAME_TOPIC else default


def _question(topic: str, sought: str) -> str:
    """Return a gap's topic where it is a question or a sub-question's words, else the sub-question itself."""
    # The topic of a closed page is its title.
    asked = set(terms(sought))
    return topic if coverage(asked, set(terms(topic)), {}) >= _SAME_TOPIC else sought
