"""Which passages of a page speak to a machine that reads it, not to people: they are no evidence, whatever they say.

A paragraph that gives an order to a language model is told by its words, in a dozen languages and under the usual
disguises; what stands in one block with it goes with it, since such a block often ends in a plain false statement.
What asks for something that the page is not about (off_topic.py) goes with what follows it. Titles are judged too.
What people write about such orders, and orders to people (recipes, manuals, exams), are left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from marchwarden.injection.lexicon import COMMON, LEXICON
from marchwarden.injection.obfuscation import folded, mirrored, undisguised
from marchwarden.injection.off_topic import errands
from marchwarden.injection.phrase_language import Phrase, WordClasses, sentence_around
from marchwarden.injection.phrases import ELSEWHERE, GROUPS, QUOTED, ROLE_KINDS, ROLE_MARK, STRONG, WEAK, Cue
from marchwarden.observations import Page, Passage, SearchHit

SPREAD = 600
"""Characters of a block, before and after an instruction, that go with it."""
NEAR = 60
"""Words between two weak signs that count together."""
ENCLOSED = 2
"""Paragraphs that say nothing of the kind between two that are part of one role to play."""
SOME_WORDS = 5
"""A text of fewer says nothing about what it quotes."""


def instructed(page: Page) -> frozenset[int]:
    """The numbers of the passages that speak to a machine, and of those in one block with them."""
    spans = _spans(page.text)
    return frozenset(
        passage.number
        for passage in page.passages
        if any(passage.start < end and start < passage.end for start, end in spans)
    )


def for_people(page: Page) -> list[Passage]:
    """The other passages: those that may be shown to a model, picked, and pointed from."""
    left_out = instructed(page)
    return [passage for passage in page.passages if passage.number not in left_out]


def speaks_to_a_machine(text: str) -> bool:
    """Whether a text that stands alone (a title, a snippet) gives an order to a machine."""
    return bool(_spans(text))


def hit_for_people(hit: SearchHit) -> SearchHit:
    """A hit as it may be shown and told: its address in place of a title that gives an order to a machine, and no
    snippet that does."""
    title = hit.url if speaks_to_a_machine(hit.title) else hit.title
    snippet = "" if speaks_to_a_machine(hit.snippet) else hit.snippet
    if speaks_to_a_machine(f"{title} - {snippet}"):
        title, snippet = hit.url, ""
    return replace(hit, title=title, snippet=snippet)


def page_for_people(page: Page) -> Page:
    """A page without a title that gives an order to a machine, or asks for what the page is not about."""
    if page.title is None:
        return page
    rest = [paragraph.text for paragraph in _paragraphs(page.text) if paragraph.text not in page.title]
    is_errand = 0 in errands([page.title, *rest], only=0)
    return replace(page, title=None) if is_errand or speaks_to_a_machine(page.title) else page


@lru_cache(maxsize=64)  # several stages ask for the same page
def _spans(text: str) -> tuple[tuple[int, int], ...]:
    paragraphs = _paragraphs(text)
    asking = errands([paragraph.text for paragraph in paragraphs])
    found = _spread(paragraphs, _speaking(paragraphs, asking.keys()))
    spans = [(paragraphs[place].start, paragraphs[place].end) for place in found]
    for place, (start, end) in asking.items():
        spans.append((paragraphs[place].start + start, paragraphs[place].start + end))
    return tuple(sorted(spans))


# Paragraphs

_LINE_END = re.compile(r"\n+")
_FULL_LINE = 50
_OPEN_END = re.compile(r"[\w,;–-]$")


@dataclass(frozen=True)
class _Paragraph:
    start: int
    end: int
    block: int
    """Paragraphs of one number have no blank line between them."""
    text: str


def _paragraphs(text: str) -> list[_Paragraph]:
    """What stands between line ends; a line that is wrapped goes on in the next one."""
    found: list[_Paragraph] = []
    start, block = 0, 0
    for gap in _LINE_END.finditer(text):
        if len(gap[0]) == 1 and _is_wrapped(text, start, gap.start()):
            continue
        found.append(_Paragraph(start, gap.start(), block, text[start : gap.start()]))
        start = gap.end()
        block += len(gap[0]) > 1
    found.append(_Paragraph(start, len(text), block, text[start:]))
    return found


def _is_wrapped(text: str, start: int, end: int) -> bool:
    """Whether the line that ends here stops within a sentence."""
    line = text[max(start, text.rfind("\n", 0, end) + 1) : end]
    goes_on = text[end + 1 : end + 2].islower()
    return goes_on or (len(line) >= _FULL_LINE and bool(_OPEN_END.search(line)))


def _spread(paragraphs: Sequence[_Paragraph], found: set[int]) -> set[int]:
    """With what stands near them in the same block."""
    reached = set(found)
    for place in found:
        for step in (-1, 1):
            other = place + step
            while 0 <= other < len(paragraphs) and _go_together(paragraphs[place], paragraphs[other]):
                reached.add(other)
                other += step
    return reached


def _go_together(one: _Paragraph, other: _Paragraph) -> bool:
    return one.block == other.block and max(other.start - one.end, one.start - other.end) <= SPREAD


# What they say


def _speaking(paragraphs: Sequence[_Paragraph], with_errand: Set[int]) -> set[int]:
    """The paragraphs that give an order to a machine, by their places; an errand before or in one is a weak sign."""
    heard = [_Heard.of(paragraph.text) for paragraph in paragraphs]
    kinds = [
        each.orders | each.hints if {place, place - 1} & with_errand else each.orders
        for place, each in enumerate(heard)
    ]
    found = {place for place, ordered in enumerate(kinds) if ordered}
    for place in range(len(heard) - 1):
        one, next_one = heard[place].hints, heard[place + 1].hints
        in_one_block = paragraphs[place].block == paragraphs[place + 1].block
        if in_one_block and one and next_one and _tell_together(one | next_one):
            found |= {place, place + 1}
    if found:  # a page that has done it once is believed less
        found |= {place for place, each in enumerate(heard) if each.hints - ROLE_KINDS}
    found |= _played_on(heard)
    announced = {place + 1 for place in found if _announces(paragraphs[place].text, kinds[place])}
    return {place for place in found | announced if place < len(paragraphs)}


def _announces(order: str, kinds: Set[str]) -> bool:
    """Whether more of an order comes after its paragraph: it ends in a colon, says in one short sentence no more than
    that it is one, or is a long tale of what the machine is to forget and to be."""
    order = order.strip()
    is_bare = len(order) <= _SHORT_ORDER and not _INNER_END.search(order, 0, len(order) - 1)
    return (
        order.endswith(":")
        or (is_bare and bool(kinds) and ("override" in kinds or kinds <= _BARE_KINDS))
        or (len(order) >= _TALE and not kinds.isdisjoint(ROLE_KINDS | {"override"}))
    )


_BARE_KINDS = frozenset({"address", "output", "role"})
"""Orders that do not say themselves what is to be believed."""
_TALE = 300
_SHORT_ORDER = 160
_INNER_END = re.compile(r"[.!?]\s|[。！？।؟]")


def _played_on(heard: Sequence[_Heard]) -> set[int]:
    """Where a paragraph gives the machine a role to play: those next to it that go on about that, and the few that
    stand between two of them."""
    found = {place for place, each in enumerate(heard) if each.orders & ROLE_KINDS}
    if not found:
        return found
    of_a_role = {place for place, each in enumerate(heard) if (each.orders | each.hints) & ROLE_KINDS}
    going_on = [place for place, each in enumerate(heard) if each.orders or each.hints or each.talk]
    for ordered in (going_on, going_on[::-1]):
        for before, place in pairwise(ordered):
            reach = 1 + ENCLOSED * ({before, place} <= of_a_role)
            if before in found and abs(place - before) <= reach:
                found |= set(range(min(before, place), max(before, place) + 1))
    return found


@dataclass(frozen=True)
class _Heard:
    """What a paragraph gives away."""

    orders: frozenset[str] = frozenset()
    """The kinds of its strong signs, and of weak ones that are enough together."""
    hints: frozenset[str] = frozenset()
    """The kinds of its weak signs."""
    talk: bool = False
    """Whether it speaks to somebody of prompts and responses."""

    @classmethod
    def of(cls, text: str) -> _Heard:
        plain = folded(_AFTER_NUMBER.sub(". ", text))
        heard = _listen(plain)
        if (heard.orders or heard.hints) and _is_report(plain):
            heard = _NOTHING
        in_cells = [folded(_IN_CELL.sub(". ", text))] if " | " in text else []
        if not heard.orders and (beneath := _all_orders([*in_cells, *undisguised(text, plain)])):
            return replace(heard, orders=beneath)
        return heard


_NOTHING = _Heard()
_AFTER_NUMBER = re.compile(r"(?<=\d) (?=[A-Z])")
_IN_CELL = re.compile(r"(?<=[a-zß-ÿ)]) (?=[A-ZÀ-ÞА-Я])")
"""Where a sentence may begin without a mark before it: after a number, and in a row of cells after a word."""


def _listen(plain: str, *, mirror: bool = True) -> _Heard:
    codes = _CLASSES.encode(plain)
    present = frozenset(codes)
    if mirror and not present.isdisjoint(_MIRRORED):
        return _Heard(_all_orders(mirrored(plain)))
    role = {"role"} if _sets_off_a_role(plain, present) else set()
    if not plain.isascii() and ELSEWHERE.search(unicodedata.normalize("NFC", QUOTED.sub("", plain) or plain)):
        role.add("override")
    strong = {sign.kind for sign in _worth_a_look(present, _STRONG) if sign.find(codes, present)}
    weak = [(place, sign.kind) for sign in _worth_a_look(present, _WEAK) for place in sign.find(codes, present)]
    talk = not (present.isdisjoint(_TALK) or present.isdisjoint(_YOU))
    return _Heard(frozenset(role | strong | _near_each_other(weak)), frozenset(kind for _, kind in weak), talk)


def _all_orders(readings: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(_listen(plain, mirror=False).orders for plain in readings))


def _near_each_other(weak: list[tuple[int, str]]) -> set[str]:
    """The kinds of which two that tell something together stand close to each other."""
    found: set[str] = set()
    last: dict[str, int] = {}
    for place, kind in sorted(weak):
        for other, before in last.items():
            if place - before <= NEAR and _tell_together({kind, other}):
                found |= {kind, other}
        last[kind] = place
    return found


def _tell_together(kinds: Set[str]) -> bool:
    """Whether signs of these kinds are enough: those of a role to put on go with each other only."""
    return len(kinds - ROLE_KINDS) > 1 or len(kinds & ROLE_KINDS) > 1


def _is_report(plain: str) -> bool:
    """Whether a paragraph tells people of such orders: they are in quotation marks, and words about them around."""
    around = QUOTED.sub('""', plain)
    if around == plain:
        return False
    codes = _CLASSES.encode(around)
    heard = _listen(around)
    return not (heard.orders or heard.hints or len(codes) < SOME_WORDS or _REPORTING.isdisjoint(codes))


def _sets_off_a_role(plain: str, present: frozenset[str]) -> bool:
    may = "<" in plain or "[" in plain or "##" in plain or not present.isdisjoint(_ROLE_NAMES)
    return may and bool(ROLE_MARK.search(plain))


# Their signs, ready for use

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
    """The signs that each character of an encoded text makes worth a look."""
    found: dict[str, list[_Sign]] = {}
    for cue in cues:
        unless = _CLASSES.members(cue.unless) if cue.unless else frozenset[str]()
        sign = _Sign(cue.kind, _CLASSES.phrase(cue.phrase), unless)
        for character in sign.phrase.needs[0]:
            found.setdefault(character, []).append(sign)
    return found


_STRONG, _WEAK = _by_rarest_word(STRONG), _by_rarest_word(WEAK)


def _worth_a_look(present: frozenset[str], by_word: Mapping[str, list[_Sign]]) -> dict[_Sign, None]:
    return dict.fromkeys(sign for character in present & by_word.keys() for sign in by_word[character])
