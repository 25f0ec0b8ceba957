"""Judgement whether a passage answers a question: a small cross-encoder that reads both together.

The model is MiniLM-L6 (Wang et al. 2020) with the weights of all-MiniLM-L6-v2 to start from, trained by
evals/answering/train.py on questions over real web pages; DATASHEET.md says on which, and how well it judges. It
reads English only. Without onnxruntime, of the extra `semantic`, nothing is judged.

Judging a passage takes about 12 ms of a core. Weights are kept in 8 bits. onnxruntime 1.32 rounds what they are
multiplied with to 8 bits as well; passages are judged one by one, so that a judgement depends on nothing but its own
two texts. Log-odds differ by 0.06 on average from those computed in 32 bits, and tell answers as well.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.settings import Settings
from marchwarden.text import embedding

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

RUNTIME = "onnxruntime"
MODEL = Path(__file__).with_name("answering.onnx")
# Tokens of a question and of a question with a passage, at most; as in training.
_QUESTION_TOKENS, _TOKENS = 48, 160
# Words of a title and of a heading, and characters of a passage with both, at most; as in training.
_WORDS_ABOVE, _CHARS = 12, 900
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
# Longest word that is cut into pieces; as the model's own tokenizer does.
_LONGEST_WORD = 100


def is_installed() -> bool:
    return find_spec(RUNTIME) is not None


def open_judge(settings: Settings) -> AnswerJudge | None:
    """Return the judge; None where pages are not read by meaning, or its runtime is not installed."""
    return AnswerJudge() if is_installed() and embedding.is_used(settings) else None


class AnswerJudge:
    """Judge of passages, safe to use from several threads. The model is loaded on first use."""

    def log_odds(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the log-odds that each passage answers the question. Blocks for about 12 ms a passage."""
        import numpy as np

        asked = _tokens(question)[-_QUESTION_TOKENS:]
        start, end = _vocabulary()[_START], _vocabulary()[_END]
        first = [start, *asked, end]
        found: list[float] = []
        for passage in passages:
            second = [*_tokens(passage)[: _TOKENS - len(first) - 1], end]
            given = {
                "ids": np.array([[*first, *second]], dtype=np.int64),
                "types": np.array([[0] * len(first) + [1] * len(second)], dtype=np.int64),
            }
            found.append(float(_session().run(None, given)[0][0, 0]))
        return found


class RememberingJudge(AnswerJudge):
    """A judge that is asked about the same passages again and again, and judges each once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], float] = {}

    def log_odds(self, question: str, passages: Sequence[str]) -> list[float]:
        new = [each for each in dict.fromkeys(passages) if (question, each) not in self._known]
        judged = zip(new, super().log_odds(question, new), strict=True)
        self._known |= {(question, passage): odds for passage, odds in judged}
        return [self._known[question, each] for each in passages]


def _tokens(text: str) -> list[int]:
    known = _vocabulary()
    return [known[piece] for word in words_of(text) for piece in _pieces(word)]


def in_place(title: str | None, heading: str | None, text: str) -> str:
    """Return a passage as it is judged: under the title of its page and the heading above it."""
    above = [" ".join((each or "").split()[:_WORDS_ABOVE]) for each in (title, heading)]
    named = [above[0], *(each for each in above[1:] if each and each != above[0])]
    return " | ".join([*named, text])[:_CHARS]


# One session serves all threads; loading takes a fifth of a second and 50 to 150 MB.
_one_at_a_time = threading.Lock()


def _session() -> InferenceSession:
    with _one_at_a_time:
        return _loaded()


def load() -> None:
    """Load the model for all judges of this process, and of those that are forked from it."""
    _vocabulary()


@cache
def _loaded() -> InferenceSession:
    # Since 1.29 it reports to its maker on every system, and keeps what it has not sent in ~/.cache. Nothing of that
    # is begun where this is set before it is imported.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    # One thread: calls run side by side already.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return InferenceSession(str(MODEL), options)


@cache
def _vocabulary() -> dict[str, int]:
    pieces: str = _session().get_modelmeta().custom_metadata_map["vocabulary"]
    return {piece: number for number, piece in enumerate(pieces.split("\n"))}


def words_of(text: str) -> Iterator[str]:
    """Yield the words of a text as BERT's uncased tokenizer does: small, without accents, each mark by itself."""
    word: list[str] = []
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if kind == "Mn" or (kind in ("Cc", "Cf", "Cn", "Co") and not character.isspace()):
            continue
        stands_alone = (
            kind.startswith("P") or (character.isascii() and not character.isalnum()) or _is_ideograph(character)
        )
        if stands_alone or character.isspace():
            if word:
                yield "".join(word)
                word = []
            if not character.isspace():
                yield character
        else:
            word.append(character)
    if word:
        yield "".join(word)


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff" or character >= "\U00020000"


@lru_cache(maxsize=65536)
def _pieces(word: str) -> tuple[str, ...]:
    """Return the longest known pieces of a word from its left (WordPiece); one unknown piece where any is unknown."""
    known = _vocabulary()
    pieces: list[str] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in known:
                pieces.append(piece)
                start = end
                break
        else:
            return (_UNKNOWN,)
    return tuple(pieces) or (_UNKNOWN,)
