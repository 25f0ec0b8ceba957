"""From settings to a model: which engine, and what is said where a key or a model is missing."""

from __future__ import annotations

import os
from typing import Any

import pytest

from marchwarden.errors import ConfigurationError
from marchwarden.lm import connect
from marchwarden.lm.resolve import resolve
from marchwarden.settings import Settings

from .conftest import MemoryRecorder, budget_of


def settings(**values: Any) -> Settings:
    return Settings(**values)


@pytest.fixture(autouse=True)
def _no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")


def test_extractive_is_no_model(recorder: MemoryRecorder) -> None:
    assert connect(settings(), budget_of(500), recorder) is None
    assert connect(settings(model="extractive", anthropic_api_key="k" * 10), budget_of(500), recorder) is None


def test_a_key_for_claude_makes_claude_the_default(recorder: MemoryRecorder) -> None:
    model = connect(settings(anthropic_api_key="sk-ant-0000000"), budget_of(500), recorder)
    assert model is not None
    assert model.model_id.startswith("anthropic/claude")
    assert "sk-ant" not in repr(model)


def test_claude_without_a_key_says_which_one(recorder: MemoryRecorder) -> None:
    with pytest.raises(ConfigurationError) as refused:
        connect(settings(model="anthropic/claude-sonnet-5-5"), budget_of(500), recorder)
    assert "ANTHROPIC_API_KEY" in str(refused.value.hint)


def test_another_address_for_claude_needs_no_key() -> None:
    assert resolve(settings(model="anthropic/smollm2", api_base="http://127.0.0.1:1/v1"))


def test_a_server_of_ones_own_needs_no_key() -> None:
    engine = resolve(settings(model="openai/smollm2", api_base="http://127.0.0.1:1/v1"))
    assert engine.capabilities.response_schema


def test_openai_without_a_key_says_which_one() -> None:
    with pytest.raises(ConfigurationError) as refused:
        resolve(settings(model="openai/gpt-4o-mini"))
    assert "OPENAI_API_KEY" in str(refused.value.hint)


def test_openai_with_a_key_takes_what_the_catalogue_knows() -> None:
    engine = resolve(settings(model="openai/gpt-4o-mini", api_key="sk-proj-0123456789"))
    assert engine.capabilities.response_schema


def test_a_local_ollama_needs_no_key() -> None:
    assert resolve(settings(model="ollama_chat/llama3.2"))


@pytest.mark.slow  # the import alone takes five CPU seconds
@pytest.mark.filterwarnings("ignore:Items? .*ReadOnly:UserWarning")  # LiteLLM's own
def test_what_only_litellm_knows_goes_through_it() -> None:
    pytest.importorskip("litellm")
    assert resolve(settings(model="mistral/mistral-small-latest", api_key="key-0123456789"))


# LiteLLM is asked for a service that nobody else knows: importing it takes four CPU seconds.
NOBODY = pytest.param("nobody/nothing", marks=pytest.mark.slow)


@pytest.mark.parametrize("model", ["nonsense", NOBODY, "anthropic/", "openai/"])
def test_a_model_that_nobody_knows_is_a_wrong_setting(
    model: str, recorder: MemoryRecorder, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        connect(settings(model=model), budget_of(500), recorder)
    assert model in str(refused.value)
    assert refused.value.hint
    assert capfd.readouterr().out == ""


def test_no_price_list_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LITELLM_LOCAL_MODEL_COST_MAP")
    resolve(settings(model="ollama_chat/llama3.2"))
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
