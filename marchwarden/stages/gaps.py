"""Gaps: aspects that stayed open, each with a category and the reason.

Recorded facts decide most of them. A model is asked only about the aspects that no fact decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, RootModel

from marchwarden.contract import Gap, GapCategory
from marchwarden.errors import Limit
from marchwarden.evidence.grounding import invented
from marchwarden.evidence.relevance import promise
from marchwarden.ledger import Aspect, Attempt, Ledger, Pointer, PointerKind, Source
from marchwarden.observations import FailureKind, placed
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.stages.bounded_lists import keep_valid
from marchwarden.stages.discoveries import POINTER_NAMES, asks_for
from marchwarden.stages.stage import Stage
from marchwarden.text.turns import without_turns
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

# Hits that are the first ones of the search. A guess.
FIRST_HITS = 3
# Closed pages and pairs of sources that one gap names at most. Guesses.
MOST_CLOSED = 3
MOST_PAIRS = 3
# Searches that were incomplete, each in another way, that one gap names at most. A guess.
MOST_INCOMPLETE = 2
# Relevance from which on a closed page that was tried for an answered aspect is named for an open one. A guess: in
# dev questions those that hold the answer have .24 to .39, pages of other topics up to .19.
LEAST_BESIDE = 0.2
# Tables none of whose rows was quoted that one gap names, at most. A guess.
MOST_TABLES = 2
# Characters of the closest passage that a gap shows, at most. A guess.
_MOST_OF_A_PASSAGE = 300
# Reports of researchers that one gap tells at most. A guess.
MOST_REPORTS = 4
# Categories of gaps that several researchers report on one sub-question, the most telling first.
_TELLING = (
    GapCategory.ACCESS_DENIED,
    GapCategory.SCOPE_EXCEEDED,
    GapCategory.CONTRADICTORY_SOURCES,
    GapCategory.BUDGET_EXHAUSTED,
    GapCategory.SOURCE_NOT_FOUND,
)
# Pointers that a model is shown. A guess.
POINTERS_SHOWN = 8
LIMITS_REACHED: dict[Limit, str] = {
    "tokens": "the token budget was used up",
    "iterations": "the iteration limit was reached",
    "sources": "the page limit was reached",
    "seconds": "the time limit was reached",
    "stopped": "the server was stopped by its operator",
    "interrupted": "it was interrupted",
}
# Advice on a failure of a source; for other kinds its detail says what to do.
_ADVICE = {
    FailureKind.BAD_KEY: "Check the key.",
    FailureKind.NETWORK: "Check the network and the address, then ask again.",
    FailureKind.RATE_LIMITED: "Ask again later.",
    FailureKind.SERVER_ERROR: "Ask again later.",
    FailureKind.SERVICE_DOWN: "Ask again later.",
    FailureKind.TIMEOUT: "Ask again later.",
}
# Stages that the answer depends on, in the order in which they run.
STEPS = {
    "plan": "plan the search",
    "write_query": "write queries",
    "extract": "pick quotes from pages",
    "synthesize": "word the answer",
}
# Tokens; fewer than these are enough for no call, and count as used up. A guess: a short answer alone has 75.
_ENOUGH_FOR_NONE = 50


@dataclass(frozen=True)
class GapsGiven:
    ledger: Ledger
    exhausted: list[Limit]
    claimed: frozenset[int]
    """Numbers of the aspects that the answer says something about."""
    model_trouble: str | None = None
    """Last failure of the model's service, or that no answer could be read; None where neither was."""
    parameters: Parameters = DEFAULT
    unpaid: tuple[str, ...] = ()
    """Names of stages that the answer depends on, and that had too few tokens for the model."""
    has_model_answered: bool = True
    """True where an answer of the model could be read."""
    token_budget: int = 0
    tokens_used: int = 0

    @property
    def open_aspects(self) -> list[Aspect]:
        return [aspect for aspect in self.ledger.aspects if aspect.number not in self.claimed]


class Judged(BaseModel):
    aspect: int
    category: Literal["source_not_found", "scope_exceeded"]
    detail: str = Field(min_length=1, max_length=400)


class JudgedGaps(RootModel[Annotated[list[Judged], BeforeValidator(keep_valid(Judged, 4)), Field(max_length=4)]]):
    pass


