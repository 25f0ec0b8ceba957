"""Index of a frozen web, kept in the cache folder. One process builds it while others wait.

`python -m marchwarden.frozen_web.kept_index` builds it at set-up, so that the first question need not wait.
The lock is filelock's: the kernel releases it when its holder dies, so that a killed build blocks nobody. Where the
cache folder can't be written (read-only, full), each process has the index in its memory.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from marchwarden import __version__
from marchwarden.files import make_private_folder
from marchwarden.frozen_web.crawl import LISTING_VERSION, Listing, crawl
from marchwarden.frozen_web.page_index import PageIndex
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import load_settings

# Indexes in the cache folder, of several frozen webs or older states of them; the oldest are removed. A guess: each
# is about 0.5 MB for 400 pages.
MAX_KEPT = 6
# Seconds to wait for another process's build before building in memory: the time for 60,000 pages at 14 ms each (the
# shipped web's 428 took 5.9 s of a core).
WAIT_S = 900.0
# Seconds between two messages while waiting: callers need a sign of life every 10 seconds.
WAITING_MESSAGE_S = 5.0
# Pages between two messages: about 0.3 seconds.
PAGES_PER_MESSAGE = 20

WAITING = "Waiting while another process indexes the frozen web"

Tell: TypeAlias = Callable[[str], None]
"""Callback that receives the progress, in words for a person."""


def open_or_build(web: FrozenWeb, caches: Path, tell: Tell) -> PageIndex:
    """Open the index of `web` in the cache folder `caches`; build it where there is none, or one that is damaged.

    An index of other pages, or of another version, has another name and is left alone.
    """
    parent = caches / "snapshot"
    folder = parent / f"{web.fingerprint[:32]}-{LISTING_VERSION}-{__version__}"
    try:
        return PageIndex.open(folder)
    except (OSError, ValueError):  # not there yet, or damaged
        pass

    def on_page(number: int) -> None:
        if number % PAGES_PER_MESSAGE == 0 or number == len(web.pages):
            tell(f"Indexing the frozen web: {number} of {len(web.pages)} pages")

    listings: list[Listing] | None = None
    try:
        make_private_folder(parent)  # a frozen web can be made of private calls
        with _locked(parent / f"{folder.name}.lock", tell):
            try:
                return PageIndex.open(folder)  # another process built it meanwhile
            except (OSError, ValueError):
                listings = crawl(web, on_page)
                return _keep(listings, folder)
    except (OSError, ValueError):  # no space, no permission, or the lock was never free
        return PageIndex.build(crawl(web, on_page) if listings is None else listings)


@contextmanager
def _locked(path: Path, tell: Tell) -> Iterator[None]:
    """Hold the lock at `path`. Raises OSError where that is not permitted or takes longer than WAIT_S."""
    from filelock import FileLock, Timeout  # 0.09 s to import, and most calls need none

    lock = FileLock(path)
    give_up, wait_s = time.monotonic() + WAIT_S, 0.0
    while not lock.is_locked:
        try:
            lock.acquire(timeout=wait_s)
        except Timeout:
            if time.monotonic() >= give_up:
                raise
            tell(WAITING)
            wait_s = WAITING_MESSAGE_S
    try:
        yield
    finally:
        lock.release()


def _keep(listings: list[Listing], folder: Path) -> PageIndex:
    """Build the index in another folder and move it to `folder` whole. Raises OSError or ValueError."""
    aside = folder.with_name(f"{folder.name}.building")
    # Left by a build that was killed: the lock is ours.
    shutil.rmtree(aside, ignore_errors=True)
    try:
        make_private_folder(aside)
        PageIndex.build(listings, aside)
        if folder.is_dir():
            shutil.rmtree(folder)  # a damaged one
        aside.replace(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    kept = [each for each in folder.parent.iterdir() if each.is_dir()]
    for old in sorted(kept, key=lambda each: each.lstat().st_mtime, reverse=True)[MAX_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
        # A process that waits on the old lock file may then build at the same time as one with a new lock file. Both
        # indexes become whole.
        old.with_name(f"{old.name}.lock").unlink(missing_ok=True)
    return PageIndex.open(folder)


def main() -> None:
    """Build the index of the frozen web in the settings, where there is none yet. A terminal shows the progress."""
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
