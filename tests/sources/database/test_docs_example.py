"""The worked example of docs/how-to/ask-a-database.md gives the answers that stand there."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from marchwarden.settings import load_settings
from tests.runs import run

PAGE = Path(__file__).parents[3] / "docs/how-to/ask-a-database.md"

pytestmark = pytest.mark.anyio


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


async def test_each_question_of_the_page_is_answered_as_it_says(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "shop.sqlite")
    connection.executescript(block("sql"))
    connection.close()
    (tmp_path / "databases.toml").write_text(block("toml"), encoding="utf-8")
    settings = load_settings(model="extractive", source="db:shop", databases=tmp_path / "databases.toml")
    rows = re.findall(r"^\| ([^|]+\?) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 4
    answers = {question: (await run(question, settings=settings)).result.answer for question, _ in rows}
    assert answers == dict(rows)
