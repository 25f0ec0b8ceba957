"""The loop: question → plan → search → fetch → extract, until covered or out of budget → answer.

One iteration is one turn of it. The ledger holds what each turn found and where it failed, and the result is made
from the ledger alone. The budget decides what a turn may spend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import anyio
import anyio.to_thread

from marchwarden import __version__
from marchwarden.agent.conclusion import Checkpoint, Conclusion, conclude, today
from marchwarden.agent.depths import PAGES_PER_TURN, SOURCES_WANTED, TOKENS_BY_DEPTH, TURNS_BY_DEPTH
from marchwarden.agent.follower import Follower
from marchwarden.agent.following import is_followable
from marchwarden.agent.frontier import PAGES_ON_TRUST, aspect_of, choose, find_promising
from marchwarden.agent.recording import Narrator, Origin
from marchwarden.budget import (
    LEAST_VERIFY_TOKENS,
    SYNTHESIS_SHARE,
    SYNTHESIS_TOKENS,
    UNFOUNDED_SYNTHESIS_SHARE,
    VERIFY_SHARE,
    VERIFY_TOKENS,
    Budget,
)
from marchwarden.contract import ResearchRequest, ResearchResult, SourceAuthority, SourceFilter
from marchwarden.errors import NotRecorded
from marchwarden.evidence.close_reading import read_closely
from marchwarden.evidence.confidence import authority_of
from marchwarden.evidence.relevance import PageTerms, Relevance, TermRarity, promise
from marchwarden.http.addresses import publisher_of
from marchwarden.injection.detector import clean_hit, clean_metadata, find_injections
from marchwarden.ledger import Aspect, Excerpt, Lead, Ledger
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, SearchOutcome, is_file
from marchwarden.programs import Program
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.reading.files.kinds import TABLES
from marchwarden.settings import Settings
from marchwarden.sources.tools import HITS_PER_QUERY, Tools
from marchwarden.stages.discoveries import find_pointers
from marchwarden.stages.extract import EXTRACT, MOST_NAMED_ROWS, ExtractGiven
from marchwarden.stages.plan import PLAN, PlanGiven
from marchwarden.stages.stage import Form, StageRunner, Stages, WithoutModel, side_by_side
from marchwarden.stages.synthesize import SYNTHESIZE
from marchwarden.stages.verify_claims import VERIFY
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Recorder, Started

if TYPE_CHECKING:
    import dspy

    from marchwarden.lm import Model
    from marchwarden.text.embedding import Embedder

# Share of the time left that a model may take to plan one turn. A guess, as the others here.
PLAN_SHARE = 0.25
# Seconds that are kept to end a call within its time, at most a tenth of it. A model-free end takes milliseconds.
FINISH_SECONDS = 2.0
# Seconds that a fetch has at least, however little time is left.
_FETCH_SECONDS = 0.1


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
        checkpoint: Callable[[Checkpoint], None] | None = None,
        program: Program | None = None,
        parameters: Parameters = DEFAULT,
        predictors: Mapping[str, dspy.Predict] | None = None,
        origin: Origin | None = None,
    ) -> None:
        """Prepare a call.

        `predictors`, by stage, replace the stages' own. `origin` says what a re-run begins with.
        """
        self.request = request
        self.settings = settings
        self.budget = budget
        self.tools = tools
        self.trace_id = trace_id
        self.checkpoint = checkpoint
        self.program = program
        fitted = program.calibration if program else None
        self.calibration = fitted if fitted and fitted.fits(tools.kind, tools.web) else None
        self.parameters = parameters
        self.origin = origin or Origin()
        self.today = self.origin.today or today()
        self.stages = StageRunner(
            model,
            budget,
            recorder,
            at_once=settings.model_calls,
            predictors=predictors,
            without_model=program.without_model if program else (),
            late_answers=self.origin.late_answers,
        )
        self.store = Store(settings.store_folder)
        self.ledger = Ledger(question=request.question, context=request.context)
        self.tell = Narrator(recorder, self.ledger, budget)
        self.filter = SourceFilter(request.constraints.source_filter)
        self.sources_wanted = SOURCES_WANTED[request.depth]
        self.finish_seconds = min(FINISH_SECONDS, budget.max_seconds / 10)
        self.not_picked: list[Page] = []
        """Pages that were read, but whose passages were not yet picked from."""
        self.follower = Follower(self)
        self.rarity = TermRarity()
        """Rarity of terms in all pages that were read."""
        self.counted: set[str] = set()
        """URLs of the pages whose terms are counted in it."""
        self.conclusion: Conclusion | None = None
        """Conclusion that the result was made from; None until the call has ended."""

    async def result(self) -> ResearchResult:
        """Answer the question. Time is counted from when the sources are ready."""
        await anyio.to_thread.run_sync(self.tools.prepare, self.tell.now, abandon_on_cancel=True)
        self.budget.start_clock()
        self.tools.begin(self.request.question, self.stages, self.today)
        self._start()
        if self.origin.kept_program is not None:
            await asyncio.to_thread(self.store.put, self.origin.kept_program)
        if self.stages.model is not None:
            self._keep_for_answer(SYNTHESIS_SHARE)
            kept = int(VERIFY_SHARE * self.budget.token_budget)
            if kept >= LEAST_VERIFY_TOKENS:
                self.budget.set_aside(VERIFY.name, min(VERIFY_TOKENS, kept))
        is_over = False
        with anyio.move_on_after(self.budget.seconds_left() - 2 * self.finish_seconds) as deadline:
            try:
                await self._loop()
            except NotRecorded:
                is_over = True
        if deadline.cancelled_caught or is_over:
            self.budget.ran_out("seconds")
            self.tell.stopped("seconds", "The time for reading pages ran out.", asking=self.stages.cut)
        self.stages.give_back(SYNTHESIZE)
        return await self._finish()

    def _keep_for_answer(self, share: float) -> None:
        self.budget.set_aside(SYNTHESIZE.name, min(SYNTHESIS_TOKENS, int(share * self.budget.token_budget)))

    def _start(self) -> None:
        request, settings, program, model = self.request, self.settings, self.program, self.stages.model
        self.tell.started(
            Started(
                question=request.question,
                context=request.context,
                depth=request.depth,
                constraints=request.constraints,
                max_seconds=self.budget.max_seconds,
                model_id=settings.model_id,
                source=settings.source_name,
                version=__version__,
                program=program.fingerprint if program else None,
                compiled=program.in_force if program else [],
                without_model=program.without_model if program else [],
                program_of=program.relative if program else None,
                program_notes=[str(note) for note in program.notes] if program else [],
                today=self.today,
                kind=self.tools.kind,
                web=self.tools.web,
                semantic=self.tools.embedder is not None,
                judged=self.tools.judge is not None,
                model_calls=settings.model_calls,
                program_hash=self.origin.program_hash,
                engine=model.features if model else None,
                rerun_of=self.origin.rerun_of,
                decision=f"Model: {settings.model_id}. Source: {settings.source_name}.",
            )
        )

    # The loop

    async def _loop(self) -> None:
        turns = min(TURNS_BY_DEPTH[self.request.depth], self.budget.max_iterations)
        while self.budget.iterations_run < turns and self.budget.take_iteration():
            self.tell.now("planning")
            given = PlanGiven(self.ledger, self.request.depth, self.open_aspects())
            plan, form = await self.stages.run(PLAN, given, seconds=PLAN_SHARE * self.budget.seconds_left())
            self.ledger.set_aspects(plan.aspects)
            self.tell.planned(plan, form)
            if plan.done and any(excerpt.answers for excerpt in self.ledger.excerpts):
                return self.tell.stopped("covered", plan.thought or "According to the plan, no sub-question is open.")
            # Queries that were not asked before run side by side; hits become leads of the aspect they fit best.
            fresh = [query for query in dict.fromkeys(plan.queries) if self.ledger.is_new_query(query)]
            for outcome in await side_by_side([self.search(query) for query in fresh]):
                new = self.ledger.add_search(outcome, aspect_of(outcome.query, self.ledger.aspects))
                self.tell.searched(outcome, new)
            leads = choose(self.ledger, self.sought(), plan.read, PAGES_PER_TURN[self.request.depth])
            granted = leads[: self.budget.take_sources(len(leads))]
            await self.read(granted)
            await self.follower.follow()
            if not self.open_aspects():
                sources = "1 source" if self.sources_wanted == 1 else f"{self.sources_wanted} sources"
                return self.tell.stopped("covered", f"Every sub-question has evidence from {sources}.")
            if self.budget.tokens_used >= TOKENS_BY_DEPTH[self.request.depth] and not self.ledger.unanswered():
                return self.tell.stopped(
                    "covered", "Every sub-question has an answer, and the tokens planned for this depth are used up."
                )
            if len(granted) < len(leads):
                return self._out_of("sources", "The page limit was reached.")
            if not leads and not find_promising(self.ledger, self.sought()):
                return self.tell.stopped("no_new_leads", "The searches found no further page worth reading.")
        return self._out_of("iterations", "The iteration limit was reached.")

    async def search(self, query: str) -> SearchOutcome:
        """Return the hits of one search that can be read here."""
        self.tell.now(f"searching “{query}”")
        return self.readable(
            await self.tools.search.search(query, max_results=HITS_PER_QUERY, source_filter=self.filter)
        )

    def readable(self, outcome: SearchOutcome) -> SearchOutcome:
        """Return the outcome with the hits that can be read here, at their normalised addresses."""
        readable = ((hit, url) for hit in outcome.hits if (url := self.tools.address(hit.url)))
        return replace(outcome, hits=tuple(clean_hit(replace(hit, url=url)) for hit, url in readable))

    async def read(self, leads: list[Lead]) -> None:
        """Fetch the pages side by side, keep them, and pick what bears on open aspects."""
        if leads:
            self.tell.now(f"reading {len(leads)} {'page' if len(leads) == 1 else 'pages'}")
        done = 0

        async def fetch(lead: Lead) -> FetchOutcome:
            nonlocal done
            outcome = await self._fetch(lead)
            done += 1
            title = (outcome.page.title if outcome.page else None) or lead.title or lead.url
            self.tell.now(f"{'read' if outcome.page else 'could not read'} {done} of {len(leads)}: {title}")
            return outcome

        outcomes = await side_by_side([fetch(lead) for lead in leads])
        for lead, outcome in zip(leads, outcomes, strict=True):
            self._keep(lead, outcome)
        self._save()
        if self.origin.unpicked_turn == self.budget.iterations_run:
            raise NotRecorded("the recorded call had run out of time", ends_call=True)
        await self._extract(list(self.not_picked), self.sought())
        self._save()

    async def _fetch(self, lead: Lead) -> FetchOutcome:
        # Half of what is left: a page that never comes must leave time for those that came.
        left = (self.budget.seconds_left() - 2 * self.finish_seconds) / 2
        timeout = max(_FETCH_SECONDS, min(self.settings.fetch_timeout, left))
        outcome = await self.tools.fetcher.fetch(lead.url, timeout=timeout, allows=self.filter.allows)
        if outcome.body:
            await asyncio.to_thread(self.store.put, outcome.body)
        if outcome.page:
            await asyncio.to_thread(self.store.put, outcome.page.text.encode())
            page = await asyncio.to_thread(clean_metadata, outcome.page)
            notices = tuple(dict.fromkeys((*page.notices, *outcome.notices)))
            outcome = replace(outcome, page=replace(page, notices=notices))
        return outcome

    def _keep(self, lead: Lead, outcome: FetchOutcome) -> None:
        """Enter a fetch into the trace and the ledger; a page that was not read before is one to pick from."""
        self.tell.fetched(lead, outcome)
        page = outcome.page
        if page is None:
            failure = outcome.failure or Failure(FailureKind.NO_TEXT, "the page holds no text")
            self.ledger.add_failure(lead, failure, promise(lead, self.ledger.aspects))
            return
        # A path says nothing about the author of a file.
        is_own = is_file(page.url)
        authority = SourceAuthority.MEDIUM if is_own else authority_of(page.url, page.work, page.standing)
        if source := self.ledger.add_page(lead, page, publisher_of(page.url), authority):
            left_out = find_injections(page)
            source.passed_over = len(left_out)
            source.table_rows = len(page.passages) if page.media_type in TABLES else 0
            self.tell.skipped(page, left_out)
            self.ledger.add_pointers(find_pointers(page, self.ledger.question))
            if page.passages:
                self.not_picked.append(page)
            # One step: what was followed from a paper is not followed further.
            if lead.reason is None and is_followable(page):
                self.follower.papers.append(page)

    async def _extract(self, pages: list[Page], aspects: list[Aspect]) -> None:
        """Pick from the pages side by side.

        Excerpts are numbered in the order of the pages, whichever was done first. Where time ends this, the picks
        made by then are kept.
        """
        done: dict[str, tuple[list[Excerpt], Form]] = {}
        # Where time ends this, the thread goes on: what it counts must not be counted once more at the end.
        rarity = deepcopy(self.rarity)
        given = await asyncio.to_thread(self._extract_given, pages, aspects, rarity, self.tools.embedder)
        self.rarity = rarity
        # A page whose picks time cuts off is read once more at the end.
        self.counted.update(page.url for page in pages)
        asks_model = self.stages.model is not None
        if asks_model and not self.ledger.excerpts and not await asyncio.to_thread(_is_found_by_rules, given):
            self._keep_for_answer(UNFOUNDED_SYNTHESIS_SHARE)

        async def pick(one: ExtractGiven) -> None:
            if one.page.query is not None:  # the rows of a statement are what it was written for: all of them count
                done[one.page.url] = EXTRACT.model_free(one), "model_free"
            else:
                done[one.page.url] = await self.stages.run(EXTRACT, one)

        try:
            await side_by_side([pick(one) for one in given])
        finally:
            if asks_model:
                self._keep_for_answer(SYNTHESIS_SHARE)
            for one in given:
                if one.page.url in done:
                    self._picked(one, *done[one.page.url])

    def _extract_given(
        self, pages: list[Page], aspects: list[Aspect], rarity: TermRarity, embedder: Embedder | None = None
    ) -> list[ExtractGiven]:
        """Return what is to be picked from each page, and add to `rarity` the terms of pages that it lacks.

        Blocks, for about 30 ms a passage that is embedded.
        """
        read = [PageTerms(page) for page in pages]
        for each in read:
            if each.page.url not in self.counted:
                rarity.add(each.own.values())
        places = {lead.url: place for place, lead in enumerate(self.ledger.by_rank(), start=1)}
        relevances = [
            Relevance(
                each,
                aspects,
                rarity=rarity,
                position=places.get(each.page.url, len(places) + 1),
                parameters=self.parameters,
            )
            for each in read
        ]
        if embedder:
            relevances = read_closely(relevances, aspects, embedder, self.tools.judge)
        question, context = self.ledger.question, self.ledger.context
        return [
            ExtractGiven(question, context, self._aspects_of(each.page.page, aspects), each, self.parameters)
            for each in relevances
        ]

    def _aspects_of(self, page: Page, aspects: list[Aspect]) -> list[Aspect]:
        """Return the aspects that a page can be evidence for: of the rows of a statement, those it was written for.

        A statement that each query brought answers the whole question.
        """
        lead = next((lead for lead in self.ledger.leads if lead.url == page.url), None)
        if page.query is None or lead is None or len(lead.asked_for) >= len(self.ledger.queries):
            return aspects
        return [aspect for aspect in aspects if aspect.number in lead.asked_for]

    def _picked(self, given: ExtractGiven, excerpts: list[Excerpt], form: Form) -> None:
        page = given.page
        self.not_picked.remove(page)
        unnamed = [each.number for each in given.aspects if given.relevance.names_no_row(each)]
        source = self.ledger.source(page.url)
        source.no_row_named = unnamed
        rows = {each.number: given.relevance.named_rows(each) for each in given.aspects}
        left_out = {number: len(named or ()) - MOST_NAMED_ROWS for number, named in rows.items()}
        source.rows_left_out = {number: more for number, more in left_out.items() if more > 0}
        if source.table_rows:
            source.no_row_fits = [number for number, named in rows.items() if named == []]
        for excerpt in excerpts:
            # An excerpt may begin with the heading above its first passage.
            excerpt.place = next((each.place for each in page.passages if each.start >= excerpt.start), None)
            self.ledger.add_excerpt(excerpt)
        self.ledger.take_together(given.parameters.extract.together)
        self.tell.extracted(page, excerpts, form)

    # The end

    async def _finish(self) -> ResearchResult:
        self.tell.now("writing the answer")
        # The time for the model is over, but pages that were read still count.
        for given in self._extract_given(list(self.not_picked), self.sought(), self.rarity):
            self._picked(given, EXTRACT.model_free(given), "model_free")
        conclusion, model_free = None, self.stages.model is None
        cut_before = len(self.stages.cut)
        with anyio.move_on_after(max(0.0, self.budget.seconds_left() - self.finish_seconds)), suppress(NotRecorded):
            if not self.origin.ends_without_model:
                conclusion = await self._conclude(self.stages)
        if self.origin.ends_asking:
            self.stages.give_up()
        if self.origin.ends_late:  # although each stage has its answer
            conclusion = None
        in_time = conclusion is not None
        if conclusion is None:
            self.budget.ran_out("seconds")
            conclusion = await self._conclude(WithoutModel.after(self.stages))
            model_free = True
        self.conclusion = conclusion
        self.tell.concluded(conclusion, in_time=in_time, asking=self.stages.cut[cut_before:])
        seconds = self.budget.seconds_used()
        state = self._save()
        result = conclusion.result(state, seconds=seconds, trace_id=self.trace_id, today=self.today)
        self.tell.finished(result, conclusion.record(state, today=self.today, model_free=model_free))
        return result

    async def _conclude(self, stages: Stages) -> Conclusion:
        return await conclude(self.request, self.ledger, stages, self.today, self.parameters)

    # What the loop asks itself

    def open_aspects(self) -> list[Aspect]:
        return self.ledger.open_aspects(self.sources_wanted)

    def sought(self) -> list[Aspect]:
        """Return the aspects that pages are read for: the open ones, or all where none is open."""
        return self.open_aspects() or self.ledger.aspects

    def _out_of(self, limit: Literal["iterations", "sources"], decision: str) -> None:
        """Stop at a limit.

        It counts as exhausted only where an aspect has no answer, and pages stay unread that are worth reading, or
        that the search ranked high.
        """
        if open_ := self.ledger.unanswered():
            few_read = len(self.ledger.sources) < PAGES_ON_TRUST and bool(self.ledger.unread())
            if few_read or find_promising(self.ledger, open_):
                self.budget.ran_out(limit)
        self.tell.stopped(limit, decision)

    def _save(self) -> Checkpoint:
        state = Checkpoint(
            request=self.request,
            ledger=self.ledger,
            tokens_used=self.budget.tokens_used,
            iterations_run=self.budget.iterations_run,
            exhausted=list(self.budget.exhausted),
            model_id=self.settings.model_id,
            kind=self.tools.kind,
            calibration=self.calibration,
            parameters=self.parameters,
            model_trouble=self.stages.trouble,
            has_model_answered=self.stages.has_answered,
            unpaid=list(self.stages.unpaid),
        )
        if self.checkpoint:
            self.checkpoint(state)
        return state


def _is_found_by_rules(given: Sequence[ExtractGiven]) -> bool:
    """Return whether there is something on these pages that an answer could be made of without a model's picks."""
    return any(EXTRACT.model_free(one) for one in given)
