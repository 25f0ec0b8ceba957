"""Comparison of texts for scoring: accepted strings, overlapping quotes, topics, statements."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from marchwarden.contract import DISAGREEMENT, EXCERPT_CUT, markers_of
from marchwarden.http.addresses import normalise_url
from marchwarden.observations import without_place
from marchwarden.text.ranking import terms
from marchwarden.text.scripts import UNSPACED
from marchwarden.text.segmentation.sentences import sentences

_SPACES = re.compile(r"\s+")
# Typographic dashes and quotes, which pages and labels use in different ways.
_DASHES = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "’": "'", "‘": "'"})
# Numbers with grouped digits: `2,102,650`, `2 102 650`, `2'102'650`.
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[, ']\d{3})+(?!\d)")

# A character of a word in a script with blanks between words.
_SPACED = rf"[^\W{UNSPACED}]"


# Scoring compares the same labels and excerpts again and again. The size is a guess.
@lru_cache(maxsize=8192)
def normalised(text: str) -> str:
    """Return `text` in the form that is compared.

    It is casefolded and compatibility-composed, with plain dashes, quotes and single spaces, and with ungrouped
    digits (`2,102,650` and `2 102 650` become `2102650`).
    """
    text = unicodedata.normalize("NFKC", text).translate(_DASHES).casefold()
    text = _GROUPED.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    return _SPACES.sub(" ", text).strip()


def says(text: str, accepted: str) -> bool:
    """Return whether `accepted` occurs in `text`, not inside a longer word or number."""
    wanted = normalised(accepted)
    if not wanted:
        return False
    # `4` is not said by `2.4`, nor by `4.5`, but by `4.` at the end of a sentence. Without blanks no word ends.
    before = rf"(?<!{_SPACED})(?<![.,])" if wanted[0].isdigit() else rf"(?<!{_SPACED})"
    after = rf"(?!{_SPACED}|[.,]\d)" if wanted[-1].isdigit() else rf"(?!{_SPACED})"
    before = "" if not re.match(_SPACED, wanted[0]) and wanted[0].isalpha() else before
    after = "" if not re.match(_SPACED, wanted[-1]) and wanted[-1].isalpha() else after
    return re.search(before + re.escape(wanted) + after, normalised(text)) is not None


def says_one_of(text: str, accepted: Iterable[str]) -> bool:
    return any(says(text, each) for each in accepted)


def bare_identifier(identifier: str) -> str:
    """Return an identifier without the name of its register: `arXiv:2104.01234` becomes `2104.01234`."""
    return normalised(identifier).removeprefix("arxiv:").removeprefix("doi:").removeprefix("https://doi.org/").strip()


def address(url: str) -> str:
    """Return a URL in the form that is compared, or the path of a file without the place in it."""
    try:
        return normalise_url(url)
    except ValueError:
        # A line of a .jsonl file is a document of its own.
        return url if ".jsonl#L" in url else without_place(url)


def addresses_in(text: str) -> set[str]:
    """Return the web addresses that a text names."""
    return {address(url.rstrip(".,;:)”’\"'")) for url in _URL.findall(text)}


_URL = re.compile(r"https?://[^\s<>\"“”]+")
# Share of the shorter of two slices of one text that both must have in common to be one piece of evidence. A guess.
OVERLAP = 0.5
# Characters that both must have in common at least, unless the quote itself has hardly more. A guess.
LEAST_OVERLAP_CHARS = 20


def overlaps(excerpt: str, quote: str, text: str | None) -> bool:
    """Return whether two slices of the same page are one piece of evidence.

    `text` is the page's; without it, one slice must contain the other. An excerpt that was cut counts as far as it
    goes. White space, bullets and bars between cells don't count: a label may be of another reader's text.
    """
    excerpt, quote = closed_up(excerpt.removesuffix(EXCERPT_CUT)), closed_up(quote)
    least = min(LEAST_OVERLAP_CHARS, OVERLAP * len(quote))
    if quote in excerpt:
        return True
    if len(excerpt) < least:
        return False
    if excerpt in quote:
        return True
    if text is None:
        return False
    text = closed_up(text)
    if (start := text.find(excerpt)) < 0 or (other := text.find(quote)) < 0:
        return False
    together = min(start + len(excerpt), other + len(quote)) - max(start, other)
    return together >= max(least, OVERLAP * min(len(excerpt), len(quote)))


# As many pages as a question is scored with, several times over. A guess.
@lru_cache(maxsize=512)
def closed_up(text: str) -> str:
    """Return the normalised text without white space, bullets of lists and bars between the cells of a row."""
    return re.sub(r"[\s|]+", "", normalised(_BULLET.sub("", text)))


_BULLET = re.compile(r"^\s*[-*•·]\s+", re.MULTILINE)


# Similarity from which on two topics count as the same. A guess.
SAME_TOPIC = 0.5


def topic_similarity(one: str, other: str) -> float:
    """Return the similarity of two topics, 0–1: the overlap coefficient of their content words
    (Szymkiewicz–Simpson)."""
    # One shared word makes no topic, unless that is all there is.
    ours, theirs = set(terms(one)), set(terms(other))
    shared, fewer = len(ours & theirs), min(len(ours), len(theirs))
    if not fewer or shared < min(2, max(len(ours), len(theirs))):
        return 0.0
    return shared / fewer


@dataclass(frozen=True)
class Statement:
    """A sentence of an answer, without its markers."""

    text: str
    markers: tuple[int, ...]


# A line that is no sentence, with its markers: no stop stands before them.
_WHOLE = re.compile(r"[^.!?。！？:\s]\s*(\[\d{1,3}\])+$")


def statements(answer: str) -> list[Statement]:
    """Return the factual sentences of an answer, without headings, questions and remarks on the sources themselves.

    A line that is no sentence has its markers at its end, for all of it. One without any (of code) has those of the
    next line, where that has an indent.
    """
    found: list[Statement] = []
    below: tuple[int, ...] = ()
    for raw in reversed(answer.splitlines()):
        line = raw.strip().removeprefix("- ").removeprefix("* ").strip()
        below = tuple(markers_of(line)) or below
        for start, end in reversed(list(sentences(line))):
            sentence = line[start:end].strip()
            text = without_markers(sentence)
            if text.endswith((":", "?")) or text.startswith(DISAGREEMENT):
                continue
            # One word alone states nothing; one number may. So a list of numbers is measured as statements, too.
            if len(terms(text)) > 1 or any(character.isdigit() for character in text):
                markers = tuple(markers_of(sentence))
                is_whole = not markers_of(line) or _WHOLE.search(line)
                found.append(Statement(text, markers or (below if is_whole else ())))
        if not raw.startswith("  "):
            below = ()
    return found[::-1]


def without_markers(answer: str) -> str:
    return re.sub(r"\s*\[\d{1,3}\]", "", answer)
