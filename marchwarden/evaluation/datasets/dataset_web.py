"""Documents of a data set as a frozen web: each is a page on a host of its own.

The hosts are of different organisations, since the ledger counts one organisation once. A source_filter keeps each
question to the hosts of its own documents: searching all documents of the set would be another, harder task.
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
        day = self.published.isoformat() if self.published else None
        dated = f'<meta property="article:published_time" content="{day}">' if day else ""
        named = f"<title>{escape(self.title)}</title>" if self.title else ""
        heading = f"<h1>{escape(self.title)}</h1>\n" if self.title else ""
        html = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{named}{dated}</head>\n'
            f"<body><main><article>\n{heading}{shown}</article></main></body></html>\n"
        )
        return html.encode("utf-8", "replace")

    @cached_property
    def page(self) -> Page | None:
        """Page as the researcher reads it; None where it can read none (a text that says "access denied", say)."""
        from marchwarden.reading.page import read_page

        page = read_page(self.body, url=self.url, content_type="text/html; charset=utf-8")
        return page if isinstance(page, Page) else None

    def quote(self, wanted: str) -> Quote | None:
        """Return `wanted` as it stands on the page, whatever the blanks; None where it does not stand there."""
        found = re.search(r"\s+".join(map(re.escape, wanted.split())), self.page.text) if self.page else None
        return Quote(url=self.url, quote=found[0]) if found and found[0] else None

    def says(self, answer: str) -> tuple[Quote, str] | None:
        """Return the first passage that holds `answer`, and the answer as it stands there; None where none does.

        Blanks around signs may differ ("8 , 2014" for "8, 2014").
        """
        pattern = ""
        parts = re.findall(r"\w+|[^\w\s]", answer)
        for before, part in zip(["", *parts], parts, strict=False):
            apart = r"\s+" if before[-1:].isalnum() and part[0].isalnum() else r"\s*"
            pattern += (apart if before else "") + re.escape(part)
        for passage in self.page.passages if self.page and pattern else ():
            for found in re.finditer(pattern, passage.text, re.IGNORECASE):
                if says(passage.text, found[0]):
                    return Quote(url=self.url, quote=passage.text), found[0]
        return None

    def closest(self, answer: str) -> tuple[Quote, float] | None:
        """Return the passage that holds most of an answer in free text, and the share (0–1) of its content words."""
        passages = self.page.passages if self.page else ()
        asked, *read = terms_of([answer, *(passage.text for passage in passages)])
        shares = [len(set(asked) & set(words)) / max(1, len(set(asked))) for words in read]
        best = max(range(len(passages)), key=shares.__getitem__, default=None)
        return None if best is None else (Quote(url=self.url, quote=passages[best].text), shares[best])


def host_of_document(question: int, document: int) -> str:
    """Return an invented host, of an organisation of its own (RFC 2606 reserves `.example`)."""
    return f"d{document}-q{question:04d}.example"


def only(documents: Sequence[Document], question: int) -> Mapping[str, str]:
    """Return the constraints that keep a question to its documents; without any, to a host that isn't there."""
    hosts = [document.host for document in documents] or [host_of_document(question, 0)]
    return {"source_filter": ", ".join(hosts)}


def write_web(folder: Path, documents: Iterable[Document]) -> None:
    """Write the documents as a frozen web. Raises StorageError where the folder can't be written."""
    lines = []
    try:
        (folder / PAGES).mkdir(parents=True, exist_ok=True)
        for document in documents:
            file = f"{PAGES}/{document.host}.html"
            _write(folder / file, document.body)
            entry = {
                "url": document.url,
                "file": file,
                "status": 200,
                "headers": {"content-type": "text/html; charset=utf-8"},
                "published": document.published.isoformat() if document.published else None,
                "delay_s": 0,
                "redirect": None,
            }
            lines.append(json.dumps(entry, ensure_ascii=False))
        _write(folder / MANIFEST, ("\n".join(lines) + "\n").encode("utf-8", "replace"))
    except OSError as error:
        raise StorageError(f"{folder} can't be written: {error.strerror or error}") from None


def _write(file: Path, body: bytes) -> None:
    # A file that is the same already is left alone, so that a search index of it stays valid.
    if not file.is_file() or file.read_bytes() != body:
        file.write_bytes(body)
