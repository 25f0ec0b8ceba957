"""A prompt's texts, their hash, and an upper bound on their tokens, without a call of the model that reads them."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

# Overheads are guesses with room to spare: providers don't publish their templates. One that is too small shows
# itself, since the meter raises its bounds by whatever a provider reports beyond them.

# A chat template's addition to any prompt: a date line, a default system text, the opening of the answer.
BASE_OVERHEAD_TOKENS = 96

# A chat template's addition to one message: its role and its delimiters.
MESSAGE_OVERHEAD_TOKENS = 16

# A provider's words around a response schema that explain it to the model.
SCHEMA_OVERHEAD_TOKENS = 256

# A provider's words around tool declarations.
TOOLS_OVERHEAD_TOKENS = 1024

# Words of services for a prompt that does not fit, where their error's type does not tell.
TOO_LONG = re.compile(
    r"prompt is too long|maximum context length|context (?:size|length|window|limit)|exceeds? .*context",
    re.IGNORECASE,
)


def most_tokens(request: Any) -> int:
    """Return an upper bound on the tokens of an lm15 Request's prompt: no tokenizer makes more tokens than bytes."""
    total = BASE_OVERHEAD_TOKENS + template_overhead(request)
    for text in prompt_texts(request):
        if text.isascii():
            total += len(text)
        else:
            # Byte-level and byte-fallback tokenizers (BPE, unigram) use at least one byte for a token. Those that
            # normalise first (NFKC, NFKD) may lengthen the text, so the longest form counts.
            forms = (text, unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKD", text))
            total += max(len(form.encode("utf-8", "surrogatepass")) for form in forms)
    schema = (request.config.response_format or {}).get("schema")
    if schema:
        total += SCHEMA_OVERHEAD_TOKENS + _as_written(schema)
    if request.tools:
        total += TOOLS_OVERHEAD_TOKENS
        for tool in request.tools:
            names = ("name", "description", "parameters", "config")
            total += _as_written(
                {name: getattr(tool, name) for name in names if getattr(tool, name, None) is not None}
            )
    return total


def template_overhead(request: Any) -> int:
    """Return the tokens that a chat template adds around the messages."""
    return MESSAGE_OVERHEAD_TOKENS * (len(request.messages) + (1 if request.system else 0))


def prompt_texts(request: Any) -> Iterator[str]:
    """Yield every text of the prompt: the system's and the messages'."""
    if isinstance(request.system, str):
        yield request.system
    else:
        yield from (_text_of(part) for part in request.system or ())
    for message in request.messages:
        yield from (_text_of(part) for part in message.parts)


def request_hash(request: Any) -> str:
    """Return a hash of all that can change the answer: the texts, the schema, and how it is sampled.

    The cap is left out, since a budget cuts it to what is left.
    """
    config = request.config
    asked = [
        request.model,
        list(prompt_texts(request)),
        config.response_format,
        [getattr(config, name, None) for name in ("temperature", "top_p", "stop")],
    ]
    return hashlib.sha256(json.dumps(asked, default=str).encode("utf-8")).hexdigest()[:24]


def _text_of(part: Any) -> str:
    text = getattr(part, "text", None)
    return text if isinstance(text, str) else repr(part)


def _as_written(value: Any) -> int:
    """Return the bytes of `value` in the longest form in which a template prints JSON: indented and escaped."""
    return len(json.dumps(value, indent=4, ensure_ascii=True, default=str))
