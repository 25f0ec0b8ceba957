"""Search of traces by words of the question, of the answer, and of the sites that were read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from marchwarden.trace.reader import TraceSummary, list_traces, whole_line

if TYPE_CHECKING:
    from marchwarden.contract import Status

# Lines that hold what is searched, told without parsing the others: `action` stands near a line's start.
_SEARCHED = re.compile(rb'"action": ?"(?:start|fetch_url|result)"')
_HEAD_BYTES = 200


@dataclass(frozen=True)
class Wanted:
    """Calls to look for; what is None or empty says nothing."""

    text: str = ""
    """Words that all occur in the question, the answer or the sites that were read; case does not matter."""
    since: datetime | None = None
    before: datetime | None = None
    source: str | None = None
    """Name of one source that was searched: `web`, `corpus:notes`; `corpus` for any corpus."""
    model: str | None = None
    """Part of the model's id."""
    least_confidence: float | None = None
    most_confidence: float | None = None
    statuses: frozenset[Status] = frozenset()
    """Statuses of the calls; empty for any."""

    @property
    def words(self) -> list[str]:
        """Words of `text`, as `searched_text` has them."""
        return self.text.casefold().split()

    def admits(self, summary: TraceSummary) -> bool:
        """Return whether what a summary tells is wanted; the words of `text` are not in it."""
        sources = (summary.source or "").split(",")
        confidence = summary.confidence
        return (
            (self.since is None or (summary.started is not None and summary.started >= self.since))
            and (self.before is None or (summary.started is not None and summary.started < self.before))
            and (
                self.source is None
                or any(each == self.source or each.split(":")[0] == self.source for each in sources)
            )
            and (self.model is None or self.model.casefold() in (summary.model_id or "").casefold())
            and (self.least_confidence is None or (confidence is not None and confidence >= self.least_confidence))
            and (self.most_confidence is None or (confidence is not None and confidence <= self.most_confidence))
            and (not self.statuses or summary.status in self.statuses)
        )


def search_traces(folder: Path, wanted: Wanted) -> list[TraceSummary]:
    """Return the traces of a folder that are wanted, newest first."""
    return [each for each in list_traces(folder) if is_wanted(each, wanted)]


def is_wanted(summary: TraceSummary, wanted: Wanted) -> bool:
    """Return whether a call is wanted: by its summary, and by its trace where words are looked for."""
    if not wanted.admits(summary):
        return False
    searched = searched_text(summary.path) if wanted.words else ""
    return all(word in searched for word in wanted.words)


def searched_text(path: Path) -> str:
    """Return what of a trace is searched, without case; empty where it can't be read."""
    texts: list[str] = []
    try:
        with path.open("rb") as file:
            for written in file:
                line = whole_line(written) if _SEARCHED.search(written, 0, _HEAD_BYTES) else None
                match (line or {}).get("action"):
                    case "start":
                        texts += _strings(line, "question")
                    case "fetch_url":
                        texts += map(_site_of, _strings(line, "final_url", "url"))
                    case "result":
                        result = (line or {}).get("result")
                        texts += _strings(result, "answer")
                        cited = result.get("citations") if isinstance(result, dict) else None
                        for citation in cited if isinstance(cited, list) else []:
                            texts += map(_site_of, _strings(citation, "locator"))
    except OSError:
        return ""
    return "\n".join(texts).casefold()


def _strings(data: Any, *names: str) -> list[str]:
    """Return those of the members that are strings; a damaged trace may hold anything."""
    return [data[name] for name in names if isinstance(data, dict) and isinstance(data.get(name), str)]


def _site_of(locator: str) -> str:
    """Return the host of a page; the address itself where it has none, as that of a file."""
    try:
        return urlsplit(locator).hostname or locator
    except ValueError:
        return locator
