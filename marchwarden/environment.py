"""Variables of the environment and of files, read in one place: by settings.py, and by commands that start before
pydantic is imported.

The environment and the file in the user's home are the user's own. `.env` in the working directory comes with a
folder, which may be somebody else's: it can't say where the user's keys, traces and caches go.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from marchwarden.errors import ConfigurationError

DOTENV = ".env"
OWN_FILE = "~/.marchwarden/settings.env"

# Variables that `.env` can't set: folders that are written to, or whose cached pages are believed; prompts of a
# program; the protection of the user's own network; the key that signs in the user's name; and who may call a server.
OWN_ONLY = frozenset(
    {
        "MARCHWARDEN_TRACE_DIR",
        "MARCHWARDEN_STORE",
        "MARCHWARDEN_CACHE_DIR",
        "MARCHWARDEN_PROGRAM",
        "MARCHWARDEN_ALLOW_PRIVATE_ADDRESSES",
        "MARCHWARDEN_SIGNING_KEY",
        "MARCHWARDEN_DATABASES",
        "MARCHWARDEN_SERVER_TOKENS",
        "MARCHWARDEN_SERVER_URL",
        "MARCHWARDEN_SERVER_ISSUER",
        "MARCHWARDEN_SERVER_ORIGINS",
    }
)
# A password may hold an unescaped @: browsers, too, take the host after the last one.
_CREDENTIALS = re.compile(r"(?<=://)[^\s/?#\"'<>]*@")

# The keys that are sent to each address.
KEYS_OF = {
    "MARCHWARDEN_API_BASE": ("MARCHWARDEN_API_KEY", "ANTHROPIC_API_KEY"),
    "MARCHWARDEN_TAVILY_BASE_URL": ("TAVILY_API_KEY",),
}


# Variables from which obstore takes what must never be written or shown.
_STORE_SECRETS = (
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_CLIENT_SECRET",
)

# A model's provider is an address, too, for the one key of all providers.
MODEL, KEY = "MARCHWARDEN_MODEL", "MARCHWARDEN_API_KEY"


@dataclass(frozen=True)
class Variables:
    values: dict[str, str]
    """Values in force, by names in capitals."""
    refused: tuple[str, ...]
    """Names that `.env` sets and may not set."""
    withheld: dict[str, str]
    """Keys of the user's own that are not sent, since `.env` names the address; each with the name of the address."""


def variables(given: Collection[str] = ()) -> Variables:
    """Return every variable. The environment wins over `.env`, and that over the file in the home.

    `given` are names that the caller sets itself. An empty value counts as none. An address that `.env` names goes
    with keys of `.env` alone. Raises OSError where a file can't be read.
    """
    environment, folder, home = _given(dict(os.environ)), _given(read_file(DOTENV)), _given(read_file(OWN_FILE))
    refused = tuple(sorted(OWN_ONLY & folder.keys()))
    taken = {name: value for name, value in folder.items() if name not in OWN_ONLY}
    values = {**home, **taken, **environment}
    withheld = {}
    for address, keys in KEYS_OF.items():
        if address not in folder or address in environment or address in given:
            continue
        for key in keys:
            has_own = values.pop(key, None) is not None
            if key in given or (has_own and key not in folder):
                withheld[key] = address
            elif key in folder:
                values[key] = folder[key]
    is_chosen = MODEL in environment or MODEL in given or KEY in folder or KEY in given
    if not is_chosen and _names_another_provider(folder, home) and values.pop(KEY, None) is not None:
        withheld[KEY] = MODEL
    return Variables(values, refused, withheld)


def _names_another_provider(folder: Mapping[str, str], home: Mapping[str, str]) -> bool:
    """Return whether `.env` names a model of another provider than the user's own file, which gets the one key."""
    provider, own = (found.get(MODEL, "").partition("/") for found in (folder, home))
    return bool(provider[1] and own[1]) and provider[0] not in (own[0], "anthropic")


def files_read() -> list[Path]:
    """Return the files that variables are read from, with their full paths."""
    return [path.absolute() for name in (OWN_FILE, DOTENV) if (path := _file(name)) is not None]


def folder_notes() -> list[str]:
    """Return a sentence for people where `.env` sets what it can't set. Raises OSError where a file can't be read."""
    refused = variables().refused
    if not refused:
        return []
    return [f"{DOTENV} in this folder can't set {', '.join(refused)}: set it in the environment or in {OWN_FILE}."]


def read_file(name: str) -> dict[str, str | None]:
    """Return the variables of a file; none where there is no such file. Raises OSError where it can't be read."""
    path = _file(name)
    if path is None:
        return {}
    from dotenv import dotenv_values  # 6 ms that most starts need not pay

    # Its warning about a line that it can't read names no file; `doctor` reports the line instead.
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    try:
        # Nothing is filled in: `${NAME}` in a folder would carry any variable of the user to where the folder says.
        return dotenv_values(path, encoding="utf-8-sig", interpolate=False)
    except (OSError, UnicodeDecodeError) as error:
        raise OSError(f"{name} can't be read: {error}") from error


def store_secrets() -> list[str]:
    """Return the secrets of an object store that the environment holds."""
    return [value for name in _STORE_SECRETS if (value := os.environ.get(name))]


def allows_plain_http_store() -> bool:
    """Return whether AWS_ALLOW_HTTP is on: an object store of one's own, at an address without TLS."""
    return is_true(os.environ.get("AWS_ALLOW_HTTP", ""))


def without_credentials(text: str) -> str:
    """Return `text` with the `user:password@` of each address in it left out."""
    return _CREDENTIALS.sub("", text)


def _file(name: str) -> Path | None:
    try:
        path = Path(name).expanduser()
    except RuntimeError:  # a user without a home
        return None
    return path if path.is_file() else None


def _given(found: Mapping[str, str | None]) -> dict[str, str]:
    return {name.upper(): value for name, value in found.items() if value}


def unreadable_lines(file: Path) -> list[int]:
    """Return the numbers of the lines of a file that are not NAME=value. Raises OSError where it can't be read."""
    from dotenv.parser import parse_stream

    try:
        with file.open(encoding="utf-8-sig") as opened:
            statements = list(parse_stream(opened))
    except UnicodeDecodeError as error:
        raise OSError(str(error)) from error
    lines = []
    for each in statements:
        if each.error or (each.key is not None and each.value is None):
            text = each.original.string
            # A statement begins with the empty lines before it.
            lines.append(each.original.line + text[: len(text) - len(text.lstrip())].count("\n"))
    return lines


def check_certificates() -> None:
    """Raise ConfigurationError where the variables that HTTP clients take certificates from name none."""
    # Every client fails on them with an error of its own, most only at its first request.
    import ssl  # 10 ms that most starts need not pay

    if file := os.environ.get("SSL_CERT_FILE"):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
        except OSError as error:  # of which ssl.SSLError is one
            problem = "holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
            raise _no_certificates(f"SSL_CERT_FILE: {file}: {problem}") from error
    elif (folders := os.environ.get("SSL_CERT_DIR")) and not any(map(os.path.isdir, folders.split(os.pathsep))):
        raise _no_certificates(f"SSL_CERT_DIR: {folders}: No such directory")


def _no_certificates(message: str) -> ConfigurationError:
    return ConfigurationError(
        message, hint="Correct it in the environment, or unset it to use the usual certificates."
    )


def is_true(value: str) -> bool:
    """True for the words that pydantic takes for yes."""
    return value.lower() in {"1", "true", "t", "yes", "y", "on"}
