"""Search of the frozen web: hits as a search engine gives them, from an index that is kept, shared and replaceable."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from marchwarden.contract import SourceFilter
from marchwarden.errors import ConfigurationError
from marchwarden.frozen_web.crawl import Listing
from marchwarden.frozen_web.kept_index import MAX_KEPT
from marchwarden.observations import SearchHit
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.snapshot_search import SNIPPET_LIMIT, SnapshotSearch, best_sentence
from tests.frozen_web.small_web import CROPS, LAKE, write_web
from tests.profiles import within

QUERY = "ideal crops for a garden in Utah"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    web = tmp_path / "web"
    write_web(
        web,
        {"url": "https://a.example.edu/crops", "page": CROPS, "published": "2024-05-01"},
        {"url": "https://b.example.gov/lake", "page": LAKE},
        {
            "url": "https://c.example.com/trials",
            "status": 403,
            "title": "Trials",
            "snippet": "Crops in Utah compared.",
        },
    )
    return load_settings(web=web, cache_dir=tmp_path / "cache")


def ask(
    settings: Settings, query: str = QUERY, *, max_results: int = 5, within: str | None = None
) -> list[SearchHit]:
    outcome = asyncio.run(
        SnapshotSearch(settings).search(query, max_results=max_results, source_filter=SourceFilter(within))
    )
    assert (outcome.query, outcome.provider, outcome.failure) == (query, "snapshot", None)
    return list(outcome.hits)


def shelf(settings: Settings) -> list[Path]:
    """The indexes; the locks under which they were built lie beside them."""
    return sorted(path for path in (settings.caches / "snapshot").iterdir() if path.suffix != ".lock")


def test_a_hit_has_title_best_sentence_score_and_day(settings: Settings) -> None:
    first = ask(settings)[0]
    assert (first.url, first.title, first.published) == (
        "https://a.example.edu/crops",
        "Crops for Utah",
        date(2024, 5, 1),
    )
    assert first.snippet == "Tomatoes and garlic are the ideal crops for a garden in Utah."
    assert first.score > 0


def test_a_closed_page_is_found_and_shown_by_its_snippet(settings: Settings) -> None:
    assert [hit.snippet for hit in ask(settings, "trials compared")] == ["Crops in Utah compared."]


def test_no_more_hits_than_asked_for_best_first(settings: Settings) -> None:
    both = ask(settings)
    assert [hit.url for hit in both] == ["https://a.example.edu/crops", "https://c.example.com/trials"]
    assert both[0].score > both[1].score
    assert ask(settings, max_results=1) == both[:1]


@pytest.mark.parametrize(
    ("within", "hosts"),
    [("*.edu", ["a.example.edu"]), ("-example.edu", ["c.example.com"]), ("example.gov", [])],
)
def test_the_source_filter_holds(settings: Settings, within: str, hosts: list[str]) -> None:
    assert [hit.url.split("/")[2] for hit in ask(settings, within=within)] == hosts


def test_the_filter_does_not_cost_hits_further_down(settings: Settings) -> None:
    assert len(ask(settings, max_results=1, within="example.com")) == 1


def test_a_misspelt_word_is_searched_for_as_the_web_spells_it(settings: Settings) -> None:
    outcome = asyncio.run(
        SnapshotSearch(settings).search("tomatos and garlik", max_results=1, source_filter=SourceFilter(None))
    )
    assert dict(outcome.meant) == {"garlik": "garlic"}
    assert outcome.hits[0].snippet.startswith("Tomatoes and garlic")


def test_an_english_word_that_the_web_lacks_is_not_misspelt(settings: Settings) -> None:
    search = SnapshotSearch(settings).search("garlicky tomatillo", max_results=1, source_filter=SourceFilter(None))
    assert dict(asyncio.run(search).meant) == {}


@pytest.mark.parametrize("query", ["", "the", '"', "bitcoin", "AND OR NOT", "\x00"])
def test_a_query_that_matches_nothing_is_no_failure(settings: Settings, query: str) -> None:
    assert ask(settings, query) == []


def test_the_index_is_built_once_and_kept(settings: Settings) -> None:
    hits = ask(settings)
    (kept,) = shelf(settings)
    times = {file.name: file.stat().st_mtime_ns for file in kept.iterdir() if file.suffix != ".lock"}
    assert ask(settings) == hits
    assert {file.name: file.stat().st_mtime_ns for file in kept.iterdir() if file.suffix != ".lock"} == times


def test_a_changed_web_gets_an_index_of_its_own(settings: Settings) -> None:
    ask(settings)
    write_web(settings.frozen_web, {"url": "https://d.example.org/", "page": LAKE})
    assert [hit.url for hit in ask(settings, "lake")] == ["https://d.example.org/"]
    assert len(shelf(settings)) == 2


def test_old_indexes_make_room(settings: Settings) -> None:
    folder = settings.caches / "snapshot"
    for number in range(MAX_KEPT + 3):
        (folder / f"old-{number}").mkdir(parents=True)
        os.utime(folder / f"old-{number}", (number, number))
    assert ask(settings)
    names = [path.name for path in shelf(settings)]
    assert len(names) == MAX_KEPT
    assert "old-0" not in names
    assert f"old-{MAX_KEPT + 2}" in names


def spoil_by_cutting(kept: Path) -> None:
    store = next(kept.glob("*.store"))
    store.write_bytes(store.read_bytes()[:10])


def spoil_by_emptying(kept: Path) -> None:
    for file in kept.iterdir():
        file.unlink()


def spoil_by_a_file_in_its_place(kept: Path) -> None:
    shutil.rmtree(kept)
    kept.write_text("no index", encoding="utf-8")


@pytest.mark.parametrize("spoil", [spoil_by_cutting, spoil_by_emptying])
def test_a_damaged_index_is_built_anew(settings: Settings, spoil: Callable[[Path], None]) -> None:
    hits = ask(settings)
    (kept,) = shelf(settings)
    spoil(kept)
    assert ask(settings) == hits
    assert shelf(settings) == [kept]
    spoil(kept)
    assert ask(settings) == hits


def test_a_file_where_the_index_belongs_does_no_harm(settings: Settings) -> None:
    hits = ask(settings)
    (kept,) = shelf(settings)
    spoil_by_a_file_in_its_place(kept)
    assert ask(settings) == hits


@pytest.mark.parametrize("place", ["/proc/marchwarden", "/dev/null/cache", "/dev/full"])
def test_without_a_place_to_keep_it_the_index_lives_in_memory(settings: Settings, place: str) -> None:
    nowhere = settings.model_copy(update={"cache_dir": Path(place)})
    assert [hit.url for hit in ask(nowhere)] == [hit.url for hit in ask(settings)]


def test_a_full_disk_does_no_harm(settings: Settings) -> None:
    """A file-size limit of the process stands in for it: writing fails in the middle of a file."""
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[int] = context.Queue()
    process = context.Process(target=_ask_with_little_room, args=(settings, answers))
    process.start()
    assert answers.get(timeout=60) == 2
    process.join()
    assert shelf(settings) == []


def _ask_with_little_room(settings: Settings, answers: multiprocessing.Queue[int]) -> None:
    import resource
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    answers.put(len(ask(settings)))


@pytest.mark.anyio
async def test_searches_at_once_share_one_index(settings: Settings) -> None:
    provider = SnapshotSearch(settings)
    everywhere = SourceFilter(None)
    outcomes = await asyncio.gather(
        *(provider.search(QUERY, max_results=3, source_filter=everywhere) for _ in range(6))
    )
    assert {outcome.hits for outcome in outcomes} == {outcomes[0].hits}
    assert len(shelf(settings)) == 1
    await provider.aclose()


@pytest.mark.anyio
async def test_a_first_search_can_be_cancelled_while_it_builds(settings: Settings) -> None:
    task = asyncio.ensure_future(
        SnapshotSearch(settings).search(QUERY, max_results=3, source_filter=SourceFilter(None))
    )
    await asyncio.sleep(0)
    began = time.perf_counter()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.perf_counter() - began < within(1)


def test_a_folder_that_is_no_frozen_web_is_named_on_creation(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"manifest\.jsonl"):
        SnapshotSearch(load_settings(web=tmp_path / "nowhere"))


def test_the_best_sentence_is_cut_between_words_and_never_missing() -> None:
    long = "crops " * 100
    cut = best_sentence("crops", Listing("https://a.example.org/", "A", ("Nothing here.", long)))
    assert len(cut) <= SNIPPET_LIMIT + 2
    assert cut.endswith("crops …")
    assert best_sentence("zebra", Listing("https://a.example.org/", "A", ("The\nfirst.", "Second."))) == "The first."
    assert best_sentence("zebra", Listing("https://a.example.org/", "A")) == ""
