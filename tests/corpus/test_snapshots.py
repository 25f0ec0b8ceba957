"""Corpora that one machine indexes and publishes, and others answer from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from marchwarden.corpus.corpora import corpus_at, open_corpus, open_search
from marchwarden.corpus.corpus_fetcher import CorpusFetcher
from marchwarden.corpus.snapshots import MARK, publish_snapshot
from marchwarden.errors import ConfigurationError, StorageError
from tests.corpora import corpus_of, index

pytestmark = pytest.mark.anyio

FILES = {"tomatoes.md": "# Tomatoes\n\nTomatoes ripen in July.", "log.jsonl": '{"text": "Peas are sown in March."}\n'}


@pytest.fixture
def url(tmp_path: Path) -> str:
    (tmp_path / "bucket").mkdir()
    return f"file:{tmp_path}/bucket"


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    return tmp_path / "garden"


def go_to_another_machine(tmp_path: Path, garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that knows no corpus, and no files where they were."""
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    shutil.rmtree(garden)


def look_again(folder: Path) -> None:
    """Let the fetched snapshot be an hour old."""
    os.utime(folder / MARK, (1, 1))


def found(query: str, url: str) -> list[str]:
    return [each.locator for each in open_search(open_corpus("garden", url)).find(query, 5)]


async def test_another_machine_searches_and_reads_a_published_corpus(
    tmp_path: Path, garden: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(garden, FILES, "garden")
    day = (await CorpusFetcher(corpus, timeout=9).fetch(f"{garden}/tomatoes.md")).page
    done = publish_snapshot(corpus.folder, url)
    assert (done.files, done.created) == (2, 3)
    assert publish_snapshot(corpus.folder, url).created == 0
    go_to_another_machine(tmp_path, garden, monkeypatch)
    assert found("ripe tomatoes in July", url) == [f"{garden}/tomatoes.md"]
    # A server's callers have parts of its store, and its corpora.
    fetcher = CorpusFetcher(open_corpus("garden", f"{url}/callers/alice"), timeout=9)
    read = await fetcher.fetch(f"{garden}/tomatoes.md")
    assert read.page == day
    line = await fetcher.fetch(f"{garden}/log.jsonl#L1")
    assert line.page is not None
    assert "Peas are sown in March." in line.page.text
    with pytest.raises(ConfigurationError, match="came from the object store"):
        index(name="garden")


def test_a_newer_snapshot_is_fetched_and_the_last_one_stays_without_the_store(
    tmp_path: Path, garden: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = corpus_of(garden, FILES, "garden")
    publish_snapshot(corpus.folder, url)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    assert found("beans", url) == []
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    corpus_of(garden, {"beans.md": "# Beans\n\nBeans climb."}, "garden")
    newest = publish_snapshot(corpus_at("garden").folder, url).name
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    # Within the same second, names are ordered by their hashes.
    for each in (tmp_path / "bucket/corpora/garden").iterdir():
        if each.name != Path(newest).name:
            each.rename(each.with_name(f"2020{each.name[4:]}"))
    look_again(corpus_at("garden").folder)
    assert found("beans", url) == [f"{garden}/beans.md"]
    look_again(corpus_at("garden").folder)
    shutil.rmtree(tmp_path / "bucket")
    assert found("beans", url) == [f"{garden}/beans.md"]


def test_a_corpus_of_this_machine_is_never_replaced(garden: Path, url: str) -> None:
    corpus = corpus_of(garden, FILES, "garden")
    publish_snapshot(corpus.folder, url)
    (garden / "tomatoes.md").unlink()
    index(name="garden")
    assert found("tomatoes", url) == []


def test_what_has_changed_since_it_was_indexed_is_not_published(garden: Path, url: str) -> None:
    corpus = corpus_of(garden, FILES, "garden")
    (garden / "tomatoes.md").write_text("Other words.")
    with pytest.raises(ConfigurationError, match=r"tomatoes\.md has changed since it was indexed"):
        publish_snapshot(corpus.folder, url)


def test_a_damaged_snapshot_and_one_that_is_not_there_are_told(
    tmp_path: Path, garden: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="there is no corpus garden"):
        open_corpus("garden", url)
    done = publish_snapshot(corpus_of(garden, FILES, "garden").folder, url)
    go_to_another_machine(tmp_path, garden, monkeypatch)
    (tmp_path / "bucket" / done.name).write_bytes(b"something else")
    with pytest.raises(StorageError, match="damaged in the store"):
        open_corpus("garden", url)
