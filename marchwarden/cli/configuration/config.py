"""`marchwarden config`: settings in the user's config file, and what is in force."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.configuration.completion import complete_setting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marchwarden.environment import Value

EPILOGUE = """Examples:

marchwarden config set model extractive
marchwarden config set max_seconds 120
marchwarden config
    what is set, and where: the environment wins over .env, and that over this file
marchwarden config get model
marchwarden config unset max_seconds

Exit codes: 0 done · 1 nothing is set, or a file can't be used · 2 wrong usage: no such setting, a wrong value."""

app = typer.Typer(
    help="Show and change settings. Keys are set with `marchwarden keys`.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the setting, such as max_seconds.", autocompletion=complete_setting),
]
All = Annotated[bool, typer.Option("--all", metavar="", help="Also list settings that have their default value.")]


@app.callback(epilog=EPILOGUE)
def config(
    context: typer.Context,
    all_: All = False,
    json: options.PlainJson = False,
) -> None:
    """Show and change settings. Keys are set with `marchwarden keys`."""
    if context.invoked_subcommand is None:
        list_(all_=all_, json=json)


@app.command("list")
def list_(
    all_: All = False,
    json: options.PlainJson = False,
) -> None:
    """List the settings that are set, and where each value comes from. Keys are never shown."""
    from marchwarden.cli.views import console

    listed = list(_listed(all_=all_))
    if json:
        console.json(listed)
    elif listed:
        console.settings(listed)
    else:
        console.done("No setting is set; `marchwarden config --all` lists the defaults.")


def _listed(*, all_: bool) -> Iterator[dict[str, Any]]:
    from marchwarden.environment import variable_of, variables, without_credentials
    from marchwarden.settings import Settings, is_secret, load_settings

    settings = load_settings()
    origins = variables(keyring=False).origins
    for field in Settings.model_fields:
        value, origin = getattr(settings, field), origins.get(variable_of(field))
        if is_secret(field):
            value = None if value is None else "set"
        if origin or all_:
            shown = str(value) if isinstance(value, Path) else value
            yield {
                "name": field,
                "value": without_credentials(shown) if isinstance(shown, str) else shown,
                "from": origin or "default",
            }


@app.command()
def get(name: Name) -> None:
    """Print the value of a setting, or its default if it is not set."""
    from marchwarden.cli.views import console
    from marchwarden.environment import as_text
    from marchwarden.errors import ConfigurationError
    from marchwarden.settings import field_of, is_secret

    field = field_of(name)
    if is_secret(field):
        raise ConfigurationError(
            f"{field} is a key and is never shown.", hint="To see which keys are set: marchwarden keys"
        )
    value = next(each["value"] for each in _listed(all_=True) if each["name"] == field)
    if value is None:
        raise ConfigurationError(f"{field} is not set.")
    console.line(as_text(value))


@app.command("set")
def set_(name: Name, value: Annotated[str, typer.Argument(metavar="VALUE", help="Its value.")]) -> None:
    """Set a setting in the config file. A value that would be refused is not written."""
    from marchwarden.cli.configuration.config_file import config_file, write_setting
    from marchwarden.cli.views import console
    from marchwarden.errors import WrongArgument
    from marchwarden.settings import field_of, is_secret

    field = field_of(name)
    if is_secret(field):
        raise WrongArgument(
            f"{field} is a key, and other users can read command lines.",
            hint=f"Type it: marchwarden keys set {field}",
        )
    write_setting(field, _typed(field, value))
    console.done(f"{field} is set in {config_file()}.")
    tell_what_wins(field)


def _typed(field: str, text: str) -> Value:
    """Return the value as TOML has it. Raises WrongArgument where the setting does not take it."""
    from marchwarden.errors import InvalidRequest, WrongArgument
    from marchwarden.settings import validate_alone

    if not text:
        raise WrongArgument(f"{field}: it is empty.", hint=f"marchwarden config unset {field}")
    try:
        value = validate_alone(field, text)
    except InvalidRequest as error:
        from marchwarden.cli.configuration.setting_words import setting_sentences

        raise WrongArgument(str(error), hint=setting_sentences()[field]) from None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float) else text


def tell_what_wins(field: str) -> None:
    """Say where a value stands that wins over the config file."""
    from marchwarden.cli.views import console
    from marchwarden.environment import CONFIG_FILE, variable_of, variables

    variable = variable_of(field)
    origin = variables(keyring=False).origins.get(variable)
    if origin not in (None, CONFIG_FILE):
        console.notice(f"{variable} is set in {origin}, which wins.")


@app.command()
def unset(name: Name) -> None:
    """Remove a setting from the config file."""
    from marchwarden.cli.configuration.config_file import config_file, read_config_file, write_setting
    from marchwarden.cli.views import console
    from marchwarden.errors import ConfigurationError
    from marchwarden.settings import field_of

    # What the file names and is no setting can be removed too.
    field = name if name in read_config_file() else field_of(name)
    found = read_config_file().get(field)
    if found is None:
        raise ConfigurationError(f"{field} is not set in {config_file()}.")
    if isinstance(found, dict):
        raise ConfigurationError(f"{field} is a key.", hint=f"marchwarden keys unset {field}")
    write_setting(field, None)
    console.done(f"{field} is removed from {config_file()}.")
    tell_what_wins(field)


@app.command()
def path() -> None:
    """Print the path of the config file, even if it does not exist yet."""
    from marchwarden.cli.configuration.config_file import config_file
    from marchwarden.cli.views import console

    console.line(str(config_file()))
