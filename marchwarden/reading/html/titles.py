"""The title of a page without the name of its site, which many pages put behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

_BAR = re.compile(r"\s+[|–—·•»«:-]\s+|\s*\|\s*")
_LONGEST_SITE = 6
"""Words."""
_SHORTEST_NAME = 3
"""Letters of a host's name by which a site is known."""


def without_site(title: str, *, heading: str, site: str | None, url: str) -> str:
    """The part of a title that the page's main heading repeats; else the title without a last part that is the site's
    name, as the page or its address gives it. A name at the beginning stays: what follows it is often a motto."""
    headed = _squeezed(heading)
    if headed and (part := next((part for part in _stretches(title) if _squeezed(part) == headed), None)):
        return part
    bars = list(_BAR.finditer(title))
    if bars and _is_site(title[bars[-1].end() :], site, url):
        return title[: bars[-1].start()] or title
    return title


def _stretches(title: str) -> Iterator[str]:
    """Beginnings and ends of the title, at its bars."""
    for bar in _BAR.finditer(title):
        yield title[: bar.start()]
        yield title[bar.end() :]


def _is_site(part: str, site: str | None, url: str) -> bool:
    name = _squeezed(part)
    if not name or len(part.split()) > _LONGEST_SITE:
        return False
    if site and name == _squeezed(site):
        return True
    host = _name_of_host(url)
    return len(host) >= _SHORTEST_NAME and (host in name or (len(name) >= _SHORTEST_NAME and name in host))


def _name_of_host(url: str) -> str:
    labels = (urlsplit(url).hostname or "").split(".")[:-1]
    return _squeezed(max(labels, key=len, default=""))


def _squeezed(text: str) -> str:
    """Letters and digits alone: what is left where names are spelt together."""
    return re.sub(r"[\W_]+", "", text).casefold()
