"""Measures how often a false claim is shown, and a true one kept, kind by kind.

    python evals/claims/measure.py [--wrong] [--pages FOLDER] [--articles FILE]

pairs.jsonl holds claims with the quotes that they cite, written by hand: 268 pairs on which the rules were made
(`first`), 548 with which the model was fitted besides (`fit`), and 372 that neither was made with: `second`, at which
the rules' author looked once, `third`, from real pages, and `fourth`, written over real pages by somebody who had not
seen the check. over_pages.jsonl holds 2,108 more, without the quotes, of which the place is told: of pages of WCXB's
development part (`--pages`, the folder of its ground-truth files) and of articles of article-extraction-benchmark
(`--articles`, its ground-truth.json; they belong to `fourth`). Half of those over WCXB are false and share more words
with their quotes than the true ones. Beside the check stands evidence/grounding.py, which compares words, numbers and
names.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marchwarden.evidence.entailment.objections import find_objection
from marchwarden.evidence.grounding import support

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", action="store_true", help="Print each pair that is judged wrongly.")
    parser.add_argument("--pages", type=Path, help="Ground-truth files of WCXB's development part.")
    parser.add_argument("--articles", type=Path, help="ground-truth.json of article-extraction-benchmark.")
    given = parser.parse_args()
    pairs = [*_rows("pairs.jsonl"), *over_pages(given.pages, given.articles)]
    for name in ("first", "second", "third", "fourth", "pages"):
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
            if given.wrong and (objection is None) != pair["supported"]:
                print(f"{pair['id']}: {pair['claim']} <- {' | '.join(pair['quotes'])} ({objection})")
        if total:
            print(f"{name} set: claims shown, by the check and by words alone")
        for supported, kind in sorted(total):
            rules, words = (each[supported, kind] / total[supported, kind] for each in (shown, shown_by_words))
            label = "true" if supported else "false"
            print(f"  {label:5} {kind:12} {total[supported, kind]:4}  {rules:.3f}  {words:.3f}")


def over_pages(pages: Path | None, articles: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the pairs of over_pages.jsonl whose texts are given, in the form of those of pairs.jsonl."""
    texts = json.loads(articles.read_text("utf-8")) if articles else {}
    for number, row in enumerate(_rows("over_pages.jsonl"), start=1):
        if row["set"] == "wcxb" and pages:
            page = json.loads((pages / f"{row['page']}.json").read_text("utf-8"))["ground_truth"]
            name, text, title = "pages", page["main_content"], page["title"] or ""
        elif row["set"] == "aeb" and articles:
            name, text, title = "fourth", texts[row["page"]]["articleBody"], row["title"]
        else:
            continue
        claims = [(True, "true", claim) for claim in row["true"]]
        for supported, kind, claim in [*claims, *((False, kind, claim) for kind, claim in row["false"])]:
            yield {
                "id": f"{row['set']}-{number}",
                "set": name,
                "kind": kind,
                "claim": claim,
                "quotes": [text[start:end] for start, end in row["at"]],
                "title": title,
                "supported": supported,
            }


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


if __name__ == "__main__":
    main()
