"""Sources of scholarly literature against recorded answers: records, kinds of failure, and rates across processes.

    python evals/scholarly/services.py --path data/scholar [--seconds 3]

It needs the folder's `recorded.tar.xz` and `standin.py`, which answers over loopback what the services answered when
they were recorded. Three figures come out:

atom     entries of arXiv's recorded feeds that give the same fields as the package arxiv (where it is installed)
answers  recorded requests that our client sends again: by status, what they became, and the works in them
rate     shortest time between two requests of four processes at once, by the clock of the server, in seconds
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import yaml

from marchwarden import load_settings
from marchwarden.http.shared_rates import RateRule, SharedRateTransport
from marchwarden.observations import Failure
from marchwarden.reading.services.scholarly.arxiv_feed import ArxivEntry, arxiv_entries
from marchwarden.reading.services.scholarly.crossref_works import crossref_items
from marchwarden.reading.services.scholarly.openalex_works import openalex_works
from marchwarden.reading.services.scholarly.semanticscholar_papers import semanticscholar_papers
from marchwarden.sources.api_client import Api, ApiClient
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.open_copies import open_copies_of

PARSERS = {
    "api.crossref.org": crossref_items,
    "api.openalex.org": openalex_works,
    "api.semanticscholar.org": semanticscholar_papers,
    "api.unpaywall.org": open_copies_of,
}
_PROCESSES = 4
_REQUESTS = 2


# Records


def compare_feeds(folder: Path) -> str:
    try:
        from arxiv import _feed
    except ImportError:
        return "the package arxiv is not installed"
    same = total = 0
    files = sorted((folder / "arxiv").glob("*.json"))
    for file in files:
        body = json.loads(file.read_text("utf-8"))["body"].encode("utf-8")
        ours = arxiv_entries(body) or []
        theirs = {result.entry_id: _their_fields(result) for result in _feed.parse(body).results}
        total += max(len(ours), len(theirs))
        same += sum(_fields(entry) == theirs.get(entry.id) for entry in ours)
    return f"{same} of {total} entries of {len(files)} feeds are equal"


def _fields(entry: ArxivEntry) -> dict[str, object]:
    return {
        "id": entry.id,
        "title": " ".join(entry.title.split()),
        "summary": " ".join(entry.summary.split()),
        "authors": list(entry.authors),
        "comment": entry.comment,
        "journal_ref": entry.journal_ref,
        "doi": entry.doi,
        "primary": entry.primary_category or "",
        "categories": list(entry.categories),
        "published": entry.published[:10],
        "updated": entry.updated[:10],
        "pdf": entry.pdf,
    }


def _their_fields(result: object) -> dict[str, object]:
    found = vars(result)
    return {
        "id": found["entry_id"],
        "title": " ".join(found["title"].split()),
        "summary": " ".join(found["summary"].split()),
        "authors": [author.name for author in found["authors"]],
        "comment": found["comment"],
        "journal_ref": found["journal_ref"],
        "doi": found["doi"],
        "primary": found["primary_category"],
        "categories": found["categories"],
        "published": f"{found['published']:%Y-%m-%d}",
        "updated": f"{found['updated']:%Y-%m-%d}",
        "pdf": found["pdf_url"],
    }


# Requests


class StandIn(httpx.AsyncBaseTransport):
    """Transport that asks the stand-in whatever host is meant."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._inner = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode()
        url = f"http://127.0.0.1:{self._port}/{request.url.host}{target}"
        content = await request.aread() if not hasattr(request, "_content") else request.content
        return await self._inner.handle_async_request(httpx.Request(request.method, url, content=content))

    async def aclose(self) -> None:
        await self._inner.aclose()