def find_decided_gaps(given: GapsGiven) -> list[Gap]:
    """Return the gaps that recorded facts decide: limits that were reached, closed pages, disagreements."""
    ledger = given.ledger
    gaps = [
        _naming_missed(given, aspect, gap) for aspect in given.open_aspects if (gap := _settled_aspect(given, aspect))
    ]
    for aspect in ledger.aspects:
        wanted = asks_for(aspect.text)
        pointed = any(pointer.kind == wanted for pointer in ledger.pointers)
        # An answered aspect that asks for a register, a paper or a court file is open in part: pages only tell of it.
        if aspect.number in given.claimed and wanted and pointed:
            gaps.append(_out_of_scope(ledger, aspect, wanted))
    gaps += [
        _rows_left_out(aspect, source) for aspect, source in _lists(given) if source.rows_left_out.get(aspect.number)
    ]
    gaps += [_rows_skipped(aspect, source) for aspect, source in _lists(given) if source.passed_over]
    gaps += _contradictions(ledger)
    named = {gap.topic for gap in gaps}
    told = " ".join(gap.detail for gap in gaps)
    gaps += [gap for gap in _closed_pages(given, told) if gap.topic not in named]
    told = " ".join(gap.detail for gap in gaps)
    gaps += [gap for gap in _reported_beside(given) if gap.topic not in named and gap.detail not in told]
    # A gap for each provider whose search failed, which no detail tells: others answered, and it may hold more.
    told = " ".join(gap.detail for gap in gaps)
    failed = {each.source: each for each in ledger.failures if each.service == "search" and each.is_source_failure}
    gaps += [
        Gap(topic=source, category=GapCategory.ACCESS_DENIED, detail=_search_failed(each), cause="source_failed")
        for source, each in failed.items()
        if each.detail.rstrip(".") not in told
    ]
    if given.model_trouble:
        ran = "Some steps ran without it." if given.has_model_answered else "No step ran with it."
        detail = f"The model failed ({given.model_trouble}). {ran}"
        gaps.append(Gap(topic="the model", category=GapCategory.ACCESS_DENIED, detail=detail, cause="model_failed"))
    budget_gaps = [gap for gap in gaps if gap.category is GapCategory.BUDGET_EXHAUSTED]
    # A gap that a researcher reported, or of one that was lost, says nothing about the steps of this call.
    lost = {lost_researcher(each.researcher) for each in ledger.reported}
    budget_gaps = [gap for gap in budget_gaps if gap.topic not in lost]
    is_told = budget_gaps and (not given.unpaid or any(_cut_short(given) in gap.detail for gap in budget_gaps))
    if given.exhausted and not is_told:
        detail = _cut_short(given, " before the research was complete")
        gaps.append(Gap(topic=ledger.question, category=GapCategory.BUDGET_EXHAUSTED, detail=detail))
    return gaps


def _settled_aspect(given: GapsGiven, aspect: Aspect) -> Gap | None:
    """Return the gap that recorded facts make of an open aspect; None where they decide nothing."""
    ledger = given.ledger
    if reported := [each for each in ledger.reported if each.aspect == aspect.number and not each.is_settled]:
        reported.sort(key=lambda each: (_is_beside(each.gap), _TELLING.index(each.gap.category)))
        told = dict.fromkeys(f"{each.researcher}: {each.gap.detail}" for each in reported)
        failed = all(each.gap.cause == "source_failed" for each in reported)
        return Gap(
            topic=aspect.text,
            category=reported[0].gap.category,
            detail=" ".join(list(told)[:MOST_REPORTS]),
            cause="source_failed" if failed else None,
        )
    failures = [failure for failure in ledger.failures if failure.aspect == aspect.number]
    searches = [each for each in failures if each.service == "search"]
    if down := [each for each in searches if each.is_source_failure]:
        return Gap(
            topic=aspect.text,
            category=GapCategory.ACCESS_DENIED,
            detail=_search_failed(down[-1]),
            cause="source_failed",
        )
    if given.exhausted and (ledger.unread() or not ledger.queries or ledger.excerpts_for(aspect.number)):
        left = f" {_pages(len(ledger.unread()))} found but not read." if ledger.unread() else ""
        left = left if ledger.queries or ledger.sources else " No search was completed."
        return Gap(
            topic=aspect.text,
            category=GapCategory.BUDGET_EXHAUSTED,
            detail=_cut_short(given) + left,
        )
    if beyond := [each for each in searches if each.kind is FailureKind.NOT_UNDERSTOOD]:
        detail = _sentence(beyond[-1])
        return Gap(topic=aspect.text, category=GapCategory.SCOPE_EXCEEDED, detail=detail[:1].upper() + detail[1:])
    closed = []
    for failure in ledger.failures:
        if failure.service == "fetch" and (failure.kind.closed or failure.kind.is_outage):
            lead = next((lead for lead in ledger.leads if lead.url == failure.target), None)
            promised = promise(lead, [aspect]) if lead else failure.relevance * (failure.aspect == aspect.number)
            if promised >= given.parameters.gaps.relevant_lead:
                closed.append(failure)
    if closed:
        return Gap(
            topic=aspect.text,
            category=GapCategory.ACCESS_DENIED,
            detail=" ".join(_could_not_be_read(each) for each in closed[:MOST_CLOSED]),
            cause="source_failed" if all(each.kind.is_outage for each in closed) else None,
        )
    least = given.parameters.gaps.relevant_lead
    abstracts = {source.locator for source in ledger.sources if source.work and source.work.is_abstract}
    if only := [lead.url for lead in ledger.by_rank() if lead.url in abstracts and promise(lead, [aspect]) >= least]:
        told_of = (f"Only the abstract of {each} could be read, not its full text." for each in only[:MOST_CLOSED])
        read = " ".join(told_of)
        return Gap(topic=aspect.text, category=GapCategory.ACCESS_DENIED, detail=read)
    return None


