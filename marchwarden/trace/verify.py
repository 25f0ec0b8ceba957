"""Checks a result against its trace and the stored pages, offline: was each citation read, is each excerpt in it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marchwarden.errors import TraceError
from marchwarden.observations import FailureKind, without_place
from marchwarden.store.content_store import Store
from marchwarden.trace.reader import Trace

if TYPE_CHECKING:
    from marchwarden.contract import Citation, ResearchResult
    from marchwarden.trace.events import Fetched


@dataclass(frozen=True)
class Problem:
    citation: int
    """1-based, as the answer's marker has it; 0 for the result as a whole."""
    locator: str
    what: str
    """One sentence for a person."""


def verify(result: ResearchResult, trace: Trace, store: Store) -> list[Problem]:
    """What does not hold; empty where every citation was read in this call and every excerpt is in its text.

    `result` may be the trace's own `written_result`: nothing of it is taken on trust.
    """
    fetched = [event for event in trace.fetches if _was_read(event)]
    problems = []
    if result.trace_id != trace.trace_id:
        problems.append(Problem(0, result.trace_id, f"the result names another trace than {trace.trace_id}"))
    for number, citation in enumerate(result.citations, start=1):
        if what := _wrong_with(citation, fetched, store):
            problems.append(Problem(number, citation.locator, what))
    return problems


def _was_read(event: Fetched) -> bool:
    return event.failure is None or event.failure.kind == FailureKind.NO_TEXT.value


def _wrong_with(citation: Citation, fetched: list[Fetched], store: Store) -> str | None:
    where = {citation.locator, without_place(citation.locator)}
    pages = [page for page in fetched if where & {page.final_url, page.url}]
    if not pages:
        return "it was not fetched in this call"
    same = [page for page in pages if citation.content_hash in (None, page.content_hash)]
    if not same:
        return f"its content_hash {citation.content_hash} is not what was fetched from it"
    if any(page.text_hash is None for page in same) and _names_no_text(citation.raw_excerpt):
        return None
    reasons = [_wrong_with_excerpt(citation.raw_excerpt, page, store) for page in same]
    return None if None in reasons else reasons[0]


def _wrong_with_excerpt(excerpt: str, page: Fetched, store: Store) -> str | None:
    if page.text_hash is None:
        return "the page had no text to quote"
    try:
        text = store.get(page.text_hash).decode("utf-8")
    except TraceError as error:
        return f"its text can't be read: {error}"
    if excerpt in text or _without_cut(excerpt) in text:
        return None
    return "its raw_excerpt is not in the text of the page"


# The contract's words for these cases; importing it takes longer than `replay` may, and few excerpts need it.


def _names_no_text(excerpt: str) -> bool:
    from marchwarden.contract import NON_TEXT_SOURCE

    return excerpt == NON_TEXT_SOURCE


def _without_cut(excerpt: str) -> str:
    from marchwarden.contract import EXCERPT_CUT

    return excerpt.removesuffix(EXCERPT_CUT)
