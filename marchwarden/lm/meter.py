"""Admission of attempts against the budget, and their settlement: before one its highest cost, after it the true one.

One Meter serves one research call. The limits are kept in budget.py.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

import dspy
from dspy import lm15

from marchwarden.budget import Budget, Reservation
from marchwarden.errors import BudgetExhausted, ModelError, NotRecorded, model_error
from marchwarden.lm.adapter import whole_items
from marchwarden.lm.counting import ReportedTokens
from marchwarden.lm.engine import USUAL_FORM, PromptForm
from marchwarden.lm.prompt import is_plausible, prompt_texts, request_hash
from marchwarden.text.redaction import Redactor
from marchwarden.trace.events import ModelCalled, Recorder

# The key under which `dspy.context` tells the engine which stage is asking.
CALLER = "marchwarden_caller"

# Cap of an answer where a request names none. A guess: stages all name one.
DEFAULT_CAP_TOKENS = 1024

# Shortest answer that a cap is cut to where the caller names no floor. A guess: a small JSON object.
MIN_FLOOR_TOKENS = 16

# Bytes of text in one token on average over an answer, at most. A guess: English has four.
MAX_TOKEN_BYTES = 32

# Text past the cap that is let pass: services stream role and end in pieces of their own. A guess.
OVERRUN_TOKENS = 8
OVERRUN_BYTES = 1024


@dataclass(frozen=True)
class Caller:
    """The stage that asks, and the shortest answer that is still of use to it, in tokens."""

    stage: str = "model"
    answer_floor: int | None = None
    form: PromptForm = USUAL_FORM

    def floor(self, cap: int) -> int:
        """The lowest that a cap is cut to: the caller's own floor, or a quarter of what it asked for."""
        return min(cap, self.answer_floor if self.answer_floor is not None else max(MIN_FLOOR_TOKENS, cap // 4))


def current_caller() -> Caller:
    return getattr(dspy.settings, CALLER, None) or Caller()


@dataclass
class Admission:
    """One attempt that may go out: its reservation and its request."""

    caller: Caller
    reservation: Reservation
    prompt_bound: int
    request: Any
    started: float
    counted: int | None = None
    """Tokens of the prompt by the service's own count; None where it was not asked."""

    @property
    def cap(self) -> int:
        return int(self.request.config.max_tokens)


class Answer:
    """An answer as it streams: a bound on its tokens by now, and a notice when it is past its cap."""

    def __init__(self, cap: int) -> None:
        self.begun = False
        self.text = ""
        self._cap = cap
        self._pieces = 0
        self._bytes = 0
        self._pieces_of_text: list[str] = []

    @property
    def streamed(self) -> str:
        """All that has been streamed so far, of whatever kind."""
        return "".join(self._pieces_of_text)

    @property
    def most_tokens(self) -> int:
        """A bound on the tokens streamed so far, for a provider that keeps the cap."""
        return min(self._cap, max(self._bytes, self._pieces))

    def take(self, event: Any) -> None:
        self.begun = True
        if event.type == "delta":
            piece = getattr(event.delta, "text", None) or getattr(event.delta, "input", None) or ""
            self._pieces += bool(piece)
            # The text as it streams: lm15 makes something else than text of an answer that is JSON by its schema.
            self.text += event.delta.text if isinstance(event.delta, lm15.TextDelta) else ""
            self._pieces_of_text.append(str(piece))
            self._bytes += len(str(piece).encode("utf-8", "surrogatepass"))

    @property
    def overrun(self) -> bool:
        """Surely more tokens than the cap: more pieces than that, or more text than so many tokens can hold."""
        too_many_pieces = self._pieces > self._cap + OVERRUN_TOKENS
        return too_many_pieces or self._bytes > MAX_TOKEN_BYTES * self._cap + OVERRUN_BYTES


class ChargedUsage(lm15.Usage):
    """Charge of a recorded attempt: it was checked then, and a re-run charges the same."""


@dataclass(frozen=True)
class _Bill:
    """Tokens of one attempt. `tokens` are charged; the others are their parts, for the trace."""

    tokens: int
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


# Names of the errors of HTTP clients where no connection was made.
_NOT_SENT = frozenset({"ConnectError", "ConnectTimeout"})


def _may_be_billed(error: BaseException) -> bool:
    """Return whether a service may have read the prompt of an attempt that failed without a word of its own.

    One that answers with an error does not bill it. One that lets the connection fall, or the time run out, may have
    answered by its own books.
    """
    silent = isinstance(error, (lm15.TransportError, lm15.StreamAssemblyError, lm15.TimeoutError))
    if not silent or getattr(error, "status", None) is not None:
        return False
    cause: BaseException | None = error
    for _ in range(10):  # causes can form a circle
        if cause is None:
            return True
        if type(cause).__name__ in _NOT_SENT:
            return False
        cause = cause.__cause__
    return True


class Meter:
    """Admits attempts and settles them, for every thread and event loop of one research call."""

    def __init__(
        self,
        model_id: str,
        budget: Budget,
        recorder: Recorder,
        *,
        secrets: tuple[str, ...] = (),
    ) -> None:
        self.model_id = model_id
        self.refused = 0
        """Number of calls that were refused for want of tokens: optimizers swallow the refusals themselves."""
        self.last_failure: str | None = None
        """Failure of the last attempt, in words without secrets; None where it succeeded, or was cancelled."""
        self.first: Admission | None = None
        """The first attempt that was admitted; None before it."""
        self.reported = ReportedTokens()
        self._budget = budget
        self._recorder = recorder
        self._redactor = Redactor(secrets)
        self._prompt_correction = 1.0
        self._answer_correction = 1.0
        self._lock = threading.Lock()

    def redact(self, text: str) -> str:
        return self._redactor.redact(text)

    # Before

    def corrected(self, bound: int) -> int:
        """Return `bound`, raised by the share that the provider has reported beyond earlier bounds."""
        with self._lock:
            return math.ceil(bound * self._prompt_correction)

    def admit(self, caller: Caller, request: Any, bound: int, *, shrink: bool) -> Admission | None:
        """Reserve the highest cost of the call; None where it does not fit.

        With `shrink` the answer's cap is cut to the tokens left. Raises BudgetExhausted where the floor does not fit.
        """
        cap = request.config.max_tokens or DEFAULT_CAP_TOKENS
        while True:
            left = self._budget.tokens_left(caller.stage) - bound
            allowed = min(cap, int(left / self._answer_correction))
            if allowed < (caller.floor(cap) if shrink else cap):
                if not shrink:
                    return None
                with self._lock:
                    self.refused += 1
                raise BudgetExhausted(
                    "tokens",
                    f"{caller.stage} needs {bound} tokens for its prompt and {caller.floor(cap)} for an answer; "
                    f"{max(left + bound, 0)} are left for it",
                )
            try:
                held = bound + math.ceil(allowed * self._answer_correction)
                reservation = self._budget.reserve(caller.stage, held)
            except BudgetExhausted:  # another call was quicker: look again
                continue
            capped = replace(request, config=replace(request.config, max_tokens=allowed))
            admission = Admission(caller, reservation, bound, capped, time.monotonic())
            self.first = self.first or admission
            return admission

    def may_fit(self, caller: Caller, request: Any, bound: int) -> bool:
        """Return whether there are tokens for this prompt and the shortest answer of use, now or after other calls.

        Calls that still run cost at most what they hold, mostly less.
        """
        floor = caller.floor(request.config.max_tokens or DEFAULT_CAP_TOKENS)
        left = self._budget.tokens_left(caller.stage) + self._budget.tokens_held()
        return left >= bound + math.ceil(floor * self._answer_correction)

    def worth_waiting(self, caller: Caller, request: Any, bound: int) -> bool:
        """Return whether calls that still run hold enough for this one."""
        return self._budget.tokens_held() > 0 and self.may_fit(caller, request, bound)

    # After

    def settle(self, admission: Admission, answer: Answer, response: Any) -> Any:
        """Commit the cost of an answer and return it; of one that was cut at its cap, the items that are whole.

        Raises ModelError for one that is refused, or cut before an item was whole.
        """
        bill = self._bill(response.usage, admission, answer, missing_output=admission.cap)
        error: ModelError | None = None
        settled = response
        if response.finish_reason == "length" and (whole := whole_items(answer.text)):
            settled = replace(response, message=lm15.Message.assistant(whole), finish_reason="stop")
        elif response.finish_reason == "length":
            error = ModelError("truncated", "the model's answer was cut off at its cap")
        elif response.finish_reason == "content_filter":
            error = ModelError("refused", "the model declined to answer")
        self._commit(admission, bill, error, answer.text, response.finish_reason)
        if error is not None:
            raise error
        return settled

    def settle_failure(self, admission: Admission, answer: Answer, error: BaseException) -> None:
        """Commit the highest cost of a failed attempt. Raises in place of `error` where a retry would be useless."""
        # An error may carry the usage that the attempt was billed.
        usage = getattr(error, "usage", None)
        if usage is None and isinstance(error, lm15.StreamAssemblyError) and error.partial is not None:
            usage = error.partial.usage
        if usage is not None and usage.input_tokens is None and usage.output_tokens is None:
            usage = None
        interrupted = answer.begun or not isinstance(error, Exception)
        bill = _Bill(0)
        if usage is not None or interrupted:
            bill = self._bill(usage or lm15.Usage(), admission, answer, missing_output=answer.most_tokens)
        elif _may_be_billed(error):
            bill = self._bill(lm15.Usage(), admission, answer, missing_output=admission.cap)
        self._commit(admission, bill, error)
        wait = getattr(error, "retry_after", None)
        # DSPy waits as long as the service asks; an error of ours it does not retry.
        if isinstance(error, Exception) and wait is not None and wait > self._budget.seconds_left():
            raise model_error(error) from error

    def _bill(self, usage: Any, admission: Admission, answer: Answer, *, missing_output: int) -> _Bill:
        """Return the charge that the provider reports. A part that is left out, or can't be true, is charged at its
        highest value."""
        bound, cap = admission.prompt_bound, admission.cap
        prompt, output, total = usage.input_tokens, usage.output_tokens, usage.total_tokens
        if isinstance(usage, ChargedUsage):
            return _Bill(total, prompt, output, usage.cache_read_tokens or 0)
        if not is_plausible(prompt, "\n".join(prompt_texts(admission.request)), bound):
            prompt = bound
        if not is_plausible(output, answer.streamed, cap):
            output = missing_output
        tokens = prompt + output
        # A total may hold what is counted nowhere else: tokens of thinking, say.
        if is_plausible(total, "", bound + cap):
            tokens = max(tokens, total)
        cached = usage.cache_read_tokens
        return _Bill(tokens, prompt, output, cached if is_plausible(cached, "", prompt) else 0)

    def _commit(
        self,
        admission: Admission,
        bill: _Bill,
        error: BaseException | None,
        text: str | None = None,
        finish: str | None = None,
    ) -> None:
        charged = self._budget.commit(admission.reservation, bill.tokens)
        # A charge of the bound says nothing of the prompt: it takes the place of a report that can't be true.
        if bill.input_tokens and bill.input_tokens != admission.prompt_bound:
            self.reported.add(admission.request, bill.input_tokens)
        # A provider that reports more tokens than a bound counts in a way that the bound does not know.
        with self._lock:
            self._prompt_correction *= max(1.0, bill.input_tokens / max(admission.prompt_bound, 1))
            beyond = (bill.tokens - bill.input_tokens) / (admission.cap * self._answer_correction)
            self._answer_correction *= max(1.0, beyond)
        told, is_failure = None, isinstance(error, Exception)
        if isinstance(error, Exception):
            translated = model_error(error)
            is_failure = not isinstance(translated, NotRecorded)
            kind = translated.kind if isinstance(translated, ModelError) else type(translated).__name__
            told = self.redact(f"{kind}: {translated}")
        elif error is not None:
            told = "cancelled"
        if text is not None:
            text = text.encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair has no form
        # What a re-run gives again as the end of time was a cancellation then.
        if error is None or is_failure:
            self.last_failure = told
        self._recorder.record(
            ModelCalled(
                decision=f"{admission.caller.stage} asks the model for at most {admission.cap} tokens",
                stage=admission.caller.stage,
                model_id=self.model_id,
                input_tokens=bill.input_tokens,
                output_tokens=bill.output_tokens,
                cached_tokens=bill.cached_tokens,
                reserved_tokens=admission.reservation.tokens,
                charged_tokens=charged,
                tokens_used=self._budget.tokens_used,
                duration_sec=round(time.monotonic() - admission.started, 3),
                error=told,
                request_hash=request_hash(admission.request),
                answer=text,
                finish=finish,
                counted_tokens=admission.counted,
            )
        )
