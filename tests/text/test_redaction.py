"""Keys never stand in a text that is written or shown, in whatever form, and ordinary words are left alone."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from marchwarden.settings import Settings
from marchwarden.text.redaction import REDACTED, Redactor, secrets_of

KEY = "tvly-0123456789abcdef"


def test_the_secrets_are_those_of_every_secret_setting() -> None:
    keys = {
        name: SecretStr(f"{name}-0123") for name, kind in Settings.model_fields.items() if "SecretStr" in str(kind)
    }
    assert len(keys) >= 3
    assert set(secrets_of(Settings(model="m", **keys))) == {key.get_secret_value() for key in keys.values()}


@pytest.mark.parametrize("key", [KEY, 'quote"and\\slash-0123', "ключ-от-всего", "with space and/slash"])
@pytest.mark.parametrize("form", [str, lambda key: json.dumps(key, ensure_ascii=False)[1:-1], quote])
def test_a_secret_is_removed_plain_in_json_and_in_an_address(key: str, form: object) -> None:
    assert callable(form)
    assert Redactor([f" {key}\n"]).redact(f"say {form(key)}!") == f"say {REDACTED}!"


def test_a_secret_that_begins_as_another_does_is_removed_whole() -> None:
    assert Redactor([KEY, f"{KEY}-more"]).redact(f"{KEY}-more {KEY}") == f"{REDACTED} {REDACTED}"


def test_placeholders_for_keys_are_not_taken_for_secrets() -> None:
    assert Redactor(["none", "local", ""]).redact("none left, all local") == "none left, all local"
