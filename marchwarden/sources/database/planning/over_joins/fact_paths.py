"""Ways from the rows that are summed up to the rows that each of them belongs to, over foreign keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.joins import find_keys
from marchwarden.sources.database.schema import KEY_ENDINGS, Column, ForeignKey, Schema, Table, words_of_name

Way: TypeAlias = tuple[ForeignKey, ...]
"""Keys in the order in which they are followed: each row has at most one row at the end of it."""

# Keys of a way. A guess: a line of an order is four away from the country of a customer's city.
_MOST_KEYS = 5


class Ways:
    """All ways from one table that no row leaves more than once, so that a sum over them counts no row twice."""

    def __init__(self, fact: Table, keys: Sequence[ForeignKey]) -> None:
        self.fact = fact
        self._found: dict[str, list[Way]] = {fact.name: [()]}
        waiting: list[tuple[str, Way]] = [(fact.name, ())]
        while waiting:
            here, way = waiting.pop()
            seen = {fact.name, *(key.other for key in way)}
            for key in keys:
                if key.table == here and key.other not in seen and len(way) < _MOST_KEYS:
                    longer = (*way, key)
                    self._found.setdefault(key.other, []).append(longer)
                    waiting.append((key.other, longer))

    def reaches(self, table: str) -> bool:
        return table in self._found

    def to(self, table: str) -> Way:
        """Return the only way to a table. Raises Unclear where there are several."""
        found = self._found[table]
        if len(found) > 1:
            # The first keys that differ: a way that ends earlier would lead to the table earlier.
            differ = next(keys for keys in zip(*found, strict=False) if len(set(keys)) > 1)
            told = " or ".join(sorted({key.column for key in differ}))
            raise Unclear(f"{self.fact.name} leads to {table} in several ways, by {told}")
        return found[0]

    def nearest(self, columns: Sequence[Column], words: str) -> Column | None:
        """Return the column that stands nearest, where all the others lie behind it; None where none is reached.

        Raises Unclear where another is not behind it: the country of a customer and that of a supplier.
        """
        reached = [column for column in columns if self.reaches(column.table)]
        if not reached:
            return None
        best = min(reached, key=lambda column: len(self.to(column.table)))
        for other in reached:
            is_behind = best.table in {self.fact.name, *(key.other for key in self.to(other.table))}
            if other is not best and (not is_behind or other.table == best.table):
                raise Unclear(f"“{words}” may be {best.name} of {best.table} or {other.name} of {other.table}")
        return best


class Paths:
    """The ways from each table of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.keys = _keys_of(schema)
        self._found: dict[str, Ways] = {}

    def from_rows_of(self, fact: Table) -> Ways:
        if fact.name not in self._found:
            self._found[fact.name] = Ways(fact, self.keys)
        return self._found[fact.name]


def _keys_of(schema: Schema) -> tuple[ForeignKey, ...]:
    """Return the keys that lead from each row to one row at most: those that are declared, else those of names.

    A column that shares only a word with a table, `units_on_order`, is no key. Of a key of several columns the
    reader may tell the first alone, which belongs to many rows.
    """
    found = []
    for key in schema.keys or find_keys(schema):
        key = _as_spelt(key, schema)
        is_named = words_of_name(key.column)[-1] in KEY_ENDINGS or key.column == key.other_column
        if (schema.keys or is_named) and schema.by_name[key.other.lower()].key == (key.other_column,):
            found.append(key)
    return tuple(found)


def _as_spelt(key: ForeignKey, schema: Schema) -> ForeignKey:
    """Return a key with names as its tables spell them: SQLite keeps those of the reference as they were written."""
    table, other = schema.by_name[key.table.lower()], schema.by_name[key.other.lower()]

    def spell(each: Table, name: str) -> str:
        return each.by_name[name.lower()].name if name.lower() in each.by_name else name

    return ForeignKey(table.name, spell(table, key.column), other.name, spell(other, key.other_column))
