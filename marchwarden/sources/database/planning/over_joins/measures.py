"""Numbers that a question sums up without naming their column: money, pieces, rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from marchwarden.sources.database.planning.draft import Unclear, is_name, names_of, parts_of_name
from marchwarden.sources.database.planning.everyday.word_relations import is_of_people, is_per_piece, quantity_of
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.over_joins.deal_words import (
    BUYERS,
    COPIES,
    DEALS,
    EXPENSES,
    INCOMES,
    NOT_EXPENSES,
    NOT_QUANTITIES,
    NOT_TOTALS,
    PAYERS,
    PAYMENTS,
    PLACES_SOLD,
    QUANTITIES,
    RATES,
    TIMES_SOLD,
    TOTALS,
)
from marchwarden.sources.database.schema import Column, ForeignKey, Schema, Table, words_of_name


@dataclass(frozen=True)
class Measure:
    """A number of each group of rows of `fact`."""

    fact: Table
    function: str
    """`SUM`, `AVG` or `COUNT`; `DISTINCT` for the number of different values; `PER` for a sum divided by the number
    of different values of `per`."""
    factors: tuple[Column, ...] = ()
    """Columns whose product is summed up; none for a count of rows."""
    discount: Column | None = None
    """Share of the product that is taken off, from 0 to 1."""
    per: Column | None = None
    minus: tuple[Column, ...] = ()
    """Columns whose product is taken off."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.factors, *self.minus, *((self.discount,) if self.discount else ()))


def identify(table: Table) -> list[Column]:
    """Return the columns that name a row for a reader: first and last name, name, title, the name of a company.

    Raises Unclear where no column does.
    """
    if len(parts := parts_of_name(table)) == 2:
        return parts
    own = {stem_of(word) for word in words_of_name(table.name)} | {"compani", "busi", "organis", "organ", "full"}
    found = [column for column in names_of(table) if is_name(column)] or [
        column
        for column in table.columns
        if (words := words_of_name(column.name))[-1] in ("name", "title") and {*map(stem_of, words[:-1])} <= own
    ]
    found = found or names_of(table) or [each for each in table.columns if words_of_name(each.name) == ["company"]]
    if len(found) != 1:
        raise Unclear(f"it is not clear how to name each row of {table.name}")
    return found


def is_deal(table: Table) -> bool:
    return not DEALS.isdisjoint(words_of_name(table.name))


def is_buyer(table: Table) -> bool:
    words = words_of_name(table.name)
    return bool(words) and stem_of(words[-1]) in BUYERS


def is_payer(table: Table) -> bool:
    words = words_of_name(table.name)
    return bool(words) and stem_of(words[-1]) in PAYERS


def is_of_copies(table: Table) -> bool:
    """Return whether each row of a table is a copy of a thing that is kept."""
    words = words_of_name(table.name)
    return bool(words) and stem_of(words[-1]) in COPIES and quantity_of(table) is None


def is_seller(table: Table) -> bool:
    return not is_buyer(table) and is_of_people(table)


def is_payment(table: Table) -> bool:
    words = {*words_of_name(table.name), *(word for column in table.columns for word in words_of_name(column.name))}
    return not PAYMENTS.isdisjoint(words) and not is_buyer(table)


def numbers_of(table: Table, keys: tuple[ForeignKey, ...]) -> list[Column]:
    """Return the columns of numbers that are no keys."""
    foreign = {key.column for key in keys if key.table == table.name}
    return [
        each for each in table.columns if each.is_number and each.name not in foreign and each.name not in table.key
    ]


def is_place(column: Column) -> bool:
    """Return whether a column counts seats or tickets, each of which has a price."""
    return stem_of(words_of_name(column.name)[-1]) in PLACES_SOLD


def pieces_of(table: Table, keys: tuple[ForeignKey, ...]) -> Column | None:
    """Return the column that says how many pieces a row sells. Raises Unclear where two may."""
    numbers = numbers_of(table, keys)
    found = [
        column
        for column in numbers
        if not QUANTITIES.isdisjoint(words := words_of_name(column.name)) and NOT_QUANTITIES.isdisjoint(words)
    ] or [each for each in numbers if is_place(each)]
    if len(found) > 1:
        raise Unclear(f"{table.name} has {' and '.join(each.name for each in found)}")
    return found[0] if found else None


