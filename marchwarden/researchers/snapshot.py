"""The researcher of a frozen web: an index finds pages, a folder serves them. No network, no key."""

from __future__ import annotations

from marchwarden.researchers import Tools
from marchwarden.settings import Settings
from marchwarden.tools.fetch import Fetcher
from marchwarden.tools.frozen_web import FrozenWeb, FrozenWebTransport
from marchwarden.tools.search.snapshot import SnapshotSearch


def open_tools(settings: Settings) -> Tools:
    web = FrozenWeb.load(settings.frozen_web)
    fetcher = Fetcher(settings, transport=FrozenWebTransport(web))
    return Tools(kind="snapshot", search=SnapshotSearch(settings, web), fetcher=fetcher)
