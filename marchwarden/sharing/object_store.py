"""Object store of MARCHWARDEN_STORE: S3, Google Cloud Storage, Azure Blob Storage, or a folder, through obstore.

Objects are created and never replaced, so that each is there once, whoever writes it. obstore's errors are told in
our words: theirs quote whole answers of the service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from marchwarden.environment import allows_plain_http_store, without_credentials
from marchwarden.errors import ConfigurationError, StorageError, how_to_install
from marchwarden.files import check_output_folder

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Opened

VARIABLE = "MARCHWARDEN_STORE"

# Seconds for a connection, for one request that holds back the answer of a call, and for one of a command. Guesses.
_CONNECT_S = 3
REQUEST_S = 5
COMMAND_S = 30
# Seconds for one request of those that nobody waits for: 10 MB at 1 Mbit/s take 80.
PATIENT_S = 120
# Times that a request is made again after a 5xx or a lost connection. A guess.
_RETRIES = 2

# Bytes of an object that is sent in one request, at most. A guess.
_IN_ONE_PIECE_BYTES = 16_000_000

# Folder of the callers of a server, in its folder of traces and in its store.
CALLERS = "callers"

FORMS = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:/FOLDER"
# A caller's store stands inside that of the server, and is made when it is needed.
_CALLER = re.compile(rf"^(.*?)/({CALLERS}/[^/]+)$")

# Where the credentials of each service come from, for people.
_CREDENTIALS = {
    "s3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the machine a role.",
    "gs": "Set GOOGLE_APPLICATION_CREDENTIALS, or give the machine a service account.",
    "az": "Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or give the machine an identity.",
    "file": "Correct the permissions of the folder.",
}

# Reasons by what obstore's message has in it, the first that fits. The addresses are those that hand out the
# credentials of a machine: they are asked where the environment has none.
_REASONS = (
    (r"169\.254\.\d|/latest/api/token|metadata\.google\.internal|MissingAccount", "no credentials were found"),
    (r"NoSuchBucket|ContainerNotFound|bucket does not exist|No such container", "there is no such bucket"),
    (r"\b(?:401|403) \w|PermissionDenied|Unauthenticated|Permission denied", "it refuses the credentials"),
    (
        r"\b501 Not Implemented|NotImplemented|NotSupported",
        "it does not support conditional writes, which are needed",
    ),
    (r"kind: Timeout|timed out", "it did not answer in time"),
    (r"dns error|failed to lookup", "its address has no host"),
    (r"kind: Connect|error sending request", "it can't be reached"),
    (r"\b429 \w|SlowDown", "it limits the rate of requests"),
    (r"status code: (5\d\d)", "it failed with HTTP {0}"),
    (r"kind: (?:Decode|Interrupted|Request)|IncompleteBody|unexpected EOF|body error", "the connection was lost"),
    (r'message: "((?:No space|Read-only|Not a directory|Input/output)[^"]*)"', "{0}"),
    (r"InvalidPath", "a file in it has a name that objects can't have"),
    (r"service account file", "the file of its credentials can't be read"),
    (r"BadScheme", "it has no TLS; AWS_ALLOW_HTTP=true allows that"),
)


@dataclass(frozen=True)
class Listed:
    """An object, as a list has it."""

    name: str
    size: int
    """Length in bytes."""
    written: datetime


class ObjectStore:
    """The store at a URL. Every method raises StorageError, without credentials in it, where it can't be used.

    It opens no connection before it is used. Raises ConfigurationError for a URL that is none, and where obstore
    is not installed.
    """

    def __init__(self, url: str, *, request_s: float = REQUEST_S) -> None:
        self._scheme, self._address, self._prefix = _parts(url)
        self._request_s = request_s
        self.shown = f"file:{self._address}" if self._scheme == "file" else self._address
        """Address for people, without the caller's part."""
        self.name = f"{self.shown}/{self._prefix}".rstrip("/")
        """Address with the caller's part: no other store has it."""
        if find_spec("obstore") is None:
            raise ConfigurationError(
                f"{VARIABLE} needs obstore, which is not installed",
                hint=how_to_install("store"),
            )
        if self._scheme != "file":
            self._store  # noqa: B018  what is wrong with its settings is told now

    def create(self, name: str, body: bytes) -> bool:
        """Create an object. False where it already exists: it stays as it is."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        store = self._store
        try:
            obstore.put(store, self._prefix + name, body, mode="create", use_multipart=False)
        except AlreadyExistsError:
            return False
        except FileNotFoundError as error:
            # Nothing but its place can be missing of an object that is made.
            reason = None if self._scheme == "file" else "there is no such bucket"
            raise self._failure(error, reason) from None
        except Exception as error:
            raise self._failure(error) from None
        return True

    def create_from(self, name: str, file: Path) -> bool:
        """Create an object from a file, in pieces where it is large. False where it already exists.

        A large one whose name is not taken yet replaces what another process creates meanwhile: give one name to one
        content only.
        """
        import obstore

        if file.stat().st_size <= _IN_ONE_PIECE_BYTES:
            return self.create(name, file.read_bytes())
        store = self._store
        try:
            try:
                obstore.head(store, self._prefix + name)
                return False
            except FileNotFoundError:
                obstore.put(store, self._prefix + name, file, use_multipart=True)
        except Exception as error:
            raise self._failure(error) from None
        return True

    def get(self, name: str) -> bytes | None:
        """Return an object whole; None where there is none."""
        import obstore

        store = self._store
        try:
            found = obstore.get(store, self._prefix + name)
            body = bytes(found.bytes())
        except FileNotFoundError as error:
            if reason := reason_of(error):
                raise self._failure(error, reason) from None
            return None
        except Exception as error:
            raise self._failure(error) from None
        if len(body) != found.meta["size"]:
            raise StorageError(f"{VARIABLE} ({self.shown}): the connection was lost")
        return body

    def list(self, folder: str) -> Iterator[Listed]:
        """Yield the objects below a folder, in any order."""
        import obstore

        store = self._store
        try:
            for each in (each for page in obstore.list(store, self._prefix + folder) for each in page):
                yield Listed(each["path"].removeprefix(self._prefix), each["size"], each["last_modified"])
        except FileNotFoundError as error:  # a folder that nobody has made yet
            if self._scheme != "file":
                raise self._failure(error) from None
        except Exception as error:
            raise self._failure(error) from None

    def url_of(self, name: str) -> str:
        """Return the address of an object as other libraries take it: a path where the store is a folder."""
        return f"{self._address}/{self._prefix}{name}"

    def check(self) -> None:
        """Look whether the store can be read."""
        next(self.list("traces"), None)

    def check_writable(self) -> None:
        """Look whether the store can be read and, of a folder, whether it takes objects; elsewhere one would stay."""
        self.check()
        if self._scheme == "file":
            try:
                check_output_folder(Path(self._address))
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise StorageError(f"{VARIABLE} ({self.shown}): {reason}", hint=_CREDENTIALS["file"]) from None

    @cached_property
    def _store(self) -> Opened:
        from obstore.store import LocalStore, from_url

        if self._scheme == "file":
            try:
                # A folder that is not there may be a disk that is not mounted: nothing is written beside it.
                return LocalStore(Path(self._address), mkdir=False)
            except Exception as error:
                reason = reason_of(error) or "there is no such folder"
                raise StorageError(f"{VARIABLE} ({self.shown}): {reason}", hint="Mount it or make it.") from None
        try:
            return from_url(
                self._address,
                client_options={
                    "connect_timeout": timedelta(seconds=_CONNECT_S),
                    "timeout": timedelta(seconds=self._request_s),
                    "allow_http": allows_plain_http_store(),
                },
                retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=self._request_s)},
            )
        except Exception as error:
            reason = reason_of(error) or "it can't be opened"
            raise ConfigurationError(
                f"{VARIABLE} ({self.shown}): {reason}", hint=_CREDENTIALS[self._scheme]
            ) from None

    def _failure(self, error: Exception, reason: str | None = None) -> StorageError:
        reason = reason or reason_of(error) or f"it failed ({type(error).__name__})"
        hint = _CREDENTIALS[self._scheme] if "credentials" in reason else None
        return StorageError(f"{VARIABLE} ({self.shown}): {reason}", hint=hint)


@lru_cache(maxsize=64)
def open_store(url: str) -> ObjectStore:
    """Return the store at a URL, with the connections that this process has to it. Raises ConfigurationError."""
    # Opening one takes 6 ms of CPU, and a connection with TLS some round trips: calls of a server share them.
    return ObjectStore(url)


def caller_url(url: str, name: str) -> str:
    """Return the address of a caller's store, in that of the server."""
    return f"{url.rstrip('/')}/{CALLERS}/{name}"


