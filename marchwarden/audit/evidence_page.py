"""A call as one HTML page that needs nothing else: the answer, and each quote marked in the text of its stored page.

The page has no script and makes no request: its policy lets a browser load nothing and use this style sheet alone.
It follows from the evidence alone, so that a bundle can be exported again, byte for byte.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from marchwarden.audit.verdict import Verdict
from marchwarden.contract import (
    NON_TEXT_SOURCE,
    Citation,
    ResearchResult,
    confidence_band,
    markers_of,
    next_step,
)
from marchwarden.errors import TraceError
from marchwarden.observations import without_place
from marchwarden.server.markdown import FROZEN_WEB
from marchwarden.server.result_words import (
    answer_lines,
    authors_in_words,
    confidence_parts,
    counted,
    discovery_head,
    discovery_kind,
    in_words,
    outcome_in_words,
    reason_to_ask,
)
from marchwarden.store.check_record import STATE_WORDS
from marchwarden.text.escaping import html_templates, web_address
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.reader import Trace
from marchwarden.trace.standalone_verifier import Evidence, pages_of, picks_of
from marchwarden.trace.timeline import Entry, timeline

# Words at each end of a quote that a link names: enough to tell it from the rest of a page. A guess; browsers look
# for the start and the end, and take what is between.
_END_WORDS = 6
# Words up to which a quote is named whole. A guess.
_WHOLE_WORDS = 16


@dataclass(frozen=True)
class Piece:
    """A part of a page's text, between two places where a quote begins or ends."""

    text: str
    begins: list[int]
    """Numbers of the quotes that begin here."""
    ends: list[int]
    """Numbers of the quotes that end here."""
    is_quoted: bool


@dataclass(frozen=True)
class Quote:
    number: int
    citation: Citation
    live: str | None
    """Address of the live page at the quote; None where the page has no address on the web."""
    place: tuple[int, int] | None
    """Characters of the stored text; None where the quote is not found in it."""


@dataclass(frozen=True)
class Source:
    """A page that is quoted, with its stored text."""

    locator: str
    address: str | None
    """Address of the live page; None where it is not on the web."""
    title: str
    site: str
    read: str
    """Time at which the page was read, in UTC; empty where it is not known."""
    archive: str | None
    """Address of the page at the Internet Archive, as near as there is to the time at which it was read."""
    text_hash: str | None
    quotes: list[Quote]
    pieces: list[Piece]
    """The stored text; none where it is missing or damaged."""


@dataclass(frozen=True)
class Checked:
    """Finding of a later look at the cited page on a quote."""

    day: str
    state: str
    """State in words: "still said", "gone"."""
    detail: str
    now: str
    """Sentence that took the quote's place; empty where there is none."""


def evidence_page(evidence: Evidence, check: dict[str, Any] | None = None) -> bytes:
    """Return the page as UTF-8; `check`: the latest check of its citations, as it is kept beside the trace.

    A check is no part of the evidence: a page for others is made without it. Raises TraceError where the trace has no
    result, or is damaged beyond showing.
    """
    lines = [line for each in evidence.trace.split(b"\n") if (line := verifier.parse(each))]
    told = next((line.get("result") for line in reversed(lines) if line.get("action") == "result"), None)
    if told is None:
        raise TraceError("the trace has no result to show", hint="`marchwarden replay` shows how the call ended.")
    # The same from a trace and from its bundle, and on every machine: its signature is checked by `verify` alone.
    bare = replace(evidence, files={}, trace_id=None, signature=None)
    try:
        result = ResearchResult.model_validate(told)
        checked: dict[int, Checked] = {}
        if check:
            # A kept check is JSON that nothing has validated.
            for each in check["citations"]:
                if isinstance(each, dict) and isinstance(number := each.get("number"), int):
                    state = str(each.get("state"))
                    said = [str(each.get(name) or "") for name in ("detail", "new_sentence")]
                    checked[number] = Checked(str(check["checked"])[:10], STATE_WORDS.get(state, state), *said)
        body = _rendered(bare, lines, result, checked)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TraceError(
            f"the trace is damaged: {type(error).__name__}", hint="`marchwarden verify` says where."
        ) from error
    return body.encode("utf-8", "replace")


