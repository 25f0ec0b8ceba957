"""Text as a string of word classes, one character a word, and phrases over it.

Own code beside spaCy's matcher: it needs a pipeline for each language.

A lexicon lists the words of each class ("ignore" is a DROP). A phrase is a row of classes that follow each other:

    > DROP ..9 EARLIER|YOUR ..2 ORDER

`..n` is up to n words of the same sentence (`~n` of any), `?` makes a part optional, `-X` says that no X comes next,
`.`, `:` and `,` are marks, and `*` is any other one. `^` is where a sentence begins, or what a colon, a bracket or a
quotation mark opens; `>` is a clause besides: after a comma, an AND, or one that says what YOU MUST. Words of the
class SOFT ("please") may stand between such a beginning and what follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from marchwarden.injection.obfuscation import folded

_TOKEN = re.compile(r"[^\W\d_]+(?:[-.][^\W_]+)*|\d+(?:[.,:/]\d+)*|[^\s\w]")
_MARKS = dict.fromkeys(".!?…。！？", ".") | dict.fromkeys(":;：", ":") | {",": ",", "，": ",", "'": "", "’": ""}
# No sentence or clause begins after these.
_MARKS |= dict.fromkeys("/\\_&+=%$@^~<)", "/")
_OTHER_WORD, _OTHER_MARK, _SENTENCE_END = "x", "-", "."
# Each character from here on (the start of the Han block) stands for the words of one and the same set of classes.
_FIRST_CODE = 0x4E00
_IN_PHRASES = {".": ".", ":": ":", ",": ",", "*": "\\-"}
_START = r"(?:^|[.:\-]){SOFT}{,4}"
_CLAUSE = r"(?:(?:^|[.:\-,]|{AND}){SOFT}{,4}|{YOU}{MUST}{,3}{TO}?{SOFT}?|{SOFT})"
_GAP = re.compile(r"(\.\.|~)(\d+)")


@dataclass(frozen=True)
class Phrase:
    pattern: re.Pattern[str]
    needs: tuple[frozenset[str], ...]
    """Sets of characters of which an encoded text must have one each; the rarest set first."""

    def find(self, codes: str, present: frozenset[str]) -> list[int]:
        """Return the places in an encoded text where the phrase ends; `present` are the text's characters."""
        for need in self.needs:
            if present.isdisjoint(need):
                return []
        return [found.end() - 1 for found in self.pattern.finditer(codes)]


class WordClasses:
    def __init__(self, lexicon: Mapping[str, str], groups: Mapping[str, tuple[str, ...]], common: str = "") -> None:
        """Compile the classes of words.

        `lexicon` has the words of each class: `ignor{e,ez}` are two words that begin alike, and the name of another
        class stands for its words. `groups` are names for short phrases that mean the same. `common` are the classes
        that any text has words of, the commonest last.
        """
        classes: dict[str, set[str]] = {}
        for name in lexicon:
            for word in _words(lexicon, name):
                classes.setdefault(word, set()).add(name)
        kinds = sorted({tuple(sorted(names)) for names in classes.values()})
        codes = {kind: chr(_FIRST_CODE + number) for number, kind in enumerate(kinds)}
        self._codes = {word: codes[tuple(sorted(names))] for word, names in classes.items()} | _MARKS
        self._members = {name: "".join(code for kind, code in codes.items() if name in kind) for name in lexicon}
        self._groups = groups
        self._commonness = {name: place for place, name in enumerate(common.split(), start=1)}

    def encode(self, text: str) -> str:
        """Return a character for each word and mark of a text in lower case; its line ends count as blanks."""
        known = self._codes
        return "".join([known[chunk] if chunk in known else self._encode_chunk(chunk) for chunk in text.split()])

    def _encode_chunk(self, chunk: str) -> str:
        """Encode a text between two blanks that is no word of the lexicon."""
        if chunk.isalpha():
            return _OTHER_WORD
        word, mark = chunk[:-1], chunk[-1]
        if mark in _MARKS and word.isalpha():
            return self._codes.get(word, _OTHER_WORD) + _MARKS[mark]
        found = ""
        for token in _TOKEN.findall(chunk):
            if token in self._codes:
                found += self._codes[token]
            elif not token[0].isalnum():
                found += _OTHER_MARK
            elif "." in token:
                found += self._members["DOMAIN"] if token.rpartition(".")[2].isalpha() else _OTHER_WORD
            else:
                found += "".join(self._codes.get(part, _OTHER_WORD) for part in token.split("-"))
        return found

    def members(self, names: str) -> frozenset[str]:
        """Return the characters of classes, given with `|` between them."""
        return frozenset("".join(self._members[name] for name in names.split("|")))

    def phrase(self, text: str) -> Phrase:
        """Compile a phrase over the classes."""
        needs: list[tuple[int, frozenset[str]]] = []
        pattern = ""
        for part in text.split():
            optional, part = part.endswith("?"), part.removesuffix("?")
            if part in ("^", ">"):
                pattern += re.sub(
                    r"\{([A-Z]+)\}", lambda name: self._any(name[1]), _START if part == "^" else _CLAUSE
                )
            elif gap := _GAP.fullmatch(part):
                pattern += rf"{'[^.]' if gap[1] == '..' else '.'}{{,{gap[2]}}}?"
            elif part in self._groups:
                alternatives = [self.phrase(each) for each in self._groups[part]]
                pattern += f"(?:{'|'.join(each.pattern.pattern for each in alternatives)})"
                needs.append((0, frozenset().union(*(each.needs[0] for each in alternatives))))
            elif part.startswith("-"):
                pattern += f"(?!{self._any(part[1:])})"
            else:
                pattern += self._any(part) + "?" * optional
                if not optional and not set(part.split("|")) & _IN_PHRASES.keys():
                    rarity = max(self._commonness.get(name, 0) for name in part.split("|"))
                    needs.append((rarity, self.members(part)))
        return Phrase(re.compile(pattern), tuple(need for _, need in sorted(needs, key=lambda each: each[0])))

    def _any(self, names: str) -> str:
        return f"[{''.join(_IN_PHRASES.get(name) or self._members[name] for name in names.split('|'))}]"


def sentence_around(codes: str, place: int) -> str:
    """Return the sentence of an encoded text that holds `place`."""
    end = codes.find(_SENTENCE_END, place)
    return codes[codes.rfind(_SENTENCE_END, 0, place) + 1 : len(codes) if end < 0 else end]


def _words(lexicon: Mapping[str, str], name: str) -> Iterable[str]:
    for word in lexicon[name].split():
        stem, brace, endings = word.partition("{")
        if word in lexicon:
            yield from _words(lexicon, word)
        elif brace:
            yield from (folded(stem + ending) for ending in endings.rstrip("}").split(","))
        else:
            yield folded(word)
