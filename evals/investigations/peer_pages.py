"""One loopback server for a peer: search, pages, vectors of texts, and a model whose tokens are counted.

    GET  /search?query=…            hits as JSON, by the search of Marchwarden's frozen web
    GET  /web/SCHEME/HOST/PATH      a page of that web; the hits name these addresses
    POST /v1/embeddings             vectors of hashed words (OpenAI's form), for peers that rank passages by vectors
    POST /v1/chat/completions       passed on to the model's server, and counted
    POST …                          passed on as it is

A small model takes a few thousand tokens. So a longer prompt is cut in its middle, as local servers do, and an answer
ends after ANSWER_TOKENS. This holds for whoever asks.
"""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit
from zlib import crc32

import anyio
import httpx

from marchwarden.contract import SourceFilter
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.observations import SearchHit
from marchwarden.settings import Settings
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.text.ranking import terms

# Hits of one search, as the peer's own setting says by default.
HITS = 5
# Characters of a prompt, at most (about 3,000 tokens), and tokens of an answer.
PROMPT_CHARS, ANSWER_TOKENS = 10_000, 600
DIMENSIONS = 2048
_CUT = "\n[…]\n"


class Loopback:
    """What was served, and to whom it is served."""

    def __init__(self, settings: Settings, model_base: str, texts: Sequence[str]) -> None:
        """`texts` are the pages' texts, of which rare words weigh more in the vectors."""
        self.web = FrozenWeb.load(settings.frozen_web)
        self.search = SnapshotSearch(settings, self.web)
        self.model_base = model_base.rstrip("/")
        self.counted: Counter[str] = Counter()
        """calls, refused, cut, prompt_tokens, completion_tokens; searches, embedded."""
        self.read: list[str] = []
        """URLs of pages that were served, in turn."""
        self.base = ""
        self._paths = {path_of(page.spelling): page for page in self.web.pages.values()}
        counts = Counter(term for text in texts for term in set(terms(text)))
        self._weights = {term: math.log(1 + len(texts) / count) for term, count in counts.items()}
        self._unseen = math.log(1 + len(texts))

    def reset(self) -> None:
        self.counted.clear()
        self.read.clear()

    def address(self, url: str) -> str:
        """Return where a page is served."""
        return f"{self.base}{path_of(url)}"

    def original(self, text: str) -> str:
        """Return a text with the pages' own addresses in place of those that were served."""
        for path, page in self._paths.items():
            served = f"{self.base}{path}"
            if served in text:
                text = text.replace(served, page.spelling)
        return text

    async def find(self, query: str, most: int) -> tuple[SearchHit, ...]:
        found = await self.search.search(query, max_results=most, source_filter=SourceFilter(None))
        return found.hits

    def hits(self, query: str) -> list[dict[str, str]]:
        self.counted["searches"] += 1
        return [
            {"title": hit.title or "", "url": self.address(hit.url), "snippet": hit.snippet or ""}
            for hit in anyio.run(self.find, query, HITS)
        ]

    def page(self, path: str) -> tuple[str, bytes] | None:
        page = self._paths.get(path)
        if page is None:
            return None
        self.read.append(page.spelling)
        kind = page.content_type or "text/html"
        # Readers that look for no <meta charset> take a page without this for Latin-1.
        return kind if "charset" in kind else f"{kind}; charset=utf-8", page.body()

    def vector(self, text: str) -> list[float]:
        self.counted["embedded"] += 1
        values = [0.0] * DIMENSIONS
        for term, count in Counter(terms(text)).items():
            values[crc32(term.encode()) % DIMENSIONS] += (1 + math.log(count)) * self._weights.get(term, self._unseen)
        length = math.sqrt(sum(value * value for value in values)) or 1.0
        return [round(value / length, 6) for value in values]

    def fitted(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return a request for the model with a prompt and an answer that fit it."""
        messages = [dict(each) for each in body["messages"]]
        longest = max(messages, key=lambda each: len(str(each["content"])))
        over = sum(len(str(each["content"])) for each in messages) - PROMPT_CHARS
        if over > 0:
            text = str(longest["content"])
            half = max(0, len(text) - over - len(_CUT)) // 2
            longest["content"] = text[:half] + _CUT + text[len(text) - half :]
            self.counted["cut"] += 1
        wanted = body.pop("max_completion_tokens", None) or body.get("max_tokens") or ANSWER_TOKENS
        body |= {"messages": messages, "max_tokens": min(wanted, ANSWER_TOKENS)}
        if body.get("stream"):
            body["stream_options"] = {"include_usage": True}
        return body

    def count(self, usage: dict[str, Any] | None) -> None:
        for name in ("prompt_tokens", "completion_tokens"):
            self.counted[name] += (usage or {}).get(name, 0)


def path_of(url: str) -> str:
    parts = urlsplit(url)
    path = f"/web/{parts.scheme}/{parts.netloc}{quote(parts.path, safe='/%:@+,;=~!$&()*')}"
    return f"{path}?{parts.query}" if parts.query else path


@contextmanager
def served(loopback: Loopback) -> Iterator[Loopback]:
    """Serve on a free port of loopback while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *parts: Any) -> None:
            """Say nothing on the terminal."""

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path == "/search":
                self._answer(200, json.dumps(loopback.hits(parse_qs(asked.query)["query"][0])).encode())
            elif found := loopback.page(self.path):
                self._answer(200, found[1], found[0])
            else:
                self._answer(404, b"no such page", "text/plain")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/embeddings"):
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                data = [
                    {"object": "embedding", "index": number, "embedding": loopback.vector(text)}
                    for number, text in enumerate(texts)
                ]
                usage = {"prompt_tokens": 0, "total_tokens": 0}
                answer = {"object": "list", "model": body["model"], "data": data, "usage": usage}
                self._answer(200, json.dumps(answer).encode())
            elif self.path.endswith("/chat/completions"):
                self._pass_on(loopback.fitted(body))
            else:  # such as the count of a prompt's tokens
                root = loopback.model_base.removesuffix("/v1")
                reply = httpx.post(f"{root}{self.path}", json=body, timeout=600)
                self._answer(reply.status_code, reply.content)

        def _pass_on(self, body: dict[str, Any]) -> None:
            loopback.counted["calls"] += 1
            url = f"{loopback.model_base}/chat/completions"
            with httpx.stream("POST", url, json=body, timeout=600) as reply:
                if not body.get("stream") or reply.status_code != 200:
                    whole = reply.read()
                    if reply.status_code == 200:
                        loopback.count(json.loads(whole).get("usage"))
                    else:
                        loopback.counted["refused"] += 1
                    self._answer(reply.status_code, whole)
                    return
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for line in reply.iter_lines():
                    self.wfile.write(f"{line}\n".encode())
                    self.wfile.flush()
                    if line.startswith("data: {"):
                        loopback.count(json.loads(line[6:]).get("usage"))

        def _answer(self, status: int, content: bytes, kind: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    class Server(ThreadingHTTPServer):
        # A weak model plans a hundred sub-queries, and the peer asks them all at once.
        request_queue_size = 512

    server = Server(("127.0.0.1", 0), Handler)
    loopback.base = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
