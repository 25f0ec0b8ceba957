"""HotpotQA, distractor setting: questions over two of ten pages each, and the sentences that answer them."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from marchwarden.evaluation.datasets.dataset_files import rows_of, sampled
from marchwarden.evaluation.datasets.dataset_web import Document, host_of_document, only, write_web
from marchwarden.evaluation.datasets.shapes import QuestionSet
from marchwarden.evaluation.labels.questions import Nugget, Question, Quote
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
    """Return the set's questions (see QuestionSet).

    Hosts are named after the row's place in the file, whatever the limit.
    """
    rows = list(enumerate(rows_of(path, FILE, _Row), start=1))
    asked: list[tuple[int, _Row, list[Document]]] = []
    for number, row in sampled(rows, limit, lambda each: each[1].id):
        paragraphs = zip(row.context.title, row.context.sentences, strict=False)
        documents = [
            Document(host_of_document(number, place), "".join(sentences), title)
            for place, (title, sentences) in enumerate(paragraphs, start=1)
        ]
        asked.append((number, row, documents))
    write_web(folder, [document for _, _, documents in asked for document in documents])
    return [_question(number, row, documents) for number, row, documents in asked]


def _question(number: int, row: _Row, documents: list[Document]) -> Question:
    # The sentences that the set names, as their pages have them; it names a few that aren't there.
    supporting = []
    for title, place in zip(row.supporting_facts.title, row.supporting_facts.sent_id, strict=False):
        for document, sentences in zip(documents, row.context.sentences, strict=False):
            if document.title == title and place < len(sentences) and (quote := document.quote(sentences[place])):
                supporting.append(quote)
    return Question(
        id=row.id,
        question=row.question.strip(),
        constraints=only(documents, number),
        split="dev",
        topic=row.type,
        tags=["several-source", "comparison"] if row.type == "comparison" else ["several-source"],
        nuggets=_nuggets(row, supporting),
        note=f"HotpotQA {row.id}",
    )


def _nuggets(row: _Row, supporting: list[Quote]) -> list[Nugget]:
    """Return the answer, vital, with the supporting sentences that say it; and each other one as evidence only.

    An answer is right without those others. A yes or no stands in no sentence, and no string tells whether it is
    said.
    """
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
