"""The frozen web dealt to several servers: by organisation, or with chosen pages moved to a second one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from marchwarden.http.addresses import publisher_of
from marchwarden.settings import shipped


def deal(folder: Path, part_of: Callable[[str], int], parts: int, web: Path | None = None) -> list[Path]:
    """Write each page's line into the part that `part_of` its URL says; robots.txt goes with its host.

    The parts share the files of the web.
    """
    web = web or shipped("web")
    lines: list[list[str]] = [[] for _ in range(parts)]
    for line in (web / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        url = json.loads(line)["url"]
        hosts_with_robots = range(parts) if urlsplit(url).path == "/robots.txt" else [part_of(url)]
        for number in hosts_with_robots:
            lines[number].append(line)
    made = []
    for number, own in enumerate(lines, start=1):
        part = folder / f"part{number}"
        part.mkdir(parents=True, exist_ok=True)
        (part / "manifest.jsonl").write_text("\n".join(own) + "\n", encoding="utf-8")
        if not (part / "pages").exists():
            (part / "pages").symlink_to((web / "pages").resolve(), target_is_directory=True)
        made.append(part)
    return made


def by_organisation(parts: int, web: Path | None = None) -> Callable[[str], int]:
    """Return a deal of organisations in turn, in the order in which the manifest names them."""
    web = web or shipped("web")
    urls = [json.loads(line)["url"] for line in (web / "manifest.jsonl").read_text(encoding="utf-8").splitlines()]
    organisations = sorted({publisher_of(url) for url in urls})
    turn = {name: number % parts for number, name in enumerate(organisations)}
    return lambda url: turn[publisher_of(url)]


def moved(urls: Iterable[str]) -> Callable[[str], int]:
    """Return a deal that puts these pages into the second part, and all others into the first."""
    away = set(urls)
    return lambda url: int(url in away)
