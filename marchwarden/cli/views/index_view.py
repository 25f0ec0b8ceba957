"""Indexing as rich renderables: the report of a run, files that failed, corpora. Pure: console.py prints them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from marchwarden.cli.views.safe_text import count, one_line
from marchwarden.cli.views.tables import Figures

if TYPE_CHECKING:
    from rich.console import RenderableType

    from marchwarden.corpus.indexing import IndexReport

# Files that are named; the others are counted. A guess: about a screenful.
MOST_FAILURES = 20
# Reasons for skipping files that are told, and files that are named with each. Guesses.
MOST_REASONS, MOST_NAMED = 8, 4


def indexed_view(report: IndexReport) -> Iterator[RenderableType]:
    """Show the figures of an indexing run, and what was skipped."""
    held = f"{count(report.documents, 'document')} of {count(report.files, 'file')}"
    yield Text(f"{report.name}: {held}")
    parts = {"new": report.added, "changed": report.changed, "gone": report.removed, "as before": report.unchanged}
    parts["not readable"] = report.unreadable
    told = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number) or "no file"
    yield Text(f"{told}, in {report.seconds:.1f} s", style="dim")
    others = f"{report.others:,} of other kinds" if report.others else ""
    links = f"{count(report.links, 'link')}, not followed" if report.links else ""
    if over := ", ".join(filter(None, (others, links))):
        yield Text(f"skipped: {over}", style="dim")
    yield from _skipped(report)
    if report.documents:
        yield Text(f'Ask it: marchwarden ask "…" --source corpus:{report.name}', style="dim")


def _skipped(report: IndexReport) -> Iterator[Text]:
    """Show the reasons for which files were passed over, the most frequent first, each with some of the files."""
    groups: dict[str, list[str]] = {}
    for path, reason in report.skipped.items():
        groups.setdefault(reason, []).append(path)
    frequent = sorted(groups.items(), key=lambda group: -len(group[1]))
    for reason, paths in frequent[:MOST_REASONS]:
        named = ", ".join(one_line(_below(path, report.roots)) for path in paths[:MOST_NAMED])
        more = f" and {len(paths) - MOST_NAMED:,} more" if len(paths) > MOST_NAMED else ""
        yield Text(f"  {one_line(reason)}: {named}{more}", style="dim")
    if len(frequent) > MOST_REASONS or any(len(paths) > MOST_NAMED for _, paths in frequent):
        yield Text("  --json names all", style="dim")


def _below(path: str, roots: Sequence[str]) -> str:
    """Return a path as it reads below the folder that was indexed."""
    root = next((root for root in roots if path.startswith(root.rstrip("/") + "/")), "")
    return path.removeprefix(root).lstrip("/") or path


def failures_view(failed: Mapping[str, str]) -> Iterator[RenderableType]:
    """Show the files that could not be read, with the reasons; paths are made safe to print."""
    if not failed:
        return
    yield Text(f"{count(len(failed), 'file')} could not be read, or only in part:", style="yellow")
    for path, reason in list(failed.items())[:MOST_FAILURES]:
        yield Text(f"  {one_line(path)}: {one_line(reason)}")
    if len(failed) > MOST_FAILURES:
        yield Text(f"  and {len(failed) - MOST_FAILURES:,} more; --json names all", style="dim")


def corpora_view(found: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Show corpora as a table, and the folders that their files are in."""
    rows = [
        (
            each["name"],
            f"{each['documents']:,}",
            f"{each['files']:,}",
            f"{each['bytes'] / 1e6:,.1f}",
            f"{each['engine']}, vectors" if each["vectors"] else each["engine"],
        )
        for each in found
    ]
    yield Figures(("corpus", "documents", "files", "MB", "engine"), rows)
    for each in found:
        for root in each["roots"]:
            yield Text(f"{each['name']}: {one_line(root)}", style="dim")
