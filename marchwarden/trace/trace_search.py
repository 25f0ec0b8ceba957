"""Search of traces by words of the question, of the answer, and of the sites that were read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from marchwarden.trace.reader import TraceSummary, list_traces, whole_line

# Lines that hold what is searched, told without parsing the others: `action` stands near a line's start.
_SEARCHED = re.compile(rb'"action": ?"(?:start|fetch_url|result)"')
_HEAD_BYTES = 200


def search_traces(folder: Path, text: str) -> list[TraceSummary]:
    """Return the traces of a folder in which each word of `text` occurs, newest first; case does not matter."""
    words = text.casefold().split()
    return [each for each in list_traces(folder) if _has(each.path, words)]


def _has(path: Path, words: list[str]) -> bool:
    try:
        searched = "\n".join(_texts(path)).casefold()
    except OSError:
        return False
    return all(word in searched for word in words)


def _texts(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        for written in file:
            line = whole_line(written) if _SEARCHED.search(written, 0, _HEAD_BYTES) else None
            match (line or {}).get("action"):
                case "start":
                    yield from _strings(line, "question")
                case "fetch_url":
                    yield from map(_site_of, _strings(line, "final_url", "url"))
                case "result":
                    result = (line or {}).get("result")
                    yield from _strings(result, "answer")
                    cited = result.get("citations") if isinstance(result, dict) else None
                    for citation in cited if isinstance(cited, list) else []:
                        yield from map(_site_of, _strings(citation, "locator"))


def _strings(data: Any, *names: str) -> list[str]:
    """Return those of the members that are strings; a damaged trace may hold anything."""
    return [data[name] for name in names if isinstance(data, dict) and isinstance(data.get(name), str)]


def _site_of(locator: str) -> str:
    """Return the host of a page; the address itself where it has none, as that of a file."""
    try:
        return urlsplit(locator).hostname or locator
    except ValueError:
        return locator
