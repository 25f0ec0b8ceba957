"""Answers to a question of Stack Exchange (API 2.3, filter `withbody`) → a Page, the answer with most votes first."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timezone
from typing import Any
from urllib.parse import unquote, urlsplit

from marchwarden.observations import Failure, FailureKind, Page, Work
from marchwarden.reading.html.main_text import parse, region_blocks
from marchwarden.reading.html.notation.prepare import prepare
from marchwarden.reading.passages import with_text
from marchwarden.reading.text_blocks import Block

# Votes below which an answer is no evidence, unless the asker has accepted it. A guess.
_MIN_SCORE = 0
# Answers that are read, in the order of their votes. A guess: later ones repeat or have few votes.
MOST_ANSWERS = 10
_SITES = {
    "stackoverflow.com": "Stack Overflow",
    "superuser.com": "Super User",
    "serverfault.com": "Server Fault",
    "askubuntu.com": "Ask Ubuntu",
    "mathoverflow.net": "MathOverflow",
}


def read_stackexchange(page: Page, body: bytes) -> Page | Failure:
    """Return the page of a question's answers: author, score and licence above each, its id as place."""
    try:
        items = json.loads(body)["items"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return Failure(FailureKind.SERVICE_DOWN, "Stack Exchange did not answer with answers")
    if not isinstance(items, list):
        return Failure(FailureKind.SERVICE_DOWN, "Stack Exchange did not answer with answers")
    answers = [
        each
        for each in items
        if isinstance(each, dict)
        and (each.get("is_accepted") is True or (isinstance(score := each.get("score"), int) and score >= _MIN_SCORE))
    ][:MOST_ANSWERS]
    if not answers:
        return Failure(FailureKind.NO_TEXT, "the question has no answer that was voted for")
    # The API's answers lack the question's title: its address has it, without its signs.
    found = re.match(r"/questions/\d+/([^/]+)", urlsplit(page.url).path)
    words = unquote(found[1]).replace("-", " ").strip() if found else ""
    title = words[:1].upper() + words[1:] or None
    host = urlsplit(page.url).hostname or ""
    name = host.removesuffix(".stackexchange.com")
    site = _SITES.get(host) or f"{name[:1].upper()}{name[1:]} Stack Exchange"
    blocks = [
        *([Block("heading", title)] if title else []),
        *(block for each in answers for block in _blocks(each)),
    ]
    page = with_text(page, tuple(blocks))
    if not page.passages:
        return Failure(FailureKind.NO_TEXT, "the answers hold no text")
    made = [day for each in answers if (day := _day(each.get("creation_date")))]
    changed = [day for each in answers if (day := _day(each.get("last_edit_date")))]
    licences = sorted({licence for each in answers if isinstance(licence := each.get("content_license"), str)})
    return replace(
        page,
        title=title,
        published=min(made, default=None),
        modified=max((*made, *changed), default=None),
        source="stackexchange",
        work=Work(
            authors=tuple(dict.fromkeys(filter(None, map(_author, answers)))),
            venue=", ".join((site, *licences)),
            year=min(made).year if made else None,
        ),
    )


def _blocks(answer: Mapping[str, Any]) -> Iterator[Block]:
    said = [f"Answer by {_author(answer) or 'a deleted user'}", f"score {answer.get('score')}"]
    if answer.get("is_accepted") is True:
        said.append("accepted")
    if isinstance(licence := answer.get("content_license"), str):
        said.append(licence)
    markup, number = answer.get("body"), answer.get("answer_id")
    tree = parse(f"<html><body><main>{markup}</main></body></html>") if isinstance(markup, str) else None
    if tree is not None:
        prepare(tree)
        yield Block("heading", " · ".join(said))
        # The site's own anchor for an answer is its number.
        for block in region_blocks(tree):
            yield replace(block, places=((0, str(number)),)) if isinstance(number, int) else block


def _author(answer: Mapping[str, Any]) -> str | None:
    owner = answer.get("owner")
    name = owner.get("display_name") if isinstance(owner, dict) else None
    return html.unescape(name) if isinstance(name, str) else None


def _day(seconds: object) -> date | None:
    if not isinstance(seconds, int) or not 0 < seconds < 1e11:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).date()
