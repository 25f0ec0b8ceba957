"""Decide which number a question sums up: a column, rows, pieces, money, profit, or the worth of what is kept."""

from __future__ import annotations

from collections.abc import Sequence

from marchwarden.sources.database.planning.draft import (
    Unclear,
    holds_days,
)
from marchwarden.sources.database.planning.everyday.word_relations import (
    is_of_one_row,
    is_of_people,
    is_per_piece,
    quantity_of,
)
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.over_joins.deal_words import (
    BUYING,
    CHARGES,
    EXPENSES,
    INCOMES,
    NO_SALES,
    PAYMENTS,
    RATES,
    TOTALS,
)
from marchwarden.sources.database.planning.over_joins.fact_paths import Paths
from marchwarden.sources.database.planning.over_joins.measures import (
    Measure,
    is_buyer,
    is_deal,
    is_of_copies,
    is_payer,
    is_payment,
    is_seller,
    money_of,
    numbers_of,
    pieces_of,
    profit_of,
    worth_of,
)
from marchwarden.sources.database.planning.over_joins.sum_reading import Asked
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name


class MeasureChoice:
    """Finds the numbers that a question may mean, one for each table that has one."""

    def __init__(self, asked: Asked, schema: Schema, paths: Paths) -> None:
        self.asked, self.schema, self.paths = asked, schema, paths

    def measures(self) -> list[Measure]:
        """Return the numbers that the question may mean, one for each table that has one."""
        asked = self.asked
        if asked.is_denied:
            return self._of_rows()
        if asked.money == "worth":
            return self._of_worth()
        if asked.minus is not None and asked.measure is not None:
            return self._of_difference(asked.measure, asked.minus)
        counts = bool(asked.thing or asked.deed or asked.often or asked.units)
        counts = counts or asked.is_best_selling or (asked.form == "many" and not asked.is_counted)
        is_chosen = asked.top is not None or asked.limit is not None
        if asked.often and (asked.thing or asked.money or not is_chosen or not (asked.deal or asked.deed)):
            raise Unclear("it is not clear how often what happened")
        if counts and asked.money:
            raise Unclear("it is not clear whether money or rows are counted")
        if asked.measure is not None and asked.money == "all" and not asked.measure.is_exact:
            # `income from tickets`, of which a column tells the price.
            return [each for each in self._of_money() if {*each.factors} & {*asked.measure.columns}]
        if asked.measure is not None:
            return self._of_column(asked.measure)
        if counts:
            return self._of_count()
        if asked.money in ("profit", "loss"):
            return self._of_profit()
        if asked.form == "which" and asked.top is None and asked.limit is None:
            return [Measure(table, "COUNT") for table in self.schema.tables if is_deal(table)]
        if asked.deal == "buy" and not asked.money:
            raise Unclear("it is not clear whether pieces or money are summed up")
        is_money = (
            asked.money or asked.deal in ("earn", "gain", "spend", "pay") or (asked.form == "much" and asked.deal)
        )
        if not is_money:
            raise Unclear("it is not clear whether pieces, rows or money are summed up")
        if asked.function == "AVG" and asked.money != "each" and not asked.span:
            raise Unclear("it is not clear what the average is taken over")
        if asked.money == "each" and asked.function != "AVG":
            raise Unclear("it is not clear which sale’s money is asked for")
        return self._of_money()

    def _of_column(self, link: Link) -> list[Measure]:
        asked = self.asked
        if asked.money or asked.thing is not None:
            raise Unclear(f"it is not clear whether {link.words} is summed up")
        if asked.function == "" and asked.form != "much" and asked.limit is None:
            raise Unclear(f"it is not clear which number of {link.words} is asked for")
        numbers = [column for column in link.columns if column.is_number]
        if link.is_form and any(map(is_of_one_row, numbers)):
            raise Unclear(f"it is not clear what “{link.words}” is counted over")  # `spending`, and not a price
        named = [column for column in numbers if column.table in {table.name for table in asked.mentions}]
        found = named or numbers
        keys = {(key.table, key.column) for key in self.paths.keys}
        if any((each.table, each.name) in keys or each.name in self._table(each).key for each in found):
            raise Unclear(f"{link.words} is a key, which has no sum")
        measures = []
        for each in found:
            pieces = quantity_of(self._table(each)) if is_per_piece(each) and asked.function != "AVG" else None
            if asked.function != "AVG" and (is_of_one_row(each) or each.span) and pieces is None:
                raise Unclear(f"it is not clear what the sum of {link.words} would be")
            factors = (each, pieces) if pieces else (each,)
            is_total = not (TOTALS | INCOMES | EXPENSES).isdisjoint(words_of_name(each.name))
            if asked.span and asked.function == "AVG" and (is_total or asked.is_span_of_sums):
                raise Unclear(f"the average {link.words} may be that of rows or of {asked.span}s")
            measures.append(Measure(self._table(each), asked.function or "SUM", factors))
        return measures

    def _of_rows(self) -> list[Measure]:
        """Return the rows of which there must be none."""
        asked = self.asked
        if asked.money or asked.measure or asked.units or asked.often or asked.function == "AVG":
            raise Unclear("it is not clear what is denied")
        told = asked.deed or asked.thing
        if told is not None and (asked.deed is not None or is_deal(told.tables[0]) or not asked.deal):
            return [Measure(told.tables[0], "COUNT")]
        if not asked.deal and asked.group is not None:
            # `never got Cardol`: rows that lead to it, whatever they are.
            return [Measure(table, "COUNT") for table in self.schema.tables if table not in asked.group.tables]
        tables = [table for table in self.schema.tables if is_deal(table)]
        if asked.deal == "pay":
            tables = [table for table in self.schema.tables if not PAYMENTS.isdisjoint(words_of_name(table.name))]
        if asked.deal not in ("sell", "buy", "spend", "pay"):
            raise Unclear(f"it is not clear what is denied by “{asked.deal}”")
        return [Measure(table, "COUNT") for table in tables]

    def _of_worth(self) -> list[Measure]:
        """Return the worth of what a table keeps that a count, `stock`, or the question names."""
        asked = self.asked
        if asked.deal or asked.thing or asked.function == "AVG" or asked.span or asked.group:
            raise Unclear("it is not clear what is worth it")
        named = {column.table for column in asked.measure.columns} if asked.measure else set()
        named |= {table.name for table in asked.mentions}
        tables = [table for table in self.schema.tables if table.name in named or (not named and asked.units)]
        return [measure for table in tables if (measure := worth_of(table)) is not None]

    def _of_difference(self, first: Link, other: Link) -> list[Measure]:
        pairs = [(a, b) for a in first.columns for b in other.columns if a.table == b.table]
        if len(pairs) != 1 or not all(column.is_number for column in pairs[0]) or self.asked.money:
            raise Unclear(f"it is not clear which difference {first.words} and {other.words} have")
        (one, taken), group = pairs[0], self.asked.group
        if group is None or not group.tables or group.tables[0].name != one.table or self.asked.function:
            raise Unclear(f"it is not clear over which rows {first.words} and {other.words} differ")
        return [Measure(self._table(one), "SUM", (one,), minus=(taken,))]

    def _of_profit(self) -> list[Measure]:
        asked = self.asked
        if asked.deal in BUYING or (asked.function == "AVG" and not asked.span):
            raise Unclear("it is not clear whose profit is meant")
        found = [profit_of(table, self.schema, self.paths.keys) for table in self.schema.tables]
        return [measure for measure in found if measure is not None]

    def _of_count(self) -> list[Measure]:
        asked = self.asked
        self._take_mean()
        if asked.deed is not None:
            return [self._of_deed(asked.deed.tables[0])]
        thing = asked.thing.tables[0] if asked.thing is not None else None
        if asked.deal in ("earn", "gain", "spend", "pay"):
            raise Unclear("it is not clear whether money or rows are counted")
        if thing is not None and (is_deal(thing) or not asked.deal):
            if asked.units and (not is_of_copies(thing) or quantity_of(thing)):
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
            joined = self._things_of(table)
            if not is_deal(table) or (thing is not None and thing.name not in joined):
                continue
            pieces = pieces_of(table, self.paths.keys)
            if pieces is not None and asked.often:
                raise Unclear("it is not clear whether sales or pieces are counted")
            if pieces is None and asked.units:
                continue
            found.append(Measure(table, "SUM", (pieces,)) if pieces else Measure(table, "COUNT"))
        # A line of an order says how many; the order itself knows no pieces.
        return [each for each in found if each.factors] or found

    def _take_mean(self) -> None:
        """Take `a customer` for the group of `how many orders does a customer place on average`."""
        asked = self.asked
        if asked.function != "AVG":
            return
        if asked.group is None and not asked.span and len(asked.mentions) == 1:
            table = asked.mentions.pop()
            asked.group = Link("table", table.name, 0, tables=(table,))
        is_of_rows = asked.thing is not None and (asked.group is None or bool(asked.group.tables))
        if asked.top or not is_of_rows or not (asked.group or asked.span):
            raise Unclear("it is not clear what the average is taken over")

    def _of_deed(self, fact: Table) -> Measure:
        thing = self.asked.thing.tables[0] if self.asked.thing is not None else None
        joined = self._things_of(fact)
        if (thing is not None and thing.name not in joined) or self.asked.units or pieces_of(fact, self.paths.keys):
            raise Unclear(f"it is not clear what is counted of the rows of {fact.name}")
        if thing is None or not (is_buyer(thing) or is_seller(thing)):
            is_total = not (self.asked.group or self.asked.span or self.asked.is_who)
            if thing is not None and is_total and all(key.other != thing.name for key in self.paths.keys_of(fact)):
                raise Unclear(f"it is not clear whether each of {thing.name} counts once")
            return Measure(fact, "COUNT")
        if self.asked.group or self.asked.span or self.asked.limit or len(thing.key) != 1:
            raise Unclear(f"it is not clear whether each of {thing.name} counts once")
        return Measure(fact, "DISTINCT", (thing.by_name[thing.key[0].lower()],))

    def _things_of(self, fact: Table) -> set[str]:
        """Return the tables of which a row has one each: what a line sells, and the film whose copy was rented."""
        joined = {key.other for key in self.paths.keys_of(fact)}
        copies = {name for name in joined if is_of_copies(self.schema.by_name[name.lower()])}
        return joined | {key.other for key in self.paths.keys if key.table in copies}

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
            table
            for table in self.schema.tables
            if is_deal(table) and self.paths.from_rows_of(table).reaches(people.name)
        ]
        return [Measure(fact, "DISTINCT", (key,)) for fact in facts]

    def _of_money(self) -> list[Measure]:
        asked = self.asked
        tables = [table for table in self.schema.tables if is_payment(table)] if asked.deal == "pay" else []
        tables = tables or [table for table in self.schema.tables if is_deal(table)]
        if asked.deal not in BUYING:
            # What was purchased is no revenue.
            tables = [table for table in tables if {"purchase", "purchases"}.isdisjoint(words_of_name(table.name))]
        found = self._money_in(tables)
        if asked.money == "each":
            return [self._mean_of(measure) for measure in found]
        if asked.deal not in ("sell", "pay"):
            found = found or self._money_in([each for each in self.schema.tables if self._is_paid_for(each)])
        if found or asked.deal == "pay":
            return found
        found = [
            measure
            for measure in self._money_in([each for each in self.schema.tables if self._is_sold_by_rows(each)])
            if any(not RATES.isdisjoint(words_of_name(factor.name)) for factor in measure.factors)
        ]
        if found or asked.deal in BUYING or any(map(is_deal, self.schema.tables)):
            return found
        # What is charged for a visit, where nothing is sold.
        charged = [
            (table, column)
            for table in self.schema.tables
            if any(map(holds_days, table.columns)) and not is_of_people(table)
            for column in numbers_of(table, self.paths.keys)
            if not (CHARGES | INCOMES).isdisjoint(words_of_name(column.name))
        ]
        return [Measure(table, "SUM", (column,)) for table, column in charged]

    def _money_in(self, tables: Sequence[Table]) -> list[Measure]:
        found = [money_of(table, self.schema, self.paths.keys) for table in tables]
        return [measure for measure in found if measure is not None]

    def _is_paid_for(self, table: Table) -> bool:
        """Return whether customers have paid what the rows of a table tell."""
        return not PAYMENTS.isdisjoint(words_of_name(table.name)) and self._is_of_payers(table)

    def _is_sold_by_rows(self, table: Table) -> bool:
        """Return whether a table that has no name of sales is one by its rows: who, on which day, for how much."""
        return not is_of_people(table) and self._is_of_payers(table)

    def _is_of_payers(self, table: Table) -> bool:
        if not NO_SALES.isdisjoint({stem_of(word) for word in words_of_name(table.name)}):
            return False
        others = [self.schema.by_name[key.other.lower()] for key in self.paths.keys_of(table)]
        return any(map(is_payer, others)) and any(
            holds_days(column) for each in (table, *others) if not is_of_people(each) for column in each.columns
        )

    def _mean_of(self, total: Measure) -> Measure:
        """Return the mean of whole sales: where a row is a line of one, the sum by the number of sales."""
        heads = [
            key
            for key in self.paths.keys
            if key.table == total.fact.name and is_deal(self.schema.by_name[key.other.lower()])
        ]
        if not heads:
            return Measure(total.fact, "AVG", total.factors, total.discount)
        if len(heads) > 1:
            raise Unclear(f"it is not clear which sale the rows of {total.fact.name} belong to")
        per = total.fact.by_name[heads[0].column.lower()]
        return Measure(total.fact, "PER", total.factors, total.discount, per)

    def _table(self, column: Column) -> Table:
        return self.schema.by_name[column.table.lower()]
