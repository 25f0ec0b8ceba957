"""Keep the state of reading a question: where it stands, what waits for its column, and what was found by then."""

from __future__ import annotations

from collections.abc import Sequence

from marchwarden.sources.database.planning.draft import (
    Condition,
    Draft,
    Unclear,
    begins,
    holds_days,
    in_days,
    in_period,
    is_number,
    quote_text,
)
from marchwarden.sources.database.planning.everyday.periods import Period
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name


class QuestionState:
    """Links of a question as far as they were read, and what was read of them."""

    def __init__(self, links: Sequence[Link], schema: Schema) -> None:
        self.links = list(links)
        self.schema = schema
        self.query = Draft()
        self.at = 0
        self.mode = "select"
        self.aggregates: list[str] = []
        self.counts = False
        self.top: tuple[str, tuple[str, ...], int] | None = None
        self.compares: tuple[str, tuple[str, ...]] | None = None
        self.negated = False
        self.joint = "AND"
        self.groups = False
        self.orders = False
        self.direction: str | None = None
        self.last: Column | None = None
        """Column of the condition before, or the one named last in a condition."""
        self.tables = self.named_tables()
        self.distinct_next = False
        self.sorts = False
        self.number = 1
        self.says_and = False
        self.amounts = False
        """True where `how much` asks for a number that is still to be told."""
        self.asks = ""
        """First word of the question, where it is `who` or `when`."""
        self.head: Column | None = None
        """Column of a value that names what is asked for: `how many engineers`."""
        self.claims: list[Link] = []
        """Verbs that name a column, of which a value has to be told: `did Nora Falk write`."""
        self.is_value = False
        """True where `how many` asks for a number that a row holds, so that a condition must say which row."""

    def named_tables(self) -> list[Table]:
        return list(dict.fromkeys(table for link in self.links if link.kind == "table" for table in link.tables))

    def peek(self, ahead: int = 0) -> Link | None:
        place = self.at + ahead
        return self.links[place] if place < len(self.links) else None

    def next_is(self, *cues: str, ahead: int = 0) -> bool:
        link = self.peek(ahead)
        return link is not None and link.phrase is not None and link.phrase.cue in cues

    def comes_behind(self, *cues: str) -> bool:
        """Return whether the link that was just taken comes behind one of these cues."""
        return self.at >= 2 and (phrase := self.links[self.at - 2].phrase) is not None and phrase.cue in cues

    def take(self) -> Link:
        link = self.links[self.at]
        self.at += 1
        return link

    def check_settled(self) -> None:
        if self.compares or self.top or self.negated:
            raise Unclear("a comparison has nothing to compare")

    def implied_column(self, words: tuple[str, ...], direction: str) -> tuple[Column, str]:
        """Return the column that a word such as `youngest` compares, and the direction in it."""
        tables = self.near_tables()
        found = [
            column
            for word in words
            for table in tables
            for column in table.columns
            if word in words_of_name(column.name)
        ]
        if "year" in words:
            # A year beside no word for births is not that of a birth.
            found = [column for column in found if not {"birth", "born"} & set(words_of_name(column.name))]
        if len(found) == 1:
            return found[0], direction
        if not found and words == ("age",):
            born = [c for t in tables for c in t.columns if {"birth", "born"} & set(words_of_name(c.name))]
            born = [c for c in born if not {"place", "city", "country"} & set(words_of_name(c.name))]
            if len(born) == 1:
                return born[0], {"DESC": "ASC", "ASC": "DESC", ">": "<", "<": ">"}.get(direction, direction)
        if not found and words in (("year",), ("year", "date")):
            days = self.days_of(tables)
            if len(days) == 1 and (days[0], "") not in self.query.select:
                return days[0], direction
        raise Unclear(f"it is not clear which column “{words[0]}” means")

    def days_of(self, tables: Sequence[Table]) -> list[Column]:
        """Return the columns of days; of several of one table the one that has its name, `order_date` of orders."""
        days = [column for table in tables for column in table.columns if holds_days(column)]
        days = [column for column in days if not {"birth", "born"} & set(words_of_name(column.name))] or days
        own = [c for c in days if {*map(stem_of, words_of_name(c.table))} & {*map(stem_of, words_of_name(c.name))}]
        return own if len(days) > 1 and len(own) == 1 else begins(days)

    def add_period(self, column: Column, operator: str, period: Period) -> None:
        """Add the condition of a day or a month. Raises Unclear."""
        self.query.conditions.append(Condition(column, *in_period(column, operator, period), self.joint))
        self.joint, self.last = "AND", column

    def used_tables(self) -> list[Table]:
        """Return the tables of the columns that are asked for or in conditions; all where there are none."""
        used = [column.table for column, _ in self.query.select if column]
        used += [each.column.table for each in self.query.conditions]
        return [self.schema.by_name[name.lower()] for name in dict.fromkeys(used)] or list(self.schema.tables)

    def near_tables(self) -> list[Table]:
        """Return the table that is named next, else the one that was named last, else all."""
        following = self.peek()
        if following and following.kind == "table":
            return list(following.tables)
        if self.query.entities:
            return self.query.entities[-1:]
        return self.tables or self.used_tables()

    def order_by(self, column: Column | None, direction: str, limit: int | None) -> None:
        if self.query.order is not None:
            raise Unclear("it asks for two different orders")
        self.query.order, self.query.limit = (column, direction), limit

    def pick_table(self, link: Link) -> Table:
        if len(link.tables) != 1:
            raise Unclear(f"“{link.words}” may be {' or '.join(table.name for table in link.tables)}")
        return link.tables[0]

    def pick_column(self, link: Link) -> Column:
        """Return the column that words name: of the table that stands nearest, where several have one."""
        found = list(link.columns)
        named = {table.name for table in self.tables}
        if " " in link.words and named and not named & {column.table for column in found}:
            # `air date` of a cartoon means its `original_air_date`, and not another table's `air_date`.
            own = [column for column in link.in_part if column.table in named]
            found = own if len(own) == 1 else found
        if len(found) == 1:
            return found[0]
        # `of the stadium`, `stadium name`: the table beside it.
        place = self.place_of(link)
        before = self.links[place - 1] if place > 0 else None
        beside = [each for each in (before,) if each and each.kind == "table"]
        for each in (*beside, *self.tables_after(link), *reversed(self.tables_before(link))):
            own = [column for column in found if column.table in {table.name for table in each.tables}]
            if len(own) == 1:
                return own[0]
            if len(own) > 1:
                raise Unclear(f"“{link.words}” may be {' or '.join(column.name for column in own)}")
        valued = {column.table for each in self.links if each.kind == "value" for column in each.values}
        own = [column for column in found if column.table in valued]
        if len(own) == 1 and not self.tables:
            return own[0]
        keys = [column for column in found if self.schema.by_name[column.table.lower()].key == (column.name,)]
        if len(keys) == 1 and not self.tables:
            return keys[0]
        raise Unclear(
            f"“{link.words}” may be a column of {' or '.join(dict.fromkeys(column.table for column in found))}"
        )

    def place_of(self, link: Link) -> int:
        return next(number for number, each in enumerate(self.links) if each.place == link.place)

    def tables_after(self, link: Link) -> list[Link]:
        place = self.place_of(link)
        return [each for each in self.links[place + 1 :] if each.kind == "table" and each.tables]

    def tables_before(self, link: Link) -> list[Link]:
        place = self.place_of(link)
        return [each for each in self.links[:place] if each.kind == "table" and each.tables]

    def is_beside(self, column: Column) -> bool:
        """Return whether a column is of another table than the one whose rows are asked for."""
        asked = [each.table for each, _ in self.query.select if each] + [each.name for each in self.query.entities]
        return bool(asked) and asked[0] != column.table

    def literal_of(self, link: Link, column: Column) -> str:
        if column in link.values:
            return quote_text(link.values[column])
        lengths = {len(value) for value in column.values}
        if link.kind == "number" and lengths == {len(link.words)} and all(map(is_number, column.values)):
            return quote_text(link.words)  # years that are kept as text compare as text
        if link.values and not (link.kind == "number" and column.is_number):
            raise Unclear(f"{column.name} of {column.table} has no value “{link.words}”")
        if link.kind == "number":
            return link.words if column.is_number or is_number(link.words) else quote_text(link.words)
        if link.kind == "text" and not (column.complete and column.values) and not column.is_number:
            return quote_text(link.words)
        raise Unclear(f"{column.name} of {column.table} has no value “{link.words}”")

    def add_condition(self, column: Column, operator: str, value: str) -> None:
        if holds_days(column):
            operator, value = in_days(column, operator, value)
        joint, self.joint = self.joint, "AND"
        if joint == "OR" and not self.query.conditions:
            joint = "AND"
            self.joint = "OR"  # `either … or …`
        self.query.conditions.append(Condition(column, operator, value, joint))
        self.last = column

    def group_by(self, group: Table | Column) -> None:
        self.groups = False
        if self.query.group is not None and self.query.group is not group:
            raise Unclear("it asks for two different groups")
        self.query.group = group
        self.mode = "where" if self.query.select else "select"
