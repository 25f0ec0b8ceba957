"""Asks the conversations beside this file without a model; counts the follow-ups whose searched question is right.

    python evals/follow_ups/measure.py [--answers FILE.json] [--show]

A follow-up is right where its searched question has all words of `names` (`a|b`: one of both) and none of `not`. Two
plain ways stand beside it: the follow-up as it was typed, and behind the question before. `--answers` keeps the
answers of the turns before, so that a change of rules is measured in seconds. No rule was made for the half `unseen`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from marchwarden.api import index, research_sync
from marchwarden.corpus.corpora import corpus_at
from marchwarden.evidence.question import standalone
from marchwarden.text.turns import NOTHING_FOUND, Turn, as_context, turn_of

HERE = Path(__file__).parent
CORPUS = "follow-ups-evaluation"
SOURCES = {"documents": f"corpus:{CORPUS}", "frozen web": "snapshot"}
CONTEXT_CHARS = 2000
WAYS = ("as searched", "as typed", "behind the question before")


def is_right(searched: str, follow_up: dict[str, Any]) -> bool:
    text = searched.casefold()
    named = all(any(each.casefold() in text for each in name.split("|")) for name in follow_up["names"])
    return named and not any(each.casefold() in text for each in follow_up.get("not", []))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--answers", type=Path, help="JSON file that keeps answers; made where it is not there")
    parser.add_argument("--show", action="store_true", help="show the follow-ups of the seen half that are wrong")
    options = parser.parse_args()
    known = json.loads(options.answers.read_text()) if options.answers and options.answers.exists() else {}
    right: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        index(HERE / "documents", name=CORPUS)

        def answer(question: str, context: str | None, over: str) -> str:
            key = f"{over}: {question} {context or ''}"
            if key not in known:
                settings = {"model": "extractive", "source": SOURCES[over], "trace_dir": folder}
                result = research_sync(question, context, settings=settings)
                known[key] = result.answer if result.citations else NOTHING_FOUND
                if options.answers:
                    options.answers.write_text(json.dumps(known, indent=0, ensure_ascii=False))
            return str(known[key])

        for line in (HERE / "conversations.jsonl").read_text().splitlines():
            conversation = json.loads(line)
            turns: list[Turn] = []
            for at, asked in enumerate(conversation["turns"]):
                question, context = asked["question"], as_context(turns, CONTEXT_CHARS)
                searched = standalone(question, context) if turns else question
                if at:
                    before = conversation["turns"][at - 1]["question"]
                    half = conversation["half"]
                    count[half] += 1
                    for way, text in zip(WAYS, (searched, question, f"{before} {question}"), strict=True):
                        right[way][half] += is_right(text, asked)
                    if options.show and half == "seen" and not is_right(searched, asked):
                        print(f"{conversation['id']}: {before} {turns[-1].answer[:160]}\n    {question} → {searched}")
                if at + 1 < len(conversation["turns"]):
                    turns.append(turn_of(searched, answer(question, context, conversation["over"])))
    shutil.rmtree(corpus_at(CORPUS).folder)
    for way in WAYS:
        told = " · ".join(f"{half} {right[way][half]} of {count[half]}" for half in sorted(count))
        print(f"{way:28}{told}")


if __name__ == "__main__":
    main()
