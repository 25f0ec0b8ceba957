"""Object stores as three services have them, each a server on this machine.

S3 is moto's server, Azure is Azurite, Microsoft's own emulator. Emulators of Google Cloud Storage that a package
registry has don't list objects in its XML API, which obstore speaks. That API is S3's but for a few headers: moto's
server is spoken to through a proxy that translates them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from urllib.request import Request, urlopen

from tests.node import install_packages
from tests.sharing.s3_server import BUCKET, s3_server

# The account that Azurite has, with the key that its documentation tells.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
SECRET = "hunter22hunter22"


@dataclass(frozen=True)
class ObjectService:
    scheme: str
    port: int

    def variables(self, url: str, folder: Path) -> dict[str, str]:
        """Return the environment of who uses the service at `url`; a file of it is in `folder`."""
        own = {"AWS_ALLOW_HTTP": "true"}
        if self.scheme == "az":
            return {
                **own,
                "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
                "AZURE_STORAGE_ACCOUNT_KEY": KEY,
                "AZURE_STORAGE_ENDPOINT": f"{url}/{ACCOUNT}",
            }
        if self.scheme == "gs":
            account = {"gcs_base_url": url, "disable_oauth": True, "client_email": "", "private_key_id": ""}
            file = folder / "account.json"
            file.write_text(json.dumps({**account, "private_key": SECRET}))
            return {**own, "GOOGLE_SERVICE_ACCOUNT": str(file)}
        return {
            **own,
            "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }


@contextmanager
def object_service(scheme: str, folder: Path) -> Iterator[ObjectService]:
    """Yield a service with the bucket BUCKET. Skips the test where it can't be had."""
    with azurite(folder) if scheme == "az" else s3_server() as port:
        yield ObjectService(scheme, port)


@contextmanager
def azurite(folder: Path) -> Iterator[int]:
    """Yield the port."""
    program = install_packages(folder, "azurite@3.35.0") / "azurite/dist/src/blob/main.js"
    options = ["--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry", "--silent"]
    command = ["node", str(program), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder, text=True) as process:
        try:
            assert process.stdout
            port = next(
                int(found[1]) for line in process.stdout if (found := re.search(r"listens on .*:(\d+)", line))
            )
            _create_container(port)
            yield port
        finally:
            process.kill()


def _create_container(port: int) -> None:
    now = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    own = {"x-ms-date": now, "x-ms-version": "2021-08-06"}
    lines = ["PUT", *[""] * 11, *(f"{name}:{value}" for name, value in own.items())]
    signed = "\n".join([*lines, f"/{ACCOUNT}/{ACCOUNT}/{BUCKET}", "restype:container"]).encode()
    signature = base64.b64encode(hmac.digest(base64.b64decode(KEY), signed, hashlib.sha256)).decode()
    headers = {**own, "Authorization": f"SharedKey {ACCOUNT}:{signature}", "Content-Length": "0"}
    address = f"http://127.0.0.1:{port}/{ACCOUNT}/{BUCKET}?restype=container"
    urlopen(Request(address, method="PUT", headers=headers)).close()
