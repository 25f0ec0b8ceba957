"""Link the words of a question to cues, tables, columns and values; a word that is linked to nothing is named."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Literal, TypeAlias

from marchwarden.sources.database.planning.everyday.periods import Period, read_period, read_relative
from marchwarden.sources.database.planning.everyday.word_relations import (
    is_plural,
    measured_columns,
    related_columns,
    related_tables,
)
from marchwarden.sources.database.planning.everyday.word_stems import stem_of, without_accents
from marchwarden.sources.database.planning.question_words import CUES, FILLERS, LONGEST_CUE, NUMBERS, SYNONYMS, Phrase
from marchwarden.sources.database.schema import KEY_ENDINGS, Column, Schema, Table, words_of_name
from marchwarden.text.countries import COUNTRIES

_TOKEN = re.compile(
    r"(?P<quoted>(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))+'(?!\w)|\"[^\"\n]+\"|“[^”\n]+”|‘[^’\n]+’|`[^`\n]+`)"
    r"|(?P<number>\d[\d,]*\.?\d*(?![\w]))|(?P<word>[^\W_][\w'’.-]*[\w]|[^\W_])|(?P<comma>,)"
)
# Signs before a number, which are no words, with what they say.
_SIGNS = {">=": "at least", "≥": "at least", "<=": "at most", "≤": "at most", ">": "more than", "<": "less than"}
_SIGN = re.compile(r"(?<![<>=-])([<>]=|[≥≤<>])\s*(?=\d)")
# Words of a value, and of a name, that are looked for. Guesses.
_MAX_VALUE_WORDS, _MAX_NAME_WORDS = 8, 6
# Characters of a word that may be a form of a value's word. A guess: shorter ones are codes.
_MIN_FORM_CHARS = 4
# What may stand before the first word of a value.
_OPENING = " \t\n'\"“‘`(["

Kind: TypeAlias = Literal["cue", "table", "column", "value", "number", "text", "period"]


@dataclass(frozen=True)
class Link:
    """A run of words of the question, and what it is linked to."""

    kind: Kind
    words: str
    place: int
    """Number of its first word in the question."""
    phrase: Phrase | None = None
    tables: tuple[Table, ...] = ()
    columns: tuple[Column, ...] = ()
    """Columns that the words may name, or in which the value stands."""
    values: Mapping[Column, str] = field(default_factory=dict)
    """The value as each of its columns spells it."""
    is_exact: bool = True
    """False where the words are only a part of the names that they are linked to."""
    is_form: bool = False
    """True where the words are another form of the names or values, such as a plural, or a synonym of them."""
    period: Period | None = None
    in_part: tuple[Column, ...] = ()
    """Columns of which the words name a part, beside those that they name in full."""
    is_deed: bool = False
    """True where a verb names a table by what its rows tell: `borrowed`, of loans."""


@dataclass(frozen=True)
class Token:
    text: str
    kind: str

    @cached_property
    def lower(self) -> str:
        return self.text.lower().replace("’", "'")

    @cached_property
    def stem(self) -> str:
        return stem_of(self.text)


def tokens_of(question: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(_SIGN.sub(lambda sign: f" {_SIGNS[sign[1]]} ", question)):
        kind = match.lastgroup or "word"
        text = match[0][1:-1].strip() if kind == "quoted" else match[0]
        if kind == "word":
            text = re.sub(r"['’]s$", "", text)
        found.append(Token(text, kind))
    return found


def tokens_within(text: str) -> list[Token]:
    """Return the tokens of a text, with the words of a quotation one by one."""
    return [
        token for each in tokens_of(text) for token in (tokens_of(each.text) if each.kind == "quoted" else [each])
    ]


_STOP_STEMS = frozenset(map(stem_of, FILLERS))


class SchemaNames:
    """The names of a schema, and those of its values that a question may name, in the forms in which it says them."""

    def __init__(self, schema: Schema, question: str, today: date | None = None) -> None:
        self.today = today
        """Day on which the question is asked; None where words such as `last month` can't be read."""
        self.all_tables = schema.tables
        self.tables: dict[tuple[str, ...], list[Table]] = defaultdict(list)
        self.columns: dict[tuple[str, ...], list[Column]] = defaultdict(list)
        self.parts: dict[tuple[str, ...], list[Column]] = defaultdict(list)
        self.values: dict[tuple[str, ...], dict[Column, str]] = defaultdict(dict)
        self.forms: dict[tuple[str, ...], dict[Column, str | None]] = defaultdict(dict)
        """Values by the stems of their words; None where a column has several of the same stems."""
        # Most values begin as no word of the question does, and are passed over unread: a table may have 100,000.
        asked = [token.lower for token in tokens_within(question)]
        meant = (name for word in asked for name in COUNTRIES.get(word, ()))
        begin = tuple({without_accents(each)[:2] for each in (*asked, *meant)})
        for table in schema.tables:
            for words in _variants(words_of_name(table.name)):
                self.tables[words].append(table)
        for table in schema.tables:
            # `orders` may be those of either schema, unless SQL would find one of them by that name.
            if table.name != table.own_name and table.own_name.lower() not in schema.by_name:
                for words in _variants(words_of_name(table.own_name)):
                    self.tables[words].append(table)
        self._add_endings(schema)
        for table in schema.tables:
            own = tuple(map(stem_of, words_of_name(table.name)))
            for column in table.columns:
                names = words_of_name(column.name)
                stems = tuple(map(stem_of, names))
                for words in _variants(names):
                    self.columns[words].append(column)
                # Without the words of its table: `concert_name` is the name of a concert.
                rest = tuple(stem for stem in stems if stem not in own)
                if rest and rest != stems:
                    self.columns[rest].append(column)
                self._add_parts(column, stems, own)
                for value in column.values:
                    if begin and _begins(value, begin):
                        self._add_value(column, value)
        self._add_without_accents()

    def has_word(self, word: str) -> bool:
        """Return whether a word stands in the name of a table or column."""
        return stem_of(word) in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for key in (*self.tables, *self.columns, *self.parts) for word in key)

    @cached_property
    def units(self) -> frozenset[str]:
        """Words of the names of columns of numbers, as they are and without an `s` at the end."""
        words = {
            word
            for table in self.all_tables
            for column in table.columns
            if column.is_number
            if not KEY_ENDINGS & {*words_of_name(column.name)}
            for word in words_of_name(column.name)
        }
        return frozenset(words | {word.removesuffix("s") for word in words})

    def _add_value(self, column: Column, value: str) -> None:
        tokens = tokens_of(value)
        if 0 < len(tokens) <= _MAX_VALUE_WORDS:
            self.values[tuple(token.lower for token in tokens)].setdefault(column, value)
            stems = tuple(token.stem for token in tokens)
            known = self.forms[stems].setdefault(column, value)
            if known is not None and known.lower() != value.lower():
                self.forms[stems][column] = None

    def _add_without_accents(self) -> None:
        """Add values as they are typed without accents.

        Not of a table in which two values differ by accents alone: of Luis and Luís Gonçalves, one may be meant.
        """
        plain: dict[tuple[tuple[str, ...], Column], str] = {}
        unclear: set[str] = set()
        for words, found in self.values.items():
            if not all(map(str.isascii, words)):
                typed = tuple(map(without_accents, words))
                for column, value in found.items():
                    if (typed, column) in plain or column in self.values.get(typed, {}):
                        unclear.add(column.table)
                    plain[typed, column] = value
        for (typed, column), value in plain.items():
            if column.table not in unclear:
                self.values[typed][column] = value

    def _add_parts(self, column: Column, stems: tuple[str, ...], table: tuple[str, ...]) -> None:
        """Add what is left of a column's name without its table's, and the names that begin or end it."""
        for first in range(len(stems)):
            for last in range(first + 1, len(stems) + 1):
                part = stems[first:last]
                if last - first < len(stems) and not set(part) <= {*table, *_STOP_STEMS}:
                    self.parts[part].append(column)

    def _add_endings(self, schema: Schema) -> None:
        """Add the last words of a table's name where no other table's name ends so: `player` for poker_player."""
        endings: dict[tuple[str, ...], list[Table]] = defaultdict(list)
        for table in schema.tables:
            stems = tuple(map(stem_of, words_of_name(table.name)))
            for first in range(1, len(stems)):
                endings[stems[first:]].append(table)
        for ending, tables in endings.items():
            if len(tables) == 1 and ending not in self.tables:
                self.tables[ending].append(tables[0])