def _naming_missed(given: GapsGiven, aspect: Aspect, gap: Gap) -> Gap:
    """Return the gap of an open aspect, with what may hold the answer: closed pages that were tried for it, and what
    the providers of its searches could not search."""
    unread = [*_unread_for(given.ledger, aspect), *_closed_beside(given, aspect)]
    untold = [each for each in unread if each.kind.closed and each.target not in gap.detail]
    missed = [*map(_could_not_be_read, untold[:MOST_CLOSED]), *_not_searched(given.ledger, aspect)]
    return gap.model_copy(update={"detail": " ".join([gap.detail, *missed])}) if missed else gap


def _not_searched(ledger: Ledger, aspect: Aspect) -> list[str]:
    """Return sentences on what the providers of an aspect's searches could not search."""
    # Most searches of a call miss the same part.
    told = dict.fromkeys(each.detail for each in ledger.incomplete if each.aspect == aspect.number)
    return [f"A search was incomplete: {each}" for each in list(told)[:MOST_INCOMPLETE]]


def _unread_for(ledger: Ledger, aspect: Aspect) -> list[Attempt]:
    """Return the pages that were tried for an aspect in vain: closed ones first, the most relevant first."""
    unread = [each for each in ledger.failures if each.aspect == aspect.number and each.service == "fetch"]
    return sorted(unread, key=lambda each: (not each.kind.closed, -each.relevance))


def _closed_beside(given: GapsGiven, aspect: Aspect) -> list[Attempt]:
    """Return the closed pages that were tried for answered aspects, and promise more for this open one than for any
    other: parts of a question are often answered by one page. Those that are a gap of their own are left out."""
    leads = {lead.url: lead for lead in given.ledger.leads}

    def best_of(failure: Attempt) -> int:
        lead = leads[failure.target]
        return max(given.open_aspects, key=lambda each: (promise(lead, [each]), -each.number)).number

    closed = [
        each
        for each in given.ledger.failures
        if each.service == "fetch"
        and each.kind.closed
        and each.aspect in given.claimed
        and each.relevance >= LEAST_BESIDE
        and not _is_gap(given, each)
        and each.target in leads
        and best_of(each) == aspect.number
    ]
    return sorted(closed, key=lambda each: -each.relevance)


# Categories of researchers' gaps that an answer of others does not fill. Contradictions between sources are found in
# the evidence itself; what is reported as one is a page that two researchers read differently.
_STAYS = (GapCategory.ACCESS_DENIED, GapCategory.SCOPE_EXCEEDED, GapCategory.CONTRADICTORY_SOURCES)


def lost_researcher(name: str) -> str:
    """Return the topic of the gap that tells of a researcher that gave no result."""
    return f"the researcher {name}"


