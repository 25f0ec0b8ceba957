"""Rows of tables that a question names by the values of their cells: "Which engineers work in Bern or Basel?"

A relevance by shared words finds the likeliest rows. This finds all rows that a question means, or says that its
words don't tell. Values of one column are alternatives, and those of several columns hold together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from marchwarden.evidence.asking.telling_words import VAGUE_TERMS, names_in
from marchwarden.observations import Passage
from marchwarden.text.ranking import guess_language, terms, terms_of

# Share of a cell's words that a question holds at least where it means the cell, but for names. A guess: a note of
# ten words that happens to hold one of the question is not meant by it.
_MEANT = 0.5
# Share of the question's words that the rows, the names of columns and the titles hold at least. A guess.
_EXPLAINED = 0.5
# Words after which another value is meant again: "not in Bern but in Basel".
_BUT = r"\b(?:but|sondern|mais|sino)\b"
# A word that turns the value after it round, with at most so many words between. A guess. Short words of capitals
# are names: "No One", "Ni".
_NOT = re.compile(
    r"\b(?:(?:not|nicht)(?! (?:only|just|nur)\b)|never|neither|nor|except|excluding|without|outside|"
    r"besides|other than|apart from|rather than|instead of|(?:all|any\w*|every\w*) but|\w+n['’]t|"
    r"kein\w*|außer|excepto|(?-i:no|nie|ohne|pas|sauf|sans|ni|salvo|sin|tranne|senza))\W+"
    rf"(?:(?!{_BUT})\w+\W+){{0,3}}$",
    re.I,
)
# A comparison: no row is named by a number after it, and all rows count for what stands before.
_COMPARED = re.compile(
    r"\b(?:(?:more|less|fewer|greater|higher|lower|larger|smaller|older|younger|longer|shorter|earlier|later|better) "
    r"than|at (?:least|most)|over|under|above|below|before|after|since|until|between)\W+(?:\w+\W+){0,3}?[^\s\w]*\d",
    re.I,
)
# A word in capitals that is a stop word in small letters: IT, US.
_CAPITALS = re.compile(r"\b[A-Z]{2,4}\b")
_POLITE = re.compile(r"\b(?:Mrs?|Ms|Dr|Prof|Professor)\b\.?\s*")
_WORD = re.compile(r"[\w.,'’:/-]*\w")


@dataclass(frozen=True)
class _Row:
    passages: tuple[Passage, ...]
    values: tuple[tuple[str, frozenset[str]], ...]
    """Name of the column and terms of each cell. A column without a name has its number."""


@dataclass(frozen=True)
class _Mention:
    """Words of a question, side by side, that stand together in cells of one column."""

    start: int
    terms: tuple[str, ...]
    column: str


# By each term, the different cells that hold it, with the names of their columns, in the order of the rows.
_Cells: TypeAlias = dict[str, list[tuple[str, frozenset[str]]]]


class _NoSuchThing(Exception):
    """A question is about something that no row is about."""


class TableRows:
    """Rows of the tables among passages, in their order."""

    def __init__(self, passages: Iterable[Passage], title: str) -> None:
        self._title = title
        grouped: list[list[Passage]] = []
        for each in passages:
            if not each.cells:
                continue
            if grouped and each.row and grouped[-1][0].row == each.row:
                grouped[-1].append(each)
            else:
                grouped.append([each])
        self.rows = [tuple(each) for each in grouped]
        self._read: dict[str, tuple[list[_Row], _Cells]] = {}

    def named(self, question: str) -> list[tuple[Passage, ...]] | None:
        """Return the rows that a question means, each as its passages; None where its words don't tell them.

        An empty list: it names values of several columns that no row holds together, or a thing that no row is about.
        """
        if len(self.rows) < 2 or _COMPARED.search(question):
            return None
        question = _POLITE.sub("", question)
        # In the question's language: a table seldom tells its own, in which "Hans" may be a stop word.
        language = guess_language(question)
        rows, cells = self._in(language)
        heads = {each.heading or "" for row in self.rows for each in row}
        names = {name for row in self.rows for each in row for name, _ in each.cells}
        of_columns = set(terms(" ".join(names), language))
        of_table = of_columns | set(terms(" ".join((self._title, *heads)), language))
        named = {term for name in names_in(question) for term in _terms(name, language)}
        try:
            mentions = _mentions(question, language, cells, of_table, named)
        except _NoSuchThing:
            return []
        if not mentions:
            return None
        matched = {term for each in mentions for term in each.terms}
        explained = matched | of_table
        asked = _terms(question, language) - VAGUE_TERMS
        if not named <= explained or len(asked & explained) < _EXPLAINED * len(asked):
            return None
        wanted: dict[str, list[frozenset[str]]] = defaultdict(list)
        unwanted: dict[str, list[frozenset[str]]] = defaultdict(list)
        for each, is_negated in zip(mentions, _negated(question, mentions), strict=True):
            (unwanted if is_negated else wanted)[each.column].append(frozenset(each.terms))
        chosen = [
            row
            for row in rows
            if all(_holds_one(row, *each) for each in wanted.items())
            and not any(_holds_one(row, *each) for each in unwanted.items())
        ]
        if len(chosen) == len(rows) > 1 and not any(self._is_whole(rows, each) for each in mentions):
            return None
        return [self._pieces(row, matched, asked) for row in chosen]

    def _in(self, language: str) -> tuple[list[_Row], _Cells]:
        if language not in self._read:
            values = [value for row in self.rows for each in row for _, value in each.cells]
            found = iter(zip(values, terms_of(values, language), strict=True))
            read = []
            for row in self.rows:
                cells = []
                for place, (name, _) in enumerate(cell for each in row for cell in each.cells):
                    value, words = next(found)
                    cells.append((name or str(place), frozenset(words) | _capitals(value)))
                read.append(_Row(row, tuple(cells)))
            holding: _Cells = defaultdict(list)
            for column, cell in dict.fromkeys(value for row in read for value in row.values):
                for term in cell:
                    holding[term].append((column, cell))
            self._read[language] = read, dict(holding)
        return self._read[language]

    def _is_whole(self, rows: Sequence[_Row], mention: _Mention) -> bool:
        """Return whether a mention is all that a cell says."""
        wanted = frozenset(mention.terms)
        return any(cell == wanted for row in rows for name, cell in row.values if name == mention.column)

    def _pieces(self, row: _Row, matched: set[str], asked: set[str]) -> tuple[Passage, ...]:
        """Return the row's passages; of one that is too long for a quote, those that bear on the question."""
        if len(row.passages) == 1:
            return row.passages
        said = [set(terms(each.text)) for each in row.passages]
        return tuple(each for place, each in enumerate(row.passages) if place == 0 or said[place] & (matched | asked))


