"""Which models are of one family."""

from __future__ import annotations

import pytest

from marchwarden.programs import family


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic/claude-sonnet-5-6-20270101"),
        ("anthropic/claude-sonnet-5-5", "anthropic/claude-sonnet-latest"),
        ("openai/gpt-5-mini", "openai/gpt-5.1-mini-2026-08-07"),
        ("Openai/GPT-5", "openai/gpt-6"),
        ("openai/llama-3.1-8b", "openai/llama-3.2-8b"),
    ],
)
def test_versions_and_dates_make_no_other_family(one: str, other: str) -> None:
    assert family(one) == family(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5"),
        ("openai/gpt-5-mini", "openai/gpt-5"),
        ("openai/llama-3.1-8b", "openai/llama-3.1-70b"),
        ("openai/qwen-1.5b", "openai/qwen-3b"),
        ("anthropic/claude-sonnet-5-5", "bedrock/claude-sonnet-5-5"),
        ("x/3", "x/4"),
        ("extractive", "openai/extractive"),
    ],
)
def test_providers_sizes_and_words_do(one: str, other: str) -> None:
    assert family(one) != family(other)
