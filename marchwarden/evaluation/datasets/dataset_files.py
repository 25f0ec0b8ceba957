"""Read the files of public data sets: find them, validate each row, cut them to a sample that stays the same."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from marchwarden.errors import EvaluationError

Row = TypeVar("Row", bound=BaseModel)
Item = TypeVar("Item")

# Errors of reading a file, packed or not, that isn't of the kind that its name says.
UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError)


def file_in(path: Path, name: str) -> Path:
    """Return the file `name` in the folder `path`, or `path` itself. Raises EvaluationError where it is missing."""
    file = path / name if path.is_dir() else path
    if not file.is_file():
        raise EvaluationError(f"{file} is not there", hint=_hint(name))
    return file


def rows_of(path: Path, name: str, row: type[Row]) -> list[Row]:
    """Return the lines of a JSONL file, gzipped or not, as `row`s.

    Raises EvaluationError, which names file and line, where one is no `row`, and where the file is empty.
    """
    file = file_in(path, name)
    try:
        body = file.read_bytes()
        text = (gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body).decode("utf-8")
    except UNREADABLE as error:
        raise EvaluationError(f"{file} can't be read: {error}", hint=_hint(name)) from None
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(row.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(part) for part in first["loc"])
            what = f"{field}: {first['msg']}" if field else first["msg"]
            raise EvaluationError(f"{file}, line {number}: {what}", hint=_hint(name)) from None
    if not rows:
        raise EvaluationError(f"{file} is empty", hint=_hint(name))
    return rows


def foreign(file: Path, what: str) -> EvaluationError:
    """Return the error to raise where a file is there, but isn't of the set."""
    return EvaluationError(f"{file}: {what}", hint=_hint(file.name))


def _hint(name: str) -> str:
    return f"--path names {name}, or the folder that holds it."


def sampled(items: Sequence[Item], limit: int | None, key: Callable[[Item], str]) -> list[Item]:
    """Return at most `limit` items in their order, chosen by a checksum of their keys."""
    # So a smaller sample is part of a larger one, and files that are sorted by source or label give some of each.
    if limit is None or limit >= len(items):
        return list(items)
    checksums = [hashlib.sha256(key(item).encode("utf-8", "replace")).digest() for item in items]
    by_checksum = sorted(range(len(items)), key=lambda number: checksums[number])
    return [items[number] for number in sorted(by_checksum[: max(0, limit)])]
