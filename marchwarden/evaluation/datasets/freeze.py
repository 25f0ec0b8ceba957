"""Calls as a frozen web and questions to label: what was searched and read then can be asked of any set-up.

The pages are those that the calls fetched, closed and broken ones included. A hit that no call fetched becomes a page
that answers 404, with the title and snippet of the search.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from marchwarden.errors import EvaluationError, StorageError, TraceError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.files import write_whole
from marchwarden.frozen_web.pages import MANIFEST
from marchwarden.observations import FailureKind, is_file
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Fetched, Searched, Started
from marchwarden.trace.reader import Trace

WEB, QUESTIONS, PAGES = "web", "questions.jsonl", "pages"
# Statuses for failures that came without an answer of the server.
_STATUS = {FailureKind.ROBOTS_DISALLOWED.value: 403, FailureKind.TIMEOUT.value: 504}
# Digits of a hash that name a file, a guess: no set has so many pages that two of them meet.
_NAME_DIGITS = 16


@dataclass(frozen=True)
class Frozen:
    """Result of a freeze."""

    questions: int
    pages: int
    """Number of addresses with a body."""
    addresses: int
    """Number of all addresses."""
    left_out: list[str]
    """Sentences on what is not in the frozen web."""


def freeze(traces: Sequence[Trace], folder: Path) -> Frozen:
    """Write `web/` and `questions.jsonl` into the folder, from these traces, oldest first where two read one page.

    Raises EvaluationError where the folder holds a frozen web already, or a trace no question; StorageError where
    it can't be written.
    """
    if (folder / WEB / MANIFEST).exists() or (folder / QUESTIONS).exists():
        raise EvaluationError(f"{folder} holds frozen calls already", hint="Name another folder with --out.")
    entries: dict[str, dict[str, Any]] = {}
    bodies: dict[str, bytes] = {}
    questions: dict[str, Question] = {}
    left_out: list[str] = []
    only_met: dict[str, dict[str, Any]] = {}
    for trace in traces:
        events = [event for _, _, event in trace.events]
        started = next((event for event in events if isinstance(event, Started)), None)
        if started is None:
            raise EvaluationError(
                f"{trace.path} holds no question", hint="It is damaged, or was made by another version."
            )
        stub = _stub(started, trace.trace_id)
        # A question that was asked twice is one question, over the pages of both calls.
        questions.setdefault(stub.model_copy(update={"id": "", "note": None}).model_dump_json(), stub)
        store = Store(trace.path.parent / "store")
        hits = {hit.url: hit for event in events if isinstance(event, Searched) for hit in event.hits}
        for fetch in (event for event in events if isinstance(event, Fetched)):
            if is_file(fetch.url):
                left_out.append(f"{fetch.url}: a file of a corpus, not a page")
                continue
            try:
                body = store.get(fetch.content_hash) if fetch.content_hash else b""
            except TraceError as error:
                left_out.append(f"{fetch.url}: {error}")
                continue
            hit = hits.get(fetch.url)
            for entry in _pages(fetch, body, hit.title if hit else fetch.title, hit.snippet if hit else None):
                if entries.setdefault(entry["url"], entry) is entry and entry["file"]:
                    bodies[entry["file"]] = body
        for hit in (hit for hit in hits.values() if not is_file(hit.url)):
            published = hit.published.isoformat() if hit.published else None
            met = _entry(hit.url, 404, title=hit.title, snippet=hit.snippet, published=published)
            only_met.setdefault(hit.url, met)
    # A page that one call read counts, though another call only met it as a hit.
    every = {**only_met, **entries}
    if not every:
        raise EvaluationError("these calls met no page", hint="Name calls that searched the web.")
    _write(folder, every, bodies, list(questions.values()))
    return Frozen(len(questions), sum(entry["file"] is not None for entry in every.values()), len(every), left_out)


def _stub(started: Started, trace_id: str) -> Question:
    given = started.constraints.model_dump(mode="json", exclude_defaults=True)
    return Question(
        id=f"trace-{trace_id[:8]}",
        question=started.question,
        context=started.context,
        depth=started.depth,
        constraints=given,
        split="dev",
        note=f"To be labelled: kinds in tags, nuggets, gaps. Asked on {started.today or 'an unknown day'}.",
    )


def _pages(fetch: Fetched, body: bytes, title: str | None, snippet: str | None) -> Iterator[dict[str, Any]]:
    """Yield the entries of one fetch: its redirects, and the answer at their end."""
    chain = [fetch.url, *fetch.redirects]
    for address, target in itertools.pairwise(chain):
        if address != target:
            yield _entry(address, 302, redirect=target, title=title, snippet=snippet)
    if fetch.final_url in chain[:-1]:
        # A redirect loop: its addresses are there already.
        return
    status = fetch.status or _STATUS.get(fetch.failure.kind if fetch.failure else "", 503)
    published = fetch.published.isoformat() if fetch.published else None
    file = None
    if body:
        host = "".join(char if char.isalnum() or char in ".-" else "_" for char in urlsplit(fetch.final_url).netloc)
        file = f"{PAGES}/{host}/{hashlib.sha256(body).hexdigest()[:_NAME_DIGITS]}"
    yield _entry(
        fetch.final_url,
        status,
        file=file,
        content_type=fetch.content_type,
        published=published,
        title=title if fetch.failure else None,
        snippet=snippet if fetch.failure else None,
    )


def _entry(
    url: str,
    status: int,
    *,
    file: str | None = None,
    content_type: str | None = None,
    published: str | None = None,
    redirect: str | None = None,
    title: str | None = None,
    snippet: str | None = None,
) -> dict[str, Any]:
    """Return a line of the manifest."""
    return {
        "url": url,
        "file": file,
        "status": status,
        "headers": {"content-type": content_type} if content_type else {},
        "published": published,
        "delay_s": 0,
        "redirect": redirect,
        "title": title,
        "snippet": snippet or None,
    }


def _write(
    folder: Path, entries: dict[str, dict[str, Any]], bodies: dict[str, bytes], questions: Sequence[Question]
) -> None:
    try:
        for file, body in bodies.items():
            (folder / WEB / file).parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder / WEB / file, body)
        (folder / WEB).mkdir(parents=True, exist_ok=True)
        labels = [question.model_dump(mode="json") for question in questions]
        for path, lines in ((folder / WEB / MANIFEST, list(entries.values())), (folder / QUESTIONS, labels)):
            text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
            write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise StorageError(f"{folder} can't be written: {error.strerror or error}") from None
