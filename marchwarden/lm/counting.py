"""Counting a prompt's tokens: by the server that will read it, by the model's tokenizer, or by measured bounds."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx

from marchwarden.lm.prompt import (
    BASE_OVERHEAD_TOKENS,
    is_plausible,
    most_tokens,
    prompt_texts,
    template_overhead,
    usual_most_tokens,
)

# Seconds for one count, which a server gives without running the model. A guess.
TIMEOUT_S = 10.0


@dataclass(frozen=True)
class _Question:
    """One way to ask a server for a count."""

    path: str
    body: dict[str, Any]
    answer: str
    """The field of the answer: a count, or a list to be counted."""
    left_out: int
    """Tokens that the answer leaves out: the chat template's, where only text is counted."""


def _questions(request: Any) -> list[_Question]:
    """The Anthropic-style count, which applies the chat template; then llama.cpp's tokenizer, which does not."""
    messages = [{"role": each.role, "content": each.text or ""} for each in request.messages]
    system = "\n\n".join(list(prompt_texts(request))[: -len(messages)])
    model = request.model.partition(":")[2] or request.model
    counted = {"model": model, "messages": messages} | ({"system": system} if system else {})
    text = "\n".join(prompt_texts(request))
    return [
        _Question("/v1/messages/count_tokens", counted, "input_tokens", 0),
        _Question("/tokenize", {"content": text}, "tokens", BASE_OVERHEAD_TOKENS + template_overhead(request)),
    ]


def _counted(response: httpx.Response, question: _Question, request: Any) -> int | None:
    """Return the count; None where there is none, or one that can't be true."""
    if response.status_code != 200:
        return None
    try:
        found = response.json()[question.answer]
    except (ValueError, KeyError, TypeError):
        return None
    count = len(found) if isinstance(found, list) else found
    if not is_plausible(count, "\n".join(prompt_texts(request)), most_tokens(request)):
        return None
    return int(count) + question.left_out


def estimate_tokens(request: Any, model: str) -> int:
    """Return a bound on a prompt's tokens without a server: by the model's tokenizer, else as measured for others."""
    bound = usual_most_tokens(request)
    encoding = _encoding_of(model.rpartition("/")[2])
    if encoding is None or request.tools or request.config.response_format:
        return bound
    texts = "\n".join(prompt_texts(request))
    return min(bound, len(encoding.encode(texts, disallowed_special=())) + template_overhead(request))


@cache
def _encoding_of(model: str) -> Any:
    """Return tiktoken's encoding of an OpenAI model; None where it, or its table, is not on this machine."""
    try:
        import tiktoken

        name = tiktoken.encoding_name_for_model(model)
    except (ImportError, KeyError):
        return None
    # A table that is missing would be downloaded, with no limit of time. LiteLLM brings some, and sets the variable
    # when it is imported.
    litellm = find_spec("litellm")
    if litellm is not None and litellm.origin is not None:
        folder = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    kept = Path(os.environ.get("TIKTOKEN_CACHE_DIR") or Path(tempfile.gettempdir()) / "data-gym-cache")
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    if not (kept / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).is_file():
        return None
    try:
        return tiktoken.get_encoding(name)
    except Exception:  # a damaged table
        return None


class TokenCounter:
    """Counts a prompt's tokens by asking the server at `api_base`, else without it.

    `api_base` None is a service that has no endpoint for that.
    """

    def __init__(self, api_base: str | None = None, api_key: str | None = None) -> None:
        self._root = api_base.rstrip("/").removesuffix("/v1") if api_base else None
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S)
        self._answered: int | None = None if api_base else -1
        """The number of the question that the server answers; -1 for none, None until it has been asked."""

    async def count(self, request: Any) -> int:
        """Return the server's count; where it has none that can be true, a bound."""
        counted = await self._ask(request)
        if counted is not None:
            return counted
        # Reading a tokenizer's table takes up to a second.
        return await anyio.to_thread.run_sync(estimate_tokens, request, request.model.rpartition(":")[2])

    async def _ask(self, request: Any) -> int | None:
        for number, question in enumerate(_questions(request)):
            if self._answered not in (None, number):
                continue
            try:
                response = await self._client.post(f"{self._root}{question.path}", json=question.body)
            except (httpx.HTTPError, httpx.InvalidURL, RuntimeError):
                return None
            if (count := _counted(response, question, request)) is not None:
                self._answered = number
                return count
        if self._answered is None:
            self._answered = -1
        return None

    async def aclose(self) -> None:
        await self._client.aclose()
