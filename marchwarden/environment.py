"""Variables of the environment and of files, read in one place: by settings.py, and by commands that start before
pydantic is imported.

The environment and the files in the user's home are the user's own. `.env` in the working directory comes with a
folder, which may be somebody else's: it can't say where the user's keys, traces and caches go.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from marchwarden.errors import ConfigurationError, how_to_install, reason_of

DOTENV = ".env"
OWN_FILE = "~/.marchwarden/settings.env"
# Settings by their names in small letters: `max_seconds = 120`. `marchwarden config` and `marchwarden keys` write it.
CONFIG_FILE = "~/.marchwarden/config.toml"
# Service under which the system's keyring holds keys; the user name is that of the setting.
KEYRING_SERVICE = "marchwarden"
ENVIRONMENT, KEYRING = "the environment", "the system's keyring"

# Settings whose variables are those of the services, without a prefix.
SERVICE_KEYS = (
    "anthropic_api_key",
    "tavily_api_key",
    "brave_api_key",
    "exa_api_key",
    "serper_api_key",
    "openalex_api_key",
    "semantic_scholar_api_key",
)

Value: TypeAlias = "str | int | float | bool"
"""Value of a setting in the config file."""

# Variables that `.env` can't set: folders that are written to, or whose cached pages are believed; prompts of a
# program; the protection of the user's own network, and an address inside it; the key that signs in the user's name;
# and who may call a server.
OWN_ONLY = frozenset(
    {
        "MARCHWARDEN_TRACE_DIR",
        "MARCHWARDEN_STORE",
        "MARCHWARDEN_TRACE_INDEX",
        "MARCHWARDEN_CACHE_DIR",
        "MARCHWARDEN_PROGRAM",
        "MARCHWARDEN_ALLOW_PRIVATE_ADDRESSES",
        "MARCHWARDEN_SIGNING_KEY",
        "MARCHWARDEN_SEARXNG_URL",
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


# Variables from which obstore, and libpq, take what must never be written or shown.
_STORE_SECRETS = (
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_CLIENT_SECRET",
    "PGPASSWORD",
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
    origins: dict[str, str]
    """Place that each value comes from, or would: ENVIRONMENT, KEYRING or the name of a file."""


def variables(given: Collection[str] = (), *, keyring: bool = True) -> Variables:
    """Return every variable. The environment wins over `.env`, that over config.toml, that over settings.env.

    `given` are names that the caller sets itself. An empty value counts as none. An address that `.env` names goes
    with keys of `.env` alone. Without `keyring`, keys that the system's keyring holds are left out. Raises OSError
    where a file can't be read, and ConfigurationError where the keyring can't.
    """
    environment, folder, config = _given(dict(os.environ)), _given(read_file(DOTENV)), read_config()
    home = {**_given(read_file(OWN_FILE)), **config.values}
    refused = tuple(sorted(OWN_ONLY & folder.keys()))
    taken = {name: value for name, value in folder.items() if name not in OWN_ONLY}
    origins = {
        **dict.fromkeys(home, OWN_FILE),
        **dict.fromkeys(config.values, CONFIG_FILE),
        **dict.fromkeys(config.in_keyring, KEYRING),
        **dict.fromkeys(taken, DOTENV),
        **dict.fromkeys(environment, ENVIRONMENT),
    }
    for name in config.in_keyring:
        home.pop(name, None)
        if keyring and origins[name] == KEYRING and name not in given:
            home[name] = _read_keyring(name)
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
                values[key], origins[key] = folder[key], DOTENV
    is_chosen = MODEL in environment or MODEL in given or KEY in folder or KEY in given
    # `.env` may name a model of another provider than the user's own file, which gets the one key.
    provider, own = (found.get(MODEL, "").partition("/") for found in (folder, home))
    is_another = bool(provider[1] and own[1]) and provider[0] not in (own[0], "anthropic")
    if not is_chosen and is_another and values.pop(KEY, None) is not None:
        withheld[KEY] = MODEL
    in_force = {name: place for name, place in origins.items() if name in values or place == KEYRING}
    return Variables(values, refused, withheld, in_force)


def files_read() -> list[Path]:
    """Return the files that variables are read from, with their full paths."""
    return [path.absolute() for name in (OWN_FILE, CONFIG_FILE, DOTENV) if (path := _file(name)) is not None]


def folder_notes() -> list[str]:
    """Return a sentence for people where `.env` sets what it can't set. Raises OSError where a file can't be read."""
    refused = variables(keyring=False).refused
    if not refused:
        return []
    return [f"{DOTENV} in this folder can't set {', '.join(refused)}: set it in the environment or in {CONFIG_FILE}."]


@dataclass(frozen=True)
class Config:
    """Content of the user's config file, by the names of variables."""

    values: dict[str, str]
    in_keyring: tuple[str, ...]
    """Names of keys that the system's keyring holds."""


