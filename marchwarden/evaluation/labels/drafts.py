"""Draft questions over a user's own files: a fact of each file, quoted, for which a person words the question.

Without a model no question can be worded as somebody asks who has not read the file, and one in the file's own words
would be found too easily. So a draft is the sentence with its answer left out, and says that it is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from marchwarden.evaluation.labels.questions import DRAFT, Nugget, Question, Quote
from marchwarden.evidence.asking.telling_words import name_runs
from marchwarden.evidence.windows import FULL_STOP, FURNITURE
from marchwarden.injection.detector import drop_injections
from marchwarden.observations import Page, Passage
from marchwarden.text.ranking import guess_language

# Characters of a sentence that one fact is asked of. Guesses: shorter ones depend on others, longer ones say several.
_FACT_CHARS = range(30, 221)
# Facts of one file at most. A guess.
MOST_OF_A_FILE = 5
_LEFT_OUT = "…"
_FIGURE = re.compile(r"(?<![\w.,-])\d[\d.,]*(?<![.,])(?![\w-])")


def drafts(pages: Iterable[Page], most: int) -> list[Question]:
    """Return at most `most` drafts: the best fact of each page, then the second of each, and so on."""
    facts = zip_longest(*(list(_facts(page))[:MOST_OF_A_FILE] for page in pages))
    chosen = [fact for row in facts for fact in row if fact is not None][:most]
    return [
        Question(
            id=f"q{number}",
            question=f"{DRAFT}{passage.text[: answer.start]}{_LEFT_OUT}{passage.text[answer.stop :]}",
            split="dev",
            tags=["one-fact"],
            nuggets=[
                Nugget(
                    id="n1",
                    text=passage.text,
                    answers=[passage.text[answer.start : answer.stop]],
                    evidence=[Quote(url=page.url, quote=passage.text)],
                )
            ],
        )
        for number, (page, passage, answer) in enumerate(chosen, start=1)
    ]


def _facts(page: Page) -> Iterator[tuple[Page, Passage, range]]:
    """Yield passages that state one fact, each with the place of what tells it; figures first, then names."""
    passages = [
        each
        for each in drop_injections(page)
        if len(each.text) in _FACT_CHARS
        and "\n" not in each.text
        and each.code is None
        and (each.cells or FULL_STOP.search(each.text))
        and not FURNITURE.search(each.text)
    ]
    answers = [(each, _answer(each, page)) for each in passages]
    told = [(each, answer) for each, answer in answers if answer]
    for each, answer in sorted(told, key=lambda one: (not one[0].text[one[1].start].isdigit(), one[0].number)):
        yield page, each, answer


def _answer(passage: Passage, page: Page) -> range:
    """Return the place of the part of a passage that a question may ask for; empty where there is none."""
    text = passage.text
    if passage.cells:
        value = passage.cells[-1][1] if len(passage.cells) > 1 else ""
        start = text.rfind(value)
        return range(start, start + len(value)) if start >= 0 else range(0)
    if figures := list(_FIGURE.finditer(text)):
        return range(*figures[-1].span())
    if (page.language or guess_language(text)) != "en":
        return range(0)
    known = (page.title or "").casefold()
    names = [" ".join(run.words) for run in name_runs(text)]
    places = (re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in names if name.casefold() not in known)
    return next((range(*found.span()) for found in places if found), range(0))
