"""Files of questions: one a line, or with an id, a context and a depth of their own in CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from marchwarden.contract import ResearchRequest

# Fields of a line that are part of the question's request.
_OF_THE_REQUEST = ("question", "context", "depth")
# Problems that are listed before the rest is only counted. A guess.
_PROBLEMS_SHOWN = 5


@dataclass(frozen=True)
class Asked:
    """A question of a file."""

    id: str
    """Id that the file gives it; else its number, from 1."""
    has_own_id: bool
    request: ResearchRequest

    @property
    def key(self) -> tuple[str, ...]:
        """Return what tells it from the others, also in another version of the file."""
        return (self.id,) if self.has_own_id else (self.request.question, self.request.context or "")


def read_questions(path: Path, given: Mapping[str, Any]) -> list[Asked]:
    """Return the questions of a file; `given` holds the context, the depth and the constraints for all of them.

    Raises a usage error that names each line which can't be asked, and for a file without questions.
    """
    from pydantic import ValidationError

    from marchwarden.contract import ResearchRequest
    from marchwarden.errors import InvalidRequest

    constraints = {name: value for name, value in given["constraints"].items() if value is not None}
    found: list[Asked] = []
    problems: list[str] = []
    ids: dict[str, int] = {}
    for line, fields in rows_of(path):
        own = {name: value for name in _OF_THE_REQUEST if (value := fields.get(name)) not in (None, "")}
        try:
            request = ResearchRequest.model_validate({**given, **own, "constraints": constraints})
        except ValidationError as error:
            problems += [f"line {line}, {field}: {problem}" for field, problem in InvalidRequest.of(error).problems]
            continue
        named = str(fields.get("id") or "").strip()
        # Else --resume would take the answer of one for that of the other.
        if named and (first := ids.setdefault(named, line)) != line:
            problems.append(f"line {line}, id: line {first} has the same, {named}")
        found.append(Asked(named or str(len(found) + 1), bool(named), request))
    if problems:
        more = len(problems) - _PROBLEMS_SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise typer.BadParameter("\n".join([f"--file {path}:", *problems[:_PROBLEMS_SHOWN], *rest]))
    if not found:
        raise typer.BadParameter(f"--file {path} holds no question")
    return found


def rows_of(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (number of the line, its fields); `-` is stdin. Raises a usage error."""
    try:
        body = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise typer.BadParameter(f"{path} can't be read: {error.strerror or error}") from None
    ending = path.suffix.lower()
    if ending == ".csv":
        yield from _csv_rows(path, text)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (ending != ".jsonl" and line.startswith("#")):
            continue
        yield number, _fields(path, number, line) if ending == ".jsonl" else {"question": line.strip()}


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # Spreadsheets write semicolons where the comma is a decimal point, and some write tabs.
    for delimiter in ",;\t":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        try:
            names = [name.strip().lower() for name in next(rows, ())]
            if "question" not in names:
                continue
            for row in rows:
                if any(row):
                    yield rows.line_num, dict(zip(names, row, strict=False))
        except csv.Error as error:
            raise typer.BadParameter(f"{path}: line {rows.line_num}: {error}") from None
        return
    raise typer.BadParameter(f"{path}: its first line must name the columns, one of them `question`")


def _fields(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, str):
        return {"question": fields}
    if not isinstance(fields, dict):
        raise typer.BadParameter(f"{path}: line {number} is not a JSON object with a question")
    return fields
