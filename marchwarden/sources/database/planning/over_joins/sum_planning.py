"""Decide which rows are summed up, over which joins: each part of a question must have one meaning in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from marchwarden.sources.database.planning.condition_reading import YEAR
from marchwarden.sources.database.planning.draft import (
    Unclear,
    holds_days,
    in_days,
    in_period,
    names_of,
    quote_text,
)
from marchwarden.sources.database.planning.everyday.word_relations import is_of_one_row
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.joins import find_keys
from marchwarden.sources.database.planning.over_joins.deal_words import BOOKKEEPING, UNDONE
from marchwarden.sources.database.planning.over_joins.fact_paths import Ways
from marchwarden.sources.database.planning.over_joins.measures import (
    Measure,
    identify,
    is_buyer,
    is_deal,
    is_payment,
    is_seller,
    money_of,
    pieces_of,
)
from marchwarden.sources.database.planning.over_joins.sum_reading import Asked, Said
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.schema import KEY_ENDINGS, Column, ForeignKey, Schema, Table, words_of_name


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


class NotJoined(Unclear):
    """No rows lead to all that a question names."""


class SumPlanner:
    def __init__(self, asked: Asked, schema: Schema) -> None:
        self.asked, self.schema = asked, schema
        self.keys = _keys_of(schema)
        self._ways: dict[str, Ways] = {}

    def plan(self) -> SumPlan:
        """Return the only plan. Raises Unclear where there is none, or more than one."""
        self._check_asked()
        plans = self._plans(self._measures())
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
        plan.top = self.asked.top
        self._check_roles(plan)
        self._check_undone(plan)
        return plan

    def _check_asked(self) -> None:
        asked = self.asked
        if asked.is_who and asked.group is None and not asked.deal:
            raise Unclear("it is not clear who is asked for")
        if asked.form == "which" and not asked.top and not asked.deal:
            raise Unclear("it does not say what is summed up")
        group_end = asked.group.place + len(asked.group.words.split()) if asked.group else -1
        if asked.deal == "gain" and (asked.form == "which" or group_end == asked.deal_place):
            # A shipper earns its fees, and an employee a salary.
            raise Unclear("it is not clear what was earned")
        if asked.top and asked.is_every:
            raise Unclear("it is not clear whether each group or the highest is asked for")
        if asked.form == "many" and (asked.money or asked.measure):
            raise Unclear("it is not clear what is counted")
        if asked.top and asked.group is None and not asked.is_who:
            raise Unclear("it does not say what the highest is of")

    # What is summed up

    def _measures(self) -> list[Measure]:
        """Return the numbers that the question may mean, one for each table that has one."""
        asked = self.asked
        counts = asked.thing is not None or asked.form == "many" or asked.often or asked.units
        if asked.often and (asked.thing is not None or asked.money or asked.top is None or not asked.deal):
            raise Unclear("it is not clear how often what happened")
        if counts and asked.money:
            raise Unclear("it is not clear whether money or rows are counted")
        if asked.measure is not None:
            return self._of_column(asked.measure)
        if counts:
            return self._of_count()
        if asked.form == "which" and asked.top is None:
            return [Measure(table, "COUNT") for table in self.schema.tables if is_deal(table)]
        if asked.deal == "buy" and not asked.money:
            raise Unclear("it is not clear whether pieces or money are summed up")
        is_money = (
            asked.money or asked.deal in ("earn", "gain", "spend", "pay") or (asked.form == "much" and asked.deal)
        )
        if not is_money:
            raise Unclear("it is not clear whether pieces, rows or money are summed up")
        if asked.function == "AVG" and asked.money != "each":
            raise Unclear("it is not clear what the average is taken over")
        if asked.money == "each" and asked.function != "AVG":
            raise Unclear("it is not clear which sale’s money is asked for")
        return self._of_money()

    def _of_column(self, link: Link) -> list[Measure]:
        asked = self.asked
        if asked.money or asked.thing is not None:
            raise Unclear(f"it is not clear whether {link.words} is summed up")
        if asked.function == "" and asked.form != "much":
            raise Unclear(f"it is not clear which number of {link.words} is asked for")
        numbers = [column for column in link.columns if column.is_number]
        named = [column for column in numbers if column.table in {table.name for table in asked.mentions}]
        found = named or numbers
        keys = {(key.table, key.column) for key in self.keys}
        if any((each.table, each.name) in keys or each.name in self._table(each).key for each in found):
            raise Unclear(f"{link.words} is a key, which has no sum")
        if asked.function != "AVG" and any(is_of_one_row(each) or each.span for each in found):
            raise Unclear(f"it is not clear what the sum of {link.words} would be")
        return [Measure(self._table(each), asked.function or "SUM", (each,)) for each in found]

    def _of_count(self) -> list[Measure]:
        asked = self.asked
        if asked.function == "AVG":
            raise Unclear("it is not clear what the average is taken over")
        thing = asked.thing.tables[0] if asked.thing is not None else None
        if asked.deal in ("earn", "gain", "spend", "pay"):
            raise Unclear("it is not clear whether money or rows are counted")
        if thing is not None and (is_deal(thing) or not asked.deal):
            if asked.units:
                raise Unclear(f"it is not clear whether pieces or rows of {thing.name} are counted")
            return [Measure(thing, "COUNT")]
        if not asked.deal:
            raise Unclear("it is not clear what is counted")
        if thing is not None and (is_buyer(thing) or is_seller(thing)):
            return self._of_people(thing)
        if asked.thing is not None and asked.deal_place == asked.thing.place + len(asked.thing.words.split()):
            raise Unclear(f"it is not clear what {asked.thing.words} {asked.deal}")  # `how many shops sold tea`
        found = []
        for table in self.schema.tables:
            # A line sells a track, and no album.
            joined = {key.other for key in self.keys if key.table == table.name}
            if not is_deal(table) or (thing is not None and thing.name not in joined):
                continue
            pieces = pieces_of(table, self.keys)
            if pieces is not None and asked.often:
                raise Unclear("it is not clear whether sales or pieces are counted")
            if pieces is None and asked.units:
                continue
            found.append(Measure(table, "SUM", (pieces,)) if pieces else Measure(table, "COUNT"))
        # A line of an order says how many; the order itself knows no pieces.
        return [each for each in found if each.factors] or found

    def _of_people(self, people: Table) -> list[Measure]:
        """Return the number of those who bought or sold, each counted once."""
        asked = self.asked
        if (
            is_buyer(people) != (asked.deal == "buy")
            or asked.top
            or asked.group
            or asked.units
            or len(people.key) != 1
        ):
            raise Unclear(f"it is not clear what the number of {people.name} is of")
        key = people.by_name[people.key[0].lower()]
        facts = [
            table for table in self.schema.tables if is_deal(table) and self._ways_of(table).reaches(people.name)
        ]
        return [Measure(fact, "DISTINCT", (key,)) for fact in facts]

    def _of_money(self) -> list[Measure]:
        asked = self.asked
        tables = [table for table in self.schema.tables if is_payment(table)] if asked.deal == "pay" else []
        tables = tables or [table for table in self.schema.tables if is_deal(table)]
        if asked.deal not in _BUYING:
            # What was purchased is no revenue.
            tables = [table for table in tables if {"purchase", "purchases"}.isdisjoint(words_of_name(table.name))]
        found: list[Measure] = []
        for table in tables:
            measure = money_of(table, self.schema, self.keys)
            if measure is not None:
                found.append(self._mean_of(measure) if asked.money == "each" else measure)
        return found

    def _mean_of(self, total: Measure) -> Measure:
        """Return the mean of whole sales: where a row is a line of one, the sum by the number of sales."""
        heads = [
            key
            for key in self.keys
            if key.table == total.fact.name and is_deal(self.schema.by_name[key.other.lower()])
        ]
        if not heads:
            return Measure(total.fact, "AVG", total.factors, total.discount)
        if len(heads) > 1:
            raise Unclear(f"it is not clear which sale the rows of {total.fact.name} belong to")
        per = total.fact.by_name[heads[0].column.lower()]
        return Measure(total.fact, "PER", total.factors, total.discount, per)

    # What it is joined with

    def _plans(self, measures: Sequence[Measure]) -> list[SumPlan]:
        """Return the plans of those numbers whose rows lead to all that the question names."""
        found = []
        for measure in measures:
            plan = SumPlan(measure, self._ways_of(measure.fact))
            if self._add_group(plan) and self._add_conditions(plan) and self._reaches_mentions(plan):
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
                if plan.ways.reaches(table.name) and (is_buyer(table) if asked.deal in _BUYING else is_seller(table))
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
            if plan.group is plan.measure.fact or (asked.thing is not None and plan.group is asked.thing.tables[0]):
                raise Unclear(f"it is not clear what is summed up for each row of {plan.group.name}")
            plan.ways.to(plan.group.name)
            if len(plan.group.key) != 1:
                raise Unclear(f"the rows of {plan.group.name} have no key to group by")
            plan.shown = identify(plan.group)
        plan.is_list = asked.form == "which" and asked.top is None
        return True

    def _reached(self, plan: SumPlan, columns: Sequence[Column]) -> list[Column]:
        """Return the columns that a way leads to, and that are no keys and no names of a table's own rows."""
        keys = {(key.table, key.column) for key in self.keys}
        return [
            column
            for column in columns
            if plan.ways.reaches(column.table)
            and (column.table, column.name) not in keys
            and column.name not in self._table(column).key
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
                near = self._ways_of(each.beside) if each.beside else plan.ways
                reached = [table for table in pair if plan.ways.reaches(table) and near.reaches(table)]
                if not reached:
                    return False
                if len(reached) > 1:
                    raise Unclear(f"“{each.link.words}” may be one of {' or '.join(reached)}")
                plan.ways.to(reached[0])
                plan.conditions += [(column, "=", quote_text(value)) for column, value in pair[reached[0]]]
            else:
                if any(other is not each and set(other.link.values) & set(each.link.values) for other in said):
                    raise Unclear(f"it is not clear whether “{each.link.words}” and another value hold at once")
                column = self._column_of(plan, each)
                if column is None:
                    return False
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
            return own[0] if own else _of_value(self._ways_of(said.beside), columns, words)
        if said.is_bought and isinstance(plan.group, Table):
            columns = [each for each in columns if each.table != plan.group.name] or columns
        if asked.thing is not None and not asked.deal:
            # `how many albums does Iron Maiden have` asks for no album of that name.
            columns = [each for each in columns if each not in names_of(plan.measure.fact)] or columns
        return _of_value(plan.ways, columns, words)

    def _add_time(self, plan: SumPlan, said: Said) -> None:
        """Add the condition of a year, a month or a day, on the days of the rows, or of what they belong to."""
        words = said.link.words
        near = sorted(
            (table for table in self.schema.tables if plan.ways.reaches(table.name)),
            key=lambda table: len(plan.ways.to(table.name)),
        )
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
            days = named if len(days) > 1 else days
            if len(days) != 1 or not (table is plan.measure.fact or is_deal(table)):
                break
            if said.link.period is not None:
                plan.conditions.append((days[0], *in_period(days[0], "=", said.link.period)))
            elif YEAR.fullmatch(words):
                plan.conditions.append((days[0], *in_days(days[0], "=", words)))
            return
        raise Unclear(f"it is not clear which dates “{words}” refers to")

    def _check_roles(self, plan: SumPlan) -> None:
        """Raise Unclear where customers sell, employees buy, or nobody is said to have spent."""
        asked = self.asked
        tables = [plan.group] if isinstance(plan.group, Table) else []
        tables += [*asked.mentions, *(self._table(column) for column, _, _ in plan.conditions)]
        buyers, sellers = list(filter(is_buyer, tables)), list(filter(is_seller, tables))
        if (
            asked.deal in ("buy", "spend")
            and not buyers
            and (asked.deal == "spend" or asked.thing is None or sellers)
        ):
            raise Unclear("it does not say who bought")
        is_by_buyers = any(plan.ways.reaches(table.name) and is_buyer(table) for table in self.schema.tables)
        if asked.deal == "pay" and not buyers and (is_by_buyers or not is_payment(plan.measure.fact)):
            raise Unclear("it does not say who paid")
        if asked.serves == "close" and isinstance(plan.group, Table) and len(plan.ways.to(plan.group.name)) > 1:
            raise Unclear(f"no key tells which rows of {plan.measure.fact.name} each of {plan.group.name} handled")
        if asked.deal in ("sell", "earn", "gain") and any(table is plan.group for table in buyers):
            raise Unclear("it is not clear what customers sold")
        if asked.serves and any(table is plan.group for table in buyers) and asked.thing is None and not asked.money:
            raise Unclear("it is not clear what was counted")

    def _check_undone(self, plan: SumPlan) -> None:
        """Raise Unclear where sales that were cancelled or returned would be summed up with the others."""
        if plan.is_list or (self.asked.thing is not None and not self.asked.deal):
            return
        for table in self.schema.tables:
            if not (plan.ways.reaches(table.name) and (is_deal(table) or is_payment(table))):
                continue
            for column in table.columns:
                undone = [value for value in column.values if value.lower() in UNDONE]
                if undone and not any(each is column for each, _, _ in plan.conditions):
                    raise Unclear(f"the rows of {table.name} hold some whose {column.name} is {undone[0]}, too")

    def _ways_of(self, fact: Table) -> Ways:
        if fact.name not in self._ways:
            self._ways[fact.name] = Ways(fact, self.keys)
        return self._ways[fact.name]

    def _table(self, column: Column) -> Table:
        return self.schema.by_name[column.table.lower()]


_BUYING = ("buy", "spend", "pay")


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


def _of_value(ways: Ways, columns: Sequence[Column], words: str) -> Column | None:
    """Return the column that a value stands in; of several with one name, `city`, the nearest.

    Raises Unclear where it is a value of different kinds: an artist and a track of that name.
    """
    reached = [column for column in columns if ways.reaches(column.table)]
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
