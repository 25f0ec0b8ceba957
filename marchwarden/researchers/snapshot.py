"""The researcher of a frozen web: an index finds pages, a folder serves them. No network, no key."""

from __future__ import annotations

from marchwarden.researchers import Tools
from marchwarden.settings import Settings
from marchwarden.tools.fetch import Fetcher
from marchwarden.tools.frozen_web import FrozenWeb, FrozenWebTransport
from marchwarden.tools.search import PROVIDERS


def open_tools(settings: Settings) -> Tools:
    transport = FrozenWebTransport(FrozenWeb.load(settings.frozen_web))
    return Tools(kind="web", search=PROVIDERS["snapshot"](settings), fetcher=Fetcher(settings, transport=transport))
