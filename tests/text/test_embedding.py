"""How alike texts are in meaning: by the real embedding model, where it is installed."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from marchwarden.settings import load_settings
from marchwarden.text import embedding
from marchwarden.text.embedding import CACHE, Embedder, is_used, open_embedder
from tests.runs import run

needs_the_model = pytest.mark.skipif(
    not embedding.is_installed(), reason="the embedding model (extra `semantic`) is not installed"
)
QUERY = "How many people lost their lives at the wall?"
ALIKE = "At least 140 men and women were killed at the border."
OTHER = "Peas are sown in spring, in rows two feet apart."


def test_reading_by_meaning_can_be_switched_off(tmp_path: Path) -> None:
    off = load_settings(semantic=False, cache_dir=tmp_path)
    assert not is_used(off)
    assert open_embedder(off) is None
    assert is_used(load_settings(semantic=True)) is embedding.is_installed()


@needs_the_model
def test_what_says_the_same_in_other_words_or_another_language_is_more_alike(tmp_path: Path) -> None:
    german = "Mindestens 140 Menschen kamen an der Grenze ums Leben."
    ((same, foreign, other),) = Embedder(tmp_path / CACHE).likeness([QUERY], [ALIKE, german, OTHER])
    assert same > other + 0.03
    assert foreign > other + 0.03


@needs_the_model
def test_rows_are_queries_and_columns_passages(tmp_path: Path) -> None:
    embedder = Embedder(tmp_path / CACHE)
    assert [len(row) for row in embedder.likeness([QUERY, "peas"], [ALIKE, OTHER, "x"])] == [3, 3]
    assert embedder.likeness([QUERY], []) == [[]]
    assert embedder.likeness([], [ALIKE]) == []


@needs_the_model
def test_what_was_embedded_once_is_read_from_the_cache(tmp_path: Path) -> None:
    first = Embedder(tmp_path / CACHE).likeness([QUERY], [ALIKE, OTHER])
    with sqlite3.connect(tmp_path / CACHE) as database:
        assert database.execute("SELECT count(*) FROM vectors").fetchone() == (3,)
        database.execute("UPDATE vectors SET vector = (SELECT vector FROM vectors LIMIT 1)")
    assert Embedder(tmp_path / CACHE).likeness([QUERY], [ALIKE, OTHER]) != first


@needs_the_model
@pytest.mark.parametrize("damage", ["no database", "a folder", "no place"])
def test_a_cache_that_can_not_be_used_is_done_without(tmp_path: Path, damage: str) -> None:
    file = tmp_path / CACHE
    if damage == "no database":
        file.write_bytes(b"not SQLite" * 100)
    elif damage == "a folder":
        file.mkdir()
    else:
        (tmp_path / "file").touch()
        file = tmp_path / "file" / CACHE
    assert len(Embedder(file).likeness([QUERY], [ALIKE])[0]) == 1


@needs_the_model
@pytest.mark.parametrize("text", ["", "\0", "a\ud800b", "word " * 5000, "日本語。", "\u200b"])
def test_any_text_can_be_embedded(tmp_path: Path, text: str) -> None:
    ((likeness,),) = Embedder(tmp_path / CACHE).likeness([QUERY], [text])
    assert -1.01 < likeness < 1.01


@needs_the_model
def test_threads_take_turns_and_get_what_one_alone_gets(tmp_path: Path) -> None:
    texts = [f"The bridge number {number} is {number * 10} metres long." for number in range(12)]
    alone = Embedder(tmp_path / "alone").likeness([QUERY], texts)
    found: dict[int, list[list[float]]] = {}

    def look(name: int) -> None:
        found[name] = Embedder(tmp_path / str(name)).likeness([QUERY], texts)

    threads = [threading.Thread(target=look, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [alone] * 4


@needs_the_model
@pytest.mark.anyio
async def test_what_words_alone_do_not_tell_is_found_by_meaning() -> None:
    question = "Why do antibiotics make the flu go away faster?"
    settings = load_settings(model="extractive", source="snapshot", semantic=True)
    by_meaning = await run(question, settings=settings)
    by_words = await run(question, settings=settings.model_copy(update={"semantic": False}))
    assert "Antibiotics do not work against colds and flu" in by_meaning.result.answer
    assert by_meaning.problems == []
    assert "do not work" not in by_words.result.answer
