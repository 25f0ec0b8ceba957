"""Prompts that clients show to people, as commands or in a menu. Each makes a model use the tool well."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError

_READ_IT = """\
Quote only what a citation's raw_excerpt says, with its number. Say what the gaps are, and how sure the result is."""


@dataclass(frozen=True)
class _Prompt:
    title: str
    description: str
    arguments: Mapping[str, str]
    """Descriptions of the arguments, by name; all are required."""
    text: str
    """The prompt, with the arguments' names in braces."""


_PROMPTS = {
    "research": _Prompt(
        "Research a question",
        "Answers a question from sources, with quotes that can be checked.",
        {"question": "The question."},
        "Call the tool `research` with the question below. {_read_it}\n\nQuestion: {question}",
    ),
    "fact-check": _Prompt(
        "Check a claim",
        "Looks for what supports a claim, and for what contradicts it.",
        {"claim": "The claim, in a sentence."},
        "Is the claim below true? Call the tool `research` twice: with a question that asks for evidence for it, and "
        "with one that asks for evidence against it. Then say: supported, contradicted, disputed, or not found. "
        "Nothing found is not a contradiction. {_read_it}\n\nClaim: {claim}",
    ),
    "compare": _Prompt(
        "Compare two things",
        "Compares two things by what sources say about each.",
        {"first": "One of them.", "second": "The other.", "aspect": "In what they are compared."},
        "Compare the two things below in the aspect that is named. Call the tool `research` for each of them, with "
        "the same question. Then compare in a table: a row for each point, with citations. Leave a cell empty where "
        "nothing was found. {_read_it}\n\nFirst: {first}\nSecond: {second}\nAspect: {aspect}",
    ),
}


def list_prompts() -> list[types.Prompt]:
    return [
        types.Prompt(
            name=name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                types.PromptArgument(name=argument, description=described, required=True)
                for argument, described in prompt.arguments.items()
            ],
        )
        for name, prompt in _PROMPTS.items()
    ]


def get_prompt(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """Return a prompt with its arguments filled in. Raises MCPError for an unknown name and a missing argument."""
    prompt = _PROMPTS.get(name)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"unknown prompt {name!r}; there are {', '.join(_PROMPTS)}")
    if missing := [each for each in prompt.arguments if not arguments.get(each, "").strip()]:
        raise MCPError(types.INVALID_PARAMS, f"the prompt {name!r} needs {', '.join(missing)}")
    values = {**arguments, "_read_it": _READ_IT}
    # In one go, since an argument may hold braces too.
    text = re.sub(r"\{(\w+)\}", lambda found: values[found[1]].strip(), prompt.text)
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])
