"""Replay of labelled questions over the frozen web, in this process and without a model.

Each page is fetched and parsed once, and each query asked once. Only what the parameters change is done anew.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from marchwarden.agent.loop import ResearchCall
from marchwarden.budget import Budget
from marchwarden.contract import ConfidenceFactors, SourceFilter
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evaluation.scoring.aggregates import Cells
from marchwarden.evaluation.scoring.answer_scorers import is_right
from marchwarden.evaluation.scoring.metrics import SCORERS
from marchwarden.evidence.confidence import has_open_conflict, share_answered
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport
from marchwarden.judge.answering import RememberingJudge, open_judge
from marchwarden.observations import FetchOutcome, SearchOutcome
from marchwarden.optimization.examples.labelled_web import patience
from marchwarden.optimization.model_free.relevance_fit import fit_weights, rows_of
from marchwarden.programs.parameters import JudgedWeights, Parameters, RelevanceWeights
from marchwarden.settings import EXTRACTIVE, Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.sources.tools import Tools
from marchwarden.text.embedding import Embedder, open_embedder
from marchwarden.trace.events import Event

# Time of a call: more than any needs, since scores must not depend on how busy the machine is.
_CALL_TIMEOUT_S = 3600.0


@dataclass(frozen=True)
class Basis:
    """Inputs of an answer's confidence, and whether the answer was right."""

    factors: ConfidenceFactors
    share_answered: float
    unresolved: bool
    right: bool


@dataclass(frozen=True)
class Answered:
    """Scores of one replayed question."""

    cells: dict[str, Cells | None]
    basis: Basis | None
    """Inputs of the confidence; None where nothing was claimed, or nothing is vital."""


class QuestionReplay:
    """Researches questions again with other parameters. Use `open_replay` to make one.

    Raises ConfigurationError on creation where the settings name no frozen web.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings.model_copy(
            update={
                "trace_dir": folder,
                "store": None,
                "model": EXTRACTIVE,
                "max_seconds": _CALL_TIMEOUT_S,
                "program": "none",
            }
        )
        self._web = FrozenWeb.load(settings.frozen_web)
        self._search = _CachedSearch(SnapshotSearch(self._settings, self._web))
        self._embedder = _CachedEmbedder.of(open_embedder(self._settings))
        self._judge = RememberingJudge() if open_judge(self._settings) else None
        self._fetchers: dict[str | None, _CachedFetcher] = {}

    @property
    def reads_by(self) -> str:
        return "words" if self._embedder is None else "meaning"

    async def fitted_weights(self, questions: Sequence[Question]) -> dict[str, RelevanceWeights | JudgedWeights]:
        """Fit the weights of relevance to these questions: by words, by meaning, and by the judge."""
        rows = await rows_of(questions, self._search, self._fetcher(None), self._embedder, self._judge)
        return fit_weights(rows)

    async def answer(
        self, question: Question, parameters: Parameters, scorers: Sequence[str] = tuple(SCORERS)
    ) -> Answered:
        """Research the question with these parameters, and score the result with these scorers."""
        constraints = question.request.constraints
        fetcher = self._fetcher(constraints.source_filter)
        call = ResearchCall(
            question.request,
            self._settings,
            Budget(constraints, _CALL_TIMEOUT_S),
            Tools("snapshot", self._search, fetcher, self._embedder, self._judge),
            None,
            _NullRecorder(),
            str(uuid4()),
            parameters=parameters,
        )
        result = await call.result()
        case = Case(question, result, texts=fetcher.texts, pages=len(call.ledger.sources))
        cells = {name: SCORERS[name](case) for name in {*scorers, "forecast"}}
        basis = None
        if cells["forecast"] is not None and call.conclusion is not None:
            basis = Basis(
                result.confidence_factors,
                share_answered(call.ledger, call.conclusion.evidence),
                has_open_conflict(call.ledger),
                is_right(case),
            )
        return Answered(cells, basis)

    def _fetcher(self, source_filter: str | None) -> _CachedFetcher:
        # One for each filter, since a filter decides where redirects may lead.
        if source_filter not in self._fetchers:
            self._fetchers[source_filter] = _CachedFetcher(self._settings, self._web)
        return self._fetchers[source_filter]

    async def aclose(self) -> None:
        await self._search.aclose()
        for fetcher in self._fetchers.values():
            await fetcher.aclose()


@asynccontextmanager
async def open_replay(settings: Settings) -> AsyncIterator[QuestionReplay]:
    with tempfile.TemporaryDirectory(prefix="marchwarden-") as folder:
        replay = QuestionReplay(settings, Path(folder))
        try:
            yield replay
        finally:
            await replay.aclose()


class _NullRecorder:
    """A recorder of nothing."""

    def record(self, event: Event) -> None:
        pass

    def progress(self, message: str) -> None:
        pass


class _CachedSearch:
    name = SnapshotSearch.name

    def __init__(self, search: SnapshotSearch) -> None:
        self._search = search
        self._found: dict[tuple[str, int, str], SearchOutcome] = {}

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        key = (query, max_results, f"{source_filter.include} {source_filter.exclude}")
        if key not in self._found:
            self._found[key] = await self._search.search(query, max_results=max_results, source_filter=source_filter)
        return self._found[key]

    async def aclose(self) -> None:
        await self._search.aclose()


class _CachedFetcher(Fetcher):
    def __init__(self, settings: Settings, web: FrozenWeb) -> None:
        super().__init__(settings, transport=FrozenWebTransport(web))
        self._web = web
        self._timeout = settings.fetch_timeout
        self._outcomes: dict[str, FetchOutcome] = {}
        self.texts: dict[str, str] = {}
        """Texts of the pages that were read, by the addresses that citations can name."""

    async def fetch(
        self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool] = lambda host: True
    ) -> FetchOutcome:
        if url not in self._outcomes:
            seconds = patience(self._web, url, self._timeout)
            outcome = replace(await super().fetch(url, timeout=seconds, allows=allows), body=b"")
            self._outcomes[url] = outcome
            if outcome.page:
                self.texts.update({address(each): outcome.page.text for each in (url, outcome.final_url)})
        return self._outcomes[url]


class _CachedEmbedder(Embedder):
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], list[list[float]]] = {}

    @classmethod
    def of(cls, embedder: Embedder | None) -> Embedder | None:
        return embedder and cls(embedder)

    def likeness(self, queries: Sequence[str], passages: Sequence[str]) -> list[list[float]]:
        key = (tuple(queries), tuple(passages))
        if key not in self._known:
            self._known[key] = self._embedder.likeness(queries, passages)
        return self._known[key]
