"""How many tokens a prompt can have at most, without asking the model that will read it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

BASE_OVERHEAD = 96
"""What a chat template adds to any prompt: a date line, a default system text, the opening of the answer."""

MESSAGE_OVERHEAD = 16
"""What a chat template adds to one message: its role and its delimiters."""

SCHEMA_OVERHEAD = 256
"""What a provider writes around a response schema to explain it to the model."""

TOOLS_OVERHEAD = 1024
"""What a provider writes around tool declarations."""

TOO_LONG = re.compile(
    r"prompt is too long|maximum context length|context (?:size|length|window|limit)|exceeds? .*context",
    re.IGNORECASE,
)
"""How services say that a prompt does not fit, where their error's type does not say it."""


def most_tokens(request: Any) -> int:
    """A bound on the tokens of an lm15 Request's prompt: no tokenizer makes more tokens than there are bytes.

    Byte-level and byte-fallback tokenizers (BPE, unigram) spend at least one byte on a token; those that normalise
    first (NFKC, NFKD) may lengthen the text, so the longest form counts.
    """
    total = BASE_OVERHEAD + template_overhead(request)
    total += sum(_longest_form(text) for text in prompt_texts(request))
    schema = (request.config.response_format or {}).get("schema")
    if schema:
        total += SCHEMA_OVERHEAD + _as_written(schema)
    if request.tools:
        total += TOOLS_OVERHEAD + sum(_as_written(_declaration(tool)) for tool in request.tools)
    return total


def template_overhead(request: Any) -> int:
    """Tokens that a chat template adds around the messages."""
    return MESSAGE_OVERHEAD * (len(request.messages) + (1 if request.system else 0))


def prompt_texts(request: Any) -> Iterator[str]:
    """Every text that is sent as such: the system's and the messages'."""
    if isinstance(request.system, str):
        yield request.system
    else:
        yield from (_text_of(part) for part in request.system or ())
    for message in request.messages:
        yield from (_text_of(part) for part in message.parts)


def _text_of(part: Any) -> str:
    text = getattr(part, "text", None)
    return text if isinstance(text, str) else repr(part)


def _declaration(tool: Any) -> dict[str, Any]:
    names = ("name", "description", "parameters", "config")
    return {name: getattr(tool, name) for name in names if getattr(tool, name, None) is not None}


def _longest_form(text: str) -> int:
    if text.isascii():
        return len(text)
    forms = (text, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKD", text))
    return max(len(form.encode("utf-8", "surrogatepass")) for form in forms)


def _as_written(value: Any) -> int:
    """Bytes of `value` in the longest way in which a template prints JSON: indented and escaped."""
    return len(json.dumps(value, indent=4, ensure_ascii=True, default=str))
