"""The page to label questions in: who may call it, what a save does to the file, and once a real browser."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import uvicorn

from marchwarden.evaluation.labels.label_app import LabelSession
from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.settings import load_settings
from marchwarden.sources.source_registry import open_tools
from tests.browsers import Browser, browser
from tests.corpora import corpus_of
from tests.webs import article, make_web

__all__ = ["browser"]

HOST, ORIGIN = "127.0.0.1:8123", "http://127.0.0.1:8123"
WALL, QUOTE = "https://walls.example/long", "The wall <b>is</b> 120 metres"
FACT = f"{QUOTE} long & old, says the town."
SCRIPT = "<script>document.title = 'taken over'</script>"
FIRST = {"id": "wall", "question": "How long is the wall?", "split": "dev", "note": SCRIPT}
OTHER = '{"question": "Who?",   "id": "who", "split": "dev"}'
QUOTED = {
    **FIRST,
    "tags": ["one-fact"],
    "nuggets": [{"id": "n1", "text": "x", "answers": ["120 metres"], "evidence": [{"url": WALL, "quote": QUOTE}]}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text(f"{json.dumps(FIRST)}\n\n{OTHER}\n")
    return path


def a_session(file: Path, address: str = ORIGIN) -> LabelSession:
    shown = FACT.replace("&", "&amp;").replace("<", "&lt;")
    page = article("The wall", f"{shown} {SCRIPT.replace('<', '&lt;')}", "Visitors walk along it in summer, too.")
    web = make_web(file.parent / "web", {WALL: page})
    settings = load_settings(source="snapshot", web=web, semantic=False)
    return LabelSession(file, settings, open_tools(settings), address)


@pytest.fixture
async def session(file: Path) -> AsyncIterator[LabelSession]:
    its = a_session(file)
    yield its
    await its.tools.aclose()


def body_of(file: Path) -> bytes:
    return file.read_bytes()


def put(file: Path, text: str) -> None:
    file.write_text(text)


Page = tuple[httpx.AsyncClient, LabelSession]


@pytest.fixture
async def page(session: LabelSession) -> AsyncIterator[Page]:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(session.app()), base_url=session.url) as client:
        yield client, session


async def save(page: Page, question: Any, **changes: Any) -> httpx.Response:
    client, _ = page
    version = changes.pop("version", None) or (await client.get("questions")).json()["version"]
    body = json.dumps({"question": question, "version": version})
    return await client.post("questions", content=body, headers={"origin": ORIGIN, **changes})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/TOKEN/questions", {}, 200),
        ("/TOKEN/questions", {"origin": ORIGIN}, 200),
        ("/questions", {}, 404),
        ("/wrong/questions", {}, 404),
        ("/TOKEN/questions", {"host": "attacker.example:8123"}, 421),  # as of DNS rebinding
        ("/TOKEN/questions", {"host": "127.0.0.1:8124"}, 421),
        ("/TOKEN/questions", {"origin": "https://attacker.example"}, 403),
        ("/TOKEN/questions", {"origin": "http://127.0.0.1:3000"}, 403),
        ("/TOKEN/questions", {"origin": "null"}, 403),
    ],
)
async def test_only_its_own_page_with_the_token_is_answered(
    page: Page, path: str, headers: dict[str, str], status: int
) -> None:
    client, session = page
    answer = await client.get(ORIGIN + path.replace("TOKEN", session.token), headers=headers)
    assert answer.status_code == status
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.anyio
async def test_a_save_without_its_origin_is_refused(page: Page, file: Path) -> None:
    before = body_of(file)
    client, _ = page
    assert (await client.post("questions", content="{}")).status_code == 403
    assert (await save(page, QUOTED, origin="https://attacker.example")).status_code == 403
    assert body_of(file) == before


@pytest.mark.anyio
async def test_a_save_puts_one_question_into_the_file_and_says_what_does_not_hold(page: Page, file: Path) -> None:
    answer = await save(page, QUOTED)
    assert (answer.status_code, answer.json()["problems"]) == (200, [])
    assert body_of(file).decode().split("\n")[1:] == ["", OTHER, ""], "the other lines are as they were"
    question = load_questions(file)[0]
    assert (question.note, question.quotes[0].quote) == (SCRIPT, QUOTE)
    wrong = json.loads(json.dumps(QUOTED).replace('["120 metres"]', '["130 metres"]'))
    (problem,) = (await save(page, wrong)).json()["problems"]
    assert (problem["is_open"], "none of its quotes holds" in problem["what"]) == (False, True)


@pytest.mark.anyio
async def test_a_question_counts_as_labelled_where_check_finds_nothing_left(page: Page, file: Path) -> None:
    client, _ = page
    bare = json.loads(json.dumps(QUOTED))
    bare["nuggets"][0]["evidence"] = []
    answer = (await save(page, bare)).json()
    assert (answer["is_labelled"], [each["is_open"] for each in answer["problems"]]) == (False, [True])
    assert (await client.get("questions")).json()["labelled"] == []
    assert (await save(page, QUOTED)).json()["is_labelled"]
    assert (await client.get("questions")).json()["labelled"] == ["wall"]
    nothing = {"id": "who", "question": "Who?", "split": "dev", "tags": ["unanswerable"]}
    assert (await save(page, nothing)).json()["is_labelled"]
    assert (await client.get("questions")).json()["labelled"] == ["wall", "who"]


@pytest.mark.anyio
async def test_a_label_names_a_file_of_a_corpus_by_the_end_of_its_path(file: Path, tmp_path: Path) -> None:
    corpus_of(tmp_path / "stock", {"wall.md": f"# The wall\n\n{FACT.replace('<b>is</b>', 'is')}\n"})
    settings = load_settings(source="corpus", semantic=False)
    session = LabelSession(file, settings, open_tools(settings), ORIGIN)
    evidence = {"url": "stock/wall.md", "quote": "The wall is 120 metres"}
    nugget = {"id": "n1", "text": "x", "answers": ["120 metres"], "evidence": [evidence]}
    found = {"type": "new_source", "source_locator": "stock/wall.md"}
    question = {**QUOTED, "nuggets": [nugget], "discoveries": [found]}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(session.app()), base_url=session.url) as client:
        assert (await save((client, session), question)).json()["problems"] == []
        text = (await client.get("page", params={"url": "stock/wall.md"})).json()["text"]
    await session.tools.aclose()
    assert "The wall is 120 metres" in text
    assert load_questions(file)[0].pages == {"stock/wall.md"}, "the file keeps the name that it was given"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "status", "said"),
    [
        ({**FIRST, "id": "new"}, 409, "no question new"),
        ({**FIRST, "more": 1}, 422, "more"),
        ({**FIRST, "depth": "huge"}, 422, "depth"),
        ([], 422, ""),
        ({**FIRST, "note": "x" * 1_000_001}, 413, "too long"),
    ],
)
async def test_what_is_no_question_of_the_file_is_not_saved(
    page: Page, file: Path, question: Any, status: int, said: str
) -> None:
    before = body_of(file)
    answer = await save(page, question)
    assert (answer.status_code, said in answer.json()["error"]) == (status, True)
    assert body_of(file) == before


@pytest.mark.anyio
async def test_a_file_that_another_program_changed_is_not_written_over(page: Page, file: Path) -> None:
    client, _ = page
    version = (await client.get("questions")).json()["version"]
    put(file, OTHER + "\n")
    assert (await save(page, QUOTED, version=version)).status_code == 409
    assert body_of(file).decode() == OTHER + "\n"


@pytest.mark.anyio
async def test_pages_are_found_and_their_text_comes_as_json(page: Page) -> None:
    client, _ = page
    (hit,) = (await client.get("search", params={"q": "How long is the wall?"})).json()["hits"]
    answer = await client.get("page", params={"url": hit["url"]})
    assert answer.headers["content-type"] == "application/json"
    assert FACT in answer.json()["text"]
    assert (await client.get("page", params={"url": "https://gone.example/"})).status_code == 404
    html = await client.get("")
    assert (html.headers["content-type"], b"<b>" in html.content) == ("text/html; charset=utf-8", False)


@pytest.mark.slow
def test_a_question_is_labelled_with_the_keyboard_in_a_real_browser(browser: Browser, file: Path) -> None:
    listener = uvicorn.Config("", port=0, host="127.0.0.1").bind_socket()
    session = a_session(file, f"http://127.0.0.1:{listener.getsockname()[1]}")
    server = uvicorn.Server(uvicorn.Config(session.app(), log_config=None, ws="none", lifespan="off"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        browser.ask("Page.enable")
        browser.ask("Page.navigate", url=session.url)
        browser.until("document.getElementById('text')?.value.includes('120 metres')")
        assert browser.run("document.title") == "Label questions · Marchwarden"
        assert FACT in browser.run("document.getElementById('text').value")
        assert browser.run("document.querySelectorAll('script, b').length") == 1, "only its own script"
        browser.run(
            "{const f = document.getElementById('text'); f.focus(); f.setSelectionRange(0, 0);"
            "const at = f.value.indexOf('The wall <b>'); f.setSelectionRange(at, at + 29)}"
        )
        browser.press("q")
        browser.until("document.querySelector('blockquote') !== null")
        browser.run(
            "{const f = document.querySelectorAll('fieldset input')[1]; f.value = '120 metres | 120 m';"
            "f.dispatchEvent(new Event('input'))}"
        )
        browser.run(
            "{const f = document.getElementById('tags'); f.value = 'one-fact'; f.dispatchEvent(new Event('input'))}"
        )
        browser.press("s")
        browser.until("document.getElementById('said').textContent === 'Saved. Every label holds.'")
        browser.press("j")
        browser.until("document.getElementById('question').textContent.startsWith('who')")
    finally:
        server.should_exit = True
        thread.join()
    question = load_questions(file)[0]
    assert question.nuggets[0].answers == ["120 metres", "120 m"]
    assert (question.quotes[0].quote, question.tags, question.note) == (QUOTE, ["one-fact"], SCRIPT)
