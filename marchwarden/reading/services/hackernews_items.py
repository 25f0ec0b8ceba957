"""A story of Hacker News with its comments (https://hn.algolia.com/api, `items`) → a Page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.passages import with_text
from marchwarden.reading.text_blocks import Block

# Comments that are read, in the order of the discussion. A guess: the largest discussions have thousands.
_MOST_COMMENTS = 200
# Answers to answers that are followed. A guess: deeper ones are about each other.
_MOST_LEVELS = 6


def read_hackernews(page: Page, body: bytes) -> Page | Failure:
    """Return the page of a discussion: the story's own text, then the comments under the names of their authors."""
    try:
        item = json.loads(body)
    except (ValueError, RecursionError):
        item = None
    if not isinstance(item, dict) or "children" not in item:
        return Failure(FailureKind.SERVICE_DOWN, "Hacker News did not answer with a discussion")
    title = item.get("title")
    blocks = [Block("heading", " ".join(title.split()))] if isinstance(title, str) and title.strip() else []
    blocks += _text(item.get("text"))
    for number, (comment, level) in enumerate(_comments(item, 1)):
        if number == _MOST_COMMENTS:
            break
        author = comment.get("author")
        said = _text(comment.get("text"))
        # The site's own anchor for a comment is its number.
        place = str(comment["id"]) if isinstance(comment.get("id"), int) else None
        if said:
            blocks.append(Block("heading", f"{'Comment' if level == 1 else 'Reply'} by {author or 'a deleted user'}"))
            blocks += [replace(block, places=((0, place),)) if place else block for block in said]
    page = with_text(page, tuple(blocks))
    if not any(block.kind != "heading" for block in blocks):
        return Failure(FailureKind.NO_TEXT, "the discussion holds no text")
    made = as_date(day) if isinstance(day := item.get("created_at"), str) else None
    return replace(
        page,
        title=title if isinstance(title, str) else None,
        published=made,
        language="en",
        source="hackernews",
        work=Work(venue="Hacker News", year=made.year if made else None),
    )


def _comments(item: Mapping[str, Any], level: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    children = item.get("children")
    for child in children if isinstance(children, list) else []:
        if isinstance(child, dict):
            yield child, level
            if level < _MOST_LEVELS:
                yield from _comments(child, level + 1)


def _text(markup: object) -> list[Block]:
    if not isinstance(markup, str) or not markup.strip():
        return []
    tree = parse(f"<html><body><main>{markup}</main></body></html>")
    if tree is None:
        return []
    prepare(tree)
    return region_blocks(tree)
