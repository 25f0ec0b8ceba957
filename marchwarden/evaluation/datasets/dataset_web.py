"""Documents of a data set as a frozen web: each a page on a host of its own, and the quotes that its labels name.

Hosts are of different organisations, since the ledger takes what one organisation says twice as said once. Searching
every question's documents at once would be another task, and a harder one: a question is kept to its own by a
source_filter that lists their hosts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from html import escape
from pathlib import Path

from marchwarden.errors import StorageError
from marchwarden.evaluation.labels.questions import Quote
from marchwarden.evaluation.labels.scoring_text import says
from marchwarden.frozen_web.pages import MANIFEST
from marchwarden.observations import Page
from marchwarden.text.ranking import terms_of

PAGES = "pages"


@dataclass(frozen=True)
class Document:
    """A text, and the page that it becomes."""

    host: str
    text: str
    title: str | None = None
    published: date | None = None

    @property
    def url(self) -> str:
        return f"https://{self.host}/"

    @cached_property
    def body(self) -> bytes:
        paragraphs = (line.strip() for line in re.split(r"[\r\n]+", self.text))
        shown = "".join(f"<p>{escape(line)}</p>\n" for line in paragraphs if line)
        return _page(shown, self.title, self.published).encode("utf-8", "replace")

    @cached_property
    def page(self) -> Page | None:
        """What the researcher reads of it; None where that is nothing (a text that says "access denied", say)."""
        from marchwarden.reading.page import read_page

        page = read_page(self.body, url=self.url, content_type="text/html; charset=utf-8")
        return page if isinstance(page, Page) else None

    def quote(self, wanted: str) -> Quote | None:
        """`wanted`, as the page has it, blanks aside; None where it doesn't."""
        found = re.search(r"\s+".join(map(re.escape, wanted.split())), self.page.text) if self.page else None
        return Quote(url=self.url, quote=found[0]) if found and found[0] else None

    def says(self, answer: str) -> tuple[Quote, str] | None:
        """The first passage that holds `answer`, and the answer as it stands there, which may be spaced otherwise
        ("8 , 2014" for "8, 2014")."""
        pattern = _spaced(answer)
        for passage in self.page.passages if self.page and pattern else ():
            for found in re.finditer(pattern, passage.text, re.IGNORECASE):
                if says(passage.text, found[0]):
                    return Quote(url=self.url, quote=passage.text), found[0]
        return None

    def closest(self, answer: str) -> tuple[Quote, float] | None:
        """The passage that holds most of an answer in free text, and the share (0–1) of its content words."""
        passages = self.page.passages if self.page else ()
        asked, *read = terms_of([answer, *(passage.text for passage in passages)])
        shares = [len(set(asked) & set(words)) / max(1, len(set(asked))) for words in read]
        best = max(range(len(passages)), key=shares.__getitem__, default=None)
        return None if best is None else (Quote(url=self.url, quote=passages[best].text), shares[best])


def _page(shown: str, title: str | None, published: date | None) -> str:
    dated = f'<meta property="article:published_time" content="{published.isoformat()}">' if published else ""
    named = f"<title>{escape(title)}</title>" if title else ""
    heading = f"<h1>{escape(title)}</h1>\n" if title else ""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{named}{dated}</head>\n'
        f"<body><main><article>\n{heading}{shown}</article></main></body></html>\n"
    )


def _spaced(answer: str) -> str:
    """A pattern of the answer's words and signs, with any blanks or none around signs."""
    parts = re.findall(r"\w+|[^\w\s]", answer)
    pattern = ""
    for before, part in zip(["", *parts], parts, strict=False):
        apart = r"\s+" if before[-1:].isalnum() and part[0].isalnum() else r"\s*"
        pattern += (apart if before else "") + re.escape(part)
    return pattern


def host_of_document(question: int, document: int) -> str:
    """An invented host, of an organisation of its own (RFC 2606 keeps `.example` free)."""
    return f"d{document}-q{question:04d}.example"


def only(documents: Sequence[Document], question: int) -> Mapping[str, str]:
    """The constraints that keep a question to its documents; to a host that isn't there where it has none."""
    hosts = [document.host for document in documents] or [host_of_document(question, 0)]
    return {"source_filter": ", ".join(hosts)}


def write_web(folder: Path, documents: Iterable[Document]) -> None:
    """The documents as a frozen web. What stands in the folder already and is the same is left alone, so that a
    search index of it stays good. Raises StorageError where the folder can't be written."""
    lines = []
    try:
        (folder / PAGES).mkdir(parents=True, exist_ok=True)
        for document in documents:
            file = f"{PAGES}/{document.host}.html"
            _write(folder / file, document.body)
            lines.append(json.dumps(_entry(document, file), ensure_ascii=False))
        _write(folder / MANIFEST, ("\n".join(lines) + "\n").encode("utf-8", "replace"))
    except OSError as error:
        raise StorageError(f"{folder} can't be written: {error.strerror or error}") from None


def _entry(document: Document, file: str) -> dict[str, object]:
    return {
        "url": document.url,
        "file": file,
        "status": 200,
        "headers": {"content-type": "text/html; charset=utf-8"},
        "published": document.published.isoformat() if document.published else None,
        "delay_s": 0,
        "redirect": None,
    }


def _write(file: Path, body: bytes) -> None:
    if not file.is_file() or file.read_bytes() != body:
        file.write_bytes(body)
