"""Changes of the file that names the user's databases. Comments and other databases stay as they are."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from marchwarden.errors import ConfigurationError, StorageError, reason_of
from marchwarden.files import make_private_folder, write_whole

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_HEADER = re.compile(r"\s*\[\s*(?:\"(?P<quoted>[^\"]+)\"|'(?P<literal>[^']+)'|(?P<bare>[\w-]+))\s*\]\s*(?:#.*)?")


def write_database(file: Path, name: str, entry: Mapping[str, object]) -> None:
    """Add a database at the end of the file, which only its owner may read: a URL may hold a password.

    Raises ConfigurationError where the file can't be read, and StorageError where it can't be written.
    """
    before = _text(file)
    table = "".join(f"{field} = {json.dumps(value, ensure_ascii=False)}\n" for field, value in entry.items())
    after = f"{before.rstrip()}\n\n[{json.dumps(name) if '.' in name else name}]\n{table}".lstrip()
    _write(file, after, {**_parsed(file, before), name: dict(entry)})


def remove_database(file: Path, name: str) -> None:
    """Remove a database from the file. Raises what `write_database` does."""
    before = _text(file)
    lines = before.splitlines(keepends=True)
    headers = [(at, found) for at, line in enumerate(lines) if (found := _HEADER.fullmatch(line.rstrip("\n")))]
    begin = next((at for at, found in headers if name in found.groups()), len(lines))
    end = next((at for at, _ in headers if at > begin), len(lines))
    # What stands right above the next one is about that.
    while end < len(lines) and end - 1 > begin and lines[end - 1].lstrip().startswith("#"):
        end -= 1
    wanted = _parsed(file, before)
    wanted.pop(name, None)
    _write(file, "".join([*lines[:begin], *lines[end:]]), wanted)


def _write(file: Path, after: str, wanted: dict[str, Any]) -> None:
    # The lines were changed without a parser: the result is read again, so that nothing else can change with them.
    if _parsed(file, after) != wanted:
        raise ConfigurationError(f"{file} can't be changed: it is not written as usual.", hint="Edit it by hand.")
    try:
        make_private_folder(file.parent)
        write_whole(file.resolve(), after.encode("utf-8"), private=True)
    except OSError as error:
        raise StorageError(f"{file} can't be written: {error.strerror or error}") from error


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file} can't be read: {reason_of(error)}") from error


def _parsed(file: Path, text: str) -> dict[str, Any]:
    try:
        told: dict[str, Any] = tomllib.loads(text)
    except ValueError as error:
        raise ConfigurationError(f"{file} can't be read: {error}", hint="Correct it by hand.") from error
    return told
