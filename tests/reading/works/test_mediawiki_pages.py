"""Articles of MediaWiki tell their revision; pages that only list what a word may mean hold no evidence."""

from __future__ import annotations

import pytest

from marchwarden.observations import Failure, FailureKind, Page
from marchwarden.reading.page import read_page

GENERATOR = '<meta name="generator" content="MediaWiki 1.43.0-wmf.20">'
TEXT = "<p>The common bean is a herbaceous annual plant that is grown worldwide for its edible dry seeds.</p>"


def read(head: str, body: str = TEXT) -> Page | Failure:
    markup = f"<html><head><title>Common bean - Wikipedia</title>{head}</head><body><main>{body}</main></body></html>"
    return read_page(markup.encode(), url="https://en.wikipedia.org/wiki/Common_bean", content_type="text/html")


@pytest.mark.parametrize(
    ("head", "version"),
    [
        (GENERATOR + '<script>RLCONF={"wgRevisionId":1270000001,"wgArticleId":4487};</script>', "1270000001"),
        (GENERATOR + '<script>RLCONF={"wgRevisionId":0};</script>', None),
        ('<script>RLCONF={"wgRevisionId":1270000001};</script>', None),
    ],
    ids=["article", "no article", "other software"],
)
def test_the_revision_that_was_read_is_told(head: str, version: str | None) -> None:
    page = read(head)
    assert isinstance(page, Page)
    assert (page.work.version if page.work else None) == version
    assert page.work is None or page.work.venue == "Wikipedia"


@pytest.mark.parametrize(
    "notice",
    [
        '<div id="disambigbox">This page lists articles</div>',
        '<div id="Vorlage_Begriffsklaerung">Begriffsklärung</div>',
        '<table class="metadata dmbox dmbox-disambig"><tr><td>Disambiguation</td></tr></table>',
    ],
)
def test_a_page_that_only_lists_meanings_holds_no_text(notice: str) -> None:
    failure = read(GENERATOR, TEXT + notice)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.NO_TEXT
    assert isinstance(read("", TEXT + notice), Page)
