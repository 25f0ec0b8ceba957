"""Questions of public sets with a passage that answers and some that don't, for the encoder's first training.

Each set is a checkout in a folder of its own: `selqa` (emorynlp/selqa fef3d6a), `conditionalqa`
(haitian-sun/ConditionalQA 77bd295), `rag-qa-arena` (awslabs/rag-qa-arena 9dd32dc) and `policyqa` (wasiahmad/PolicyQA
775538b).
"""

from __future__ import annotations

import html
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

Choice: TypeAlias = tuple[str, list[str]]
"""A question and its passages, of which the first answers."""

CHARS = 600
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"(])")
_DOMAINS = ("lifestyle", "technology", "science", "recreation", "writing", "fiqa")


def public_groups(folder: Path, *, seed: int = 5) -> list[Choice]:
    """Return the groups of all four sets, mixed."""
    chance = random.Random(seed)
    found = [
        *_selqa(folder, chance),
        *_conditional(folder, chance),
        *_arena(folder, chance),
        *_policies(folder, chance),
    ]
    chance.shuffle(found)
    return found


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 2}


def _window(question: str, text: str, chance: random.Random) -> str:
    """Return one to three sentences of a text that share most words with the question."""
    sentences = [each.strip() for each in _SENTENCE.split(re.sub(r"\s+", " ", text)) if each.strip()][:12]
    size, asked = chance.choice([1, 2, 2, 3, 3]), _words(question)
    runs = [" ".join(sentences[at : at + size]) for at in range(max(1, len(sentences) - size + 1))]
    return max(enumerate(runs), key=lambda run: len(asked & _words(run[1])) - 0.15 * run[0])[1][:CHARS]


def _selqa(folder: Path, chance: random.Random) -> Iterator[Choice]:
    for part in ("dev", "test"):
        for own in json.loads((folder / "selqa" / "ass" / f"selqa-ass-{part}.json").read_text(encoding="utf-8")):
            lines, right = own["candidates"], own["answers"]
            if not right or len(lines) < 4:
                continue
            size = chance.choice([1, 1, 2, 3])
            start = max(0, right[0] - chance.randrange(size))
            asked = _words(own["question"])
            wrong = sorted(
                (line for at, line in enumerate(lines) if at not in right),
                key=lambda line: -len(asked & _words(line)),
            )
            hard, rest = wrong[:4], wrong[4:]
            answer = " ".join(lines[start : start + size])
            yield own["question"], [each[:CHARS] for each in (answer, *hard, *chance.sample(rest, min(1, len(rest))))]


def _conditional(folder: Path, chance: random.Random) -> Iterator[Choice]:
    every = json.loads((folder / "conditionalqa" / "v1_0" / "train.json").read_text(encoding="utf-8"))
    lines = [[html.unescape(re.sub(r"<[^>]+>", " ", each)).strip() for each in own["evidences"]] for own in every]
    of_page: dict[str, list[str]] = defaultdict(list)
    for own, evidence in zip(every, lines, strict=True):
        of_page[own["url"]] += evidence
    anywhere = [line for evidence in lines for line in evidence if len(line) > 30]
    for own, evidence in zip(every, lines, strict=True):
        right = [line for line in evidence if len(line) > 25]
        if not right:
            continue
        wrong = sorted({line for line in of_page[own["url"]] if line not in evidence and len(line) > 25})
        chance.shuffle(wrong)
        question = f"{own['scenario']} {own['question']}" if chance.random() < 0.3 else own["question"]
        yield question, [chance.choice(right)[:CHARS], *[*wrong, *chance.sample(anywhere, 5)][:5]]


def _arena(folder: Path, chance: random.Random) -> Iterator[Choice]:
    answers: list[tuple[str, str]] = []
    for domain in _DOMAINS:
        file = folder / "rag-qa-arena" / "data" / f"annotations_{domain}_with_citation.jsonl"
        for line in file.read_text(encoding="utf-8").splitlines():
            own = json.loads(line)
            answers.append((own["question"], own["answer"]))
    held = Counter(word for _, answer in answers for word in _words(answer))
    where: dict[str, list[int]] = defaultdict(list)
    for place, (_, answer) in enumerate(answers):
        for word in _words(answer):
            if held[word] < 400:
                where[word].append(place)
    for place in chance.sample(range(len(answers)), 3000):
        question, answer = answers[place]
        shared = Counter(other for word in sorted(_words(question)) for other in where.get(word, ()))
        near = [other for other, _ in shared.most_common(12) if answers[other][0] != question][:4]
        near += chance.sample(range(len(answers)), 5 - len(near))
        texts = [answer, *(answers[other][1] for other in near)]
        yield question, [_window(question, text, chance) for text in texts]


def _policies(folder: Path, chance: random.Random) -> Iterator[Choice]:
    found: list[Choice] = []
    for policy in json.loads((folder / "policyqa" / "data" / "dev.json").read_text(encoding="utf-8"))["data"]:
        for paragraph in policy["paragraphs"]:
            others = [each["context"] for each in policy["paragraphs"] if each["context"] != paragraph["context"]]
            if len(others) >= 5:
                for own in paragraph["qas"]:
                    passages = [paragraph["context"], *chance.sample(others, 5)]
                    found.append((own["question"], [each[:CHARS] for each in passages]))
    yield from chance.sample(found, 500)
