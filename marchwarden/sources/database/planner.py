"""Stub."""

from __future__ import annotations

import re
from dataclasses import dataclass

from marchwarden.sources.database.schema import Schema


@dataclass(frozen=True)
class NotPlanned:
    reason: str


def plan_statement(question: str, schema: Schema, dialect: str) -> str | NotPlanned:
    if m := re.match(r"how many (\w+?)s ", question.lower()):
        return f"SELECT count(*) FROM {m[1]}"
    return NotPlanned("no")
