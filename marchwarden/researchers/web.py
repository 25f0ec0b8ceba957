"""The web researcher: Tavily finds pages, the live web serves them."""

from __future__ import annotations

from marchwarden.errors import ConfigurationError
from marchwarden.researchers import Tools
from marchwarden.settings import Settings
from marchwarden.tools.fetch import Fetcher
from marchwarden.tools.search import PROVIDERS


def open_tools(settings: Settings) -> Tools:
    if not settings.tavily_api_key:
        raise ConfigurationError(
            "The web researcher needs TAVILY_API_KEY.",
            hint="Set it in the environment or in .env, or use the frozen web: --source snapshot.",
        )
    return Tools(kind="web", search=PROVIDERS["tavily"](settings), fetcher=Fetcher(settings))
