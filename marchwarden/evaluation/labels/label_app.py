"""A page in the browser to label questions in: labels beside the text of pages, quotes by selection.

It runs on this machine alone. Whoever calls it must know the token in its address, name it in `Host`, and be its own
page. Text of pages is hostile: it travels as JSON, and the page shows it in a text area, where nothing is markup.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from marchwarden.contract import SourceFilter
from marchwarden.errors import InvalidRequest, LabelsInvalid
from marchwarden.evaluation.labels.known_pages import whole_paths, with_whole_paths
from marchwarden.evaluation.labels.label_check import PAGE_TIMEOUT_S, check, unfinished
from marchwarden.evaluation.labels.questions import KINDS, Question, load_questions
from marchwarden.files import write_output
from marchwarden.settings import Settings
from marchwarden.sources.tools import Tools
from marchwarden.text.escaping import json_text

# Bytes of a question that is saved, at most. A guess: a labelled question has a few kB.
_MOST_BYTES = 1_000_000
# Pages that a search lists. A guess: about what a screen shows.
_HITS = 15
_TYPES = {"label.html": "text/html", "label.js": "text/javascript", "label.css": "text/css"}
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
Answer: TypeAlias = Callable[[Request], Awaitable[Response]]


@dataclass
class LabelSession:
    """The file of questions that is labelled, over the pages of the sources in force."""

    file: Path
    settings: Settings
    tools: Tools
    address: str
    """Scheme, host and port of the server: `http://127.0.0.1:8123`."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    is_their_web: bool = True
    """True where the user named the pages that the questions are about."""
    _saving: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def url(self) -> str:
        return f"{self.address}/{self.token}/"

    def app(self) -> ASGIApp:
        """Return the application. Its questions are read from the file at each request."""
        routes = [
            Route(f"/{{token}}/{'' if name == 'label.html' else name}", _file(name), methods=["GET"])
            for name in _TYPES
        ]
        routes += [
            Route("/{token}/questions", self._questions, methods=["GET"]),
            Route("/{token}/questions", self._save, methods=["POST"]),
            Route("/{token}/search", self._search, methods=["GET"]),
            Route("/{token}/page", self._page, methods=["GET"]),
        ]
        return _Guard(Starlette(routes=routes), self.address, self.token)

    async def _questions(self, request: Request) -> Response:
        try:
            questions = load_questions(self.file)
        except LabelsInvalid as error:
            return _refused(str(error), 409)
        left = unfinished(questions, self.settings, is_their_web=self.is_their_web)
        return _answer(
            {
                "file": self.file.name,
                "version": self._version(),
                "kinds": KINDS,
                "questions": [each.model_dump(mode="json") for each in questions],
                "labelled": [each.id for each in questions if each.id not in left],
            }
        )

    async def _save(self, request: Request) -> Response:
        """Put one question into the file, whose other lines stay as they are, and say what does not hold in it."""
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > _MOST_BYTES:
                return _refused("it is too long", 413)
        try:
            given = json.loads(body)
            question = Question.model_validate(given["question"])
            question.request  # noqa: B018  building it checks the limits of a call
        except ValidationError as error:
            return _refused(str(InvalidRequest.of(error)), 422)
        except (ValueError, KeyError, TypeError, RecursionError):
            return _refused("it is no question", 422)
        async with self._saving:
            if given.get("version") != self._version():
                return _refused("another program has changed the file: load this page again", 409)
            if not self._put(question):
                return _refused(f"the file has no question {question.id}", 409)
        whole = with_whole_paths([question], self.settings)
        problems = await check(whole, self.settings, is_their_web=self.is_their_web)
        told = {"version": self._version(), "is_labelled": not any(each.is_open for each in problems)}
        return _answer({**told, "problems": [asdict(each) for each in problems]})

    def _put(self, question: Question) -> bool:
        text = self.file.read_text("utf-8-sig")
        lines, found = text.split("\n"), False
        for number, line in enumerate(lines):
            if line.strip() and json.loads(line).get("id") == question.id:
                lines[number], found = question.model_dump_json(exclude_defaults=True), True
        if found:
            write_output(self.file, "\n".join(lines).encode("utf-8", "surrogatepass"))
        return found

    def _version(self) -> str:
        return hashlib.sha256(self.file.read_bytes()).hexdigest()

    async def _search(self, request: Request) -> Response:
        query = request.query_params.get("q", "").strip()[:500]
        found = await self.tools.search.search(query, max_results=_HITS, source_filter=SourceFilter(None))
        failure = found.failure.detail if found.failure else None
        return _answer({"hits": [{"url": hit.url, "title": hit.title} for hit in found.hits], "failure": failure})

    async def _page(self, request: Request) -> Response:
        url = request.query_params.get("url", "")
        place = whole_paths([url], self.settings).get(url, url)
        outcome = await self.tools.fetcher.fetch(place, timeout=PAGE_TIMEOUT_S, allows=lambda host: True)
        if outcome.page is None:
            return _refused(outcome.failure.detail if outcome.failure else "it has no text", 404)
        return _answer({"url": url, "title": outcome.page.title, "text": outcome.page.text})


class _Guard:
    """Refuses requests that don't know the token, that name another host, or that another page sends."""

    def __init__(self, app: ASGIApp, address: str, token: str) -> None:
        self._app, self._token = app, token
        self._address, self._host = address.encode(), address.partition("//")[2].encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        given = [(name, value) for name, value in scope["headers"] if name in (b"host", b"origin")]
        hosts, origins = ([value for name, value in given if name == which] for which in (b"host", b"origin"))
        token = scope["path"].strip("/").partition("/")[0].encode("utf-8", "replace")
        is_own = origins == [self._address] if scope["method"] == "POST" else set(origins) <= {self._address}
        if hosts != [self._host]:
            await PlainTextResponse("This server has another name.", 421, _HEADERS)(scope, receive, send)
        elif not is_own:
            await PlainTextResponse("Other pages may not call this server.", 403, _HEADERS)(scope, receive, send)
        elif not secrets.compare_digest(token, self._token.encode()):
            await PlainTextResponse("There is no such page.", 404, _HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _file(name: str) -> Answer:
    body = files("marchwarden.evaluation.labels").joinpath("templates").joinpath(name).read_bytes()

    async def answer(request: Request) -> Response:
        return Response(body, media_type=_TYPES[name], headers=_HEADERS)

    return answer


def _answer(value: Any, status: int = 200) -> Response:
    body = json_text(json.dumps(value, ensure_ascii=False)).encode("utf-8")
    return Response(body, status, {**_HEADERS, "content-type": "application/json"})


def _refused(reason: str, status: int) -> Response:
    return _answer({"error": reason}, status)
