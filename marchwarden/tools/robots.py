"""What robots.txt lets us read (RFC 9309), asked once an origin."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from marchwarden.observations import Failure, FailureKind
from marchwarden.tools.addresses import origin_of

if TYPE_CHECKING:
    from protego import Protego

PRODUCT_TOKEN = "marchwarden"
"""The name by which robots.txt addresses us."""

_MOST_BYTES = 500 * 1024  # RFC 9309 section 2.5: at least 500 kibibytes are parsed


@dataclass(frozen=True)
class RobotsFile:
    """An origin's answer for /robots.txt, redirects followed."""

    status: int
    body: bytes = b""


ReadRobots: TypeAlias = Callable[[str], Awaitable["RobotsFile | Failure"]]


class Robots:
    """Rules of the origins that were asked about, kept for as long as it lives."""

    def __init__(self, read: ReadRobots) -> None:
        """`read` gets a robots.txt URL; it returns a Failure where no answer came."""
        self._read = read
        self._rules: dict[str, Protego | Failure | None] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def refusal(self, url: str) -> Failure | None:
        """Why `url`, normalised, may not be read; None where it may.

        An origin whose robots.txt can't be reached is closed as a whole (section 2.3.1.4): the failure then says
        what happened to it, and the next call asks again.
        """
        origin = origin_of(url)
        async with self._asking.setdefault(origin, asyncio.Lock()):
            if origin not in self._rules:
                answer = await self._read(f"{origin}/robots.txt")
                if isinstance(answer, Failure):
                    return answer
                self._rules[origin] = rules_of(answer)
        rules = self._rules[origin]
        if rules is None or isinstance(rules, Failure):
            return rules
        if rules.can_fetch(url, PRODUCT_TOKEN):
            return None
        return Failure(FailureKind.ROBOTS_DISALLOWED, f"robots.txt of {origin} does not let us read this page")


def rules_of(answer: RobotsFile) -> Protego | Failure | None:
    """The rules in an answer: None where everything is allowed (a status of 4xx), a Failure where nothing (5xx)."""
    if answer.status >= 500:
        detail = f"robots.txt answers with HTTP status {answer.status}, so nothing there may be read"
        return Failure(FailureKind.ROBOTS_DISALLOWED, detail)
    if not 200 <= answer.status < 300:
        return None
    from protego import Protego

    return Protego.parse(answer.body[:_MOST_BYTES].decode("utf-8-sig", "replace"))
