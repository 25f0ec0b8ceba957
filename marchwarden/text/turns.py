"""A conversation as the context of its next question: one form, which a model reads and the rules parse.

A context counts as the caller's word, which may be searched for. So only questions and answers go into it, whose
claims were checked, and no address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from marchwarden.text.ranking import terms
from marchwarden.text.segmentation.sentences import sentences

_ASKED, _ANSWERED = "Asked before: ", "Answered: "
# The answer of a turn that found nothing. A model reads it; it holds no word that a follow-up could mean.
NOTHING_FOUND = "Nothing was found."
_TURN = re.compile(rf"^{_ASKED}(?P<question>.+)\n{_ANSWERED}(?P<answer>.+)$", re.MULTILINE)
MARKER = re.compile(r"\s*\[\d{1,3}\]")
_GOES_ON = re.compile(r"(?:it|its|he|his|she|her|they|their|this|these|er|sie|es|il|elle|ils|elles)\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\S*(?:://|www\.)\S+", re.IGNORECASE)
# Characters of an answer that its next question may need. A guess.
_ANSWER_CHARS = 600


@dataclass(frozen=True)
class Turn:
    """A question of a conversation and its answer, each on one line."""

    question: str
    answer: str


def turn_of(question: str, answer: str) -> Turn:
    """Return a turn without markers and addresses, its answer cut between sentences."""
    asked = " ".join(_ADDRESS.sub("", question).split())
    asked += "" if asked.endswith(("?", "？", "؟", ".")) else "?"
    plain = _ADDRESS.sub("", MARKER.sub("", answer))
    kept = ""
    for line in plain.splitlines():
        for start, end in sentences(said := " ".join(line.lstrip("-* ").split())):
            sentence = said[start:end].strip()
            if kept and len(kept) + 1 + len(sentence) > _ANSWER_CHARS:
                return Turn(asked, kept)
            kept = f"{kept} {sentence}".strip()[:_ANSWER_CHARS]
    return Turn(asked, kept)


def as_context(turns: Sequence[Turn], limit: int, given: str | None = None) -> str | None:
    """Return the newest turns that fit into `limit` characters, the newest last, behind what is `given`.

    None for no turn and nothing given.
    """
    parts: list[str] = []
    room = limit - len(given or "")
    for turn in reversed(turns):
        told = f"{_ASKED}{turn.question}\n{_ANSWERED}{turn.answer}"
        if not turn.question or not turn.answer or len(told) + 1 > room:
            break
        parts.insert(0, told)
        room -= len(told) + 1
    return "\n".join([*([given] if given else []), *parts]) or None


def turns_in(context: str | None) -> list[Turn]:
    """Return the turns that a context tells, the newest last."""
    return [Turn(found["question"], found["answer"]) for found in _TURN.finditer(context or "")]


def without_turns(context: str | None) -> str:
    """Return what a context says beside its turns: the caller's own words of now."""
    return _TURN.sub("", context or "").strip()


def telling_sentence(turn: Turn) -> str:
    """Return the sentence of an answer that holds most words of its question, the first of several. Empty where
    nothing was found."""
    return next(iter(telling_sentences(turn)), "")


def telling_sentences(turn: Turn) -> list[str]:
    """Return the sentences of an answer, those first that hold most words of its question; none where nothing was
    found.

    A sentence that begins with a pronoun ("It was founded by …") holds what the one before it holds, too.
    """
    if turn.answer == NOTHING_FOUND:
        return []
    asked = set(terms(turn.question))
    held: dict[str, int] = {}
    before: set[str] = set()
    for start, end in sentences(turn.answer):
        sentence = turn.answer[start:end].strip()
        before = set(terms(sentence)) | (before if _GOES_ON.match(sentence) else set())
        held[sentence] = len(asked & before)
    return sorted(held, key=lambda sentence: -held[sentence])
