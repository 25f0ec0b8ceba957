"""Link the words of a question to the columns and values of one table. Values may be named in part."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from marchwarden.sources.database.planning.everyday.word_stems import stem_of, without_accents
from marchwarden.sources.database.planning.question_links import Token, tokens_within
from marchwarden.sources.database.planning.question_words import FILLERS
from marchwarden.sources.database.planning.single_table.table_words import LIGHT, SAME, SIGNALS, SPELLED, SUMS
from marchwarden.sources.database.planning.single_table.typed_cells import Kind, read_cells
from marchwarden.sources.database.schema import Column, Table, words_of_name

# Words of a value that are looked for, and values that one run of words may name in part. Guesses.
_MAX_RUN, _MOST_VALUES = 10, 60
# Values without a number that a column of numbers may have: `n/a`, a dash. A guess.
_MOST_OTHERS = 8
_PLAIN_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?P<unit>)")
# With a sign or an abbreviation of its unit, and a remark in brackets: `64.28%`, `73 kg (161 lb)`.
_NUMBER_AND_UNIT = re.compile(
    r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)? ?(?P<unit>%|[a-zA-Z²³]{0,7})(?:\s*(?:\([^()]*\)|\[[^\[\]]*\]|[†‡*#]))*"
)


@dataclass(frozen=True)
class Span:
    """Words of the question by their places, the last one excluded."""

    start: int
    end: int


def places_in(spans: Iterable[Span]) -> set[int]:
    """Return the places of all words of the spans."""
    return {place for span in spans for place in range(span.start, span.end)}


@dataclass(frozen=True)
class Named:
    """A run of words that names a column, or values of columns."""

    span: Span
    columns: tuple[Column, ...] = ()
    is_whole: bool = True
    """True where the words are all of a column's name, or all of a value."""


@dataclass(frozen=True)
class Match:
    """Values of one column that a run of words names."""

    span: Span
    column: Column
    values: tuple[str, ...]
    is_whole: bool
    wider: tuple[str, ...] = ()
    """Values that hold the words among others, these values included."""


