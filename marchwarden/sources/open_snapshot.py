"""The researcher of a frozen web: an index finds pages, a folder serves them. No network, no key."""

from __future__ import annotations

from marchwarden.frozen_web.pages import FrozenWeb, FrozenWebTransport
from marchwarden.settings import Settings
from marchwarden.sources.fetch import Fetcher
from marchwarden.sources.snapshot_search import SnapshotSearch
from marchwarden.sources.source_registry import Tools


def open_tools(settings: Settings) -> Tools:
    web = FrozenWeb.load(settings.frozen_web)
    fetcher = Fetcher(settings, transport=FrozenWebTransport(web))
    return Tools(kind="snapshot", search=SnapshotSearch(settings, web), fetcher=fetcher)
