"""Counting a prompt's tokens: by the server that will read it, by the model's tokenizer, or by measured bounds."""

from __future__ import annotations

import hashlib
import math
import os
import re
import tempfile
import threading
from collections import defaultdict, deque
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
    """The Anthropic-style count and vLLM's, which apply the chat template; then llama.cpp's tokenizer, which does
    not."""
    messages = [{"role": each.role, "content": each.text or ""} for each in request.messages]
    system = "\n\n".join(list(prompt_texts(request))[: -len(messages)])
    model = request.model.partition(":")[2] or request.model
    counted = {"model": model, "messages": messages} | ({"system": system} if system else {})
    with_system = [{"role": "system", "content": system}, *messages] if system else messages
    text = "\n".join(prompt_texts(request))
    return [
        _Question("/v1/messages/count_tokens", counted, "input_tokens", 0),
        _Question("/tokenize", {"model": model, "messages": with_system}, "count", 0),
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
# Margin over what a report tells of another prompt, chosen so that the bounds for 302 prompts with pages are not
# below what five tokenizers count (`python -m evals.benchmarks.token_bounds`).
_REPORT_MARGIN = 1.07
# Tokens of an unknown tokenizer for each of the known one's, at most. A guess: of five, the one with most has 1.14.
_UNKNOWN_SHARE = 1.3
# The same at the least, for text in ASCII: it limits what a template can have added to a report. A guess.
_LEAST_SHARE = 0.8
# Tokens that a chat template adds to a prompt of two messages, at most, as USUAL_BASE_TOKENS has them.
_MOST_TEMPLATE_TOKENS = USUAL_BASE_TOKENS + 2 * USUAL_MESSAGE_TOKENS
# Reports that are kept, the last ones: a research call makes fewer, an optimizer thousands. A guess.
_REPORTS_KEPT = 32


class ReportedTokens:
    """Tokens that a service has reported for the prompts of one call, and the bound that follows for another prompt.

    Tokenizers differ by much the same factor on all text in ASCII, and a chat template adds the same to any prompt.
    So an honest report bounds every other prompt, and the lowest of these bounds holds. A service that reports too
    few brings none below what efficient tokenizers count. Other text counts by its bytes.
    """

    def __init__(self) -> None:
        self._new: list[tuple[Any, int]] = []
        self._reports: dict[bool, deque[_Report]] = defaultdict(lambda: deque(maxlen=_REPORTS_KEPT))
        """Reports for prompts with a schema for the answer (True) and without (False)."""
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
                kept = self._reports[bool(earlier.config.response_format)]
                # One that is lower than an earlier one allows is a lie, or that was one. The higher bound is kept.
                if all(tokens >= each.bounds(paid)[0] for each in kept):
                    kept.append(_Report(paid, tokens))
            with_schema, without = ([*self._reports[has]] for has in (True, False))
        # What is known of prompts with a schema holds for those without, and not the other way round.
        has_schema = bool(request.config.response_format)
        reports = with_schema if has_schema else with_schema + without
        measured = _measure(request) if reports else None
        if measured is None:
            return None
        bounds = [report.bounds(measured)[1] for report in reports]
        # What a schema costs differs by stage.
        return math.ceil(max(bounds) if has_schema else min(bounds)) + measured.other_bytes


@dataclass(frozen=True)
class _Measured:
    """Measures of a prompt."""

    ascii_bytes: int
    """Bytes of its text in ASCII."""
    ascii_tokens: int
    """Tokens of that text by the known tokenizer."""
    other_bytes: int
    """Bytes of its other text."""
    messages: int
    """Number of its messages, the system text among them."""


@dataclass(frozen=True)
class _Report:
    """Tokens that a service has reported for a prompt."""

    prompt: _Measured
    tokens: int

    def bounds(self, other: _Measured) -> tuple[float, float]:
        """Return a lower and an upper bound on the tokens of another prompt's ASCII text and its template.

        The service may count so many for a token of the known tokenizer or for a byte, and its template may have
        added nothing or much. The bounds hold for all of these.
        """
        own = self.prompt
        most_added = min(_MOST_TEMPLATE_TOKENS, self.tokens - _LEAST_SHARE * own.ascii_tokens)
        lower, upper = [], []
        for added in (0.0, max(0.0, most_added)):
            for_a_token = (self.tokens - added) / max(1, own.ascii_tokens)
            for_a_byte = (self.tokens - added) / max(1, own.ascii_bytes)
            counted = for_a_token * other.ascii_tokens, for_a_byte * other.ascii_bytes
            lower.append(min(counted) / _REPORT_MARGIN + added)
            upper.append(max(counted) * _REPORT_MARGIN + added)
        # A report that is too low lowers no bound below what efficient tokenizers count.
        more_messages = USUAL_MESSAGE_TOKENS * max(0, other.messages - own.messages)
        return min(lower), max(*upper, _REPORT_MARGIN * other.ascii_tokens) + more_messages


def _measure(request: Any) -> _Measured | None:
    """Return the measures of a prompt; None where the tokenizer is not at hand, or tools are declared."""
    encoding = _encoding_of(_KNOWN_MODEL)
    if encoding is None or request.tools:
        return None
    text = "\n".join(prompt_texts(request))
    plain = _NOT_ASCII.sub(" ", text)
    other = len(text.encode("utf-8", "surrogatepass")) - sum(map(str.isascii, text))
    parts = len(request.messages) + (1 if request.system else 0)
    return _Measured(len(plain), len(encoding.encode(plain, disallowed_special=())), other, parts)


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
