"""Read files of a corpus again: only files that were indexed, and only while they are unchanged."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from marchwarden.corpus.catalogue import Catalogue
from marchwarden.corpus.corpora import Corpus, again
from marchwarden.corpus.documents import JSON_LINES, LINE, MOST_BYTES, day_of, kind_of, page_of_document
from marchwarden.corpus.snapshots import fetched_file, is_fetched
from marchwarden.corpus.walk import read_bytes
from marchwarden.errors import MarchwardenError
from marchwarden.http.addresses import publisher_of
from marchwarden.observations import ContentHash, Failure, FailureKind, FetchOutcome, Page, content_hash

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Record:
    """The bytes that a document is, and their hash."""

    path: str
    hash: ContentHash
    start: int = 0
    length: int | None = None
    """Bytes of the document; None for the whole file."""
    fetched: Path | None = None
    """Place of the file where it came from the object store."""

    @property
    def place(self) -> str:
        return str(self.fetched or self.path)


class CorpusFetcher:
    """A reader of a corpus's files for one research call; it reads no path that isn't in the corpus."""

    def __init__(self, corpus: Corpus, *, timeout: float) -> None:
        self._corpus = corpus
        self._timeout = timeout

    def address(self, url: str) -> str | None:
        """Return `url` where it names a document of the corpus; else None."""
        return url if self._record(url) else None

    async def fetch(
        self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool] = lambda host: True
    ) -> FetchOutcome:
        """Return the document at the path `url` (of a .jsonl file, with `#L` and the line), or the failure.

        Files have no domain: a filter that names domains to include excludes them. Nothing but cancellation is
        raised.
        """
        began = time.monotonic()
        if not allows(""):
            failure = Failure(
                FailureKind.REFUSED_ADDRESS, "the source filter includes domains only, and a file has none"
            )
            return FetchOutcome(url, url, failure=failure)
        limit = min(timeout if timeout is not None else self._timeout, self._timeout)
        outcome = FetchOutcome(
            url, url, failure=Failure(FailureKind.TIMEOUT, f"the file was not read within {limit:.3g} seconds")
        )
        with anyio.move_on_after(limit):
            outcome = await to_thread.run_sync(partial(self._read, url), abandon_on_cancel=True)
        return replace(outcome, seconds=time.monotonic() - began)

    async def aclose(self) -> None:
        pass

    def _read(self, url: str) -> FetchOutcome:
        record = self._record(url)
        if record is None:
            return _failed(url, FailureKind.NOT_FOUND, f"the corpus {self._corpus.name} has no such file")
        if is_fetched(self._corpus.folder):
            try:
                record = replace(record, fetched=fetched_file(self._corpus.folder, record.path, self._corpus.store))
            except FileNotFoundError:
                return _failed(url, FailureKind.NOT_FOUND, "the file is not in the object store")
            except (OSError, MarchwardenError) as error:
                return _failed(url, FailureKind.NOT_FOUND, f"the file can't be fetched: {error}")
        body = _body(record)
        if isinstance(body, Failure):
            return FetchOutcome(url, url, failure=body)
        if content_hash(body) != record.hash:
            detail = f"the file has changed since it was indexed; {again(self._corpus.name)} looks again"
            return _failed(url, FailureKind.CHANGED, detail)
        try:
            with Catalogue.reading(self._corpus.catalogue) as catalogue:
                kept = catalogue.kept_page(record.hash)
            modified = day_of(Path(record.place).stat().st_mtime)
            page = page_of_document(url, body, modified, is_line=record.length is not None, kept=kept)
        except Exception:  # a parser stumbled over this one file: the others are still to be read
            _log.exception("reading %s failed", url)
            page = Failure(FailureKind.NO_TEXT, "the file's format can't be read")
        found = page if isinstance(page, Page) else None
        if found:
            # Files of one corpus may have one author; what was saved from the web has its site's.
            origin = publisher_of(found.canonical_url) if found.canonical_url else f"corpus:{self._corpus.name}"
            found = replace(found, collection=origin)
        return FetchOutcome(
            url=url,
            final_url=url,
            content_type=found.media_type if found else kind_of(record.path),
            content_hash=record.hash,
            content_length=len(body),
            body=body,
            page=found,
            failure=page if isinstance(page, Failure) else None,
        )

    def _record(self, url: str) -> _Record | None:
        with Catalogue.reading(self._corpus.catalogue) as catalogue:
            if line := LINE.search(url):
                path = url[: line.start()]
                if found := catalogue.line(path, int(line[1])):
                    return _Record(path, found.hash, found.start, found.length)
            file = catalogue.file(url)
            is_one = file is not None and file.documents > 0 and kind_of(url) != JSON_LINES
            return _Record(url, file.hash) if file and is_one else None


def _failed(url: str, kind: FailureKind, detail: str) -> FetchOutcome:
    return FetchOutcome(url, url, failure=Failure(kind, detail))


def _body(record: _Record) -> bytes | Failure:
    """Return a document's bytes, or the failure. A path that is now a link, or leads through one, is not followed."""
    if not record.fetched and os.path.realpath(record.path) != record.path:
        return Failure(FailureKind.NOT_FOUND, "the file was replaced by a link")
    most = MOST_BYTES + 1 if record.length is None else record.length
    try:
        return read_bytes(record.place, most, record.start)
    except FileNotFoundError:
        return Failure(FailureKind.NOT_FOUND, "the file is no longer there")
    except PermissionError:
        return Failure(FailureKind.FORBIDDEN, "you have no permission to read the file")
    except OSError as error:
        return Failure(FailureKind.NOT_FOUND, f"the file can't be read: {error.strerror or error}")
