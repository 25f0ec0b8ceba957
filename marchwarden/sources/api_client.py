"""Requests to the APIs of services: limits, rates that hold across processes, one further try, failures as data.

APIs are made for programs, so no robots.txt is asked. Everything else is as for a page (fetch.py): the address is
checked, the answer is bounded, and it comes from the cache where the service allows that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from marchwarden.environment import without_credentials
from marchwarden.http.addresses import host_of, join_url, normalise_url, organisation_of, refusal
from marchwarden.http.decompression import ENCODINGS
from marchwarden.http.download import Answer, download, failure_of
from marchwarden.http.rate_limits import NotInTime, seconds_left
from marchwarden.http.shared_rates import RATE_RULE, RateRule, SharedRateTransport
from marchwarden.observations import Failure, FailureKind
from marchwarden.sources.fetch import MIN_ANSWER_S, NETWORK_ERRORS, RESET, user_agent
from marchwarden.sources.opening import Opening
from marchwarden.text.redaction import Redactor

# Bytes of an answer. A guess: a hundred records with abstracts have 500,000.
MAX_ANSWER_BYTES = 10_000_000
# Seconds for one request from its turn to the last byte of its answer. A guess.
TIMEOUT_S = 12.0
# Share of the call's time left that one request may take, so that a hang is told and the rest goes on. A guess.
MAX_TIME_SHARE = 0.5
# Seconds to wait before the second try, at most. A guess.
_MAX_WAIT_S = 5.0
# Redirects of one request: services move to another path or host of theirs, once.
_MAX_REDIRECTS = 2


@dataclass(frozen=True)
class Api:
    """One service: its name for people, and its rules."""

    name: str
    rule: RateRule
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers of each request; keys belong here, never into a URL that is shown."""
    asked_pause: Callable[[Answer], float | None] = lambda answer: None
    """Return the seconds for which an answer's body asks for no further request; None where it asks for none.
    Status 429 and Retry-After are obeyed without it."""


class ApiClient:
    def __init__(self, opening: Opening, api: Api) -> None:
        self._opening = opening
        self._api = api
        self._headers = {
            "User-Agent": user_agent(opening.settings.contact),
            "Accept-Encoding": ENCODINGS,
            "Accept": "application/json, application/xml;q=0.9, */*;q=0.5",
            **api.headers,
        }

    def without_keys(self, text: str) -> str:
        """Return `text`, in which a service may quote the key that it was sent, without it."""
        return Redactor(word for value in self._api.headers.values() for word in value.split()).redact(text)

    async def get(
        self, url: str, parameters: Mapping[str, str | int] | None = None, *, timeout: float | None = None
    ) -> Answer | Failure:
        """Return the answer to a GET, whose status is 2xx, or the failure. Only cancellation passes through.

        `parameters` are added to the URL. Waiting for the service's turn counts towards `timeout` (seconds).
        """
        address = str(httpx.URL(url, params=parameters)) if parameters else url
        return await self._within(httpx.Request("GET", address, headers=self._headers), timeout)

    async def post(self, url: str, body: Mapping[str, Any], *, timeout: float | None = None) -> Answer | Failure:
        """Return the answer to a POST of JSON, as `get` does."""
        return await self._within(httpx.Request("POST", url, headers=self._headers, json=body), timeout)

    async def aclose(self) -> None:
        await self._opening.transport.aclose()

    async def _within(self, request: httpx.Request, timeout: float | None) -> Answer | Failure:
        limit = min(timeout or TIMEOUT_S, TIMEOUT_S, MAX_TIME_SHARE * seconds_left())
        try:
            with anyio.fail_after(limit):
                answer = await self._send(request)
        except TimeoutError:
            return Failure(FailureKind.TIMEOUT, f"{self._api.name} did not answer within {limit:.3g} seconds")
        except NETWORK_ERRORS as error:
            failure = failure_of(error, str(request.url))
            if not failure.kind.is_outage:
                return failure
            return Failure(failure.kind, f"{self._api.name} could not be reached: {failure.detail}")
        except ValueError as error:
            return Failure(FailureKind.BAD_REQUEST, without_credentials(str(error)))
        if isinstance(answer, Failure):
            return answer
        pause = self._api.asked_pause(answer)
        if pause is not None and answer.kept_for is None:
            rates = SharedRateTransport(self._opening.transport, self._opening.settings.caches / "rates")
            with suppress(NotInTime):
                await rates.pause(self._api.rule, pause)
        return self._checked(answer, pause)

    async def _send(self, request: httpx.Request) -> Answer | Failure:
        """Send a request, once more after a short wait, and follow the service where it has moved."""
        for _ in range(_MAX_REDIRECTS + 1):
            url = normalise_url(str(request.url))
            if refused := refusal(url, allow_private=self._opening.settings.allow_private_addresses):
                return refused
            try:
                answer = await self._once(request)
            except RESET:
                answer = await self._once(request)
            wait = answer.try_again_in
            if wait is not None and wait <= _MAX_WAIT_S and wait + MIN_ANSWER_S < seconds_left():
                await anyio.sleep(wait)
                answer = await self._once(request)
            if answer.location is None:
                return answer
            target = join_url(url, answer.location)
            # A key goes to the service that it belongs to, and to nobody else.
            if organisation_of(host_of(target)) != organisation_of(host_of(url)):
                return Failure(FailureKind.SERVICE_DOWN, f"{self._api.name} redirects to another site")
            request = httpx.Request(request.method, target, headers=self._headers, content=request.content)
        return Failure(FailureKind.REDIRECT_LOOP, f"{self._api.name} redirects too often")

    async def _once(self, request: httpx.Request) -> Answer:
        again = httpx.Request(
            request.method,
            request.url,
            headers=request.headers,
            content=request.content,
            extensions={RATE_RULE: self._api.rule},
        )
        return await download(self._opening.transport, again, MAX_ANSWER_BYTES)

    def _checked(self, answer: Answer, pause: float | None) -> Answer | Failure:
        name, status = self._api.name, answer.status
        if 200 <= status < 300:
            return answer
        if status == 429:
            again = answer.retry_after
            words = f"; it can be asked again {again.words}" if again else ""
            return Failure(FailureKind.RATE_LIMITED, f"{name} got too many requests{words}")
        if pause is not None:
            return Failure(FailureKind.RATE_LIMITED, f"{name} takes its next request in {pause:.0f} seconds")
        if status in (401, 403):
            return Failure(FailureKind.BAD_KEY, f"{name} refused the request (status {status}): is the key right?")
        if status in (404, 410):
            return Failure(FailureKind.NOT_FOUND, f"{name} has nothing there (status {status})")
        if status >= 500:
            return Failure(FailureKind.SERVICE_DOWN, f"{name} is down (status {status})")
        return Failure(FailureKind.BAD_REQUEST, f"{name} rejects this request (status {status})")


def json_of(answer: Answer, name: str) -> Any | Failure:
    """Return the JSON of an answer, or the failure of a service that sent something else."""
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return Failure(FailureKind.SERVICE_DOWN, f"{name} did not answer with JSON")
