"""The note that the frozen web is searched though nobody named it, or that MARCHWARDEN_OFFLINE has no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marchwarden.settings import Settings

_FROZEN_WEB = (
    "the frozen web that comes with Marchwarden is searched. "
    "Its pages were written for Marchwarden, and their hosts are invented: do not rely on them."
)
_LIVE = "Live sources need a network, but no key: `marchwarden sources` lists them."


def frozen_web_note(given: Settings, reached: Settings) -> tuple[str, str] | None:
    """Return the reason for which the frozen web stands in, and what to do; None where it does not.

    `reached` are the settings after a look at the network.
    """
    if reached.source_name != "snapshot" or given.source or given.web:
        return None
    if given.offline:
        return f"MARCHWARDEN_OFFLINE is set, so {_FROZEN_WEB}", "Set it to false to search live sources."
    return f"Without a network, {_FROZEN_WEB}", _LIVE


def offline_note(given: Settings, reached: Settings) -> tuple[str, str] | None:
    """Return the note above, or one on MARCHWARDEN_OFFLINE where it has no effect; None where there is neither."""
    if not given.offline or reached.source_name == "snapshot":
        return frozen_web_note(given, reached)
    decides = "MARCHWARDEN_SOURCE" if given.source else "the key or address of a search service"
    return (
        f"MARCHWARDEN_OFFLINE has no effect, because {decides} decides what is searched.",
        "To search the frozen web, set MARCHWARDEN_SOURCE=snapshot.",
    )
