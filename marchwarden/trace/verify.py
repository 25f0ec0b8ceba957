"""Check of a result against its trace and the stored pages, offline: each citation was read and has its excerpt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marchwarden.errors import TraceError
from marchwarden.observations import FailureKind, without_place
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace

if TYPE_CHECKING:
    from marchwarden.contract import Citation, ResearchResult
    from marchwarden.trace.json_view import TolerantJsonView


@dataclass(frozen=True)
class Problem:
    citation: int
    """Number of the citation, from 1, as in the answer's marker; 0 for the result as a whole."""
    locator: str
    what: str
    """One sentence for a person."""


def verify(result: ResearchResult | TolerantJsonView, trace: Trace, store: Store) -> list[Problem]:
    """Return the problems of a result; none where each citation was read in this call and has its excerpt.

    `result` may be the trace's own `written_result`, which is unchecked. Raises AttributeError, TypeError or
    ValueError where that is no result.
    """
    # A page without text was read, too: a citation may name it as a non-text source.
    read = [
        event for event in trace.fetches if event.failure is None or event.failure.kind == FailureKind.NO_TEXT.value
    ]
    problems = []
    if result.trace_id != trace.trace_id:
        problems.append(Problem(0, result.trace_id, f"the result names another trace than {trace.trace_id}"))
    for number, citation in enumerate(result.citations, start=1):
        if what := _find_fault(citation, read, store):
            problems.append(Problem(number, citation.locator, what))
    return problems


def _find_fault(citation: Citation | TolerantJsonView, fetched: list[TolerantJsonView], store: Store) -> str | None:
    """Return the fault of a citation, as a clause; None where it has none."""
    where = {citation.locator, without_place(citation.locator)}
    pages = [page for page in fetched if where & {page.final_url, page.url}]
    if not pages:
        return "it was not fetched in this call"
    same = [page for page in pages if citation.content_hash in (None, page.content_hash)]
    if not same:
        return f"its content_hash {citation.content_hash} is not what was fetched from it"
    if any(page.text_hash is None for page in same):
        # Not imported at the top: importing the contract takes longer than a whole `replay` may.
        from marchwarden.contract import NON_TEXT_SOURCE

        if citation.raw_excerpt == NON_TEXT_SOURCE:
            return None
    # The same address may have been read several times: one text that holds the excerpt is enough.
    faults = [_find_excerpt_fault(citation.raw_excerpt, page, store) for page in same]
    return None if None in faults else faults[0]


def _find_excerpt_fault(excerpt: str, page: TolerantJsonView, store: Store) -> str | None:
    """Return the fault of an excerpt from this page, as a clause; None where the stored text holds it."""
    if page.text_hash is None:
        return "the page had no text to quote"
    try:
        text = store.get(page.text_hash).decode("utf-8")
    except TraceError as error:
        return f"its text can't be read: {error}"
    if excerpt in text:
        return None
    # Few excerpts come to here, so the slow import of the contract costs little.
    from marchwarden.contract import EXCERPT_CUT

    return None if excerpt.removesuffix(EXCERPT_CUT) in text else "its raw_excerpt is not in the text of the page"
