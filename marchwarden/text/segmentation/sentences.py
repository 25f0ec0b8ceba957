"""Sentences of a text in any language: find the marks that may end one, and judge each by the text around it.

Own code around sentencex, which decides about abbreviations: alone it takes quadratic time over quotations, and cuts
within lists, ordinal numbers and quotations. evals/reading/sentences.py measures both.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import regex

from marchwarden.text.ranking import guess_language
from marchwarden.text.segmentation.abbreviations import ORDINAL_DOT, main_language
from marchwarden.text.segmentation.full_stops import BULLET, full_stop_ends, library_ends
from marchwarden.text.segmentation.sentence_marks import CJK, SEEN, Mark, between_words
from marchwarden.text.stop_words import is_stop_word

Span: TypeAlias = tuple[int, int]

# Characters by which the language of a text is recognised. A guess.
_SAMPLE_CHARS = 2_000
# Characters up to which a quotation or bracket is not divided. A guess.
_MAX_KEPT_CHARS = 300

_QUOTES = "\"'”’“‘»«›‹」』｣"
_CLOSERS = r"(?:\s?»|[“‘«‹](?!\w)|[\"'”’»›」』｣)\]}】〉》）］〕])"
_NOTE = r"(?:\s?\[\^?(?:\d{1,4}|\p{Ll}{1,2})\](?::\d+(?:[–-]\d+)?)?|[¹²³⁴⁵⁶⁷⁸⁹⁰])"
# Marks that end a sentence in one script only.
_BORROWED = r"(?<=\p{Devanagari}\s?)\||(?<=\p{Armenian}[\p{Pe}\p{Pf}.…]*):|(?<=\p{Greek});"
_MARK = regex.compile(
    rf"(?P<signs>(?:[\p{{STerm}}…‥]|{_BORROWED})+(?:\s[.!?…](?!\S))*)"
    rf"(?P<closed>{_CLOSERS}*)(?P<notes>{_NOTE}*)(?P<blank>\s*)|(?P<blank>\n\s*\n\s*)"
)
_PAIRS = ("“”", "«»", "»«", "「」", "『』", "（）", "《》", "【】", "()")
_TOGETHER = regex.compile(
    "|".join(rf"[{pair[0]}][^{pair}]{{1,{_MAX_KEPT_CHARS}}}[{pair[1]}]" for pair in _PAIRS)
    + rf"|„[^„“”]{{1,{_MAX_KEPT_CHARS}}}[“”]|(?<!\S)”(?=\S)[^“”]{{1,{_MAX_KEPT_CHARS}}}”"
    + rf"|(?<!\w)\"(?=\S)[^\"]{{1,{_MAX_KEPT_CHARS}}}(?<=\S)\"(?!\w)"
)
_ITEM = re.compile(
    rf"(?<!\S)(?:(?:{BULLET}[ \t]*)?[(\[]?(?P<count>\d{{1,3}}|[^\W\d_])(?P<sign>[.)\]])[.)]?\s+(?=\S)|{BULLET})"
)
_FRESH = re.compile(r"(?:^|\n|[.!?:]\s)\s*$")


def sentences(text: str, language: str | None = None) -> list[Span]:
    """Return the spans of the sentences of `text`, which cover it without gaps. A line end alone does not end one.

    `language` (a code, or a tag such as `de-AT`) is that of the text, guessed where it is None. Words in another
    script are read in that script's likeliest language. Short quotations and brackets stay whole.
    """
    code = main_language(language or guess_language(text[:_SAMPLE_CHARS]))
    kept = [match.span() for match in _TOGETHER.finditer(text)]
    spans: list[Span] = []
    for start, limit in pairwise([0, *_item_starts(text, code in ORDINAL_DOT), len(text)]):
        for match in _MARK.finditer(text, start, limit):
            at, end = match.span()
            if end >= limit:
                continue
            # A mark inside a short quotation or bracket, and not at its end, ends no sentence.
            around = bisect_left(kept, (at,)) - 1
            if around >= 0 and at < kept[around][1] and match.end("closed") < kept[around][1]:
                continue
            mark = Mark(
                text=text,
                start=start,
                end=end,
                before=text[max(start, at - SEEN) : at],
                after=text[end : end + SEEN],
                signs=match["signs"] or "",
                closed=match["closed"] or "",
                spaced=bool(match["blank"] or match["notes"]),
                page_language=code,
            )
            if _ends_sentence(mark):
                spans.append((start, end))
                start = end
        spans.append((start, limit))
    return spans


def _item_starts(text: str, ordinal_dot: bool) -> Iterator[int]:
    """Yield the starts of list items within one block: behind bullets, or counted, with full stops or without.

    Where "2." may stand for "second", a counted item begins after a full stop or line end only.
    """
    following = None
    for item in _ITEM.finditer(text):
        at, count = item.start(), (item["count"] or "").lower()
        fresh = bool(_FRESH.search(text[max(0, at - 8) : at]))
        if item["sign"] == "." and item["count"].isupper():
            continue  # an initial
        counted = count == following and (fresh or item["sign"] != "." or not ordinal_dot)
        if at > 0 and (counted or (fresh and not count)):
            yield at
        if counted or (fresh and count and (at == 0 or count in ("1", "a"))):
            following = str(int(count) + 1) if count.isdecimal() else chr(ord(count[0]) + 1)


# Rules

_UNSPACED = regex.compile(rf"[{CJK}]")
_PLAIN_WORD = regex.compile(r"(?<!\S)\p{Ll}{2,}$")
_GOES_ON = (",", ";", ":", "،", "؛", "、", "，", "；", "：", ")", "）")
_DASHES = ("—", "–", "-")
# Signs that end a sentence whatever follows, blanks or none.
_FINAL = regex.compile(r"[^.!?…‥\s]")
# A few words up to the end of the sentence, such as who said what was quoted.
_REPORT = regex.compile(r"[^\p{STerm}…,،，、;；:：]{1,20}(?:\p{STerm}|\Z)")
_JAPANESE = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
_JAPANESE_PARTICLE = regex.compile(
    r"と(?![きこもてんな])|って|の(?!ち)|は(?![いじ])|[がをなやへに]|も(?![うしちっの])|で(?![もすは])|だ(?![かが])|ほど|まで|みたい|[くぐ]らい|さえ"
)


def _ends_sentence(mark: Mark) -> bool:
    if not mark.signs:
        return True  # a blank line
    if not mark.before.strip() or mark.after.startswith(_GOES_ON) or _quotation_goes_on(mark):
        return False
    if mark.signs != "." and _FINAL.search(mark.signs):
        return mark.spaced or between_words(mark.text, mark.end)
    if not mark.spaced:
        if mark.signs[0] not in ".!?":
            return False
        if _UNSPACED.match(mark.before[-1:]):
            return True
        # A missing blank, between a plain word and the first word of a sentence: "so.Then", not "config.Load".
        follows = mark.after.startswith(tuple(f"{mark.next_word}{sign}" for sign in " '’"))
        if not mark.next_word[:1].isupper() or not follows:
            return False
        if len(mark.signs) > 1:
            return True
        is_plain = bool(_PLAIN_WORD.search(mark.before))
        return is_plain and (mark.signs != "." or is_stop_word(mark.next_word, mark.language))
    if "!" in mark.signs or "?" in mark.signs:
        if not mark.lower_follows:
            return True
        # Before a small letter: in careless writing they end a sentence too, but "Yahoo!" is a name, and so is the
        # sign in "a ! marks what is new". French sets a blank before the sign.
        is_named = mark.before[-1:].isspace() and mark.language != "fr"
        return not is_named and not mark.closed and not mark.after.startswith(_DASHES) and library_ends(mark)
    if mark.signs == ".":
        return full_stop_ends(mark)
    return not mark.lower_follows and not mark.before.endswith(("[", "("))


def _quotation_goes_on(mark: Mark) -> bool:
    """True where a sentence goes on after a quotation or bracket that has an end mark of its own: "Stop!" he
    cried."""
    if mark.closed.endswith((")", "）")) and not mark.spaced:
        return not mark.sentence_begins_with("(", "（")
    if not mark.closed.strip(")）]}】〉》］〕"):
        return False
    if _JAPANESE.search(mark.before + mark.after[:1]):
        return bool(_JAPANESE_PARTICLE.match(mark.after))
    first = mark.next_word[:1]
    if not first.isalpha() or first.isupper() or first.islower() or not mark.after.startswith(first):
        return first.islower()
    return mark.sentence_begins_with(*_QUOTES, "„", "「", "『") and bool(_REPORT.match(mark.after))
