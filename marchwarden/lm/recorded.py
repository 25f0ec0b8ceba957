"""An engine whose answers are kept in a file, and given again from it when the same is asked: a run that was
interrupted goes on where it stopped, without paying twice.

The n-th time that a request is made, the n-th answer to it that the file holds is given; after the last one the
engine beneath is asked. A model that is sampled so gives its own variety, and a repeated run sees the same.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Literal

from dspy import lm15
from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, ValidationError

from marchwarden.errors import StorageError
from marchwarden.files import append_line
from marchwarden.lm.engine import Engine
from marchwarden.lm.prompt import request_hash


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True)

    input_tokens: NonNegativeInt | None = None
    output_tokens: NonNegativeInt | None = None
    total_tokens: NonNegativeInt | None = None
    cache_read_tokens: NonNegativeInt | None = None


class _Answer(BaseModel):
    """A line of the file."""

    model_config = ConfigDict(frozen=True)

    request: str
    text: str
    finish: Literal["stop", "length", "tool_call", "content_filter", "error"] | None
    usage: _Usage
    seconds: NonNegativeFloat = 0.0


class Recording:
    """The file: an answer a line, appended when it is whole. A line that a crash tore is passed over.

    Raises StorageError where it can't be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.replayed = 0
        """Number of answers that were given from the file."""
        self.replayed_seconds = 0.0
        """Seconds that these took when they were made."""
        self._path = path
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self._answers: dict[str, list[_Answer]] = defaultdict(list)
        for line in self._lines():
            self._answers[line.request].append(line)
        self._known = {key: len(found) for key, found in self._answers.items()}

    def __len__(self) -> int:
        return sum(self._known.values())

    def take(self, request: Any) -> tuple[str, list[Any] | None]:
        """The request's key, and its next answer as stream events; None where the file has no more of them."""
        key = request_hash(request)
        with self._lock:
            place = self._asked[key]
            self._asked[key] += 1
            if place >= self._known.get(key, 0):
                return key, None
            self.replayed += 1
            answer = self._answers[key][place]
            self.replayed_seconds += answer.seconds
            return key, answer_events(request, answer.text, answer.finish, lm15.Usage(**answer.usage.model_dump()))

    def keep(self, key: str, events: Sequence[Any], seconds: float) -> None:
        """Append the answer to the file, as text, with the seconds that it took."""
        # The text as it streamed: lm15 makes something else than text of an answer that is JSON by its schema.
        end = events[-1]
        usage = _Usage(**{name: getattr(end.usage, name, None) for name in _Usage.model_fields})
        pieces = [each.delta.text for each in events if isinstance(getattr(each, "delta", None), lm15.TextDelta)]
        text = "".join(pieces).encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair has no form
        answer = _Answer(request=key, text=text, finish=end.finish_reason, usage=usage, seconds=round(seconds, 2))
        try:
            with self._lock, self._path.open("ab", buffering=0) as file:
                append_line(file.fileno(), answer.model_dump_json().encode("utf-8") + b"\n")
        except OSError as error:
            raise StorageError(
                f"{self._path} can't be written: {error.strerror or error}", hint="Free some space on the disk."
            ) from error

    def _lines(self) -> Iterator[_Answer]:
        try:
            body = self._path.read_bytes() if self._path.exists() else b""
            if body and not body.endswith(b"\n"):
                body = body[: body.rfind(b"\n") + 1]
                self._path.write_bytes(body)  # what is appended next is a line of its own
        except OSError as error:
            raise StorageError(f"{self._path} can't be read: {error.strerror or error}") from error
        for line in body.split(b"\n"):
            with suppress(ValidationError):
                yield _Answer.model_validate_json(line)


class RecordedEngine:
    """`inner` with its answers kept. A failed attempt is not kept."""

    def __init__(self, inner: Engine, recording: Recording) -> None:
        self.capabilities = inner.capabilities
        self._inner = inner
        self._recording = recording

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        key, kept = self._recording.take(request)
        if kept is not None:
            for event in kept:
                yield event
            return
        seen, began = [], time.monotonic()
        async with aclosing(self._inner.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                seen.append(event)
                if event.type == "end":  # before it is passed on: lm15 hears of no failure after it
                    self._recording.keep(key, seen, time.monotonic() - began)
                yield event

    async def count_tokens(self, request: Any) -> int | None:
        return await self._inner.count_tokens(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def answer_events(request: Any, text: str, finish: str | None, usage: Any) -> list[Any]:
    """Return a recorded answer, with its lm15 Usage, as stream events."""
    return [
        lm15.StreamStartEvent(id="recorded", model=request.model),
        lm15.StreamDeltaEvent(lm15.TextDelta(text=text)),
        lm15.StreamEndEvent(finish_reason=finish, usage=usage),
    ]
