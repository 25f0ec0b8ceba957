"""Write one statement from those of the plainer questions that a question compares.

What two of them count or sum up must be the same, so that a share is one of its whole,
and a growth that of one number.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import expressions as exp

from marchwarden.sources.database.planning.comparing.frames import (
    ButNot,
    Frame,
    Growth,
    Margin,
    Outgrown,
    PerUnit,
    Ranked,
    Ratio,
    Share,
)
from marchwarden.sources.database.planning.comparing.statement_trees import (
    all_of_rows,
    conditions_of,
    denied_rows,
    first_table,
    further_conditions,
    is_grouped,
    is_part,
    is_same_but_number,
    is_same_but_values,
    is_single,
    number_of,
    number_under,
    told_by,
    unrounded,
)
from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.everyday.word_relations import is_of_one_row
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.joins import find_keys
from marchwarden.sources.database.planning.over_joins.deal_words import SUMS_OF_MONEY
from marchwarden.sources.database.planning.statement_writer import MOST_TIES, write_name
from marchwarden.sources.database.schema import KEY_ENDINGS, Schema, words_of_name

# Decimals of a quotient, as of a sum.
_DECIMALS = 4


class Composer:
    """Composes the statement of a frame. `plan` returns the statement of a plainer question, or None."""

    def __init__(self, plan: Callable[[str], str | None], schema: Schema, dialect: str) -> None:
        self.plan, self.schema, self.dialect = plan, schema, dialect

    def compose(self, frame: Frame) -> str:
        """Return the statement that answers the question of a frame. Raises Unclear where there is none."""
        match frame:
            case Share():
                return self._share(frame)
            case Ratio():
                return self._ratio(frame)
            case Margin():
                return self._margin(frame)
            case PerUnit():
                return self._per_unit(frame)
            case Growth():
                return self._growth(frame)
            case Outgrown():
                return self._outgrown(frame)
            case Ranked():
                return self._ranked(frame)
            case ButNot():
                return self._but_not(frame)

    def _share(self, frame: Share) -> str:
        for asked, all_of in frame.pairs:
            part = self._tree(asked)
            whole = self._tree(all_of) if all_of else part and self._without_condition(part)
            if part is not None and part == whole and all_of in frame.timeless:
                whole = self._tree(frame.timeless[all_of])
            if part is not None and whole is not None and self._is_of_lines(part, whole):
                whole = all_of_rows(part, whole)
            if part is None or whole is None or not is_single(whole) or not is_part(part, whole, self.schema):
                continue
            if is_single(part) == frame.is_of_groups or self._may_be_money(whole):
                continue
            if frame.is_of_groups and further_conditions(part, whole):
                continue  # in Brazil: of all, or of what is sold there
            if is_single(part):
                return self._told_share(part, whole)
            quotient = self._quotient(self._written(number_of(part)), f"({self._written(whole)})", "100.0")
            return self._written(told_by(part, self._parsed(quotient), "percent", keeps_number=frame.keeps_number))
        if frame.without is not None:
            # Those who have done it are all but those who never have.
            part, whole = map(self._tree, frame.without)
            denied = part and denied_rows(part)
            is_whole = whole is not None and is_single(whole) and not self._may_be_money(whole)
            if part and whole and denied and is_whole and is_part(part, whole, self.schema):
                denied.replace(denied.this.copy())
                return self._told_share(part, whole)
        raise Unclear("it is not clear which number the share is of")

    def _told_share(self, part: exp.Select, whole: exp.Select) -> str:
        some, every = (f"({self._written(each)})" for each in (part, whole))
        return f'SELECT {self._quotient(some, every, "100.0")} AS "percent", {some} AS "part", {every} AS "whole"'

    def _is_of_lines(self, part: exp.Select, whole: exp.Select) -> bool:
        """Return whether a part is summed up over the lines of what the whole is: invoices, which know no genre."""
        lines, heads = first_table(part, self.schema), first_table(whole, self.schema)
        if lines is None or heads is None or not all(number_of(each).find(exp.Sum) for each in (part, whole)):
            return False
        return any((key.table, key.other) == (lines.name, heads.name) for key in find_keys(self.schema))

    def _may_be_money(self, tree: exp.Select) -> bool:
        """Return whether rows are counted that are sums of money: a growth of sales is rather one of money."""
        table = first_table(tree, self.schema)
        is_count = isinstance(number_of(tree), exp.Count)
        return is_count and table is not None and words_of_name(table.name)[-1] in SUMS_OF_MONEY

    def _without_condition(self, part: exp.Select) -> exp.Select | None:
        """Return a count of all rows of which another counts those with one value; None for other counts."""
        where = part.args.get("where")
        if where is None or not isinstance(where.this, exp.EQ) or not isinstance(number_of(part), exp.Count):
            return None
        whole = part.copy()
        whole.set("where", None)
        return whole

    def _ratio(self, frame: Ratio) -> str:
        for asked in frame.pairs:
            one, other = map(self._tree, asked)
            if one is None or other is None:
                continue
            if is_single(one) and is_single(other):
                first, second = (f"({self._written(each)})" for each in (one, other))
                return f'SELECT {self._quotient(first, second, "1.0")} AS "ratio"'
            if is_grouped(one) and is_same_but_number(one, other):
                first, second = (self._written(unrounded(number_of(each))) for each in (one, other))
                return self._written(told_by(one, self._parsed(self._quotient(first, second, "1.0")), "ratio"))
        raise Unclear("it is not clear which two numbers the ratio is of")

    def _margin(self, frame: Margin) -> str:
        tree = self._tree(frame.question)
        profit = tree and number_of(tree).find(exp.Sum)
        if tree is None or profit is None or not isinstance(profit.this, exp.Sub):
            raise Unclear("no columns tell the profit and what it was made with")
        made, spent = self._written(profit.this.this), self._written(profit.this.expression)
        # A row whose cost is not known has no profit, and is no part of what others were made with.
        income = f"SUM(CASE WHEN {spent} IS NOT NULL THEN {made} END)"
        margin = self._parsed(self._quotient(self._written(profit), income, "100.0"))
        return self._written(told_by(tree, margin, "profit margin in percent"))

    def _per_unit(self, frame: PerUnit) -> str:
        for question in frame.questions:
            tree = self._tree(question)
            total = tree and number_of(tree).find(exp.Sum)
            if tree is None or total is None or not isinstance(total.this, exp.Column):
                continue
            column = total.this
            table = self.schema.by_name.get(column.table.lower()) if column.table else first_table(tree, self.schema)
            units = [
                each
                for each in (table.columns if table else ())
                if each.is_number
                and stem_of(frame.unit) in map(stem_of, words := words_of_name(each.name))
                and KEY_ENDINGS.isdisjoint(words)
            ]
            number = table.by_name.get(column.name.lower()) if table else None
            if len(units) != 1 or units[0] is number or number is None or is_of_one_row(number):
                continue
            before = f"{self._written(column.args['table'])}." if column.table else ""
            unit, summed = f"{before}{write_name(units[0].name, self.dialect)}", self._written(column)
            quotient = self._quotient(
                f"SUM(CASE WHEN {unit} IS NOT NULL THEN {summed} END)",
                f"SUM(CASE WHEN {summed} IS NOT NULL THEN {unit} END)",
                "1.0",
            )
            name = f"{' '.join(words_of_name(column.name))} per {frame.unit}"
            return self._written(told_by(tree, self._parsed(quotient), name))
        raise Unclear(f"it is not clear what is told per {frame.unit}")

    def _growth(self, frame: Growth) -> str:
        for asked in frame.pairs:
            earlier, later = map(self._tree, asked)
            if earlier is None or later is None or not is_same_but_values(earlier, later):
                continue
            if self._may_be_money(earlier) and not frame.is_count:
                continue
            if frame.is_of_groups and is_grouped(earlier):
                return self._grown_groups(frame, earlier, later)
            if frame.is_of_groups or not is_single(earlier):
                continue
            old, new = (f"({self._written(each)})" for each in (earlier, later))
            told = {
                "change": f'{self._rounded(f"{new} - {old}")} AS "change"',
                "percent": f'{self._quotient(f"({new} - {old})", old, "100.0")} AS "change in percent"',
            }
            numbers = [f'{each} AS "{period}"' for each, period in zip((old, new), frame.periods, strict=True)]
            return f"SELECT {', '.join((*(told[each] for each in frame.tells), *numbers))}"
        raise Unclear("it is not clear which number changed")

    def _grown_groups(self, frame: Growth, earlier: exp.Select, later: exp.Select) -> str:
        """Return the growth of each group that has rows in either period."""
        number = number_of(later).copy()
        if later.args.get("having") or later.args.get("limit") or number.find(exp.Avg):
            raise Unclear("it is not clear what grew in each group")
        old, new = self._both_periods(number, earlier, later)
        told = {
            "change": ("change", self._rounded(f"{self._written(new)} - {self._written(old)}")),
            "percent": (
                "change in percent",
                self._quotient(f"({self._written(new)} - {self._written(old)})", self._written(old), "100.0"),
            ),
        }
        columns = [(name, self._parsed(each)) for name, each in (told[tell] for tell in frame.tells)]
        columns += list(zip(frame.periods, (old, new), strict=True))
        shown = [exp.alias_(each.copy(), name, quoted=True) for name, each in columns]
        later.set("expressions", [*later.expressions[:-1], *shown])
        grown, is_down = columns[0][1], frame.top != "ASC"
        order = exp.Ordered(this=grown.copy(), desc=is_down, nulls_first=False)
        if frame.top:
            best = later.copy().select(grown.copy(), append=False).having(_known(grown)).order_by(order, append=False)
            later.having(exp.EQ(this=grown.copy(), expression=exp.Subquery(this=best.limit(1))), copy=False)
            later.set("order", None)
            later.limit(MOST_TIES, copy=False)
        else:
            later.order_by(order, append=False, copy=False)
        return self._written(later)

    def _both_periods(self, number: exp.Expr, earlier: exp.Select, later: exp.Select) -> tuple[exp.Expr, exp.Expr]:
        """Return a number in each of two periods, after `later` has been given the rows of both."""
        pairs = [
            (old, new) for old, new in zip(conditions_of(earlier), conditions_of(later), strict=True) if old != new
        ]
        if len(pairs) != 1:
            raise Unclear("it is not clear which periods are compared")
        before, now = (number_under(number, each) for each in pairs[0])
        pairs[0][1].replace(exp.paren(exp.or_(*(each.copy() for each in pairs[0]))))
        return before, now

    def _outgrown(self, frame: Outgrown) -> str:
        earlier, later = map(self._tree, frame.pair)
        limits = [tree and tree.find(exp.Having) for tree in (earlier, later)]
        if earlier is None or later is None or not all(limits) or not is_same_but_values(earlier, later):
            raise Unclear("it is not clear which numbers are compared")
        rows = [
            limit.parent
            for limit in limits
            if limit is not None and isinstance(limit.this, exp.GT) and isinstance(limit.parent, exp.Select)
        ]
        limit = limits[1]
        if limit is None or len(rows) != 2:
            raise Unclear("it is not clear which periods are compared")
        number = limit.this.this.copy()
        before, now = self._both_periods(number, *rows)
        compare = exp.GT if frame.operator == ">" else exp.LT
        limit.this.replace(compare(this=now.copy(), expression=before.copy()))
        if limit.parent is later and number_of(later) == number:
            later.set("order", None)
            numbers = [
                exp.alias_(each, period, quoted=True)
                for each, period in zip((before, now), frame.periods, strict=True)
            ]
            later.set("expressions", [*later.expressions[:-1], *numbers])
        return self._written(later)

    def _ranked(self, frame: Ranked) -> str:
        if frame.last - frame.place >= MOST_TIES:
            raise Unclear(f"it asks for more than {MOST_TIES} places")
        for question in frame.questions:
            tree = self._tree(question)
            for equal in tree.find_all(exp.EQ) if tree else ():
                inner = equal.expression.this if isinstance(equal.expression, exp.Subquery) else None
                if tree is None or not isinstance(inner, exp.Select) or equal.parent_select is not tree:
                    continue
                best = inner.expressions[0]
                if isinstance(equal.parent, exp.Having) and inner.args.get("order"):
                    ranked = inner.having(_known(best))
                elif isinstance(best, exp.Max | exp.Min) and best.this.name.lower() == equal.this.name.lower():
                    order = exp.Ordered(this=best.this.copy(), desc=isinstance(best, exp.Max))
                    ranked = inner.select(best.this.copy(), append=False).where(_known(best.this)).order_by(order)
                else:
                    continue
                # Rows that tie share a place, and the next place is that of those who follow.
                ranked = ranked.distinct().limit(frame.last - frame.place + 1).offset(frame.place - 1)
                if frame.last > frame.place:
                    ordered = ranked.args["order"].expressions[0]
                    tree.order_by(exp.Ordered(this=equal.this.copy(), desc=ordered.args.get("desc")), copy=False)
                    equal.replace(exp.In(this=equal.this.copy(), query=exp.Subquery(this=ranked)))
                else:
                    equal.expression.set("this", ranked)
                return self._written(tree)
        raise Unclear("it is not clear what the rows are ranked by")

    def _but_not(self, frame: ButNot) -> str:
        one, other = self._tree(frame.has_not), self._tree(frame.lacks)
        has, lacks = (tree and denied_rows(tree) for tree in (one, other))
        if one is None or other is None or not has or not lacks or has == lacks:
            raise Unclear("it is not clear what the rows have, or what they lack")
        both = exp.and_(has.this.copy(), lacks.copy())
        # But for what they lack, both must be the same.
        for each in (has, lacks):
            each.replace(exp.Placeholder())
        if one != other:
            raise Unclear("it is not clear whose rows have the one but not the other")
        for place in list(other.find_all(exp.Placeholder)):
            place.replace(both)
        return self._written(other)

    def _tree(self, question: str) -> exp.Select | None:
        planned = self.plan(question)
        tree = sqlglot.parse_one(planned, dialect=self.dialect) if planned else None
        return tree if isinstance(tree, exp.Select) else None

    def _written(self, node: exp.Expr) -> str:
        return node.sql(self.dialect)

    def _parsed(self, text: str) -> exp.Expr:
        return sqlglot.parse_one(text, dialect=self.dialect)

    def _quotient(self, one: str, other: str, factor: str) -> str:
        return self._rounded(f"{factor} * {one} / NULLIF({other}, 0)")

    def _rounded(self, number: str) -> str:
        return f"ROUND({f'CAST({number} AS DECIMAL)' if self.dialect == 'postgres' else number}, {_DECIMALS})"


def _known(number: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=number.copy(), expression=exp.Null()))
