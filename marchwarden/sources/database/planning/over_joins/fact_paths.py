"""Ways from the rows that are summed up to the rows that each of them belongs to, over foreign keys.

Where a table of pairs joins two others, a row may belong to several: a film to two categories. Each pair is there
once, so that no group counts a row twice.
"""

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
    """All ways from one table that no row leaves more than once, so that a sum over them counts no row twice.

    Tables that none of them leads to are reached over `pairs`, the two keys of a table of pairs.
    """

    def __init__(
        self, fact: Table, keys: Sequence[ForeignKey], pairs: Sequence[tuple[ForeignKey, ForeignKey]] = ()
    ) -> None:
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
        self._paired: dict[str, ForeignKey] = {}
        """Key from the table before to the table of pairs, by the table that lies behind it."""
        direct = dict(self._found)
        for near, far in (each for pair in pairs for each in (pair, pair[::-1])):
            if near.other not in direct or {near.table, far.other} & set(direct):
                continue
            back = ForeignKey(near.other, near.other_column, near.table, near.column)
            for table, end in ((near.table, (back,)), (far.other, (back, far))):
                self._found.setdefault(table, []).extend((*way, *end) for way in direct[near.other])
                self._paired[table] = back

    def reaches(self, table: str) -> bool:
        return table in self._found

    def pairing(self, table: str) -> ForeignKey | None:
        """Return the key to the table of pairs that leads to a table; None where a row has one row of it at most."""
        return self._paired.get(table)

    def preferred(self, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that are reached, those without a table of pairs where there are any."""
        reached = [column for column in columns if self.reaches(column.table)]
        return [each for each in reached if each.table not in self._paired] or reached

    def distance(self, table: str) -> int:
        """Return the number of keys of the shortest way to a table."""
        return min(map(len, self._found[table]))

    def to(self, table: str) -> Way:
        """Return the only way to a table, or the key of the row itself. Raises Unclear where there are several."""
        found = self._found[table]
        own = [way for way in found if len(way) == 1]
        if len(own) == 1:
            return own[0]  # who took a payment, and not who rented out what it is for
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
        reached = self.preferred(columns)
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
        self._pairs = _pairs_of(schema, self.keys)
        self._found: dict[str, Ways] = {}

    def keys_of(self, table: Table) -> list[ForeignKey]:
        """Return the keys that a table's own rows hold."""
        return [key for key in self.keys if key.table == table.name]

    def from_rows_of(self, fact: Table) -> Ways:
        if fact.name not in self._found:
            self._found[fact.name] = Ways(fact, self.keys, self._pairs)
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


def _pairs_of(schema: Schema, keys: Sequence[ForeignKey]) -> list[tuple[ForeignKey, ForeignKey]]:
    """Return the two keys of each table that tells no more than pairs, each of which is there once."""
    found = []
    for table in schema.tables:
        own = [key for key in keys if key.table == table.name]
        # A line of an order has the keys of a pair, too, but tells a price.
        tells_more = any(column.name not in table.key and not column.is_time for column in table.columns)
        if len(own) == 2 and own[0].other != own[1].other and {key.column for key in own} == {*table.key}:
            found += [] if tells_more else [(own[0], own[1])]
    return found


def _as_spelt(key: ForeignKey, schema: Schema) -> ForeignKey:
    """Return a key with names as its tables spell them: SQLite keeps those of the reference as they were written."""
    table, other = schema.by_name[key.table.lower()], schema.by_name[key.other.lower()]

    def spell(each: Table, name: str) -> str:
        return each.by_name[name.lower()].name if name.lower() in each.by_name else name

    return ForeignKey(table.name, spell(table, key.column), other.name, spell(other, key.other_column))
