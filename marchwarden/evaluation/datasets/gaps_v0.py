"""gaps-v0: questions with their documents and the gap that is due: none, nothing found, or sources that disagree.

Mapped from SQuAD 2, CLAPnq, MultiHop-RAG, MTRAG-UN, RAMDocs and ConflictNQ by whoever made the file. Left out:
RAMDocs rows with several valid answers, rows where an open question is due (no gap category says that), and questions
that are longer than the contract allows. Each question's topic is the set that it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from marchwarden.contract import GapCategory
from marchwarden.evaluation.datasets.dataset_files import rows_of, sampled
from marchwarden.evaluation.datasets.dataset_web import Document, host_of_document, only, write_web
from marchwarden.evaluation.datasets.shapes import QuestionSet
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldGap, Kind, Nugget, Question, Quote
from marchwarden.evaluation.labels.scoring_text import normalised
from marchwarden.evidence.grounding import CARRIED
from marchwarden.text.ranking import rank

FILE = "dev.jsonl.gz"
# Characters of a question, by the contract.
QUESTION_CHARS = 500
# Documents for a question that comes without any: those of all of the set's news that share most with it. A guess.
NEAREST_DOCUMENTS = 10


class _Text(BaseModel):
    text: str
    title: str | None = None
    published_at: datetime | None = None
    kind: str | None = None
    """Kind of the document. ConflictNQ: real or fake. RAMDocs: correct, misinfo or noise."""
    answer: str | None = None
    """Answer that a document of RAMDocs gives; None in other sets."""
    gold_sentences: list[str] = []


class _Row(BaseModel):
    id: str
    source: str
    question: str
    docs: list[_Text]
    expected_gaps: list[GapCategory | Literal["open_question"]]
    gold_answers: list[str]
    note: str = ""

    @property
    def answers(self) -> list[str]:
        """Gold answers that differ from each other, as first written."""
        return list({normalised(answer): answer for answer in reversed(self.gold_answers)}.values())[::-1]

    @property
    def gaps(self) -> list[GapCategory]:
        return [gap for gap in self.expected_gaps if isinstance(gap, GapCategory)]


@dataclass(frozen=True)
class _Served:
    """A text of a row, and the page that it becomes."""

    text: _Text
    page: Document


def questions_of(path: Path, folder: Path, limit: int | None = None) -> list[Question]:
    """Return the set's questions (see QuestionSet).

    Hosts are named after the row's place in the file, whatever the limit.
    """
    rows = rows_of(path, FILE, _Row)
    usable = []
    for number, row in enumerate(rows, start=1):
        several = row.source == "ramdocs" and len(row.answers) > 1
        if not several and "open_question" not in row.expected_gaps and len(row.question.strip()) <= QUESTION_CHARS:
            usable.append((number, row))
    news = [text for row in rows if row.source == "multihoprag" for text in row.docs]
    asked: list[tuple[int, _Row, list[_Served]]] = []
    for number, row in sampled(usable, limit, lambda each: each[1].id):
        texts = row.docs
        if not texts:
            scores = rank(row.question, [text.text for text in news])
            best = sorted(range(len(news)), key=lambda place: -scores[place])
            texts = [news[place] for place in best[:NEAREST_DOCUMENTS]]
        served = []
        for place, text in enumerate(texts, start=1):
            published = text.published_at.date() if text.published_at else None
            document = Document(host_of_document(number, place), text.text, text.title or None, published)
            served.append(_Served(text, document))
        asked.append((number, row, served))
    write_web(folder, [each.page for _, _, served in asked for each in served])
    return [_question(number, row, served) for number, row, served in asked]


def _question(number: int, row: _Row, served: Sequence[_Served]) -> Question:
    kind: Kind
    if GapCategory.CONTRADICTORY_SOURCES in row.gaps:
        kind = "contradictory"
    elif row.note.startswith("partial"):  # MTRAG-UN: an answer is due besides the gap
        kind = "several-aspect"
    elif row.gaps:
        kind = "unanswerable"
    else:
        kind = "several-source" if row.source == "multihoprag" else "one-fact"
    return Question(
        id=re.sub(r"[^A-Za-z0-9._-]+", "-", row.id),
        question=row.question.strip(),
        constraints=only([each.page for each in served], number),
        split="dev",
        topic=row.source,
        tags=[kind],
        nuggets=_nuggets(row, served),
        gaps=[GoldGap(topic=row.question.strip(), category=gap) for gap in row.gaps],
        contradictions=_contradictions(row, served),
        note=f"gaps-v0 {row.id}",
    )


# Nuggets


def _nuggets(row: _Row, served: Sequence[_Served]) -> list[Nugget]:
    """Return a vital nugget where the answer is a string that a page holds, and the evidence as nuggets that are not.

    Where the answer is free text, or yes or no, there is only the evidence: no string tells whether an answer says
    it.
    """
    if GapCategory.SOURCE_NOT_FOUND in row.gaps:
        return []
    answer = _answer(row, served)
    evidence: list[Quote] = []
    for each in served:
        # The sentences that the set names, or all of a document of MultiHop-RAG, which names none.
        texts = [each.text.text] if row.source == "multihoprag" else each.text.gold_sentences
        evidence += [quote for text in texts if (quote := each.page.quote(text))]
    if answer:
        evidence = [quote for quote in evidence if quote.url not in {held.url for held in answer.evidence}]
    also = [
        Nugget(id=f"evidence{number}", text=quote.quote, answers=[quote.quote], evidence=[quote], vital=False)
        for number, quote in enumerate(evidence, start=1)
    ]
    return [answer, *also] if answer else also


def _answer(row: _Row, served: Sequence[_Served]) -> Nugget | None:
    """Return the answer with every page that says it; None where none says it in these words."""
    if {normalised(answer) for answer in row.answers} & {"yes", "no"}:
        return None
    said = [found for each in served for answer in row.answers if (found := each.page.says(answer))]
    if not said:
        return None
    as_written = [written for _, written in said]
    evidence = {quote.url: quote for quote, _ in reversed(said)}
    return Nugget(
        id="answer",
        text=row.answers[0],
        answers=list(dict.fromkeys([*row.answers, *as_written])),
        evidence=[evidence[url] for url in sorted(evidence)],
    )


# Contradictions


def _contradictions(row: _Row, served: Sequence[_Served]) -> list[GoldContradiction]:
    """Return the pages of the answer against those of another answer.

    The label is required where one passage of each says so. Else the pages may say it over several passages, and the
    label is neither rewarded nor punished.
    """
    if GapCategory.CONTRADICTORY_SOURCES not in row.gaps:
        return []
    right = [side for each in served if each.text.kind in ("real", "correct") and (side := _side(row, each))]
    wrong = [side for each in served if each.text.kind in ("fake", "misinfo") and (side := _side(row, each))]
    if not right or not wrong:
        return []
    sure = all(any(says >= CARRIED for _, says in sides) for sides in (right, wrong))
    sides = [quote for quote, says in right + wrong if says >= CARRIED or not sure]
    return [GoldContradiction(about=row.question.strip(), sides=sides, required=sure)]


def _side(row: _Row, each: _Served) -> tuple[Quote, float] | None:
    """Return the passage that says best what the set has the page say, and the share of it that it says, 0–1."""
    other = row.note.removeprefix("fake: ") if each.text.kind == "fake" else None
    told = each.text.answer or other or " ".join(row.answers[:1])
    literally = each.page.says(told)
    return (literally[0], 1.0) if literally else each.page.closest(told)


GAPS = QuestionSet(
    name="gaps",
    what="gaps-v0: questions with their documents, and which gap is due",
    expects=FILE,
    questions_of=questions_of,
)
