"""The pages that labels can be about: those of a frozen web and of corpora are known, those of live sources not.

A label names a file of a corpus by its path, or by the end of it: `notes/garden.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence

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


def known_pages(settings: Settings) -> set[str] | None:
    """Return the addresses of all pages that the sources in force hold; None where one of them is live.

    Raises ConfigurationError where a corpus or the frozen web is not there.
    """
    known: set[str] = set()
    for source in settings.sources:
        if source == "snapshot":
            known |= set(FrozenWeb.load(settings.frozen_web).pages)
        elif source.startswith("corpus:"):
            known |= {address(path) for path, _ in _files(source)}
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
            seen.update("".join(f"{path}\0{digest}\n" for path, digest in _files(source)).encode("utf-8", "replace"))
        else:
            return LIVE
    return seen.hexdigest()[:16]


def with_whole_paths(questions: Sequence[Question], settings: Settings) -> list[Question]:
    """Return the questions with the whole path of each file that a label names by the end of it.

    One that no file, or more than one, ends with stays as it is.
    """
    paths = [path for source in settings.sources if source.startswith("corpus:") for path, _ in _files(source)]
    if not paths:
        return list(questions)

    def whole(url: str) -> str:
        found = [path for path in paths if path.endswith(f"/{url}")] if is_file(url) and url not in paths else []
        return found[0] if len(found) == 1 else url

    return [_renamed(each, {url: whole(url) for url in each.pages}) for each in questions]


def _renamed(question: Question, names: dict[str, str]) -> Question:
    """Return the question with other addresses of its pages."""

    def rename(value: object) -> object:
        if isinstance(value, dict):
            return {
                name: names.get(held, held) if name == "url" and isinstance(held, str) else rename(held)
                for name, held in value.items()
            }
        return [rename(each) for each in value] if isinstance(value, list) else value

    return Question.model_validate(rename(question.model_dump(mode="json")))


def _files(source: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the hash of each file of a corpus."""
    with Catalogue.reading(open_corpus(source.partition(":")[2]).catalogue) as catalogue:
        for path in catalogue.paths():
            record = catalogue.file(path)
            yield path, record.hash if record else ""
