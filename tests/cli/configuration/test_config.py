"""Settings in the user's config file: what is written, what wins, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from marchwarden.cli.checks import variables_check
from marchwarden.cli.configuration.service_checks import surroundings_checks
from marchwarden.environment import CONFIG_FILE, variable_of
from marchwarden.errors import ConfigurationError
from marchwarden.settings import Settings, load_settings
from tests.cli.conftest import Run
from tests.test_environment import write


def config_file() -> Path:
    return Path(CONFIG_FILE).expanduser()


def write_config(text: str) -> None:
    config_file().parent.mkdir(exist_ok=True)
    config_file().write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def _without_a_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MARCHWARDEN_CONTACT", raising=False)


def test_a_setting_is_set_read_and_unset(run: Run, open_umask: None) -> None:
    assert run("config", "path").out == f"{config_file()}\n"
    assert run("config", "set", "max-seconds", "120").code == 0
    assert run("config", "set", "MARCHWARDEN_HTTP_CACHE", "off").code == 0
    assert run("config", "set", "contact", 'Zoë "Z" 😀\\').code == 0
    settings = load_settings()
    assert (settings.max_seconds, settings.http_cache, settings.contact) == (120.0, False, 'Zoë "Z" 😀\\')
    assert [run("config", "get", name).out for name in ("max_seconds", "http_cache", "fetch_timeout")] == [
        "120\n",
        "false\n",
        "10\n",
    ]
    assert config_file().stat().st_mode & 0o777 == 0o600
    assert run("config", "unset", "max_seconds").code == 0
    assert run("config", "get", "max_seconds").code == 1
    assert run("config", "unset", "max_seconds").code == 1


def test_comments_and_lines_of_the_users_own_stay(run: Run) -> None:
    write_config('# mine\n"max_seconds" = 1 # soon\n\ncontact = """\nmax_seconds = 9\n"""\n')
    assert run("config", "set", "max_seconds", "2.5").code == 0
    assert run("config", "set", "offline", "yes").code == 0
    assert config_file().read_text("utf-8") == (
        '# mine\nmax_seconds = 2.5\n\ncontact = """\nmax_seconds = 9\n"""\noffline = true\n'
    )
    # A line that only looks like the setting is never touched.
    write_config('contact = """\nmax_seconds = 9\n"""\n')
    refused = run("config", "set", "max_seconds", "3")
    assert (refused.code, "by hand" in refused.err) == (1, True)
    assert load_settings().max_seconds is None


@pytest.mark.parametrize("link", [False, True])
def test_a_link_to_a_file_kept_elsewhere_stays_a_link(run: Run, link: bool) -> None:
    elsewhere = Path("dotfiles.toml").absolute()
    config_file().parent.mkdir()
    if link:
        config_file().symlink_to(elsewhere)
    assert run("config", "set", "offline", "true").code == 0
    assert config_file().is_symlink() == elsewhere.exists() == link


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("max_seconds", "soon"), "max_seconds: must be a number\nSeconds of wall time for one call."),
        (("max_seconds", "0"), "max_seconds: must be more than 0"),
        (("offline", "perhaps"), "offline: must be true or false"),
        (("source", "wikipdia"), "did you mean wikipedia?"),
        (("web_search", "gogle"), "web_search: must be 'tavily', 'brave'"),
        (("modle", "x"), "Did you mean model?"),
        (("contact", ""), "marchwarden config unset contact"),
        (("tavily_api_key", "tvly-0123456789"), "marchwarden keys set tavily_api_key"),
    ],
)
def test_what_is_no_setting_or_no_value_of_it_is_refused_and_not_written(
    run: Run, arguments: tuple[str, str], said: str
) -> None:
    ran = run("config", "set", *arguments)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert not config_file().exists()


def test_the_environment_wins_over_the_folder_that_over_the_config_file_and_that_over_the_older_file(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("~/.marchwarden/settings.env", MARCHWARDEN_MAX_SECONDS="1", MARCHWARDEN_MODEL="extractive")
    write_config('max_seconds = 2\ncontact = "own"\nfetch_timeout = 3\nweb_search = ""\n')
    write(".env", MARCHWARDEN_CONTACT="folder", MARCHWARDEN_FETCH_TIMEOUT="4")
    monkeypatch.setenv("MARCHWARDEN_FETCH_TIMEOUT", "5")
    settings = load_settings()
    assert (settings.model, settings.max_seconds, settings.contact) == ("extractive", 2.0, "folder")
    assert settings.fetch_timeout == 5.0
    assert load_settings(fetch_timeout=6).fetch_timeout == 6.0
    listed = {each["name"]: each for each in json.loads(run("config", "list", "--json").out)}
    assert {name: listed[name]["from"] for name in ("model", "max_seconds", "contact", "fetch_timeout")} == {
        "model": "~/.marchwarden/settings.env",
        "max_seconds": CONFIG_FILE,
        "contact": ".env",
        "fetch_timeout": "the environment",
    }
    assert "http_cache" not in listed
    assert "web_search" not in listed
    every = {each["name"]: each["from"] for each in json.loads(run("config", "--all", "--json").out)}
    assert (every.keys(), every["http_cache"]) == (Settings.model_fields.keys(), "default")
    assert "is set in .env, which wins" in run("config", "set", "contact", "me").said
    assert str(config_file()) in variables_check().detail
    told = next(surroundings_checks(settings)).detail
    assert "fetch_timeout from the environment" in told
    assert "contact from .env" in told
    assert f"max_seconds from {CONFIG_FILE}" in told


def test_keys_and_passwords_are_not_listed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_config('brave_api_key = "brave-0123456789"\nsearxng_url = "http://me:pass-word@127.0.0.1:8888"\n')
    config_file().chmod(0o644)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    ran = [run("config", *more) for more in ((), ("--all",), ("--json",))] + [run("keys")]
    said = "".join(each.out + each.err for each in ran)
    assert not any(secret in said for secret in ("brave-0123456789", "sk-ant-0123456789", "pass-word"))
    assert "http://127.0.0.1:8888" in said
    assert "chmod 600" in (next(surroundings_checks(load_settings())).advice or "")
    assert run("config", "get", "brave_api_key").code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_seconds = soon", "can't be read"),
        ("source = ['web', 'arxiv']", "source must be text, a number, true or false"),
        ("anthropic_api_key = { keyring = false }", "anthropic_api_key must be text"),
        ('max_seconds = "soon"', "MARCHWARDEN_MAX_SECONDS: must be a number"),
    ],
)
def test_a_file_that_is_wrong_is_named(run: Run, text: str, said: str) -> None:
    write_config(text)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert said in str(caught.value)
    assert CONFIG_FILE in f"{caught.value} {caught.value.hint}"


def test_a_name_in_the_file_that_is_no_setting_is_told_by_doctor_and_can_be_removed(run: Run) -> None:
    write_config("modle = 1\n")
    assert "did you mean MARCHWARDEN_MODEL?" in (variables_check().advice or "")
    assert run("config", "unset", "modle").code == 0
    assert config_file().read_text("utf-8") == ""


def test_every_setting_can_be_had_by_name(run: Run) -> None:
    assert {variable_of(field) for field in Settings.model_fields} >= {"MARCHWARDEN_MODEL", "TAVILY_API_KEY"}
    assert run("config", "get", "web").code == 1
    assert run("config", "get", "traces").code == 2
