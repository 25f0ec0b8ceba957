"""Pages of MediaWiki, such as Wikipedia's: the revision that is read, and pages that only list meanings of a word.

Both stand in the markup that MediaWiki writes for its own scripts (https://www.mediawiki.org/wiki/Manual:Interface/JavaScript).
"""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from marchwarden.observations import Work

_REVISION = re.compile(r'"wgRevisionId":\s*(\d{1,12})\b')
_TITLE_END = re.compile(r"\s[-–—]\s([^-–—]+)$")
# Element of a page that lists meanings: its id in the English Wikipedia, and the class of the notice in many others.
_DISAMBIGUATION = (
    "//*[@id='disambigbox' or @id='Vorlage_Begriffsklaerung' or "
    "contains(concat(' ', normalize-space(@class), ' '), ' dmbox-disambig ')]"
)


def read_mediawiki(tree: HtmlElement) -> Work | None:
    """Return the revision and the wiki of an article; None for a page of any other software."""
    if not is_mediawiki(tree):
        return None
    scripts = (script.text or "" for script in tree.iter("script") if not script.get("src"))
    revision = next((found[1] for text in scripts if (found := _REVISION.search(text))), None)
    # Zero is a page that does not exist.
    if revision is None or not int(revision):
        return None
    wiki = _TITLE_END.search(" ".join((tree.findtext(".//title") or "").split()))
    return Work(version=revision, venue=wiki[1].strip() if wiki else None)


def is_mediawiki(tree: HtmlElement) -> bool:
    """Return whether the page names MediaWiki as the software that made it."""
    return any(
        (meta.get("name") or "").lower() == "generator" and (meta.get("content") or "").startswith("MediaWiki")
        for meta in tree.iter("meta")
    )


def lists_meanings(tree: HtmlElement) -> bool:
    """Return whether a page of MediaWiki only lists what a word may mean (a disambiguation page)."""
    return is_mediawiki(tree) and bool(tree.xpath(_DISAMBIGUATION))