def _mentions(question: str, language: str, cells: _Cells, of_table: set[str], named: set[str]) -> list[_Mention]:
    """Return the longest runs of words that stand together in a cell; none for words that no row holds.

    Raises _NoSuchThing where a name goes on with a word that no such cell holds: "Hans Muller", and the table has a
    Hans Weber and a Karl Muller.
    """
    # For each word: its term, and whether a row holds it. None for a word that says nothing here.
    told: list[tuple[int, str, bool] | None] = []
    end_before = 0
    for found in _WORD.finditer(question):
        told += [None] if question[end_before : found.start()].strip() else []  # a comma stands between two things
        end_before = found.end()
        said = terms(found.group(), language) or sorted(_capitals(found.group()))
        said = [term for term in said if term in named or term not in of_table | VAGUE_TERMS]
        told += [(found.start(), term, term in cells) for term in said if term in cells or term in named] or [None]
    mentions: list[_Mention] = []
    at = 0
    while at < len(told):
        column, end = None, len(told)
        while column is None and end > at:
            run = [each for each in told[at:end] if each and each[2]]
            if len(run) == end - at:
                words = tuple(term for _, term, _ in run)
                column = _column_of(cells, words, is_named=bool(named & set(words)))
            end -= column is None
        if column is None:
            at += 1
            continue
        run = [each for each in told[at:end] if each]
        mentions.append(_Mention(run[0][0], tuple(term for _, term, _ in run), column))
        around = [each for each in (told[at - 1] if at else None, told[end] if end < len(told) else None) if each]
        for _, term, is_held in around:
            is_name = term in named and run[0][1] in named and term not in of_table
            if is_name and (not is_held or _column_of(cells, (term,), is_named=True) == column):
                raise _NoSuchThing
        at = end
    return mentions


def _column_of(cells: _Cells, run: tuple[str, ...], *, is_named: bool) -> str | None:
    """Return the column in whose cells a run of words stands, the one that it says most of; None for none."""
    wanted = frozenset(run)
    shares: dict[str, int] = {}
    # Each cell of the run holds its rarest word, too.
    for column, cell in min((cells.get(term, []) for term in wanted), key=len):
        if wanted <= cell and (is_named or len(wanted) >= _MEANT * len(cell)):
            shares[column] = max(shares.get(column, 0), round(1000 * len(wanted) / len(cell)))
    return max(shares, key=shares.__getitem__, default=None)


def _negated(question: str, mentions: Sequence[_Mention]) -> list[bool]:
    """Return for each mention whether the question asks for others: "not in Bern or Basel", "Bern, but not Basel"."""
    negated: list[bool] = []
    before: _Mention | None = None
    for each in mentions:
        # A negation turns round the first value after it, and those of the same column that are listed with that.
        between = question[before.start if before else 0 : each.start]
        if question[each.start].isdigit():  # "no. 12" is a number, and not another one
            between = re.sub(r"\bno\W*$", "", between)
        is_listed = before is not None and before.column == each.column and not re.search(_BUT, between, re.I)
        negated.append(_NOT.search(between) is not None or (is_listed and negated[-1]))
        before = each
    return negated


def _holds_one(row: _Row, column: str, values: Sequence[frozenset[str]]) -> bool:
    """Return whether a row's cell in a column holds one of the values."""
    return any(value <= cell for name, cell in row.values if name == column for value in values)


def _terms(text: str, language: str) -> set[str]:
    return set(terms(text, language)) | _capitals(text)


def _capitals(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _CAPITALS.findall(text))