def recorded_requests(folder: Path) -> Iterator[tuple[str, str, int]]:
    """Yield method, address and status of each recorded request, each once."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    seen = set()
    for file in sorted(folder.rglob("*.yaml")):
        for each in (yaml.load(file.read_text("utf-8"), Loader=loader) or {}).get("interactions", []):
            request, status = each["request"], each["response"].get("status")
            code = status["code"] if isinstance(status, dict) else each["response"].get("status_code", 200)
            key = (request["method"], request["uri"])
            if key not in seen:
                seen.add(key)
                yield (*key, code)
    for file in sorted((folder / "arxiv").glob("*.json")):
        found = json.loads(file.read_text("utf-8"))
        yield "GET", found["url"], found["status_code"]


async def ask_all(folder: Path, port: int, caches: Path) -> tuple[Counter[str], Counter[str]]:
    settings = load_settings(cache_dir=caches)
    opening = Opening(settings, StandIn(port))
    client = ApiClient(opening, Api("service", RateRule("recorded", 0.0)))
    became: Counter[str] = Counter()
    works: Counter[str] = Counter()
    for method, url, status in recorded_requests(folder):
        answer = await (client.get(url) if method == "GET" else client.post(url, {}))
        became[f"{status} {answer.kind.value if isinstance(answer, Failure) else 'answer'}"] += 1
        host = urlsplit(url).hostname or ""
        if not isinstance(answer, Failure) and host in PARSERS:
            works[host] += len(PARSERS[host](answer.body) or [])
    await client.aclose()
    return became, works


# Rates


@contextmanager
def clocked_server() -> Iterator[tuple[int, list[float]]]:
    times: list[float] = []

    class Clock(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            times.append(time.monotonic())
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Clock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, times
    finally:
        server.shutdown()


async def ask_in_turn(port: int, folder: Path, every_s: float, *, one_at_a_time: bool) -> None:
    """Send the requests of one process."""
    transport = SharedRateTransport(httpx.AsyncHTTPTransport(), folder)
    rule = RateRule("service", every_s, one_at_a_time=one_at_a_time)
    for _ in range(_REQUESTS):
        request = httpx.Request("GET", f"http://127.0.0.1:{port}/", extensions={"rate_rule": rule})
        response = await transport.handle_async_request(request)
        await response.aread()
        await response.aclose()
    await transport.aclose()


def shortest_gap(every_s: float, folder: Path, *, one_at_a_time: bool) -> float:
    """Return the shortest time between two requests of four processes, in seconds by the server's clock."""
    with clocked_server() as (port, times):
        at_once = "one" if one_at_a_time else "several"
        command = [sys.executable, __file__, "--worker", str(port), str(folder), str(every_s), at_once]
        running = [subprocess.Popen(command, env=os.environ) for _ in range(_PROCESSES)]
        for each in running:
            each.wait()
    return min(later - earlier for earlier, later in pairwise(times))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        port, folder, every_s, at_once = sys.argv[2:6]
        asyncio.run(ask_in_turn(int(port), Path(folder), float(every_s), one_at_a_time=at_once == "one"))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=3.0, help="Seconds of the rule between two requests.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "recorded"
        with tarfile.open(given.path / "recorded.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        print("atom   ", compare_feeds(folder))
        port = free_port()
        stand_in = subprocess.Popen(
            [sys.executable, str(given.path / "standin.py"), str(folder), str(port)], stdout=subprocess.PIPE
        )
        try:
            assert stand_in.stdout is not None
            stand_in.stdout.readline()  # it says what it holds once it is ready
            time.sleep(0.5)
            became, works = asyncio.run(ask_all(folder, port, Path(made) / "caches"))
        finally:
            stand_in.terminate()
            stand_in.wait()
        print("answers", sum(became.values()), dict(sorted(became.items())), dict(works))
        gap = shortest_gap(given.seconds, Path(made) / "rates", one_at_a_time=True)
        told = f"{_PROCESSES * _REQUESTS} requests of {_PROCESSES} processes, the shortest gap"
        print("rate   ", f"{told} {gap:.3f} seconds under a rule of {given.seconds:g}")


if __name__ == "__main__":
    main()
