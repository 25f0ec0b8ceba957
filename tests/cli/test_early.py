"""What is read early is what settings.Settings says."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.cli.early import debugging, server_token, store_url, trace_folder
from marchwarden.errors import ConfigurationError
from marchwarden.settings import load_settings


@pytest.mark.parametrize(
    ("environment", "dotenv"),
    [
        ({}, None),
        ({}, "MARCHWARDEN_TRACE_DIR=from-dotenv\nMARCHWARDEN_DEBUG=yes\n"),
        ({"MARCHWARDEN_TRACE_DIR": "from-environment"}, "MARCHWARDEN_TRACE_DIR=from-dotenv\n"),
        ({"MARCHWARDEN_TRACE_DIR": ""}, "MARCHWARDEN_TRACE_DIR=from-dotenv\n"),
        ({"marchwarden_trace_dir": "~/lower", "MARCHWARDEN_DEBUG": "TRUE"}, None),
        ({}, "MARCHWARDEN_SERVER_TOKEN=a-token-of-a-server\n"),
        ({"MARCHWARDEN_DEBUG": "1"}, "MARCHWARDEN_DEBUG=0\nmarchwarden_trace_dir='quoted folder'\n"),
        ({"MARCHWARDEN_DEBUG": "off"}, "# nothing\n"),
        ({"MARCHWARDEN_STORE": "file:/shared"}, "MARCHWARDEN_STORE=file:/elsewhere\n"),
        ({}, "MARCHWARDEN_STORE=file:/elsewhere\n"),
        ({}, "\ufeffMARCHWARDEN_TRACE_DIR=after-a-byte-order-mark\n"),
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
    assert (trace_folder(), debugging(), store_url()) == (settings.traces, settings.debug, settings.store)
    assert server_token() == (settings.server_token.get_secret_value() if settings.server_token else None)


def test_the_config_file_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_TRACE_DIR")
    file = Path("~/.marchwarden/config.toml").expanduser()
    file.parent.mkdir()
    file.write_text('trace_dir = "~/kept"\ndebug = true\nserver_token = "a-token-of-a-server"\n', encoding="utf-8")
    assert trace_folder() == load_settings().traces == Path.home() / "kept"
    assert debugging()
    assert server_token() == "a-token-of-a-server"


def test_a_debug_switch_that_is_no_boolean_is_off_until_the_settings_report_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MARCHWARDEN_DEBUG", "perhaps")
    assert not debugging()


def test_a_dotenv_that_is_no_text_is_left_for_the_settings_to_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_TRACE_DIR")
    Path(".env").write_bytes(b"MARCHWARDEN_TRACE_DIR=\xff\xfe\n")
    assert trace_folder() == Path.home() / ".marchwarden" / "traces"
    assert not debugging()
    with pytest.raises(ConfigurationError, match=r"\.env can't be read") as caught:
        load_settings()
    assert caught.value.hint


def test_a_home_that_there_is_not_is_named_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_TRACE_DIR", "~no-such-user/traces")
    for read in (trace_folder, load_settings):
        with pytest.raises(ConfigurationError, match=r"^MARCHWARDEN_TRACE_DIR: ~no-such-user/traces"):
            read()


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", "soon"])
@pytest.mark.parametrize("variable", ["MARCHWARDEN_MAX_SECONDS", "MARCHWARDEN_FETCH_TIMEOUT"])
def test_a_time_is_a_finite_number(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError, match=f"^{variable}: "):
        load_settings()
