"""A ResearchResult as a file: Markdown for people, JSON for machines."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.cli.plain import count, one_line, visible, word
from marchwarden.cli.result_view import band
from marchwarden.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marchwarden.contract import Citation, ResearchResult

# What would be markup, a link, an image or HTML in Markdown is text here.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!&])")
_RULE = re.compile(r"^(\s*)(?=(-\s*){2,}$|=+\s*$)", re.MULTILINE)
_MARKER = re.compile(r"\\\[(\d{1,3})\\\]")


def write_report(result: ResearchResult, question: str, path: Path) -> None:
    """Write `result` to `path`, whole or not at all; `.json` gives JSON, any other name Markdown.

    Raises StorageError where the folder can't be written.
    """
    as_json = path.suffix.lower() == ".json"
    text = result.model_dump_json(indent=2) + "\n" if as_json else markdown(result, question)
    _replace(path, text.encode("utf-8", "replace"))


def _replace(path: Path, body: bytes) -> None:
    """Links are followed; a pipe or a device is written into, never replaced."""
    temporary: str | None = None
    try:
        path = path.resolve()
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(body)
            return
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "wb") as file:
            file.write(body)
        _usual_permissions(temporary)
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        if temporary is not None:
            with suppress(OSError):
                Path(temporary).unlink()
        reason = error.strerror or type(error).__name__
        raise StorageError(f"{path} can't be written: {reason}", hint="Choose another --output.") from error


def _usual_permissions(path: str) -> None:
    """mkstemp's file is for its owner alone; a report gets what any new file would get."""
    mask = os.umask(0)
    os.umask(mask)
    Path(path).chmod(0o666 & ~mask)


def markdown(result: ResearchResult, question: str) -> str:
    """The result as a Markdown document; what came from pages and models is escaped, the `[n]` are kept."""
    return "\n".join(_document(result, question)) + "\n"


def _document(result: ResearchResult, question: str) -> Iterator[str]:
    yield f"# {_line(question)}"
    yield "\n" + _MARKER.sub(r"[\1]", _text(result.answer))
    yield f"\nConfidence: {result.confidence:.2f} ({band(result.confidence)})"
    if result.citations:
        yield "\n## Citations"
    for number, citation in enumerate(result.citations, 1):
        yield from _citation(number, citation)
    yield from _list(
        "Gaps", [f"**{_line(gap.topic)}** ({word(gap.category)}): {_line(gap.detail)}" for gap in result.gaps]
    )
    yield from _list(
        "Discoveries",
        [f"**{_line(each.query)}** ({word(each.type)}): {_line(each.reason)}" for each in result.discovery_events],
    )
    yield from _list(
        "Open questions",
        [
            f"**{_line(each.question)}** ({word(each.priority)}): {_line(each.context)}"
            for each in result.open_questions
        ],
    )
    yield from _list("About this answer", _about(result))


def _citation(number: int, citation: Citation) -> Iterator[str]:
    title = f"**{_line(citation.title)}**, " if citation.title else ""
    published = f" ({citation.published})" if citation.published else ""
    yield f"\n[{number}] {title}{_line(citation.locator)}{published}"
    yield "\n> " + _text(citation.raw_excerpt).replace("\n", "\n> ")
    if citation.content_hash:
        yield f"\n`{citation.content_hash}`"


def _about(result: ResearchResult) -> list[str]:
    factors, cost = result.confidence_factors, result.cost_metadata
    return [
        f"{count(factors.num_corroborating_sources, 'corroborating source')}, authority"
        f" {word(factors.source_authority)}, recency {word(factors.recency or 'unknown')}",
        "The sources contradict each other" if factors.contradiction_detected else "No contradiction found",
        "A budget ran out" if factors.budget_exhausted else "Within budget",
        f"{count(cost.tokens_used, 'token')}, {count(cost.iterations_run, 'iteration')}, {cost.wall_time_sec:.1f} s,"
        f" model {_line(cost.model_id)}",
        f"Trace {_line(result.trace_id)}",
    ]


def _list(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield f"\n## {title}\n"
        yield from (f"- {item}" for item in items)


def _text(text: str) -> str:
    """Lists stay lists; lines of dashes would make headings of what is above them."""
    return _RULE.sub(r"\1\\", _SPECIAL.sub(r"\\\1", visible(text)))


def _line(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text))
