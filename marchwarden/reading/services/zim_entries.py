"""Entries of ZIM files: a line of JSON with the file's name, title and day, then the HTML of the entry."""

from __future__ import annotations

import json
from dataclasses import replace

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.page import read_page

PROFILE = "zim"


def write_entry(html: bytes, *, file: str, title: str, day: str) -> bytes:
    """Return the document of an entry; `day` is empty where the file states none."""
    return json.dumps({"file": file, "title": title, "day": day}, ensure_ascii=False).encode() + b"\n" + html


def read_zim(page: Page, body: bytes) -> Page | Failure:
    """Return the page of an entry. Its version is the file that it is from, with its day."""
    head, _, html = body.partition(b"\n")
    try:
        facts = json.loads(head)
        file, title, day = str(facts["file"]), str(facts["title"]), str(facts["day"])
    except (KeyError, TypeError, ValueError, RecursionError):
        return Failure(FailureKind.NO_TEXT, "the document is no entry of a ZIM file")
    found = read_page(html, url=page.url, content_type="text/html; charset=utf-8")
    if isinstance(found, Failure):
        return found
    return replace(
        found,
        content_hash=page.content_hash,
        source="zim",
        modified=found.modified or as_date(day),
        work=replace(found.work or Work(), version=f"{file}, {day}" if day else file, venue=title or None),
    )
