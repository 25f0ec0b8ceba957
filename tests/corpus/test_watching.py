"""Watching a corpus: a change is told, one of what is passed over is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.corpus import watching
from marchwarden.corpus.watching import changes_below
from tests.corpora import write


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "_PAUSE_MS", 100)
    monkeypatch.setattr(watching, "_FIRST_MS", 50)


def test_a_change_is_told_and_one_before_the_watch_began_is_not_missed(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "x", ".git/x": "x"})
    changes = changes_below([tmp_path], told=lambda _: None)
    next(changes)
    write(tmp_path, {".git/x": "y", "node_modules/y.md": "y"})
    write(tmp_path, {"sub/b.md": "y"})
    next(changes)
    changes.close()
