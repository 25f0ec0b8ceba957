"""Research as a Python call, in this process, under the same budget and with the same trace as over MCP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from marchwarden.agent.arguments import request_of
from marchwarden.contract import Constraints, Depth
from marchwarden.contract import ResearchResult as ContractResult
from marchwarden.errors import ConfigurationError
from marchwarden.settings import DEFAULT_CORPUS, Settings, settings_of
from marchwarden.sharing.publication import publishing
from marchwarden.sources.reachability import with_reachable_sources
from marchwarden.text.redaction import secrets_of
from marchwarden.trace.writer import TraceWriter

if TYPE_CHECKING:
    from marchwarden.corpus.indexing import IndexReport, Tell


class ResearchResult(ContractResult):
    """A result of the contract that writes itself as Markdown, as a notebook shows it."""

    @classmethod
    def of(cls, result: ContractResult) -> ResearchResult:
        """Return the same result in this form."""
        return cls.model_construct(result.model_fields_set, **dict(result))

    def to_markdown(self, question: str | None = None) -> str:
        """Return the whole result as a Markdown document, with the question as its title where it is given.

        Text of pages and models is escaped, so that it shows as text; the markers `[n]` are kept.
        """
        from marchwarden.server.markdown import document

        return document(self, question)

    def _repr_markdown_(self) -> str:
        """Return what a notebook shows."""
        return self.to_markdown()


async def research(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    settings: Settings | Mapping[str, object] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> ResearchResult:
    """Answer `question`.

    `settings` are Settings, or a dict of some of them: `{"model": "extractive"}`. What is not given comes from the
    environment and its files. `on_progress` is called with a line whenever something else is being done.

    Raises InvalidRequest, which names field and limit, before anything is run or written; ConfigurationError where
    a key, a model or a folder is missing; StorageError where the trace can't be written; ResearchFailed, with the
    trace id, for an internal failure. Cancelling the call ends it, and its trace says so.
    """
    from marchwarden.agent.recording import recorded_end
    from marchwarden.agent.research import research as answer

    request = request_of(question, context, depth, constraints)
    chosen = await asyncio.to_thread(with_reachable_sources, settings_of(settings))
    trace_id = str(uuid4())
    async with publishing(chosen, trace_id):
        with (
            TraceWriter(
                chosen.traces,
                trace_id,
                secrets=secrets_of(chosen),
                on_progress=on_progress,
                signing_key=chosen.signing_key,
            ) as writer,
            recorded_end(writer, trace_id, request.question),
        ):
            return ResearchResult.of(await answer(request, settings=chosen, recorder=writer, trace_id=trace_id))


async def investigate(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    team: Path | None = None,
    seconds: float = 600.0,
    at_once: int = 3,
    resume: str | None = None,
    settings: Settings | Mapping[str, object] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> ResearchResult:
    """Answer `question` with the researchers of a team file, or with one for each source in the settings.

    `seconds` is for the whole, `at_once` the most researchers asked at the same time. Without constraints it may use
    60,000 tokens. `resume` is the whole trace id of an investigation that was killed, interrupted, or cut short by a
    limit: it goes on for `seconds` more. Its token budget may be another, and counts what was used before. Raises as
    `research` does, and ConfigurationError for a team file that can't be used; what researchers do is no error.
    """
    from marchwarden.orchestrator.investigator import TOKENS
    from marchwarden.orchestrator.investigator_call import run_investigation
    from marchwarden.orchestrator.team import checked_own_team, read_team

    chosen = settings_of(settings)
    if team is None:
        chosen = await asyncio.to_thread(with_reachable_sources, chosen)
    request = request_of(question, context, depth, constraints or {"token_budget": TOKENS})
    found = await run_investigation(
        request,
        read_team(team) if team else await checked_own_team(chosen),
        chosen,
        trace_id=resume or str(uuid4()),
        seconds=seconds,
        at_once=at_once,
        resumed=resume is not None,
        tell=lambda number, message: on_progress(message) if on_progress else None,
    )
    return ResearchResult.of(found)


def research_sync(
    question: str,
    context: str | None = None,
    depth: Depth | str = Depth.BALANCED,
    constraints: Constraints | dict[str, Any] | None = None,
    *,
    settings: Settings | Mapping[str, object] | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> ResearchResult:
    """Answer `question` as `research` does, for code without an event loop.

    Raises RuntimeError where an event loop is running, else the same errors.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(
            research(question, context, depth, constraints, settings=settings, on_progress=on_progress)
        )
    raise RuntimeError("an event loop is running here: use `await research(…)` instead of research_sync")


def index(
    *paths: str | Path,
    name: str = DEFAULT_CORPUS,
    jobs: int = 0,
    engine: str | None = None,
    vectors: bool = False,
    on_progress: Tell | None = None,
) -> IndexReport:
    """Index files and folders into the corpus `name`, which `settings={"source": "corpus:NAME"}` then searches.

    Without paths it looks again at those that the corpus has. Files that have not changed are not read again. `jobs`
    processes read, 0 for this one. `engine` (tantivy, or lance) keeps the index of a new corpus; with `vectors` it is
    searched by meaning too. `on_progress` is called with the number of files done, of files in all, and of
    documents. Raises ConfigurationError for an unusable name, or a path that is not there; StorageError where the
    corpus can't be written.
    """
    from marchwarden.corpus.corpora import corpus_at, open_corpus
    from marchwarden.corpus.indexing import Wanted, index_files

    found = [Path(path).expanduser() for path in paths]
    if missing := [str(path) for path in found if not path.exists()]:
        raise ConfigurationError(f"no such file or folder: {', '.join(missing)}")
    corpus = corpus_at(name)
    if not found:
        open_corpus(name)
    tell: Tell = on_progress or (lambda files, of, documents: None)
    return index_files(corpus, found, jobs=jobs, wanted=Wanted(engine, vectors), tell=tell)
