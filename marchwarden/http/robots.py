"""Permission by robots.txt (RFC 9309), asked for once an origin."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from marchwarden.http.addresses import origin_of
from marchwarden.http.robots_rules import RobotsRules, parse
from marchwarden.observations import Failure, FailureKind

# The name by which robots.txt addresses us.
PRODUCT_TOKEN = "marchwarden"

# Seconds for which an answer counts (section 2.4: 24 hours at most).
SECONDS_KEPT = 24 * 3600.0


@dataclass(frozen=True)
class RobotsFile:
    """An origin's answer for /robots.txt, redirects followed."""

    status: int
    body: bytes = b""


AllowsHost: TypeAlias = Callable[[str], bool]
ReadRobots: TypeAlias = Callable[[str, AllowsHost], Awaitable["RobotsFile | Failure"]]


class Robots:
    """Rules of the origins that were asked about, each kept for a day."""

    def __init__(self, read: ReadRobots, *, clock: Callable[[], float] = time.monotonic) -> None:
        """`read` gets a robots.txt URL and a rule for the hosts that a redirect may lead to.

        It returns a Failure where no answer came. `clock` counts seconds.
        """
        self._read = read
        self._clock = clock
        self._known: dict[str, tuple[float, RobotsRules | Failure]] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def refusal(self, url: str, allows: AllowsHost = lambda host: True) -> Failure | None:
        """Return the failure of a normalised `url` that may not be read; None where it may be read.

        An origin whose robots.txt can't be reached is closed as a whole (section 2.3.1.4). The failure then says
        why it could not be reached, and the next call asks again.
        """
        origin = origin_of(url)
        async with self._asking.setdefault(origin, asyncio.Lock()):
            # A failure is no answer: it isn't kept, and the next call asks again.
            since, rules = self._known.get(origin, (0.0, None))
            if rules is None or self._clock() - since >= SECONDS_KEPT:
                answer = await self._read(f"{origin}/robots.txt", allows)
                if isinstance(answer, Failure):
                    return answer
                rules = rules_of(answer)
                self._known[origin] = self._clock(), rules
        if isinstance(rules, Failure):
            return rules
        if rules.allows(url):
            return None
        return Failure(FailureKind.ROBOTS_DISALLOWED, "its robots.txt does not allow reading it")

    def crawl_delay(self, url: str) -> float:
        """Return the seconds that the origin of `url` wants between two requests; 0 where none are known."""
        _, rules = self._known.get(origin_of(url), (0.0, None))
        return rules.crawl_delay if isinstance(rules, RobotsRules) else 0.0


def rules_of(answer: RobotsFile) -> RobotsRules | Failure:
    """Return the rules in an answer: those that allow all where its status is 3xx or 4xx, a Failure where it is
    5xx."""
    if answer.status >= 500:
        detail = f"robots.txt answers with HTTP status {answer.status}, so no page of this site may be read"
        return Failure(FailureKind.ROBOTS_DISALLOWED, detail)
    if not 200 <= answer.status < 300:
        return RobotsRules()
    return parse(answer.body, PRODUCT_TOKEN)
