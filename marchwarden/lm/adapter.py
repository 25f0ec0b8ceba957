"""The form of a stage's fields in a prompt and in an answer: JSON, found wherever the model put it."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import dspy
from dspy.adapters.utils import format_field_value
from pydantic import TypeAdapter

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Brackets and texts of JSON. The group is empty where a text breaks off.
_JSON_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*("?)|[{}\[\]]', re.DOTALL)
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


class ShortJSONAnswers(JSONAnswers):
    """The same fields in the shortest prompt: the instructions, the form of the answer, and each input by its name.

    It is for budgets that the usual prompt does not fit, with about a third of its tokens. Descriptions of fields and
    demonstrations are left out, and with `only_needed` the parts of an answer that may be missing.
    """

    def __init__(self, *, only_needed: bool = False) -> None:
        super().__init__()
        self._only_needed = only_needed

    def format_system_message(self, signature: Any) -> str:
        fields = (
            f'"{name}": {_form(field.annotation, self._only_needed)}'
            for name, field in signature.output_fields.items()
        )
        instructions = " ".join(textwrap.dedent(signature.instructions).split())
        return f"{instructions}\nAnswer with JSON only: {{{', '.join(fields)}}}"

    def format_demos(self, signature: Any, demos: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return []

    def format_user_message_content(
        self, signature: Any, inputs: dict[str, Any], prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        lines = [
            f"{name}:\n{format_field_value(field, inputs[name])}"
            for name, field in signature.input_fields.items()
            if inputs.get(name)
        ]
        return "\n".join(filter(None, [prefix, *lines, suffix]))


def _form(annotation: Any, only_needed: bool) -> str:
    """Return a type in the notation of TypeScript: `[{"text": string, "excerpts": [integer]}]`."""
    schema = TypeAdapter(annotation).json_schema()
    named = schema.get("$defs", {})

    def form(part: dict[str, Any]) -> str:
        if "$ref" in part:
            return form(named[part["$ref"].rpartition("/")[2]])
        if "enum" in part:
            return " | ".join(json.dumps(value) for value in part["enum"])
        if part.get("type") == "array":
            return f"[{form(part['items'])}]"
        if part.get("type") == "object":
            needed = part.get("required", ())
            fields = (
                f'"{name}": {form(each)}'
                for name, each in part["properties"].items()
                if name in needed or not only_needed
            )
            return "{" + ", ".join(fields) + "}"
        return str(part.get("type", "string"))

    return form(schema)


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


def whole_items(text: str) -> str | None:
    """Return the JSON object that an answer breaks off in, closed after the last whole item of its lists.

    None where no object is open at the end, or no item of a list that is its field is whole: of a field that is a
    text or a number nobody can tell whether it is.
    """
    # What was thought aloud holds drafts, also where nothing came after it.
    text = _THINKING.sub("", text).rpartition("</think>")[2]
    start, last_end = text.find("{"), -1
    if start < 0:
        return None
    ends: list[str] = []  # of what is open, outermost first
    for token in _JSON_TOKENS.finditer(text, start):
        match token[0]:
            case "{" | "[" as bracket:
                if not ends:
                    start, last_end = token.start(), -1
                ends.append("}" if bracket == "{" else "]")
                continue
            case "}" | "]" as bracket if ends and ends.pop() != bracket:
                return None
            case piece if piece.startswith('"') and not token[1]:
                break
        if ends == ["}", "]"]:
            last_end = token.end()
    return f"{text[start:last_end]}]}}" if ends[:1] == ["}"] and last_end > start else None
