"""Differences of two results as JSON, and the first step in which two calls went apart. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

# Fields of a result that say when and under which name a call ran, and so differ between any two.
_VOLATILE = frozenset({"trace_id", "cost_metadata.wall_time_sec"})
# Fields by which the entries of a result's lists are known again.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "citations": ("locator", "raw_excerpt"),
    "gaps": ("category", "topic"),
    "discovery_events": ("type", "query", "source_locator"),
    "open_questions": ("question",),
}
# Fields of a step in which two calls are compared: those that say what was done, not how long it took.
_STEPS: Mapping[str, tuple[str, ...]] = {
    "plan": ("aspects", "queries", "read", "done"),
    "search": ("query", "hits", "failure"),
    "fetch_url": ("url", "final_url", "content_hash", "text_hash", "failure"),
    "extract": ("url", "passages", "picks"),
    "drop": ("what", "text"),
    "stop": ("reason", "iterations_run"),
    "synthesize": ("claims", "dropped"),
    "assess": ("gaps", "discovery_events", "open_questions", "confidence"),
}


@dataclass(frozen=True)
class Difference:
    """One difference between two results."""

    field: str
    """Path of the field in the result, such as `confidence` or `citations`."""
    change: Literal["changed", "added", "removed", "order"]
    then: Any = None
    """Value in the recorded result; None for what was added."""
    now: Any = None
    """Value in the new result; None for what was removed."""


@dataclass(frozen=True)
class FirstStep:
    """The first step in which two calls went apart."""

    step: int
    """Number of the recorded line; 0 where the recorded call had no more."""
    then: Mapping[str, Any] | None
    """Recorded line; None where it had no more."""
    now: Mapping[str, Any] | None
    """Line of the new call; None where it had no more."""


def differences(then: Mapping[str, Any], now: Mapping[str, Any], *, same_version: bool = True) -> list[Difference]:
    """Return the differences of two results, ids and times aside.

    Fields that the recorded result lacks count only where both are of the same version: a newer one may add some.
    """
    return list(_differences(then, now, "", same_version))


def _differences(then: Mapping[str, Any], now: Mapping[str, Any], path: str, same: bool) -> Iterator[Difference]:
    for name in [*then, *(name for name in now if name not in then and same)]:
        where = f"{path}{name}"
        if where in _VOLATILE:
            continue
        before, after = then.get(name), now.get(name)
        if where in _KEYS and isinstance(before, list) and isinstance(after, list):
            yield from _of_list(before, after, where, same)
        elif isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _differences(before, after, f"{where}.", same)
        elif before != after:
            yield Difference(where, "changed", before, after)


def _of_list(then: Sequence[Any], now: Sequence[Any], where: str, same: bool) -> Iterator[Difference]:
    before, after = (
        [repr([each.get(name) for name in _KEYS[where]] if isinstance(each, Mapping) else each) for each in entries]
        for entries in (then, now)
    )
    # Entries with the same key, such as two disagreements on one page, are compared in their order.
    left: dict[str, deque[Any]] = {}
    for key, each in zip(after, now, strict=True):
        left.setdefault(key, deque()).append(each)
    for place, (key, each) in enumerate(zip(before, then, strict=True)):
        if not left.get(key):
            yield Difference(where, "removed", then=each)
            continue
        other = left[key].popleft()
        if isinstance(each, Mapping) and isinstance(other, Mapping):
            yield from _differences(each, other, f"{where}[{place}].", same)
    for others in left.values():
        for each in others:
            yield Difference(where, "added", now=each)
    if before != after and Counter(before) == Counter(after):
        yield Difference(where, "order", then, now)


def first_step(then: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> FirstStep | None:
    """Return the first step in which the calls differ in what they did; None where they don't.

    Both are lines of traces. Fields that the recorded line lacks are not compared.
    """
    before = [line for line in then if line.get("action") in _STEPS]
    after = [line for line in now if line.get("action") in _STEPS]
    for old, new in zip(before, after, strict=False):
        fields = ("action", *_STEPS[old["action"]])
        if any(_differs(old.get(name), new.get(name)) for name in fields if name in old):
            return FirstStep(_step(old), old, new)
    if len(before) == len(after):
        return None
    if len(before) > len(after):
        more = before[len(after)]
        return FirstStep(_step(more), more, None)
    return FirstStep(0, None, after[len(before)])


def _differs(then: Any, now: Any) -> bool:
    """Return whether two values differ in the fields that the recorded one has."""
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        return any(_differs(value, now.get(name)) for name, value in then.items())
    if isinstance(then, list) and isinstance(now, list):
        return len(then) != len(now) or any(_differs(a, b) for a, b in zip(then, now, strict=True))
    return bool(then != now)


def _step(line: Mapping[str, Any]) -> int:
    step = line.get("step")
    return step if isinstance(step, int) else 0
