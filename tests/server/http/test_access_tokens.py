"""Tokens of an authorization server: a small real one, on loopback, that publishes its metadata and keys and issues
access tokens for clients (OAuth 2.1, client credentials, RFC 8414, 8707, 9068)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import jwt
import pytest
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from jwt.utils import base64url_encode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from marchwarden.errors import ConfigurationError
from marchwarden.server.http import access_tokens
from marchwarden.server.http.access_tokens import AccessTokens
from marchwarden.settings import Settings
from tests.server.http.serving import INITIALIZE, URL, a_client, an_app, call, initialize, message, result_of

pytestmark = pytest.mark.anyio
RESOURCE = "https://research.example.org/mcp"


@dataclass
class AuthorizationServer:
    issuer: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    other_keys: list[dict[str, str]] = field(default_factory=list)
    asked_for_keys: int = 0
    pause_s: float = 0.0
    """Seconds that it takes for its keys."""

    def add_key(self, identifier: str) -> None:
        self.keys[identifier] = ec.generate_private_key(ec.SECP256R1())

    def sign(self, claims: dict[str, Any], key: str = "one") -> str:
        return jwt.encode(claims, self.keys[key], "ES256", headers={"kid": key, "typ": "at+jwt"})

    def claims(self, subject: str = "carol", **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        issued: dict[str, Any] = {"iss": self.issuer, "sub": subject, "client_id": "app", "scope": "research"}
        return {**issued, "aud": RESOURCE, "iat": now, "exp": now + 60, **changed}

    async def metadata(self, request: Request) -> JSONResponse:
        endpoints = {"token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys"}
        return JSONResponse({"issuer": self.issuer, **endpoints})

    async def published(self, request: Request) -> JSONResponse:
        self.asked_for_keys += 1
        await anyio.sleep(self.pause_s)
        keys = [
            {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, "use": "sig", "alg": "ES256"}
            for name, key in self.keys.items()
        ]
        return JSONResponse({"keys": [*keys, *self.other_keys]})

    async def token(self, request: Request) -> JSONResponse:
        form = await request.form()
        if (form.get("grant_type"), form.get("client_secret")) != ("client_credentials", "a secret"):
            return JSONResponse({"error": "invalid_client"}, 401)
        claims = self.claims(str(form["client_id"]), aud=form["resource"], scope=form["scope"])
        return JSONResponse({"access_token": self.sign(claims), "token_type": "Bearer", "expires_in": 60})


@pytest.fixture(scope="module")
def authority() -> Iterator[AuthorizationServer]:
    own = AuthorizationServer()
    own.add_key("one")
    routes = [
        Route("/.well-known/oauth-authorization-server", own.metadata),
        Route("/keys", own.published),
        Route("/token", own.token, methods=["POST"]),
    ]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        own.issuer = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_config=None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield own
        server.should_exit = True
        thread.join()


def resource_server(authority: AuthorizationServer, tmp_path: Path) -> Settings:
    return Settings(
        trace_dir=tmp_path / "traces", server_issuer=authority.issuer, server_url=RESOURCE, server_scopes="research"
    )


async def test_a_client_finds_the_authorization_server_gets_a_token_and_calls(
    authority: AuthorizationServer, tmp_path: Path
) -> None:
    async with an_app(resource_server(authority, tmp_path)) as app, a_client(app) as client:
        refused = await client.post(URL, json=INITIALIZE)
        assert refused.status_code == 401
        told = dict(
            part.split("=", 1) for part in refused.headers["www-authenticate"].removeprefix("Bearer ").split(", ")
        )
        place = told["resource_metadata"].strip('"')
        assert place == "https://research.example.org/.well-known/oauth-protected-resource/mcp"
        metadata = (await client.get(place)).json()
        assert metadata["resource"] == RESOURCE
        assert metadata["authorization_servers"] == [authority.issuer]
        async with httpx.AsyncClient() as outside:
            server = (await outside.get(f"{authority.issuer}/.well-known/oauth-authorization-server")).json()
            asked = {
                "grant_type": "client_credentials",
                "client_id": "batch",
                "client_secret": "a secret",
                "resource": metadata["resource"],
                "scope": metadata["scopes_supported"][0],
            }
            token = (await outside.post(server["token_endpoint"], data=asked)).json()["access_token"]
        client.headers["authorization"] = f"Bearer {token}"
        headers = await initialize(client)
        mine = result_of(await client.post(URL, json=call("What is mine?"), headers=headers))
        assert "What is mine?" in mine["structuredContent"]["answer"]
        # Another subject has other traces.
        client.headers["authorization"] = f"Bearer {authority.sign(authority.claims('carol'))}"
        headers = await initialize(client)
        assert result_of(await client.post(URL, json=message("resources/list"), headers=headers))["resources"] == []
        client.headers["authorization"] = f"Bearer {authority.sign(authority.claims(scope='other'))}"
        assert (await client.post(URL, json=INITIALIZE)).status_code == 403


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "https://other.example.org/mcp"},
        {"aud": "https://research.example.org"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"exp": 1_000_000_000},
        {"exp": None},
        {"nbf": 9_999_999_999},
        {"sub": 7},
    ],
)
async def test_a_token_for_somebody_else_or_another_time_is_refused(
    authority: AuthorizationServer, changed: dict[str, Any]
) -> None:
    claims = {name: value for name, value in authority.claims(**changed).items() if value is not None}
    assert await AccessTokens(authority.issuer, RESOURCE).verify(authority.sign(claims)) is None


async def test_a_signature_that_the_server_did_not_make_is_refused(authority: AuthorizationServer) -> None:
    tokens = AccessTokens(authority.issuer, RESOURCE)
    claims = authority.claims()
    assert await tokens.verify(authority.sign(claims)) is not None
    foreign = jwt.encode(claims, ec.generate_private_key(ec.SECP256R1()), "ES256", headers={"kid": "one"})
    unsigned = jwt.encode(claims, None, "none", headers={"kid": "one"})
    shared = jwt.encode(claims, "k" * 64, "HS256", headers={"kid": "one"})
    for token in (foreign, unsigned, shared, "not.a.token", ""):
        assert await tokens.verify(token) is None


async def test_a_secret_among_the_published_keys_signs_nothing(
    authority: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads the keys could sign with it."""
    secret = "k" * 64
    published = {"kty": "oct", "kid": "shared", "k": base64url_encode(secret.encode()).decode(), "alg": "HS256"}
    monkeypatch.setattr(authority, "other_keys", [published])
    tokens = AccessTokens(authority.issuer, RESOURCE)
    signed = jwt.encode(authority.claims(), secret, "HS256", headers={"kid": "shared"})
    assert await tokens.verify(signed) is None
    assert await tokens.verify(authority.sign(authority.claims())) is not None


