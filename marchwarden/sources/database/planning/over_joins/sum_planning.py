"""Decide which rows are summed up, over which joins: each part of a question must have one meaning in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from marchwarden.sources.database.planning.draft import (
    Unclear,
    begins,
    holds_days,
    in_days,
    in_period,
    names_of,
    quote_text,
)
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.over_joins.deal_words import (
    BOOKKEEPING,
    BUYING,
    EVENTS,
    UNDONE,
)
from marchwarden.sources.database.planning.over_joins.fact_paths import Paths, Ways
from marchwarden.sources.database.planning.over_joins.measure_choice import MeasureChoice
from marchwarden.sources.database.planning.over_joins.measures import (
    Measure,
    identify,
    is_buyer,
    is_deal,
    is_payer,
    is_payment,
    is_seller,
)
from marchwarden.sources.database.planning.over_joins.sum_reading import Asked, Said
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name


@dataclass
class SumPlan:
    """A statement in parts: the number, the groups and the conditions, with the table whose rows are summed up."""

    measure: Measure
    ways: Ways
    group: Table | Column | None = None
    shown: list[Column] = field(default_factory=list)
    """Columns that name a group."""
    conditions: list[tuple[Column, str, str]] = field(default_factory=list)
    """Column, operator and value as text of the statement; the operator `MONTH` for a month of any year."""
    top: tuple[str, int] | None = None
    is_list: bool = False
    """True where only the names are asked for, and no number."""
    span: tuple[str, Column] | None = None
    """`month`, `quarter` or `year`, and the column of days."""
    limit: tuple[str, str] | None = None
    is_denied: bool = False
    """True where the groups are told that the rows do not belong to."""
    is_counted: bool = False
    """True where the number of groups is told."""
    is_apart: bool = False
    """True where a difference counts whichever of both is larger."""
    is_mean: bool = False
    """True where the number is divided by that of the groups."""
    around: Ways | None = None
    """Ways from the rows of the group, where these are chosen by the rows that belong to them."""

    def is_around(self, column: Column) -> bool:
        """Return whether a condition is one of the rows that are chosen, and not of those that belong to them."""
        return self.around is not None and self.around.reaches(column.table)


class NotJoined(Unclear):
    """No rows lead to all that a question names."""


class SumPlanner:
    def __init__(self, asked: Asked, schema: Schema) -> None:
        self.asked, self.schema = asked, schema
        self.paths = Paths(schema)
        self._said_on: list[tuple[Said, Column]] = []

    def plan(self) -> SumPlan:
        """Return the only plan. Raises Unclear where there is none, or more than one."""
        self._check_asked()
        plans = self._plans(MeasureChoice(self.asked, self.schema, self.paths).measures())
        if len(plans) > 1:
            # The order that a line belongs to tells its total: a payment, its sale. The others lie behind it.
            heads = [
                plan
                for plan in plans
                if all(other is plan or other.ways.reaches(plan.measure.fact.name) for other in plans)
            ]
            is_of_sales = self.asked.thing is None or all(plan.measure.function == "DISTINCT" for plan in plans)
            plans = heads if len(heads) == 1 and is_of_sales else plans
        if len(plans) != 1:
            told = " or ".join(dict.fromkeys(plan.measure.fact.name for plan in plans))
            if not told:
                raise NotJoined("no table joins what is summed up with all that the question names")
            raise Unclear(f"it may be summed up over the rows of {told}")
        plan = plans[0]
        group = plan.group.table if isinstance(plan.group, Column) else plan.group.name if plan.group else ""
        if plan.ways.pairing(group) and any(plan.ways.pairing(each.table) for each, _, _ in plan.conditions):
            raise Unclear(f"it is not clear whether a condition is one of each {group}")
        self._choose(plan)
        self._check_roles(plan)
        self._check_undone(plan)
        return plan

    def _choose(self, plan: SumPlan) -> None:
        """Settle which groups are told, and by what: the highest, those that pass a limit, those without any row."""
        asked = self.asked
        plan.top, plan.limit, plan.is_denied, plan.is_counted = (
            asked.top,
            asked.limit,
            asked.is_denied,
            asked.is_counted,
        )
        if asked.money == "loss" and plan.top is not None:
            plan.top = ("ASC" if plan.top[0] == "DESC" else "DESC", plan.top[1])
        if plan.limit is not None and plan.limit[0] in _OPPOSITES:
            # Who placed no order at all placed fewer than two.
            plan.limit, plan.is_denied = (_OPPOSITES[plan.limit[0]], plan.limit[1]), True
        elif asked.money in ("profit", "loss") and plan.is_list and plan.limit is None:
            plan.limit = (">" if asked.money == "profit" else "<", "0")
        if plan.limit is not None and float(plan.limit[1]) == 0 and asked.money not in ("profit", "loss"):
            raise Unclear(f"it is not clear what is compared with {plan.limit[1]}")
        plan.is_list = plan.is_list and (plan.limit is None or plan.is_denied)
        if (plan.limit or plan.is_denied) and plan.group is None and plan.span is None:
            raise Unclear("it does not say what is compared")
        plan.is_apart = asked.minus is not None and plan.top is not None
        if plan.is_mean and isinstance(plan.group, Table):
            plan.around = self.paths.from_rows_of(plan.group)
        elif plan.is_mean and plan.group is not None:
            raise Unclear("it is not clear what the average is taken over")
        if not plan.is_denied and not plan.is_counted:
            return
        if plan.group is None or plan.span is not None:
            raise Unclear(f"it is not clear which {asked.span}s have no rows")
        table = plan.group if isinstance(plan.group, Table) else self._table(plan.group)
        plan.around = self.paths.from_rows_of(table)
        for each in self._said_on:
            if asked.is_denied and each[0].link.kind == "value" and plan.is_around(each[1]) == each[0].is_denied:
                raise Unclear(f"it is not clear what “{each[0].link.words}” says of the rows that are denied")

    def _check_asked(self) -> None:
        asked = self.asked
        if asked.is_who and asked.group is None and not (asked.deal or asked.deed):
            raise Unclear("it is not clear who is asked for")
        is_told = asked.deal or asked.deed or asked.limit or asked.is_denied or asked.money in ("profit", "loss")
        if asked.form == "which" and not asked.top and not is_told:
            raise Unclear("it does not say what is summed up")
        is_had = bool(asked.serves) and any(each.is_denied and each.link.values for each in asked.conditions)
        if asked.is_denied and not (asked.thing or asked.deal or asked.deed or is_had):
            raise Unclear("it is not clear what is denied")
        if asked.span and asked.group and (asked.top or asked.limit or asked.is_denied or asked.function == "AVG"):
            raise Unclear(f"it is not clear what is told of each {asked.span}")
        if asked.limit and asked.function == "AVG":
            raise Unclear("it is not clear what the average is compared with")
        group_end = asked.group.place + len(asked.group.words.split()) if asked.group else -1
        is_named = asked.money != "" or asked.measure is not None
        if asked.deal == "gain" and not is_named and (asked.form == "which" or group_end == asked.deal_place):
            # A shipper earns its fees, and an employee a salary.
            raise Unclear("it is not clear what was earned")
        if asked.top and asked.is_every:
            raise Unclear("it is not clear whether each group or the highest is asked for")
        if asked.deal and asked.deed:
            raise Unclear(f"it is not clear what “{asked.deed.words}” adds")
        if asked.form == "many" and not asked.is_counted and (asked.money or asked.measure):
            raise Unclear("it is not clear what is counted")
        if asked.top and asked.group is None and not asked.is_who and not asked.span:
            raise Unclear("it does not say what the highest is of")

    # What it is joined with

    def _plans(self, measures: Sequence[Measure]) -> list[SumPlan]:
        """Return the plans of those numbers whose rows lead to all that the question names."""
        found = []
        for measure in measures:
            plan = SumPlan(measure, self.paths.from_rows_of(measure.fact))
            if (
                self._add_group(plan)
                and self._add_span(plan)
                and self._add_conditions(plan)
                and self._reaches_mentions(plan)
            ):
                found.append(plan)
        return found

    def _reaches_mentions(self, plan: SumPlan) -> bool:
        if self.asked.thing is not None and not plan.ways.reaches(self.asked.thing.tables[0].name):
            return False
        return all(plan.ways.reaches(table.name) for table in self.asked.mentions)

    def _add_group(self, plan: SumPlan) -> bool:
        """Add the groups, with the columns that name them. Return False where no key leads to them."""
        asked, link = self.asked, self.asked.group
        if link is None and not asked.is_who:
            return True
        if link is None:
            people = [
                table
                for table in self.schema.tables
                if plan.ways.reaches(table.name)
                and (
                    is_payer(table)
                    if asked.deal == "spend"
                    else is_buyer(table)
                    if asked.deal in BUYING
                    else is_seller(table)
                )
            ]
            if len(people) != 1:
                raise Unclear("it is not clear who is asked for")
            plan.group = people[0]
        elif link.tables and not self._reached(plan, link.columns):
            if not plan.ways.reaches(link.tables[0].name):
                return False
            plan.group = link.tables[0]
        else:
            if link.tables and plan.ways.reaches(link.tables[0].name):
                raise Unclear(f"“{link.words}” may be {link.tables[0].name} or a column of that name")
            exact = self._reached(plan, link.columns) if link.is_exact else []
            column = plan.ways.nearest(exact or self._reached(plan, [*link.columns, *link.in_part]), link.words)
            if column is None:
                return False
            if column.is_number or column.is_time:
                raise Unclear(f"{column.name} of {column.table} has no groups that “{link.words}” tells")
            plan.group, plan.shown = column, [column]
        if isinstance(plan.group, Table):
            # A row has one profit, and is one row.
            is_same = plan.group is plan.measure.fact and not plan.measure.minus
            if is_same or (asked.thing is not None and plan.group is asked.thing.tables[0]):
                raise Unclear(f"it is not clear what is summed up for each row of {plan.group.name}")
            plan.ways.to(plan.group.name)
            if len(plan.group.key) != 1:
                raise Unclear(f"the rows of {plan.group.name} have no key to group by")
            plan.shown = self._identify(plan.group)
        plan.is_list = asked.form == "which" and asked.top is None
        return True

    def _identify(self, table: Table) -> list[Column]:
        try:
            return identify(table)
        except Unclear:
            if not self.asked.is_denied:
                raise
            # Rows without a name, such as visits, are told by their key and what else is no number.
            told = [each for each in table.columns if not each.is_number and each.name not in table.key]
            told = [each for each in told if BOOKKEEPING.isdisjoint(words_of_name(each.name))]
            return [table.by_name[table.key[0].lower()], *told[:_MOST_TOLD]]

    def _add_span(self, plan: SumPlan) -> bool:
        asked = self.asked
        plan.is_mean = asked.function == "AVG" and plan.measure.function not in ("AVG", "PER")
        if asked.span:
            days = self._days_of(plan, asked.span)
            plan.span = (asked.span, days)
            if plan.measure.function == "PER" and asked.is_span_of_sums:
                raise Unclear(f"it is not clear what the average of each {asked.span} is taken over")
            plan.is_list = False
        return True

    def _reached(self, plan: SumPlan, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that a way leads to, and that are no keys and no names of a table's own rows."""
        keys = {(key.table, key.column) for key in self.paths.keys}
        return [
            column
            for column in plan.ways.preferred(columns)
            if (column.table, column.name) not in keys and column.name not in self._table(column).key
        ]

    def _add_conditions(self, plan: SumPlan) -> bool:
        """Add the conditions. Return False where no key leads to one."""
        said = list(self.asked.conditions)
        while said:
            each = said.pop(0)
            if each.link.kind in ("period", "number"):
                self._add_time(plan, each)
            elif said and (pair := _person(each, said[0])):
                said.pop(0)
                # `customers of Nora Falk` are hers only where a key says so.
                near = self.paths.from_rows_of(each.beside) if each.beside else plan.ways
                reached = [table for table in pair if plan.ways.reaches(table) and near.reaches(table)]
                if not reached:
                    return False
                if len(reached) > 1:
                    raise Unclear(f"“{each.link.words}” may be one of {' or '.join(reached)}")
                plan.ways.to(reached[0])
                self._said_on += [(each, column) for column, _ in pair[reached[0]]]
                plan.conditions += [(column, "=", quote_text(value)) for column, value in pair[reached[0]]]
            else:
                if any(other is not each and set(other.link.values) & set(each.link.values) for other in said):
                    raise Unclear(f"it is not clear whether “{each.link.words}” and another value hold at once")
                column = self._column_of(plan, each)
                if column is None or not plan.ways.reaches(column.table):
                    return False
                self._said_on.append((each, column))
                plan.conditions.append((column, "=", quote_text(each.link.values[column])))
        columns = [column for column, _, _ in plan.conditions]
        if len(set(columns)) < len(columns):
            raise Unclear("a column can’t have two values at once")
        return True

    def _column_of(self, plan: SumPlan, said: Said) -> Column | None:
        """Return the column that a value stands in; None where no key leads to one."""
        words, columns, asked = said.link.words, list(said.link.values), self.asked
        if said.beside is not None:
            if not plan.ways.reaches(said.beside.name):
                return None
            own = [column for column in columns if column.table == said.beside.name]
            if len(own) > 1:
                raise Unclear(f"“{words}” may be {' or '.join(each.name for each in own)} of {said.beside.name}")
            # Of the thing itself, or of what it belongs to: the genre of jazz tracks.
            return own[0] if own else _of_value(self.paths.from_rows_of(said.beside), columns, words)
        if said.is_bought and isinstance(plan.group, Table):
            columns = [each for each in columns if each.table != plan.group.name] or columns
        if asked.thing is not None and not asked.deal:
            # `how many albums does Iron Maiden have` asks for no album of that name.
            columns = [each for each in columns if each not in names_of(plan.measure.fact)] or columns
        return _of_value(plan.ways, columns, words)

    def _add_time(self, plan: SumPlan, said: Said) -> None:
        """Add the condition of a year, a month or a day."""
        words = said.link.words
        days = self._days_of(plan, words)
        if said.link.period is not None:
            plan.conditions.append((days, *in_period(days, "=", said.link.period)))
        else:
            plan.conditions.append((days, *in_days(days, "=", words)))

    def _days_of(self, plan: SumPlan, words: str) -> Column:
        """Return the column of days of the rows, or of what they belong to. Raises Unclear where none is certain."""
        near = sorted(
            (table for table in self.schema.tables if plan.ways.reaches(table.name)),
            key=lambda table: plan.ways.distance(table.name),
        )
        priced = {column.table for column in plan.measure.columns}
        for table in near:
            days = [
                column
                for column in table.columns
                if holds_days(column) and BOOKKEEPING.isdisjoint(words_of_name(column.name))
            ]
            if not days:
                continue
            own = {stem_of(word) for word in words_of_name(table.name)}
            named = [column for column in days if own & {stem_of(word) for word in words_of_name(column.name)}]
            days = (named or begins(days)) if len(days) > 1 else days
            # The day of a visit is that of what was prescribed in it, and that of a performance the one of its
            # tickets; that of a person's birth is not.
            is_event = table.name in priced and not EVENTS.isdisjoint(own)
            if len(days) != 1 or not (table is plan.measure.fact or is_deal(table) or named or is_event):
                break
            plan.ways.to(table.name)
            return days[0]
        raise Unclear(f"it is not clear which dates “{words}” refers to")

    def _check_roles(self, plan: SumPlan) -> None:
        """Raise Unclear where customers sell, employees buy, or nobody is said to have spent."""
        asked = self.asked
        tables = [plan.group] if isinstance(plan.group, Table) else []
        tables += [*asked.mentions, *(self._table(column) for column, _, _ in plan.conditions)]
        buyers = list(filter(is_payer if asked.deal == "spend" else is_buyer, tables))
        sellers = [table for table in tables if is_seller(table) and table not in buyers]
        if (
            asked.deal in ("buy", "spend")
            and (not asked.is_denied or sellers)
            and not buyers
            and (asked.deal == "spend" or asked.thing is None or sellers)
        ):
            raise Unclear("it does not say who bought")
        is_by_buyers = any(plan.ways.reaches(table.name) and is_buyer(table) for table in self.schema.tables)
        if (
            asked.deal == "pay"
            and not buyers
            and not (asked.is_denied or asked.measure)
            and (is_by_buyers or not is_payment(plan.measure.fact))
        ):
            raise Unclear("it does not say who paid")
        if asked.serves == "close" and isinstance(plan.group, Table) and len(plan.ways.to(plan.group.name)) > 1:
            raise Unclear(f"no key tells which rows of {plan.measure.fact.name} each of {plan.group.name} handled")
        if asked.deal in ("sell", "earn", "gain") and any(table is plan.group for table in buyers):
            raise Unclear("it is not clear what customers sold")
        if asked.serves and any(table is plan.group for table in buyers) and asked.thing is None and not asked.money:
            raise Unclear("it is not clear what was counted")

    def _check_undone(self, plan: SumPlan) -> None:
        """Raise Unclear where sales that were cancelled or returned would be summed up with the others."""
        if (plan.is_list and not plan.is_denied) or (self.asked.thing is not None and not self.asked.deal):
            return
        for table in self.schema.tables:
            is_sale = (
                is_deal(table) or is_payment(table) or (bool(plan.measure.factors) and table is plan.measure.fact)
            )
            if not (plan.ways.reaches(table.name) and is_sale):
                continue
            for column in table.columns:
                undone = [value for value in column.values if value.lower() in UNDONE]
                if undone and not any(each is column for each, _, _ in plan.conditions):
                    raise Unclear(f"the rows of {table.name} hold some whose {column.name} is {undone[0]}, too")

    def _table(self, column: Column) -> Table:
        return self.schema.by_name[column.table.lower()]


