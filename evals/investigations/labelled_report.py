"""Compare those who answered the questions of labelled.py, with 95 % intervals of a bootstrap over the questions.

    python -m evals.investigations.labelled_report SCORES... [--sources NAMES]

SCORES are the JSON Lines that labelled.py wrote with --scores, of one split, such as those of several runs.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from marchwarden.evaluation.scoring.bootstrap import mean_interval


class Score(BaseModel):
    """One answer to one question of two parts."""

    question: int
    who: str
    sources: list[str]
    found: list[bool]
    said: list[bool | None]
    """None for a part without accepted strings."""
    seconds: float
    tokens: int
    calls: int = 1
    lost: int = 0
    """Calls of researchers that gave no result."""


def report(rows: Sequence[Score], singles: Sequence[str], tokens: int) -> dict[str, Any]:
    """Return counts, shares and differences; the best single one of a question is known afterwards."""
    found: dict[str, dict[int, int]] = defaultdict(dict)
    said: dict[str, dict[int, int]] = defaultdict(dict)
    for row in rows:
        found[row.who][row.question] = sum(row.found)
        said[row.who][row.question] = sum(bool(each) for each in row.said)
    for counts in (found, said):
        alone = [counts[name] for name in singles if name in counts]
        if len(alone) == len(singles):
            both = set.intersection(*(set(each) for each in alone))
            counts["best"] = {number: max(each[number] for each in alone) for number in both}
    by_source: dict[str, dict[str, str]] = defaultdict(dict)
    for name in {row.who for row in rows}:
        for source in singles:
            parts = [
                hit
                for row in rows
                if row.who == name
                for own, hit in zip(row.sources, row.found, strict=True)
                if own == source
            ]
            by_source[name][source] = f"{sum(parts)} of {len(parts)}"
    against = {
        f"team - {other}": _difference(found["team"], found[other])
        for other in found
        if other != "team" and "team" in found
    }
    return {
        "found": {name: _share(counts) for name, counts in found.items()},
        "said": {name: sum(counts.values()) for name, counts in said.items()},
        "found of each source": by_source,
        **against,
        "seconds a question": {name: _mean(row.seconds for row in rows if row.who == name) for name in by_source},
        "calls a question": {name: _mean(row.calls for row in rows if row.who == name) for name in by_source},
        "lost calls": {name: sum(row.lost for row in rows if row.who == name) for name in by_source},
        "over budget": sum(row.tokens > tokens for row in rows),
    }


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return round(sum(known) / len(known), 2)


def _share(counts: dict[int, int]) -> str:
    low, high = mean_interval([count / 2 for count in counts.values()]) or (0.0, 0.0)
    total = sum(counts.values())
    return f"{total} of {2 * len(counts)}: {total / (2 * len(counts)):.2f} ({low:.2f} to {high:.2f})"


def _difference(one: dict[int, int], other: dict[int, int]) -> str:
    gains = [(one[number] - other[number]) / 2 for number in one.keys() & other.keys()]
    low, high = mean_interval(gains) or (0.0, 0.0)
    return f"{sum(gains) / len(gains):+.2f} ({low:+.2f} to {high:+.2f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--sources", default="web,notes,papers,records")
    parser.add_argument("--tokens", type=int, default=40_000)
    given = parser.parse_args()
    read = [Score.model_validate_json(line) for path in given.scores for line in path.read_text("utf-8").splitlines()]
    print(json.dumps(report(read, given.sources.split(","), given.tokens), indent=1))
