"""An engine whose answers are kept in a file, and given again from it when the same is asked: a run that was
interrupted goes on where it stopped, without paying twice.

The n-th time that a request is made, the n-th answer to it that the file holds is given; after the last one the
engine beneath is asked. A model that is sampled so gives its own variety, and a repeated run sees the same.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from dspy import lm15

from marchwarden.errors import StorageError
from marchwarden.lm.engine import AsyncEngine, Engine
from marchwarden.lm.prompt import prompt_texts

_USAGE = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens")


class Recording:
    """The file: an answer a line, appended when it is whole. A torn last line is passed over.

    Raises StorageError where it can't be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.replayed = 0
        """How many answers were given from the file."""
        self._path = path
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self._answers: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in self._lines():
            self._answers[line["request"]].append(line)
        self._known = {key: len(found) for key, found in self._answers.items()}

    def __len__(self) -> int:
        return sum(self._known.values())

    def take(self, request: Any) -> tuple[str, list[Any] | None]:
        """The request's key, and its next answer as stream events; None where the file has no more of them."""
        key = _key(request)
        with self._lock:
            place = self._asked[key]
            self._asked[key] += 1
            if place >= self._known.get(key, 0):
                return key, None
            self.replayed += 1
            return key, _events(request, self._answers[key][place])

    def keep(self, key: str, response: Any) -> None:
        usage = {name: getattr(response.usage, name) for name in _USAGE}
        line = {"request": key, "text": response.text, "finish": response.finish_reason, "usage": usage}
        try:
            with self._lock, self._path.open("ab") as file:
                file.write(json.dumps(line, ensure_ascii=False).encode("utf-8") + b"\n")
        except OSError as error:
            raise StorageError(
                f"{self._path} can't be written: {error.strerror or error}", hint="Make room on the disk."
            ) from error

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            body = self._path.read_bytes() if self._path.exists() else b""
            if body and not body.endswith(b"\n"):
                body = body[: body.rfind(b"\n") + 1]
                self._path.write_bytes(body)  # what is appended next is a line of its own
        except OSError as error:
            raise StorageError(f"{self._path} can't be read: {error.strerror or error}") from error
        for line in body.splitlines():
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict) and {"request", "text", "finish", "usage"} <= found.keys():
                yield found


class RecordedEngine:
    """`inner` with its answers kept. What fails is not kept."""

    def __init__(self, inner: Engine, recording: Recording) -> None:
        self.capabilities = inner.capabilities
        self._inner = inner
        self._recording = recording

    def stream(self, request: Any) -> Iterator[Any]:
        key, kept = self._recording.take(request)
        if kept is not None:
            yield from kept
            return
        seen = []
        for event in self._inner.stream(request):
            seen.append(event)
            yield event
        self._recording.keep(key, lm15.materialize_response(iter(seen), request))

    def count_tokens(self, request: Any) -> int | None:
        return self._inner.count_tokens(request)

    def close(self) -> None:
        self._inner.close()


class AsyncRecordedEngine:
    """The same for tasks, with the same file."""

    def __init__(self, inner: AsyncEngine, recording: Recording) -> None:
        self.capabilities = inner.capabilities
        self._inner = inner
        self._recording = recording

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        key, kept = self._recording.take(request)
        if kept is not None:
            for event in kept:
                yield event
            return
        seen = []
        async with aclosing(self._inner.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                seen.append(event)
                yield event
        self._recording.keep(key, lm15.materialize_response(iter(seen), request))

    async def count_tokens(self, request: Any) -> int | None:
        return await self._inner.count_tokens(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _key(request: Any) -> str:
    """A hash of all that can change the answer: the texts, the schema, and how it is sampled. Not the cap, which a
    budget cuts to what is left."""
    config = request.config
    asked = [
        request.model,
        list(prompt_texts(request)),
        config.response_format,
        [getattr(config, name, None) for name in ("temperature", "top_p", "stop")],
    ]
    return hashlib.sha256(json.dumps(asked, default=str).encode("utf-8")).hexdigest()[:24]


def _events(request: Any, answer: dict[str, Any]) -> list[Any]:
    usage = lm15.Usage(**{name: answer["usage"].get(name) for name in _USAGE})
    return [
        lm15.StreamStartEvent(id="recorded", model=request.model),
        lm15.StreamDeltaEvent(lm15.TextDelta(text=answer["text"])),
        lm15.StreamEndEvent(finish_reason=answer["finish"], usage=usage),
    ]
