"""Write a sum over joined tables as SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from marchwarden.sources.database.planning.over_joins.fact_paths import Ways
from marchwarden.sources.database.planning.over_joins.sum_planning import SumPlan
from marchwarden.sources.database.planning.statement_writer import MOST_TIES, write_name
from marchwarden.sources.database.schema import Column, ForeignKey, Table, words_of_name

# Decimals of a sum: binary fractions add up to 39.620000000000005. A guess: no price has more.
_DECIMALS = 4


def write_sum(plan: SumPlan, dialect: str) -> str:
    """Return the statement of a plan: the names of the groups, then their number, the highest first."""
    return _Writer(plan, dialect).write()


class _Writer:
    def __init__(self, plan: SumPlan, dialect: str) -> None:
        self.plan, self.dialect = plan, dialect
        self.joins = self._joins()
        self.is_qualified = bool(self.joins)

    def write(self) -> str:
        plan = self.plan
        if plan.is_denied or plan.is_counted:
            return self._chosen()
        number = self._number()
        told = self._told(number)
        rows = self._rows(plan.conditions)
        if plan.is_mean:
            return f"SELECT {self._mean(number)}{rows}"
        if plan.group is None and plan.span is None:
            return f"SELECT {told}{rows}"
        shown = [self._column(each) for each in plan.shown]
        spans = [self._span(*plan.span)] if plan.span else []
        key = [self._pair(plan.group.name, plan.group.key[0])] if isinstance(plan.group, Table) else []
        rows += f" GROUP BY {', '.join(dict.fromkeys((*key, *shown, *spans)))}"
        if plan.is_list:
            return f"SELECT {', '.join((*shown, *spans))}{rows}"
        head = f"SELECT {', '.join((*shown, *spans, told))}"
        if plan.limit is not None:
            rows += f" HAVING {number} {' '.join(plan.limit)}"
        if plan.top is None:
            return f"{head}{rows} ORDER BY {', '.join((*shown, *spans)) if spans else f'{number} DESC'}"
        order = f"ORDER BY {number}{' DESC' if plan.top[0] == 'DESC' else ''}"
        if plan.top[1] > 1:
            return f"{head}{rows} {order} LIMIT {plan.top[1]}"
        return f"{head}{rows} HAVING {number} = (SELECT {number}{rows} {order} LIMIT 1) LIMIT {MOST_TIES}"

    def _rows(self, conditions: Sequence[tuple[Column, str, str]], *more: str) -> str:
        """Return the rows that are summed up, with those that they are joined with."""
        plan = self.plan
        told = [*self._conditions(plan.ways, conditions), *more]
        told += [f"{self._column(plan.group)} IS NOT NULL"] if isinstance(plan.group, Column) else []
        told += [f"{self._column(plan.span[1])} IS NOT NULL"] if plan.span else []
        where = f" WHERE {' AND '.join(told)}" if told else ""
        return f" FROM {self._name(plan.measure.fact.name)}{self.joins}{where}"

    def _around(self, table: str) -> tuple[str, str]:
        """Return the rows of the group, and their conditions."""
        plan = self.plan
        own = [each for each in plan.conditions if plan.is_around(each[0])]
        joins = "" if plan.around is None else self._joined(plan.around, self._tables_of(plan.around, own))
        told = [] if plan.around is None else self._conditions(plan.around, own)
        return f" FROM {self._name(table)}{joins}", " AND ".join(told)

    def _mean(self, number: str) -> str:
        """Return the number of all rows by that of the groups: of all groups, but only of the months with any row."""
        plan = self.plan
        if plan.span is not None:
            spans = f"COUNT(DISTINCT {self._span(*plan.span)})"
            unit, rows = plan.span[0], " ".join(words_of_name(plan.measure.fact.name))
            mean = f"ROUND({number} * 1.0 / {spans}, {_DECIMALS})"
            return f'{mean} AS "average for each {unit} with {rows}", {spans} AS "{unit}s with {rows}"'
        assert isinstance(plan.group, Table)
        rows, told = self._around(plan.group.name)
        groups = f"(SELECT COUNT(*){rows}{f' WHERE {told}' if told else ''})"
        return f"ROUND({number} * 1.0 / {groups}, {_DECIMALS})"

    def _chosen(self) -> str:
        """Return the groups, or how many there are, of which the rows pass the limit, or of which there are none."""
        plan = self.plan
        assert plan.group is not None
        self.is_qualified = True
        if isinstance(plan.group, Table):
            last = plan.ways.to(plan.group.name)[-1:]
            own = self._pair(plan.group.name, plan.group.key[0])
            key = self._pair(last[0].table, last[0].column) if last else own
            table, tables, known = plan.group.name, [each.table for each in last], [f"{key} IS NOT NULL"]
        else:
            own = key = self._column(plan.group)
            table, tables, known = plan.group.table, [plan.group.table], []
        inner = [each for each in plan.conditions if not plan.is_around(each[0])]
        tables += self._tables_of(plan.ways, inner) + [column.table for column in plan.measure.columns]
        self.joins = self._joined(plan.ways, tables)
        rows = self._rows(inner, *known)
        if plan.limit is not None:
            rows += f" GROUP BY {key} HAVING {self._number()} {' '.join(plan.limit)}"
        around, told = self._around(table)
        word = "NOT IN" if plan.is_denied else "IN"
        where = f"{told + ' AND ' if told else ''}{own} {word} (SELECT {key}{rows})"
        if isinstance(plan.group, Column):
            where += f" AND {own} IS NOT NULL"
            head = f"COUNT(DISTINCT {own})" if plan.is_counted else f"DISTINCT {own}"
        else:
            head = "COUNT(*)" if plan.is_counted else ", ".join(self._column(each) for each in plan.shown)
        return f"SELECT {head}{around} WHERE {where}"

    def _span(self, unit: str, days: Column) -> str:
        """Return the month, quarter or year of a day as text: `2024-03`, `2024-Q1`, and 2024 as a number."""
        name = self._column(days)
        if self.dialect == "sqlite":
            year, month = f"STRFTIME('%Y', {name})", f"STRFTIME('%Y-%m', {name})"
            quarter = f"CAST((CAST(STRFTIME('%m', {name}) AS INTEGER) + 2) / 3 AS INTEGER)"
            number = f"CAST({year} AS INTEGER)"
        else:
            number = year = f"CAST(EXTRACT(YEAR FROM {name}) AS INTEGER)"
            month = f"STRFTIME({name}, '%Y-%m')" if self.dialect == "duckdb" else f"TO_CHAR({name}, 'YYYY-MM')"
            quarter = f"CAST(EXTRACT(QUARTER FROM {name}) AS INTEGER)"
        return {"year": number, "month": month, "quarter": f"{year} || '-Q' || {quarter}"}[unit]

    def _told(self, number: str) -> str:
        """Return the number with a name where words can't be made from the statement alone."""
        measure = self.plan.measure
        if measure.function == "PER" and measure.per is not None:
            return f'{number} AS "average for each {" ".join(words_of_name(measure.per.name))}"'
        if measure.function == "COUNT" and self.joins:
            return f'{number} AS "number of {" ".join(words_of_name(measure.fact.name))}"'
        return number

    def _number(self) -> str:
        measure = self.plan.measure
        if measure.function == "COUNT":
            return "COUNT(*)"
        if measure.function == "DISTINCT":
            return f"COUNT(DISTINCT {self._column(measure.factors[0])})"
        product = " * ".join(self._column(each) for each in measure.factors)
        taken = " * ".join(self._column(each) for each in measure.minus)
        if measure.discount is not None:
            product += f" * (1 - {self._column(measure.discount)})"
        product += f" - {taken}" if taken else ""
        if taken and self.plan.is_apart:
            product = f"ABS({product})"
        if measure.function == "PER" and measure.per is not None:
            # A sum of whole numbers would be divided without its fraction.
            number = f"SUM({product}) * 1.0 / COUNT(DISTINCT {self._column(measure.per)})"
        else:
            number = f"{measure.function}({product})"
        # SQLite keeps decimal numbers as binary fractions, whatever their type is called.
        exact = r"int" if self.dialect == "sqlite" else r"int|num|dec"
        if measure.function == "SUM" and all(re.search(exact, each.type, re.IGNORECASE) for each in measure.columns):
            return number
        if self.dialect == "postgres":
            number = f"CAST({number} AS DECIMAL)"
        return f"ROUND({number}, {_DECIMALS})"

    def _joins(self) -> str:
        plan = self.plan
        tables = [column.table for column in (*plan.shown, *plan.measure.columns)]
        tables += self._tables_of(plan.ways, plan.conditions)
        tables += [plan.group.name] if isinstance(plan.group, Table) else []
        tables += [plan.span[1].table] if plan.span else []
        return self._joined(plan.ways, tables)

    def _joined(self, ways: Ways, tables: Sequence[str]) -> str:
        keys: dict[ForeignKey, None] = {}
        for table in tables:
            keys.update(dict.fromkeys(ways.to(table)))
        return self._join(keys)

    def _join(self, keys: Iterable[ForeignKey]) -> str:
        return "".join(
            f" JOIN {self._name(key.other)} ON {self._pair(key.table, key.column)} = "
            f"{self._pair(key.other, key.other_column)}"
            for key in keys
        )

    def _tables_of(self, ways: Ways, conditions: Sequence[tuple[Column, str, str]]) -> list[str]:
        """Return the tables that conditions need: of a table of pairs, the one before it."""
        paired = [(column.table, ways.pairing(column.table)) for column, _, _ in conditions]
        return [key.table if key else table for table, key in paired]

    def _conditions(self, ways: Ways, conditions: Sequence[tuple[Column, str, str]]) -> list[str]:
        """Return conditions as text. Those on one row behind a table of pairs stay together."""
        paired: dict[str, list[str]] = {}
        told = []
        for column, operator, value in conditions:
            if ways.pairing(column.table):
                text = self._compared(self._pair(column.table, column.name), operator, value)
                paired.setdefault(column.table, []).append(text)
            else:
                told.append(self._compared(self._column(column), operator, value))
        for table, texts in paired.items():
            key, keys = ways.pairing(table), ways.to(table)
            assert key is not None
            joins = self._join(keys[keys.index(key) + 1 :])
            # A row with two such pairs is still one row.
            rows = f"SELECT {self._pair(key.other, key.other_column)} FROM {self._name(key.other)}{joins}"
            told.append(f"{self._pair(key.table, key.column)} IN ({rows} WHERE {' AND '.join(texts)})")
        return told

    def _compared(self, name: str, operator: str, value: str) -> str:
        if operator != "MONTH":
            return f"{name} {operator} {value}"
        if self.dialect == "sqlite":
            return f"{name} LIKE '____-{int(value):02}-%'"
        return f"EXTRACT(MONTH FROM {name}) = {value}"

    def _column(self, column: Column) -> str:
        return self._pair(column.table, column.name) if self.is_qualified else self._name(column.name)

    def _pair(self, table: str, column: str) -> str:
        return f"{self._name(table)}.{self._name(column)}"

    def _name(self, name: str) -> str:
        return write_name(name, self.dialect)