def read_config() -> Config:
    """Return what the user's config file says; nothing where there is none. Raises OSError where it can't be read."""
    path = _file(CONFIG_FILE)
    if path is None:
        return Config({}, ())
    try:
        told = parse_config(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:  # of which UnicodeDecodeError and the errors of TOML are ones
        raise OSError(f"{CONFIG_FILE} can't be read: {reason_of(error)}") from error
    values = {variable_of(name): as_text(value) for name, value in told.items() if not isinstance(value, dict)}
    in_keyring = tuple(variable_of(name) for name, value in told.items() if isinstance(value, dict))
    return Config({name: value for name, value in values.items() if value}, in_keyring)


def parse_config(text: str) -> dict[str, Value | dict[str, bool]]:
    """Return the settings that a config file's text names. A key that the keyring holds is `{keyring = true}`.

    Raises ValueError where it is no TOML, or a value is no text, number, true or false.
    """
    if sys.version_info >= (3, 11):  # imported here: 6 ms that most starts need not pay
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]
    told: dict[str, Any] = tomllib.loads(text)
    for name, value in told.items():
        if not isinstance(value, str | int | float) and value != {"keyring": True}:
            raise ValueError(f"{name} must be text, a number, true or false")
    return told


def variable_of(field: str) -> str:
    """Return the environment variable of a setting."""
    return field.upper() if field in SERVICE_KEYS else f"MARCHWARDEN_{field.upper()}"


def as_text(value: object) -> str:
    """Return a setting's value as its variable has it: `true`, `120`."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read_keyring(variable: str) -> str:
    """Return a key from the system's keyring. Raises ConfigurationError where it can't be had."""
    try:
        import keyring  # 60 ms, for those who keep keys there
        from keyring.errors import KeyringError
    except ImportError:
        raise ConfigurationError(
            f"{variable} is in {KEYRING}, and the library that reads it is not installed.",
            hint=how_to_install("keyring"),
        ) from None
    set_again = f"Set it again: marchwarden keys set {variable}"
    try:
        key = keyring.get_password(KEYRING_SERVICE, variable)
    except KeyringError as error:
        raise ConfigurationError(
            f"{variable} is in {KEYRING}, which can't be read: {error or type(error).__name__}", hint=set_again
        ) from error
    if not key:
        raise ConfigurationError(
            f"{CONFIG_FILE} says that {variable} is in {KEYRING}, and it is not.", hint=set_again
        )
    return key


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
        raise OSError(f"{name} can't be read: {reason_of(error)}") from error


def store_secrets() -> list[str]:
    """Return the secrets of an object store, or of its index, that the environment holds."""
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


def named_certificates() -> tuple[str | None, str | None]:
    """Return the file and the folders of certificates that the environment names: SSL_CERT_FILE, SSL_CERT_DIR."""
    return os.environ.get("SSL_CERT_FILE") or None, os.environ.get("SSL_CERT_DIR") or None


def proxies() -> dict[str, str]:
    """Return the addresses of the proxies in the environment by scheme: `http`, `https`, `all`."""
    import urllib.request

    named = urllib.request.getproxies()
    if "*" in (each.strip() for each in named.get("no", "").split(",")):
        return {}
    found = {scheme: named[scheme] for scheme in ("http", "https", "all") if named.get(scheme)}
    return {scheme: each if "://" in each else f"http://{each}" for scheme, each in found.items()}


def is_true(value: str) -> bool:
    """True for the words that pydantic takes for yes."""
    return value.lower() in {"1", "true", "t", "yes", "y", "on"}
