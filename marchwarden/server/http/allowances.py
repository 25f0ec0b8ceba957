"""Allowances of callers: calls in a minute, and model tokens in a day.

What was used today is read from the caller's traces once a day; so it outlives the server. Of several servers each
knows only what was used when it looked, and what it used itself.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import anyio
import anyio.to_thread

from marchwarden.errors import AllowanceSpent, TraceError
from marchwarden.server.http.callers import Caller
from marchwarden.trace.reader import list_traces, read_trace


@dataclass
class _Used:
    calls: float = 0.0
    """Calls that count against this minute; they fade at the rate that is allowed."""
    counted: float = 0.0
    """Time on the monotonic clock at which `calls` was right."""
    day: date | None = None
    tokens: int = 0
    """Model tokens that were used on `day`, or are reserved by calls that run."""
    reserved: dict[str, int] = field(default_factory=dict)


class Allowances:
    def __init__(self) -> None:
        self._used: dict[str, _Used] = {}
        # Else one that began to read before a call ended would forget what that call used.
        self._reading = anyio.Lock()

    def take_call(self, caller: Caller) -> AllowanceSpent | None:
        """Count a call, or return the error where none is left in this minute."""
        if caller.calls_per_minute is None:
            return None
        used, now = self._used.setdefault(caller.name, _Used()), time.monotonic()
        most = caller.calls_per_minute
        rate = most / 60
        left = max(0.0, used.calls - (now - used.counted) * rate)
        if left + 1 > most:
            seconds = math.ceil((left + 1 - most) / rate)
            return AllowanceSpent(f"{most} {'call' if most == 1 else 'calls'} a minute", retry_after=seconds)
        used.calls, used.counted = left + 1, now
        return None

    async def read_today(self, caller: Caller, traces: Path) -> None:
        """Count what was used today by the traces, unless that is done."""
        used, today = self._used.setdefault(caller.name, _Used()), _now().date()
        async with self._reading:
            if caller.tokens_per_day is None or used.day == today:
                return
            total = await anyio.to_thread.run_sync(_tokens_of_day, traces, today)
            used.day, used.tokens = today, total + sum(used.reserved.values())

    def reserve(self, caller: Caller, trace_id: str, tokens: int) -> None:
        """Set tokens aside for a call. Raises AllowanceSpent where fewer are left today."""
        if caller.tokens_per_day is None:
            return
        used = self._used[caller.name]
        if used.tokens + tokens > caller.tokens_per_day:
            left = max(0, caller.tokens_per_day - used.tokens)
            raise AllowanceSpent(
                f"{caller.tokens_per_day} tokens a day, of which {left} are left (this call may use {tokens})",
                retry_after=_seconds_to_midnight(),
            )
        used.tokens += tokens
        used.reserved[trace_id] = tokens

    def settle(self, caller: Caller, trace_id: str, tokens: int) -> None:
        """Put the tokens that a call has used in the place of those that were set aside."""
        used = self._used.get(caller.name)
        if used is not None and trace_id in used.reserved:
            used.tokens += tokens - used.reserved.pop(trace_id)


def _tokens_of_day(traces: Path, day: date) -> int:
    found = [each for each in list_traces(traces) if each.started and each.started.date() == day]
    return sum(tokens_in(each.path) if each.tokens_used is None else each.tokens_used for each in found)


def tokens_in(path: Path) -> int:
    """Return the model tokens that a call had used by the end of its trace; 0 where there is none."""
    try:
        lines = read_trace(path).raw
    except TraceError:
        return 0
    return max((used for line in lines if isinstance(used := line.get("tokens_used"), int)), default=0)


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _seconds_to_midnight() -> int:
    now = _now()
    midnight = datetime.combine(now.date() + timedelta(days=1), datetime.min.time(), timezone.utc)
    return math.ceil((midnight - now).total_seconds())
