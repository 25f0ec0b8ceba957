"""Tell when files of a corpus change: from the operating system where it tells, else by looking at their times."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

from marchwarden.corpus.walk import PASSED_OVER

# Milliseconds that pass after a change before it is told, so that a folder that is copied is read once. A guess.
_PAUSE_MS = 1_000
# Milliseconds between two looks where the system doesn't tell. A guess.
_POLL_MS = 2_000
# Milliseconds until a change is told that was made between indexing and watching. A guess.
_FIRST_MS = 500


def changes_below(roots: list[Path], *, told: Callable[[str], None]) -> Iterator[None]:
    """Yield once soon after the beginning, and then whenever something below the roots has changed.

    `told` gets a message where changes are found by polling. Raises KeyboardInterrupt at Ctrl-C.
    """
    from watchfiles import watch

    def concerns(_: object, path: str) -> bool:
        for root in roots:
            if path == str(root) or path.startswith(str(root).rstrip(os.sep) + os.sep):
                parts = PurePath(path).relative_to(root).parts
                return not any(part.startswith((".", "~$")) or part in PASSED_OVER for part in parts)
        return True

    is_polling = False
    while True:
        changes = watch(
            *roots,
            watch_filter=concerns,
            debounce=_PAUSE_MS,
            rust_timeout=_FIRST_MS,
            yield_on_timeout=True,
            force_polling=is_polling or None,
            poll_delay_ms=_POLL_MS,
            ignore_permission_denied=True,
        )
        is_first = True
        try:
            for found in changes:
                if found or is_first:
                    is_first = False
                    yield
        except (OSError, RuntimeError) as error:  # no more watches, or a file system that has none
            if is_polling:
                raise
            is_polling = True
            told(
                f"The operating system does not report changes ({error}), so Marchwarden looks every "
                f"{_POLL_MS // 1000} seconds instead."
            )
