"""How right answers are worded: in the words of what a model is shown, and short, since it copies their manner."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from marchwarden.evidence.question import VAGUE_TERMS
from marchwarden.text.ranking import terms
from marchwarden.text.sentences import sentences

# What follows can be left out, and what stands before is still so.
_CLAUSE_ENDS = re.compile(
    r"\s*[;:](?=\s)|\s+[–—](?=\s)|,(?=\s(?:which|who|whose|where|while|whereas|although|though|but|so|because|since|"
    r"after|compared|but|weil|während|obwohl|aber|car|mais|alors)\b)"
)
# Stands between the cells of a table's row, which is no sentence.
_CELL = re.compile(r" [|·] ")
# A page's own pointers, which are no part of what a sentence says.
_ASIDE = re.compile(r"\s*(?:\[\d{1,3}\]|\((?:doi|arxiv):[^()\s]*\))", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"(?:it|its|they|their|these|this|that|those|he|she|his|her|such|both|then|there|here|but|and|or|so|however|also|"
    r"instead|like|another|among them|of these|on the same day)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^what (?:is|are|was|were) (?:the |its |their )?(?=\S+ \S+ )", re.IGNORECASE)
_ASKING_WORD = re.compile(r"(?:what|who|whose|when|where|which|how|why|do|does|did|is|are|was|were|has|can)\b", re.I)
# One that names something, as in "vitamin D"; a capital A or I begins a sentence.
_LETTER = re.compile(r"[B-HJ-Z]")
LEAST_WORDS = 4
MOST_KEYWORDS = 9


def sentences_of(text: str) -> list[str]:
    """The sentences of a passage, each on one line; none of a table's row or a heading, nor what a stage, which sees
    it without the rest, would split again."""
    flat = _ASIDE.sub("", " ".join(text.split()))
    if _CELL.search(flat):
        return []
    said = [flat[start:end].strip() for start, end in sentences(flat)]
    return [each for each in said if _is_sentence(each) and len(sentences(each)) == 1]


def _is_sentence(text: str) -> bool:
    return text.endswith((".", "!")) and not text[0].islower()


def stands_alone(sentence: str) -> bool:
    """Whether a sentence begins with what it is about, and not with what stood before it."""
    return _LEANS_BACK.match(sentence) is None


def clause(sentence: str, holds: Callable[[str], bool] = lambda text: True) -> str:
    """The shortest beginning of a sentence that `holds`, cut between clauses, without its full stop."""
    cuts = [found.start() for found in _CLAUSE_ENDS.finditer(sentence)]
    beginnings = (sentence[:cut] for cut in cuts)
    short = (text for text in beginnings if len(text.split()) >= LEAST_WORDS and _is_closed(text) and holds(text))
    return next(short, sentence.rstrip("."))


def _is_closed(text: str) -> bool:
    """Whether no bracket or quotation mark is left open."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
    return all(text.count(opened) == text.count(closed) for opened, closed in pairs) and text.count('"') % 2 == 0


def as_phrase(clause: str) -> str:
    """What a clause of a question asks for, as a phrase."""
    phrase = _ASKED.sub("", clause, count=1)
    return phrase[0].lower() + phrase[1:] if _ASKING_WORD.match(phrase) else phrase


def keywords(text: str, without: Iterable[str] = ()) -> str:
    """The telling words of a question as a search query, in their order, each once, and none of those words."""
    left_out = VAGUE_TERMS | {term for word in without for term in terms(word)}
    said: dict[str, str] = {}
    for word in re.findall(r"\w(?:[\w'’.,:-]*\w)?", text):
        own = terms(word) or [word] * bool(_LETTER.fullmatch(word))
        if own and not set(own) <= left_out:
            said.setdefault(" ".join(own), re.sub(r"['’]s$", "", word))
    return " ".join(list(said.values())[:MOST_KEYWORDS])
