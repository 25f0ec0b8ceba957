"""Files of questions: one a line, or with an id, a context and a depth of their own in CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
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
    for line, fields in _rows(path):
        own = {name: value for name in _OF_THE_REQUEST if (value := fields.get(name)) not in (None, "")}
        try:
            request = ResearchRequest.model_validate({**given, **own, "constraints": constraints})
        except ValidationError as error:
            problems += [f"line {line}, {field}: {problem}" for field, problem in InvalidRequest.of(error).problems]
            continue
        named = str(fields.get("id") or "").strip()
        found.append(Asked(named or str(len(found) + 1), bool(named), request))
    if problems:
        more = len(problems) - _PROBLEMS_SHOWN
        rest = [f"and {more} more"] if more > 0 else []
        raise typer.BadParameter("\n".join([f"--file {path}:", *problems[:_PROBLEMS_SHOWN], *rest]))
    if not found:
        raise typer.BadParameter(f"--file {path} holds no question")
    return found


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield (number of the line, its fields). Raises a usage error."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"--file {path} is not UTF-8 text") from None
    except OSError as error:
        raise typer.BadParameter(f"--file {path} can't be read: {error.strerror or error}") from None
    ending = path.suffix.lower()
    if ending == ".csv":
        rows = csv.DictReader(io.StringIO(text, newline=""))
        if "question" not in (rows.fieldnames or ()):
            raise typer.BadParameter(f"--file {path}: its first line must name the columns, one of them `question`")
        for row in rows:
            if any(row.values()):
                yield rows.line_num, row
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (ending != ".jsonl" and line.startswith("#")):
            continue
        yield number, _fields(path, number, line) if ending == ".jsonl" else {"question": line.strip()}


def _fields(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if isinstance(fields, str):
        return {"question": fields}
    if not isinstance(fields, dict):
        raise typer.BadParameter(f"--file {path}: line {number} is not a JSON object with a question")
    return fields
