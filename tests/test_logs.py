"""What reaches a log acts on no terminal and forges no record."""

from __future__ import annotations

import logging
import subprocess
import sys

from marchwarden.logs import EscapingFormatter

HOSTILE = "\x1b[2J\x07\r\n2026-11-27 10:00:00,000 1 INFO marchwarden: all is well\u202e\u2028\ud800\x9b31m é"


def record_of(error: Exception | None = None, **more: object) -> logging.LogRecord:
    traceback = (type(error), error, None) if error else None
    return logging.getLogger("any.library").makeRecord(
        "x", 40, "x.py", 1, "it said %s", (HOSTILE,), traceback, **more
    )  # type: ignore[arg-type]


def test_control_characters_of_a_message_are_escaped() -> None:
    told = EscapingFormatter().format(record_of())
    assert told.isprintable()
    assert told.startswith(r"it said \x1b[2J\x07\r\n2026-11-27")
    assert told.endswith(r"well\u202e\u2028\ud800\x9b31m é")


def test_the_lines_of_a_traceback_cannot_be_taken_for_records() -> None:
    first, *after = EscapingFormatter().format(record_of(ValueError(HOSTILE), sinfo="Stack:\n  one")).split("\n")
    assert first.startswith("it said ")
    assert len(after) > 3
    assert all(line.startswith("  | ") and line.isprintable() for line in after)


def test_a_traceback_is_told_once_though_another_handler_has_told_it_before() -> None:
    record = record_of(ValueError("once"))
    logging.Formatter().format(record)
    assert EscapingFormatter().format(record).count("ValueError: once") == 1


def test_a_process_that_logs_escapes_what_it_logs() -> None:
    script = f"import logging; from marchwarden import logs; logs.configure(debug=True); logging.warning({HOSTILE!r})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8")
    assert done.stderr.count("\n") == 1
    assert r"root: \x1b[2J\x07\r\n2026-11-27" in done.stderr
