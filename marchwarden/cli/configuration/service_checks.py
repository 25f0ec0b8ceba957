"""Checks of `doctor` about what surrounds research: origins of settings, sources, proxies, the clock."""

from __future__ import annotations

import os
import time
import urllib.request
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from marchwarden.cli.configuration.doctor_check import Check
from marchwarden.errors import MarchwardenError

if TYPE_CHECKING:
    from marchwarden.settings import Settings

# Seconds by which the clock may be wrong. A guess: answers of services expire, and tokens begin, by the minute.
_MAX_SKEW_S = 120.0


def surroundings_checks(settings: Settings) -> Iterator[Check]:
    """Check origins of settings, sources, corpora, databases, ZIM files and proxies, without a network."""
    yield _origins()
    yield _sources(settings)
    yield _all_corpora()
    yield _named("databases", "db", settings)
    yield _named("ZIM files", "zim", settings)
    yield _proxies()


def _origins() -> Check:
    """Say where each value comes from that is set, and whether others can read a file with keys."""
    from marchwarden.environment import CONFIG_FILE, OWN_FILE, variable_of, variables
    from marchwarden.settings import Settings, is_secret

    origins = variables(keyring=False).origins
    from_place: dict[str, list[str]] = {}
    for field in Settings.model_fields:
        if place := origins.get(variable_of(field)):
            from_place.setdefault(place, []).append(field)
    said = "; ".join(f"{', '.join(fields)} from {place}" for place, fields in from_place.items())
    # Windows has no such permissions.
    for name in (CONFIG_FILE, OWN_FILE) if os.name == "posix" else ():
        path = Path(name).expanduser()
        if any(map(is_secret, from_place.get(name, []))) and path.stat().st_mode & 0o077:
            return Check("values", "note", f"{said}; others can read {path}", f"chmod 600 {path}")
    return Check("values", "ok", said or "every setting has its default value")


def _sources(settings: Settings) -> Check:
    """Say which sources are ready, and which need a key."""
    from marchwarden.environment import variable_of
    from marchwarden.source_table import SOURCES
    from marchwarden.sources.source_registry import is_ready

    plain = [name for name, entry in SOURCES.items() if not entry.is_named]
    ready = [name for name in plain if is_ready(settings, name)]
    waiting = [f"{name} ({variable_of(SOURCES[name].needs[0])})" for name in plain if name not in ready]
    said = f"ready: {', '.join(ready)}" + (
        f"; not ready, because a key is missing: {', '.join(waiting)}" if waiting else ""
    )
    return Check("sources", "ok", said, "`marchwarden keys set NAME` stores a key." if waiting else None)


def _all_corpora() -> Check:
    from marchwarden.cli.views.safe_text import count
    from marchwarden.corpus.corpora import all_corpora, open_corpus, summary_of

    said, problems = [], []
    advice = None
    try:
        corpora = all_corpora()
    except MarchwardenError as error:
        return Check("corpora", "broken", str(error), error.hint)
    for corpus in corpora:
        try:
            said.append(f"{corpus.name} ({count(summary_of(open_corpus(corpus.name)).documents, 'document')})")
        except MarchwardenError as error:
            problems.append(f"{corpus.name} can't be used: {error}")
            advice = advice or error.hint
    if problems:
        return Check("corpora", "note", "; ".join([*filter(None, [", ".join(said)]), *problems]), advice)
    return Check("corpora", "ok", ", ".join(said) or "none; `marchwarden index FOLDER` makes one")


def _named(name: str, kind: str, settings: Settings) -> Check:
    """List the databases or ZIM files, and those that can't be used with the reason."""
    from marchwarden.cli.sources import state_of_named

    state, said = state_of_named(kind, settings)
    if state == "none there":
        return Check(name, "ok", f"none. {said[0]}")
    return Check(name, "note" if len(said) > 1 or state == "broken" else "ok", "; ".join(said))


def _proxies() -> Check:
    """Say which proxies pages, search and models go through; a proxy that can't be used is broken."""
    from marchwarden.environment import proxies
    from marchwarden.http.proxies import ProxiedTransport

    named = proxies()
    if not named:
        return Check("proxies", "ok", "none")
    try:
        ProxiedTransport(httpx.AsyncBaseTransport())
    except MarchwardenError as error:
        return Check("proxies", "broken", str(error), error.hint)
    # Without user and password.
    hosts = {scheme: urlsplit(address).netloc.rpartition("@")[2] for scheme, address in named.items()}
    shown = ", ".join(f"{scheme} through {host}" for scheme, host in hosts.items())
    left_out = urllib.request.getproxies().get("no")
    return Check("proxies", "ok", shown + (f", but not to {left_out}" if left_out else ""))


class DateNotingTransport(httpx.AsyncBaseTransport):
    """Transport that compares the clock with the date of each answer that comes over the network."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner
        self.skew_s: float | None = None
        """Seconds by which the clock is ahead of the latest answer's; None where no answer told a date."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        from marchwarden.http.cache import KEPT_FOR

        response = await self._inner.handle_async_request(request)
        if KEPT_FOR not in response.extensions:
            try:
                told = parsedate_to_datetime(response.headers["date"]).timestamp() + float(
                    response.headers.get("age", 0)
                )
            except (KeyError, ValueError, OverflowError):
                return response
            self.skew_s = time.time() - told
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


def clock_check(skew_s: float | None) -> Iterator[Check]:
    """Say whether the clock is right, where an answer told the date."""
    if skew_s is None:
        return
    if abs(skew_s) <= _MAX_SKEW_S:
        yield Check("clock", "ok", "the same as the search service's")
        return
    direction = "ahead of" if skew_s > 0 else "behind"
    yield Check(
        "clock",
        "note",
        f"{round(abs(skew_s) / 60):,} minutes {direction} the search service's clock",
        "Set the clock: page dates and certificates are checked against it.",
    )
