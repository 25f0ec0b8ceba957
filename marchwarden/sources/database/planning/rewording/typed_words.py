"""A question as people type it, worded as the rules read it: misspelt words, units of money, and everyday turns.

It is tried only where a question is a gap as it stands. A word is respelt only if it is no English word and means
nothing in the tables: `late` is no `rate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from marchwarden.evidence.asking.respelling import with_small_words_spelt
from marchwarden.judge.thesaurus import is_english_word
from marchwarden.sources.database.planning.draft import names_of
from marchwarden.sources.database.planning.everyday.word_relations import (
    AMOUNTS,
    amount_columns,
    is_count_of_things,
)
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.question_links import SchemaNames
from marchwarden.sources.database.planning.question_words import CUES, FILLERS
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name
from marchwarden.text.spelling import edit_distance

# Letters of the shortest word that is respelt. A guess: shorter ones have too many neighbours.
_MIN_LETTERS = 6
# Words of the names of columns that hold how long something takes.
_LENGTHS = frozenset({"milliseconds", "seconds", "minutes", "hours", "duration", "runtime", "playtime", "length"})
# Nouns for the rows of a table that has another name.
_OTHER_NOUNS = {"track": ("songs", "song")}
_MONEY = r"(?:dollars?|euros?|pounds?|francs?|bucks|usd|eur|gbp|chf)"
_COMPARED = r"(?:over|under|above|below|more than|less than|at least|at most|cheaper than|up to)"


def as_typed(question: str, schema: Schema, names: SchemaNames) -> str:
    """Return the question in words that the rules may read; the question itself where there is nothing to change."""
    told = _respelt(with_small_words_spelt(question.strip()), names)
    for table in schema.tables:
        nouns = _nouns(table)
        told = re.sub(rf"\b({nouns}) (?:that|which|who) (?:are|is|were) ", r"\1 ", told, flags=re.IGNORECASE)
        if not names_of(table) and len(table.key) == 1:
            # Rows that nothing names are told by their key.
            key = " ".join(words_of_name(table.key[0]))
            told = re.sub(
                rf"^(?:which |list |show )?(?:all )?(?:the )?({nouns}) (?:were |are )?(?=\w+ ?\w* \$?\d)",
                rf"list the {key} of \1 ", told, flags=re.IGNORECASE,
            )  # fmt: skip
        if re.match(rf"{nouns} (?:that|which|who) ", told, re.IGNORECASE):
            told = "which " + re.sub(rf"^({nouns}) (?:that|which|who) ", r"\1 ", told, flags=re.IGNORECASE)
        if len(amount_columns(AMOUNTS, (table,))) == 1:
            # A number beside a noun is compared with the only money of its rows, which the unit says, too.
            told = re.sub(
                rf"\b({nouns}) (?:costing |priced )?({_COMPARED} )\$?(\d[\d.,]*) {_MONEY}\b",
                r"\1 \2\3", told, flags=re.IGNORECASE,
            )  # fmt: skip
        if stock := _only(each for each in table.columns if is_count_of_things(each) and "stock" in _words(each)):
            told = re.sub(
                rf"\b({nouns}) (?:are |is )?(?:there )?(?:sold )?out of stock\b",
                rf"\1 with {' '.join(_words(stock))} equal to 0", told, flags=re.IGNORECASE,
            )  # fmt: skip
        if length := _only(each for each in table.columns if each.is_number and _LENGTHS & {*_words(each)}):
            name = " ".join(_words(length))
            told = re.sub(
                rf"^(?:what (?:is|was) |which is |show |list )?(?:the )?(longest|shortest) ({nouns})(?=\W*$)",
                lambda found, name=name: f"which {found[2]} has the "  # type: ignore[misc]
                f"{'highest' if found[1].lower() == 'longest' else 'lowest'} {name}",
                told, flags=re.IGNORECASE,
            )  # fmt: skip
            told = re.sub(rf"\b({nouns}) (?:length|duration)\b", rf"{name} of \1", told, flags=re.IGNORECASE)
    return told


def _respelt(question: str, names: SchemaNames) -> str:
    """Return the question with each word that means nothing as the only word of the tables that is one edit away."""
    known = {word for table in names.all_tables for word in _words_of(table)}
    forms = {form for word in known for form in (word, word + "s", word.removesuffix("s"))}
    forms |= {word for words in CUES for word in words if word.isalpha()}

    def respelt(found: re.Match[str]) -> str:
        word = found[0].lower()
        if len(word) < _MIN_LETTERS or word in forms or word in FILLERS or is_english_word(word):
            return found[0]
        if names.has_word(word) or any(word in each for each in names.values):
            return found[0]
        near = {each for each in forms if each[:1] == word[:1] and edit_distance(word, each) == 1}
        stems = {stem_of(each) for each in near}
        return min(near, key=lambda each: (abs(len(each) - len(word)), each)) if len(stems) == 1 else found[0]

    # A word with a capital, in quotation marks or with figures may be a name.
    return re.sub(r"(?<![\w'\"“‘])[a-z]+(?![\w'\"”’])", respelt, question)


def _words_of(table: Table) -> Iterator[str]:
    yield from words_of_name(table.name)
    for column in table.columns:
        yield from words_of_name(column.name)


def _words(column: Column) -> list[str]:
    return words_of_name(column.name)


def _nouns(table: Table) -> str:
    """Return a pattern of the nouns for the rows of a table, in both numbers."""
    name = " ".join(words_of_name(table.name))
    one = name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
    many = name if name.endswith("s") else f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    nouns = dict.fromkeys((many, one, name, *_OTHER_NOUNS.get(one, ())))
    return rf"(?:{'|'.join(map(re.escape, nouns))})"


def _only(columns: Iterator[Column]) -> Column | None:
    found = list(columns)
    return found[0] if len(found) == 1 else None
