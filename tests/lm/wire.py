"""A small real HTTP server on loopback that answers as a model service would, from a list, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    breaks_off: bool = False
    """Close the connection before the promised length has been sent."""


def as_json(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer(status, json.dumps(value).encode(), {"content-type": "application/json", **named})


def as_events(*events: tuple[str | None, Any], breaks_off: bool = False) -> Answer:
    """Server-sent events (name, data); data that is a string goes out as it is."""
    lines = []
    for name, data in events:
        lines.append(f"event: {name}\n" if name else "")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return Answer(200, "".join(lines).encode(), {"content-type": "text/event-stream"}, breaks_off)


@dataclass
class Service:
    address: str
    answers: list[Answer]
    received: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    """(path, headers, JSON body) of every request."""
    counted: Answer | None = None
    """What the Anthropic-style token count answers; None: 404, and no entry in `received`."""
    respond: Callable[[Any], Answer] | None = None
    """Answers by what is asked, in place of the list."""
    keeps_alive: bool = False
    """Leave connections open after an answer."""


@contextmanager
def service(
    *answers: Answer,
    counted: Answer | None = None,
    respond: Callable[[Any], Answer] | None = None,
    keeps_alive: bool = False,
) -> Iterator[Service]:
    """Gives `answers` in turn, the last one again and again; or what `respond` makes of a request's JSON body."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    address = f"http://127.0.0.1:{server.server_port}"
    state = Service(address, list(answers), counted=counted, respond=respond, keeps_alive=keeps_alive)
    server.state = state  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def setup(self) -> None:
        if self.server.state.keeps_alive:  # type: ignore[attr-defined]
            self.protocol_version = "HTTP/1.1"
        super().setup()

    def do_POST(self) -> None:
        state: Service = self.server.state  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith(("/count_tokens", "/tokenize")):
            self._send(state.counted or Answer(404, b"{}"))
            return
        state.received.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if state.respond:
            self._send(state.respond(body))
            return
        self._send(state.answers.pop(0) if len(state.answers) > 1 else state.answers[0])

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(answer.body) + (100 if answer.breaks_off else 0)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.close_connection = answer.breaks_off or self.protocol_version == "HTTP/1.0"

    def log_message(self, format: str, *args: Any) -> None:
        pass
