"""Variables of the environment and of `.env`, read in one place: by settings.py, and by commands that start before
pydantic is imported."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from marchwarden.errors import ConfigurationError

DOTENV = ".env"


def variables() -> dict[str, str]:
    """Every variable by its name in capitals; the environment wins over `.env`, and an empty value counts as none.

    Raises OSError where `.env` can't be read.
    """
    given = [*dotenv().items(), *os.environ.items()]
    return {name.upper(): value for name, value in given if value}


def dotenv() -> dict[str, str | None]:
    """Variables of the `.env` in the working directory. Raises OSError where it can't be read, or is not UTF-8."""
    if not Path(DOTENV).is_file():
        return {}
    from dotenv import dotenv_values  # 6 ms that most starts need not pay

    # Its warning about a line that it can't read names no file; `doctor` reports the line instead.
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    try:
        return dotenv_values(DOTENV, encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OSError(str(error)) from error


def unreadable_lines() -> list[int]:
    """Return the numbers of the lines of `.env` that are not NAME=value. Raises OSError where it can't be read."""
    if not Path(DOTENV).is_file():
        return []
    from dotenv.parser import parse_stream

    try:
        with Path(DOTENV).open(encoding="utf-8-sig") as file:
            statements = list(parse_stream(file))
    except UnicodeDecodeError as error:
        raise OSError(str(error)) from error
    lines = []
    for each in statements:
        if each.error or (each.key is not None and each.value is None):
            text = each.original.string
            # A statement begins with the empty lines before it.
            lines.append(each.original.line + text[: len(text) - len(text.lstrip())].count("\n"))
    return lines


def check_certificates() -> None:
    """Raise ConfigurationError where the variables that HTTP clients take certificates from name none."""
    # Every client fails on them with an error of its own, most only at its first request.
    import ssl  # 10 ms that most starts need not pay

    if file := os.environ.get("SSL_CERT_FILE"):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
        except OSError as error:  # of which ssl.SSLError is one
            problem = "holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror
            raise _no_certificates(f"SSL_CERT_FILE: {file}: {problem}") from error
    elif (folders := os.environ.get("SSL_CERT_DIR")) and not any(map(os.path.isdir, folders.split(os.pathsep))):
        raise _no_certificates(f"SSL_CERT_DIR: {folders}: No such directory")


def _no_certificates(message: str) -> ConfigurationError:
    return ConfigurationError(
        message, hint="Correct it in the environment, or unset it to use the usual certificates."
    )


def is_true(value: str) -> bool:
    """True for the words that pydantic takes for yes."""
    return value.lower() in {"1", "true", "t", "yes", "y", "on"}
