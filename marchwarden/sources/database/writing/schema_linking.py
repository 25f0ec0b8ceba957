"""Choose the tables that a question may be about, and write them for a model: columns, keys, sample values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from marchwarden.injection.detector import is_injection
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.joins import find_keys, join_path
from marchwarden.sources.database.planning.question_links import SchemaNames, tokens_of, tokens_within
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name

# Characters of all tables, about four to a token. A guess: all tables of 16 of Spider's 19 databases.
MOST_CHARS = 5_000
# Sample values of a column, and characters of one. Guesses.
_MOST_SAMPLES, _MAX_SAMPLE_CHARS = 3, 40
# Words of a value that are looked for in a question. A guess.
_MAX_VALUE_WORDS = 8
# Weights of a table's name, of a column's name and of a value that stand in the question. Guesses.
_OF_TABLE, _OF_COLUMN, _OF_VALUE = 3.0, 1.0, 2.0


def link_schema(question: str, schema: Schema) -> str:
    """Return the tables that bear on a question as text: all of them where they fit, else the likeliest and the
    tables that join these."""
    found = find_values(question, schema)
    keys = find_keys(schema)
    tables = list(schema.tables)
    written = {table.name: _write_table(table, found) for table in tables}
    if sum(map(len, written.values())) > MOST_CHARS:
        tables = _likeliest(question, schema, found, written)
    shown = {table.name.lower() for table in tables}
    lines = [written[table.name] for table in tables]
    joins = [
        f"{_place(schema.by_name[key.table.lower()])}.{_quoted(key.column)} = "
        f"{_place(schema.by_name[key.other.lower()])}.{_quoted(key.other_column)}"
        for key in keys
        if {key.table.lower(), key.other.lower()} <= shown
    ]
    return "\n".join([*lines, *(["keys: " + ", ".join(dict.fromkeys(joins))] if joins else [])])


def find_values(question: str, schema: Schema) -> Mapping[Column, Sequence[str]]:
    """Return the values that a question names, by column, as the column spells them."""
    names = SchemaNames(schema, question)
    tokens = tokens_within(question)
    found: dict[Column, list[str]] = {}
    for start in range(len(tokens)):
        for end in range(start + 1, min(len(tokens), start + _MAX_VALUE_WORDS) + 1):
            for column, value in names.values.get(tuple(each.lower for each in tokens[start:end]), {}).items():
                found.setdefault(column, []).append(value)
    return found


def _likeliest(
    question: str, schema: Schema, found: Mapping[Column, Sequence[str]], written: Mapping[str, str]
) -> list[Table]:
    asked = {token.stem for token in tokens_of(question)}

    def likelihood(table: Table) -> float:
        own = {stem_of(word) for word in words_of_name(table.name)}
        named = [set(map(stem_of, words_of_name(column.name))) for column in table.columns]
        columns = sum(len(words & asked) / len(words) for words in named if words)
        values = sum(1 for column in table.columns if column in found)
        return _OF_TABLE * len(own & asked) / max(1, len(own)) + _OF_COLUMN * columns + _OF_VALUE * values

    chosen: dict[str, Table] = {}
    chars = 0
    keys = find_keys(schema)
    for table in sorted(schema.tables, key=likelihood, reverse=True):
        # With the tables between, without which this one can't be joined to the likeliest.
        steps = join_path([next(iter(chosen.values())), table], schema, keys) if chosen else []
        new = {each.name: each for each in (*(step.table for step in steps or ()), table) if each.name not in chosen}
        chars += sum(len(written[name]) for name in new)
        if chosen and chars > MOST_CHARS:
            break
        chosen.update(new)
    return [table for table in schema.tables if table.name in chosen]


def _write_table(table: Table, found: Mapping[Column, Sequence[str]]) -> str:
    columns = []
    for column in table.columns:
        told = f"{_quoted(column.name)} {column.type.lower()}".rstrip()
        if table.key == (column.name,):
            told += " key"
        if samples := _samples(column, found):
            told += f" ({samples})"
        columns.append(told)
    return f"{_place(table)}: {', '.join(columns)}"


def _samples(column: Column, found: Mapping[Column, Sequence[str]]) -> str:
    """Return values that the question names, and the first others; none that gives orders to a model."""
    values = dict.fromkeys((*found.get(column, ()), *column.values[:_MOST_SAMPLES]))
    short = [" ".join(value.split()) for value in values if len(value) <= _MAX_SAMPLE_CHARS]
    kept = [value for value in short if value and not is_injection(value)][:_MOST_SAMPLES]
    return ", ".join("'" + value.replace("'", "''") + "'" for value in kept)


def _place(table: Table) -> str:
    """Return a table as SQL names it."""
    if table.is_on_path:
        return _quoted(table.name)
    return f"{_quoted(table.schema)}.{_quoted(table.own_name)}"


def _quoted(name: str) -> str:
    return name if name.replace("_", "a").isalnum() else '"' + name.replace('"', '""') + '"'