class TableQuestion:
    """A question over one table, with its links."""

    def __init__(self, question: str, table: Table, dialect: str) -> None:
        self.question = question
        self.table = table
        self.dialect = dialect
        self.tokens: list[Token] = tokens_within(question)
        self.words = [without_accents(token.lower) for token in self.tokens]
        self.text = " ".join(self.words)

    @cached_property
    def starts(self) -> list[int]:
        """Place of each word in `text`."""
        starts, at = [], 0
        for word in self.words:
            starts.append(at)
            at += len(word) + 1
        return starts

    def place_of(self, offset: int) -> int:
        """Return the number of the word at an offset of `text`."""
        return max(number for number, start in enumerate(self.starts) if start <= offset)

    def search(self, pattern: re.Pattern[str], start: int = 0) -> tuple[re.Match[str], Span] | None:
        found = pattern.search(self.text, self.starts[start] if start < len(self.starts) else len(self.text))
        if not found or found.end() == found.start():
            return None
        return found, self.span_of(found)

    def span_of(self, found: re.Match[str]) -> Span:
        """Return the words that a match in `text` touches."""
        return Span(self.place_of(found.start()), self.place_of(found.end() - 1) + 1)

    @cached_property
    def headers(self) -> dict[tuple[str, ...], list[Column]]:
        found: dict[tuple[str, ...], list[Column]] = defaultdict(list)
        for column in self.table.columns:
            stems = header_stems(column)
            for first in range(len(stems)):
                for last in range(first + 1, len(stems) + 1):
                    found[stems[first:last]].append(column)
        # `country` for a column of nations, unless a column has that name itself.
        for said, others in SAME.items():
            if (said,) not in found:
                found[said,] = [column for column in self.table.columns if set(header_stems(column)) & set(others)]
        return {stems: columns for stems, columns in found.items() if columns}

    @cached_property
    def columns(self) -> list[Named]:
        """Runs of words that name columns, the longest ones, from left to right."""
        found, at = [], 0
        while at < len(self.tokens):
            for length in range(min(6, len(self.tokens) - at), 0, -1):
                run = self.tokens[at : at + length]
                stems = tuple(token.stem for token in run)
                named = self.headers.get(stems, [])
                if named and not (length == 1 and run[0].lower in _NO_HEADER):
                    whole = [column for column in named if header_stems(column) == stems]
                    found.append(Named(Span(at, at + length), tuple(whole or named), bool(whole)))
                    at += length
                    break
            else:
                at += 1
        return found

    @cached_property
    def matches(self) -> list[Match]:
        """Values that the question names: the longest runs of words, from left to right, in all their columns."""
        index: dict[str, list[tuple[Column, str, tuple[str, ...]]]] = defaultdict(list)
        # Most values hold no word of the question, and are passed over unread: a table may have 100,000.
        said = {word for word in self.words if len(word) > 1 and word not in _NO_VALUE}
        for column in self.table.columns:
            for value in column.values:
                lowered = without_accents(value.lower().replace("’", "'"))
                if not any(word in lowered for word in said):
                    continue
                words = tuple(without_accents(token.lower) for token in tokens_within(value))
                for word in set(words):
                    index[word].append((column, value, words))
        found: list[Match] = []
        at = 0
        while at < len(self.words):
            length = self._match_at(at, index, found)
            at += max(1, length)
        return found

    def _match_at(
        self, at: int, index: dict[str, list[tuple[Column, str, tuple[str, ...]]]], found: list[Match]
    ) -> int:
        candidates = index.get(self.words[at], [])
        if not candidates and (found_names := self._match_people(at, found)):
            return found_names
        for length in range(min(_MAX_RUN, len(self.words) - at) if candidates else 0, 0, -1):
            run = tuple(self.words[at : at + length])
            if all(word in _NO_VALUE or len(word) < 2 for word in run):
                break
            by_column: dict[Column, list[str]] = defaultdict(list)
            whole: dict[Column, list[str]] = defaultdict(list)
            for column, value, words in candidates:
                if words == run:
                    whole[column].append(value)
                elif length <= len(words) and any(words[n : n + length] == run for n in range(len(words))):
                    by_column[column].append(value)
            if length == 1 and not whole and (run[0] in _NO_VALUE or len(run[0]) < 3 or self._is_header(at)):
                continue
            if length == 1 and whole and self._is_header(at):
                continue
            span = Span(at, at + length)
            matches = [
                Match(span, column, tuple(values), True, (*values, *by_column.get(column, ())))
                for column, values in whole.items()
            ]
            # A word that says what rows are is no part of a value: `how many buildings`, `the last building`.
            if not matches and not (length == 1 and at > 0 and self.words[at - 1] in _BEFORE_NOUNS):
                matches = [
                    Match(span, column, tuple(values), False, tuple(values))
                    for column, values in by_column.items()
                    if len(values) <= _MOST_VALUES
                ]
            if matches:
                found += matches
                return length
        return 0

    def _match_people(self, at: int, found: list[Match]) -> int:
        """Add the matches of a word for the people of a country that a cell names: `Canadian`, `Germans`."""
        word = _PEOPLE.fullmatch(self.words[at])
        if word is None:
            return 0
        root = word["root"]
        for column in self.table.columns:
            countries = [value for value in column.values if _country_in(value).startswith(root)]
            roots = {_country_in(value) for value in countries}
            if len(roots) == 1 and len(next(iter(roots))) <= len(root) + 3:
                found.append(Match(Span(at, at + 1), column, tuple(countries), True, tuple(countries)))
        return 1 if found and found[-1].span == Span(at, at + 1) else 0

    def _is_header(self, at: int) -> bool:
        return any(each.span.start <= at < each.span.end for each in self.columns)

    # Columns

    def named_in(self, start: int, end: int) -> list[Named]:
        return [each for each in self.columns if start <= each.span.start and each.span.end <= end]

    def column_by_words(self, words: Iterable[str]) -> Column | None:
        """Return the column whose name has the first of these words that any name has."""
        for word in words:
            stem = stem_of(word)
            own = [column for column in self.table.columns if stem in header_stems(column)]
            if own:
                return own[0]
        return None

    @cached_property
    def numeric_texts(self) -> dict[Column, tuple[str, ...]]:
        """Columns of text whose values begin with a number, of one unit; each with its values that hold none."""
        if self.dialect == "postgres":  # whose casts fail at the first other value
            return {}
        pattern = _NUMBER_AND_UNIT if self.dialect == "sqlite" else _PLAIN_NUMBER
        found = {}
        for column in self.table.columns:
            if column.is_number or not column.complete or not column.values:
                continue
            read = {value: pattern.fullmatch(value.strip()) for value in column.values}
            units = {match["unit"] for match in read.values() if match}
            others = tuple(value for value, match in read.items() if not match)
            if len(units) == 1 and len(others) <= min(_MOST_OTHERS, 0.2 * len(read)):
                found[column] = others
        return found

    @cached_property
    def typed(self) -> dict[Column, tuple[Kind, dict[str, float]]]:
        """Columns of text whose values are dates, times, amounts and the like, with the number of each value."""
        texts = [each for each in self.table.columns if not each.is_number and each.complete and each.values]
        read = {each: read_cells(each.name, each.values) for each in texts if each not in self.numeric_texts}
        return {column: found for column, found in read.items() if found is not None}

    def kind_of(self, column: Column) -> Kind | None:
        return self.typed[column][0] if column in self.typed else None

    def is_time(self, column: Column) -> bool:
        """Return whether a column holds years or days."""
        words = set(re.findall(r"[a-z]+", column.name.lower()))
        return self.kind_of(column) in ("date", "year") or (column.is_number and bool(words & _YEARS))

    @cached_property
    def time_column(self) -> Column | None:
        """The column that tells when: the only one of days or years, or the one that is named so."""
        own = [column for column in self.table.columns if self.is_time(column)]
        named = [column for column in own if set(re.findall(r"[a-z]+", column.name.lower())) & {*_YEARS, "date"}]
        return own[0] if len(own) == 1 else named[0] if named else None

    def is_measure(self, column: Column) -> bool:
        return column.is_number or column in self.numeric_texts or column in self.typed

    @cached_property
    def name_column(self) -> Column | None:
        """The column that tells rows apart: the first one of text with nearly as many values as any."""
        texts = [column for column in self.table.columns if column.values and not self.is_measure(column)]
        most = max((len(column.values) for column in texts), default=0)
        return next((column for column in texts if len(column.values) >= 0.8 * most), None)

    @cached_property
    def sum_rows(self) -> tuple[Column, tuple[str, ...]] | None:
        """The column and values of rows that sum up the others."""
        for column in self.table.columns:
            sums = tuple(value for value in column.values if value.strip().casefold() in SUMS)
            if sums and len(sums) < len(column.values):
                return column, sums
        return None

    def left_over(self, used: Sequence[Span], *, is_strict: bool = False) -> list[str]:
        """Return the words that say something and that no span uses.

        With `is_strict`, the rows have the name of the table, or of the column that tells them apart; and a word
        such as `earned` says something.
        """
        places = places_in(used)
        own = {stem_of(word) for word in words_of_name(self.table.name)}
        if is_strict:
            places |= {place for place, token in enumerate(self.tokens) if token.stem in own}
            places |= places_in(each.span for each in self.columns if self.name_column in each.columns)
        light = LIGHT - _OF_MONEY if is_strict else LIGHT
        return [
            word
            for place, word in enumerate(self.words)
            if place not in places and word != "," and (word in SIGNALS or not (word in FILLERS or word in light))
        ]


# A word for the people of a country, and the beginning of the country's name.
_PEOPLE = re.compile(r"(?P<root>[a-z]{4,}?)(?:i?an|ese|ish|i)s?")


def _country_in(value: str) -> str:
    """Return the name that a cell begins with, without a remark: `canada` of `Canada (CAN)`."""
    return re.split(r"\s*[(\[\n]", value.lower().strip(), maxsplit=1)[0]


def header_stems(column: Column) -> tuple[str, ...]:
    words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", column.name).lower())
    return tuple(stem_of(word) for word in words)


# Light words that say in which direction an amount goes.
_OF_MONEY = frozenset({"earn", "earned", "receive", "received"})
_NO_HEADER = frozenset(
    {"of", "in", "the", "for", "to", "and", "by", "at", "on", "a", "s", "or", "with", "was", "from"}
)
_YEARS = frozenset({"year", "years", "season"})
_BEFORE_NOUNS = frozenset({"many", "which", "what", "whose", "first", "last", "top", "of", "the"})
_NO_VALUE = FILLERS | LIGHT | _NO_HEADER | frozenset(SPELLED) | frozenset({","})
