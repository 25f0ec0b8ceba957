"""What users of other command lines expect: every row of the page is run."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.test_docs import page, rows

PAGE = "docs/reference/what-you-expect.md"


def test_every_row_does_what_it_says(run: Run, web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_WEB", str(web))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    Path("notes").mkdir()
    Path("notes/rain.md").write_text("In 2024 we measured 14 litres of rain a week in the rain barrel.")
    table = rows(page(PAGE).replace("\\|", "¦"))
    assert len(table) > 20
    for wanted, _, command, said in table:
        piped, bar, asked = command.strip("`").rpartition(" ¦ ")
        if bar:
            typed = f"{shlex.split(piped)[1]}\n".encode()
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed)))
        ran = run(*shlex.split(asked)[1:])
        assert ran.code == 0, (wanted, ran)
        assert re.search(re.escape(said), f"{ran.out} {ran.said}"), (wanted, ran)
