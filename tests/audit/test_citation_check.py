"""Cited pages read again: over real connections to a web in which every kind of drift happens, over frozen webs, and
over files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.audit.citation_check import CitationCheck, open_checker, plan_check
from marchwarden.frozen_web.pages import manifest_hash
from marchwarden.settings import load_settings
from marchwarden.trace.reader import Trace
from tests.audit.cited import CitedPage, a_trace_citing
from tests.corpora import corpus_of, write
from tests.http.loopback import Asked, LoopbackSite, Reply, Write, loopback, response
from tests.runs import run
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

QUOTE = "The Halden Bridge was built in 1931 by forty workers from the town."
CHANGED = "The Halden Bridge was built in 1932 by forty workers from the town."
OTHERS = (
    "The bridge over the river Tista was planned for many years by the people of both banks.",
    "It carries two lanes of traffic and a path for people who cross it on foot.",
    "In summer the bridge is lit by lamps that the school of the town had paid for.",
)


def page(*sentences: str, title: str = "Halden Bridge", head: str = "") -> bytes:
    return article(title, *sentences, head=head).encode()


THEN = page(OTHERS[0], QUOTE, *OTHERS[1:])


async def check(*traces: Trace, web: Path | None = None, **settings: Any) -> list[CitationCheck]:
    plans = [plan_check(trace) for trace in traces]
    loaded = load_settings(allow_private_addresses=True, **settings)
    async with open_checker(loaded, plans, web) as checker:
        checks = await checker.check(plans)
    return [each for check in checks for each in check.citations]


async def over_loopback(
    folder: Path, now: Mapping[str, Reply], **settings: Any
) -> tuple[dict[str, CitationCheck], LoopbackSite]:
    """Each path of `now` was cited from the page THEN; returns its check by path."""
    async with loopback({**now}) as site:
        paths = [path for path in now if path not in ("/robots.txt", "/new")]
        trace = a_trace_citing(folder, {f"{site.url}{path}": CitedPage(THEN, QUOTE) for path in paths})
        found = await check(trace, http_cache=False, **settings)
    return dict(zip(paths, found, strict=True)), site


async def test_every_kind_of_drift_is_told_apart(tmp_path: Path) -> None:
    """The table of what can become of a page."""
    closed = b"User-agent: *\nDisallow: /closed-by-robots"
    sign_in = b"<html><head><title>Sign in</title></head><body><form><input type=password></form>Please sign in to read.</body></html>"
    expected = {
        "/same": (response(THEN), "same"),
        "/edited-around": (response(page("News of today.", OTHERS[0], QUOTE, "More to come.", *OTHERS[1:])), "same"),
        "/elsewhere": (response(page(OTHERS[0], *OTHERS[1:], QUOTE)), "elsewhere"),
        "/changed": (response(page(OTHERS[0], CHANGED, *OTHERS[1:])), "changed"),
        "/dropped": (response(page(*OTHERS)), "changed"),
        "/not-found": (response(b"not here", 404), "gone"),
        "/removed": (response(b"gone", 410), "gone"),
        "/soft-404": (response(page("Sorry, the page that you asked for could not be found.", title="Page not found")), "gone"),
        "/moved": (response(status=301, Location="/new"), "moved"),
        "/moved-home": (response(status=302, Location="/"), "changed"),
        "/forbidden": (response(b"no", 403), "closed"),
        "/law": (response(b"no", 451), "closed"),
        "/paid": (response(b"pay", 402), "closed"),
        "/sign-in": (response(sign_in), "closed"),
        "/closed-by-robots": (response(THEN), "closed"),
        "/broken": (response(b"oops", 500), "unreachable"),
        "/busy": (response(b"later", 429, Retry_After="3600"), "unreachable"),
        "/loop": (response(status=302, Location="/loop"), "unreachable"),
        "/slash": (response(status=301, Location="/slash/"), "same"),
    }  # fmt: skip
    now: dict[str, Reply] = {path: reply for path, (reply, _) in expected.items()}
    # What asks for a pause comes last on its host.
    now["/busy"] = now.pop("/busy")
    extra: dict[str, Reply] = {"/new": response(THEN), "/robots.txt": response(closed, content_type="text/plain")}
    async with loopback({**now, **extra, "/slash/": response(THEN)}) as site:
        trace = a_trace_citing(tmp_path, {f"{site.url}{path}": CitedPage(THEN, QUOTE) for path in now})
        found = await check(trace, http_cache=False)
    told = dict(zip(now, found, strict=True))
    assert {path: each.state for path, each in told.items()} == {path: state for path, (_, state) in expected.items()}
    assert "/closed-by-robots" not in site.paths()
    assert site.most_at_once == 1
    assert (told["/changed"].old_sentence, told["/changed"].new_sentence) == (QUOTE, CHANGED)
    assert (told["/dropped"].old_sentence, told["/dropped"].new_sentence) == (QUOTE, None)
    assert (told["/not-found"].status, told["/removed"].status) == (404, 410)
    assert told["/moved"].new_locator == f"{site.url}/new"
    assert told["/moved-home"].new_locator == f"{site.url}/"
    assert {path for path, each in told.items() if each.has_drifted} == {
        "/changed", "/dropped", "/not-found", "/removed", "/soft-404", "/moved-home",
    }  # fmt: skip


async def test_a_server_that_is_not_there_is_no_finding_about_the_page(tmp_path: Path) -> None:
    async with loopback() as site:
        trace = a_trace_citing(tmp_path, {f"{site.url}/a": CitedPage(THEN, QUOTE)})
    (found,) = await check(trace, http_cache=False)
    assert (found.state, found.has_drifted) == ("unreachable", False)
    assert "refuses connections at port" in found.detail


async def test_a_host_that_gives_no_answer_is_not_asked_for_every_page(tmp_path: Path) -> None:
    async with loopback() as site:
        cited = {f"{site.url}/{number}": CitedPage(THEN, QUOTE) for number in range(5)}
        trace = a_trace_citing(tmp_path, cited)
    found = await check(trace, http_cache=False)
    assert {each.state for each in found} == {"unreachable"}
    assert sum("was not asked again" in each.detail for each in found) == 3


async def test_a_check_is_kept_as_soon_as_its_trace_is_done(tmp_path: Path) -> None:
    async def interrupt(asked: Asked, write: Write) -> None:
        group.cancel_scope.cancel()

    kept: list[str] = []
    async with loopback({"/a": response(THEN), "/b": interrupt}) as site, anyio.create_task_group() as group:
        traces = [a_trace_citing(tmp_path, {f"{site.url}/{path}": CitedPage(THEN, QUOTE)}) for path in "ab"]
        plans = [plan_check(trace) for trace in traces]
        async with open_checker(load_settings(allow_private_addresses=True, http_cache=False), plans) as checker:
            await checker.check(plans, keep=lambda plan, check: kept.append(check.trace_id))
    assert kept == [traces[0].trace_id]


@pytest.mark.parametrize(
    ("cited", "now", "is_same"),
    [
        ("http://a.example/x", "https://a.example/x", True),
        ("https://www.a.example/x", "https://a.example/x/", True),
        ("https://a.example/x?p=1", "https://a.example/x?p=2", False),
        ("https://a.example/x", "https://b.example/x", False),
    ],
)
async def test_another_spelling_of_an_address_is_no_move(tmp_path: Path, cited: str, now: str, is_same: bool) -> None:
    found = await over_frozen_web(tmp_path, cited, {cited: {"status": 301, "redirect": now}, now: THEN})
    assert (found.state, found.new_locator) == (("same", None) if is_same else ("moved", now))


async def test_private_addresses_stay_refused(tmp_path: Path) -> None:
    async with loopback() as site:
        trace = a_trace_citing(tmp_path, {f"{site.url}/a": CitedPage(THEN, QUOTE)})
        plan = plan_check(trace)
        async with open_checker(load_settings(http_cache=False), [plan]) as checker:
            (found,) = (await checker.check([plan]))[0].citations
        assert (found.state, site.asked) == ("unreachable", [])


async def test_a_page_that_several_calls_cite_is_fetched_once(tmp_path: Path) -> None:
    async with loopback({"/a": response(THEN)}) as site:
        traces = [a_trace_citing(tmp_path, {f"{site.url}/a": CitedPage(THEN, quote)}) for quote in (QUOTE, OTHERS[1])]
        found = await check(*traces, http_cache=False)
    assert [each.state for each in found] == ["same", "same"]
    assert site.paths() == ["/a"]


async def test_a_kept_page_is_confirmed_with_its_server_though_it_was_called_fresh(tmp_path: Path) -> None:
    fresh = {"Cache_Control": "max-age=600", "ETag": '"v1"'}
    changed = response(page(OTHERS[0], CHANGED, *OTHERS[1:]), Cache_Control="max-age=600", ETag='"v2"')
    replies: list[Reply] = [response(THEN, **fresh), response(status=304, **fresh), changed]
    async with loopback({"/a": replies}) as site:
        trace = a_trace_citing(tmp_path / "traces", {f"{site.url}/a": CitedPage(THEN, QUOTE)})
        states = [(await check(trace, cache_dir=tmp_path))[0].state for _ in range(3)]
    assert states == ["same", "same", "changed"]
    assert [each.headers.get("if-none-match") for each in site.asked if each.path == "/a"] == [None, '"v1"', '"v1"']


async def test_a_page_that_was_retracted_since_is_told_though_it_still_says_it(tmp_path: Path) -> None:
    retracted = page("This article has been retracted by its authors.", OTHERS[0], QUOTE, *OTHERS[1:])
    told, _ = await over_loopback(tmp_path, {"/a": response(retracted)})
    assert (told["/a"].state, [notice.kind for notice in told["/a"].notices]) == ("same", ["retracted"])
    assert told["/a"].has_drifted


# Frozen webs, and the registries of DOIs and arXiv ids in one

DOI = "10.1000/halden.1931"
ARTICLE = f"https://journal.example/doi/{DOI}"
CROSSREF = "https://api.crossref.org/works/10.1000%2Fhalden.1931"


async def over_frozen_web(folder: Path, locator: str, now: Mapping[str, Any], then: bytes = THEN) -> CitationCheck:
    make_web(folder / "web", now)
    trace = a_trace_citing(folder / "traces", {locator: CitedPage(then, QUOTE)}, source="snapshot", web="0" * 16)
    (found,) = await check(trace, web=folder / "web")
    return found


def record(*updates: dict[str, str]) -> dict[str, Any]:
    body = json.dumps({"status": "ok", "message": {"DOI": DOI, "updated-by": list(updates)}})
    return {"body": body, "headers": {"content-type": "application/json"}}


async def test_crossref_tells_of_retractions_and_corrections(tmp_path: Path) -> None:
    updates = (
        {"type": "retraction", "DOI": "10.1000/notice", "source": "retraction-watch"},
        {"type": "retraction", "DOI": "10.1000/notice", "source": "publisher"},
        {"type": "correction", "DOI": "not a doi"},
        {"type": "expression_of_concern", "DOI": "10.1000/concern"},
        {"type": "clarification", "DOI": "10.1000/other"},
    )
    found = await over_frozen_web(tmp_path, ARTICLE, {ARTICLE: THEN, CROSSREF: record(*updates)})
    assert (found.state, found.has_drifted) == ("same", True)
    assert [(notice.kind, notice.url) for notice in found.notices] == [
        ("retracted", "https://doi.org/10.1000/notice"),
        ("corrected", None),
        ("concern", "https://doi.org/10.1000/concern"),
    ]


async def test_a_citation_whose_address_has_no_doi_is_checked_by_the_one_that_it_names(tmp_path: Path) -> None:
    address = "https://pmc.ncbi.nlm.nih.gov/articles/PMC1/"
    make_web(tmp_path / "web", {address: page(QUOTE), CROSSREF: record({"type": "erratum", "DOI": "10.1000/notice"})})
    cited = {address: CitedPage(page(QUOTE), QUOTE)}
    trace = a_trace_citing(tmp_path / "traces", cited, source="snapshot", web="0" * 16, doi=DOI)
    (found,) = await check(trace, web=tmp_path / "web")
    assert [notice.kind for notice in found.notices] == ["corrected"]


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"message": {"updated-by": [3, {"type": []}]}}', "[" * 100_000])
async def test_a_record_that_is_none_tells_nothing(tmp_path: Path, body: str) -> None:
    found = await over_frozen_web(tmp_path, ARTICLE, {ARTICLE: THEN, CROSSREF: {"body": body}})
    assert (found.state, found.notices) == ("same", ())


async def test_a_page_that_is_gone_is_found_by_its_doi(tmp_path: Path) -> None:
    new = f"https://publisher.example/{DOI}"
    now = {
        ARTICLE: {"status": 404},
        f"https://doi.org/{DOI}": {"status": 302, "redirect": new},
        new: THEN,
    }
    found = await over_frozen_web(tmp_path, ARTICLE, now)
    assert (found.state, found.new_locator) == ("moved", new)
    assert DOI in found.detail


async def test_a_doi_that_leads_to_its_publisher_has_not_moved(tmp_path: Path) -> None:
    locator = f"https://doi.org/{DOI}"
    now = {locator: {"status": 302, "redirect": ARTICLE}, ARTICLE: THEN}
    assert (await over_frozen_web(tmp_path, locator, now)).state == "same"


def arxiv(versions: int) -> bytes:
    history = " ".join(f"[v{number}] Mon, {number} Jan 2024." for number in range(1, versions + 1))
    return page(OTHERS[0], QUOTE, *OTHERS[1:], f"Submission history of the paper: {history}")


@pytest.mark.parametrize(
    ("locator", "now", "news"),
    [
        ("https://arxiv.org/abs/2401.00001v1", {"https://arxiv.org/abs/2401.00001v1": 3}, 3),
        ("https://arxiv.org/abs/2401.00001", {"https://arxiv.org/abs/2401.00001": 2}, 2),
        ("https://arxiv.org/abs/2401.00001", {"https://arxiv.org/abs/2401.00001": 1}, None),
        ("https://arxiv.org/pdf/2401.00001v1", {"https://arxiv.org/pdf/2401.00001v1": 1, "https://arxiv.org/abs/2401.00001": 2}, 2),
        ("https://arxiv.org/abs/2401.00001v3", {"https://arxiv.org/abs/2401.00001v3": 3}, None),
    ],
)  # fmt: skip
async def test_a_newer_version_at_arxiv_is_told(
    tmp_path: Path, locator: str, now: dict[str, int], news: int | None
) -> None:
    web = {url: arxiv(versions) for url, versions in now.items()}
    found = await over_frozen_web(tmp_path, locator, web, then=arxiv(1))
    assert found.state == "same"
    assert [notice.url for notice in found.notices] == ([f"https://arxiv.org/abs/2401.00001v{news}"] if news else [])
    assert not found.has_drifted


async def test_a_call_over_a_frozen_web_is_checked_against_that_web(tmp_path: Path) -> None:
    url = "https://bridge.example/halden"
    folder = make_web(tmp_path / "web", {url: THEN})
    done = await run("When was the Halden Bridge built?", web=folder)
    assert {each.state for each in await check(done.trace, web=folder)} == {"same"}
    assert {each.state for each in await check(done.trace)} == {"unreachable"}, "another frozen web is in force"
    (folder / "page0").write_bytes(page(OTHERS[0], CHANGED, *OTHERS[1:]))
    settings = load_settings(web=folder)
    assert manifest_hash(folder) == done.events("start")[0].web
    plan = plan_check(done.trace)
    async with open_checker(settings, [plan]) as checker:
        (checked,) = await checker.check([plan])
    assert [each.new_sentence for each in checked.citations if each.state == "changed"] == [CHANGED]


# Files


async def a_call_over(folder: Path, files: Mapping[str, str]) -> Trace:
    corpus_of(folder, files, "notes")
    settings = load_settings(model="extractive", source="corpus:notes")
    return (await run("When was the Halden Bridge built?", settings=settings)).trace


async def test_a_call_over_files_verifies_as_one_over_pages_does(tmp_path: Path) -> None:
    corpus_of(tmp_path / "files", {"bridge.md": NOTE, "lines.jsonl": json.dumps({"text": QUOTE}) + "\n"}, "notes")
    settings = load_settings(model="extractive", source="corpus:notes")
    done = await run("When was the Halden Bridge built?", settings=settings)
    assert {citation.locator.rpartition(".")[2] for citation in done.result.citations} == {"md#L5", "jsonl#L1"}
    assert done.problems == []


NOTE = f"# Halden\n\n{OTHERS[0]}\n\n{QUOTE}\n\n{OTHERS[1]}\n"


@pytest.mark.parametrize(
    ("now", "state", "line"),
    [
        (NOTE, "same", None),
        (f"# Halden\n\nA new line.\n\nOne more.\n{NOTE[8:]}", "elsewhere", 10),
        (NOTE.replace("1931", "1932"), "changed", None),
        (None, "gone", None),
    ],
)
async def test_a_file_is_checked_with_its_lines(
    tmp_path: Path, now: str | None, state: str, line: int | None
) -> None:
    folder = tmp_path / "files"
    trace = await a_call_over(folder, {"bridge.md": NOTE})
    if now is None:
        (folder / "bridge.md").unlink()
    else:
        write(folder, {"bridge.md": now})
    found = {each.quote: each for each in await check(trace)}[QUOTE]
    assert found.locator == f"{folder}/bridge.md#L5"
    assert (found.state, found.new_locator) == (state, line and f"{folder}/bridge.md#L{line}")


async def test_a_record_that_moved_to_another_line_is_found(tmp_path: Path) -> None:
    lines = [json.dumps({"text": text}) for text in (f"{QUOTE} {OTHERS[1]}", OTHERS[2])]
    trace = await a_call_over(tmp_path / "files", {"bridge.jsonl": "\n".join(lines)})
    file = tmp_path / "files/bridge.jsonl"
    assert {each.state for each in await check(trace)} == {"same"}
    file.write_text("\n".join([json.dumps({"text": OTHERS[0]}), *lines]))
    (found, *_) = await check(trace)
    assert (found.locator, found.state, found.new_locator) == (f"{file}#L1", "elsewhere", f"{file}#L2")
    file.write_text(lines[1])
    assert (await check(trace))[0].state == "changed"
    file.write_text("")
    assert (await check(trace))[0].state in ("changed", "gone")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such thing here")
async def test_what_is_no_ordinary_file_any_more_is_not_read(tmp_path: Path) -> None:
    trace = await a_call_over(tmp_path / "files", {"bridge.md": NOTE})
    file = tmp_path / "files/bridge.md"
    file.unlink()
    os.mkfifo(file)
    assert {each.state for each in await check(trace)} == {"unreachable"}
    file.unlink()
    write(tmp_path, {"secret.md": NOTE})
    file.symlink_to(tmp_path / "secret.md")
    assert {each.state for each in await check(trace)} == {"gone"}
