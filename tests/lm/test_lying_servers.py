"""Spent by a server's own books ≤ the budget, whatever it says of counts and usage; and a budget is used."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
from dspy import lm15
from hypothesis import given, settings
from hypothesis import strategies as st

from marchwarden import research
from marchwarden.contract import ResearchRequest, ResearchResult
from marchwarden.lm.counting import ReportedTokens, estimate_tokens
from marchwarden.lm.prompt import fewest_tokens, usual_most_tokens
from marchwarden.server.worker import research_in_worker
from marchwarden.settings import Settings, load_settings
from tests.profiles import CALLS, EXAMPLES
from tests.webs import article, make_web

from .wire import Answer, Service, as_events, service

QUESTION = "When was the bridge at Saltmere opened?"
SENTENCES = (
    "The bridge at Saltmere was opened in 1931.",
    "It was built of local granite by a firm of the town, and it has five arches.",
    "Its toll was set by the county council for the first ten years of its traffic.",
)
PAGES = {"https://bridge.example/": article("The bridge at Saltmere", *SENTENCES)}

# What a usage or a count may say that no honest one says.
LIES = st.one_of(
    st.sampled_from([-1000, -1, 0, 10**12, 2**70, float("nan"), float("inf"), 3.7, "many", "7", True, None, [], {}]),
    st.integers(-(10**15), -1),
    st.integers(10**6, 10**15),
)
USAGES = st.one_of(
    st.none(),
    st.sampled_from(["none", [1], 7]),
    st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens"]), LIES),
    st.builds(lambda lie: {"prompt_tokens": 50, "prompt_tokens_details": {"cached_tokens": lie}}, LIES),
    st.sampled_from(["a tenth", "honest"]),
)


class Books:
    """A server's own account of what it was asked and what it said."""

    def __init__(self, usage: Any, bytes_per_token: float = 4.0) -> None:
        self.spent = 0
        self.calls = 0
        self._usage = usage
        self._bytes_per_token = bytes_per_token
        self._lock = threading.Lock()

    def respond(self, body: Any) -> Answer:
        schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        text = json.dumps(_filled(schema, schema.get("$defs", {}))) if schema else "{}"
        prompt = sum(self._tokens(each["content"]) + 6 for each in body["messages"])
        output = min(self._tokens(text), body["max_tokens"])
        with self._lock:
            self.spent += prompt + output
            self.calls += 1
        usage = self._usage
        if usage == "a tenth":
            usage = {"prompt_tokens": prompt // 10, "completion_tokens": output // 10}
        elif usage == "honest":
            usage = {"prompt_tokens": prompt, "completion_tokens": output}
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return as_events(
            (None, {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}),
            (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            (None, {**base, "choices": [], "usage": usage}),
            (None, "[DONE]"),
        )

    def _tokens(self, text: str) -> int:
        return int(len(text.encode()) / self._bytes_per_token) + 1


def _filled(schema: Any, named: Any) -> Any:
    """Something that the schema allows."""
    if "$ref" in schema:
        return _filled(named[schema["$ref"].rpartition("/")[2]], named)
    match schema.get("type"):
        case "object":
            return {name: _filled(each, named) for name, each in schema.get("properties", {}).items()}
        case "array":
            return [_filled(schema["items"], named)]
        case "integer" | "number":
            return 1
        case "boolean":
            return False
    return schema.get("enum", ["The bridge at Saltmere was opened in 1931."])[0]


@contextmanager
def asked(books: Books, counted: Answer | None = None) -> Iterator[tuple[Service, Settings]]:
    with service(respond=books.respond, counted=counted) as server, TemporaryDirectory() as folder:
        web = make_web(Path(folder) / "web", PAGES)
        own = {"model": "openai/m", "api_base": server.address + "/v1", "web": web, "source": "snapshot"}
        yield server, load_settings(**own, trace_dir=Path(folder) / "traces")


def a_count(lie: object) -> Answer:
    body = json.dumps({"input_tokens": lie, "tokens": [0] * (lie % 9) if isinstance(lie, int) else lie})
    return Answer(200, body.encode(), {"content-type": "application/json"})


@settings(max_examples=max(CALLS, 20) if EXAMPLES > 20 else 20, deadline=None)
@given(st.integers(500, 4000), USAGES, st.one_of(st.none(), LIES), st.sampled_from([3.4, 4.0, 5.0]))
def test_no_lie_makes_a_call_cost_more_than_its_budget(
    tokens: int, usage: Any, count: object, bytes_per_token: float
) -> None:
    books = Books(usage, bytes_per_token)
    with asked(books, None if count is None else a_count(count)) as (_, own):
        result = asyncio.run(research(QUESTION, constraints={"token_budget": tokens}, settings=own))
    assert books.spent <= tokens
    assert books.spent <= result.cost_metadata.tokens_used <= tokens
    assert "1931" in result.answer


@pytest.mark.anyio
@pytest.mark.parametrize("lie", [-1000, 10**12])
async def test_no_lie_makes_a_call_over_mcp_cost_more_than_its_budget(lie: int) -> None:
    books = Books({"prompt_tokens": lie, "completion_tokens": lie, "total_tokens": lie})
    request = ResearchRequest.model_validate({"question": QUESTION, "constraints": {"token_budget": 2500}})
    with asked(books, a_count(lie)) as (_, own):
        result = await research_in_worker(
            request, settings=own, trace_id=str(uuid4()), on_progress=lambda message: None
        )
    assert books.calls
    assert books.spent <= result.cost_metadata.tokens_used <= 2500
    assert "1931" in result.answer


def ask_honestly(tokens: int, usage: Any = "honest", bytes_per_token: float = 4.0) -> tuple[Books, ResearchResult]:
    books = Books(usage, bytes_per_token)
    with asked(books) as (_, own):
        return books, asyncio.run(research(QUESTION, constraints={"token_budget": tokens}, settings=own))


def test_an_absurd_usage_leaves_the_rest_of_the_budget_to_use() -> None:
    books, result = ask_honestly(20_000, {"prompt_tokens": 10**12, "completion_tokens": 10**12})
    assert books.calls > 2
    assert not result.cost_metadata.budget_exhausted


@pytest.mark.parametrize("bytes_per_token", [3.4, 4.0])
def test_a_small_budget_is_used_by_what_a_server_without_a_count_reports(bytes_per_token: float) -> None:
    books, result = ask_honestly(3000, bytes_per_token=bytes_per_token)
    assert 0.8 * 3000 <= books.spent <= 3000
    assert books.spent == result.cost_metadata.tokens_used


def test_the_least_budgets_are_asked_for_something() -> None:
    for tokens in (600, 1000):
        books, result = ask_honestly(tokens)
        assert 0 < books.spent == result.cost_metadata.tokens_used <= tokens
        assert books.calls


SCHEMA: dict[str, Any] = {"type": "json_schema", "schema": {"type": "object"}}
IN_JSON = json.dumps(SCHEMA | {"of": [{"type": "string", "title": "Text"}] * 10}, indent=1)


def test_an_unknown_tokenizer_is_taken_for_a_wasteful_one() -> None:
    by_pieces = usual_most_tokens(a_request(IN_JSON))
    bound = estimate_tokens(a_request(IN_JSON), "unknown")
    assert 150 * 1.3 <= bound < by_pieces
    assert estimate_tokens(a_request(IN_JSON, schema=True), "unknown") >= by_pieces


def a_request(text: str, schema: bool = False) -> Any:
    config = lm15.Config(max_tokens=10, response_format=SCHEMA if schema else None)
    return lm15.Request(model="m", messages=(lm15.Message.user(text),), config=config)


def test_reports_for_other_prompts_bound_a_prompt() -> None:
    prose = " ".join(SENTENCES) * 5
    reported = ReportedTokens()
    assert reported.most_tokens(a_request(prose)) is None
    reported.add(a_request(prose), 300)
    bound = reported.most_tokens(a_request(prose * 2))
    assert bound is not None
    assert 600 <= bound <= 600 * 1.06 + 20
    assert reported.most_tokens(a_request(prose, schema=True)) is None  # a schema may cost something
    reported.add(a_request(prose), 1)  # a lie lowers nothing
    assert reported.most_tokens(a_request(prose * 2)) == bound
    in_chinese = reported.most_tokens(a_request("大桥于一九三一年通车"))
    assert in_chinese is not None
    assert in_chinese >= 30  # its bytes: nothing was reported for such text


def test_a_prompt_is_bounded_by_the_report_that_tells_most_of_it() -> None:
    """The template is most of what the first report is about, and next to nothing of the second."""
    added, prose = 38, " ".join(SENTENCES)
    known = ReportedTokens()
    known.add(a_request("When?"), 2 + added)
    by_the_first = known.most_tokens(a_request(prose * 6)) or 0
    tokens = 54 * 6
    known.add(a_request(prose * 5), 54 * 5 + added)
    bound = known.most_tokens(a_request(prose * 6)) or 0
    assert tokens + added <= bound < 1.15 * (tokens + added) < by_the_first


def test_further_messages_cost_their_part_of_the_template() -> None:
    known = ReportedTokens()
    known.add(a_request("word " * 100), 100)
    request = a_request("word " * 20)
    more = replace(request, messages=request.messages + tuple(lm15.Message.user("word " * 20) for _ in range(4)))
    assert (known.most_tokens(more) or 0) >= 100 + 4 * 6


def test_a_report_that_is_too_low_lowers_no_bound_below_what_a_tokenizer_counts() -> None:
    reported = ReportedTokens()
    reported.add(a_request(SENTENCES[1]), 1)
    assert (reported.most_tokens(a_request(SENTENCES[1])) or 0) >= 18


def test_of_two_prompts_that_are_bounded_at_once_both_have_what_was_reported() -> None:
    prose = " ".join(SENTENCES) * 5
    for _ in range(20):
        reported = ReportedTokens()
        reported.add(a_request(prose), 300)
        with ThreadPoolExecutor(4) as threads:
            assert None not in threads.map(reported.most_tokens, [a_request(prose)] * 4)


def test_a_service_that_counts_letters_is_bounded_by_what_it_makes_of_them() -> None:
    """A known tokenizer makes one token of each of these words, whatever their length."""
    reported = ReportedTokens()
    reported.add(a_request("word " * 60), 60 * 5 // 2)
    assert (reported.most_tokens(a_request("international " * 60)) or 0) >= 60 * 14 // 2


def test_what_a_template_adds_is_bounded_for_a_prompt_that_is_shorter_than_those_reported() -> None:
    added = 38
    reported = ReportedTokens()
    reported.add(a_request("word " * 300), 300 + added)
    for words in (1, 30, 100, 200, 299):
        assert (reported.most_tokens(a_request("word " * words)) or 0) >= words + added


def test_a_count_below_what_a_text_can_have_is_told() -> None:
    assert fewest_tokens("") == 0
    assert fewest_tokens("a") == 1
    assert fewest_tokens("word " * 60) == 50
    assert fewest_tokens(" " * 600) == 1  # one token may hold them all
