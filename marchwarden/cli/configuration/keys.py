"""`marchwarden keys`: keys of services, in the system's keyring where there is one, else in the user's config file.

A key is typed or piped in. It is never an argument, which other users of the machine can read.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_key

if TYPE_CHECKING:
    from collections.abc import Iterator

# Characters of a key, at most. A guess: tokens that carry claims have 2,000.
_MAX_KEY_CHARS = 20_000

EPILOGUE = """Examples:

marchwarden keys
    which keys are set, and where; their values are never shown
marchwarden keys set anthropic
pass show tavily | marchwarden keys set tavily
marchwarden keys unset tavily

Exit codes: 0 done · 1 no usable key, or a keyring or file that can't be used · 2 wrong usage, such as no such key."""

app = typer.Typer(
    help="Store keys of services, such as anthropic and tavily.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the service, such as tavily.", autocompletion=complete_key),
]


@app.callback(epilog=EPILOGUE)
def keys(context: typer.Context, json: options.PlainJson = False) -> None:
    """Store keys of services, such as anthropic and tavily."""
    if context.invoked_subcommand is None:
        list_(json=json)


@app.command("list")
def list_(json: options.PlainJson = False) -> None:
    """List the keys, and where those come from that are set. Their values are never shown."""
    from marchwarden.cli.views import console

    listed = list(_listed())
    if json:
        console.json(listed)
    else:
        console.settings(listed)


def _listed() -> Iterator[dict[str, Any]]:
    from marchwarden.environment import variable_of, variables
    from marchwarden.settings import Settings, is_secret, key_name

    found = variables(keyring=False).origins
    for field in filter(is_secret, Settings.model_fields):
        origin = found.get(variable_of(field))
        yield {"name": key_name(field), "value": "set" if origin else "not set", "from": origin}


def field_of_key(name: str) -> str:
    """Return the setting of a key: `tavily`, `tavily_api_key` or `TAVILY_API_KEY`. Raises WrongArgument."""
    from marchwarden.errors import WrongArgument
    from marchwarden.settings import Settings, is_secret, key_name

    named = {key_name(field): field for field in filter(is_secret, Settings.model_fields)}
    plain = name.lower().replace("-", "_").removeprefix("marchwarden_")
    field = named.get(plain) or named.get(key_name(plain))
    if field is None:
        near = get_close_matches(key_name(plain), named, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise WrongArgument(f"{name}: no such key", hint=f"{meant}The keys are {', '.join(named)}.")
    return field


@app.command("set")
def set_(
    name: Name,
    in_file: Annotated[
        bool, typer.Option("--file", metavar="", help="Store it in the config file, even if there is a keyring.")
    ] = False,
) -> None:
    """Store a key. Type it (it is not shown), or pipe it in."""
    from marchwarden.cli.configuration.config import tell_what_wins
    from marchwarden.cli.configuration.config_file import IN_KEYRING, config_file, write_setting
    from marchwarden.cli.views import console
    from marchwarden.environment import variable_of

    field = field_of_key(name)
    key = _ask_for(field)
    _check(field, key)
    if not in_file and _has_keyring():
        _store(variable_of(field), key)
        write_setting(field, IN_KEYRING)
        console.done(f"{field} is kept in the system's keyring.")
    else:
        write_setting(field, key)
        console.done(f"{field} is kept in {config_file()}, which only you can read.")
    tell_what_wins(field)


def _ask_for(field: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass(f"{field}: ", stream=sys.stderr).strip()
    return sys.stdin.read(_MAX_KEY_CHARS + 1).strip()


def _check(field: str, key: str) -> None:
    from marchwarden.errors import ConfigurationError, InvalidRequest
    from marchwarden.settings import key_name, validate_alone

    if not key or len(key) > _MAX_KEY_CHARS or not key.isprintable() or " " in key:
        raise ConfigurationError(
            f"{field}: {'nothing was given' if not key else 'this is not a key'}.",
            hint=f"Type it when asked, or pipe it: marchwarden keys set {key_name(field)} < FILE",
        )
    try:
        validate_alone(field, key)
    except InvalidRequest as error:
        raise ConfigurationError(str(error)) from None


def _has_keyring() -> bool:
    """True where the library is installed and has found a keyring of the system that is recommended."""
    try:
        import keyring
    except ImportError:
        return False
    # By the library's own scale: 0 and less are no keyring, below 1 are files in plain text.
    return bool(keyring.get_keyring().priority >= 1)


def _store(variable: str, key: str | None) -> None:
    """Keep a key in the keyring, or remove it where it is None. Raises StorageError."""
    import keyring
    from keyring.errors import KeyringError, PasswordDeleteError

    from marchwarden.environment import KEYRING_SERVICE
    from marchwarden.errors import StorageError

    try:
        if key is None:
            keyring.delete_password(KEYRING_SERVICE, variable)
        else:
            keyring.set_password(KEYRING_SERVICE, variable, key)
    except PasswordDeleteError:
        pass  # it is gone already
    except KeyringError as error:
        raise StorageError(
            f"The system's keyring can't be written: {error or type(error).__name__}",
            hint="Keep the key in the config file: marchwarden keys set NAME --file",
        ) from error


@app.command()
def unset(name: Name) -> None:
    """Remove a key from the keyring and from the config file."""
    from marchwarden.cli.configuration.config import tell_what_wins
    from marchwarden.cli.configuration.config_file import config_file, read_config_file, write_setting
    from marchwarden.cli.views import console
    from marchwarden.environment import variable_of
    from marchwarden.errors import ConfigurationError, how_to_install

    field = field_of_key(name)
    found = read_config_file().get(field)
    if found is None:
        raise ConfigurationError(f"{field} is neither in the keyring nor in {config_file()}.")
    if isinstance(found, dict):
        if not _has_keyring():
            raise ConfigurationError(
                f"{field} is in the system's keyring, which can't be reached now.",
                hint=f"Check that its library is installed. {how_to_install('keyring')}",
            )
        _store(variable_of(field), None)
    write_setting(field, None)
    console.done(f"{field} is removed.")
    tell_what_wins(field)
