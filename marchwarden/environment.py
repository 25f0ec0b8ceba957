"""Variables of the environment and of `.env`, read in one place: by settings.py, and by commands that start before
pydantic is imported."""

from __future__ import annotations

import os
from pathlib import Path

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

    try:
        return dotenv_values(DOTENV, encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise OSError(str(error)) from error


def is_true(value: str) -> bool:
    """True for the words that pydantic takes for yes."""
    return value.lower() in {"1", "true", "t", "yes", "y", "on"}
