"""The source in docs/how-to/write-a-source.md works as the page says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from marchwarden.contract import SourceFilter
from marchwarden.observations import FailureKind
from marchwarden.settings import Settings, sources_of
from marchwarden.source_table import SOURCES, SourceEntry
from marchwarden.sources.source_registry import describe_sources, open_tools

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-source.md"
BOOK = "https://library.example/books/1"
TEXT = "Beans grow well beside maize, and climb its stalks in the months of summer."


@pytest.fixture
def _written(monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert code is not None
    module = ModuleType("library_source")
    exec(compile(code[1], str(PAGE), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "library_source", module)
    entry = SourceEntry("library", "encyclopedia", "books", "library_source:open_library", "1 a second", "CC0")
    monkeypatch.setitem(SOURCES, "library", entry)


@pytest.mark.usefixtures("_written")
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ({"books": [{"url": BOOK, "title": "Beans", "about": "On beans."}]}, None),
        ({"books": 7}, FailureKind.SERVICE_DOWN),
    ],
    ids=["books", "strange"],
)
async def test_the_source_that_the_documentation_shows_is_searched_and_read(
    answer: object, kind: FailureKind | None, tmp_path: Path
) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.host == "api.library.example":
            return httpx.Response(200, json=answer)
        return httpx.Response(404 if request.url.path == "/robots.txt" else 200, html=f"<main><p>{TEXT}</p></main>")

    settings = Settings(source="library", cache_dir=tmp_path)
    assert sources_of("library") == ("library",)
    assert describe_sources(settings) == "books"
    tools = open_tools(settings, transport=httpx.MockTransport(respond))
    found = await tools.search.search("beans", max_results=3, source_filter=SourceFilter(None))
    assert (found.failure.kind if found.failure else None) is kind
    if kind is None:
        assert [hit.url for hit in found.hits] == [BOOK]
        read = await tools.fetcher.fetch(BOOK, timeout=5, allows=lambda host: True)
        assert read.page is not None
        assert read.page.text == TEXT
    assert tools.address("https://elsewhere.example/") is None


def test_the_page_stays_short() -> None:
    assert len(PAGE.read_text("utf-8").splitlines()) < 60
