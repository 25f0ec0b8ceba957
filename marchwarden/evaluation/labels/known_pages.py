"""The pages that labels can be about: those of a frozen web and of corpora are known, those of live sources not.

A label names a file of a corpus by its path, or by the end of it: `notes/garden.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

from marchwarden.corpus.catalogue import Catalogue
from marchwarden.corpus.corpora import open_corpus
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.evaluation.runs.run import pages_fingerprint
from marchwarden.frozen_web.pages import FrozenWeb
from marchwarden.observations import is_file, without_place
from marchwarden.settings import Settings

# Fingerprint of pages that may be others tomorrow.
LIVE = "live"
# The fields of labels that name a page.
_NAMING = ("url", "source_locator")


def known_pages(settings: Settings) -> set[str] | None:
    """Return the addresses of all pages that the sources in force hold; None where one of them is live.

    Raises ConfigurationError where a corpus or the frozen web is not there.
    """
    known: set[str] = set()
    for source in settings.sources:
        if source == "snapshot":
            known |= set(FrozenWeb.load(settings.frozen_web).pages)
        elif source.startswith("corpus:"):
            known |= {address(path) for path in _paths(source)}
        else:
            return None
    return known


def is_known(url: str, known: Collection[str]) -> bool:
    """Return whether a page, or the file that a line or a place is in, is among the known ones."""
    return address(url) in known or (is_file(url) and without_place(url) in known)


def pages_hash(settings: Settings) -> str:
    """Return a fingerprint of the pages that the sources in force hold; `live` where one of them is live."""
    if settings.sources == ("snapshot",):
        return pages_fingerprint(FrozenWeb.load(settings.frozen_web).folder)
    seen = hashlib.sha256()
    for source in settings.sources:
        if source == "snapshot":
            seen.update(pages_fingerprint(FrozenWeb.load(settings.frozen_web).folder).encode())
        elif source.startswith("corpus:"):
            with Catalogue.reading(open_corpus(source.partition(":")[2]).catalogue) as catalogue:
                for path in catalogue.paths():
                    record = catalogue.file(path)
                    seen.update(f"{path}\0{record.hash if record else ''}\n".encode("utf-8", "replace"))
        else:
            return LIVE
    return seen.hexdigest()[:16]


def with_whole_paths(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions with the whole path of each file that a label names by the end of it.

    One that no file, or more than one, ends with stays as it is.
    """
    urls = {url for each in questions for url in each.named_pages}
    names = whole_paths(urls, settings)
    if not names:
        return list(questions)

    def rename(value: object) -> object:
        if isinstance(value, dict):
            return {
                name: names.get(held, held) if name in _NAMING and isinstance(held, str) else rename(held)
                for name, held in value.items()
            }
        return [rename(each) for each in value] if isinstance(value, list) else value

    return [Question.model_validate(rename(each.model_dump(mode="json"))) for each in questions]


def whole_paths(urls: Collection[str], settings: Settings) -> dict[str, str]:
    """Return the whole path of each of `urls` that exactly one file of the corpora in force ends with."""
    paths = {path for source in settings.sources if source.startswith("corpus:") for path in _paths(source)}
    found = {}
    for url in urls:
        if is_file(url) and url not in paths:
            ends = [path for path in paths if path.endswith(f"/{url}")]
            if len(ends) == 1:
                found[url] = ends[0]
    return found


def _paths(source: str) -> list[str]:
    """Return the path of each file of a corpus."""
    with Catalogue.reading(open_corpus(source.partition(":")[2]).catalogue) as catalogue:
        return list(catalogue.paths())
