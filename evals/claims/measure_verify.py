"""Measure what the stage `verify` adds to the rules on pairs.jsonl, with the model that the settings name.

    python evals/claims/measure_verify.py --model openai/NAME [--limit N]

Only claims that the rules let pass are asked about, each by itself. `measure.py` has the rules alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from pathlib import Path

from marchwarden import lm
from marchwarden.budget import Budget
from marchwarden.contract import Constraints, SourceAuthority
from marchwarden.ledger import Excerpt, Ledger, Source
from marchwarden.settings import Settings, load_settings
from marchwarden.stages.stage import StageRunner
from marchwarden.stages.synthesize import Claim
from marchwarden.stages.verify_claims import VERIFY, VerifyGiven, apply_verdicts
from marchwarden.trace.events import Event, FellBack, ModelCalled

PAIRS = Path(__file__).parent / "pairs.jsonl"


class Counted:
    """Counts what the model was asked and how often nothing of it could be used."""

    def __init__(self) -> None:
        self.tokens = self.calls = self.fell_back = 0

    def record(self, event: Event) -> None:
        if isinstance(event, ModelCalled):
            self.tokens += event.charged_tokens
            self.calls += 1
        self.fell_back += isinstance(event, FellBack)

    def progress(self, message: str) -> None:
        pass


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True)
    arguments.add_argument("--limit", type=int, help="Pairs of each set, at most, evenly spread.")
    asked = arguments.parse_args()
    asyncio.run(_measure(load_settings(model=asked.model, source="snapshot"), asked.limit))


async def _measure(settings: Settings, limit: int | None) -> None:
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    for name in ("first", "second"):
        pairs = [pair for pair in rows if pair["set"] == name]
        pairs = pairs[:: max(1, len(pairs) // limit)][:limit] if limit else pairs
        total: Counter[bool] = Counter()
        by_rules: Counter[bool] = Counter()
        shown: Counter[bool] = Counter()
        counted, began = Counted(), time.monotonic()
        for pair in pairs:
            given, supported = _given(pair["claim"], pair["quotes"], pair["title"]), pair["supported"]
            passes = VERIFY.model_free(given)[0].verdict == "supported"
            total[supported] += 1
            by_rules[supported] += passes
            if passes:
                shown[supported] += await _is_shown(given, settings, counted)
        print(
            f"{name} set, {len(pairs)} pairs: {counted.calls} calls, {counted.tokens} tokens, "
            f"{time.monotonic() - began:.0f} s, {counted.fell_back} without a usable verdict"
        )
        for supported in (False, True):
            rules, both = (each[supported] / (total[supported] or 1) for each in (by_rules, shown))
            label = "true" if supported else "false"
            print(f"  {label:5} {total[supported]:4}  shown by the rules {rules:.3f}, by rules and model {both:.3f}")


async def _is_shown(given: VerifyGiven, settings: Settings, counted: Counted) -> bool:
    budget = Budget(Constraints(token_budget=20_000), 600.0)
    model = lm.connect(settings, budget, counted)
    try:
        verdicts, _ = await StageRunner(model, budget, counted).run(VERIFY, given)
    finally:
        if model is not None:
            await model.aclose()
    return apply_verdicts(given, verdicts)[0] == list(given.claims)


def _given(claim: str, quotes: list[str], title: str) -> VerifyGiven:
    ledger = Ledger(question=title)
    ledger.set_aspects([title])
    for number, quote in enumerate(quotes):
        locator = f"https://pages.example/{number}"
        ledger.sources.append(
            Source(
                locator=locator,
                organisation=locator,
                title=title,
                published=None,
                modified=None,
                content_hash="",
                text_hash=str(number),
                authority=SourceAuthority.MEDIUM,
                standing=None,
                language="en",
                has_text=True,
            )
        )
        ledger.add_excerpt(Excerpt(number=0, locator=locator, aspect=1, start=0, end=len(quote), text=quote))
    return VerifyGiven(ledger, (Claim(text=claim, excerpts=[each.number for each in ledger.excerpts]),))


if __name__ == "__main__":
    main()
