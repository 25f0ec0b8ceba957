"""Retracted and superseded pages, recognised by their own words.

Only words of a page about itself count, in its title or on a line of its own near the top. A page about retractions
is not retracted.
"""

from __future__ import annotations

import re

from marchwarden.observations import Standing

_NOUN = (
    r"(?:article|paper|study|page|publication|document|guid(?:e|ance|eline)s?|fact ?sheet|bulletin|standard|version"
    r"|edition|report|notice|statement|recommendations?|advisory|content|draft|preprint|specification|rfc|policy|plan)"
)
_RETRACTED_TITLE = re.compile(
    r"^\W*(?:retracted|withdrawn)(?:\W+(?:article|paper|study|chapter))?\s*[:\]\)–—-]", re.I
)
_NOTE = (
    r"^\W*(?:(?:important|please|editorial|update|archived?|retraction)\W+)?"
    r"(?:(?:note|notice|retraction|warning)\W+)?(?:that\W+)?"
)
_RETRACTED = re.compile(
    rf"{_NOTE}this {_NOUN} (?:has been|was|is) (?:formally |since |now )?"
    r"(?:retracted|withdrawn by (?:the|its) (?:authors?|editors?|journal|publisher))"
    r"|^\W*retracted(?: article)?\s*(?:[:.]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_SUPERSEDED_TITLE = re.compile(
    r"^\W*(?:superseded|archived|obsolete|outdated|rescinded)(?:\W+\w+)?\s*[:\]\)–—-]"
    r"|[\[(](?:superseded|archived|obsolete|outdated|rescinded|withdrawn)[\])]",
    re.IGNORECASE,
)
_SUPERSEDED = re.compile(
    rf"{_NOTE}(?:this|these) (?:[\w-]+ ){{0,3}}?{_NOUN} (?:of [\w ,]{{1,40}} )?"
    r"(?:has|have|is|was|are)(?: been| now| therefore)*"
    r" (?:superseded|replaced|rescinded|withdrawn|archived|obsolete|obsoleted|out[- ]of[- ]date|outdated"
    r"|no longer (?:current|maintained|updated|valid|in force|in effect))"
    r"|^\W*superseded(?: by\b|\s*(?:[:.]|$))"
    rf"|{_NOTE}(?:you are (?:viewing|reading)|this is) an? "
    rf"(?:older|old|archived|outdated|out[- ]of[- ]date|superseded|previous) {_NOUN}",
    re.IGNORECASE | re.MULTILINE,
)
# Characters from the top in which such a notice stands. A guess.
_TOP_CHARS = 700
_QUOTED = re.compile(r"[“\"„«][^“”\"„«»]{0,200}[”\"“»]")


def standing_of(title: str | None, top: str) -> Standing | None:
    """Return what the title or the `top` of the text says of the page itself; None where it still stands."""
    top = _QUOTED.sub(" ", top[:_TOP_CHARS])
    if _RETRACTED_TITLE.search(title or "") or _RETRACTED.search(top):
        return "retracted"
    if _SUPERSEDED_TITLE.search(title or "") or _SUPERSEDED.search(top):
        return "superseded"
    return None


def standing_by_status(status: str) -> Standing | None:
    """Return the meaning of a status in structured data (schema.org `creativeWorkStatus`); None for a usual one."""
    if re.search(r"retracted", status, re.IGNORECASE):
        return "retracted"
    if re.search(r"superseded|obsolete|archived|withdrawn|replaced", status, re.IGNORECASE):
        return "superseded"
    return None
