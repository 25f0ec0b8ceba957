"""The index of a frozen web, built once and kept in the cache folder: by one process, while others wait for it.
`python -m marchwarden.frozen_web.kept_index` builds it at set-up, so that the first question need not wait.

The lock is filelock's: the kernel lets go of it when its holder dies, so a killed build blocks nobody. Where nothing
can be kept (a read-only or full folder), the index lives in the memory of the process that asks.
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
from marchwarden.frozen_web.crawl import LISTING_VERSION, Listing, crawl
from marchwarden.frozen_web.page_index import PageIndex
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.settings import load_settings

KEPT = 6
"""Indexes in the cache folder, of other frozen webs or older states of them; the oldest go. A guess: each is about
0.5 MB for 400 pages."""
WAIT_S = 900.0
"""Seconds to wait for another process's build, then this one does without it: 60,000 pages at 14 ms each (the shipped
web's 428 took 5.9 s of a core)."""
TELL_AGAIN_S = 5.0
"""Seconds between signs of life while waiting; callers want to hear something every 10 seconds."""
PAGES_PER_NEWS = 20
"""Pages between two messages: about 0.3 seconds."""

WAITING = "Waiting while another process indexes the frozen web"

Tell: TypeAlias = Callable[[str], None]
"""Hears what is happening now, in words for a person."""


def open_or_build(web: FrozenWeb, caches: Path, tell: Tell) -> PageIndex:
    """Open the index of `web` in the cache folder `caches`; build it where there is none, or one that is damaged.

    An index of other pages, or of another version, has another name and is left alone.
    """
    shelf = caches / "snapshot"
    folder = shelf / f"{web.fingerprint[:32]}-{LISTING_VERSION}-{__version__}"
    try:
        return PageIndex.open(folder)
    except (OSError, ValueError):  # not there yet, or damaged
        pass
    listings: list[Listing] | None = None
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        with _locked(shelf / f"{folder.name}.lock", tell):
            try:
                return PageIndex.open(folder)  # another process built it meanwhile
            except (OSError, ValueError):
                listings = crawl(web, _news_of(web, tell))
                return _keep(listings, folder)
    except (OSError, ValueError):  # no place, no permission, or nobody's turn ever came
        return PageIndex.build(crawl(web, _news_of(web, tell)) if listings is None else listings)


def _news_of(web: FrozenWeb, tell: Tell) -> Callable[[int], None]:
    def on_page(number: int) -> None:
        if number % PAGES_PER_NEWS == 0 or number == len(web.pages):
            tell(f"Indexing the frozen web: {number} of {len(web.pages)} pages")

    return on_page


@contextmanager
def _locked(path: Path, tell: Tell) -> Iterator[None]:
    """Raises OSError where the lock can't be had: no permission, or not within WAIT_S."""
    from filelock import FileLock, Timeout  # 0.09 s to import, and most calls need none

    lock = FileLock(path)
    give_up, patience = time.monotonic() + WAIT_S, 0.0
    while not lock.is_locked:
        try:
            lock.acquire(timeout=patience)
        except Timeout:
            if time.monotonic() >= give_up:
                raise
            tell(WAITING)
            patience = TELL_AGAIN_S
    try:
        yield
    finally:
        lock.release()


def _keep(listings: list[Listing], folder: Path) -> PageIndex:
    """Build aside and move into place whole. Raises OSError or ValueError where the folder can't be written."""
    aside = folder.with_name(f"{folder.name}.building")
    shutil.rmtree(aside, ignore_errors=True)  # of a build that was killed: the lock is ours
    try:
        aside.mkdir()
        PageIndex.build(listings, aside)
        if folder.is_dir():
            shutil.rmtree(folder)  # a damaged one
        aside.replace(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _drop_oldest(folder.parent)
    return PageIndex.open(folder)


def _drop_oldest(shelf: Path) -> None:
    folders = [each for each in shelf.iterdir() if each.is_dir()]
    for folder in sorted(folders, key=lambda each: each.lstat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(folder, ignore_errors=True)
        # Whoever waits for it on the old lock file builds beside whoever made a new one; both end whole.
        shelf.joinpath(f"{folder.name}.lock").unlink(missing_ok=True)


def main() -> None:
    """Build the index of the frozen web in force, where there is none yet; on a terminal, say how far it is."""
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
