"""Redirects to a door: what the address of a page says about the one that was asked for."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit


def leads_back(url: str, asked: str) -> bool:
    """Whether `url` carries where it is to send its reader back to, as addresses of sign-in pages do."""
    if not asked or url == asked:
        return False
    here, wanted = urlsplit(url), urlsplit(asked)
    targets = [value for _, value in parse_qsl(here.query)]
    if here.hostname == wanted.hostname:
        return len(wanted.path) > 1 and any(wanted.path in target for target in targets)
    return any(urlsplit(target).hostname == wanted.hostname for target in targets if "://" in target)
