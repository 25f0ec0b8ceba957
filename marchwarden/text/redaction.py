"""Keys and passwords that must never be written or shown: where they stand, and their removal from a text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs, quote, unquote, urlsplit
from urllib.request import getproxies_environment

from pydantic import SecretStr

from marchwarden.environment import store_secrets
from marchwarden.settings import Settings
from marchwarden.text.escaping import json_text

REDACTED = "[secret]"

# Shorter values are placeholders (`none`, `local`), and removing them would spoil ordinary words. A guess: the
# keys of the services that the settings name have 30 characters and more.
MIN_SECRET_CHARS = 8


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Return the values of every secret setting, and the credentials in addresses of services and proxies."""
    values = [getattr(settings, name) for name in type(settings).model_fields]
    keys = [value.get_secret_value() for value in values if isinstance(value, SecretStr)]
    addresses = [settings.api_base, settings.tavily_base_url, settings.store, *getproxies_environment().values()]
    if settings.trace_index is not None:
        addresses.append(settings.trace_index.get_secret_value())
    return (
        *keys,
        *store_secrets(),
        *(secret for address in addresses if address for secret in _credentials(address)),
    )


def _credentials(address: str) -> Iterator[str]:
    """Yield the password of an address as it is sent, and the address up to its host: a password may be short."""
    try:
        parts = urlsplit(address)
        user, at, _ = parts.netloc.rpartition("@")
        query = parse_qs(parts.query)
        yield from (secret for name in ("password", "sslpassword") for secret in query.get(name, ()))
    except ValueError:
        return
    if at:
        yield f"{parts.scheme}://{user}@"
        yield user.partition(":")[2]
        yield unquote(parts.password or "")


class Redactor:
    """Removes secrets from texts, in each form that one can have there: plain, escaped in JSON, quoted in a URL."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        real = [secret.strip() for secret in secrets if len(secret.strip()) >= MIN_SECRET_CHARS]
        in_json = [json.dumps(each, ensure_ascii=is_ascii)[1:-1] for each in real for is_ascii in (False, True)]
        forms = {*real, *in_json, *map(json_text, in_json), *map(quote, real)}
        # One form may be a part of another: the longest goes first, or the rest of it would stay.
        self._forms = sorted(forms, key=len, reverse=True)

    def redact(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text
