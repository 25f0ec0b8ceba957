"""What kind of page a page declares itself to be."""

from __future__ import annotations

import pytest

from marchwarden.reading.html.main_text import parse
from marchwarden.reading.html.page_type import declared_kind
from tests.reading.pages import ARTICLE, html


def script(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (script('{"@type": "DiscussionForumPosting"}'), "forum"),
        (script('{"@graph": [{"@type":["WebPage","QAPage"]}]}'), "forum"),
        (script('{"@type": "DiscussionForumPosting"}, {"@type": "NewsArticle"}'), "forum"),
        (script('{"@type": "NewsArticle", "about": {"@type": "Product"}}'), "article"),
        ('<meta property="og:type" content="article">', "article"),
        (script('{"@type": "Product", "name": "Peas"}'), "product"),
        ('<meta property="og:type" content="product">', "product"),
        (script('{"@type": "WebPage", "name": "An Article on a Product"}'), None),
        ("<title>Peas</title>", None),
    ],
)
def test_a_page_says_what_kind_it_is(head: str, kind: str | None) -> None:
    tree = parse(html(ARTICLE, head).decode())
    assert tree is not None
    assert declared_kind(tree) == kind


def test_microdata_counts_on_the_root_as_well() -> None:
    tree = parse(f'<html itemscope itemtype="https://schema.org/QAPage"><body>{ARTICLE}</body></html>')
    assert tree is not None
    assert declared_kind(tree) == "forum"
