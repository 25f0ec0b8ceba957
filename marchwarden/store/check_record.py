"""Results of looking after citations, kept beside their trace: `ID.checks.json`, the latest check last.

The file is no part of the evidence: nothing seals it, and `verify` does not read it. It imports nothing slow, since
`replay` shows it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from marchwarden.errors import StorageError
from marchwarden.files import write_whole

# States of a quote, as they are told.
STATE_WORDS = {
    "same": "still said",
    "elsewhere": "said elsewhere on the page",
    "moved": "moved, and still said",
    "changed": "changed",
    "gone": "gone",
    "closed": "closed now",
    "unreachable": "cannot be reached",
}

# Checks of one trace that are kept. A guess: a year of a check every other week.
MOST_CHECKS = 26


def record_of(trace: Path) -> Path:
    """Return the file of a trace's checks."""
    return trace.with_name(f"{trace.stem}.checks.json")


def read_checks(trace: Path) -> list[dict[str, Any]]:
    """Return the checks of a trace, the oldest first; none where there are none or the file is damaged."""
    try:
        kept = json.loads(record_of(trace).read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    checks = kept.get("checks") if isinstance(kept, dict) else None
    return [
        each
        for each in (checks if isinstance(checks, list) else [])
        if isinstance(each, dict) and isinstance(each.get("checked"), str) and isinstance(each.get("citations"), list)
    ]


def last_check(trace: Path) -> dict[str, Any] | None:
    """Return the latest check of a trace; None where it was never checked."""
    checks = read_checks(trace)
    return checks[-1] if checks else None


def keep_check(trace: Path, check: dict[str, Any]) -> None:
    """Append a check to those of a trace. Raises StorageError where the file can't be written."""
    keep_checks(trace, [*read_checks(trace), check])


def keep_checks(trace: Path, checks: list[dict[str, Any]]) -> None:
    """Keep the latest of these checks, the oldest first, as those of a trace. Raises StorageError."""
    body = json.dumps({"trace_id": trace.stem, "checks": checks[-MOST_CHECKS:]}, ensure_ascii=False, indent=1)
    try:
        # As private as the trace: it has quotes.
        write_whole(record_of(trace), body.encode("utf-8", "replace") + b"\n", private=True)
    except OSError as error:
        raise StorageError(
            f"the check of {trace.stem} can't be kept: {error.strerror or error}",
            hint=f"Is there room in {trace.parent}, and may it be written?",
        ) from error
