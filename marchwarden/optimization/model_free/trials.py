"""Trials of a search for parameters, in a file. A search that goes on reads it first, and so ends as it would have
without a break.

Own code beside optuna's storages: a score is kept under a hash of labels, pages and version.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from marchwarden.errors import StorageError
from marchwarden.optimization.model_free.parameter_space import Values


class Trials:
    """Scores of tried values, a JSON line each; without a file, in memory only.

    Lines of another `key` (other labels, other pages …) are skipped.
    """

    def __init__(self, file: Path | None, key: str) -> None:
        """Read the file. Raises StorageError where it can't be read."""
        self._file, self._key = file, key
        self._scores: dict[str, float] = {}
        text = ""
        try:
            text = file.read_text("utf-8", errors="replace") if file else ""
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._trouble(error) from None
        for line in text.splitlines():
            # A process that was killed can have left a line unfinished.
            with suppress(ValueError, KeyError, TypeError):
                written = json.loads(line)
                if written["key"] == key:
                    self._scores[_name(written["values"])] = float(written["score"])

    def score(self, values: Values) -> float | None:
        """Return the score of these values, 0–1; None where they were not tried."""
        return self._scores.get(_name(values))

    def add(self, values: Values, score: float) -> None:
        """Keep the score of these values. Raises StorageError where the file can't be written."""
        self._scores[_name(values)] = score
        if self._file is None:
            return
        line = json.dumps({"key": self._key, "values": values, "score": score}, sort_keys=True)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a+b") as file:
                # The last line may have no end, where a process was killed while it wrote.
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 1))
                is_torn = size > 0 and file.read(1) != b"\n"
                file.write(b"\n" * is_torn + line.encode("utf-8") + b"\n")
        except OSError as error:
            raise self._trouble(error) from None

    def _trouble(self, error: OSError) -> StorageError:
        return StorageError(
            f"{self._file}: {error.strerror or error}", hint="Free some space, or correct the folder's permissions."
        )


def _name(values: Values) -> str:
    return json.dumps(values, sort_keys=True)
