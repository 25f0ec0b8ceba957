"""The source `web`: one of several search services finds pages, and the fetcher reads them.

To add a service: a module with a SearchProvider, a line below, and its key in the settings (WebSearch).
"""

from __future__ import annotations

import pkgutil

from marchwarden.settings import WebSearch
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import SearchProvider, Tools

WEB_SEARCHES: dict[WebSearch, str] = {
    "tavily": "marchwarden.sources.web.tavily:open_tavily",
    "brave": "marchwarden.sources.web.brave:open_brave",
    "exa": "marchwarden.sources.web.exa:open_exa",
    "serper": "marchwarden.sources.web.serper:open_serper",
    "searxng": "marchwarden.sources.web.searxng:open_searxng",
}
"""Functions as `module:function`, each of which makes a SearchProvider from an Opening."""


def open_web(opening: Opening, name: str = "") -> Tools:
    """Return tools that search and read the live web. Raises ConfigurationError where no service has a key."""
    opening.settings.require_search_key()
    chosen = opening.settings.web_searches[0]
    search: SearchProvider = pkgutil.resolve_name(WEB_SEARCHES[chosen])(opening)
    return Tools(kind="web", search=search, fetcher=opening.fetcher)
