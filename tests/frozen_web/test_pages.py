"""A folder with a manifest is served as if it were the web; a folder that is none says what is wrong, and where."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from marchwarden.errors import ConfigurationError
from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport
from tests.profiles import a_moment

PAGE = {"url": "https://example.org/a", "file": "pages/a.html", "headers": {"content-type": "text/html"}}


def folder_of(tmp_path: Path, *lines: dict[str, Any] | str) -> Path:
    folder = tmp_path / "web"
    (folder / "pages").mkdir(parents=True, exist_ok=True)
    (folder / "pages" / "a.html").write_bytes(b"<p>Crops</p>")
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "manifest.jsonl").write_text(text, encoding="utf-8")
    return folder


def client(folder: Path, **options: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=FrozenWebTransport(FrozenWeb.load(folder)), **options)


def test_a_line_becomes_a_page(tmp_path: Path) -> None:
    line = {**PAGE, "published": "2024-05-01", "title": "Crops", "snippet": "What grows.", "topic": "garden"}
    page = FrozenWeb.load(folder_of(tmp_path, line, "", "  ")).page("https://example.org/a")
    assert page is not None
    assert (page.status, page.delay_s, page.host, page.content_type) == (200, 0.0, "example.org", "text/html")
    assert (page.title, page.snippet, page.topic, str(page.published)) == (
        "Crops",
        "What grows.",
        "garden",
        "2024-05-01",
    )
    assert page.body() == b"<p>Crops</p>"


def test_a_page_is_found_under_every_spelling_of_its_address(tmp_path: Path) -> None:
    web = FrozenWeb.load(folder_of(tmp_path, {**PAGE, "url": "https://Example.org:443/caf\u00e9_(x)#top"}))
    for spelling in ("https://example.org/caf%C3%A9_(x)", "HTTPS://EXAMPLE.ORG/café_(x)?utm_source=x"):
        assert web.page(spelling) is not None
    assert web.page("https://example.org/other") is None
    assert web.page("not a url") is None


@pytest.mark.parametrize("turn", [1, -1])
def test_of_two_spellings_the_normalised_one_is_served(tmp_path: Path, turn: int) -> None:
    """Fetch drops tracking parameters before it asks, so a line with them could never answer."""
    lines = [PAGE, {**PAGE, "url": "https://example.org/a?utm_source=x", "status": 500}]
    web = FrozenWeb.load(folder_of(tmp_path, *lines[::turn]))
    assert [page.status for page in web.pages.values()] == [200]


def test_a_page_without_body_is_empty(tmp_path: Path) -> None:
    web = FrozenWeb.load(folder_of(tmp_path, {"url": "https://example.org/gone", "status": 410, "file": None}))
    page = web.page("https://example.org/gone")
    assert page is not None
    assert (page.body(), page.content_type) == (b"", None)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"file": null}', "url is missing"),
        ({**PAGE, "url": 3}, "url must be text"),
        ({**PAGE, "url": "ftp://example.org/"}, "only http and https"),
        ({**PAGE, "file": "pages/none.html"}, "pages/none.html: No such file"),
        ({**PAGE, "file": "../secret"}, "outside the folder"),
        ({**PAGE, "file": "/etc/hostname"}, "outside the folder"),
        ({**PAGE, "status": "200"}, "status must be a number"),
        ({**PAGE, "status": 42}, "HTTP status"),
        ({**PAGE, "delay_s": -1}, "not negative"),
        ({**PAGE, "delay_s": True}, "delay_s must be a number"),
        ({**PAGE, "headers": ["x"]}, "headers must be"),
        ({**PAGE, "headers": {"age": 3}}, "headers must be"),
        ({**PAGE, "published": "May 2024"}, "isoformat"),
        ({**PAGE, "redirect": "/b"}, "redirect goes with"),
        (PAGE, "a second time"),
    ],
)
def test_a_broken_line_is_named_with_what_is_wrong(tmp_path: Path, line: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        FrozenWeb.load(folder_of(tmp_path, PAGE, line))
    assert "manifest.jsonl, line 2" in str(raised.value)
    assert raised.value.hint


def test_bytes_that_are_no_text_are_named_too(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    (folder / "manifest.jsonl").write_bytes(b'{"url": "https://example.org/\xff"}')
    with pytest.raises(ConfigurationError, match=r"line 1: not UTF-8"):
        FrozenWeb.load(folder)


def test_a_folder_without_manifest_or_pages_is_no_frozen_web(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"nowhere.manifest\.jsonl: No such file") as raised:
        FrozenWeb.load(tmp_path / "nowhere")
    assert "--web" in (raised.value.hint or "")
    with pytest.raises(ConfigurationError, match="names no page"):
        FrozenWeb.load(folder_of(tmp_path, ""))


def test_the_fingerprint_follows_manifest_and_files(tmp_path: Path) -> None:
    first = FrozenWeb.load(folder_of(tmp_path, PAGE)).fingerprint
    folder = folder_of(tmp_path, {**PAGE, "title": "Other"})
    second = FrozenWeb.load(folder).fingerprint
    (folder / "pages" / "a.html").write_bytes(b"<p>Other crops</p>")
    third = FrozenWeb.load(folder).fingerprint
    assert len({first, second, third}) == 3
    assert FrozenWeb.load(folder).fingerprint == third


def test_hundreds_of_pages_load_in_a_blink(tmp_path: Path) -> None:
    """Measured at about 10 ms; the bound leaves room for a busy machine."""
    folder = folder_of(tmp_path, *({**PAGE, "url": f"https://example.org/{n}"} for n in range(300)))
    with a_moment(0.5):
        FrozenWeb.load(folder)


@pytest.mark.anyio
async def test_a_page_answers_as_its_line_says(tmp_path: Path) -> None:
    line = {**PAGE, "status": 403, "headers": {"Content-Type": "text/html; charset=latin-1", "x-why": "closed"}}
    async with client(folder_of(tmp_path, line)) as web:
        answer = await web.get("https://example.org/a")
    assert (answer.status_code, answer.content, answer.headers["x-why"]) == (403, b"<p>Crops</p>", "closed")
    assert answer.encoding == "latin-1"
    assert answer.headers["content-length"] == "12"


@pytest.mark.anyio
async def test_a_header_of_the_line_is_kept_where_the_transport_has_its_own(tmp_path: Path) -> None:
    line = {**PAGE, "headers": {"Content-Length": "999999999"}}
    async with client(folder_of(tmp_path, line)) as web:
        answer = await web.head("https://example.org/a")
    assert answer.headers.get_list("content-length") == ["999999999"]
    assert answer.content == b""


@pytest.mark.anyio
async def test_redirects_are_followed_by_who_follows_them(tmp_path: Path) -> None:
    moved = {"url": "https://example.org/old", "status": 301, "redirect": "/a"}
    async with client(folder_of(tmp_path, PAGE, moved), follow_redirects=True) as web:
        answer = await web.get("https://example.org/old")
    assert [str(each.url) for each in (*answer.history, answer)] == [
        "https://example.org/old",
        "https://example.org/a",
    ]


@pytest.mark.anyio
async def test_what_the_manifest_does_not_know_is_not_there(tmp_path: Path) -> None:
    async with client(folder_of(tmp_path, PAGE)) as web:
        assert (await web.get("https://example.org/robots.txt")).status_code == 404
        assert (await web.post("https://example.org/a")).status_code == 405
        with pytest.raises(httpx.ConnectError, match=r"nowhere\.example does not resolve"):
            await web.get("https://nowhere.example/")


@pytest.mark.anyio
async def test_a_host_outside_ascii_is_served(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {**PAGE, "url": "https://hauptstädte-atlas.de/a"})
    async with client(folder) as web:
        assert (await web.get("https://hauptstädte-atlas.de/a")).status_code == 200
        assert (await web.get("https://xn--hauptstdte-atlas-1nb.de/a")).status_code == 200


@pytest.mark.anyio
async def test_a_slow_page_takes_its_time_and_runs_into_the_readers_timeout(tmp_path: Path) -> None:
    slow = {**PAGE, "url": "https://example.org/slow", "delay_s": 0.05}
    never = {**PAGE, "url": "https://example.org/never", "delay_s": 60}
    async with client(folder_of(tmp_path, slow, never), timeout=0.5) as web:
        began = time.perf_counter()
        assert (await web.get("https://example.org/slow")).status_code == 200
        assert time.perf_counter() - began >= 0.05
        with pytest.raises(httpx.ReadTimeout):
            await web.get("https://example.org/never", timeout=0.05)


@pytest.mark.anyio
async def test_a_huge_page_streams_so_that_a_reader_can_stop(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, PAGE)
    (folder / "pages" / "a.html").write_bytes(b"x" * 1_000_000)
    async with client(folder) as web, web.stream("GET", "https://example.org/a") as answer:
        first = await anext(answer.aiter_raw())
    assert 0 < len(first) < 100_000
