"""Keys are typed or piped, kept where only the user can read them, and never shown."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from marchwarden.cli.configuration.service_checks import surroundings_checks
from marchwarden.cli.early import server_token
from marchwarden.environment import CONFIG_FILE
from marchwarden.errors import ConfigurationError
from marchwarden.settings import load_settings
from tests.cli.conftest import Run
from tests.test_environment import write

keyring = pytest.importorskip("keyring")
KEY = "tvly-0123456789abcdef"


class KeyringInMemory(keyring.backend.KeyringBackend):  # type: ignore[misc,name-defined]
    """A keyring such as a desktop has."""

    priority = 5

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}
        self.is_locked = False

    def get_password(self, service: str, username: str) -> str | None:
        if self.is_locked:
            raise keyring.errors.KeyringLocked("it is locked")
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.is_locked:
            raise keyring.errors.PasswordSetError("it is locked")
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        if self.kept.pop((service, username), None) is None:
            raise keyring.errors.PasswordDeleteError("there is none")


@pytest.fixture
def desktop() -> Iterator[KeyringInMemory]:
    before, here = keyring.get_keyring(), KeyringInMemory()
    keyring.set_keyring(here)
    yield here
    keyring.set_keyring(before)


@pytest.fixture
def _no_keyring() -> Iterator[None]:
    from keyring.backends.fail import Keyring

    before = keyring.get_keyring()
    keyring.set_keyring(Keyring())
    yield
    keyring.set_keyring(before)


def pipe(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def config() -> str:
    return Path(CONFIG_FILE).expanduser().read_text("utf-8")


def test_a_key_goes_into_the_keyring_and_the_file_says_so(
    run: Run, desktop: KeyringInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, f"{KEY}\n")
    ran = run("keys", "set", "tavily")
    assert (ran.code, KEY in ran.out + ran.err) == (0, False)
    assert desktop.kept == {("marchwarden", "TAVILY_API_KEY"): KEY}
    assert config() == "tavily_api_key = { keyring = true }\n"
    key = load_settings().tavily_api_key
    assert key is not None
    assert key.get_secret_value() == KEY
    listed = {each["name"]: (each["value"], each["from"]) for each in json.loads(run("keys", "--json").out)}
    assert listed["tavily"] == ("set", "the system's keyring")
    assert listed["anthropic"] == ("not set", None)
    assert "tavily_api_key from the system's keyring" in next(surroundings_checks(load_settings())).detail
    assert run("config", "unset", "tavily_api_key").code == 1
    assert run("keys", "unset", "tavily_api_key").code == 0
    assert (desktop.kept, config()) == ({}, "")
    assert run("keys", "unset", "tavily").code == 1


def test_a_key_in_the_keyring_is_the_users_own_where_a_folder_names_an_address(
    run: Run, desktop: KeyringInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, KEY)
    run("keys", "set", "tavily")
    write(".env", MARCHWARDEN_TAVILY_BASE_URL="http://127.0.0.1:9")
    with pytest.raises(ConfigurationError, match="TAVILY_API_KEY is not sent"):
        load_settings()


def test_a_keyring_that_is_locked_gone_or_empty_is_told(
    run: Run, desktop: KeyringInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, "a-token-of-a-server")
    run("keys", "set", "server_token")
    assert server_token() == "a-token-of-a-server"
    desktop.is_locked = True
    with pytest.raises(ConfigurationError, match="can't be read: it is locked"):
        load_settings()
    assert run("history").code == 0  # which needs no key
    pipe(monkeypatch, KEY)
    refused = run("keys", "set", "brave")
    assert (refused.code, "--file" in refused.err) == (1, True)
    desktop.is_locked = False
    desktop.kept.clear()
    with pytest.raises(ConfigurationError, match="and it is not"):
        load_settings()
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert ".[keyring]" in (caught.value.hint or "")


@pytest.mark.usefixtures("_no_keyring")
def test_without_a_keyring_a_key_goes_into_a_file_that_only_its_owner_can_read(
    run: Run, open_umask: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, KEY)
    assert "only you can read" in run("keys", "set", "TAVILY_API_KEY").said
    assert config() == f'tavily_api_key = "{KEY}"\n'
    assert Path(CONFIG_FILE).expanduser().stat().st_mode & 0o777 == 0o600
    assert run("keys", "unset", "tavily").code == 0
    assert config() == ""


def test_a_key_can_be_kept_in_the_file_beside_a_keyring(
    run: Run, desktop: KeyringInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe(monkeypatch, KEY)
    monkeypatch.setenv("TAVILY_API_KEY", "another-0123456789")
    assert "TAVILY_API_KEY is set in the environment, which wins" in run("keys", "set", "tavily", "--file").said
    assert (desktop.kept, KEY in config()) == ({}, True)


@pytest.mark.parametrize(
    ("arguments", "piped", "code", "said"),
    [
        (("tavily",), "", 1, "nothing was given"),
        (("tavily",), "two words", 1, "this is not a key"),
        (("tavily",), "a\nb", 1, "this is not a key"),
        (("tavly",), KEY, 2, "did you mean tavily?"),
        (("max_seconds",), KEY, 2, "no such key"),
    ],
)
def test_what_is_no_key_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], piped: str, code: int, said: str
) -> None:
    pipe(monkeypatch, piped)
    ran = run("keys", "set", *arguments)
    assert (ran.code, said in ran.said.lower()) == (code, True), ran.said
    assert run("keys", "set", "tavily", KEY).code == 2
    assert not Path(CONFIG_FILE).expanduser().exists()
