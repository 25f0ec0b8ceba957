"""Kind of page that a page declares itself to be, by Open Graph and schema.org."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from lxml import etree
from lxml.html import HtmlElement

PageKind: TypeAlias = Literal["forum", "article", "product"]

_TYPE = r'"@type"\s*:\s*(?:\[[^\]]*)?"(?:{})"'
_FORUM = re.compile(_TYPE.format("DiscussionForumPosting|QAPage"))
_FORUM_TYPE = re.compile(r"/(?:DiscussionForumPosting|QAPage)$")
_ITEM_TYPES = etree.XPath("//@itemtype")
_ARTICLE = re.compile(_TYPE.format(r"\w*Article|BlogPosting"))
_PRODUCT = re.compile(_TYPE.format("Product|ProductGroup"))


def declared_kind(tree: HtmlElement) -> PageKind | None:
    """Return the declared kind; None where there is none.

    A forum that also calls its threads articles is a forum. An article that also describes a product is an article.
    """
    scripts = [script.text or "" for script in tree.iter("script")]
    if any(map(_FORUM.search, scripts)) or any(map(_FORUM_TYPE.search, _ITEM_TYPES(tree))):
        return "forum"
    graph = {meta.get("content") for meta in tree.iter("meta") if meta.get("property") == "og:type"}
    if "article" in graph or any(map(_ARTICLE.search, scripts)):
        return "article"
    return "product" if "product" in graph or any(map(_PRODUCT.search, scripts)) else None
