"""Callers over HTTP: whom a bearer token belongs to, and where their traces are.

A token is one of the operator's file, or one of an OAuth 2.1 authorization server, of which this server is a resource
server (MCP, "Authorization"). Each caller has a folder of traces and pages to itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from pydantic import BaseModel, ConfigDict, Field, RootModel, SecretStr, ValidationError

from marchwarden.errors import ConfigurationError, InvalidRequest
from marchwarden.server.http.access_tokens import AccessTokens
from marchwarden.settings import FOLDER_NAME, Settings
from marchwarden.sharing.object_store import CALLERS, caller_url

# Start of the names of callers that an authorization server vouches for; the rest is a hash.
_OAUTH = "oauth-"
# Characters of a token, at least: 24 random bytes have 32 in base64.
MIN_TOKEN_CHARS = 32


@dataclass(frozen=True)
class Caller:
    """Somebody who called over HTTP with a valid token."""

    name: str
    """Name in the file of tokens, or `oauth-` and a hash of issuer and subject; a folder can have it."""
    calls_per_minute: int | None
    """Calls in a minute, at most; None for no limit."""
    tokens_per_day: int | None
    """Model tokens in a day (UTC), at most; None for no limit."""

    def settings(self, settings: Settings) -> Settings:
        """Return the settings for this caller's calls: traces and pages are in a folder of their own."""
        store = settings.store and caller_url(settings.store, self.name)
        return settings.model_copy(update={"trace_dir": settings.traces / CALLERS / self.name, "store": store})


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    token: SecretStr | None = Field(None, min_length=MIN_TOKEN_CHARS)
    token_sha256: str | None = Field(None, pattern=r"^[0-9a-f]{64}$")
    calls_per_minute: int | None = Field(None, ge=1)
    tokens_per_day: int | None = Field(None, ge=500)


class Callers:
    """Callers that the operator lets in. It is a `TokenVerifier` of the MCP SDK."""

    def __init__(self, settings: Settings) -> None:
        """Read the file of tokens. Raises ConfigurationError where it can't be used."""
        self._settings = settings
        self._by_digest = _read_tokens(settings.server_tokens) if settings.server_tokens else {}
        self._access_tokens = AccessTokens.of(settings) if settings.server_issuer else None

    @property
    def are_known(self) -> bool:
        """True where callers must have a token."""
        return self._settings.server_tokens is not None or self._settings.server_issuer is not None

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whom a token belongs to; None where it is not valid."""
        # Digests are compared, so that the time that it takes tells nothing about the tokens.
        if found := self._by_digest.get(hashlib.sha256(token.encode()).hexdigest()):
            return AccessToken(token="", client_id=found[0], scopes=(self._settings.server_scopes or "").split())
        if self._access_tokens is None:
            return None
        return await self._access_tokens.verify(token)

    def caller_of(self, user: Any) -> Caller | None:
        """Return the caller that a request's user is; None where there is none."""
        if not isinstance(user, AuthenticatedUser):
            return None
        token, limits = user.access_token, _Entry()
        issuer = (token.claims or {}).get("iss")
        name = token.client_id
        if issuer is not None:
            name = _OAUTH + hashlib.sha256(json.dumps([issuer, token.subject]).encode()).hexdigest()[:32]
        else:
            limits = next((entry for own, entry in self._by_digest.values() if own == name), limits)
        return Caller(
            name,
            limits.calls_per_minute or self._settings.server_calls_per_minute,
            limits.tokens_per_day or self._settings.server_tokens_per_day,
        )


def _read_tokens(path: Path) -> Mapping[str, tuple[str, _Entry]]:
    """Return name and entry by the SHA-256 of the token. Raises ConfigurationError."""
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ConfigurationError(
                f"MARCHWARDEN_SERVER_TOKENS: {path} can be read by others", hint=f"Correct it: chmod 600 {path}"
            )
        entries = _TokenFile.model_validate_json(path.read_bytes()).root
    except OSError as error:
        raise ConfigurationError(f"MARCHWARDEN_SERVER_TOKENS: {path}: {error.strerror or error}") from error
    except ValidationError as error:
        # In our own words, which never quote the input.
        problems = InvalidRequest.of(error).problems
        fields = "\n".join(f"{field}: {problem.partition(' input ')[0]}" for field, problem in problems)
        raise ConfigurationError(f"MARCHWARDEN_SERVER_TOKENS: {path}:\n{fields}") from None
    found: dict[str, tuple[str, _Entry]] = {}
    names: set[str] = set()
    for name, entry in entries.items():
        # Two names that differ in case only have one folder on some systems.
        if not FOLDER_NAME.fullmatch(name) or name.lower().startswith(_OAUTH) or name.lower() in names:
            raise ConfigurationError(f"MARCHWARDEN_SERVER_TOKENS: {name!r} is not a valid name of a caller")
        names.add(name.lower())
        given = entry.token.get_secret_value() if entry.token else None
        digest = hashlib.sha256(given.encode()).hexdigest() if given else entry.token_sha256
        if digest is None:
            raise ConfigurationError(f"MARCHWARDEN_SERVER_TOKENS: {name} has neither token nor token_sha256")
        if digest in found:
            raise ConfigurationError(f"MARCHWARDEN_SERVER_TOKENS: {name} and {found[digest][0]} have the same token")
        found[digest] = (name, entry)
    return found


class _TokenFile(RootModel[dict[str, _Entry]]):
    pass