def _begins(value: str, begin: tuple[str, ...]) -> bool:
    """Return whether the first word of a value may begin so; True for one that begins with an unusual mark."""
    bare = value.lower().lstrip(_OPENING)
    bare = bare if bare.isascii() else without_accents(bare)
    return bare.startswith(begin) or (bare[:1] != "" and not bare[0].isalnum())


def _variants(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Yield a name as stems, and with each word that has a synonym replaced."""
    stems = tuple(map(stem_of, words))
    yield stems
    if "of" in words or "num" in words:
        yield tuple(stem_of("number" if word == "num" else word) for word in words)
    if len(words) == 1 and len(joined := re.findall(r"[a-z]+", words[0])) == 1 and joined[0] != words[0]:
        yield (stem_of(joined[0]),)


# First words of a question that asks for yes or no.
_YES_OR_NO = frozenset(
    {"is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "can", "could", "will"}
)


class NotLinked(Exception):
    """A word of the question is linked to nothing."""


def link_question(
    question: str,
    names: SchemaNames,
    cues: Mapping[tuple[str, ...], Phrase] = CUES,
    converses: Mapping[str, str] | None = None,
) -> list[Link]:
    """Return the links of a question in order. Raises NotLinked, with the word, where one has none.

    With `converses`, verbs that name the rows of one table are linked to it: `visited`, and those that have another
    verb there.
    """
    tokens = tokens_of(question)
    if tokens and tokens[0].lower in _YES_OR_NO:
        raise NotLinked(tokens[0].text)
    links: list[Link] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        found, length = _longest(tokens, place, names, cues)
        is_weak = found is None or found.is_form or not found.is_exact
        if converses is not None and is_weak and (deed := _deed(token, names, cues, converses)):
            found, length = replace(deed, place=place), 1
        if found is None:
            # `for us`, and not the US.
            is_us = (
                token.text == "us" and place > 0 and tokens[place - 1].lower in ("for", "to", "with", "from", "by")
            )
            if token.lower not in FILLERS and not is_us:
                raise NotLinked(token.text)
            place += 1
            continue
        links.append(found)
        place += length
        if found.kind == "table" and found.words == "staff" and tokens[place : place + 1]:
            place += tokens[place].lower in ("member", "members")  # one of the staff
    named = {table.name for link in links if link.kind == "table" for table in link.tables}
    return [_as_cue(link, named) for link in links]


def _as_cue(link: Link, named: set[str]) -> Link:
    """Return `average` as a cue, although a column has that name, where the question names other tables."""
    phrase = CUES.get((link.words,))
    is_far = bool(named) and not any(column.table in named for column in link.columns)
    if link.kind == "column" and phrase and phrase.cue in ("aggregate", "top") and is_far:
        return Link("cue", link.words, link.place, phrase)
    return link


def _longest(
    tokens: list[Token], place: int, names: SchemaNames, cues: Mapping[tuple[str, ...], Phrase]
) -> tuple[Link | None, int]:
    token = tokens[place]
    if token.kind == "comma":
        return Link("cue", ",", place, Phrase("comma")), 1
    if token.kind == "quoted":
        key = tuple(each.lower for each in tokens_of(token.text))
        return Link("text", token.text, place, values=dict(names.values.get(key, {}))), 1
    if names.today and (relative := read_relative([each.text for each in tokens], place, names.today)):
        meant, length = relative
        words = " ".join(each.lower for each in tokens[place : place + length])
        if isinstance(meant, int):
            return Link("number", str(meant), place), length
        return Link("period", words, place, period=meant), length
    period = read_period([each.text for each in tokens], place)
    if (
        period
        and (token.kind == "number" or period[1] > 1)
        and not _is_value(tokens[place : place + period[1]], names)
    ):
        words = " ".join(each.text for each in tokens[place : place + period[1]])
        return Link("period", words, place, period=period[0]), period[1]
    if token.kind == "number":
        values = dict(names.values.get((token.lower,), {}))
        return Link("number", token.text.replace(",", "").rstrip("."), place, values=values), 1
    candidates: list[tuple[int, int, Link]] = []
    for length in range(min(LONGEST_CUE, len(tokens) - place), 0, -1):
        key = tuple(each.lower for each in tokens[place : place + length])
        if key in cues:
            if place == 0 and cues[key].cue == "ask":
                return Link("cue", " ".join(key), place, cues[key]), length
            candidates.append((length, 2, Link("cue", " ".join(key), place, cues[key])))
            break
    if name := _name(tokens, place, names):
        # `who joined first` means no first name, and `per` no `quantity_per_unit`.
        phrase = cues.get((token.lower,))
        is_cue = phrase is not None and (
            phrase.cue in ("each", "span") or (phrase.cue == "top" and bool(phrase.columns))
        )
        if name[0].is_exact or name[1] > 1 or not is_cue:
            candidates.append((name[1], 3, name[0]))
    if value := _value(tokens, place, names):
        candidates.append((value[1], 4 if _is_name_like(tokens, place) else 1, value[0]))
    if period:
        candidates.append((1, 0, Link("period", token.text, place, period=period[0])))
    if (form := _value_by_form(tokens, place, names)) and (form[1] > 1 or not candidates):
        candidates.append((form[1], -1, form[0]))
    if not candidates and token.lower in NUMBERS:
        return Link("number", NUMBERS[token.lower], place), 1
    if not candidates:
        return _name_by_meaning(tokens, place, names)
    length, _, best = max(candidates, key=lambda each: (each[0], each[1]))
    return best, length


def _is_value(run: list[Token], names: SchemaNames) -> bool:
    """Return whether a table holds the words as a value: the quarters of a report."""
    return len(run) > 1 and tuple(each.lower for each in run) in names.values


def _value_by_form(tokens: list[Token], place: int, names: SchemaNames) -> tuple[Link, int] | None:
    """Return the value that the words say in the plural, or in the singular: `engineers`, of the role `Engineer`.

    Other forms say other things: who is in training is no trainer.
    """
    for length in range(min(_MAX_VALUE_WORDS, len(tokens) - place), 0, -1):
        run = tokens[place : place + length]
        if run[-1].kind != "word" or len(run[-1].text) < _MIN_FORM_CHARS:
            continue
        held = names.forms.get(tuple(each.stem for each in run), {})
        last = run[-1].lower
        found = {
            column: value
            for column, value in held.items()
            if value is not None and is_plural(last, tokens_of(value)[-1].lower)
        }
        if found and not (length == 1 and (run[0].lower in FILLERS or (run[0].lower,) in CUES)):
            words = " ".join(each.text for each in run)
            return Link("value", words, place, columns=tuple(found), values=found, is_form=True), length
    return None


def _name_by_meaning(tokens: list[Token], place: int, names: SchemaNames) -> tuple[Link | None, int]:
    """Return the names that a word says in another form or by a synonym: `earns` a salary, `wrote`, `workers`."""
    token = tokens[place]
    is_who = tokens[0].lower == "who"
    if token.kind != "word" or (token.lower in FILLERS and not is_who):
        return None, 0
    link = Link("column", token.lower, place, is_exact=False, is_form=True)
    if columns := measured_columns(token.stem, names.all_tables):
        return replace(link, columns=tuple(columns)), 1
    if token.lower in FILLERS:
        return None, 0
    # A synonym of names in several tables says too little.
    tables = [] if token.lower.endswith(("ed", "ing")) else related_tables(token.stem, names.all_tables)
    if len(tables) == 1:
        return Link("table", token.lower, place, tables=tuple(tables), is_form=True), 1
    columns = [] if tables else related_columns(token.stem, names.all_tables)
    if columns and len({column.table for column in columns}) == 1:
        return replace(link, columns=tuple(columns)), 1
    return None, 0


def _deed(
    token: Token, names: SchemaNames, cues: Mapping[tuple[str, ...], Phrase], converses: Mapping[str, str]
) -> Link | None:
    """Return the only table that a verb names by what its rows tell."""
    if (
        token.lower in FILLERS
        or (token.lower,) in cues
        or not (token.lower.endswith("ed") or token.lower in converses)
    ):
        return None
    tables = related_tables(stem_of(converses.get(token.lower, token.lower)), names.all_tables)
    return Link("table", token.lower, 0, tables=tuple(tables), is_deed=True) if len(tables) == 1 else None


def _is_name_like(tokens: list[Token], place: int) -> bool:
    """Return whether a word is written as a name: with a capital, and not only since it is the first."""
    text = tokens[place].text
    return text[:1].isupper() and (place > 0 or text.isupper())


def _value(tokens: list[Token], place: int, names: SchemaNames) -> tuple[Link, int] | None:
    for length in range(min(_MAX_VALUE_WORDS, len(tokens) - place), 0, -1):
        run = tokens[place : place + length]
        if any(each.kind == "quoted" for each in run):
            continue
        key = tuple(each.lower for each in run)
        found = names.values.get(key)
        if not found or (length == 1 and (key[0] in FILLERS or key in CUES)):
            continue
        # A short word in lower case is rather a word than a code.
        if length == 1 and len(key[0]) < 3 and not run[0].text.isupper():
            continue
        return Link("value", " ".join(each.text for each in run), place, columns=tuple(found), values=found), length
    word = tokens[place].lower
    countries = {
        column: value
        for name in COUNTRIES.get(word, ())
        for column, value in names.values.get(tuple(name.split()), {}).items()
    }
    if countries:
        return Link("value", tokens[place].text, place, columns=tuple(countries), values=countries), 1
    if _is_name_like(tokens, place) and word.endswith("an"):
        # Asian, African, European: of a value of that name.
        for name in (word[:-1], word[:-2], word[:-3] + "y"):
            if found := names.values.get((name,)):
                return Link("value", tokens[place].text, place, columns=tuple(found), values=found), 1
    return None


def _name(tokens: list[Token], place: int, names: SchemaNames) -> tuple[Link, int] | None:
    """Return the longest run of words that names tables or columns; in full before in part."""
    for exact in (True, False):
        for length in range(min(_MAX_NAME_WORDS, len(tokens) - place), 0, -1):
            run = tokens[place : place + length]
            if any(each.kind in ("quoted", "comma") for each in run):
                continue
            if found := _named(run, names, exact):
                tables, columns = found
                stems = tuple(each.stem for each in run)
                in_part = tuple(c for c in names.parts.get(stems, ()) if c not in columns) if exact else ()
                kind: Kind = "table" if tables and not columns else "column" if not tables else "table"
                words = " ".join(each.lower for each in run)
                return Link(
                    kind, words, place, tables=tables, columns=columns, is_exact=exact, in_part=in_part
                ), length
    return None


def _named(run: list[Token], names: SchemaNames, exact: bool) -> tuple[tuple[Table, ...], tuple[Column, ...]] | None:
    stems = tuple(each.stem for each in run)
    tables = names.tables.get(stems, []) if exact else []
    if exact and len(run) == 2 and not tables:
        tables = names.tables.get((stem_of("".join(each.lower for each in run)),), [])  # a high schooler
    if run[-1].lower.endswith(("ed", "ing")):
        # What is done is no table: `the students who enrolled` are none of the rows of enrolments.
        tables = [table for table in tables if words_of_name(table.name)[-1].endswith(("ed", "ing"))]
    columns = (names.columns if exact else names.parts).get(stems, [])
    if exact and ((not tables and not columns) or stems in (("name",), ("title",))):
        for other in _synonyms(stems):
            tables, columns = [*tables, *names.tables.get(other, [])], [*columns, *names.columns.get(other, [])]
            if tables or columns:
                break
    if exact and not tables and not columns and len(run) > 1 and run[-1].lower == "number":
        columns = names.columns.get(stems[:-1], [])  # the phone number
    if not exact and not columns and len(run) == 1:
        columns = [column for other in _synonyms(stems) for column in names.parts.get(other, [])]
    if not exact and not columns:
        # An abbreviated name: `indep year`; or two words of which the name is made without a blank.
        joined = "".join(stems)
        columns = [
            column
            for key, each in names.columns.items()
            for column in each
            if len(key) == 1 and len(stems) > 1 and key[0] == joined
        ]
    if not tables and not columns:
        return None
    return tuple(dict.fromkeys(tables)), tuple(dict.fromkeys(columns))


def _synonyms(stems: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for at, stem in enumerate(stems):
        for other in SYNONYMS.get(stem, ()):
            yield (*stems[:at], *map(stem_of, other.split()), *stems[at + 1 :])
