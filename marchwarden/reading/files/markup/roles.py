"""Text that a role or directive of Sphinx shows: the same in reStructuredText and in MyST, its form of Markdown."""

from __future__ import annotations

import re

# Directives that state since when something holds, with Sphinx's words.
VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_TARGET = re.compile(r"(.*?)\s*<[^<>]*>", re.DOTALL)


def role_text(text: str) -> str:
    """Return what a role shows: `title` of `title <target>`, and `name` of `~module.name`."""
    titled = _TARGET.fullmatch(text)
    shown = titled[1] if titled and titled[1] else text.lstrip("!")
    return shown[1:].rpartition(".")[2] if shown[:1] == "~" else shown
