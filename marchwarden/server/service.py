"""State that all calls of a server share: the settings in force, places, callers, and who hears of a call's end."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
from mcp.server.context import ServerRequestContext

from marchwarden.errors import ConfigurationError
from marchwarden.server.admission import Admission, Presence, Stop, places
from marchwarden.server.call_ids import Calls
from marchwarden.server.http.allowances import Allowances
from marchwarden.server.http.callers import Caller, Callers
from marchwarden.settings import Settings
from marchwarden.sharing.object_store import open_store
from marchwarden.sharing.trace_index import index_of

# Open files of one call in the server's process: its channel, trace and process, with some to spare. A guess.
CALL_DESCRIPTORS = 8
# Open files of the server beside connections and calls. A guess.
OWN_DESCRIPTORS = 64

# Settings that the parts of a server are made with at its start.
_FIXED = (
    "server_connections",
    "server_stateless",
    "server_url",
    "server_issuer",
    "server_scopes",
    "server_origins",
    "server_log",
)

Context: TypeAlias = ServerRequestContext[Any, Any]
CallOutcome: TypeAlias = Literal["answered", "nothing_found", "failed", "refused", "cancelled"]


@dataclass(frozen=True)
class CallRecord:
    """One call of the tool, as metrics and logs have it: no text of the caller or of a page."""

    trace_id: str
    caller: str | None
    """Name of the caller; None where callers are not known."""
    outcome: CallOutcome
    seconds: float
    tokens: int | None
    """Model tokens that the call used; None where it gave no result."""
    error: str | None = None
    """Type of the error; None where there was none."""


@dataclass(frozen=True)
class Exchange:
    """A request over HTTP, as far as a call must know it."""

    presence: Presence
    caller: Caller | None


# Key of the exchange in a request's ASGI scope.
EXCHANGE = "marchwarden.exchange"


@dataclass
class Service:
    settings: Settings
    asks_others: bool = False
    """True where calls are answered by other servers, which may use a model whatever the settings say."""
    stop: Stop = field(default_factory=Stop)
    on_call_end: list[Callable[[CallRecord], None]] = field(default_factory=list)
    allowances: Allowances = field(default_factory=Allowances)
    callers: Callers = field(init=False)
    _calls: dict[Path, Calls] = field(init=False, default_factory=dict)
    admission: Admission = field(init=False)

    answered: Callable[[], Awaitable[None]] = field(init=False, default_factory=lambda: anyio.sleep_forever)
    """Wait until every request that came in is answered. The transport sets it where it can tell; else it takes for
    ever."""

    def __post_init__(self) -> None:
        self.callers = Callers(self.settings)
        self.admission = Admission(places(self.settings), self.settings.server_queue)

    def reload(self, settings: Settings) -> None:
        """Use other settings for the calls that come. Raises ConfigurationError, and changes nothing then."""
        callers = Callers(settings)
        if callers.are_known != self.callers.are_known:
            raise ConfigurationError("a running server can't change whether it needs tokens: restart it")
        if fixed := [name for name in _FIXED if getattr(settings, name) != getattr(self.settings, name)]:
            names = ", ".join(f"MARCHWARDEN_{name.upper()}" for name in fixed)
            raise ConfigurationError(f"a running server can't change {names}: restart it")
        if settings.store is not None:
            open_store(settings.store)
            index_of(settings)
        self.callers, self.settings = callers, settings
        self.admission.resize(places(settings), settings.server_queue)

    def exchange_of(self, context: Context) -> Exchange | None:
        """Return the exchange over HTTP that a message came in; None over stdio and in this process."""
        return context.request.scope.get(EXCHANGE) if context.request is not None else None

    def calls_of(self, settings: Settings) -> Calls:
        """Return the calls by their ids; each caller's are apart, as the traces are."""
        return self._calls.setdefault(settings.traces, Calls(settings.traces))

    def settings_of(self, context: Context) -> Settings:
        """Return the settings in force for whoever sent a message. Traces and store are that caller's own."""
        exchange = self.exchange_of(context)
        return exchange.caller.settings(self.settings) if exchange and exchange.caller else self.settings


def descriptors_wanted(settings: Settings) -> int:
    """Return how many files and connections a server over HTTP has open at most."""
    return settings.server_connections + CALL_DESCRIPTORS * places(settings) + OWN_DESCRIPTORS


def raise_descriptor_limit() -> int | None:
    """Raise the limit of open files to the highest that the system allows, and return it; None where it has none."""
    if sys.platform == "win32":
        return None
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        # Some libraries go through all numbers up to the limit.
        hard = 1 << 20
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