async def test_known_keys_are_used_while_the_authorization_server_is_slow(
    authority: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access_tokens, "KEYS_PAUSE_S", 0.0)
    tokens = AccessTokens(authority.issuer, RESOURCE)
    assert await tokens.verify(authority.sign(authority.claims())) is not None
    foreign = jwt.encode(
        authority.claims(), ec.generate_private_key(ec.SECP256R1()), "ES256", headers={"kid": "unknown"}
    )
    before, ended = authority.asked_for_keys, []
    monkeypatch.setattr(authority, "pause_s", 0.3)

    async def verify(token: str, name: str) -> None:
        await tokens.verify(token)
        ended.append(name)

    async with anyio.create_task_group() as group:
        group.start_soon(verify, foreign, "unknown")
        while authority.asked_for_keys == before:  # noqa: ASYNC110
            await anyio.sleep(0.01)
        group.start_soon(verify, authority.sign(authority.claims()), "known")
    assert ended == ["known", "unknown"]


async def test_new_keys_are_found_and_unknown_ones_do_not_make_the_server_ask_each_time(
    authority: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = AccessTokens(authority.issuer, RESOURCE)
    before = authority.asked_for_keys
    assert await tokens.verify(authority.sign(authority.claims())) is not None
    authority.add_key("two")
    for _ in range(3):
        assert await tokens.verify(authority.sign(authority.claims(), "two")) is None
    assert authority.asked_for_keys == before + 1
    monkeypatch.setattr(access_tokens, "KEYS_PAUSE_S", 0.0)
    assert await tokens.verify(authority.sign(authority.claims(), "two")) is not None
    assert authority.asked_for_keys == before + 2


async def test_metadata_of_another_issuer_is_not_believed(authority: AuthorizationServer) -> None:
    elsewhere = authority.issuer.replace("127.0.0.1", "localhost")
    token = authority.sign(authority.claims(iss=elsewhere))
    assert await AccessTokens(elsewhere, RESOURCE).verify(token) is None


def test_an_authorization_server_is_asked_over_https_and_knows_the_resource() -> None:
    with pytest.raises(ConfigurationError, match="not an https address"):
        AccessTokens.of(Settings(server_issuer="http://login.example.org", server_url=RESOURCE))
    with pytest.raises(ConfigurationError, match="needs MARCHWARDEN_SERVER_URL"):
        AccessTokens.of(Settings(server_issuer="https://login.example.org"))
