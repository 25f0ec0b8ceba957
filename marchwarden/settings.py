"""Every setting with its default and a sentence. The module environment.py reads the variables and the files.

The settings are a pydantic model and not pydantic-settings' BaseSettings. That has a reader of `.env` of its own,
which commands that start without pydantic would have to imitate, and takes 0.1 s of CPU more to import
(python -X importtime).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from marchwarden.contract import Depth
from marchwarden.environment import (
    CONFIG_FILE,
    DOTENV,
    OWN_FILE,
    read_config,
    read_file,
    variable_of,
    variables,
    without_credentials,
)
from marchwarden.errors import ConfigurationError, InvalidRequest, WrongArgument, require_package
from marchwarden.source_table import GROUPS, SOURCES

# Services that search the whole web, in the order in which they are used where several have a key.
WebSearch: TypeAlias = Literal["tavily", "brave", "exa", "serper", "searxng"]

# The model id of the model-free researcher.
EXTRACTIVE = "extractive"

# Context of a validation that reads neither the environment nor files.
_ALONE = "alone"

# Variables that only the tests read.
_NOT_SETTINGS = frozenset({"MARCHWARDEN_TEST_LM"})

# The corpus that is meant where none is named.
DEFAULT_CORPUS = "default"
# Names of corpora, databases and callers: each can be a folder on any system, and leads out of no folder.
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

# Seconds of wall time for one call. Desktop clients drop a call after about a minute, hence 55; the others are
# guesses.
SECONDS_BY_DEPTH = {Depth.SHALLOW: 30.0, Depth.BALANCED: 55.0, Depth.DEEP: 180.0}


class Settings(BaseModel):
    """Read once, in one place, and passed down; variables are `MARCHWARDEN_` and the field's name in capitals.

    What is given to the constructor wins over the environment, that over `.env`, and that over the files in the
    user's home. Raises ValidationError, OSError where a file can't be read, and ConfigurationError where `.env` names
    an address to which a key of the user's own would be sent.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, validate_default=True)

    model: str | None = None
    """Id of the model: `anthropic/claude-…`, any other id that DSPy knows, or `extractive` for none.
    Default: Claude where ANTHROPIC_API_KEY is set, else `extractive`."""
    api_base: str | None = None
    """Address of an OpenAI-compatible server (`http://127.0.0.1:8101/v1`), or of another Anthropic endpoint."""
    api_key: SecretStr | None = None
    """Key for that server, if it needs one."""
    anthropic_api_key: SecretStr | None = None
    """Key for Claude."""
    tavily_api_key: SecretStr | None = None
    """Key for web search with Tavily (https://app.tavily.com)."""
    tavily_base_url: str | None = None
    """Address to use instead of Tavily's own (a proxy, a recorder)."""
    brave_api_key: SecretStr | None = None
    """Key for web search with Brave (https://brave.com/search/api)."""
    exa_api_key: SecretStr | None = None
    """Key for web search with Exa (https://exa.ai)."""
    serper_api_key: SecretStr | None = None
    """Key for web search with Serper (https://serper.dev)."""
    searxng_url: str | None = None
    """Address of your own SearXNG server, such as `http://127.0.0.1:8888`; its settings must allow JSON. It may be on
    your machine or in your network; other pages there are still not read."""
    web_search: WebSearch | None = None
    """Search service of the source `web`: tavily, brave, exa, serper or searxng. Default: the first of
    these with a key or an address."""
    openalex_api_key: SecretStr | None = None
    """Key of OpenAlex (free), which its source needs."""
    semantic_scholar_api_key: SecretStr | None = None
    """Key of Semantic Scholar (free); without it many requests are refused."""
    offline: bool = False
    """Search the frozen web, without testing the network, if no source is named and no search service has a key or an
    address."""
    model_calls: int = Field(4, ge=1)
    """Number of model calls that one research makes at the same time. Set 1 for a local server that handles one call
    at a time."""
    server_calls: int | None = Field(None, ge=1)
    """Calls that a server runs at once, each in a process of its own. Default: two for each core, at least four, and
    no more than fit into the memory."""
    server_queue: int = Field(40, ge=0)
    """Calls that may wait for a place on the server. Further calls are told at once that it is busy."""
    server_token: SecretStr | None = None
    """Bearer token that `ask --server` sends."""
    server_connections: int = Field(1000, ge=1)
    """Connections over HTTP that may be open at once. Beyond that, one that has sent no request yet is closed."""
    server_drain: float = Field(20.0, ge=0, allow_inf_nan=False)
    """Seconds that running calls over HTTP may continue after SIGTERM. Then they answer with what they have found."""
    server_stateless: bool = False
    """Keep no HTTP sessions, so that any of several servers behind one address can answer any request."""
    server_tokens: Path | None = None
    """File of the bearer tokens of callers over HTTP, as JSON: `{"alice": {"token": "…"}}`. Only its owner may be
    able to read it."""
    server_url: str | None = None
    """Address that callers over HTTP use, such as `https://research.example.org/mcp`, if it is not the one that the
    server listens on. Tokens of an authorization server must be issued for it."""
    server_issuer: str | None = None
    """Address of the OAuth 2.1 authorization server whose tokens are accepted over HTTP."""
    server_scopes: str | None = None
    """Scopes that such a token must have, separated by spaces."""
    server_origins: str | None = None
    """Origins of web pages that may call the server, separated by commas: `https://app.example.org`."""
    server_calls_per_minute: int | None = Field(None, ge=1)
    """Calls that one caller may make in a minute. Default: no limit."""
    server_tokens_per_day: int | None = Field(None, ge=500)
    """Model tokens that the calls of one caller may use in a day (UTC). Default: no limit."""
    server_log: Literal["off", "json"] = "off"
    """Log of requests and calls on stderr: `json` writes one JSON object a line, without questions and secrets."""
    source: str | None = None
    """Sources to search, separated by commas: `marchwarden sources` lists them. Default: `web` where a search
    service has a key, else `open`, and `snapshot` (the frozen web) where there is no network."""
    databases: Path = Path("~/.marchwarden/databases.toml")
    """File that describes your databases (`db:NAME`): the url of each, and the tables that may be read."""
    zim_folder: Path = Path("~/.marchwarden/zim")
    """Folder of the ZIM files: `zim:NAME` is `NAME.zim` there, or the last file whose name begins with NAME."""
    web: Path | None = None
    """Folder of another frozen web to use instead of the shipped one."""
    semantic: bool | None = None
    """Find passages by meaning too, and judge whether they answer, with the models of the extra `semantic`. Default:
    true where it is installed."""
    program: str | None = None
    """Folder of a program to use instead of the model's own; `none` for no program."""
    trace_dir: Path = Path("~/.marchwarden/traces")
    """Folder of the traces, and of the content store (`store/`) with the pages that they name."""
    store: str | None = None
    """Object store that several machines share, where traces and what they name are published: `s3://BUCKET/PREFIX`,
    `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or `file:/FOLDER`. Its credentials come from the environment, as the
    service's own tools have them. It needs the extra `store`."""
    trace_index: SecretStr | None = None
    """PostgreSQL database that lists the traces of `store`, for servers and machines that share it:
    `postgresql://USER:PASSWORD@HOST/NAME`. It needs the extra `database`."""
    cache_dir: Path | None = None
    """Folder of search indexes; you can delete them at any time. Default: the system's cache folder."""
    max_seconds: float | None = Field(None, gt=0, allow_inf_nan=False)
    """Seconds of wall time for one call. Default by depth: 30, 55, 180."""
    allow_private_addresses: bool = False
    """Allow fetching from private and loopback addresses. Link-local ones and cloud metadata are still refused."""
    fetch_timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    """Seconds for one page, redirects included."""
    max_page_bytes: int = Field(10_000_000, gt=0)
    """Most bytes to read of a page; a longer page is cut."""
    http_cache: bool = True
    """Keep pages of the live web across calls where their servers allow it (RFC 9111)."""
    contact: str | None = None
    """An address or URL that the User-Agent names, so that site owners can reach you."""
    worker_memory_mb: int | None = Field(None, gt=0)
    """Most memory for the process of one research call, in MB; a call that needs more fails, and only that call."""
    signing_key: Path | None = None
    """File of an SSH key that signs every finished trace (`ssh-keygen -Y sign`): a private key without a passphrase,
    or the public key of one in the agent."""
    debug: bool = False
    """Write a log to stderr."""

    @model_validator(mode="before")
    @classmethod
    def _read_variables(cls, given: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if info.context == _ALONE:
            return given
        read = variables({variable_of(name) for name in given})
        values, fields = read.values, cls.model_fields
        found = {name: values[variable] for name in fields if (variable := variable_of(name)) in values}
        every = {**found, **given}
        for key, address in read.withheld.items():
            claude = str(every.get("model") or "anthropic/").startswith("anthropic/")
            # A server of another model gets no key of Claude in any case.
            if key != variable_of("anthropic_api_key") or claude:
                raise ConfigurationError(
                    f"{key} is not sent to the {address} that {DOTENV} in this folder names: "
                    f"{without_credentials(values[address])}",
                    hint=f"If it is yours, set {address} in the environment or in {CONFIG_FILE}, or put {key} into "
                    f"the same {DOTENV}.",
                )
        return every

    @field_validator("source")
    @classmethod
    def _normalise_source(cls, source: str | None) -> str | None:
        return None if source is None else ",".join(sources_of(source))

    @field_validator("web", "trace_dir", "cache_dir", "signing_key", "databases", "zim_folder", "server_tokens")
    @classmethod
    def _expand_home(cls, folder: Path | None) -> Path | None:
        # pathlib raises RuntimeError for the home folder of an unknown user.
        try:
            return folder and folder.expanduser()
        except RuntimeError as error:
            raise ValueError(f"{folder}: {error}") from error

    @property
    def model_id(self) -> str:
        """Id of the model in force, with the default resolved."""
        if self.model:
            return self.model
        return "anthropic/claude-sonnet-5-5" if self.anthropic_api_key else EXTRACTIVE

    @property
    def source_name(self) -> str:
        """Sources in force, with the default resolved: `web`, `snapshot`, `corpus:notes`, `web,corpus:notes`."""
        if self.source or self.web_searches:
            return self.source or "web"
        return "snapshot" if self.offline or self.web else "open"

    @property
    def web_searches(self) -> tuple[WebSearch, ...]:
        """Search services that have a key or an address, the one that is used first."""
        given = {
            "tavily": self.tavily_api_key,
            "brave": self.brave_api_key,
            "exa": self.exa_api_key,
            "serper": self.serper_api_key,
            "searxng": self.searxng_url,
        }
        ready: list[WebSearch] = [name for name in get_args(WebSearch) if given[name]]
        return tuple(sorted(ready, key=lambda name: name != self.web_search))

    @property
    def sources(self) -> tuple[str, ...]:
        """Sources in force, one by one."""
        return tuple(self.source_name.split(","))

    @property
    def traces(self) -> Path:
        return self.trace_dir.expanduser()

    @property
    def store_folder(self) -> Path:
        """Folder of the content store, which stands in that of the traces."""
        return self.traces / "store"

    @property
    def caches(self) -> Path:
        if self.cache_dir is not None:
            return self.cache_dir
        from platformdirs import user_cache_path

        return user_cache_path("marchwarden")

    @property
    def frozen_web(self) -> Path:
        """Folder of the frozen web: the one that is set, else the shipped one."""
        return self.web or shipped("web")

    def require_model(self) -> None:
        """Raise ConfigurationError where the libraries of models are not installed, or Claude has no key."""
        if self.model_id != EXTRACTIVE:
            require_package("dspy", f"The model {self.model_id}")
        if self.model_id.startswith("anthropic/") and not (self.api_base or self.anthropic_api_key):
            raise ConfigurationError(
                f"{self.model_id} needs a key", hint="Set ANTHROPIC_API_KEY, or MARCHWARDEN_MODEL=extractive."
            )

    def require_search_key(self) -> None:
        """Raise ConfigurationError where the live web is to be searched, and there is no key for that."""
        if "web" not in self.sources:
            return
        if self.web_search and self.web_search not in self.web_searches:
            needed = variable_of("searxng_url" if self.web_search == "searxng" else f"{self.web_search}_api_key")
            raise ConfigurationError(
                f"MARCHWARDEN_WEB_SEARCH is {self.web_search}, but {needed} is not set.",
                hint=f"Set {needed}, or unset MARCHWARDEN_WEB_SEARCH.",
            )
        if not self.web_searches:
            raise ConfigurationError(
                "Searching the whole web needs a key of a search service, such as TAVILY_API_KEY.",
                hint="Set TAVILY_API_KEY (https://app.tavily.com) or another that `marchwarden sources` names, or "
                "search what needs no key: --source open.",
            )

    def seconds_for(self, depth: Depth) -> float:
        return self.max_seconds if self.max_seconds is not None else SECONDS_BY_DEPTH[depth]


def sources_of(text: str) -> tuple[str, ...]:
    """Return the sources that a text such as `web,corpus:notes` names, each once; `corpus` becomes `corpus:default`.

    Raises ValueError with a sentence for an unknown source, and for two that can't be searched together.
    """
    named = tuple(dict.fromkeys(_source(each.strip()) for each in text.split(",") if each.strip()))
    if not named:
        raise ValueError(f"no source is named; the sources are {_list_sources()}")
    # A group has no entry; its sources are of the network.
    entries = {each: SOURCES.get(each.partition(":")[0]) for each in named}
    kept_here = ("snapshot", "corpus", "database")
    live = next((each for each, entry in entries.items() if not entry or entry.kind not in kept_here), None)
    if live and "snapshot" in named:
        raise ValueError(f"{live} and snapshot stand for the same addresses; name one of them")
    return named


_HOW_TO_SEARCH_FILES = (
    "for files, run `marchwarden index FOLDER --name NAME` and give corpus:NAME; for a database or a folder of "
    "tables, run `marchwarden sources add NAME PATH` and give db:NAME"
)
_DATABASE_FILES = (".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".ddb")


def _how_to_add(path: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(path).stem).strip("-_") or "NAME"
    return (
        f"{path} is the path of a database; name it first: marchwarden sources add {name} {shlex.quote(path)}; then "
        f"give db:{name}"
    )


def _list_sources() -> str:
    names = [f"{name}:NAME" if entry.is_named else name for name, entry in SOURCES.items()]
    return f"{', '.join([*GROUPS, *names])}, or several, separated by commas"


def _source(text: str) -> str:
    kind, colon, name = text.partition(":")
    entry = SOURCES.get(kind)
    if not colon and (kind in GROUPS or (entry and not entry.is_named)):
        return kind
    if entry is None or not entry.is_named:
        near = next(iter(get_close_matches(kind, [*SOURCES, *GROUPS], n=1)), None)
        meant = f" (did you mean {near}?)" if near and near != kind else ""
        if text.lower().endswith(_DATABASE_FILES):
            raise ValueError(_how_to_add(text))
        if "/" in text or "\\" in text:
            raise ValueError(f"{text!r} is a path, no source; {_HOW_TO_SEARCH_FILES}")
        raise ValueError(f"{text!r} is not a source{meant}; the sources are {_list_sources()}")
    if kind != "corpus" and not name:
        raise ValueError(f"{kind} needs a name: {kind}:NAME")
    if colon and not FOLDER_NAME.fullmatch(name):
        if kind == "db" and name.lower().endswith(_DATABASE_FILES):
            raise ValueError(_how_to_add(name))
        if "/" in name or "\\" in name:
            raise ValueError(f"{text!r}: {kind} takes a name, no path; {_HOW_TO_SEARCH_FILES}")
        raise ValueError(f"{name!r} is not a valid name: letters, digits, - _ and . only, at most 64")
    return f"{kind}:{name or DEFAULT_CORPUS}"


def load_settings(**overrides: object) -> Settings:
    """Return settings from the environment and its files, with `overrides` (None means: not given) on top.

    Raises ConfigurationError, which names the variable, for a wrong value, and where a file can't be read.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        problems = [(variable_of(str(field)), problem) for field, problem in InvalidRequest.of(error).problems]
        origins, own = variables(keyring=False).origins, {variable_of(name) for name in given}
        places = dict.fromkeys(origins[name] for name, _ in problems if name in origins and name not in own)
        raise ConfigurationError(
            "\n".join(f"{name}: {problem}" for name, problem in problems),
            hint=f"Correct it in {' and in '.join(places)}." if places else None,
        ) from None
    except OSError as error:
        raise ConfigurationError(str(error), hint="Correct it, or remove it.") from None


def settings_of(given: Settings | Mapping[str, object] | None) -> Settings:
    """Return the settings that a caller means: its own, values by name over those of the environment, or the latter.

    Raises ConfigurationError for an unknown name, a wrong value, and anything else than these.
    """
    if isinstance(given, Settings):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise ConfigurationError(
            f"settings are a dict or Settings, not {type(given).__name__}.",
            hint='For example: settings={"model": "extractive", "source": "snapshot"}',
        )
    return load_settings(**{field_of(name): value for name, value in (given or {}).items()})


def validate_alone(field: str, value: str) -> object:
    """Return what a setting becomes where its variable has this value; nothing else is read.

    Raises InvalidRequest where the value is wrong.
    """
    try:
        return getattr(Settings.model_validate({field: value}, context=_ALONE), field)
    except ValidationError as error:
        raise InvalidRequest.of(error) from None


def field_of(name: str) -> str:
    """Return the setting that a person means: `max_seconds`, `max-seconds` or `MARCHWARDEN_MAX_SECONDS`.

    Raises WrongArgument for a name that is none, with the one that is like it.
    """
    field = name.lower().replace("-", "_").removeprefix("marchwarden_")
    if field in Settings.model_fields:
        return field
    near = next(iter(get_close_matches(field, Settings.model_fields, n=1)), None)
    raise WrongArgument(
        f"{name}: no such setting",
        hint=f"Did you mean {near}?" if near else "`marchwarden config --all` lists all settings.",
    )


def is_secret(field: str) -> bool:
    """Return whether a setting is a key or a token, which is never shown."""
    annotation = Settings.model_fields[field].annotation
    return SecretStr in (annotation, *get_args(annotation))


def key_name(field: str) -> str:
    """Return the name of a key for people, by its service: `anthropic`; `api_key` and `server_token` keep theirs."""
    return field.removesuffix("_api_key")


def unknown_variables() -> dict[str, str | None]:
    """Return variables in the environment or a file that look like settings and are none.

    Each comes with the variable that was probably meant; None where none is alike.
    """
    known = [variable_of(name) for name in Settings.model_fields]
    written = {
        name
        for file in (OWN_FILE, DOTENV)
        for name in read_file(file)
        if name.startswith(("MARCHWARDEN_", "ANTHROPIC_", "TAVILY_"))
    }
    config = read_config()
    written |= {*config.values, *config.in_keyring}
    given = {name for name in os.environ if name.startswith("MARCHWARDEN_")} | written
    strange = sorted(given - {*known, *_NOT_SETTINGS})
    return {name: next(iter(get_close_matches(name, known, n=1)), None) for name in strange}


def shipped(name: Literal["web", "programs", "questions"]) -> Path:
    """Return a folder that comes with the package: inside an installed wheel, or in a checkout beside the package."""
    package = Path(__file__).parent
    in_wheel = package / "_data" / name
    if in_wheel.is_dir():
        return in_wheel
    in_checkout = {"web": "data/web", "programs": "programs", "questions": "evals/questions"}[name]
    return package.parent / in_checkout
