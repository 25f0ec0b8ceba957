"""What is read early is what settings.Settings says."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.cli.early import debugging, trace_folder
from marchwarden.settings import load_settings


@pytest.mark.parametrize(
    ("environment", "dotenv"),
    [
        ({}, None),
        ({}, "MARCHWARDEN_TRACE_DIR=from-dotenv\nMARCHWARDEN_DEBUG=yes\n"),
        ({"MARCHWARDEN_TRACE_DIR": "from-environment"}, "MARCHWARDEN_TRACE_DIR=from-dotenv\n"),
        ({"MARCHWARDEN_TRACE_DIR": ""}, "MARCHWARDEN_TRACE_DIR=from-dotenv\n"),
        ({"marchwarden_trace_dir": "~/lower", "MARCHWARDEN_DEBUG": "TRUE"}, None),
        ({"MARCHWARDEN_DEBUG": "1"}, "MARCHWARDEN_DEBUG=0\nmarchwarden_trace_dir='quoted folder'\n"),
        ({"MARCHWARDEN_DEBUG": "off"}, "# nothing\n"),
    ],
)
def test_it_agrees_with_the_settings(
    environment: dict[str, str], dotenv: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MARCHWARDEN_TRACE_DIR")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if dotenv is not None:
        Path(".env").write_text(dotenv, encoding="utf-8")
    settings = load_settings()
    assert (trace_folder(), debugging()) == (settings.traces, settings.debug)


def test_a_debug_switch_that_is_no_boolean_is_off_until_the_settings_report_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MARCHWARDEN_DEBUG", "perhaps")
    assert not debugging()
