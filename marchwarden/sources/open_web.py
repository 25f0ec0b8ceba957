"""The web researcher: Tavily finds pages, the live web serves them."""

from __future__ import annotations

from marchwarden.errors import ConfigurationError
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.search_provider import PROVIDERS
from marchwarden.sources.source_registry import Tools


def open_tools(settings: Settings) -> Tools:
    if not settings.tavily_api_key:
        raise ConfigurationError(
            "The web researcher needs TAVILY_API_KEY.",
            hint="Set it in the environment or in .env, or use the frozen web: --source snapshot.",
        )
    return Tools(kind="web", search=PROVIDERS["tavily"](settings), fetcher=Fetcher(settings))
