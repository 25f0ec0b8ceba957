"""The settings that commands need at once, without pydantic: importing settings.py would double the time in
which `--help`, `replay`, `history` and completion start. A test holds them to the same answers."""

from __future__ import annotations

import os
from pathlib import Path

from marchwarden.environment import KEYRING, is_true, variables
from marchwarden.errors import ConfigurationError


def trace_folder() -> Path:
    """Return the folder of traces: MARCHWARDEN_TRACE_DIR, from the environment or the user's file, else the default.

    Raises ConfigurationError where it begins with `~` and there is no such home.
    """
    folder = Path(_setting("MARCHWARDEN_TRACE_DIR") or "~/.marchwarden/traces")
    try:
        return folder.expanduser()
    except RuntimeError as error:
        raise ConfigurationError(
            f"MARCHWARDEN_TRACE_DIR: {folder}: {error}",
            hint="Correct it in the environment or in ~/.marchwarden/config.toml.",
        ) from None


def store_url() -> str | None:
    """Return the address of the object store: MARCHWARDEN_STORE, from the environment or the user's file; None where
    it is not set."""
    return _setting("MARCHWARDEN_STORE") or None


def index_url() -> str | None:
    """Return the address of the index of traces: MARCHWARDEN_TRACE_INDEX; None where it is not set."""
    return _setting("MARCHWARDEN_TRACE_INDEX") or None


def server_token() -> str | None:
    """Return the bearer token for `--server`: MARCHWARDEN_SERVER_TOKEN; None where it is not set."""
    return _setting("MARCHWARDEN_SERVER_TOKEN") or None


def debugging() -> bool:
    """Return whether MARCHWARDEN_DEBUG is on. A value that is no boolean is left for load_settings to report."""
    return is_true(_setting("MARCHWARDEN_DEBUG"))


def _setting(name: str) -> str:
    """The variable's value, empty where it is not set, or where `.env` can't be read: load_settings reports that."""
    try:
        read = variables(keyring=False)
        # The keyring may be locked, which is no matter for who needs nothing of it.
        if read.origins.get(name) == KEYRING:
            read = variables()
        return read.values.get(name, "")
    except OSError:
        return os.environ.get(name, "")
