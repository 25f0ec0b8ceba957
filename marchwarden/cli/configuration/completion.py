"""Words that the shell offers while a command is typed. Each function takes what stands there and returns what fits.

A shell waits for the answer at each press of the key: nothing heavy is imported, and what can't be read is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from marchwarden.cli.early import trace_folder
from marchwarden.source_table import GROUPS, SOURCES

OWN_FOLDER = "~/.marchwarden"


def complete_trace(incomplete: str) -> list[str]:
    """Ids of calls, the latest first."""
    try:
        found = [path for path in trace_folder().glob("*.jsonl") if path.stem.startswith(incomplete)]
        return [path.stem for path in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)]
    except Exception:  # a folder that can't be read, or a setting that is wrong: the command itself will tell
        return []


def complete_source(incomplete: str) -> list[str]:
    """Sources, corpora and databases; the last of several with commas between them."""
    before, comma, last = incomplete.rpartition(",")
    names = [
        *GROUPS,
        *(name for name, entry in SOURCES.items() if not entry.is_named),
        *(f"corpus:{name}" for name in _corpora()),
        *(f"db:{name}" for name in _databases()),
    ]
    given = before.split(",")
    return [f"{before}{comma}{name}" for name in names if name.startswith(last) and name not in given]


def complete_corpus(incomplete: str) -> list[str]:
    """Names of corpora."""
    return _starting(incomplete, _corpora())


def complete_database(incomplete: str) -> list[str]:
    """Names of databases."""
    return _starting(incomplete, _databases())


def complete_model(incomplete: str) -> list[str]:
    """The model that is set, `extractive`, the default of Claude, and models that a program is there for."""
    known = ["extractive", "anthropic/claude-sonnet-5-5"]
    with suppress(Exception):
        from marchwarden.environment import MODEL, variables

        if model := variables(keyring=False).values.get(MODEL):
            known.insert(0, model)
        for folder in _own_folders("programs"):
            with suppress(OSError, ValueError, TypeError, KeyError):
                known.append(str(json.loads((folder / "program.json").read_text(encoding="utf-8"))["model_id"]))
    return _starting(incomplete, dict.fromkeys(known))


def complete_run(incomplete: str) -> list[str]:
    """Folders of runs: those of ~/.marchwarden/evals, the newest first, and those below the path that is typed."""
    found = [str(folder) for folder in reversed(_own_folders("evals")) if (folder / "run.json").is_file()]
    parent = incomplete.rpartition("/")[0] + "/" if "/" in incomplete else ""
    with suppress(OSError, RuntimeError):
        folders = sorted(each for each in Path(parent or ".").expanduser().iterdir() if each.is_dir())
        found += [f"{parent}{each.name}{'' if (each / 'run.json').is_file() else '/'}" for each in folders]
    return _starting(incomplete, [each for each in found if not Path(each).name.startswith(".")])


def complete_setting(incomplete: str) -> list[str]:
    """Names of settings."""
    from marchwarden.settings import Settings, is_secret

    return _starting(incomplete, (field for field in Settings.model_fields if not is_secret(field)))


def complete_key(incomplete: str) -> list[str]:
    """Names of keys, by their services."""
    from marchwarden.settings import Settings, is_secret, key_name

    return _starting(incomplete, map(key_name, filter(is_secret, Settings.model_fields)))


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _corpora() -> Iterator[str]:
    return (folder.name for folder in _own_folders("corpora") if (folder / "catalogue.sqlite").is_file())


def _databases() -> list[str]:
    with suppress(Exception):
        from marchwarden.environment import variables
        from marchwarden.sources.database.database_names import read_entries

        file = variables(keyring=False).values.get("MARCHWARDEN_DATABASES") or f"{OWN_FOLDER}/databases.toml"
        return list(read_entries(Path(file).expanduser()))
    return []


def _own_folders(name: str) -> list[Path]:
    try:
        return sorted(each for each in (Path(OWN_FOLDER).expanduser() / name).iterdir() if each.is_dir())
    except (OSError, RuntimeError):
        return []
