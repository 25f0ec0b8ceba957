"""Write the draft of a statement as SQL: the tables that it needs, their joins, groups and order."""

from __future__ import annotations

import re

from marchwarden.sources.database.planning.draft import (
    Condition,
    Draft,
    Unclear,
    is_name,
    is_number,
    names_of,
    parts_of_name,
)
from marchwarden.sources.database.planning.joins import Step, find_keys, join_path
from marchwarden.sources.database.schema import Column, ForeignKey, Schema, Table

# Rows that are told where several have the highest or lowest value. As many as of a spreadsheet's rows.
MOST_TIES = 20
_RESERVED = frozenset(
    {
        "all", "and", "as", "asc", "between", "by", "case", "check", "column", "create", "cross",
        "current_date", "default", "desc", "distinct", "drop", "else", "end", "except", "exists", "for",
        "foreign", "from", "full", "group", "having", "if", "in", "index", "inner", "insert", "into", "is",
        "join", "key", "left", "like", "limit", "natural", "not", "null", "offset", "on", "or", "order",
        "outer", "primary", "references", "right", "select", "set", "show", "table", "then", "to", "union",
        "unique", "update", "user", "using", "values", "when", "where", "with", "window", "year", "date",
        "time", "timestamp"
    }
)  # fmt: skip


def exclude(one: Condition, other: Condition) -> bool:
    """Return whether no value passes both conditions."""
    if one.operator == "=" == other.operator:
        return True
    low, high = (one, other) if one.operator.startswith(">") else (other, one)
    if not (low.operator.startswith(">") and high.operator.startswith("<")):
        return False
    return is_number(low.value) and is_number(high.value) and float(low.value) >= float(high.value)


