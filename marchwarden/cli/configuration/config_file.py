"""Changes of the user's config file. One line a setting; comments and everything else stay as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from marchwarden.environment import CONFIG_FILE, Value, parse_config
from marchwarden.errors import ConfigurationError, StorageError, reason_of
from marchwarden.files import make_private_folder, write_whole

IN_KEYRING = {"keyring": True}
"""Value of a key that the system's keyring holds."""


def config_file() -> Path:
    """Return the path of the user's config file, which need not be there."""
    try:
        return Path(CONFIG_FILE).expanduser()
    except RuntimeError as error:
        raise ConfigurationError(f"{CONFIG_FILE}: {error}") from error


def read_config_file() -> dict[str, Value | dict[str, bool]]:
    """Return the settings that the file names. Raises ConfigurationError where it can't be read."""
    return _parsed(_text())


def write_setting(field: str, value: Value | dict[str, bool] | None) -> None:
    """Set one setting in the file, or remove it where `value` is None. Only the owner may read the file.

    Raises ConfigurationError where the file can't be read or is not written a setting a line, and StorageError where
    it can't be written.
    """
    before = _text()
    after = _changed(before, field, value)
    wanted = {**_parsed(before), field: value}
    if value is None:
        del wanted[field]
    # The lines were changed without a parser: the result is read again, so that nothing else can change with them.
    if _parsed(after) != wanted:
        raise ConfigurationError(
            f"{CONFIG_FILE} can't be changed: it has {field} in more than one line.", hint="Edit it by hand."
        )
    path = config_file()
    try:
        make_private_folder(path.parent)
        write_whole(path.resolve(), after.encode("utf-8"), private=True)
    except OSError as error:
        raise StorageError(f"{path} can't be written: {error.strerror or error}") from error


def _changed(text: str, field: str, value: Value | dict[str, bool] | None) -> str:
    line = [] if value is None else [f"{field} = {_as_toml(value)}"]
    lines = text.splitlines()
    own = re.compile(rf"\s*[\"']?{field}[\"']?\s*=")
    place = next((number for number, each in enumerate(lines) if own.match(each)), len(lines))
    lines[place : place + 1] = line
    return "".join(f"{each}\n" for each in lines)


def _as_toml(value: Value | dict[str, bool]) -> str:
    if isinstance(value, dict):
        return "{ keyring = true }"
    # JSON's texts, numbers, true and false are TOML's too.
    return json.dumps(value, ensure_ascii=False)


def _text() -> str:
    try:
        return config_file().read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{CONFIG_FILE} can't be read: {reason_of(error)}") from error


def _parsed(text: str) -> dict[str, Value | dict[str, bool]]:
    try:
        return parse_config(text)
    except ValueError as error:
        raise ConfigurationError(f"{CONFIG_FILE} can't be read: {error}", hint="Correct it by hand.") from error