def server_url(url: str) -> str:
    """Return the address of the server's store, of which a caller's is a part."""
    found = _CALLER.match(url.rstrip("/"))
    return found[1] if found else url


def _parts(url: str) -> tuple[str, str, str]:
    """Return scheme, address and prefix, which is empty or ends in a slash. Raises ConfigurationError."""
    hint = f"Stores are {FORMS}."
    shown = re.split(r"[?#]", without_credentials(url.strip()))[0]
    if "@" in url.partition("://")[2].partition("/")[0]:
        raise ConfigurationError(f"{VARIABLE} ({shown}) has credentials in it", hint=hint)
    try:
        parts = urlsplit(url.strip())
        path = parts.path.rstrip("/")
        if parts.scheme == "file":
            path = str(Path(unquote(path)).expanduser())
    except (ValueError, RuntimeError):  # of a wrong port, and of a user without a home
        parts, path = urlsplit(""), ""
    is_whole = Path(path).is_absolute() and not parts.netloc if parts.scheme == "file" else bool(parts.netloc)
    if parts.scheme not in _CREDENTIALS or parts.query or parts.fragment or not is_whole or ".." in path.split("/"):
        raise ConfigurationError(f"{VARIABLE} ({shown}) is not the address of a store", hint=hint)
    caller = _CALLER.match(path)
    root, prefix = (caller[1], f"{caller[2]}/") if caller else (path, "")
    return parts.scheme, root if parts.scheme == "file" else f"{parts.scheme}://{parts.netloc}{root}", prefix


def reason_of(error: Exception) -> str | None:
    """Return the reason of an error of obstore, as a clause; None where it is not known.

    Lance is built on the same library, and words its errors alike.
    """
    text = f"{type(error).__name__}: {error}"
    return next((words.format(*found.groups()) for rule, words in _REASONS if (found := re.search(rule, text))), None)
