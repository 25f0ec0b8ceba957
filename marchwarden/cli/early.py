"""The two settings that every command needs at once, read as settings.Settings reads them but without pydantic:
`--help`, `replay`, `traces` and completion start in a third of the time. A test holds both to the same answers."""

from __future__ import annotations

import os
from pathlib import Path

from marchwarden.errors import ConfigurationError

_TRUE = {"1", "true", "t", "yes", "y", "on"}


def trace_folder() -> Path:
    """Where traces are: MARCHWARDEN_TRACE_DIR, from the environment or `.env`, else the default.

    Raises ConfigurationError where it begins with `~` and there is no such home.
    """
    folder = Path(_setting("MARCHWARDEN_TRACE_DIR") or "~/.marchwarden/traces")
    try:
        return folder.expanduser()
    except RuntimeError as error:
        raise ConfigurationError(
            f"MARCHWARDEN_TRACE_DIR: {folder}: {error}", hint="Correct it in the environment or in .env."
        ) from None


def debugging() -> bool:
    """Whether MARCHWARDEN_DEBUG is on; a value that is no boolean is left for load_settings to report."""
    return (_setting("MARCHWARDEN_DEBUG") or "").lower() in _TRUE


def _setting(name: str) -> str | None:
    """The variable's value, whatever the case of its name; empty is not set; the environment wins over `.env`."""
    return _value(dict(os.environ), name) or _value(_dotenv(), name)


def _value(variables: dict[str, str | None] | dict[str, str], name: str) -> str | None:
    return next((value for key, value in variables.items() if key.upper() == name and value), None)


def _dotenv() -> dict[str, str | None]:
    """What `.env` says; nothing where it can't be read, which is left for load_settings to report."""
    if not Path(".env").is_file():
        return {}
    from dotenv import dotenv_values

    try:
        return dotenv_values(".env", encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return {}
