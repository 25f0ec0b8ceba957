"""A folder can't take the user's keys, nor say where traces go; credentials in addresses are not shown."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from marchwarden.environment import OWN_FILE, folder_notes, variables, without_credentials
from marchwarden.errors import ConfigurationError
from marchwarden.logs import EscapingFormatter
from marchwarden.settings import load_settings
from marchwarden.text.redaction import Redactor, secrets_of

ELSEWHERE = "http://127.0.0.1:9/v1"
MINE, THEIRS = "sk-mine-0123456789", "sk-theirs-0123456789"


def write(file: str, **variables: str) -> None:
    path = Path(file).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name}={value}\n" for name, value in variables.items()), encoding="utf-8")


@pytest.mark.parametrize("own", ["environment", "file"])
@pytest.mark.parametrize(
    ("address", "key", "more"),
    [
        ("MARCHWARDEN_API_BASE", "ANTHROPIC_API_KEY", {}),
        ("MARCHWARDEN_API_BASE", "ANTHROPIC_API_KEY", {"MARCHWARDEN_MODEL": "anthropic/claude-sonnet-5-5"}),
        ("MARCHWARDEN_API_BASE", "MARCHWARDEN_API_KEY", {"MARCHWARDEN_MODEL": "openai/m"}),
        ("MARCHWARDEN_TAVILY_BASE_URL", "TAVILY_API_KEY", {}),
    ],
)
def test_an_address_in_a_folder_gets_no_key_of_the_user(
    own: str, address: str, key: str, more: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if own == "file":
        write(OWN_FILE, **{key: MINE})
    else:
        monkeypatch.setenv(key, MINE)
    write(".env", **{address: ELSEWHERE, **more})
    with pytest.raises(ConfigurationError, match=f"^{key} is not sent to the {address}") as caught:
        load_settings()
    assert MINE not in str(caught.value)
    assert "config.toml" in (caught.value.hint or "")
    # With a key beside it, that key goes, also where the user has another.
    write(".env", **{address: ELSEWHERE, key: THEIRS, **more})
    settings = load_settings()
    assert MINE not in secrets_of(settings)
    assert THEIRS in secrets_of(settings)


def test_a_folder_can_not_take_a_variable_of_the_user_into_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", MINE)
    write(
        ".env",
        MARCHWARDEN_TAVILY_BASE_URL=ELSEWHERE,
        TAVILY_API_KEY="${TAVILY_API_KEY}",
        MARCHWARDEN_CONTACT="$HOME ${HOME}",
    )
    settings = load_settings()
    assert MINE not in secrets_of(settings)
    assert settings.contact == "$HOME ${HOME}"


def test_a_folder_that_names_another_provider_gets_no_key_of_the_users_own() -> None:
    write(OWN_FILE, MARCHWARDEN_MODEL="openai/m", MARCHWARDEN_API_KEY=MINE)
    write(".env", MARCHWARDEN_MODEL="deepseek/m")
    with pytest.raises(ConfigurationError, match="MARCHWARDEN_API_KEY is not sent to the MARCHWARDEN_MODEL"):
        load_settings()
    for model, key in (("openai/other", MINE), ("extractive", MINE), ("deepseek/m", THEIRS)):
        write(".env", MARCHWARDEN_MODEL=model, **({"MARCHWARDEN_API_KEY": key} if key == THEIRS else {}))
        assert load_settings().api_key.get_secret_value() == key


def test_a_folder_can_not_name_the_key_that_signs() -> None:
    write(".env", MARCHWARDEN_SIGNING_KEY="theirs")
    assert load_settings().signing_key is None
    assert "MARCHWARDEN_SIGNING_KEY" in folder_notes()[0]


def test_a_key_given_in_python_is_not_sent_to_the_address_of_a_folder() -> None:
    write(".env", MARCHWARDEN_TAVILY_BASE_URL=ELSEWHERE)
    with pytest.raises(ConfigurationError, match="TAVILY_API_KEY is not sent"):
        load_settings(tavily_api_key=MINE)
    own = "http://127.0.0.1:10"
    assert load_settings(tavily_api_key=MINE, tavily_base_url=own).tavily_base_url == own


def test_an_address_of_the_users_own_goes_with_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MARCHWARDEN_API_BASE", ELSEWHERE)
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)
    write(".env", MARCHWARDEN_API_BASE="http://127.0.0.1:10/v1")
    settings = load_settings()
    assert (settings.api_base, secrets_of(settings)) == (ELSEWHERE, (MINE,))
    monkeypatch.delenv("MARCHWARDEN_API_BASE")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    write(OWN_FILE, MARCHWARDEN_API_BASE=ELSEWHERE)
    write(".env", MARCHWARDEN_API_KEY=THEIRS)
    settings = load_settings()
    assert (settings.api_base, secrets_of(settings)) == (ELSEWHERE, (THEIRS,))


def test_a_local_server_without_a_key_can_be_named_by_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", MINE)  # which no server of another model would get
    write(".env", MARCHWARDEN_API_BASE=ELSEWHERE, MARCHWARDEN_MODEL="openai/m")
    settings = load_settings()
    assert settings.api_base == ELSEWHERE
    assert MINE not in secrets_of(settings)


def test_a_folder_can_not_set_where_things_are_kept_nor_open_the_private_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = load_settings()
    refused = {
        "MARCHWARDEN_ALLOW_PRIVATE_ADDRESSES": "true",
        "MARCHWARDEN_CACHE_DIR": "here",
        "MARCHWARDEN_PROGRAM": "here",
        "MARCHWARDEN_TRACE_DIR": "here",
    }
    write(".env", **refused, MARCHWARDEN_MAX_SECONDS="7")
    assert load_settings() == own.model_copy(update={"max_seconds": 7.0})
    assert variables().refused == tuple(refused)
    (note,) = folder_notes()
    assert all(name in note for name in refused)
    for name in refused:
        monkeypatch.delenv(name, raising=False)
    write(OWN_FILE, **refused)
    assert str(load_settings().trace_dir) == "here"
    assert load_settings().allow_private_addresses


def test_the_environment_wins_over_the_folder_and_that_over_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    write(OWN_FILE, MARCHWARDEN_MAX_SECONDS="1", MARCHWARDEN_CONTACT="home", MARCHWARDEN_MODEL="home/m")
    write(".env", MARCHWARDEN_MAX_SECONDS="2", MARCHWARDEN_CONTACT="folder")
    monkeypatch.setenv("MARCHWARDEN_MAX_SECONDS", "3")
    settings = load_settings()
    assert (settings.max_seconds, settings.contact, settings.model) == (3.0, "folder", "home/m")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET http://user:pass@host:8/v1?q=a@b", "GET http://host:8/v1?q=a@b"),
        ("http://us:p@ss@host/ and https://u@other/", "http://host/ and https://other/"),
        ("http://host/@user mail me@host.example", "http://host/@user mail me@host.example"),
    ],
)
def test_credentials_are_left_out_of_addresses(text: str, shown: str) -> None:
    assert without_credentials(text) == shown
    record = logging.LogRecord("httpx", logging.INFO, "", 1, "%s", (text,), None)
    assert EscapingFormatter("%(message)s").format(record) == shown


def test_passwords_in_addresses_are_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://me:proxy-secret@proxy.example:3128")
    settings = load_settings(api_base="http://me:pw@127.0.0.1:9/v1", tavily_base_url="http://me:p%40ss-word@host/")
    text = "http://me:pw@127.0.0.1:9/v1/chat, p@ss-word, p%40ss-word, proxy-secret, http://me:proxy-secret@proxy"
    shown = Redactor(secrets_of(settings)).redact(text)
    assert not any(secret in shown for secret in ("pw@", "ss-word", "proxy-secret"))
    assert "127.0.0.1:9/v1/chat" in shown
