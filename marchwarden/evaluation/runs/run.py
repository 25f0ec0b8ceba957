"""A run on disk: its set-up (run.json), a record for each question (results.jsonl), and their traces.

Records are appended as they come, so an interrupted run keeps them and can be resumed; the last record of a question
counts. `datasets.load_dataset("json", data_files="RUN/results.jsonl")` reads them as a table.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from marchwarden.contract import ResearchResult
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.scoring.aggregates import Cells
from marchwarden.evaluation.scoring.metrics import figures
from marchwarden.files import is_full, write_whole

# Names in a run's folder.
RUN, RESULTS, TRACES = "run.json", "results.jsonl", "traces"
Grade = Literal["supported", "partly", "not"]


class RunInfo(BaseModel):
    """The set-up of a run: enough to tell whether two can be compared, and whether one can be resumed."""

    model_config = ConfigDict(protected_namespaces=())

    format: int = 1
    version: str
    """Version of Marchwarden."""
    started: datetime
    model_id: str
    program: str | None = None
    """Fingerprint of the compiled program or calibration in force; None without one."""
    compiled: str | None = None
    """Hash of the compiled stages that were in force; None where none was."""
    reads_by: Literal["words", "meaning"] = "words"
    """`meaning` where pages were also read with the embedding model."""
    questions: str
    """Name of the file or set of questions."""
    split: str | None = None
    labels: str
    """Hash of the labelled questions that were asked."""
    source: str = "snapshot"
    """Sources that were searched, with commas."""
    pages: str
    """Hash of the pages that the sources hold; `live` where one of them is live."""
    web: str | None = None
    """Hash of the frozen web's manifest; None for the shipped web, and where no frozen web was searched."""
    jobs: int = 1
    cluster: str | None = None
    """Address of the scheduler whose workers were asked; None where they were asked on this machine."""
    asked: int | None = None
    """Number of questions that were to be asked; None where an older version wrote the file."""
    epochs: int = 1
    """Number of times that each of them was to be asked."""

    @property
    def set_up(self) -> tuple[str | int | None, ...]:
        """Values that must be equal for records of one run to belong together."""
        return (
            self.version,
            self.model_id,
            self.program,
            self.reads_by,
            self.labels,
            self.source,
            self.pages,
            self.epochs,
        )

    def differences(self, now: RunInfo) -> list[str]:
        """Return the reasons that keep records of `now` out of this run, each in words with both values."""
        named = [
            ("version", self.version, now.version),
            ("model", self.model_id, now.model_id),
            ("program", self.program or "none", now.program or "none"),
            ("reading by", self.reads_by, now.reads_by),
            ("sources", self.source, now.source),
            ("pages", self.pages, now.pages),
            ("epochs", str(self.epochs), str(now.epochs)),
        ]
        found = [f"{name} {its} there, {other} now" for name, its, other in named if its != other]
        if self.labels != now.labels:
            counts = f", {self.asked} there, {now.asked} now" if self.asked and self.asked != now.asked else ""
            found.append(f"other questions{counts} (another --split, --kind, --limit, --questions)")
        return found


class Mark(BaseModel):
    """A judge's grade of how far an answer states a nugget."""

    nugget: str
    """Id of the nugget."""
    grade: Grade


class Judged(BaseModel):
    """Marks of an answer by a judge model (judge.py)."""

    model_config = ConfigDict(protected_namespaces=())

    model_id: str
    marks: list[Mark] | None
    """Marks of the vital nuggets; None where no grade could be read: then there is nothing to score."""
    reason: str | None = None
    """Reason for which there are no marks, in a sentence."""
    tokens: int


class Record(BaseModel):
    """One question of a run, with its result and the scorers' cells."""

    id: str
    epoch: int = 1
    """Number of the time, from 1, that the question was asked in this run."""
    question: Question
    trace_id: str
    result: ResearchResult | None
    error: str | None = None
    """Reason for which there is no result, in a sentence."""
    seconds: float
    pages: int
    unverified: int
    dollars: float | None = None
    cells: dict[str, Cells | None]
    """Cells by scorer (metrics.py); None where a scorer has nothing to score."""
    judged: Judged | None = None

    @property
    def key(self) -> tuple[str, int]:
        """Id and epoch, which tell a record from the others of its run."""
        return self.id, self.epoch

    @property
    def name(self) -> str:
        """Id of the question, with the epoch from the second one on."""
        return self.id if self.epoch == 1 else f"{self.id}~{self.epoch}"


