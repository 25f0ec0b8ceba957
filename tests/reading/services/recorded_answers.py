"""Recorded answers of scholarly services (tests/cassettes/scholarly), and empty pages to read them into."""

from __future__ import annotations

from pathlib import Path

from marchwarden.observations import Page, content_hash

FOLDER = Path(__file__).parent.parent.parent / "cassettes" / "scholarly"


def answer(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def empty_page(body: bytes, url: str = "https://doi.org/10.1000/a") -> Page:
    return Page(url, content_hash(body), "", content_hash(b""), ())