# Comparisons that a group without any row passes, with those that the others pass.
_OPPOSITES = {"<": ">=", "<=": ">"}
# Columns beside the key that tell a row without a name. A guess: make, model and colour of a car.
_MOST_TOLD = 3


def _of_value(ways: Ways, columns: Sequence[Column], words: str) -> Column | None:
    """Return the column that a value stands in; of several with one name, `city`, the nearest.

    Raises Unclear where it is a value of different kinds: an artist and a track of that name.
    """
    reached = ways.preferred(columns)
    kinds = {words_of_name(column.name)[-1] for column in reached}
    if len(reached) > 1 and (len(kinds) > 1 or kinds & {"name", "title"}):
        raise Unclear(f"“{words}” stands in {' and '.join(f'{each.table}.{each.name}' for each in reached)}")
    return ways.nearest(reached, words)


def _person(first: Said, last: Said) -> dict[str, list[tuple[Column, str]]]:
    """Return the tables that keep two values as first and last name, each with both columns and values."""
    found: dict[str, list[tuple[Column, str]]] = {}
    if last.link.place != first.link.place + 1:
        return found
    for column, value in first.link.values.items():
        for other, surname in last.link.values.items():
            is_pair = column.table == other.table and words_of_name(column.name)[0] in ("first", "given", "firstname")
            if is_pair and words_of_name(other.name)[0] in ("last", "family", "surname", "lastname"):
                found[column.table] = [(column, value), (other, surname)]
    return found
