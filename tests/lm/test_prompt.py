"""The bound on a prompt's tokens is a bound, whatever the script and whatever the tokenizer."""

from __future__ import annotations

import unicodedata

import pytest
from dspy import lm15
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.lm.prompt import BASE_OVERHEAD_TOKENS, MESSAGE_OVERHEAD_TOKENS, most_tokens, prompt_texts

from .conftest import request_of

SCRIPTS = ["Ελληνικά", "ไทยไม่เว้นวรรค", "中文字符", "हिन्दी पाठ", "🧪🌍👩‍🔬", "ﷺ ﷺ", "ﬁ ﬂ ﬃ", "é" * 9, "\u0000\u200b"]


@pytest.mark.parametrize("text", SCRIPTS)
def test_a_byte_is_a_token_at_most_before_and_after_normalisation(text: str) -> None:
    bound = most_tokens(request_of(text))
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert (
            bound >= len(unicodedata.normalize(form, text).encode()) + BASE_OVERHEAD_TOKENS + MESSAGE_OVERHEAD_TOKENS
        )  # type: ignore[arg-type]


@given(
    texts=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=5), system=st.text(min_size=1, max_size=40)
)
def test_every_text_that_is_sent_counts(texts: list[str], system: str) -> None:
    messages = tuple(lm15.Message.user(text) for text in texts)
    request = lm15.Request(model="m", messages=messages, system=system, config=lm15.Config(max_tokens=5))
    assert list(prompt_texts(request)) == [system, *texts]
    assert most_tokens(request) >= sum(len(text.encode("utf-8", "surrogatepass")) for text in [system, *texts])


def test_a_response_schema_counts_as_a_template_would_print_it() -> None:
    schema = {"type": "object", "properties": {"añadido": {"type": "array", "items": {"type": "string"}}}}
    plain = request_of()
    config = lm15.Config(max_tokens=100, response_format={"type": "json_schema", "schema": schema})
    with_schema = lm15.Request(model="m", messages=plain.messages, config=config)
    assert most_tokens(with_schema) - most_tokens(plain) > 4 * len(str(schema)) / 2


def test_tools_count() -> None:
    tool = lm15.FunctionTool(name="search", description="Searches the web", parameters={"type": "object"})
    assert most_tokens(request_of(tools=(tool,))) > most_tokens(request_of()) + 1024


def test_parts_that_are_not_text_count() -> None:
    call = lm15.ToolCallPart(id="1", name="search", input={"query": "crops " * 50})
    request = lm15.Request(
        model="m",
        messages=(lm15.Message.user("q"), lm15.Message.assistant([call])),
        system=(lm15.TextPart("be brief"),),
        config=lm15.Config(max_tokens=5),
    )
    assert most_tokens(request) > 300
