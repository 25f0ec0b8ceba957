"""Tokens of an authorization server by others, oidc-provider, which is a program of Node: `make nightly` runs it."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from marchwarden.settings import Settings
from tests.node import install_packages
from tests.server.http.serving import INITIALIZE, URL, a_client, an_app, call, initialize, result_of

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
RESOURCE = "https://research.example.org/mcp"
PROGRAM = """
import Provider from 'oidc-provider';
const [issuer, port] = process.argv.slice(2);
const client = { client_id: 'app', client_secret: 'a-secret', grant_types: ['client_credentials'], redirect_uris: [],
                 response_types: [], scope: 'research' };
const getResourceServerInfo = (context, resource) => (
  { scope: 'research', audience: resource, accessTokenTTL: 60, accessTokenFormat: 'jwt' });
const features = { clientCredentials: { enabled: true }, devInteractions: { enabled: false },
                   resourceIndicators: { enabled: true, getResourceServerInfo } };
new Provider(issuer, { clients: [client], scopes: ['research'], features }).listen(Number(port), '127.0.0.1');
"""


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("node")
    install_packages(folder, "oidc-provider@9.13.3", least=(22, 0))
    (folder / "server.mjs").write_text(PROGRAM)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    issuer = f"http://127.0.0.1:{port}"
    command = ["node", "server.mjs", issuer, str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                with suppress(httpx.TransportError):
                    if httpx.get(f"{issuer}/jwks").is_success:
                        break
                time.sleep(0.1)
            yield issuer
        finally:
            server.kill()


def token(issuer: str, resource: str) -> str:
    form = {"grant_type": "client_credentials", "scope": "research", "resource": resource}
    answer = httpx.post(f"{issuer}/token", data=form, auth=("app", "a-secret"))
    return str(answer.raise_for_status().json()["access_token"])


async def test_its_token_is_taken_for_this_resource_alone(issuer: str, tmp_path: Path) -> None:
    settings = Settings(trace_dir=tmp_path, server_issuer=issuer, server_url=RESOURCE, server_scopes="research")
    async with an_app(settings) as app:
        async with a_client(app, token=token(issuer, RESOURCE)) as client:
            headers = await initialize(client)
            answer = result_of(await client.post(URL, json=call("What grows?"), headers=headers))
            assert "What grows?" in answer["structuredContent"]["answer"]
        async with a_client(app, token=token(issuer, "https://other.example.org/mcp")) as client:
            assert (await client.post(URL, json=INITIALIZE)).status_code == 401
