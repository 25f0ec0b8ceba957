"""Rules of a robots.txt for one crawler (RFC 9309): groups, the longest matching rule, Crawl-delay. No I/O.

A URL is matched as it is sent, percent-encoded. The standard's text and its reference implementation differ in the
escapes of characters that need none (`%7E` for `~`). The stricter reading counts: a Disallow means both spellings, an
Allow only its own.

Own code beside urllib.robotparser: that takes the first matching rule instead of the longest, and knows no `*` and
`$`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

# Bytes of a file that are read; the rest is ignored (section 2.5: at least 500 kibibytes).
MOST_BYTES = 500 * 1024

_TOKEN = re.compile(r"[A-Za-z_-]+")
# Misspellings that Google's parser accepts as well (github.com/google/robotstxt).
_DISALLOW = re.compile(r"diss?all[ao]w|diss?alow|diasllow")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6})?")

_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_NEEDS_ESCAPE = re.compile(rb'[\x00-\x20"<>\\^`{|}\[\]\x7f]')
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

Key: TypeAlias = Literal["agent", "allow", "disallow", "delay", "other"]


@dataclass(frozen=True)
class _Rule:
    allows: bool
    pattern: bytes
    """The pattern as written, with escapes in capitals and characters beyond ASCII escaped."""
    pieces: tuple[bytes, ...]
    """Parts between the `*`, to be found one after the other, the first at the start."""
    anchored: bool
    """True where the last piece has to be the end of the path (`$`)."""

    def matches(self, path: bytes) -> bool:
        # The earliest place of each piece is as good as any, so nothing is tried twice and no pattern takes long.
        first, *others = self.pieces
        if not path.startswith(first):
            return False
        if not others:
            return not self.anchored or path == first
        at, last = len(first), others.pop()
        for piece in others:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return path.endswith(last) and len(path) - len(last) >= at if self.anchored else path.find(last, at) >= 0


@dataclass(frozen=True)
class RobotsRules:
    rules: tuple[_Rule, ...] = ()
    crawl_delay: float = 0.0
    """Seconds between two requests, as the file asks for; not in the standard, but meant."""

    def allows(self, url: str) -> bool:
        """Return whether the rule with the longest pattern allows `url`; an Allow wins a tie (section 2.2.2)."""
        parts = urlsplit(url)
        octets = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        path = _capitalise_escapes(octets.encode("utf-8", "surrogatepass"))
        # `*` and `$` are escaped, because those of a pattern that stand for themselves are.
        path = path.replace(b"*", b"%2A").replace(b"$", b"%24")
        if path == b"/robots.txt":
            return True
        plain = _undo_needless_escapes(path)
        matching = [rule for rule in self.rules if rule.matches(path if rule.allows else plain)]
        return max(matching, key=lambda rule: (len(rule.pattern), rule.allows)).allows if matching else True


def parse(body: bytes, token: str) -> RobotsRules:
    """Return the rules for the crawler with that product token: its own groups together, else those for everyone."""
    own, everyone = _Group(), _Group()
    addressed: list[_Group] = []
    open_to_agents = False
    for key, value in _records(body):
        if key == "agent":
            addressed = addressed if open_to_agents else []
            open_to_agents = True
            if value == "*" or value.startswith(("* ", "*\t")):
                addressed.append(everyone)
            elif (named := _TOKEN.match(value)) and named[0].casefold() == token.casefold():
                addressed.append(own)
                own.is_there = True
            continue
        # Other records don't end the list of agents (section 2.2.4: they must not interfere with the others).
        open_to_agents = open_to_agents and key in ("delay", "other")
        for group in addressed:
            group.take(key, value)
    group = own if own.is_there else everyone
    return RobotsRules(tuple(group.rules), group.delay)


class _Group:
    def __init__(self) -> None:
        self.is_there = False
        self.rules: list[_Rule] = []
        self.delay = 0.0

    def take(self, key: Key, value: str) -> None:
        if key in ("allow", "disallow") and value:  # an empty one forbids nothing, but ends the list of agents
            octets = value.encode("utf-8", "surrogateescape")
            pattern = _NOT_ASCII.sub(_escape, _capitalise_escapes(octets))
            anchored = pattern.endswith(b"$")
            sought = pattern[:-1] if anchored else pattern
            sought = sought.replace(b"$", b"%24")  # stands for itself anywhere but at the end
            if key == "disallow":
                sought = _undo_needless_escapes(sought)
            pieces = re.sub(rb"\*+", b"*", sought).split(b"*")
            self.rules.append(_Rule(key == "allow", pattern, tuple(pieces), anchored))
        elif key == "delay" and _NUMBER.fullmatch(value):
            self.delay = max(self.delay, float(value))


def _records(body: bytes) -> Iterator[tuple[Key, str]]:
    text = body[:MOST_BYTES].decode("utf-8-sig", "surrogateescape")
    for line in re.split(r"[\r\n]", text):
        name, colon, value = line.partition("#")[0].partition(":")
        if not colon:  # "Disallow /a": forgotten, but plain
            name, _, value = name.strip().partition(" ")
        name = name.strip().lower()
        key: Key = "other"
        if name in ("user-agent", "useragent", "user agent"):
            key = "agent"
        elif name == "allow":
            key = "allow"
        elif _DISALLOW.fullmatch(name):
            key = "disallow"
        elif name in ("crawl-delay", "crawldelay"):
            key = "delay"
        yield key, value.strip()


def _capitalise_escapes(octets: bytes) -> bytes:
    return _NEEDS_ESCAPE.sub(_escape, _ESCAPE.sub(lambda found: found[0].upper(), octets))


def _escape(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % ord(found[0])


def _undo_needless_escapes(octets: bytes) -> bytes:
    def plain(found: re.Match[bytes]) -> bytes:
        octet = int(found[1], 16)
        return bytes([octet]) if octet in _UNRESERVED else found[0]

    return _ESCAPE.sub(plain, octets)
