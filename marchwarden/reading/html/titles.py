"""The title of a page without the name of its site, which many pages append to it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_BAR = re.compile(r"\s+[|–—·•»«:-]\s+|\s*\|\s*")
# Words of a site's name. A guess.
_MAX_SITE_WORDS = 6
# Letters of a host's name that are enough to recognise a site by. A guess.
_MIN_NAME_CHARS = 3


def without_site(title: str, *, heading: str, site: str | None, url: str) -> str:
    """Return the part of a title that the main heading repeats; else the title without the site's name at its end.

    The page (`site`) or its address gives that name. A name at the beginning stays: the rest is often a motto.
    """
    bars = list(_BAR.finditer(title))
    headed = _squeeze(heading)
    for bar in bars if headed else ():
        for part in (title[: bar.start()], title[bar.end() :]):
            if part and _squeeze(part) == headed:
                return part
    last = title[bars[-1].end() :] if bars else ""
    name = _squeeze(last)
    if not name or len(last.split()) > _MAX_SITE_WORDS:
        return title
    labels = (urlsplit(url).hostname or "").split(".")[:-1]
    host = _squeeze(max(labels, key=len, default=""))
    is_of_host = len(host) >= _MIN_NAME_CHARS and (host in name or (len(name) >= _MIN_NAME_CHARS and name in host))
    if is_of_host or (site and name == _squeeze(site)):
        return title[: bars[-1].start()] or title
    return title


def _squeeze(text: str) -> str:
    """Return letters and digits alone, case folded: names are often spelt as one word."""
    return re.sub(r"[\W_]+", "", text).casefold()
