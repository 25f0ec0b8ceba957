"""Ways from table to table over foreign keys: those that are declared, and those that the names of columns tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from marchwarden.sources.database.schema import KEY_ENDINGS, Column, ForeignKey, Schema, Table, words_of_name


@dataclass(frozen=True)
class Step:
    """One join: the table that is added, and the pair of columns."""

    table: Table
    left: tuple[str, str]
    right: tuple[str, str]


def find_keys(schema: Schema) -> tuple[ForeignKey, ...]:
    """Return the foreign keys of a schema, with those that only names tell where a table declares none."""
    declared = {(key.table.lower(), key.column.lower()) for key in schema.keys}
    found = list(schema.keys)
    for table in schema.tables:
        for column in table.columns:
            if (table.name.lower(), column.name.lower()) in declared:
                continue
            if other := _meant(table, column.name, schema):
                found.append(ForeignKey(table.name, column.name, other[0].name, other[1]))
    return tuple(found)


# Words of columns that hold an amount, and refer to nothing.
_AMOUNTS = frozenset({"units", "quantity", "qty", "price", "amount", "total", "count"})


def _meant(table: Table, column: str, schema: Schema) -> tuple[Table, str] | None:
    """Return the table and key that a column's name tells: `customer_id`, `countryCode`, `lost_in_battle`."""
    if table.key == (column,):
        # A table's own key may be that of another table that it says more about, where that has the same name.
        same = [
            each
            for each in schema.tables
            if each is not table and each.key == table.key and "id" in words_of_name(column)
        ]
        own = set(words_of_name(table.name))
        named = [each for each in same if set(words_of_name(each.name)) & set(words_of_name(column)) - {"id"} - own]
        return (named[0], column) if len(named) == 1 else None
    words = words_of_name(column)
    if not _AMOUNTS.isdisjoint(words):
        return None  # `units_on_order` refers to no order
    candidates: list[tuple[int, Table, str]] = []
    for other in schema.tables:
        if other is table or len(other.key) != 1:
            continue
        key, name = words_of_name(other.key[0]), words_of_name(other.name)
        singular = [*name[:-1], name[-1].removesuffix("s")]
        if words == key and (len(key) > 1 or key[0] not in KEY_ENDINGS):
            candidates.append((3, other, other.key[0]))
        elif any(words[-len(each) - len(key) :] == [*each, *key] for each in (name, singular)):
            candidates.append((2, other, other.key[0]))
        elif key[-1] in KEY_ENDINGS and (
            words[-len(name) :] in (name, singular) or words in (name[-1:], singular[-1:])
        ):
            candidates.append((1, other, other.key[0]))
    # A key and what it refers to are both numbers, or both text, but for numbers that are kept as text.
    here = table.by_name[column.lower()]
    candidates = [
        each
        for each in candidates
        if here.is_number
        or not each[1].by_name[each[2].lower()].is_number
        or not here.values
        or all(value.isdigit() for value in here.values)
    ]
    # A single word that two tables share, `title`, is a key only where it refers to rows that are there.
    candidates = [
        each for each in candidates if len(words) > 1 or each[0] < 3 or _holds(each[1].by_name[each[2].lower()], here)
    ]
    best = max((each[0] for each in candidates), default=0)
    top = [(other, key) for score, other, key in candidates if score == best]
    return top[0] if len(top) == 1 else None


def _holds(key: Column, other: Column) -> bool:
    """Return whether a key has each value of another column, as far as both are known."""
    is_known = key.complete and other.complete and bool(key.values)
    return not is_known or set(other.values) <= set(key.values)


def join_path(tables: Sequence[Table], schema: Schema, keys: Iterable[ForeignKey]) -> list[Step] | None:
    """Return the joins that lead from the first table to all the others, the shortest; None where there are none."""
    edges: dict[str, list[tuple[str, str, str]]] = {}
    for key in keys:
        edges.setdefault(key.table.lower(), []).append((key.column, key.other, key.other_column))
        edges.setdefault(key.other.lower(), []).append((key.other_column, key.table, key.column))
    joined = {tables[0].name.lower()}
    steps: list[Step] = []
    for wanted in tables[1:]:
        if wanted.name.lower() in joined:
            continue
        came: dict[str, tuple[str, str, str]] = {}
        queue, seen = deque(joined), set(joined)
        while queue and wanted.name.lower() not in came:
            here = queue.popleft()
            for column, other, other_column in edges.get(here, []):
                if other.lower() not in seen:
                    seen.add(other.lower())
                    came[other.lower()] = (here, column, other_column)
                    queue.append(other.lower())
        if wanted.name.lower() not in came:
            return None
        way: list[Step] = []
        at = wanted.name.lower()
        while at not in joined:
            here, column, other_column = came[at]
            table = schema.by_name[at]
            way.append(Step(table, (schema.by_name[here].name, column), (table.name, other_column)))
            at = here
        for step in reversed(way):
            joined.add(step.table.name.lower())
            steps.append(step)
    return steps
