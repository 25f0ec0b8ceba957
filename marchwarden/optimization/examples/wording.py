"""Wording of right answers: in words that the model is shown, and short, since it copies their style.

Own code: clauses are cut by rule, where a parser such as spaCy's needs a model to be downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from marchwarden.evidence.asking.telling_words import VAGUE_TERMS
from marchwarden.text.ranking import terms
from marchwarden.text.segmentation.sentences import sentences

# Ends of a clause after which the rest of a sentence can be left out, and what stands before is still true.
_CLAUSE_ENDS = re.compile(
    r"\s*[;:](?=\s)|\s+[–—](?=\s)|,(?=\s(?:which|who|whose|where|while|whereas|although|though|but|so|because|since|"
    r"after|compared|but|weil|während|obwohl|aber|car|mais|alors)\b)"
)
# Separator between the cells of a table's row, which is no sentence.
_CELL = re.compile(r" [|·] ")
# References to sources in a page's text, which are no part of what a sentence says.
_ASIDE = re.compile(r"\s*(?:\[\d{1,3}\]|\((?:doi|arxiv):[^()\s]*\))", re.IGNORECASE)
_LEANS_BACK = re.compile(
    r"(?:it|its|they|their|these|this|that|those|he|she|his|her|such|both|then|there|here|but|and|or|so|however|also|"
    r"instead|like|another|among them|of these|on the same day)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"^what (?:is|are|was|were) (?:the |its |their )?(?=\S+ \S+ )", re.IGNORECASE)
_ASKING_WORD = re.compile(r"(?:what|who|whose|when|where|which|how|why|do|does|did|is|are|was|were|has|can)\b", re.I)
# A letter that names something, as in "vitamin D". A capital A or I may be a word.
_LETTER = re.compile(r"[B-HJ-Z]")
# Words of a shortened clause, at least. A guess.
LEAST_WORDS = 4
# Keywords of a query, at most. A guess.
MOST_KEYWORDS = 9


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a passage, each on one line; none of a table's row or a heading."""
    flat = _ASIDE.sub("", " ".join(text.split()))
    if _CELL.search(flat):
        return []
    said = [flat[start:end].strip() for start, end in sentences(flat)]
    whole = [each for each in said if each.endswith((".", "!")) and not each[0].islower()]
    # A stage, which sees a sentence without the rest, must not split it again.
    return [each for each in whole if len(sentences(each)) == 1]


def stands_alone(sentence: str) -> bool:
    """True where a sentence can be understood without the one before it."""
    return _LEANS_BACK.match(sentence) is None


def clause(sentence: str, holds: Callable[[str], bool] = lambda text: True) -> str:
    """Return the shortest beginning of a sentence that `holds`, cut between clauses, without its full stop."""
    pairs = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
    for found in _CLAUSE_ENDS.finditer(sentence):
        text = sentence[: found.start()]
        # No bracket or quotation mark is left open.
        is_closed = all(text.count(left) == text.count(right) for left, right in pairs) and text.count('"') % 2 == 0
        if len(text.split()) >= LEAST_WORDS and is_closed and holds(text):
            return text
    return sentence.rstrip(".")


def as_phrase(clause: str) -> str:
    """Turn a clause of a question into a phrase for what it asks."""
    phrase = _ASKED.sub("", clause, count=1)
    return phrase[0].lower() + phrase[1:] if _ASKING_WORD.match(phrase) else phrase


def keywords(text: str, without: Iterable[str] = ()) -> str:
    """Return the telling words of a question as a search query, in their order, each once, except those `without`."""
    left_out = VAGUE_TERMS | {term for word in without for term in terms(word)}
    said: dict[str, str] = {}
    for word in re.findall(r"\w(?:[\w'’.,:-]*\w)?", text):
        own = terms(word) or [word] * bool(_LETTER.fullmatch(word))
        if own and not set(own) <= left_out:
            said.setdefault(" ".join(own), re.sub(r"['’]s$", "", word))
    return " ".join(list(said.values())[:MOST_KEYWORDS])
