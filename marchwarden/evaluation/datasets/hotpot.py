"""HotpotQA, distractor setting: questions over two of ten pages each, and the sentences that answer them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from marchwarden.evaluation.datasets.dataset_files import rows_of, sampled
from marchwarden.evaluation.datasets.dataset_web import Document, host_of_document, only, write_web
from marchwarden.evaluation.datasets.shapes import QuestionSet
from marchwarden.evaluation.labels.questions import Kind, Nugget, Question, Quote
from marchwarden.evaluation.labels.scoring_text import normalised, says

FILE = "hotpot_distractor_100.jsonl"


class _Facts(BaseModel):
    title: list[str]
    sent_id: list[int]


class _Paragraphs(BaseModel):
    title: list[str]
    sentences: list[list[str]]


class _Row(BaseModel):
    id: str
    question: str
    answer: str
    type: str
    supporting_facts: _Facts
    context: _Paragraphs


def questions_of(path: Path, folder: Path, limit: int | None = None) -> list[Question]:
    """As QuestionSet says. Hosts are named after the row's place in the file, whatever the limit."""
    rows = list(enumerate(rows_of(path, FILE, _Row), start=1))
    asked = [(number, row, _documents(number, row)) for number, row in sampled(rows, limit, lambda each: each[1].id)]
    write_web(folder, [document for _, _, documents in asked for document in documents])
    return [_question(number, row, documents) for number, row, documents in asked]


def _documents(number: int, row: _Row) -> list[Document]:
    paragraphs = zip(row.context.title, row.context.sentences, strict=False)
    return [
        Document(host_of_document(number, place), "".join(sentences), title)
        for place, (title, sentences) in enumerate(paragraphs, start=1)
    ]


def _question(number: int, row: _Row, documents: list[Document]) -> Question:
    return Question(
        id=row.id,
        question=row.question.strip(),
        constraints=only(documents, number),
        split="dev",
        topic=row.type,
        tags=list(_kinds(row)),
        nuggets=_nuggets(row, _supporting(row, documents)),
        note=f"HotpotQA {row.id}",
    )


def _kinds(row: _Row) -> Iterator[Kind]:
    yield "several-source"
    if row.type == "comparison":
        yield "comparison"


def _supporting(row: _Row, documents: list[Document]) -> list[Quote]:
    """The sentences that the set names, as their pages have them; it names a few that aren't there."""
    found = []
    for title, place in zip(row.supporting_facts.title, row.supporting_facts.sent_id, strict=False):
        for document, sentences in zip(documents, row.context.sentences, strict=False):
            if document.title == title and place < len(sentences) and (quote := document.quote(sentences[place])):
                found.append(quote)
    return found


def _nuggets(row: _Row, supporting: list[Quote]) -> list[Nugget]:
    """The answer, vital, with the supporting sentences that say it; and each other one, which is no more than
    evidence: an answer is right without it. A yes or no is in none, and no string tells whether it is said."""
    held = (
        []
        if normalised(row.answer) in ("yes", "no")
        else [each for each in supporting if says(each.quote, row.answer)]
    )
    others = [each for each in supporting if each not in held]
    nuggets = [
        Nugget(id=f"hop{number}", text=each.quote, answers=[each.quote], evidence=[each], vital=False)
        for number, each in enumerate(others, start=1)
    ]
    answer = Nugget(id="answer", text=row.answer, answers=[row.answer], evidence=held) if held else None
    return [answer, *nuggets] if answer else nuggets


HOTPOT = QuestionSet(
    name="hotpot",
    what="HotpotQA: questions over two of ten pages, with the sentences that answer them",
    expects=FILE,
    questions_of=questions_of,
)
