"""ZIM files of Kiwix (https://wiki.openzim.org/wiki/ZIM_file_format): an encyclopedia on this machine, offline.

The file's own full-text index finds entries. An entry's address is the one that its page names as canonical, such as
`https://en.wikipedia.org/wiki/Frost`. Where pages name none, it is below `https://NAME.zim.invalid/`, a name that
leads nowhere. The bytes of a page tell the file and its day (reading/services/zim_entries.py).
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from anyio import to_thread

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError, require_package
from marchwarden.evidence.question import as_query
from marchwarden.http.addresses import host_of, web_address
from marchwarden.observations import Failure, FailureKind, FetchOutcome, Page, SearchHit, SearchOutcome, content_hash
from marchwarden.reading.services.zim_entries import PROFILE, write_entry
from marchwarden.sources.api_source import content_words, read_answer, with_profile
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools

if TYPE_CHECKING:
    from libzim.reader import Archive

_CONTENT_TYPE = with_profile("text/html", PROFILE)
_CANONICAL = re.compile(
    rb"<link\b(?=[^<>]*\brel\s*=\s*[\"']?canonical\b)[^<>]*\bhref\s*=\s*[\"']([^\"'<>]+)", re.IGNORECASE
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
# Bytes of a page in which its canonical address is looked for, and pages that are asked for one. Guesses.
_HEAD_BYTES = 20_000
_MOST_ASKED = 5
# Bytes of an entry that is read. A guess: the longest articles of Wikipedia have 3 MB.
_MOST_BYTES = 10_000_000


def open_zim(opening: Opening, name: str) -> Tools:
    """Return tools that search and read a ZIM file. Raises ConfigurationError where none of that name is there."""
    file = ZimFile(zim_path(opening.settings.zim_folder, name))
    return Tools(kind="zim", search=ZimSearch(name, file), fetcher=ZimReader(file), address=file.address)


def zim_names(folder: Path) -> list[str]:
    """Return the names of the ZIM files in a folder."""
    return sorted(path.stem for path in folder.glob("*.zim")) if folder.is_dir() else []


def problem_of_zim(path: Path) -> str | None:
    """Return why a ZIM file can't be searched; None where it can."""
    try:
        ZimFile(path)
    except ConfigurationError as error:
        return str(error)
    return None


def zim_path(folder: Path, name: str) -> Path:
    """Return `NAME.zim`, or the last of the files whose names begin so: `wikipedia_en_all` is the newest of them.

    Raises ConfigurationError.
    """
    names = zim_names(folder)
    begun = [each for each in names if each.startswith(name)]
    if begun:
        return folder / f"{name if name in names else begun[-1]}.zim"
    there = f"There are {', '.join(names)}." if names else "Files to download are on https://library.kiwix.org."
    raise ConfigurationError(f"there is no ZIM file {name}.zim in {folder}", hint=there)


