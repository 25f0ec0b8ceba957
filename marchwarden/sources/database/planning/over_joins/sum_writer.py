"""Write a sum over joined tables as SQL."""

from __future__ import annotations

import re

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

    def write(self) -> str:
        plan = self.plan
        number = self._number()
        told = self._told(number)
        rows = f" FROM {self._name(plan.measure.fact.name)}{self.joins}"
        conditions = [self._condition(*each) for each in plan.conditions]
        if isinstance(plan.group, Column):
            conditions.append(f"{self._column(plan.group)} IS NOT NULL")
        rows += f" WHERE {' AND '.join(conditions)}" if conditions else ""
        if plan.group is None:
            return f"SELECT {told}{rows}"
        shown = [self._column(each) for each in plan.shown]
        key = [] if isinstance(plan.group, Column) else [self._pair(plan.group.name, plan.group.key[0])]
        rows += f" GROUP BY {', '.join(dict.fromkeys((*key, *shown)))}"
        if plan.is_list:
            return f"SELECT {', '.join(shown)}{rows}"
        head = f"SELECT {', '.join((*shown, told))}"
        if plan.top is None:
            return f"{head}{rows} ORDER BY {number} DESC"
        order = f"ORDER BY {number}{' DESC' if plan.top[0] == 'DESC' else ''}"
        if plan.top[1] > 1:
            return f"{head}{rows} {order} LIMIT {plan.top[1]}"
        return f"{head}{rows} HAVING {number} = (SELECT {number}{rows} {order} LIMIT 1) LIMIT {MOST_TIES}"

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
        if measure.discount is not None:
            product += f" * (1 - {self._column(measure.discount)})"
        if measure.function == "PER" and measure.per is not None:
            # A sum of whole numbers would be divided without its fraction.
            number = f"SUM({product}) * 1.0 / COUNT(DISTINCT {self._column(measure.per)})"
        else:
            number = f"{measure.function}({product})"
        # SQLite keeps decimal numbers as binary fractions, whatever their type is called.
        exact = r"int" if self.dialect == "sqlite" else r"int|num|dec"
        numbers = [*measure.factors, *([measure.discount] if measure.discount else [])]
        if measure.function == "SUM" and all(re.search(exact, each.type, re.IGNORECASE) for each in numbers):
            return number
        if self.dialect == "postgres":
            number = f"CAST({number} AS DECIMAL)"
        return f"ROUND({number}, {_DECIMALS})"

    def _joins(self) -> str:
        plan, factors = self.plan, self.plan.measure.factors
        used = [*plan.shown, *factors, *(column for column, _, _ in plan.conditions)]
        tables = [column.table for column in used]
        tables += [plan.group.name] if isinstance(plan.group, Table) else []
        keys: dict[ForeignKey, None] = {}
        for table in tables:
            keys.update(dict.fromkeys(plan.ways.to(table)))
        return "".join(
            f" JOIN {self._name(key.other)} ON {self._pair(key.table, key.column)} = "
            f"{self._pair(key.other, key.other_column)}"
            for key in keys
        )

    def _condition(self, column: Column, operator: str, value: str) -> str:
        name = self._column(column)
        if operator != "MONTH":
            return f"{name} {operator} {value}"
        if self.dialect == "sqlite":
            return f"{name} LIKE '____-{int(value):02}-%'"
        return f"EXTRACT(MONTH FROM {name}) = {value}"

    def _column(self, column: Column) -> str:
        return self._pair(column.table, column.name) if self.joins else self._name(column.name)

    def _pair(self, table: str, column: str) -> str:
        return f"{self._name(table)}.{self._name(column)}"

    def _name(self, name: str) -> str:
        return write_name(name, self.dialect)