def money_of(table: Table, schema: Schema, keys: tuple[ForeignKey, ...]) -> Measure | None:
    """Return the sum of what the rows of a table are worth: of a total, or of price × quantity.

    None where no column says it; raises Unclear where two say it in different ways.
    """
    numbers = numbers_of(table, keys)
    totals = [
        column
        for column in numbers
        if not TOTALS.isdisjoint(words := words_of_name(column.name)) and NOT_TOTALS.isdisjoint(words)
    ]
    if len(totals) > 1:
        raise Unclear(f"money may be {' or '.join(each.name for each in totals)} of {table.name}")
    if totals:
        return Measure(table, "SUM", (totals[0],))
    pieces = pieces_of(table, keys)
    prices = _prices(numbers)
    own = [{stem_of(word) for word in words_of_name(each.name)} for each in prices]
    if pieces and is_place(pieces) and any((PLACES_SOLD | {"per", "unit"}).isdisjoint(words) for words in own):
        raise Unclear(f"the price of {table.name} may be that of one of {pieces.name} or of all")
    others = {key.other: schema.by_name[key.other.lower()] for key in keys if key.table == table.name}
    further = [number for other in others.values() for number in numbers_of(other, keys)]
    if not prices and pieces:
        # The price stands with the thing that is sold.
        prices = _prices(further)
    if len(prices) > 1:
        raise Unclear(f"the price of {table.name} may be {' or '.join(each.name for each in prices)}")
    if not prices:
        return _money_of_times(table, numbers, [*numbers, *further])
    factors = (prices[0], pieces) if pieces else (prices[0],)
    discounts = [column for column in numbers if "discount" in words_of_name(column.name)]
    if discounts and (len(discounts) > 1 or (span := discounts[0].span) is None or span[0] < 0 or span[1] > 1):
        raise Unclear(f"it is not clear how {discounts[0].name} of {table.name} is taken off the price")
    return Measure(table, "SUM", factors, discounts[0] if discounts else None)


def _money_of_times(table: Table, numbers: list[Column], rates: list[Column]) -> Measure | None:
    """Return the sum of days × daily rate, and the like."""
    for unit, adjective in TIMES_SOLD.items():
        times = [each for each in numbers if stem_of(words_of_name(each.name)[-1]) == unit]
        prices = [
            each
            for each in rates
            if each not in times
            and not RATES.isdisjoint(words := words_of_name(each.name))
            and (adjective in words or unit in words)
        ]
        if len(times) == len(prices) == 1:
            return Measure(table, "SUM", (prices[0], times[0]))
        if times and prices:
            raise Unclear(f"{table.name} may be paid by {' or '.join(each.name for each in (*prices, *times))}")
    return None


def profit_of(table: Table, schema: Schema, keys: tuple[ForeignKey, ...]) -> Measure | None:
    """Return the sum of what the rows of a table bring in without what they cost.

    None where no columns say both; raises Unclear where two say one of them.
    """
    numbers = numbers_of(table, keys)
    costs = [each for each in numbers if _has(each, EXPENSES, NOT_EXPENSES)]
    incomes = [each for each in numbers if _has(each, INCOMES, EXPENSES)]
    if is_deal(table) and (total := money_of(table, schema, keys)) is not None:
        pieces = pieces_of(table, keys)
        if not costs and pieces in total.factors and pieces is not None:
            # The cost of a piece stands with the thing that is sold.
            others = {key.other: schema.by_name[key.other.lower()] for key in keys if key.table == table.name}
            costs = [
                each
                for other in others.values()
                if not is_deal(other)
                for each in numbers_of(other, keys)
                if _has(each, EXPENSES, NOT_EXPENSES)
            ]
        elif pieces is not None and not all(map(is_per_piece, costs)):
            raise Unclear(f"{costs[0].name} of {table.name} may be that of one piece or of all")
    elif len(incomes) == 1 and costs:
        total, pieces = Measure(table, "SUM", (incomes[0],)), None
    elif len(incomes) > 1 and costs:
        raise Unclear(f"income may be {' or '.join(each.name for each in incomes)} of {table.name}")
    else:
        return None
    if len(costs) > 1:
        raise Unclear(f"the cost may be {' or '.join(f'{each.name} of {each.table}' for each in costs)}")
    if not costs:
        return None
    return replace(total, minus=(costs[0], pieces) if pieces else (costs[0],))


def worth_of(table: Table) -> Measure | None:
    """Return the sum of price × number of the things that a table keeps. Raises Unclear where two prices are told."""
    count = quantity_of(table)
    prices = [each for each in table.columns if each.is_number and _has(each, _PRICES, NOT_TOTALS - EXPENSES)]
    if count is None or not prices:
        return None
    if len(prices) > 1:
        raise Unclear(f"the value may be that of {' or '.join(each.name for each in prices)} of {table.name}")
    return Measure(table, "SUM", (prices[0], count))


def _has(column: Column, words: frozenset[str], others: frozenset[str]) -> bool:
    own = words_of_name(column.name)
    return not words.isdisjoint(own) and others.isdisjoint(own)


_PRICES = EXPENSES | {"price"}


def _prices(numbers: list[Column]) -> list[Column]:
    return [
        each for each in numbers if "price" in (words := words_of_name(each.name)) and NOT_TOTALS.isdisjoint(words)
    ]
