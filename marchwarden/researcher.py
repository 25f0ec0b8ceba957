"""The loop: question → plan → search → fetch → extract, until covered or out of budget → answer.

One iteration is one turn of it. What each turn learned or failed at goes into the ledger, and everything that the
result says is read off the ledger; what a turn may spend is the budget's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Literal

import anyio

from marchwarden import __version__
from marchwarden.budget import Budget
from marchwarden.conclusion import Checkpoint, Conclusion, conclude_model_free, new_sources
from marchwarden.contract import Depth, ResearchRequest, ResearchResult, SourceFilter
from marchwarden.ledger import Aspect, Excerpt, Lead, Ledger
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, SearchOutcome
from marchwarden.ranking import terms
from marchwarden.researchers import Tools, open_tools
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.stages import Form, StageRunner
from marchwarden.stages.confidence import authority_of
from marchwarden.stages.conflicts import find_conflicts
from marchwarden.stages.discoveries import DISCOVERIES, DiscoveriesGiven, contradictions, find_pointers
from marchwarden.stages.extract import EXTRACT, AskedFor, ExtractGiven
from marchwarden.stages.gaps import GAPS, GapsGiven, settled, undecided
from marchwarden.stages.open_questions import OPEN_QUESTIONS, OpenQuestionsGiven
from marchwarden.stages.plan import PLAN, Plan, PlanGiven
from marchwarden.stages.synthesize import (
    SYNTHESIZE,
    Claim,
    SynthesizeGiven,
    check_grounding,
    render_answer,
    usable_excerpts,
)
from marchwarden.tools.addresses import host_of, organisation_of
from marchwarden.trace import events
from marchwarden.trace.events import Recorder
from marchwarden.trace.store import Store

if TYPE_CHECKING:
    from marchwarden.lm import Model

TURNS_BY_DEPTH = {Depth.SHALLOW: 2, Depth.BALANCED: 4, Depth.DEEP: 20}
"""The most turns that a depth aims at; `max_iterations` is the hard limit."""
SOURCES_WANTED = {Depth.SHALLOW: 1, Depth.BALANCED: 2, Depth.DEEP: 3}
"""An aspect is covered when this many independent sources speak to it."""
PAGES_PER_TURN = {Depth.SHALLOW: 4, Depth.BALANCED: 8, Depth.DEEP: 10}
HITS_PER_QUERY = 10
RELEVANT_HIT = 0.34
"""A page is worth reading where its hit carries this share of an open aspect."""
PAGES_ON_TRUST = 3
"""Where no hit's words promise anything, so many are read all the same: the search may know better."""
SYNTHESIS_SHARE, SYNTHESIS_TOKENS = 0.35, 4000
"""What is kept for the answer before anything else is spent: this share of the tokens, at most so many."""
FINISH_SECONDS = 2.0
"""What is kept to end a call within its time, at most a fifth of it: the model-free finish takes milliseconds."""

StopReason = Literal["covered", "no_new_leads", "iterations", "sources"]


async def research(
    request: ResearchRequest,
    *,
    settings: Settings,
    recorder: Recorder,
    trace_id: str,
    checkpoint: Callable[[Checkpoint], None] | None = None,
) -> ResearchResult:
    """Answer one question, recording each step.

    What the world does (a search that is down, pages that are closed, a model that fails) ends in the result. Raises
    ConfigurationError before anything is recorded where a key, a model or a folder is missing; StorageError where the
    trace or the store can't be written. Cancellation passes through.
    """
    budget = Budget(request.constraints, settings.seconds_for(request.depth))
    tools = open_tools(settings)
    model = None
    try:
        if settings.model_id != EXTRACTIVE:
            from marchwarden.lm import connect

            model = connect(settings, budget, recorder)
        run = ResearchCall(request, settings, budget, tools, model, recorder, trace_id, checkpoint)
        return await run.result()
    finally:
        await tools.aclose()
        if model is not None:
            await model.aclose()


