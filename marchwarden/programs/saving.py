"""Writing of a program, which can be read at every moment.

The stages' files come first, under names that hold their hashes; then program.json, in one step; at last, files that
it no longer names are removed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel

from marchwarden.errors import StorageError
from marchwarden.files import is_full, is_left_behind, write_whole
from marchwarden.programs.parameters import Parameters
from marchwarden.programs.reading import PARAMETERS, PROGRAM
from marchwarden.programs.records import CompiledStage, ProgramInfo

# Names of stages' files, and of files that a killed writer left (files.py).
_HASHED = re.compile(r"[a-z_]+\.[0-9a-f]{8}\.json")


def save_program(
    folder: Path, info: ProgramInfo, stages: Sequence[CompiledStage], parameters: Parameters | None = None
) -> Path:
    """Write the program into the folder, in place of the one that was there, and return program.json's path.

    `stages` and `parameters` are those that `info` keeps; their records get file and hash here. A calibration.json
    stays as it is. Not for two processes at once. Raises StorageError where the folder can't be written; what was
    there is whole then.
    """
    parts: dict[str, BaseModel] = {each.stage: each for each in stages}
    if parameters is not None:
        parts[PARAMETERS] = parameters
    bodies = {name: part.model_dump_json(indent=2).encode("utf-8") + b"\n" for name, part in parts.items()}
    kept = {name for name, record in info.stages.items() if record.kept}
    if kept != set(bodies):
        raise ValueError(f"the record keeps {sorted(kept)}, and there are files of {sorted(bodies)}")
    records = {}
    for name, record in info.stages.items():
        sha256 = hashlib.sha256(bodies[name]).hexdigest() if record.kept else None
        file = f"{name}.{sha256[:8]}.json" if sha256 else None
        records[name] = record.model_copy(update={"file": file, "sha256": sha256})
    recorded = info.model_copy(update={"stages": records})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, body in bodies.items():
            write_whole(folder / str(recorded.stages[name].file), body)
        write_whole(folder / PROGRAM, recorded.model_dump_json(indent=2).encode("utf-8") + b"\n")
    except OSError as error:
        # The limits of disk, quota and file size need another hint than a folder that can't be written.
        full = is_full(error)
        hint = "Free some space, or name" if full else "Name"
        raise StorageError(
            f"the program can't be written into {folder}: {error.strerror or error}",
            hint=f"{hint} another folder with --out.",
        ) from None
    # Files that earlier programs and killed writers left; one that can't be removed does no harm.
    keep = {record.file for record in recorded.stages.values() if record.file}
    with suppress(OSError):
        for path in folder.iterdir():
            left = _HASHED.fullmatch(path.name) or is_left_behind(path)
            if left and path.name not in keep:
                with suppress(OSError):
                    path.unlink()
    return folder / PROGRAM