def _rendered(
    evidence: Evidence, lines: list[dict[str, Any]], result: ResearchResult, checked: dict[int, Checked]
) -> str:
    from markupsafe import Markup

    templates = html_templates("marchwarden.audit")
    # The browser compares the hash with what stands in the page, and takes no other style.
    css = (Path(__file__).parent / "templates" / "evidence.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    blocks = [(is_list, list(found)) for is_list, found in groupby(answer_lines(result.answer), lambda x: x.is_item)]
    is_frozen = any(citation.source == "snapshot" for citation in result.citations)
    return templates.get_template("evidence.html.jinja").render(
        css=Markup(css),
        css_digest=digest,
        start={name: lines[0].get(name) or "" for name in ("question", "context", "source", "version", "timestamp")},
        ended=lines[-1].get("timestamp", ""),
        result=result,
        blocks=blocks,
        sources=list(_sources(evidence, lines, result)),
        marked=set(markers_of(result.answer)),
        titles={n: each.title or each.locator for n, each in enumerate(result.citations, start=1)},
        verdict=Verdict.of(verifier.check(evidence)),
        checked=checked,
        steps=timeline(Trace(Path(f"{result.trace_id}.jsonl"), lines)),
        steps_of=_steps_of_researchers(evidence, lines),
        frozen=FROZEN_WEB.strip("*") if is_frozen else None,
        band=confidence_band(result.confidence),
        factors=confidence_parts(result.confidence_factors, result.citations),
        link=web_address,
        next_step=next_step,
        counted=counted,
        authors_in_words=authors_in_words,
        in_words=in_words,
        discovery_head=discovery_head,
        discovery_kind=discovery_kind,
        reason_to_ask=reason_to_ask,
        outcome_in_words=outcome_in_words,
        non_text=NON_TEXT_SOURCE,
    )


def _steps_of_researchers(evidence: Evidence, lines: list[dict[str, Any]]) -> dict[str, list[Entry]]:
    """Return the steps of each researcher of an investigation by the id of its trace, where that was kept."""
    found = {}
    for kept in lines:
        body = evidence.get(kept["trace_hash"]) if kept.get("action") == "keep_trace" else None
        if body is None or verifier.digest(body) != kept["trace_hash"]:
            continue
        own = [line for each in body.split(b"\n") if (line := verifier.parse(each))]
        # Another server wrote it: one that can't be read is left out, and the page is shown all the same.
        with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            found[kept["trace_id"]] = timeline(Trace(Path(f"{kept['trace_id']}.jsonl"), own))
    return found


def _sources(evidence: Evidence, lines: list[dict[str, Any]], result: ResearchResult) -> Iterator[Source]:
    """Yield the quoted pages in the order of their first quotes."""
    found: dict[tuple[str, str | None], list[tuple[Quote, dict[str, Any]]]] = {}
    texts: dict[str, str] = {}
    for number, citation in enumerate(result.citations, start=1):
        page, place = _place(evidence, lines, citation, texts)
        text_hash = page.get("text_hash")
        exact = texts[text_hash][slice(*place)] if place and text_hash else citation.raw_excerpt
        address = web_address(citation.locator)
        live = None if address is None else _at_quote(address, exact)
        key = (without_place(citation.locator), text_hash)
        found.setdefault(key, []).append((Quote(number, citation, live, place), page))
    for (locator, text_hash), quoted in found.items():
        quotes = [each for each, _ in quoted]
        page, first = quoted[0][1], quotes[0].citation
        address, read = web_address(locator), str(page.get("timestamp", ""))
        stamp = "".join(digit for digit in read[:19] if digit.isdigit())
        yield Source(
            locator=locator,
            address=address,
            title=first.title or locator,
            site=(urlsplit(address).hostname or "").removeprefix("www.") if address else "a file",
            read=read[:16].replace("T", " "),
            archive=f"https://web.archive.org/web/{stamp or '*'}/{address}" if address else None,
            text_hash=text_hash,
            quotes=quotes,
            pieces=_pieces(texts[text_hash], quotes) if text_hash in texts else [],
        )


def _place(
    evidence: Evidence, lines: list[dict[str, Any]], citation: Citation, texts: dict[str, str]
) -> tuple[dict[str, Any], tuple[int, int] | None]:
    """Return the fetch that a citation is of, and the place of its quote. Adds the text to `texts` by its hash."""
    pages = pages_of(lines, citation.model_dump(mode="json"))
    for page in pages:
        name = page.get("text_hash")
        if name is None:
            continue
        if name not in texts:
            body = evidence.get(name)
            # Only the text that was read is shown as the text that was read.
            if body is None or verifier.digest(body) != name:
                continue
            texts[name] = body.decode("utf-8")
        for pick in picks_of(lines, page, citation.raw_excerpt):
            start, end = pick["start"], pick["end"]
            if verifier.cut_excerpt(texts[name][start:end]) == citation.raw_excerpt:
                return page, (start, end)
    return pages[0] if pages else {}, None


def _pieces(text: str, quotes: Sequence[Quote]) -> list[Piece]:
    """Return a text in pieces, cut where a quote begins or ends: quotes may overlap."""
    places = [(each.number, *each.place) for each in quotes if each.place]
    cuts = sorted({0, len(text), *(cut for _, start, end in places for cut in (start, end))})
    return [
        Piece(
            text[here:there],
            begins=[number for number, start, _ in places if start == here],
            ends=[number for number, _, end in places if end == there],
            is_quoted=any(start <= here and there <= end for _, start, end in places),
        )
        for here, there in pairwise(cuts)
    ]


def _at_quote(address: str, exact: str) -> str:
    """Return an address with a text fragment, by which browsers find a quote on the live page and mark it."""
    lines = [line.split() for line in exact.splitlines() if line.split()]
    if not lines:
        return address
    words = [word for line in lines for word in line]
    if len(lines) == 1 and len(words) <= _WHOLE_WORDS:
        parts = [words]
    else:
        # Neither end may reach over the end of a paragraph: browsers look for each within one block.
        parts = [lines[0][:_END_WORDS], lines[-1][-_END_WORDS:]]
    # `-` and `,` have a meaning of their own in text fragments.
    named = ",".join(quote(" ".join(part), safe="", errors="replace").replace("-", "%2D") for part in parts)
    return f"{address}{'' if '#' in address else '#'}:~:text={named}"