class ResearchCall:
    """One call from its first plan to its result."""

    def __init__(
        self,
        request: ResearchRequest,
        settings: Settings,
        budget: Budget,
        tools: Tools,
        model: Model | None,
        recorder: Recorder,
        trace_id: str,
        checkpoint: Callable[[Checkpoint], None] | None,
    ) -> None:
        self.request = request
        self.settings = settings
        self.budget = budget
        self.tools = tools
        self.model = model
        self.recorder = recorder
        self.trace_id = trace_id
        self.checkpoint = checkpoint
        self.stages = StageRunner(model, budget, recorder, at_once=settings.model_calls)
        self.store = Store(settings.store)
        self.ledger = Ledger(question=request.question, context=request.context)
        self.filter = SourceFilter(request.constraints.source_filter)
        self.sources_wanted = SOURCES_WANTED[request.depth]

    async def result(self) -> ResearchResult:
        self._record_start()
        if self.model is not None:
            self.budget.set_aside("synthesize", self._for_synthesis())
        with anyio.move_on_after(self.budget.seconds_left() - 2 * self._finish_seconds()) as deadline:
            await self._loop()
        if deadline.cancelled_caught:
            self.budget.ran_out("seconds")
            self._record_stop("seconds", "The time for reading is over.")
        return await self._finish()

    # The loop

    async def _loop(self) -> None:
        turns = min(TURNS_BY_DEPTH[self.request.depth], self.budget.max_iterations)
        while self.budget.iterations_run < turns and self.budget.take_iteration():
            plan = await self._plan()
            if plan.done and self.ledger.excerpts:
                return self._record_stop("covered", plan.thought or "The plan says that nothing is open.")
            await self._search(plan.queries)
            leads = self._choose(plan.read)
            granted = leads[: self.budget.take_sources(len(leads))]
            await self._read(granted)
            self._save()
            if not self._open_aspects():
                return self._record_stop("covered", f"{self.sources_wanted} sources speak to every aspect.")
            if len(granted) < len(leads):
                return self._out_of("sources", "The number of pages ran out.")
            if not leads and self._is_stuck():
                return self._record_stop("no_new_leads", "No query found a page that was not known.")
        return self._out_of("iterations", "The turns ran out.")

    async def _plan(self) -> Plan:
        self.recorder.progress("planning")
        given = PlanGiven(self.ledger, self.request.depth, self._open_aspects())
        plan, form = await self.stages.run(PLAN, given)
        self.ledger.set_aspects(plan.aspects)
        self.recorder.record(
            events.Planned(
                iteration=self.budget.iterations_run,
                aspects=[aspect.text for aspect in self.ledger.aspects],
                queries=plan.queries,
                read=plan.read,
                done=plan.done,
                stage_form=form,
                decision=plan.thought or "The plan gives no reason.",
            )
        )
        return plan

    async def _search(self, queries: list[str]) -> None:
        """Run the queries that were not asked before, side by side; hits become leads of the aspect they fit best."""
        fresh = [query for query in dict.fromkeys(queries) if self.ledger.is_new_query(query)]
        for query in fresh:
            self.recorder.progress(f"searching “{query}”")
        outcomes = await asyncio.gather(*(self._search_one(query) for query in fresh))
        for outcome in outcomes:
            new = self.ledger.add_search(outcome, self._aspect_of(outcome.query))
            self._record_search(outcome, new)

    async def _search_one(self, query: str) -> SearchOutcome:
        return await self.tools.search.search(query, max_results=HITS_PER_QUERY, source_filter=self.filter)

    def _choose(self, wanted: list[str]) -> list[Lead]:
        """The leads to read this turn: those that the plan points at, then the most promising for an open aspect,
        with organisations that were not read yet first."""
        chosen = [lead for url in wanted if (lead := self.ledger.lead(url)) and lead.state == "unread"]
        unread = [lead for lead in self.ledger.unread() if lead not in chosen]
        rest = [lead for lead in unread if self._promise(lead) >= RELEVANT_HIT]
        if not rest and not self.ledger.sources:
            rest = unread[:PAGES_ON_TRUST]
        read = {source.organisation for source in self.ledger.sources}
        seen: dict[str, int] = {}
        while rest and len(chosen) < PAGES_PER_TURN[self.request.depth]:
            best = max(rest, key=lambda lead: self._promise(lead) - 0.3 * seen.get(_organisation(lead), 0)
                       - 0.15 * (_organisation(lead) in read))  # fmt: skip
            rest.remove(best)
            seen[_organisation(best)] = seen.get(_organisation(best), 0) + 1
            chosen.append(best)
        return chosen[: PAGES_PER_TURN[self.request.depth]]

    async def _read(self, leads: list[Lead]) -> None:
        """Fetch the pages side by side, keep them, and pick what bears on open aspects."""
        if not leads:
            return
        self.recorder.progress(f"reading {len(leads)} {'page' if len(leads) == 1 else 'pages'}")
        outcomes = await asyncio.gather(*(self._fetch(lead) for lead in leads))
        pages = [page for lead, outcome in zip(leads, outcomes, strict=True) if (page := self._keep(lead, outcome))]
        self._save()
        aspects = self._open_aspects() or self.ledger.aspects
        picked = await asyncio.gather(*(self._extract(page, aspects) for page in pages if page.passages))
        for excerpts in picked:
            for excerpt in excerpts:
                self.ledger.add_excerpt(excerpt)

    async def _fetch(self, lead: Lead) -> FetchOutcome:
        # Half of what is left: a page that never comes must leave time for those that came.
        left = (self.budget.seconds_left() - 2 * self._finish_seconds()) / 2
        outcome = await self.tools.fetcher.fetch(lead.url, timeout=max(0.1, min(self.settings.fetch_timeout, left)))
        if outcome.page and not self.filter.allows(host_of(outcome.page.url)):
            failure = Failure(FailureKind.REFUSED_ADDRESS, "It redirects to a site that the source filter excludes.")
            return FetchOutcome(url=outcome.url, final_url=outcome.final_url, status=outcome.status, failure=failure)
        if outcome.body:
            await asyncio.to_thread(self.store.put, outcome.body)
        if outcome.page:
            await asyncio.to_thread(self.store.put, outcome.page.text.encode())
        return outcome

    def _keep(self, lead: Lead, outcome: FetchOutcome) -> Page | None:
        """Enter a fetch into the ledger and the trace; the page, where it is one that was not read before."""
        self._record_fetch(lead, outcome)
        if outcome.failure or outcome.page is None:
            failure = outcome.failure or Failure(FailureKind.NO_TEXT, "There is nothing to read.")
            self.ledger.add_failure(lead, failure, self._promise(lead, open_only=False))
            return None
        page = outcome.page
        organisation = organisation_of(host_of(page.url))
        if not self.ledger.add_page(lead, outcome, page, organisation, authority_of(page.url)):
            return None
        self.ledger.add_pointers(find_pointers(page, self.ledger.question))
        return page

    async def _extract(self, page: Page, aspects: list[Aspect]) -> list[Excerpt]:
        given = ExtractGiven(self.ledger.question, self.ledger.context, aspects, page)
        excerpts, form = await self.stages.run(EXTRACT, given)
        self._record_extract(page, excerpts, form)
        return excerpts

    # The end

    async def _finish(self) -> ResearchResult:
        self.budget.set_aside("synthesize", 0)
        self.recorder.progress("writing the answer")
        self.ledger.conflicts = find_conflicts(self.ledger)
        conclusion = None
        with anyio.move_on_after(max(0.0, self.budget.seconds_left() - self._finish_seconds())) as deadline:
            conclusion = await self._conclude()
        if conclusion is None:
            conclusion = conclude_model_free(self.ledger, self.request.depth, self.budget.exhausted, _today())
        if deadline.cancelled_caught:
            self.budget.ran_out("seconds")
        self._record_conclusion(conclusion)
        result = conclusion.result(
            self.ledger,
            cost=self._save().cost(self.budget.seconds_used()),
            kind=self.tools.kind,
            trace_id=self.trace_id,
            today=_today(),
        )
        self._record_result(result)
        return result

    async def _conclude(self) -> Conclusion:
        """The stages that end a call, with the model where there is one and it can be afforded."""
        ledger = self.ledger
        given = SynthesizeGiven(ledger, self.request.depth)
        form: Form = "model_free"
        claims: list[Claim] = []
        if usable_excerpts(ledger):
            claims, form = await self.stages.run(SYNTHESIZE, given)
        claims, dropped = check_grounding(ledger, claims)
        if not claims and form == "model":
            more, form = SYNTHESIZE.model_free(given), "model_free"
            claims, _ = check_grounding(ledger, more)
        answer, cited = render_answer(ledger, claims)
        gaps_given = GapsGiven(ledger, list(self.budget.exhausted), frozenset(excerpt.aspect for excerpt in cited))
        gaps = settled(gaps_given)
        if undecided(gaps_given):
            gaps += (await self.stages.run(GAPS, gaps_given))[0]
        discoveries = contradictions(ledger) + new_sources(ledger)
        if (pointed := DiscoveriesGiven(ledger)).pointers:
            discoveries = (await self.stages.run(DISCOVERIES, pointed))[0] + discoveries
        asked = OpenQuestionsGiven(ledger, cited, gaps, _today())
        questions = (await self.stages.run(OPEN_QUESTIONS, asked))[0] if cited else []
        return Conclusion(answer, cited, len(claims), form, gaps, discoveries, questions, dropped)

    # What the loop asks of what it knows

    def _open_aspects(self) -> list[Aspect]:
        return self.ledger.open_aspects(self.sources_wanted)

    def _promise(self, lead: Lead, *, open_only: bool = True) -> float:
        """How much of an aspect a hit's title and snippet carry, 0–1, with a little for its rank."""
        words = set(terms(f"{lead.title} {lead.snippet}"))
        aspects = (self._open_aspects() if open_only else []) or self.ledger.aspects
        best = max((AskedFor.of(aspect.text, "en").share(words) for aspect in aspects), default=0.0)
        return best + (lead.rank if open_only else 0.0)

    def _aspect_of(self, query: str) -> int:
        words = set(terms(query))
        shares = [(AskedFor.of(aspect.text, "en").share(words), -aspect.number) for aspect in self.ledger.aspects]
        return -max(shares)[1]

    def _is_stuck(self) -> bool:
        return not any(self._promise(lead) >= RELEVANT_HIT for lead in self.ledger.unread())

    def _for_synthesis(self) -> int:
        return min(SYNTHESIS_TOKENS, int(SYNTHESIS_SHARE * self.budget.token_budget))

    def _finish_seconds(self) -> float:
        return min(FINISH_SECONDS, self.budget.max_seconds / 10)

    def _out_of(self, limit: Literal["iterations", "sources"], decision: str) -> None:
        """A limit ends the loop; it cut something short only where an aspect has no answer and pages stay unread."""
        if self.ledger.unanswered() and (self.ledger.unread() or limit == "sources"):
            self.budget.ran_out(limit)
        self._record_stop(limit, decision)

    def _save(self) -> Checkpoint:
        state = Checkpoint(
            request=self.request,
            ledger=self.ledger,
            tokens_used=self.budget.tokens_used,
            iterations_run=self.budget.iterations_run,
            exhausted=list(self.budget.exhausted),
            model_id=self.settings.model_id,
            kind=self.tools.kind,
        )
        if self.checkpoint:
            self.checkpoint(state)
        return state

    # What the trace is told

    def _record_start(self) -> None:
        request = self.request
        self.recorder.record(
            events.Started(
                question=request.question,
                context=request.context,
                depth=request.depth,
                constraints=request.constraints,
                max_seconds=self.budget.max_seconds,
                model_id=self.settings.model_id,
                source=self.settings.source_name,
                version=__version__,
                decision=f"Research with {self.settings.model_id} over {self.settings.source_name}.",
            )
        )

    def _record_stop(self, reason: StopReason | Literal["seconds"], decision: str) -> None:
        self.recorder.record(
            events.Stopped(reason=reason, iterations_run=self.budget.iterations_run, decision=decision)
        )

    def _record_search(self, outcome: SearchOutcome, new: int) -> None:
        self.recorder.record(
            events.Searched(
                query=outcome.query,
                provider=outcome.provider,
                hits=[events.HitRecord(url=hit.url, title=hit.title) for hit in outcome.hits],
                failure=_failure(outcome.failure),
                duration_sec=round(outcome.seconds, 4),
                decision=f"{new} of {len(outcome.hits)} pages were not known.",
            )
        )

    def _record_fetch(self, lead: Lead, outcome: FetchOutcome) -> None:
        page = outcome.page
        self.recorder.record(
            events.Fetched(
                url=outcome.url,
                final_url=outcome.final_url,
                status=outcome.status,
                content_type=outcome.content_type,
                content_hash=outcome.content_hash,
                content_length=outcome.content_length,
                text_hash=page.text_hash if page else None,
                title=page.title if page else lead.title,
                published=page.published if page else None,
                redirects=list(outcome.redirects),
                failure=_failure(outcome.failure),
                duration_sec=round(outcome.seconds, 4),
                decision=f"“{lead.title}” bears on: {self.ledger.aspect(lead.aspect).text}",
            )
        )

    def _record_extract(self, page: Page, excerpts: list[Excerpt], form: Form) -> None:
        self.recorder.record(
            events.Extracted(
                url=page.url,
                passages=len(page.passages),
                picks=[
                    events.PickRecord(
                        start=excerpt.start,
                        end=excerpt.end,
                        excerpt=excerpt.text,
                        aspect=self.ledger.aspect(excerpt.aspect).text,
                        stance=excerpt.stance,
                    )
                    for excerpt in excerpts
                ],
                stage_form=form,
                decision=f"{len(excerpts)} of {len(page.passages)} passages bear on an open aspect.",
            )
        )

    def _record_conclusion(self, conclusion: Conclusion) -> None:
        for drop in conclusion.dropped:
            self.recorder.record(drop)
        self.recorder.record(
            events.Synthesized(
                claims=conclusion.claims,
                dropped=len(conclusion.dropped),
                stage_form=conclusion.form,
                decision=f"{conclusion.claims} claims stand on {len(conclusion.cited)} excerpts.",
            )
        )

    def _record_result(self, result: ResearchResult) -> None:
        self.recorder.record(
            events.Assessed(
                gaps=result.gaps,
                discovery_events=result.discovery_events,
                open_questions=result.open_questions,
                confidence=result.confidence,
                decision="Read off what was found, what failed, and what ran out.",
            )
        )
        self.recorder.record(events.Finished(result=result, decision="The research is finished."))


def _failure(failure: Failure | None) -> events.FailureRecord | None:
    return events.FailureRecord(kind=failure.kind.value, detail=failure.detail) if failure else None


def _organisation(lead: Lead) -> str:
    return organisation_of(host_of(lead.url))


def _today() -> date:
    return datetime.now(timezone.utc).date()
