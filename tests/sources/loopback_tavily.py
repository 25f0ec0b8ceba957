"""A stand-in for the search service on loopback: it speaks the wire format that Tavily documents for POST /search.

What it answers depends on the query alone, so that a recorded exchange and a live one are the same.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]

RESULTS = [
    {
        "url": "https://extension.wasatchvalley-state.edu/gardening/what-to-grow-in-utah",
        "title": "What to grow in a Utah vegetable garden",
        "content": "Ideal crops for a Utah garden include peas, spinach and potatoes.",
        "score": 0.91,
        "raw_content": None,
    },
    {
        "url": "https://highdesert-gardener-notes.com/2022/01/my-ten-crops-for-utah",
        "title": None,
        "content": "Garlic is the easiest crop in a Utah garden.",
        "score": 0.62,
        "raw_content": None,
        "published_date": "Sun, 23 Jan 2022 09:00:00 GMT",
    },
    {"url": "ftp://files.example.org/crops.txt", "title": "Crops", "content": "", "score": 0.2, "raw_content": None},
]
ERRORS = {
    "a wrong key": (401, "Unauthorized: missing or invalid API key."),
    "a key that may not": (403, "Forbidden"),
    "too many requests": (
        429,
        "Your request has been blocked due to excessive requests. Please reduce rate of requests.",
    ),
    "the plan is used up": (432, "This request exceeds your plan's set usage limit. Please upgrade your plan."),
    "pay as you go is used up": (433, "This request exceeds the pay-as-you-go limit."),
    "a bad request": (400, "Query is too long. Max query length is 400 characters."),
    "an outage": (500, "Internal Server Error"),
}


def answer_to(query: str) -> Answer:
    if query in ERRORS:
        status, message = ERRORS[query]
        return _json(status, {"detail": {"error": message}})
    found = [] if query == "nothing at all" else RESULTS
    fields = {"query": query, "follow_up_questions": None, "answer": None, "images": [], "results": found}
    return _json(200, {**fields, "response_time": 0.74, "request_id": "0c1d-loopback"})


def _json(status: int, body: dict[str, Any]) -> Answer:
    return status, {"content-type": "application/json"}, json.dumps(body).encode()


@dataclass
class Service:
    """A running one: what it was asked, and answers to give first, before it falls back on `answer_to`."""

    address: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    first: list[Answer] = field(default_factory=list)
    delay: float = 0.0
    trickle: float = 0.0
    """Seconds after each byte of an answer."""


@contextmanager
def running(port: int = 0) -> Iterator[Service]:
    service = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            service.requests.append(asked)
            service.keys.append(self.headers["authorization"])
            time.sleep(service.delay)
            status, headers, body = service.first.pop(0) if service.first else answer_to(asked["query"])
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):
                for at in range(len(body)) if service.trickle else ():
                    self.wfile.write(body[at : at + 1])
                    time.sleep(service.trickle)
                if not service.trickle:
                    self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    service.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
