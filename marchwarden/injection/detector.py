"""Detection of prompt injections: passages of a page that give orders to a language model. They are no evidence.

Such an order is recognised by its words, in 19 languages and under the usual disguises. The text beside it in its
block is left out as well, since such a block often ends in a plain false statement: of a list the nearest items, of a
table or a list of changes nothing. So is a request for something that the page is not about (off_topic.py), with the
text after it. Titles are checked too. Texts about such orders, and orders to people (recipes, manuals, exams), are
no injections.

Own code beside classifiers such as Prompt Guard: each is a further model to install and to run over every page.
evals/reading/injections.py measures ours.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from marchwarden.injection.lexicon import COMMON, LEXICON
from marchwarden.injection.obfuscation import folded, mirrored, undisguised
from marchwarden.injection.off_topic import find_off_topic_requests
from marchwarden.injection.phrase_language import Phrase, WordClasses, sentence_around
from marchwarden.injection.phrases import (
    ELSEWHERE,
    FENCED_ORDER,
    GROUPS,
    QUOTED,
    ROLE_KINDS,
    ROLE_MARK,
    STRONG,
    WEAK,
    Cue,
)
from marchwarden.observations import Page, Passage, SearchHit, is_database
from marchwarden.reading.files.kinds import TABLES
from marchwarden.reading.text_blocks import CELL_GAP

# evals/reading/injections.py measures the effect of these numbers on attacks and on ordinary pages.
# Characters of a block, before and after an order, that are left out with it.
SPREAD_CHARS = 600
# Paragraphs of a block that are left out with an order in it; further items of a list are others.
MAX_BEFORE = 3
MAX_AFTER = 8
# Paragraphs between a weak sign and the order that makes it count.
MAX_FAR = 40
# Words between two weak signs that count together.
MAX_WORDS_BETWEEN = 60
# Paragraphs without a sign between two that are part of one role to play.
MAX_ENCLOSED = 2
# Words around a quotation; fewer say nothing about what it quotes.
MIN_REPORT_WORDS = 5
# Characters of a line that may be wrapped.
_MIN_WRAPPED_CHARS = 50
# Characters of lines, each with a passage of its own, that may be one wrapped text; longer, they are a list.
MAX_JOINED_CHARS = 1500
# Characters of a text that sets out what the machine is to forget and to be: more of the order comes after it.
_MIN_TALE_CHARS = 300
# Characters of an order that only announces itself.
_MAX_SHORT_ORDER_CHARS = 160
# Characters of the name of an author, who may be an institute, at most. A guess.
_MAX_NAME_CHARS = 80


def find_injections(page: Page) -> frozenset[int]:
    """Return the numbers of the passages that give orders to a model, and of those in one block with them."""
    spans = _spans_of(page)
    return frozenset(
        passage.number
        for passage in page.passages
        if any(passage.start < end and start < passage.end for start, end in spans)
    )


def holds_injection(page: Page, start: int, end: int) -> bool:
    """Return whether a part of a page's text, which may be no passage, holds one of its prompt injections."""
    return any(start < last and first < end for first, last in _spans_of(page))


def drop_injections(page: Page) -> list[Passage]:
    """Return the passages without prompt injections: those that a model may read and point at."""
    left_out = find_injections(page)
    return [passage for passage in page.passages if passage.number not in left_out]


def is_injection(text: str) -> bool:
    """Return whether a text that stands alone (a title, a snippet) gives an order to a model."""
    return bool(_spans(text))


def clean_hit(hit: SearchHit) -> SearchHit:
    """Replace a hit's title by its address, and empty its snippet, where they give an order to a model."""
    title = hit.url if is_injection(hit.title) else hit.title
    snippet = "" if is_injection(hit.snippet) else hit.snippet
    if is_injection(f"{title} - {snippet}"):
        title, snippet = hit.url, ""
    return replace(hit, title=title, snippet=snippet)


def clean_metadata(page: Page) -> Page:
    """Drop a page's title where it gives an order to a model, or asks for something that the page is not about.

    Of its authors, what is no name or gives an order is dropped, and a venue that gives one.
    """
    title, work = page.title, page.work
    if title is not None:
        rest = [paragraph.text for paragraph in _paragraphs(page.text) if paragraph.text not in title]
        if 0 in find_off_topic_requests([title, *rest], only=0) or is_injection(title):
            title = None
    if work is not None and (work.authors or work.venue):
        venue = None if work.venue and is_injection(work.venue) else work.venue
        work = replace(work, authors=_clean_names(work.authors), venue=venue)
    return replace(page, title=title, authors=_clean_names(page.authors), work=work)


