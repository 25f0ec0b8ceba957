"""ZIM files as a source: a small one is written here, then searched, read and cited."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.observations import FailureKind, Page
from marchwarden.reading.page import read_page
from marchwarden.settings import Settings
from marchwarden.sources.encyclopedia.zim_archive import open_zim, zim_path
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools

writer = pytest.importorskip("libzim.writer")

ENTRIES = {
    "Main": (
        "Mills",
        "Welcome to the encyclopedia of mills, which tells of all that stand by a river or in the wind.",
    ),
    "Old_Mill": (
        "Old Mill",
        "The Old Mill of Bergen was built in 1804. It burned down in 1911, and stood empty since.",
    ),
    "Windmill_(Hamar)": (
        "Windmill (Hamar)",
        "The windmill of Hamar grinds oats from May until the first snow falls.",
    ),
}


class Article(writer.Item):  # type: ignore[name-defined,misc]
    def __init__(self, path: str, *, canonical: str | None) -> None:
        super().__init__()
        self._path, (self._title, self._text), self._canonical = path, ENTRIES[path], canonical

    def get_path(self) -> str:
        return self._path

    def get_title(self) -> str:
        return self._title

    def get_mimetype(self) -> str:
        return "text/html"

    def get_hints(self) -> dict[object, int]:
        return {writer.Hint.FRONT_ARTICLE: True}

    def get_contentprovider(self) -> object:
        link = f"<link rel='canonical' href='{self._canonical}{self._path}'>" if self._canonical else ""
        page = f"<head><title>{self._title}</title>{link}</head><h1>{self._title}</h1><p>{self._text}</p>"
        return writer.StringProvider(f"<html>{page}</html>")


def write_zim(path: Path, *, canonical: str | None = "https://mills.example/wiki/", is_indexed: bool = True) -> None:
    with writer.Creator(path).config_indexing(is_indexed, "eng").config_verbose(False) as creator:
        creator.set_mainpath("Main")
        for entry in ENTRIES:
            creator.add_item(Article(entry, canonical=canonical))
        creator.add_metadata("Title", "Mills")
        creator.add_metadata("Date", "2026-03-01")


def opened(folder: Path, name: str = "mills") -> Tools:
    return open_zim(Opening(Settings(zim_folder=folder)), name)


def search(tools: Tools, query: str, source_filter: str | None = None) -> list[tuple[str, str]]:
    async def ask() -> list[tuple[str, str]]:
        found = await tools.search.search(query, max_results=3, source_filter=SourceFilter(source_filter))
        return [(hit.title, hit.url) for hit in found.hits]

    return anyio.run(ask)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zim")
    write_zim(folder / "mills_2026-03.zim")
    return folder


def test_entries_are_found_by_the_words_of_a_question_and_cited_by_their_address(folder: Path) -> None:
    tools = opened(folder)
    found = search(tools, "When was the Old Mill of Bergen built, and by whom?")
    assert found[0] == ("Old Mill", "https://mills.example/wiki/Old_Mill")
    assert search(tools, "windmill oats", "-mills.example") == []


def test_an_entry_is_read_with_the_edition_that_it_is_from_and_again_from_its_bytes(folder: Path) -> None:
    tools = opened(folder)
    ((_, url), *_) = search(tools, "windmill Hamar")
    outcome = anyio.run(lambda: tools.fetcher.fetch(url, allows=lambda host: True))
    page = outcome.page
    assert page is not None
    assert outcome.body is not None
    assert page.passages[0].text == "The windmill of Hamar grinds oats from May until the first snow falls."
    assert page.work is not None
    assert (page.source, page.work.venue, page.work.version) == ("zim", "Mills", "mills_2026-03.zim, 2026-03-01")
    assert str(page.modified) == "2026-03-01"
    again = read_page(outcome.body, url=outcome.final_url, content_type=outcome.content_type)
    assert isinstance(again, Page)
    assert again == page


@pytest.mark.parametrize("url", ["https://mills.example/wiki/Nothing", "https://elsewhere.example/", "no address"])
def test_what_the_file_does_not_hold_is_not_found(folder: Path, url: str) -> None:
    tools = opened(folder)
    assert tools.address(url) is None
    failure = anyio.run(lambda: tools.fetcher.fetch(url, allows=lambda host: True)).failure
    assert failure is not None
    assert failure.kind is FailureKind.NOT_FOUND


def test_entries_without_an_address_of_their_own_get_one_that_leads_nowhere(tmp_path: Path) -> None:
    write_zim(tmp_path / "Mills_EN.zim", canonical=None)
    assert search(opened(tmp_path, "Mills_EN"), "oats") == [
        ("Windmill (Hamar)", "https://mills-en.zim.invalid/Windmill_(Hamar)")
    ]


def test_a_name_means_the_last_file_that_begins_so(tmp_path: Path) -> None:
    for name in ("wiki_en_2025-08", "wiki_en_2026-02", "wiki_de_2026-05"):
        (tmp_path / f"{name}.zim").touch()
    assert zim_path(tmp_path, "wiki_en").stem == "wiki_en_2026-02"
    assert zim_path(tmp_path, "wiki_en_2025-08").stem == "wiki_en_2025-08"
    with pytest.raises(ConfigurationError, match=r"there is no ZIM file wiki_fr\.zim"):
        zim_path(tmp_path, "wiki_fr")


def test_a_file_that_is_none_or_has_no_index_is_told(tmp_path: Path) -> None:
    (tmp_path / "broken.zim").write_bytes(b"no such file")
    with pytest.raises(ConfigurationError, match="is not a ZIM file that can be read"):
        opened(tmp_path, "broken")
    write_zim(tmp_path / "mute.zim", is_indexed=False)
    with pytest.raises(ConfigurationError, match="has no full-text index"):
        opened(tmp_path, "mute")
