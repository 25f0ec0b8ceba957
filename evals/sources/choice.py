"""How often the topic of a question is among those whose sources are searched (sources/source_choice.py).

    python evals/sources/choice.py ../shared/data medicine general science
    python evals/sources/choice.py ../shared/data --titles TITLES.jsonl programming

Medicine: 100 questions of PubMedQA. General: HotpotQA. Science: the queries of CACM. Programming: titles of questions
on Stack Overflow, one JSON object with `question` a line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from pathlib import Path

from marchwarden.settings import load_settings
from marchwarden.sources.source_choice import MARGIN, topics_of
from marchwarden.text.embedding import open_embedder


def questions_of(topic: str, folder: Path, titles: Path | None) -> list[str]:
    if topic == "medicine":
        with gzip.open(folder / "qa-pubmedqa" / "ori_pqal.json.gz") as opened:
            held = json.load(opened)
        return [held[key]["QUESTION"] for key in random.Random(1).sample(sorted(held), 100)]
    if topic == "general":
        lines = (folder / "qa-hotpot-100" / "hotpot_distractor_100.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line)["question"] for line in lines]
    if topic == "science":
        text = (folder / "ir-cacm" / "topics.cacm.txt").read_text("utf-8")
        parts = text.split("<DOC>")[1:]
        return [" ".join(re.sub(r"<DOCNO>.*?</DOCNO>|<[^>]+>", " ", part).split())[:400] for part in parts]
    if titles is None:
        raise SystemExit("programming needs --titles")
    return [json.loads(line)["question"] for line in titles.read_text("utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("topics", nargs="+", choices=["medicine", "general", "science", "programming"])
    parser.add_argument("--titles", type=Path)
    given = parser.parse_args()
    embedder = open_embedder(load_settings())
    if embedder is None:
        raise SystemExit("the embedding model of the extra semantic is not installed")
    for topic in given.topics:
        found = topics_of(questions_of(topic, given.folder, given.titles), embedder)
        first = sum(max(each, key=each.__getitem__) == topic for each in found) / len(found)
        chosen = [{name for name, near in each.items() if near >= max(each.values()) - MARGIN} for each in found]
        recall = sum(topic in names for names in chosen) / len(found)
        size = sum(map(len, chosen)) / len(found)
        print(f"{topic}: {len(found)} questions, first {first:.2f}, chosen {recall:.2f}, topics {size:.1f} of 5")


if __name__ == "__main__":
    main()