def _clean_names(names: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(filter(_is_name, names))
    # Some papers have hundreds of authors: they are read one by one only where something is among them.
    return tuple(name for name in names if not is_injection(name)) if is_injection("\n".join(names)) else names


def _is_name(text: str) -> bool:
    words = text.split()
    uncapitalised = sum(word[0].islower() for word in words)  # "van der Berg"; a nickname is one word
    is_short = len(text) <= _MAX_NAME_CHARS and not re.search("[?!]", text)
    return is_short and (len(words) == 1 or uncapitalised <= len(words) / 2)


def _holds_rows(page: Page) -> bool:
    """Return whether each line of a page is a row of a table: a record of its own, with which no other goes on."""
    return page.media_type in TABLES or is_database(page.url)


def _spans_of(page: Page) -> tuple[tuple[int, int], ...]:
    begun = frozenset(passage.start for passage in page.passages)
    return _spans(page.text, begun, _holds_rows(page))


# Several stages ask for the same page.
@lru_cache(maxsize=64)
def _spans(text: str, begun: frozenset[int] = frozenset(), are_rows: bool = False) -> tuple[tuple[int, int], ...]:
    """Return start and end of each injection in the text, sorted. `begun`: where its passages begin."""
    paragraphs = _rows(text) if are_rows else _paragraphs(text, begun)
    requests = find_off_topic_requests([paragraph.text for paragraph in paragraphs])
    orders = _find_orders(paragraphs, requests.keys(), are_rows)
    reached = set(orders)
    for place in orders:
        for other in range(max(0, place - MAX_BEFORE), min(len(paragraphs), place + MAX_AFTER + 1)):
            if _is_reached(paragraphs[place], paragraphs[other]):
                reached.add(other)
    spans = [(paragraphs[place].start, paragraphs[place].end) for place in reached]
    for place, (start, end) in requests.items():
        spans.append((paragraphs[place].start + start, paragraphs[place].start + end))
    return tuple(sorted(spans))


def _is_reached(order: _Paragraph, other: _Paragraph) -> bool:
    """Return whether a paragraph near an order is left out with it."""
    gap = max(other.start - order.end, order.start - other.end)
    return order.goes_with(other) and gap <= SPREAD_CHARS


# Paragraphs

_LINE_END = re.compile(r"\n+")
# An item of a list of changes ends with the number of its issue.
_ISSUE_END = re.compile(r"#\d+\W*$")
_OPEN_END = re.compile(r"[\w,;–-]$")


@dataclass(frozen=True)
class _Paragraph:
    start: int
    end: int
    block: int
    """Number of the block; paragraphs of one block have no blank line between them."""
    text: str

    @property
    def is_record(self) -> bool:
        """True for a row of a table and an item of a list of changes, with which no other goes on."""
        return CELL_GAP in self.text or bool(_ISSUE_END.search(self.text))

    def goes_with(self, other: _Paragraph) -> bool:
        """Return whether the two belong together: in one block, but not as two records."""
        return self.block == other.block and not (self.is_record and other.is_record)


def _paragraphs(text: str, begun: frozenset[int] = frozenset()) -> list[_Paragraph]:
    """Split the text at line ends; a line that is wrapped goes on in the next one.

    A line with which a passage begins may be an item of a list: it is where it is in small letters or an order by
    itself, and after a line that ends in the number of an issue or more lines than a wrapped text has.
    """
    found: list[_Paragraph] = []
    start, block = 0, 0
    for gap in _LINE_END.finditer(text):
        end = gap.start()
        if len(gap[0]) == 1:
            line = text[max(start, text.rfind("\n", 0, end) + 1) : end]
            next_end = max(text.find("\n", end + 1), 0) or len(text)
            goes_on = text[end + 1 : end + 2].islower()
            is_wrapped = goes_on or (len(line) >= _MIN_WRAPPED_CHARS and _OPEN_END.search(line))
            is_item = end + 1 in begun and (
                goes_on
                or end - start > MAX_JOINED_CHARS
                or _ISSUE_END.search(line)
                or (is_wrapped and _read_signals(text[end + 1 : next_end]).orders)
            )
            if is_wrapped and not is_item:
                continue
        found.append(_Paragraph(start, end, block, text[start:end]))
        start = gap.end()
        block += len(gap[0]) > 1
    found.append(_Paragraph(start, len(text), block, text[start:]))
    return found


def _rows(text: str) -> list[_Paragraph]:
    """Split the text into its lines, each a block of its own."""
    return [
        _Paragraph(found.start(), found.end(), number, found[0])
        for number, found in enumerate(re.finditer(r"[^\n]+", text))
    ]


# Orders in paragraphs


def _find_orders(paragraphs: Sequence[_Paragraph], off_topic: Set[int], are_rows: bool) -> set[int]:
    """Return the places of the paragraphs that give an order to a model; of rows, each is judged alone.

    A request off the topic, in the paragraph or in the one before it, makes weak signs count.
    """
    signals = [_read_signals(paragraph.text) for paragraph in paragraphs]
    kinds = [
        each.orders | each.hints if {place, place - (not are_rows)} & off_topic else each.orders
        for place, each in enumerate(signals)
    ]
    found = {place for place, ordered in enumerate(kinds) if ordered}
    if are_rows:
        return found
    for place in range(len(signals) - 1):
        one, next_one = signals[place].hints, signals[place + 1].hints
        in_one_block = paragraphs[place].block == paragraphs[place + 1].block
        if in_one_block and one and next_one and _are_enough(one | next_one):
            found |= {place, place + 1}
    found |= _find_related(paragraphs, signals)
    found |= _find_role_play(signals)
    announced = {
        place + 1
        for place in found
        if place + 1 < len(paragraphs)
        and not (paragraphs[place].is_record and paragraphs[place + 1].is_record)
        and _is_announcement(paragraphs[place].text, kinds[place])
    }
    return found | announced


def _find_related(paragraphs: Sequence[_Paragraph], signals: Sequence[_Signals]) -> set[int]:
    """Return the places of weak signs that an order near them makes count: one of another kind, or in their block.

    A request off the topic is no such order: in a list of thousands of changes there are always some.
    """
    ordered = [place for place, each in enumerate(signals) if each.orders]
    return {
        place
        for place, each in enumerate(signals)
        if (hints := each.hints - ROLE_KINDS)
        and any(
            paragraphs[place].goes_with(paragraphs[other]) or len(hints | signals[other].orders) > 1
            for other in ordered[bisect_left(ordered, place - MAX_FAR) : bisect_right(ordered, place + MAX_FAR)]
        )
    }


# Kinds of orders that do not say themselves what is to be believed.
_BARE_KINDS = frozenset({"address", "output", "role"})
_INNER_END = re.compile(r"[.!?]\s|[。！？।؟]")


def _is_announcement(order: str, kinds: Set[str]) -> bool:
    """True where more of an order comes after its paragraph.

    Such a paragraph ends in a colon, is one short sentence that only announces an order, or is a long text about what
    the machine is to forget and to be.
    """
    order = order.strip()
    is_bare = len(order) <= _MAX_SHORT_ORDER_CHARS and not _INNER_END.search(order, 0, len(order) - 1)
    return (
        order.endswith(":")
        or (is_bare and bool(kinds) and ("override" in kinds or kinds <= _BARE_KINDS))
        or (len(order) >= _MIN_TALE_CHARS and not kinds.isdisjoint(ROLE_KINDS | {"override"}))
    )


def _find_role_play(signals: Sequence[_Signals]) -> set[int]:
    """Return the places of paragraphs that give the model a role to play, with those next to them that continue it.

    A few paragraphs between two of them are included.
    """
    found = {place for place, each in enumerate(signals) if each.orders & ROLE_KINDS}
    if not found:
        return found
    of_a_role = {place for place, each in enumerate(signals) if (each.orders | each.hints) & ROLE_KINDS}
    going_on = [place for place, each in enumerate(signals) if each.orders or each.hints or each.talk]
    for ordered in (going_on, going_on[::-1]):
        for before, place in pairwise(ordered):
            reach = 1 + MAX_ENCLOSED * ({before, place} <= of_a_role)
            if before in found and abs(place - before) <= reach:
                found |= set(range(min(before, place), max(before, place) + 1))
    return found


@dataclass(frozen=True)
class _Signals:
    """Signs of an order to a model in one paragraph."""

    orders: frozenset[str] = frozenset()
    """Kinds of the strong signs, and of weak ones that are enough together."""
    hints: frozenset[str] = frozenset()
    """Kinds of the weak signs."""
    talk: bool = False
    """True where the paragraph speaks to somebody of prompts and responses."""


_AFTER_NUMBER = re.compile(r"(?<=\d) (?=[A-Z])")
# A sentence may begin without a mark before it: after a number, and in a row of cells after a word.
_IN_CELL = re.compile(r"(?<=[a-zß-ÿ)]) (?=[A-ZÀ-ÞА-Я])")


def _read_signals(text: str) -> _Signals:
    plain = folded(_AFTER_NUMBER.sub(". ", text))
    signals = _match_phrases(plain)
    if signals.orders or signals.hints:
        # A report tells people of such orders: they are in quotation marks, and the words around them are about them.
        around = QUOTED.sub('""', plain)
        if around != plain:
            codes = _CLASSES.encode(around)
            outside = _match_phrases(around)
            is_order = outside.orders or outside.hints or len(codes) < MIN_REPORT_WORDS
            if not is_order and not _REPORTING.isdisjoint(codes):
                signals = _Signals()
    if not signals.orders:
        in_cells = [folded(_IN_CELL.sub(". ", text))] if CELL_GAP in text else []
        if beneath := _all_orders([*in_cells, *undisguised(text, plain)]):
            return replace(signals, orders=beneath)
    return signals


def _match_phrases(plain: str, *, mirror: bool = True) -> _Signals:
    codes = _CLASSES.encode(plain)
    present = frozenset(codes)
    if mirror and not present.isdisjoint(_MIRRORED):
        return _Signals(_all_orders(mirrored(plain)))
    orders: set[str] = set()
    # The search for marks of a prompt's parts is slow, so it runs only where one of their signs is there.
    may_have_role = "<" in plain or "[" in plain or "##" in plain or not present.isdisjoint(_ROLE_NAMES)
    if may_have_role and ROLE_MARK.search(plain):
        orders.add("role")
    if FENCED_ORDER.search(plain):
        orders.add("override")
    if not plain.isascii() and ELSEWHERE.search(unicodedata.normalize("NFC", QUOTED.sub("", plain) or plain)):
        orders.add("override")
    strong_signs, weak_signs = (
        dict.fromkeys(sign for character in present & by_word.keys() for sign in by_word[character])
        for by_word in (_STRONG, _WEAK)
    )
    orders |= {sign.kind for sign in strong_signs if sign.find(codes, present)}
    weak = [(place, sign.kind) for sign in weak_signs for place in sign.find(codes, present)]
    # Weak signs of two kinds count where they stand close to each other.
    last: dict[str, int] = {}
    for place, kind in sorted(weak):
        for other, before in last.items():
            if place - before <= MAX_WORDS_BETWEEN and _are_enough({kind, other}):
                orders |= {kind, other}
        last[kind] = place
    talk = not (present.isdisjoint(_TALK) or present.isdisjoint(_YOU))
    return _Signals(frozenset(orders), frozenset(kind for _, kind in weak), talk)


def _all_orders(readings: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(_match_phrases(plain, mirror=False).orders for plain in readings))


def _are_enough(kinds: Set[str]) -> bool:
    """Return whether weak signs of these kinds are enough; those of a role to play count with each other only."""
    return len(kinds - ROLE_KINDS) > 1 or len(kinds & ROLE_KINDS) > 1


# Signs, compiled

_CLASSES = WordClasses(LEXICON, GROUPS, COMMON)
_MIRRORED = _CLASSES.members("BACKWARDS|ROTATED")
_ROLE_NAMES = _CLASSES.members("ROLE")
_TALK = _CLASSES.members("TALK")
_YOU = _CLASSES.members("YOU|YOUR")
_REPORTING = _CLASSES.members("REPORTED")


@dataclass(frozen=True, eq=False)
class _Sign:
    kind: str
    phrase: Phrase
    unless: frozenset[str]

    def find(self, codes: str, present: frozenset[str]) -> list[int]:
        found = self.phrase.find(codes, present)
        if not found or self.unless.isdisjoint(present):
            return found
        return [place for place in found if self.unless.isdisjoint(sentence_around(codes, place))]


def _by_rarest_word(cues: Iterable[Cue]) -> dict[str, list[_Sign]]:
    """Return the signs to look for by each character of an encoded text."""
    found: dict[str, list[_Sign]] = {}
    for cue in cues:
        unless = _CLASSES.members(cue.unless) if cue.unless else frozenset[str]()
        sign = _Sign(cue.kind, _CLASSES.phrase(cue.phrase), unless)
        for character in sign.phrase.needs[0]:
            found.setdefault(character, []).append(sign)
    return found


_STRONG, _WEAK = _by_rarest_word(STRONG), _by_rarest_word(WEAK)
