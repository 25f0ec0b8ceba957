"""Access tokens of an OAuth 2.1 authorization server: JWTs (RFC 9068), checked by its published keys with PyJWT.

PyJWT has a client of its own for the keys. It blocks, and asks again for every key that it does not know, so that
anybody could make the server ask.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import jwt
from mcp.server.auth.provider import AccessToken

from marchwarden.errors import ConfigurationError
from marchwarden.settings import Settings

# Signatures with a public key. With a shared secret, whoever can check a token could issue one.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
# Seconds that clocks may differ by. A guess.
LEEWAY_S = 30
# Seconds for one answer of the authorization server. A guess.
TIMEOUT_S = 5.0
# Seconds after which its keys are asked for anew, so that one that was withdrawn is not believed for long. A guess.
KEYS_KEPT_S = 600.0
# Seconds between two requests for its keys, at least, whatever tokens come. A guess.
KEYS_PAUSE_S = 10.0
# Bytes of its metadata or keys, at most. A guess.
MAX_BYTES = 200_000

logger = logging.getLogger(__name__)


class AccessTokens:
    """Check of access tokens that `issuer` issued for `resource`."""

    def __init__(self, issuer: str, resource: str) -> None:
        self.issuer = issuer
        self.resource = resource
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._asked = float("-inf")
        self._lock = anyio.Lock()

    @classmethod
    def of(cls, settings: Settings) -> AccessTokens:
        """Return the check that the settings name. Raises ConfigurationError where they lack something."""
        issuer, resource = settings.server_issuer or "", settings.server_url
        if resource is None:
            raise ConfigurationError(
                "MARCHWARDEN_SERVER_ISSUER needs MARCHWARDEN_SERVER_URL",
                hint="Set it to the address that callers use: their tokens must be issued for it.",
            )
        _require_safe("MARCHWARDEN_SERVER_ISSUER", issuer)
        return cls(issuer, resource)

    async def verify(self, token: str) -> AccessToken | None:
        """Return whom a token belongs to; None where it is not valid: signature, issuer, audience and time."""
        try:
            key = await self._key(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self.issuer,
                audience=[self.resource, self.resource.removesuffix("/"), self.resource.removesuffix("/") + "/"],
                leeway=LEEWAY_S,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.PyJWTError as error:
            logger.info("an access token was refused: %s", type(error).__name__)
            return None
        client = claims.get("client_id", claims.get("azp"))
        subject = claims.get("sub", client)
        if not isinstance(subject, str):
            return None
        return AccessToken(
            token="",  # nothing needs it any more
            client_id=str(client or subject),
            scopes=_scopes(claims),
            expires_at=int(claims["exp"]) + LEEWAY_S,
            resource=self.resource,
            subject=subject,
            claims={"iss": claims["iss"]},
        )

    async def _key(self, identifier: str | None) -> jwt.PyJWK | None:
        if identifier in self._keys and time.monotonic() - self._asked <= KEYS_KEPT_S:
            return self._keys[identifier]  # whatever the authorization server is being asked meanwhile
        async with self._lock:
            since = time.monotonic() - self._asked
            if since > KEYS_KEPT_S or (identifier not in self._keys and since > KEYS_PAUSE_S):
                self._asked = time.monotonic()
                try:
                    self._keys = await self._published_keys()
                except (
                    httpx.HTTPError,
                    ValueError,
                    KeyError,
                    TypeError,
                    jwt.PyJWTError,
                    ConfigurationError,
                ) as error:
                    # Those that are known are believed until the server can be asked again.
                    logger.warning("the keys of %s can't be read: %s", self.issuer, type(error).__name__)
            if identifier is None and len(self._keys) == 1:
                return next(iter(self._keys.values()))
            return self._keys.get(identifier)

    async def _published_keys(self) -> dict[str | None, jwt.PyJWK]:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=True) as client:
            metadata = await self._metadata(client)
            _require_safe("jwks_uri", metadata["jwks_uri"])
            published = jwt.PyJWKSet.from_dict(await _json(client, metadata["jwks_uri"]))
        return {
            key.key_id: key
            for key in published.keys
            if key.public_key_use in (None, "sig") and key.algorithm_name in ALGORITHMS
        }

    async def _metadata(self, client: httpx.AsyncClient) -> dict[str, Any]:
        """Return the authorization server's metadata: by RFC 8414, else by OpenID Connect Discovery."""
        parts = urlsplit(self.issuer)
        origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        for address in (
            f"{origin}/.well-known/oauth-authorization-server{path}",
            f"{origin}/.well-known/openid-configuration{path}",
            f"{origin}{path}/.well-known/openid-configuration",
        ):
            try:
                found = await _json(client, address)
            except (httpx.HTTPStatusError, ValueError):
                continue
            # Another server's metadata would name another server's keys (RFC 8414, 3.3).
            if found.get("issuer") == self.issuer:
                return found
        raise ValueError(f"{self.issuer} publishes no metadata")


async def _json(client: httpx.AsyncClient, address: str) -> dict[str, Any]:
    async with client.stream("GET", address, headers={"accept": "application/json"}) as response:
        response.raise_for_status()
        if response.status_code != httpx.codes.OK:
            raise ValueError(f"status {response.status_code}")
        body = b""
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MAX_BYTES:
                raise ValueError("too long")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _scopes(claims: dict[str, Any]) -> list[str]:
    """Return a token's scopes: `scope` of RFC 9068, or `scp`, which some servers write as a list."""
    given = claims.get("scope", claims.get("scp", ""))
    return [str(each) for each in given] if isinstance(given, list) else str(given).split()


def _require_safe(name: str, address: str) -> None:
    """Raise ConfigurationError where an address is neither https nor on this machine."""
    parts = urlsplit(address)
    is_local = parts.hostname == "localhost"
    with suppress(ValueError):
        is_local = is_local or ipaddress.ip_address(parts.hostname or "").is_loopback
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise ConfigurationError(f"{name}: {address} is not an https address")