def _is_beside(gap: Gap) -> bool:
    """Return whether a gap only says that a database can't make a query of a question which asks for none: that tells
    nothing about what others answered, or looked for in vain."""
    return gap.category is GapCategory.SCOPE_EXCEEDED and not asks_for(gap.topic)


def _reported_beside(given: GapsGiven) -> list[Gap]:
    """Return the gaps of an investigation's researchers that stay although others answered: what is closed or needs
    another kind of researcher, a page that two of them read differently, and each researcher that was lost."""
    kept: dict[str, Gap] = {}
    for each in given.ledger.reported:
        is_lost = each.gap.topic == lost_researcher(each.researcher)
        stays = is_lost or each.gap.category in _STAYS
        if each.is_settled or not stays or _is_beside(each.gap):
            continue
        if each.aspect in given.claimed or not each.aspect:
            told = each.gap.model_copy(update={"detail": f"{each.researcher}: {each.gap.detail}"})
            # The same closed page is met again where a researcher is asked another question.
            if all(told.detail != other.detail for other in kept.values()):
                kept.setdefault(each.gap.topic, told)
    return list(kept.values())


def _closed_pages(given: GapsGiven, told: str) -> list[Gap]:
    """Return gaps for closed pages whose hits were relevant to an aspect that others answered.

    A page whose address is in `told`, the details of the other gaps, is left out.
    """
    closed = [each for each in given.ledger.failures if _is_gap(given, each) and each.target not in told]
    best = sorted(closed, key=lambda failure: -failure.relevance)[:MOST_CLOSED]
    return [
        Gap(
            topic=failure.title or failure.target,
            category=GapCategory.ACCESS_DENIED,
            detail=_could_not_be_read(failure),
        )
        for failure in best
    ]


def _is_gap(given: GapsGiven, failure: Attempt) -> bool:
    """Return whether a closed page promised enough to be a gap although others answered."""
    least = given.parameters.gaps
    first = {lead.url for lead in given.ledger.by_rank()[:FIRST_HITS]}
    enough = least.relevant_lead if failure.target in first else least.relevant_closed
    return failure.service == "fetch" and failure.kind.closed and failure.relevance >= enough


def _search_failed(failure: Attempt) -> str:
    advice = _ADVICE.get(failure.kind)
    # What is on this machine does not mend itself. The detail of a corpus says what to do.
    kind = failure.source.partition(":")[0]
    if failure.kind is FailureKind.SERVICE_DOWN and kind in ("corpus", "db", "zim"):
        advice = None if kind == "corpus" else "`marchwarden sources` checks it."
    return f"The search failed: {failure.named.rstrip('.')}.{f' {advice}' if advice else ''}"


def _contradictions(ledger: Ledger) -> list[Gap]:
    """Return one gap for each aspect on which sources disagree and nothing settles it."""
    by_aspect: dict[int, list[str]] = {}
    for conflict in ledger.conflicts:
        one, other = (ledger.excerpts[number - 1] for number in conflict.sides)
        if not conflict.resolved:
            by_aspect.setdefault(one.aspect, []).append(f"{one.locator} and {other.locator}: {conflict.about}.")
    return [
        Gap(
            topic=ledger.aspect(aspect).text,
            category=GapCategory.CONTRADICTORY_SOURCES,
            detail="Sources disagree, and nothing that was read settles it. " + " ".join(pairs[:MOST_PAIRS]),
        )
        for aspect, pairs in by_aspect.items()
    ]


def limits_reached(exhausted: Sequence[Limit]) -> str:
    """Return the limits that were reached as the beginning of a sentence: "The time limit was reached"."""
    reached = " and ".join(LIMITS_REACHED[limit] for limit in exhausted)
    return reached[:1].upper() + reached[1:]


def _cut_short(given: GapsGiven, before: str = "") -> str:
    """Return sentences on the limits that were reached, and on what rules did for want of tokens.

    `before` ends the sentence on limits, such as " before the research was complete".
    """
    steps = [f"to {step}" for name, step in STEPS.items() if name in given.unpaid]
    listed = " and ".join(filter(None, (", ".join(steps[:-1]), *steps[-1:])))
    by_rules = f"for the model {listed}, so rules did that."
    left = given.token_budget - given.tokens_used
    reached = [limit for limit in given.exhausted if limit != "tokens" or left < _ENOUGH_FOR_NONE]
    told = [f"{limits_reached(reached)}{before}."] if reached else []
    if len(reached) < len(given.exhausted):
        few = f"Of {given.token_budget:,} tokens {left:,} were left, too few"
        told.append(f"{few} {by_rules if steps else 'to continue.'}")
    elif steps:
        told.append(f"Too few tokens were left {by_rules}")
    return " ".join(told)


