"""Keys never stand in a text that is written or shown, in whatever form, and ordinary words are left alone."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from marchwarden.settings import Settings
from marchwarden.text.escaping import json_text
from marchwarden.text.redaction import REDACTED, Redactor, secrets_of

KEY = "tvly-0123456789abcdef"


def test_the_secrets_are_those_of_every_secret_setting() -> None:
    keys = {
        name: SecretStr(f"{name}-0123") for name, kind in Settings.model_fields.items() if "SecretStr" in str(kind)
    }
    assert len(keys) >= 3
    assert set(secrets_of(Settings(model="m", **keys))) == {key.get_secret_value() for key in keys.values()}


@pytest.mark.parametrize(
    "key", [KEY, 'quote"and\\slash-0123', "ключ-от-всего", "with space and/slash", "ключ\u202eот\u2066всего"]
)
@pytest.mark.parametrize(
    "form",
    [
        str,
        lambda key: json.dumps(key, ensure_ascii=False)[1:-1],
        lambda key: json.dumps(key)[1:-1],
        lambda key: json_text(json.dumps(key, ensure_ascii=False))[1:-1],
        quote,
    ],
)
def test_a_secret_is_removed_plain_in_json_and_in_an_address(key: str, form: object) -> None:
    assert callable(form)
    assert Redactor([f" {key}\n"]).redact(f"say {form(key)}!") == f"say {REDACTED}!"


@pytest.mark.parametrize(
    ("address", "text", "redacted"),
    [
        ("https://me:hunter22@proxy.test/v1", "GET https://me:hunter22@proxy.test/", "GET [secret]proxy.test/"),
        ("https://me:hunter22@proxy.test/v1", "it took hunter22", "it took [secret]"),
        # A short password only where it stands in its address.
        ("https://me:pw@proxy.test", "https://me:pw@proxy.test with pw", "[secret]proxy.test with pw"),
        (
            "https://me:p%40ssword@proxy.test",
            "as sent: p%40ssword, as typed: p@ssword",
            "as sent: [secret], as typed: [secret]",
        ),
        ("https://proxy.test/models@v1", "https://proxy.test/models@v1", "https://proxy.test/models@v1"),
    ],
)
def test_the_credentials_of_an_address_are_secrets(address: str, text: str, redacted: str) -> None:
    settings = Settings(model="m", api_base=address)
    assert Redactor(secrets_of(settings)).redact(text) == redacted


def test_a_secret_has_eight_characters_or_more() -> None:
    assert Redactor(["eightlet"]).redact("eightlet") == REDACTED
    assert Redactor(["seven77"]).redact("seven77") == "seven77"


def test_a_secret_that_begins_as_another_does_is_removed_whole() -> None:
    assert Redactor([KEY, f"{KEY}-more"]).redact(f"{KEY}-more {KEY}") == f"{REDACTED} {REDACTED}"


def test_placeholders_for_keys_are_not_taken_for_secrets() -> None:
    assert Redactor(["none", "local", ""]).redact("none left, all local") == "none left, all local"
