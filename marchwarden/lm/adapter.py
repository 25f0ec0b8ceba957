"""The form of a stage's fields in a prompt and in an answer: JSON, found wherever the model put it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import dspy

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_DECODER = json.JSONDecoder(strict=False)


class JSONAnswers(dspy.JSONAdapter):
    """DSPy's JSONAdapter, for models that think aloud, fence their JSON, or write on after it.

    Of several objects in an answer, the last of those that hold the most fields counts: drafts come first.
    """

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """The signature's output fields; raises dspy's AdapterParseError where the answer holds none."""
        answer = without_thinking(completion)
        wanted = set(signature.output_fields)
        best = max(json_objects(answer), key=lambda found: (len(wanted & found.keys()), -len(found)), default=None)
        if best is not None and wanted & best.keys():
            answer = json.dumps(best)
        parsed: dict[str, Any] = super().parse(signature, answer)
        return parsed


def without_thinking(text: str) -> str:
    """`text` without `<think>…</think>`; the whole text where nothing else is in it."""
    rest = _THINKING.sub("", text)
    if "</think>" in rest:  # some chat templates open the block themselves
        rest = rest.rpartition("</think>")[2]
    return rest if rest.strip() else text


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Every JSON object that stands in `text`, outermost ones only, the last first."""
    found, position = [], text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            position = text.find("{", position + 1)
            continue
        found.append(value)
        position = text.find("{", end)
    yield from reversed(found)
