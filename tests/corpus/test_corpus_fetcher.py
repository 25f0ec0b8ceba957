"""A file is read again only if it is in the corpus and still what was indexed; all else is a failure as data."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import anyio
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.corpus.catalogue import Catalogue
from marchwarden.corpus.corpora import Corpus
from marchwarden.corpus.corpus_fetcher import CorpusFetcher
from marchwarden.observations import FailureKind, FetchOutcome, content_hash
from marchwarden.reading.files import pdf as pdfs
from marchwarden.sources.corpus_search import CorpusSearch
from tests.corpora import corpus_of, index
from tests.reading.pages import pdf

NOTE = "# Alliums\n\nGarlic is planted in October and lifted in July.\n"
LINES = '{"title": "Peas", "text": "Peas climb.", "date": "2020-02-03"}\n{"id": "b", "text": "Beans climb too."}\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    corpus = corpus_of(tmp_path / "files", {"notes.md": NOTE, "plots.jsonl": LINES})
    os.utime(tmp_path / "files/notes.md", (1_500_000_000, 1_500_000_000))
    index(tmp_path / "files")
    return corpus


def fetch(corpus: Corpus, url: object, **how: object) -> FetchOutcome:
    async def reading() -> FetchOutcome:
        return await CorpusFetcher(corpus, timeout=10).fetch(str(url), **how)  # type: ignore[arg-type]

    return anyio.run(reading)


def test_a_file_is_a_page_with_its_bytes_its_hash_and_the_day_of_its_last_change(
    corpus: Corpus, tmp_path: Path
) -> None:
    file = tmp_path / "files/notes.md"
    found = fetch(corpus, file)
    assert found.failure is None
    assert found.page is not None
    assert (found.final_url, found.body, found.content_hash) == (
        str(file),
        NOTE.encode(),
        content_hash(NOTE.encode()),
    )
    assert (found.page.title, found.page.modified) == ("Alliums", date(2017, 7, 14))
    assert [(each.text, each.place) for each in found.page.passages] == [(NOTE.splitlines()[2], "L3")]


def test_a_line_is_a_document_of_its_own(corpus: Corpus, tmp_path: Path) -> None:
    found = fetch(corpus, f"{tmp_path}/files/plots.jsonl#L1")
    assert found.page is not None
    assert (found.body, found.page.title, found.page.text) == (LINES.splitlines()[0].encode(), "Peas", "Peas climb.")
    assert (found.page.published, found.page.modified) == (date(2020, 2, 3), None)


def spoil_by_change(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"i", b"j"))


def spoil_by_link(file: Path) -> None:
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))


def spoil_by_linked_folder(file: Path) -> None:
    file.parent.rename(file.parent.with_name("moved"))
    file.parent.symlink_to(file.parent.with_name("moved"))


def spoil_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize("name", ["notes.md", "plots.jsonl#L2"])
@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (spoil_by_change, FailureKind.CHANGED),
        (Path.unlink, FailureKind.NOT_FOUND),
        (spoil_by_link, FailureKind.NOT_FOUND),
        (spoil_by_linked_folder, FailureKind.NOT_FOUND),
        (spoil_by_pipe, FailureKind.NOT_FOUND),
    ],
)
def test_a_file_that_is_no_longer_what_was_indexed_is_a_failure(
    corpus: Corpus, tmp_path: Path, name: str, spoil: object, kind: FailureKind
) -> None:
    spoil(tmp_path / "files" / name.partition("#")[0])  # type: ignore[operator]
    found = fetch(corpus, f"{tmp_path}/files/{name}")
    assert found.failure is not None
    assert (found.failure.kind, found.page, found.body) == (kind, None, b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_any_more_is_closed(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "files/notes.md").chmod(0)
    failure = fetch(corpus, tmp_path / "files/notes.md").failure
    assert failure is not None
    assert failure.kind is FailureKind.FORBIDDEN


@pytest.mark.parametrize(
    "url",
    [
        "/etc/passwd",
        "files/notes.md",
        "{files}/../files/notes.md",
        "{files}/plots.jsonl",
        "{files}/plots.jsonl#L9",
        "file:///etc/passwd",
        "https://example.org/",
        "{files}/notes.md\0",
        "{files}/notes.md#L1",
    ],
)
def test_nothing_but_documents_of_the_corpus_can_be_read(corpus: Corpus, tmp_path: Path, url: str) -> None:
    url = url.format(files=tmp_path / "files")
    assert CorpusFetcher(corpus, timeout=10).address(url) is None
    failure = fetch(corpus, url).failure
    assert failure is not None
    assert failure.kind is FailureKind.NOT_FOUND


@pytest.mark.parametrize(("filter_", "is_open"), [(None, True), ("-example.org", True), ("usu.edu", False)])
def test_a_filter_that_includes_domains_leaves_files_out(
    corpus: Corpus, tmp_path: Path, filter_: str | None, is_open: bool
) -> None:
    source_filter = SourceFilter(filter_)

    async def search() -> int:
        found = await CorpusSearch(corpus).search("garlic", max_results=5, source_filter=source_filter)
        return len(found.hits)

    assert anyio.run(search) == int(is_open)
    assert (fetch(corpus, tmp_path / "files/notes.md", allows=source_filter.allows).failure is None) == is_open


def test_a_search_of_a_damaged_index_is_a_failure_that_says_what_mends_it(corpus: Corpus) -> None:
    (corpus.index / "meta.json").write_text("{")

    async def search() -> object:
        found = await CorpusSearch(corpus).search("garlic", max_results=5, source_filter=SourceFilter(None))
        return found.failure and (found.failure.kind, "marchwarden index" in found.failure.detail)

    assert anyio.run(search) == (FailureKind.SERVICE_DOWN, True)


def test_a_hit_shows_the_sentence_that_says_most_of_what_is_asked(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path / "more", {"d.txt": "Beds are dug in March.\n\nThe quince was grafted in 1954.\n"}, "more"
    )

    async def search() -> tuple[str, str]:
        found = await CorpusSearch(corpus).search(
            "when was the quince grafted", max_results=5, source_filter=SourceFilter(None)
        )
        return found.provider, found.hits[0].snippet

    assert anyio.run(search) == ("corpus:more", "The quince was grafted in 1954.")


def test_a_pdf_is_read_once_and_then_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = pdf(["The orchard has 412 apple trees."])
    corpus = corpus_of(tmp_path / "files", {"trees.pdf": body, "copies/again.pdf": body})
    index(tmp_path / "files")
    monkeypatch.setattr(pdfs, "_PROGRAM", "import os; os.abort()")
    for name in ("trees.pdf", "copies/again.pdf"):
        found = fetch(corpus, tmp_path / "files" / name)
        assert found.page is not None
        assert (found.page.url, found.page.title) == (str(tmp_path / "files" / name), Path(name).stem)
        assert [(each.text, each.place) for each in found.page.passages] == [
            ("The orchard has 412 apple trees.", "page=1")
        ]


def test_what_was_kept_of_a_pdf_goes_with_it(tmp_path: Path) -> None:
    body = pdf(["The orchard has 412 apple trees."])
    corpus = corpus_of(tmp_path / "files", {"trees.pdf": body, "notes.md": NOTE})
    index(tmp_path / "files")
    with Catalogue.reading(corpus.catalogue) as catalogue:
        assert catalogue.kept_page(content_hash(body))
    (tmp_path / "files/trees.pdf").unlink()
    index(tmp_path / "files")
    with Catalogue.reading(corpus.catalogue) as catalogue:
        assert catalogue.kept_page(content_hash(body)) is None
