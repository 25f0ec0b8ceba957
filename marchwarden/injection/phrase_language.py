"""Text as a string of word classes, one character a word, and phrases over it.

A lexicon says of which classes a word is ("ignore" is a DROP). A phrase is a row of classes that follow each other:

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
_MARKS |= dict.fromkeys("/\\_&+=%$@^~<)", "/")  # nothing begins after these
_OTHER_WORD, _OTHER_MARK, _SENTENCE_END = "x", "-", "."
_FIRST_CODE = 0x4E00
"""From here on, a character stands for the words that are of one and the same set of classes."""
_IN_PHRASES = {".": ".", ":": ":", ",": ",", "*": "\\-"}
_START = r"(?:^|[.:\-]){SOFT}{,4}"
_CLAUSE = r"(?:(?:^|[.:\-,]|{AND}){SOFT}{,4}|{YOU}{MUST}{,3}{TO}?{SOFT}?|{SOFT})"
_GAP = re.compile(r"(\.\.|~)(\d+)")


@dataclass(frozen=True)
class Phrase:
    pattern: re.Pattern[str]
    needs: tuple[frozenset[str], ...]
    """It can only be found where there is one of each of these characters; the rarest first."""

    def find(self, codes: str, present: frozenset[str]) -> list[int]:
        """Where in an encoded text it ends; `present` are the text's characters."""
        for need in self.needs:
            if present.isdisjoint(need):
                return []
        return [found.end() - 1 for found in self.pattern.finditer(codes)]


class WordClasses:
    def __init__(self, lexicon: Mapping[str, str], groups: Mapping[str, tuple[str, ...]], common: str = "") -> None:
        """`lexicon`: the words of each class, `ignor{e,ez}` for two that begin alike; another class's name is its
        words. `groups`: names for short phrases that may stand in for each other. `common`: classes that any text has
        words of, the commonest last."""
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
        """A character for each word and mark of a text in lower case; its line ends count as blanks."""
        known = self._codes
        return "".join([known[chunk] if chunk in known else self._unknown(chunk) for chunk in text.split()])

    def _unknown(self, chunk: str) -> str:
        """The characters of what stands between two blanks and is no word of the lexicon."""
        if chunk.isalpha():
            return _OTHER_WORD
        word, mark = chunk[:-1], chunk[-1]
        if mark in _MARKS and word.isalpha():
            return self._codes.get(word, _OTHER_WORD) + _MARKS[mark]
        return "".join([self._part(part) for part in _TOKEN.findall(chunk)])

    def _part(self, token: str) -> str:
        if token in self._codes:
            return self._codes[token]
        if not token[0].isalnum():
            return _OTHER_MARK
        if "." in token:
            return self._members["DOMAIN"] if token.rpartition(".")[2].isalpha() else _OTHER_WORD
        return "".join(self._codes.get(part, _OTHER_WORD) for part in token.split("-"))

    def members(self, names: str) -> frozenset[str]:
        """The characters of classes, `|` between them."""
        return frozenset("".join(self._members[name] for name in names.split("|")))

    def phrase(self, text: str) -> Phrase:
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
    """The sentence of an encoded text that a place is in."""
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