def _could_not_be_read(failure: Attempt) -> str:
    advice = f" {_ADVICE[failure.kind]}" if failure.kind.is_outage else ""
    return f"{failure.target} could not be read: {_sentence(failure)}{advice}"


def _sentence(failure: Attempt) -> str:
    # A detail may end in a service's own words, with their full stop.
    return f"{failure.detail.rstrip('.')}."


def undecided(given: GapsGiven) -> list[Aspect]:
    """Return the open aspects that no recorded fact decides."""
    return [aspect for aspect in given.open_aspects if _settled_aspect(given, aspect) is None]


def signature() -> "type[dspy.Signature]":
    import dspy

    class CategorizeGaps(dspy.Signature):
        """For each open aspect, say why it stayed open. scope_exceeded: it needs another kind of researcher (a paper
        behind a DOI, a database, a court file). source_not_found: the web holds no source on it."""

        question: str = dspy.InputField()
        open_aspects: str = dspy.InputField(desc="numbered, with what happened to each")
        pointers: str = dspy.InputField(desc="papers, trials, data sets and cases that the pages name")
        gaps: JudgedGaps = dspy.OutputField()

    return CategorizeGaps


def show(given: GapsGiven) -> dict[str, Any]:
    ledger = given.ledger
    pages = len(ledger.sources)
    return {
        "question": ledger.question,
        "open_aspects": "\n".join(
            f"{aspect.number}. {aspect.text} ({pages} pages read, none answers)" for aspect in undecided(given)
        ),
        "pointers": "\n".join(f"{pointer.kind} {pointer.value}" for pointer in shown_pointers(given)) or "none",
    }


def shown_pointers(given: GapsGiven) -> list[Pointer]:
    return given.ledger.pointers[:POINTERS_SHOWN]


def read(given: GapsGiven, prediction: "dspy.Prediction") -> list[Gap]:
    """Return a gap for each undecided aspect: the model's where it gave one, else the model-free one."""
    judged = {gap.aspect: gap for gap in prediction.gaps.root}
    gaps = []
    for aspect in undecided(given):
        said = judged.get(aspect.number)
        gaps.append(
            Gap(topic=aspect.text, category=GapCategory(said.category), detail=said.detail)
            if said
            else _by_the_facts(given, aspect)
        )
    return gaps


def ground(given: GapsGiven, gaps: list[Gap]) -> tuple[list[Gap], list[Dropped]]:
    """Replace gaps whose detail names something that was not found by the model-free ones."""
    met = " ".join(f"{pointer.value} {pointer.sentence}" for pointer in given.ledger.pointers)
    kept, dropped = [], []
    for gap, aspect in zip(gaps, undecided(given), strict=True):
        if problem := invented(gap.detail, met, asked=f"{given.ledger.question} {aspect.text}"):
            dropped.append(Dropped(what="gap", text=gap.detail, decision=problem))
            kept.append(_by_the_facts(given, aspect))
        else:
            kept.append(_naming_missed(given, aspect, gap))
    return kept, dropped


def model_free(given: GapsGiven) -> list[Gap]:
    return [_by_the_facts(given, aspect) for aspect in undecided(given)]


