"""Counting a prompt's tokens: by the server that will read it, by the model's tokenizer, or by measured bounds."""

from __future__ import annotations

import hashlib
import math
import os
import re
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx

from marchwarden.http.certificates import tls_context
from marchwarden.lm.prompt import (
    BASE_OVERHEAD_TOKENS,
    USUAL_BASE_TOKENS,
    USUAL_MESSAGE_TOKENS,
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
    if request.tools or request.config.response_format:
        return bound
    encoding = _encoding_of(model.rpartition("/")[2])
    if encoding is not None:
        texts = "\n".join(prompt_texts(request))
        return min(bound, len(encoding.encode(texts, disallowed_special=())) + template_overhead(request))
    measured = _measure(request)
    if measured is None:
        return bound
    parts = len(request.messages) + (1 if request.system else 0)
    template = USUAL_BASE_TOKENS + USUAL_MESSAGE_TOKENS * parts
    return min(bound, template + math.ceil(_UNKNOWN_SHARE * measured.ascii_tokens) + measured.other_bytes)


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


# A model whose tokenizer is at hand, by which those that are not are judged.
_KNOWN_MODEL = "gpt-4"
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
# Most bytes beyond ASCII, as a share of a prompt's, for what is reported of it to be about its ASCII text. A guess.
_MAX_OTHER_SHARE = 0.05
# Margin over the highest share that was reported. `python -m evals.benchmarks.token_bounds`: after one report, the
# bounds for 302 prompts with pages are 1.03 to 1.33 times what five tokenizers count.
_SHARE_MARGIN = 1.06
# Tokens of an unknown tokenizer for each of the known one's, at most. A guess: of five, the one with most has 1.14.
_UNKNOWN_SHARE = 1.3


class ReportedTokens:
    """Tokens that a service has reported for the prompts of one call, and the bound that follows for another prompt.

    Tokenizers differ by much the same factor on all text in ASCII. So the first honest report tells how many tokens a
    service counts where a known tokenizer counts one, and how many for a byte; the higher bound of the two holds. A
    service that reports too few can't bring the first factor below 1, where efficient tokenizers have it. Other text
    counts by its bytes.
    """

    def __init__(self) -> None:
        self._new: list[tuple[Any, int]] = []
        self._shares: dict[bool, tuple[float, float]] = {}
        """Highest factors so far, for a token and for a byte, for prompts with a schema for the answer (True) and
        without (False)."""
        self._longest = 0
        """ASCII bytes of the longest prompt that was reported."""
        self._lock = threading.Lock()
        self._measuring = threading.Lock()

    def add(self, request: Any, tokens: int) -> None:
        with self._lock:
            self._new.append((request, tokens))

    def most_tokens(self, request: Any) -> int | None:
        """Return a bound on a prompt's tokens; None where nothing was reported that tells of it.

        Blocks, the first time for up to a second.
        """
        with self._measuring:  # of two that ask at once, both have what was reported
            with self._lock:
                new, self._new = self._new, []
            for earlier, tokens in new:
                paid = _measure(earlier)
                if paid is None or paid.other_bytes > _MAX_OTHER_SHARE * paid.ascii_bytes:
                    continue
                self._longest = max(self._longest, paid.ascii_bytes)
                has_schema = bool(earlier.config.response_format)
                before = self._shares.get(has_schema, (1.0, 0.0))
                for_a_token, for_a_byte = (tokens / max(1, n) for n in (paid.ascii_tokens, paid.ascii_bytes))
                self._shares[has_schema] = max(for_a_token, before[0]), max(for_a_byte, before[1])
        # What is known of prompts with a schema holds for those without, and not the other way round.
        shares = [each for has, each in self._shares.items() if has or not request.config.response_format]
        measured = _measure(request) if shares else None
        if measured is None:
            return None
        by_share = min(max(token * measured.ascii_tokens, byte * measured.ascii_bytes) for token, byte in shares)
        parts = len(request.messages) + (1 if request.system else 0)
        # What the chat template adds is the same for any prompt: a share of it that a longer one has paid is missing.
        template = (
            USUAL_BASE_TOKENS * max(0.0, 1 - measured.ascii_bytes / max(1, self._longest))
            + USUAL_MESSAGE_TOKENS * parts
        )
        return math.ceil(_SHARE_MARGIN * by_share + template) + measured.other_bytes


@dataclass(frozen=True)
class _Measured:
    """A prompt's ASCII text, in bytes and as a known tokenizer counts it, and the bytes of its other text."""

    ascii_bytes: int
    ascii_tokens: int
    other_bytes: int


def _measure(request: Any) -> _Measured | None:
    """Return the measures of a prompt; None where the tokenizer is not at hand, or tools are declared."""
    encoding = _encoding_of(_KNOWN_MODEL)
    if encoding is None or request.tools:
        return None
    text = "\n".join(prompt_texts(request))
    plain = _NOT_ASCII.sub(" ", text)
    other = len(text.encode("utf-8", "surrogatepass")) - sum(map(str.isascii, text))
    return _Measured(len(plain), len(encoding.encode(plain, disallowed_special=())), other)


class TokenCounter:
    """Counts a prompt's tokens by asking the server at `api_base`, else without it.

    `api_base` None is a service that has no endpoint for that.
    """

    def __init__(self, api_base: str | None = None, api_key: str | None = None) -> None:
        self._root = api_base.rstrip("/").removesuffix("/v1") if api_base else None
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S, verify=tls_context())
        self._answered: int | None = None if api_base else -1
        """The number of the question that the server answers; -1 for none, None until it has been asked."""

    async def count(self, request: Any) -> int:
        """Return the server's count; where it has none that can be true, a bound."""
        for number, question in enumerate(_questions(request)):
            if self._answered not in (None, number):
                continue
            try:
                response = await self._client.post(f"{self._root}{question.path}", json=question.body)
            except (httpx.HTTPError, httpx.InvalidURL, RuntimeError):
                break
            if (count := _counted(response, question, request)) is not None:
                self._answered = number
                return count
        else:
            if self._answered is None:
                self._answered = -1
        # Reading a tokenizer's table takes up to a second.
        return await anyio.to_thread.run_sync(estimate_tokens, request, request.model.rpartition(":")[2])

    async def aclose(self) -> None:
        await self._client.aclose()