class Run:
    """A run's folder, opened to read or to go on."""

    def __init__(self, folder: Path, info: RunInfo, records: Sequence[Record]) -> None:
        self.folder = folder
        self.info = info
        self._records = {record.key: record for record in records}

    @property
    def records(self) -> list[Record]:
        return list(self._records.values())

    @property
    def traces(self) -> Path:
        return self.folder / TRACES

    @property
    def name(self) -> str:
        return self.folder.name

    def add(self, record: Record) -> None:
        """Append a record to the file. Raises StorageError where that can't be done."""
        path = self.folder / RESULTS
        try:
            with path.open("ab") as file:
                # A line that a crash or a full disk tore is ended first, so that this one is whole.
                if size := path.stat().st_size:
                    with path.open("rb") as written:
                        written.seek(size - 1)
                        if written.read(1) != b"\n":
                            file.write(b"\n")
                file.write(record.model_dump_json().encode("utf-8") + b"\n")
        except OSError as error:
            raise _unwritable(path, error) from None
        self._records[record.key] = record

    def mend(self) -> None:
        """Remove lines that a crash or a full disk tore, so that other tools can read the file. Raises
        StorageError."""
        path = self.folder / RESULTS
        lines = []
        try:
            body = path.read_bytes() if path.exists() else b""
            for line in body.split(b"\n"):
                with suppress(ValidationError):
                    Record.model_validate_json(line)
                    lines.append(line + b"\n")
            if (whole := b"".join(lines)) != body:
                write_whole(path, whole)
        except OSError as error:
            raise _unwritable(path, error) from None

    def tidy(self) -> None:
        """Write the file anew with one record for each question and epoch: the last, which is the one that counts.

        Raises StorageError.
        """
        body = b"".join(record.model_dump_json().encode("utf-8") + b"\n" for record in self.records)
        try:
            write_whole(self.folder / RESULTS, body)
        except OSError as error:
            raise _unwritable(self.folder / RESULTS, error) from None

    def figures(self) -> dict[str, float | None]:
        """Return every metric over all records; None where no record has anything to score."""
        return figures([record.cells for record in self.records])

    def figures_by_kind(self) -> dict[str, dict[str, float | None]]:
        """Return every metric over the records of each tag, in alphabetical order of the tags."""
        tags = sorted({tag for record in self.records for tag in record.question.tags})
        return {
            tag: figures([record.cells for record in self.records if tag in record.question.tags]) for tag in tags
        }


def start_run(folder: Path, info: RunInfo) -> Run:
    """Make the folder with its run.json, and return the run.

    Raises EvaluationError where the folder holds anything, StorageError where it can't be written.
    """
    if (folder / RUN).exists():
        raise EvaluationError(
            f"{folder} holds a run already", hint="Continue it with --resume, or name another --out."
        )
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise EvaluationError(f"{folder} holds other files, and no run", hint="Name another --out.")
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / RUN, info.model_dump_json(indent=2).encode("utf-8") + b"\n")
    except OSError as error:
        raise _unwritable(folder, error) from None
    return Run(folder, info, [])


def open_run(folder: Path) -> Run:
    """Return the run in a folder, or of a file in it.

    Raises EvaluationError where there is none, and where another version wrote it in another format.
    """
    given = folder
    if folder.is_file():
        folder = folder.parent
    try:
        info = RunInfo.model_validate_json((folder / RUN).read_bytes())
    except OSError:
        what = "is no file of a run" if given.is_file() else "holds no run"
        raise EvaluationError(f"{given} {what}", hint="`marchwarden eval` prints where it put one.") from None
    except ValidationError as error:
        raise EvaluationError(f"{folder / RUN} can't be read: {_first(error)}") from None
    if info.format != RunInfo.model_fields["format"].default:
        raise EvaluationError(f"{folder} was written by another version of Marchwarden ({info.version})")
    return Run(folder, info, _read_records(folder / RESULTS))


def _read_records(path: Path) -> list[Record]:
    """Return the records of a file without lines that a crash or a full disk tore; none where the file is missing.

    Raises EvaluationError, which names the line, for a whole line that is no record.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise EvaluationError(f"{path} can't be read: {error.strerror or error}") from None
    records = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            records.append(Record.model_validate_json(line))
        except ValidationError as error:
            # A torn line is no JSON, wherever it was cut; anything else is a file of something else.
            if error.errors()[0]["type"] != "json_invalid":
                raise EvaluationError(f"{path}, line {number}: {_first(error)}") from None
    return records


def latest_run(runs: Path, info: RunInfo) -> Run | None:
    """Return the newest run of the same set-up in the folder `runs`; None where there is none."""
    found = sorted(runs.glob(f"*/{RUN}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found:
        try:
            run = open_run(path.parent)
        except EvaluationError:
            continue
        if run.info.set_up == info.set_up:
            return run
    return None


def folder_name(info: RunInfo) -> str:
    """Return a name such as `20261128-034107-extractive-dev`: time, model, questions."""
    return "-".join(
        (info.started.strftime("%Y%m%d-%H%M%S"), slug(info.model_id), info.split or slug(Path(info.questions).stem))
    )


def slug(text: str) -> str:
    """Return a model's or a set's name as part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-").lower() or "unnamed"


def fingerprint(parts: Sequence[str]) -> str:
    """Return 16 hexadecimal digits of the SHA-256 hash of the parts."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def labels_fingerprint(questions: Sequence[Question]) -> str:
    return fingerprint([question.model_dump_json() for question in questions])


def pages_fingerprint(folder: Path) -> str:
    """Return the fingerprint of a frozen web's content: the manifest and every file beside it."""
    found = hashlib.sha256()
    # Read-me files beside the pages are no part of the web.
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md"):
        found.update(str(path.relative_to(folder)).encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def now() -> datetime:
    return datetime.now(timezone.utc).replace(microsecond=0)


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON, whole or not at all. Raises StorageError where the file can't be written."""
    try:
        write_whole(path, json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n")
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> StorageError:
    full = is_full(error)
    hint = "Free some space and go on with --resume, or name" if full else "Name"
    return StorageError(
        f"{path} can't be written: {error.strerror or error}", hint=f"{hint} another folder with --out."
    )


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return ": ".join(filter(None, (".".join(str(part) for part in first["loc"]), first["msg"])))
