from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from marchwarden.contract import NON_TEXT_SOURCE, Citation
from marchwarden.observations import content_hash
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event, FailureRecord
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.verify import verify
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import TEXT, TRACE_ID, URL, a_citation, a_result, fetched


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    store.put(TEXT.encode())
    return store


def a_trace(folder: Path, *events: Event) -> Trace:
    with TraceWriter(folder, TRACE_ID) as writer:
        for event in events:
            writer.record(event)
    return read_trace(writer.path)


def what_is_wrong(citation: Citation, trace: Trace, store: Store) -> str | None:
    problems = verify(a_result(citations=[citation]), trace, store)
    assert all((each.citation, each.locator) == (1, citation.locator) for each in problems)
    return problems[0].what if problems else None


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"content_hash": None},
        {"raw_excerpt": "Peas like cool springs."},
        {"raw_excerpt": "Tomatoes grow [...]"},
    ],
)
def test_a_citation_that_holds_has_no_problem(tmp_path: Path, store: Store, changes: dict[str, Any]) -> None:
    assert what_is_wrong(a_citation(**changes), a_trace(tmp_path, fetched()), store) is None


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"locator": "https://invented.example/"}, "not fetched"),
        ({"content_hash": content_hash(b"other")}, "not what was fetched"),
        ({"raw_excerpt": "Tomatoes thrive in Utah."}, "not in the text"),
        ({"raw_excerpt": "Tomatoes thrive [...]"}, "not in the text"),
        ({"raw_excerpt": "Tomatoes grow [...] springs."}, "not in the text"),
        ({"raw_excerpt": NON_TEXT_SOURCE}, "not in the text"),
    ],
)
def test_a_citation_that_does_not_hold_is_named(
    tmp_path: Path, store: Store, changes: dict[str, Any], what: str
) -> None:
    assert what in str(what_is_wrong(a_citation(**changes), a_trace(tmp_path, fetched()), store))


@pytest.mark.parametrize("address", ["https://asked.example/", "https://final.example/"])
def test_a_page_may_be_cited_by_any_of_its_addresses(tmp_path: Path, store: Store, address: str) -> None:
    page = fetched(url="https://asked.example/", final_url="https://final.example/")
    assert what_is_wrong(a_citation(locator=address), a_trace(tmp_path, page), store) is None


def test_a_page_whose_fetch_failed_was_not_read(tmp_path: Path, store: Store) -> None:
    page = fetched(failure=FailureRecord(kind="paywall", detail="a teaser"))
    assert "not fetched" in str(what_is_wrong(a_citation(), a_trace(tmp_path, page), store))


def test_a_source_without_text_is_cited_as_such(tmp_path: Path, store: Store) -> None:
    trace = a_trace(tmp_path, fetched(text_hash=None, failure=FailureRecord(kind="no_text", detail="an image")))
    assert what_is_wrong(a_citation(raw_excerpt=NON_TEXT_SOURCE), trace, store) is None
    assert "no text" in str(what_is_wrong(a_citation(), trace, store))


def test_one_fetch_of_several_that_carries_the_excerpt_is_enough(tmp_path: Path, store: Store) -> None:
    other = fetched(text_hash=store.put(b"nothing of the kind"))
    assert what_is_wrong(a_citation(), a_trace(tmp_path, other, fetched()), store) is None


def test_a_text_that_is_no_longer_stored_cannot_be_verified(tmp_path: Path) -> None:
    wrong = what_is_wrong(a_citation(), a_trace(tmp_path, fetched()), Store(tmp_path / "empty"))
    assert "missing" in str(wrong)


def test_a_result_of_another_call_is_named(tmp_path: Path, store: Store) -> None:
    other = a_result(trace_id="00000000-0000-4000-8000-000000000000")
    (problem,) = verify(other, a_trace(tmp_path, fetched()), store)
    assert problem.citation == 0
    assert URL not in problem.locator
