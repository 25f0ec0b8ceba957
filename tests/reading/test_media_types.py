"""What bytes are, whatever they are called."""

from __future__ import annotations

import random

import pytest
from httpx import Cookies

from marchwarden.http.download import Answer
from marchwarden.observations import Page
from marchwarden.reading.media_types import media_type
from marchwarden.reading.page import read_page
from tests.profiles import a_moment
from tests.reading.pages import article


@pytest.mark.parametrize(
    ("body", "declared", "url", "kind"),
    [
        (b"  <!DOCTYPE html><p>", None, "", "text/html"),
        (b"<!-- a --> <html>", "application/octet-stream", "", "text/html"),
        (b"<?xml version='1.0'?><html>", "application/xml", "", "text/html"),
        (b"<feed>", "application/atom+xml", "", "application/atom+xml"),
        (b"just words", "text/html", "", "text/html"),
        (b"junk %PDF-1.7", "text/html", "", "application/pdf"),
        (b"a,b\n1,2", "text/csv", "", "text/csv"),
        (b"# Title", None, "https://a.org/README.md?raw=1", "text/markdown"),
        (b"# Title", "text/markdown", "", "text/markdown"),
        (b"{}", "application/ld+json", "", "application/json"),
        (b"[1]", "text/plain", "", "application/json"),
        (b"[see below]", "text/plain", "", "text/plain"),
        (b"words", "application/x-latex", "", "application/x-latex"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "text/html", "", "image/webp"),
        ("Wörter".encode("utf-16"), "text/plain", "", "text/plain"),
        ("Words and more words".encode("utf-16-le"), "text/plain", "", "text/plain"),
        (b"\0\0\0\0\0\0\0\0junk", "text/plain", "", "application/octet-stream"),
        (b"<!DOCTYPE html><title>On %PDF-1.7</title>", "image/png", "", "text/html"),
        (b"<!DOCTYPE html><p>x", "application/json", "", "text/html"),
        (b"\0<html>\0\0" + b"<p>x \0" * 40 + b"\0" * 4000, "text/html", "", "text/html"),
        ("<!DOCTYPE html><p>Wörter".encode("utf-32-be"), "text/plain; charset=utf-8", "", "text/html"),
        (b"<section><p>words", "text/plain", "", "text/html"),
        (b"<p align=center>words\n\n# Title", "text/plain", "https://a.org/README.md", "text/markdown"),
        (b"<p align=center>words\n\n# Title", "text/markdown", "", "text/markdown"),
        (b'\xef\xbb\xbf{"a": 1}', "text/plain", "", "application/json"),
        (b"words, \x0b\x1b[1mbold\x1b[0m words", "text/plain", "", "text/plain"),
        ("トマトは五月に植えます。".encode("iso2022_jp"), "text/plain", "", "text/plain"),
    ],
)
def test_the_first_bytes_say_more_than_the_header(body: bytes, declared: str | None, url: str, kind: str) -> None:
    assert media_type(body, declared, url) == kind


NOISE = random.Random(7).randbytes(5000)


@pytest.mark.parametrize(
    "start", [b"", b"\x7fELF\2\1\1\0", b"BM", b"\xfd7zXZ\0", b"BZh91AY&SY", b"\xff\xfb\x90", b"\0asm"]
)
@pytest.mark.parametrize("declared", ["text/html", "text/plain; charset=utf-8", "application/json", None])
def test_what_is_no_text_is_not_read_as_text(start: bytes, declared: str | None) -> None:
    for noise in (NOISE, NOISE.replace(b"\0", b"")):
        page = read_page(start + noise, url="https://a.org/a", content_type=declared)
        assert isinstance(page, Page)
        assert page.media_type == "application/octet-stream"
        assert page.text == ""


def test_zero_bytes_in_a_page_are_passed_over() -> None:
    body = article().replace(b"<p>", b"<p>\0") + b"\0" * 10_000
    page, clean = (read_page(each, url="https://a.org/a", content_type="text/html") for each in (body, article()))
    assert isinstance(page, Page)
    assert isinstance(clean, Page)
    assert page.text == clean.text


@pytest.mark.parametrize(
    "body",
    [b"<!---->" * 500 + b"x", b"<!--" * 900, b"<?xml " * 600, b"<meta " * 600, b"<?xml>" * 600 + b"\0", b"{" * 4000],
)
def test_what_a_body_is_is_told_in_no_time(body: bytes) -> None:
    with a_moment(0.5):
        media_type(body, "text/plain", "https://a.org/a")


def test_a_server_can_t_say_by_which_reader_its_page_is_read() -> None:
    """Else any page could pass for the record of a paper."""
    answer = Answer(200, {"content-type": 'application/json; charset=utf-8; profile="crossref"'}, b"{}", Cookies())
    assert answer.content_type == "application/json; charset=utf-8"
