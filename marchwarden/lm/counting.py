"""Counting a prompt's tokens by asking the server that will read it, where it has an endpoint for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from marchwarden.lm.prompt import BASE_OVERHEAD_TOKENS, prompt_texts, template_overhead

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


def _counted(response: httpx.Response, question: _Question) -> int | None:
    if response.status_code != 200:
        return None
    try:
        found = response.json()[question.answer]
        return (len(found) if isinstance(found, list) else int(found)) + question.left_out
    except (ValueError, KeyError, TypeError):
        return None


class TokenCounter:
    """Counts a prompt's tokens by asking the server; None where it has no endpoint for that."""

    def __init__(self, api_base: str, api_key: str | None) -> None:
        self._root = api_base.rstrip("/").removesuffix("/v1")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=TIMEOUT_S)
        self._answered: int | None = None
        """The number of the question that the server answers; -1 for none, None until it has been asked."""

    async def count(self, request: Any) -> int | None:
        for number, question in enumerate(_questions(request)):
            if self._answered not in (None, number):
                continue
            try:
                response = await self._client.post(self._root + question.path, json=question.body)
            except httpx.HTTPError:
                return None
            if (count := _counted(response, question)) is not None:
                self._answered = number
                return count
        if self._answered is None:
            self._answered = -1
        return None

    async def aclose(self) -> None:
        await self._client.aclose()
