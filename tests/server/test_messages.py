"""Every message with an id gets an answer: from the server where it can read it, else an error of JSON-RPC."""

from __future__ import annotations

import json
from typing import Any

import pytest

from marchwarden.server.messages import INVALID_REQUEST, MAX_LINE_BYTES, PARSE_ERROR, read_body, screened

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    "message",
    [
        PING,
        {**PING, "id": "a"},
        {**PING, "params": {"x": 1}},
        {**PING, "params": None},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
)
def test_what_the_server_can_read_goes_to_it_as_it_came(message: dict[str, Any]) -> None:
    line = json.dumps(message)
    assert list(screened(line)) == [(line, True)]


@pytest.mark.parametrize(
    ("line", "identifier", "code"),
    [
        ("not JSON", None, PARSE_ERROR),
        ("[" * 100_000, None, PARSE_ERROR),
        ("5", None, INVALID_REQUEST),
        ("[]", None, INVALID_REQUEST),
        (json.dumps({**PING, "jsonrpc": "1.0"}), 1, INVALID_REQUEST),
        (json.dumps({"id": "b", "method": "ping"}), "b", INVALID_REQUEST),
        (json.dumps({**PING, "id": 1.5}), 1.5, INVALID_REQUEST),
        (json.dumps({**PING, "id": True}), None, INVALID_REQUEST),
        (json.dumps({**PING, "id": None}), None, INVALID_REQUEST),
        (json.dumps({**PING, "id": [1]}), None, INVALID_REQUEST),
        (json.dumps({"jsonrpc": "2.0", "id": 1}), 1, INVALID_REQUEST),
        (json.dumps({**PING, "method": 5}), 1, INVALID_REQUEST),
        (json.dumps({**PING, "params": [1]}), 1, INVALID_REQUEST),
        (json.dumps({**PING, "params": {"x": "["}}).replace('"["', "[" * 300 + "]" * 300), 1, INVALID_REQUEST),
        (json.dumps({**PING, "id": float("inf")}), None, INVALID_REQUEST),
        (json.dumps({**PING, "jsonrpc": "1.0", "result": None}), 1, INVALID_REQUEST),
    ],
)
def test_what_the_server_would_drop_is_answered_with_an_error(line: str, identifier: object, code: int) -> None:
    ((answer, goes_on),) = screened(line)
    told = json.loads(answer)
    assert (goes_on, told["jsonrpc"], told["id"], told["error"]["code"]) == (False, "2.0", identifier, code)


def test_a_message_that_was_cut_is_told_to_be_too_long() -> None:
    ((answer, _),) = screened('{"a": "' + "x" * MAX_LINE_BYTES)
    assert json.loads(answer)["error"]["message"] == "the message is longer than 4,000,000 bytes"


def test_a_batch_is_taken_apart() -> None:
    found = list(screened(json.dumps([PING, {**PING, "id": 2.5}, {**PING, "id": 3}])))
    assert [(json.loads(message)["id"], goes_on) for message, goes_on in found] == [
        (1, True),
        (2.5, False),
        (3, True),
    ]
    assert list(screened("  \n")) == []


def test_over_http_what_the_server_can_answer_goes_to_it_and_the_rest_is_answered_by_its_ids() -> None:
    for asked in (PING, {"jsonrpc": "2.0", "method": "notifications/initialized"}):
        assert read_body(json.dumps(asked).encode()) == (asked, None)
    _, refused = read_body(json.dumps({**PING, "id": 7, "jsonrpc": "1.0"}).encode())
    assert refused == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": INVALID_REQUEST, "message": 'jsonrpc must be "2.0"'},
    }
    batch = [PING, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {**PING, "id": "b"}]
    _, refused = read_body(json.dumps(batch).encode())
    assert refused is not None
    assert [each["id"] for each in refused] == [1, "b"]
    assert "send each message by itself" in refused[0]["error"]["message"]
    for body, code in (
        (b"{", PARSE_ERROR),
        (b"\xff", PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"5", INVALID_REQUEST),
    ):
        _, refused = read_body(body)
        assert refused is not None
        assert (refused["id"], refused["error"]["code"]) == (None, code)
