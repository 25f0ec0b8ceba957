"""Certificates are read once a process, and again where they change."""

from __future__ import annotations

import shutil
from pathlib import Path

import certifi
import httpx2
import pytest

from marchwarden.errors import ConfigurationError
from marchwarden.http.certificates import tls_context


def test_one_context_serves_all_clients_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "own.pem"
    shutil.copy(certifi.where(), file)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    first = tls_context()
    assert tls_context() is first
    assert tls_context(httpx2.create_ssl_context) is not first
    file.write_text(file.read_text() + "\n")
    assert tls_context() is not first


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there_are_named(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv(variable, "/nowhere/own")
    with pytest.raises(ConfigurationError, match=f"{variable}: /nowhere/own: No such"):
        tls_context()
