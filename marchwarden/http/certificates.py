"""Certificates that HTTP clients trust: those that SSL_CERT_FILE or SSL_CERT_DIR name, else those of each library."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import httpx

from marchwarden.environment import named_certificates
from marchwarden.errors import ConfigurationError


def tls_context(make: Callable[[], ssl.SSLContext] = httpx.create_ssl_context) -> ssl.SSLContext:
    """Return the TLS context of this process's clients, as their library makes it.

    Reading all certificates takes 25 ms of CPU, so that it is done once, and again where the file changes. Raises
    ConfigurationError where the environment names certificates that are not there.
    """
    file, folders = named_certificates()
    hint = "Correct it in the environment, or unset it to use the usual certificates."
    try:
        changed = Path(file).stat().st_mtime_ns if file else None
        if not file and folders and not any(map(os.path.isdir, folders.split(os.pathsep))):
            raise ConfigurationError(f"SSL_CERT_DIR: {folders}: No such directory", hint=hint)
        return _made(make, file, folders, changed)
    except OSError as error:  # of which ssl.SSLError is one
        problem = "holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigurationError(f"SSL_CERT_FILE: {file}: {problem}", hint=hint) from error


@lru_cache(maxsize=8)
def _made(
    make: Callable[[], ssl.SSLContext], file: str | None, folders: str | None, changed: int | None
) -> ssl.SSLContext:
    return make()