class StatementWriter:
    """Writes a query as SQL."""

    def __init__(self, query: Draft, schema: Schema, dialect: str) -> None:
        self.query, self.schema, self.dialect = query, schema, dialect
        self.keys: tuple[ForeignKey, ...] = find_keys(schema)

    def write(self) -> str:
        query = self.query
        outer = query.conditions
        inner: list[str] = []
        if query.without:
            if len(query.without) > 1:
                raise Unclear("it excludes two kinds of rows")
            table, first = query.without[0]
            outer, about = query.conditions[:first], query.conditions[first:]
            if any(each.column.table != table.name for each in about):
                raise Unclear("it is not clear what is excluded")
            inner = [self._without(table, about)]
        if query.without:
            query.entities = query.entities[:1]
        group = query.group
        plain_rows = not query.having and not any(name for _, name in query.select) and not query.order_is_count()
        if plain_rows and isinstance(group, Table):
            query.entities.append(group)  # `the name of each battle` asks for every row
            group = None
        elif plain_rows and group is not None:
            raise Unclear(f"nothing is asked for each {group.name}")
        if isinstance(group, Table) and query.counted is group:
            raise Unclear(f"it is not clear what is counted for each {group.name}")
        if query.distinct and any(name for _, name in query.select):
            raise Unclear("it is not clear what is to be different")
        if len({(column, name) for column, name in query.select}) < len(query.select):
            raise Unclear("it names a column twice")
        if query.order and not group and any(name for _, name in query.select):
            raise Unclear("a number of all rows has no order")
        select, grouped = list(query.select), []
        if isinstance(group, Table):
            key = group.key[0] if len(group.key) == 1 else None
            names = [column for column in names_of(group) if is_name(column)]
            parts = parts_of_name(group)
            names = names or (parts if len(parts) == 2 else [])
            if not key:
                raise Unclear(f"the rows of {group.name} have no key to group by")
            grouped = [group.by_name[key.lower()]]
            if not any(column for column, name in select if not name):
                if not names or (len(names) > 1 and names != parts):
                    raise Unclear(f"it is not clear how to name each {group.name}")
                select[:0] = [(column, "") for column in names]
        elif group is not None:
            grouped = [group]
            if not any(column is group for column, _ in select) and query.having is None and query.limit is None:
                select.insert(0, (group, ""))
        counts = (
            any(name == "COUNT" for _, name in select) or query.having or (query.order and query.order[0] is None)
        )
        tables = self._tables(select, grouped, outer, bool(counts))
        steps = join_path(tables, self.schema, self.keys)
        if steps is None:
            raise Unclear(f"no key joins {' and '.join(table.name for table in tables)}")
        if counts and grouped:
            self._check_bridges([table for table in tables if table.name != grouped[0].table], steps)
        if steps and not grouped and any(name == "COUNT" for _, name in select) and len(steps) > 1:
            raise Unclear("it is not clear what is counted over several tables")
        self.qualified = bool(steps)
        head = "SELECT " + ("DISTINCT " if query.distinct else "")
        head += ", ".join(self._selected(column, name) for column, name in select)
        sql = f" FROM {self._name(tables[0].name)}"
        for step in steps:
            sql += f" JOIN {self._name(step.table.name)} ON {self._pair(step.left)} = {self._pair(step.right)}"
        conditions = " AND ".join(each for each in (self._where(outer), *inner) if each)
        has_ties = query.order is not None and query.limit == 1
        if has_ties and not grouped and query.order and query.order[0]:
            # All rows with the highest value, and not one of them that the database happens to give first.
            name = self._column(query.order[0])
            best = f"{'MAX' if query.order[1] == 'DESC' else 'MIN'}({name})"
            within = f"{sql} WHERE {conditions}" if conditions else sql
            if select == [(query.order[0], "")]:
                return f"SELECT {best}{within}"  # `the age of the oldest dog` is one number, of several dogs, too
            outside = f"({conditions}) AND" if " OR " in conditions else f"{conditions} AND"
            conditions = f"{outside if conditions else ''} {name} = (SELECT {best}{within})".strip()
        sql += f" WHERE {conditions}" if conditions else ""
        if grouped:
            plain = [column for column, name in select if column and not name]
            sql += " GROUP BY " + ", ".join(self._column(each) for each in dict.fromkeys((*grouped, *plain)))
        elif any(name for _, name in select) and any(not name for _, name in select):
            raise Unclear("it asks for single rows and for a number of all of them")
        if query.having:
            sql += f" HAVING COUNT(*) {query.having[0]} {query.having[1]}"
        if query.order:
            column, direction = query.order
            by = "COUNT(*)" if column is None else self._column(column)
            if grouped and column is not None and column not in grouped and column not in [c for c, _ in select]:
                raise Unclear("it is not clear how the groups are ordered")
            if has_ties and grouped:
                top = f"SELECT {by}{sql} ORDER BY {by}" + (" DESC" if direction == "DESC" else "")
                sql += f" {'AND' if query.having else 'HAVING'} {by} = ({top} LIMIT 1)"
            if has_ties:
                return f"{head}{sql} LIMIT {MOST_TIES}"
            sql += f" ORDER BY {by}" + (" DESC" if direction == "DESC" else "")
            if query.limit:
                sql += f" LIMIT {query.limit}"
        return head + sql

    def _check_bridges(self, counted: list[Table], steps: list[Step]) -> None:
        """Raise Unclear where rows that are counted may be joined twice: who ordered twice from an employee."""
        used = {table.name for table in counted}
        for step in steps[:-1] if counted else []:
            bridge = step.table
            keys = [key for key in self.keys if (key.table, key.other) == (bridge.name, counted[0].name)]
            # A key of its own lets several rows be the same pair; one that is the pair's does not.
            if bridge.name not in used and len(bridge.key) == 1 and any(bridge.key != (key.column,) for key in keys):
                raise Unclear(f"rows of {counted[0].name} may be counted twice over {bridge.name}")

    def _tables(
        self, select: list[tuple[Column | None, str]], grouped: list[Column], outer: list[Condition], counts: bool
    ) -> list[Table]:
        """Return the tables that are read: first the one that is counted or asked for."""
        query = self.query
        used = [column.table for column, _ in select if column]
        used += [column.table for column in grouped] + [each.column.table for each in outer]
        if query.order and query.order[0]:
            used.append(query.order[0].table)
        if query.counted is not None:
            used.insert(0, query.counted.name)
        elif counts:
            used.insert(0, query.entities[-1].name if len(query.entities) > 1 else used[0])
        without = {table.name for table, _ in query.without}
        # A table that the question names is one whose rows it speaks of, also where no column of it is used.
        used += [table.name for table in query.entities if table.name not in without and table.name not in used]
        return [self.schema.by_name[name.lower()] for name in dict.fromkeys(used)]

    def _without(self, table: Table, about: list[Condition]) -> str:
        """Return the condition that no row of another table belongs to a row."""
        entity = self.query.entities[0]
        pairs = [(k.other_column, k.column) for k in self.keys if (k.table, k.other) == (table.name, entity.name)]
        belongs = [(k.column, k.other_column) for k in self.keys if (k.table, k.other) == (entity.name, table.name)]
        pairs += belongs
        if len(pairs) != 1:
            raise Unclear(f"no single key joins {entity.name} and {table.name}")
        own, other = pairs[0]
        self.qualified = False
        told = self._where(about)
        self.qualified = True
        where = f" WHERE {told} AND" if told else " WHERE"
        key = self._pair((entity.name, own))
        none = (
            f"{key} NOT IN (SELECT {self._name(other)} FROM {self._name(table.name)}"
            f"{where} {self._name(other)} IS NOT NULL)"
        )
        # A row that belongs to none has no key of one.
        return f"({key} IS NULL OR {none})" if belongs else none

    def _where(self, conditions: list[Condition]) -> str:
        told = ""
        joints = {each.joint for each in conditions[1:]}
        if len(joints) > 1:
            raise Unclear("its conditions are joined by “and” and by “or”")
        for each in conditions:
            same = [other for other in conditions if other is not each and other.column is each.column]
            is_empty = any(exclude(each, other) for other in same)
            if is_empty and joints == {"AND"}:
                raise Unclear(f"{each.column.name} can't have two values at once")
            value = each.value
            if value.startswith("AVG "):
                table = self._name(each.column.table)
                value = f"(SELECT AVG({self._name(each.column.name)}) FROM {table})"
            part = f"{self._column(each.column)} {each.operator} {value}"
            if each.operator == "MONTH" and self.dialect == "sqlite":
                part = f"{self._column(each.column)} LIKE '____-{int(value):02}-%'"
            elif each.operator == "MONTH":
                day = self._column(each.column)
                day = day if each.column.is_time else f"CAST({day} AS DATE)"  # a text that holds days
                part = f"EXTRACT(MONTH FROM {day}) = {value}"
            told += f" {each.joint} {part}" if told else part
        return f"({told})" if joints == {"OR"} and self.query.without else told

    def _selected(self, column: Column | None, name: str) -> str:
        if column is None:
            return "COUNT(*)"
        if name == "COUNT DISTINCT":
            return f"COUNT(DISTINCT {self._column(column)})"
        return f"{name}({self._column(column)})" if name else self._column(column)

    def _column(self, column: Column) -> str:
        return self._pair((column.table, column.name)) if self.qualified else self._name(column.name)

    def _pair(self, pair: tuple[str, str]) -> str:
        return f"{self._name(pair[0])}.{self._name(pair[1])}"

    def _name(self, name: str) -> str:
        return write_name(name, self.dialect)


def write_name(name: str, dialect: str) -> str:
    """Return an identifier as it stands in a statement: in quotation marks where it needs them."""
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", name) and name.lower() not in _RESERVED
    if is_plain and (dialect != "postgres" or name == name.lower()):
        return name
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
