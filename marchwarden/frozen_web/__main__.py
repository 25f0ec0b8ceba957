"""`python -m marchwarden.frozen_web`: index the frozen web at set-up, so that the first question need not wait."""

from __future__ import annotations

import sys

from marchwarden.frozen_web.kept_index import open_or_build
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import load_settings


def main() -> None:
    """Build the index of the frozen web in force, where there is none yet; progress goes to stderr."""
    settings = load_settings()
    shown = sys.stderr.isatty()

    def tell(message: str) -> None:
        if shown:
            sys.stderr.write(f"\r\x1b[K{message}")
            sys.stderr.flush()

    open_or_build(FrozenWeb.load(settings.frozen_web), settings.caches, tell)
    if shown:
        sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    main()