def _by_the_facts(given: GapsGiven, aspect: Aspect) -> Gap:
    """Return the model-free gap of an aspect.

    Its category is `scope_exceeded` where the aspect asks for the contents of a paper, a register or a court file,
    else `source_not_found`.
    """
    ledger = given.ledger
    if wanted := asks_for(aspect.text):
        return _naming_missed(given, aspect, _out_of_scope(ledger, aspect, wanted))
    searches, pages = len(ledger.queries), len(ledger.sources)
    detail = f"{searches} {'search' if searches == 1 else 'searches'} ran and {_pages(pages)} read."
    if any(source.researcher for source in ledger.sources):
        detail = f"The researchers that were asked quoted {pages} {'page' if pages == 1 else 'pages'}."
    refused = [each for each in ledger.failures if each.aspect == aspect.number and each.service == "search"]
    if refused:
        detail += f" The search failed: {_sentence(refused[-1])}"
    skipped = sum(source.passed_over > 0 for source in ledger.sources)
    if skipped:
        of_pages = f"{skipped} {'page' if skipped == 1 else 'pages'}"
        detail += f" Passages of {of_pages} were skipped because they look like prompt injection."
    unread = _unread_for(ledger, aspect)
    named = [*unread, *_closed_beside(given, aspect)][:MOST_CLOSED]
    detail += "".join(f" {_could_not_be_read(each)}" for each in named)
    if (more := len(unread) - MOST_CLOSED) > 0:
        detail += f" {more} more {'page' if more == 1 else 'pages'} could not be read."
    for source in [each for each in ledger.sources if aspect.number in each.no_row_fits][:MOST_TABLES]:
        detail += (
            f" None of the {source.table_rows} rows of {source.locator} matches everything that the question names."
        )
    tables = [each for each in ledger.sources if aspect.number in each.no_row_named]
    for source in tables[:MOST_TABLES]:
        detail += f" No word of the question picks out one of the {source.table_rows} rows of {source.locator}."
    if pages:
        if skipped:
            none = "Nothing else that was read answers"
        else:
            none = (
                "The page that was read does not answer" if pages == 1 else "None of the pages that were read answers"
            )
        detail += f" {none} this{' beyond what the context says' if without_turns(ledger.context) else ''}."
    # Whoever asked can look there: a passage that is too unlikely to be quoted may still be the one.
    unquoted = [each for each in ledger.excerpts_for(aspect.number) if not each.answers]
    if closest := max(unquoted, key=lambda each: each.relevance, default=None):
        said = " ".join(closest.key_text.split())
        if len(said) > _MOST_OF_A_PASSAGE:
            said = f"{said[:_MOST_OF_A_PASSAGE].rsplit(' ', 1)[0]} …"
        detail += f" The closest passage is in {placed(closest.locator, closest.place)}: “{said}”"
    detail = " ".join([detail, *_not_searched(ledger, aspect)])
    return Gap(topic=aspect.text, category=GapCategory.SOURCE_NOT_FOUND, detail=detail)


def _lists(given: GapsGiven) -> list[tuple[Aspect, Source]]:
    """Return the aspects that are answered by rows that they name, with the table's source."""
    return [
        (aspect, source)
        for aspect in given.ledger.aspects
        for source in given.ledger.sources
        if aspect.number in given.claimed
        and any(
            each.is_named_row and each.locator == source.locator for each in given.ledger.excerpts_for(aspect.number)
        )
    ]


def _rows_left_out(aspect: Aspect, source: Source) -> Gap:
    more = source.rows_left_out[aspect.number]
    return Gap(
        topic=aspect.text,
        category=GapCategory.SCOPE_EXCEEDED,
        detail=(
            f"{more} more {'row' if more == 1 else 'rows'} of {source.locator} {'fits' if more == 1 else 'fit'} and "
            f"{'is' if more == 1 else 'are'} not quoted. To count or add up rows, ask it as a database "
            f"(--source db:NAME)."
        ),
    )


def _rows_skipped(aspect: Aspect, source: Source) -> Gap:
    is_one = source.passed_over == 1
    rows = f"1 row of {source.locator} looks" if is_one else f"{source.passed_over} rows of {source.locator} look"
    skipped = "was skipped. It" if is_one else "were skipped. They"
    return Gap(
        topic=aspect.text,
        category=GapCategory.SCOPE_EXCEEDED,
        detail=f"{rows} like prompt injection and {skipped} may fit as well.",
    )


def _out_of_scope(ledger: Ledger, aspect: Aspect, wanted: PointerKind) -> Gap:
    pointed = [pointer for pointer in ledger.pointers if pointer.kind == wanted]
    where = f" ({pointed[0].value}, named on {pointed[0].locator})" if pointed else ""
    return Gap(
        topic=aspect.text,
        category=GapCategory.SCOPE_EXCEEDED,
        detail=f"This asks for what is in {POINTER_NAMES[wanted]}{where}. A web researcher cannot look that up.",
    )


def _pages(count: int) -> str:
    return f"{count} page was" if count == 1 else f"{count} pages were"


GAPS: Stage[GapsGiven, list[Gap]] = Stage(
    name="gaps",
    max_tokens=300,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
    essential=False,
    time_share=0.5,
)