class ZimFile:
    """A ZIM file, its day, and the addresses of its entries. Raises ConfigurationError where it can't be read."""

    def __init__(self, path: Path) -> None:
        require_package("libzim", "Reading ZIM files")
        from libzim.reader import Archive

        try:
            self.archive: Archive = Archive(path)
            if not self.archive.has_fulltext_index:
                raise ConfigurationError(
                    f"{path.name} has no full-text index, so that it can't be searched",
                    hint="Files with an index have `ftindex:yes` among their tags in the library of Kiwix.",
                )
        except RuntimeError as error:
            raise ConfigurationError(
                f"{path} is not a ZIM file that can be read ({error})", hint="Download it again."
            ) from None
        self._path = path
        self._title = self._metadata("Title")
        day = _DAY.match(self._metadata("Date"))
        self._day = day[0] if day else ""
        self._base = self._canonical_base() or f"https://{re.sub('[^a-z0-9]+', '-', path.stem.lower())}.zim.invalid/"

    def address(self, url: str) -> str | None:
        """Return the normalised address of an entry of this file; None for any other."""
        found = web_address(url)
        return found if found and self.path_of(found) is not None else None

    def url_of(self, path: str) -> str | None:
        return web_address(self._base + quote(path, safe="/:@!$&'()*+,;=~"))

    def path_of(self, url: str) -> str | None:
        """Return the path of the entry at a normalised address; None where the file has none."""
        path = unquote(url.removeprefix(self._base))
        return path if url.startswith(self._base) and path and self.archive.has_entry_by_path(path) else None

    def page_bytes(self, path: str) -> bytes | Failure:
        """Return the document of an entry."""
        item = self.archive.get_entry_by_path(path).get_item()
        if not item.mimetype.startswith("text/html"):
            return Failure(FailureKind.NO_TEXT, f"the entry is {item.mimetype or 'of an unknown kind'}, and no page")
        if item.size > _MOST_BYTES:
            return Failure(FailureKind.NO_TEXT, f"the entry has more than {_MOST_BYTES:,} bytes")
        return write_entry(bytes(item.content), file=self._path.name, title=self._title, day=self._day)

    def find(self, query: str, most: int) -> list[SearchHit]:
        """Return entries that hold all words of the query; where these are too few, all but one, then any."""
        from libzim.search import Query, Searcher

        searcher = Searcher(self.archive)
        found: dict[str, None] = {}
        words = content_words(query)
        wanted: list[Sequence[str]] = [words] if words else []
        if len(words) > 2:
            wanted += ([*words[:at], *words[at + 1 :]] for at in range(len(words)))
        if len(words) > 1:
            wanted += ([word] for word in sorted(words, key=len, reverse=True))
        for some in wanted:
            results = searcher.search(Query().set_query(" ".join(some))).getResults(0, most)
            found.update(dict.fromkeys(results))
            if len(found) >= most:
                break
        hits = []
        for path in list(found)[:most]:
            if url := self.url_of(path):
                hits.append(SearchHit(url, self.archive.get_entry_by_path(path).title or path, ""))
        return hits

    def _metadata(self, name: str) -> str:
        if name not in self.archive.metadata_keys:
            return ""
        return " ".join(self.archive.get_metadata(name).decode("utf-8", "replace").split())

    def _canonical_base(self) -> str | None:
        """Return what stands before the path of an entry in the address that its page names as canonical."""
        entries = [self.archive.main_entry] if self.archive.has_main_entry else []
        entries += [self.archive.get_random_entry() for _ in range(_MOST_ASKED if self.archive.article_count else 0)]
        for entry in entries:
            item = entry.get_item()
            named = _CANONICAL.search(bytes(item.content)[:_HEAD_BYTES]) if item.size <= _MOST_BYTES else None
            url = web_address(html.unescape(named[1].decode("utf-8", "replace"))) if named else None
            if url and unquote(url).endswith(f"/{item.path}"):
                # The address may percent-encode characters of the path at its end.
                starts = range(len(url) - len(item.path), -1, -1)
                return url[: next(at for at in starts if unquote(url[at:]) == item.path)]
        return None


class ZimSearch:
    def __init__(self, name: str, file: ZimFile) -> None:
        self.name = f"zim:{name}"
        self._file = file

    async def search(self, query: str, *, max_results: int, source_filter: SourceFilter) -> SearchOutcome:
        """Return entries that match `query`, best first; a file that is damaged there is a failure."""
        began = time.monotonic()
        asked = as_query(query)
        try:
            hits = await to_thread.run_sync(self._file.find, asked, max_results, abandon_on_cancel=True)
        except RuntimeError as error:
            failure = Failure(FailureKind.SERVICE_DOWN, f"the ZIM file can't be searched: {error}")
            return SearchOutcome(asked, self.name, failure=failure, seconds=time.monotonic() - began)
        allowed = tuple(hit for hit in hits if source_filter.allows(host_of(hit.url)))
        return SearchOutcome(asked, self.name, allowed, seconds=time.monotonic() - began)

    async def aclose(self) -> None:
        pass


class ZimReader:
    def __init__(self, file: ZimFile) -> None:
        self._file = file

    async def fetch(self, url: str, *, timeout: float | None = None, allows: Callable[[str], bool]) -> FetchOutcome:
        """Return the page of an entry, or the failure. Only cancellation passes through."""
        began = time.monotonic()
        asked = self._file.address(url)
        if asked is None:
            return FetchOutcome(url, url, failure=Failure(FailureKind.NOT_FOUND, "the ZIM file has no such entry"))
        if not allows(host_of(asked)):
            failure = Failure(FailureKind.REFUSED_ADDRESS, f"the source filter excludes {host_of(asked)}")
            return FetchOutcome(asked, asked, failure=failure)
        body, found = await to_thread.run_sync(self._read, asked, abandon_on_cancel=True)
        return FetchOutcome(
            url=asked,
            final_url=asked,
            status=200 if body else None,
            content_type=_CONTENT_TYPE if body else None,
            content_hash=content_hash(body) if body else None,
            content_length=len(body),
            body=body,
            page=found if isinstance(found, Page) else None,
            failure=found if isinstance(found, Failure) else None,
            seconds=time.monotonic() - began,
        )

    def _read(self, url: str) -> tuple[bytes, Page | Failure]:
        try:
            body = self._file.page_bytes(self._file.path_of(url) or "")
        except (KeyError, RuntimeError) as error:
            body = Failure(FailureKind.NOT_FOUND, f"the ZIM file can't be read there: {error}")
        return (b"", body) if isinstance(body, Failure) else (body, read_answer(body, url, _CONTENT_TYPE))

    async def aclose(self) -> None:
        pass
