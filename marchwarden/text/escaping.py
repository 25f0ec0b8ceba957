"""Text from outside (pages, models, files, services) made safe to show: one function for each medium.

What is shown is never markup, a link, an image or a command. What is kept (a result, a trace, a page's text) stays as
it is: each function is for the moment of showing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from marchwarden.observations import UNSAFE

if TYPE_CHECKING:
    from jinja2 import Environment

# Characters that are shown as escapes. Beside those that no text needs: invisible ones that can smuggle text past a
# reader (operators, variation selectors but after the ideographs that have variants), and full stops that a browser
# takes for a dot in a host (UTS 46), between Latin letters, where no language writes them.
_HIDDEN = re.compile(
    f"{UNSAFE.pattern}|[\u180e\u2060-\u206f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
    "|(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]"
    "|(?<=[A-Za-z0-9])[\u2024\uff0e\uff61](?=[A-Za-z0-9])"
)
# One of them, whatever stands around it: looking for that first is four times as fast where there is none
# (evals/benchmarks/server_share.py: a third of the time of an answer's Markdown).
_PERHAPS_HIDDEN = re.compile(
    f"{UNSAFE.pattern[:-1]}\u180e\u2024\u2060-\u206f\uff0e\uff61\U000e0080-\U000e00ff\U000e0100-\U000e0fff]"
)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# The terminal


def visible(text: str) -> str:
    """Return `text` with unsafe characters as escapes (`\\x1b`). Line ends become newlines; tabs become spaces."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return _HIDDEN.sub(_escaped, text) if _PERHAPS_HIDDEN.search(text) else text


def one_line(text: str, limit: int | None = None) -> str:
    """Return `text` made visible on a single line, cut with `…` where it is longer than `limit` characters."""
    line = " ".join(visible(text).split())
    if limit is None or len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


# Markdown

# Characters that could make markup, a link, an image, HTML, a formula or attributes, and those by which a bare
# address would become a link. As few as can be, since models and people also read the text as it is: `R&D`,
# `file_name`, `C#` and `Eureka!` make nothing. Each alternative begins with its character, and what must stand before
# it follows: so `re` passes over all others at once, which is five times as fast.
_SPECIAL = re.compile(
    "|".join(re.escape(character) for character in "\\`*[]<>|~${}")
    + r"|_(?<![A-Za-z0-9]_)|_(?![A-Za-z0-9])|#(?<!\w#)|!(?=\[)|&(?=#?\w+;)"
    r"|:(?<=[A-Za-z\]]:)(?=\S)|:(?<=\]:)|\.(?<=[Ww]{3}\.)|@(?=\w)"
)
# A line of dashes or equals signs would make a heading of the line above.
_RULE = re.compile(r"^( *)(?=(?:- *){2,}$|=+ *$)", re.MULTILINE)
# A marker that no parenthesis follows: `[1](address)` would be a link.
_MARKER = re.compile(r"\\\[(\d{1,3})\\\](?!\()")


def markdown_text(text: str, *, markers: bool = False) -> str:
    """Return `text` as Markdown that shows it, its lists still lists. With `markers`, those of citations (`[1]`) stay
    as they are."""
    escaped = _RULE.sub(r"\1\\", _SPECIAL.sub(r"\\\g<0>", visible(text)))
    return _MARKER.sub(r"[\1]", escaped) if markers else escaped


def markdown_line(text: str) -> str:
    """Return `text` as Markdown that shows it on a single line."""
    return " ".join(markdown_text(one_line(text)).split())


def markdown_address(locator: str) -> str:
    """Return a web address as a link that shows it; any other locator as text."""
    address = web_address(locator)
    return f"<{address}>" if address else markdown_line(locator)


# HTML


def web_address(locator: str | None) -> str | None:
    """Return a locator as an address that a link may lead to; None for anything but an address of the web.

    Characters that could end a link or show another address are percent-encoded, and a host's full stops are dots.
    """
    if locator is None or not re.match(r"https?://", locator, re.IGNORECASE):
        return None
    try:
        parts = urlsplit(locator)
        host = parts.hostname
    except ValueError:
        return None
    # `https://bank.example@evil.example/` and `https://evil.example\@bank.example/` show another host than they have.
    if not host or parts.username is not None or re.search(r"[\\%\s]", parts.netloc) or UNSAFE.search(parts.netloc):
        return None
    netloc = re.sub("[\u2024\u3002\uff0e\uff61]", ".", parts.netloc)
    address = locator.replace(parts.netloc, netloc, 1)
    return re.sub(
        rf"[\s\x00-\x20\"<>\\^`{{|}}]|{_HIDDEN.pattern}",
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")),
        address,
    )


def html_templates(package: str) -> Environment:
    """Return the templates of a package, which escape whatever is put in and make its unsafe characters visible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


# JSON


def json_text(text: str) -> str:
    """Return JSON text with unsafe characters of its strings as JSON's own escapes: it reads back as the same, and
    shows as nothing else. A lone surrogate, which UTF-8 lacks, becomes `?`."""

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        if 0xD800 <= code < 0xE000:
            return "?"
        if code < 0x10000:
            return f"\\u{code:04x}"
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"

    return UNSAFE.sub(escape, text)
