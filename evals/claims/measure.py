"""Measures how often a false claim is shown, and a true one kept, kind by kind.

    python evals/claims/measure.py [--wrong]

pairs.jsonl holds claims with the quotes that they cite, written by hand: 268 pairs on which the rules were made
(`first`), 548 with which the model was fitted besides (`fit`), and 220 that neither was made with: `second`, at which
the rules' author looked once, and `third`, from real pages. Beside the check stands evidence/grounding.py, which
compares words, numbers and names.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from marchwarden.evidence.entailment.objections import find_objection
from marchwarden.evidence.grounding import support

PAIRS = Path(__file__).parent / "pairs.jsonl"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--wrong", action="store_true", help="Print each pair that is judged wrongly.")
    wrong = arguments.parse_args().wrong
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    for name in ("first", "second", "third"):
        total: Counter[tuple[bool, str]] = Counter()
        shown: Counter[tuple[bool, str]] = Counter()
        shown_by_words: Counter[tuple[bool, str]] = Counter()
        for pair in (each for each in pairs if each["set"] == name):
            objection = find_objection(pair["claim"], pair["quotes"], around=pair["title"])
            for kind in (pair["kind"], "all"):
                key = (pair["supported"], kind)
                total[key] += 1
                shown[key] += objection is None
                shown_by_words[key] += support(pair["claim"], pair["quotes"], around=pair["title"]).carried
            if wrong and (objection is None) != pair["supported"]:
                print(f"{pair['id']}: {pair['claim']} <- {' | '.join(pair['quotes'])} ({objection})")
        print(f"{name} set: claims shown, by the check and by words alone")
        for supported, kind in sorted(total):
            rules, words = (each[supported, kind] / total[supported, kind] for each in (shown, shown_by_words))
            label = "true" if supported else "false"
            print(f"  {label:5} {kind:12} {total[supported, kind]:4}  {rules:.3f}  {words:.3f}")


if __name__ == "__main__":
    main()
