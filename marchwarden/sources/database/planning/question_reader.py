"""Read a question from left to right into the draft of a statement. What can be meant in two ways is unclear."""

from __future__ import annotations

import re
from collections.abc import Sequence

from marchwarden.sources.database.planning.draft import Condition, Draft, Unclear, is_name, is_number
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class QuestionReader:
    """Reads links from left to right into a query."""

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
        self.tables = self._named_tables()

    def _named_tables(self) -> list[Table]:
        return list(dict.fromkeys(table for link in self.links if link.kind == "table" for table in link.tables))

    # Looking around

    def peek(self, ahead: int = 0) -> Link | None:
        place = self.at + ahead
        return self.links[place] if place < len(self.links) else None

    def next_is(self, *cues: str, ahead: int = 0) -> bool:
        link = self.peek(ahead)
        return link is not None and link.phrase is not None and link.phrase.cue in cues

    def _follows(self, *cues: str) -> bool:
        """Return whether the link that was just taken comes behind one of these cues."""
        return self.at >= 2 and (phrase := self.links[self.at - 2].phrase) is not None and phrase.cue in cues

    def take(self) -> Link:
        link = self.links[self.at]
        self.at += 1
        return link

    # Reading

    def read(self) -> Draft:
        while self.at < len(self.links):
            link = self.take()
            getattr(self, f"_read_{link.kind}")(link)
        self._finish()
        return self.query

    def _read_cue(self, link: Link) -> None:
        phrase = link.phrase
        assert phrase is not None
        cue = phrase.cue
        if link.place == 0 and link.words in ("where", "when"):
            raise Unclear(f"it is not clear which column “{link.words}” asks for")
        if link.place == 0 and link.words in ("sort", "order"):
            self.sorts = True  # `sort the names by age`
            return
        if cue == "ask":
            self._settle()
            self.mode = "select"
        elif cue == "count":
            self._settle()
            self.counts = True
        elif cue == "distinct":
            self.distinct_next = True
            if not self.counts:
                self.query.distinct = True
        elif cue == "aggregate":
            self._read_aggregate(phrase.value)
        elif cue in ("top", "common"):
            self._read_top(cue, phrase.value, phrase.columns)
        elif cue == "compare":
            self.compares = (phrase.value, phrase.columns)
            if phrase.value in (">=", "<=") and link.words.startswith("or "):
                self._widen(phrase.value)
        elif cue == "between":
            self._read_between()
        elif cue == "average":
            self._read_average(phrase.value, phrase.columns)
        elif cue == "order":
            if link.words != "in" or self.next_is("descending", "ascending"):
                self.orders = True
            else:
                self.mode = "where"
        elif cue in ("descending", "ascending"):
            self.direction = "DESC" if cue == "descending" else "ASC"
            if self.query.order and self.query.limit is None:
                self.query.order = (self.query.order[0], self.direction)
                self.orders = False
            else:
                self.orders = True
        elif cue == "each":
            self._settle()
            self.groups = True
        elif cue == "not":
            self.negated = True
        elif cue == "or":
            self.joint = "OR"
        elif cue == "both":
            raise Unclear("“both” asks for two sets of rows")
        elif cue in ("and", "comma"):
            pass
        elif cue == "where":
            is_asked = link.words in ("which", "who") and not self.query.select and not self.query.entities
            self.mode = "select" if is_asked else "where"
        elif cue == "in" and link.words == "by" and self.sorts:
            self.orders, self.sorts = True, False
        elif cue == "in":
            if link.words in ("from", "at", "on", "during", "by") and self.query.select:
                self.mode = "where"
        elif cue in ("like", "starts", "ends"):
            self._read_like(cue)
        elif cue == "named":
            self._read_named()
        else:
            raise Unclear(f"“{link.words}” can't be read here")

    distinct_next = False
    sorts = False
    number = 1
    is_value = False
    """True where `how many` asks for a number that a row holds, so that a condition must say which row."""

    def _settle(self) -> None:
        if self.compares or self.top or self.negated:
            raise Unclear("a comparison has nothing that it compares")

    def _read_aggregate(self, name: str) -> None:
        if self.mode == "select" or (name in ("AVG", "SUM") and self.groups):
            self.aggregates.append(name)
        elif name in ("MAX", "MIN"):
            self._read_top("top", "DESC" if name == "MAX" else "ASC", ())
        else:
            raise Unclear("a mean or a sum is a condition")

    def _read_top(self, cue: str, direction: str, columns: tuple[str, ...]) -> None:
        number, self.number = self.number, 1
        following = self.peek()
        if following and following.kind == "number" and following.words.isdigit() and int(following.words) <= 100:
            number = int(self.take().words)
            if self.next_is("top", "common"):
                again = self.take().phrase
                assert again is not None
                direction, columns = again.value, again.columns or columns
        if self.next_is("count") and not columns:
            self.at += 1  # `the largest number of concerts`
            columns = ("#",)
        if cue == "common":
            self.top = (direction, ("*",), number)
        else:
            self.top = (direction, columns, number)
        if columns and cue == "top" and columns != ("#",):
            self.top = None
            column = self._implied(columns, direction)
            self._order(column[0], column[1], number)
            if self.query.select:
                self.mode = "where"

    def _implied(self, words: tuple[str, ...], direction: str) -> tuple[Column, str]:
        """Return the column that a word such as `youngest` compares, and the direction in it."""
        tables = self._near_tables()
        found = [
            column
            for word in words
            for table in tables
            for column in table.columns
            if word in words_of_name(column.name)
        ]
        if len(found) == 1:
            return found[0], direction
        if not found and words == ("age",):
            born = [c for t in tables for c in t.columns if {"birth", "born"} & set(words_of_name(c.name))]
            born = [c for c in born if not {"place", "city", "country"} & set(words_of_name(c.name))]
            if len(born) == 1:
                return born[0], {"DESC": "ASC", "ASC": "DESC", ">": "<", "<": ">"}.get(direction, direction)
        raise Unclear(f"it is not clear which column “{words[0]}” means")

    def _near_tables(self) -> list[Table]:
        """Return the table that is named next, else the one that was named last, else all."""
        following = self.peek()
        if following and following.kind == "table":
            return list(following.tables)
        if self.query.entities:
            return self.query.entities[-1:]
        return self.tables or list(self.schema.tables)

    def _order(self, column: Column | None, direction: str, limit: int | None) -> None:
        if self.query.order is not None:
            raise Unclear("there are two orders")
        self.query.order, self.query.limit = (column, direction), limit

    def _widen(self, operator: str) -> None:
        """Apply `or more`, `or after` to the condition before."""
        self.compares = None
        if not self.query.conditions or self.query.conditions[-1].operator != "=":
            raise Unclear("there is nothing that “or more” belongs to")
        self.query.conditions[-1].operator = operator

    # Tables

    def _read_table(self, link: Link) -> None:
        table = self._pick_table(link)
        if self.query.without:
            raise Unclear("it is not clear what is excluded")
        self._check_owner(table)
        following = self.peek()
        measures = [column for column in link.columns if column.table == table.name and column.is_number]
        if measures and self.mode == "select" and not self.counts and not self.groups and self.top is None:
            self._read_column(link)  # the population of Norway, in a table of populations
            return
        if self.groups:
            self._group_by(table if not link.columns else self._table_or_column(link, table))
            return
        if self.top is not None:
            self._top_of_table(link, table)
            return
        if self.compares and self.compares[0] and following is None:
            raise Unclear("a comparison has no number")
        if self.negated and self.query.entities and table not in self.query.entities:
            self.negated = False
            self.query.without.append((table, len(self.query.conditions)))
            return
        if self.counts and self.query.counted is None and not any(name == "COUNT" for _, name in self.query.select):
            self.counts = False
            self.query.counted = table
            self.query.select.append((None, "COUNT"))
            if self.distinct_next:
                raise Unclear("it is not clear what different rows are")
        elif self.mode == "select" and self.query.select and self._follows("and", "comma", "ask"):
            raise Unclear(f"it does not say what of {table.name} is asked for")
        elif link.columns and self.mode == "select" and not self._names_entity(link):
            self._read_column(link)
            return
        self.query.entities.append(table)

    def _check_owner(self, table: Table) -> None:
        """Raise Unclear for `the names of orchestras` where only conductors have names."""
        before = self.links[max(0, self.at - 3) : self.at - 1]
        is_of = len(before) == 2 and before[0].kind == "column" and before[1].words in ("of", "for")
        if (is_of or (before and before[-1].kind == "column")) and self.mode == "select" and self.query.select:
            column = self.query.select[-1][0]
            if column and column.table != table.name and not (before[-1].kind == "column" and self.query.entities):
                raise Unclear(f"{table.name} has no column {column.name}")

    def _names_entity(self, link: Link) -> bool:
        """Return whether a word that names a table and a column means the table."""
        following = self.peek()
        return not self.aggregates and not (following is None and not self.query.select)

    def _table_or_column(self, link: Link, table: Table) -> Table | Column:
        own = [column for column in link.columns if column.table in {each.name for each in self.query.entities}]
        return own[0] if len(own) == 1 else table

    def _pick_table(self, link: Link) -> Table:
        if len(link.tables) != 1:
            raise Unclear(f"“{link.words}” may be {' or '.join(table.name for table in link.tables)}")
        return link.tables[0]

    def _group_by(self, group: Table | Column) -> None:
        self.groups = False
        if self.query.group is not None and self.query.group is not group:
            raise Unclear("there are two groups")
        self.query.group = group
        self.mode = "where" if self.query.select else "select"

    def _top_of_table(self, link: Link, table: Table) -> None:
        assert self.top is not None
        direction, columns, number = self.top
        self.top = None
        if columns == ("*",):
            raise Unclear("it is not clear what is most common")
        if not self.query.entities:
            plain = [column for column, name in self.query.select if column and not name]
            if len(plain) != 1 or plain[0].table != table.name or len(self.query.select) > 1:
                raise Unclear(f"it is not clear which {link.words} are meant")
            self.query.group = plain[0]  # `the year with the most concerts`
            self.query.entities.append(table)
            self._order(None, direction, number)
            return
        # `the stadium with the most concerts`: as many rows as belong to each.
        self.query.group = self.query.entities[0]
        self.query.entities.append(table)
        self._order(None, direction, number)

    # Columns

    def _read_column(self, link: Link) -> None:
        if self.groups:
            self._group_by(self._pick_column(link))
            return
        if self.top is not None:
            self._top_by_column(link)
            return
        if self._has_value_after():
            self._condition_on(link)
            return
        if self.orders:
            self.orders = False
            self._order(self._pick_column(link), self.direction or "ASC", None)
            self.direction = None
            return
        if self.compares is not None:
            operator, _ = self.compares
            number = self.peek()
            if number is None or number.kind != "number":
                raise Unclear("a comparison has no number")
            self.compares = None
            self._add(self._pick_column(link), operator, self._literal(self.take(), self._pick_column(link)))
            return
        if self.negated:
            raise Unclear("it is not clear what “not” belongs to")
        if self.counts:
            self._count_column(link)
            return
        if self.mode == "where":
            self._late_column(link)
            return
        column = self._pick_column(link)
        is_flag = words_of_name(column.name)[0] in ("is", "has", "if", "was") and not link.is_exact
        if is_flag:
            raise Unclear(f"it is not clear which rows are “{link.words}”")
        if self.aggregates:
            self.query.select += [(column, name) for name in self.aggregates]
            # `average age and height`: the next column too, unless it says another.
            if not (self.next_is("and", "comma") and (after := self.peek(1)) and after.kind == "column"):
                self.aggregates = []
        else:
            self.query.select.append((column, ""))

    def _late_column(self, link: Link) -> None:
        """Read a column behind the conditions, such as `from which countries`."""
        raise Unclear(f"it is not clear what “{link.words}” says of the rows")

    def _count_column(self, link: Link) -> None:
        column = self._pick_column(link)
        if self.distinct_next:
            self.query.select.append((column, "COUNT DISTINCT"))
        elif column.is_number:
            # `how many points does Rita have`: the number is a value of her row.
            self.query.select.append((column, ""))
            self.is_value = True
        else:
            raise Unclear(f"it is not clear whether each {link.words} counts once")
        self.counts = self.distinct_next = False

    def _is_listed_once(self, column: Column) -> bool:
        return self.schema.by_name[column.table.lower()].key == (column.name,)

    def _top_by_column(self, link: Link) -> None:
        assert self.top is not None
        direction, columns, number = self.top
        self.top = None
        column = self._pick_column(link)
        if columns == ("#",):
            raise Unclear(f"it is not clear what {link.words} are counted for")
        if columns == ("*",):
            self.query.select.append((column, ""))
            self.query.group = column
            self._order(None, direction, number)
            return
        was_select, is_first = self.mode == "select", not self.query.select and not self.query.entities
        if not is_first:
            self.mode = "where"
        is_asked = was_select and is_first and number == 1
        if is_asked and column.is_number:
            self.query.select.append((column, "MAX" if direction == "DESC" else "MIN"))
        elif self.query.select or self.query.entities:
            self._order(column, direction, number)
        else:
            raise Unclear(f"it is not clear whether the highest {link.words} or its row is asked for")

    def _pick_column(self, link: Link) -> Column:
        """Return the column that words name: of the table that stands nearest, where several have one."""
        found = list(link.columns)
        if len(found) == 1:
            return found[0]
        # `of the stadium`, `stadium name`: the table beside it.
        before = self.links[self.links.index(link) - 1] if self.links.index(link) > 0 else None
        beside = [each for each in (before,) if each and each.kind == "table"]
        for each in (*beside, *self._tables_after(link), *reversed(self._tables_before(link))):
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
        raise Unclear(f"“{link.words}” may be a column of {' or '.join({column.table for column in found})}")

    def _tables_after(self, link: Link) -> list[Link]:
        place = self.links.index(link)
        return [each for each in self.links[place + 1 :] if each.kind == "table" and each.tables]

    def _tables_before(self, link: Link) -> list[Link]:
        place = self.links.index(link)
        return [each for each in self.links[:place] if each.kind == "table" and each.tables]

    def _is_beside(self, column: Column) -> bool:
        """Return whether a column is of another table than the one whose rows are asked for."""
        asked = [each.table for each, _ in self.query.select if each] + [each.name for each in self.query.entities]
        return bool(asked) and asked[0] != column.table

    # Conditions

    def _has_value_after(self) -> bool:
        following = self.peek()
        if following is None:
            return False
        if following.kind == "value" and self.mode == "select":
            # `which region is Kabul in`: a value of another column says no more of this one.
            return any(column in following.values for column in self.links[self.at - 1].columns)
        if following.kind in ("value", "text", "number"):
            return True
        if self.next_is("compare", "between", "average", "like", "starts", "ends"):
            return True
        if self.next_is("not"):
            after = self.peek(1)
            return after is not None and after.kind in ("value", "text", "number")
        return False

    def _condition_on(self, link: Link) -> None:
        column = self._pick_valued(link)
        self.last = column
        following = self.take()
        if self.mode == "select" and not self.query.select and not self.query.entities and not self.counts:
            raise Unclear("nothing is asked for before the first condition")
        self.mode = "where"
        if (phrase := following.phrase) is not None:
            cue = phrase.cue
            if cue == "not":
                self.negated = True
                following = self.take()
            elif cue == "compare":
                self.compares = (phrase.value, ())
                value = self.peek()
                if value is None or value.kind not in ("number", "text", "value"):
                    raise Unclear("a comparison has no number")
                following = self.take()
            elif cue == "between":
                self._between(column)
                return
            elif cue == "average":
                self._against_average(column, phrase.value)
                return
            else:
                self._like(column, cue)
                return
        operator = "="
        if self.compares:
            operator, self.compares = self.compares[0], None
        if self.negated:
            if operator != "=":
                raise Unclear("a comparison is denied")
            operator, self.negated = "!=", False
            if self._is_beside(column):
                raise Unclear(f"it is not clear which rows “not” excludes by {column.name}")
        self._add(column, operator, self._literal(following, column))

    def _pick_valued(self, link: Link) -> Column:
        """Return the column of a condition: the one that has the value, where the words name several."""
        following = self.peek()
        if following and following.kind in ("value", "text") and len(link.columns) > 1:
            own = [column for column in link.columns if column in following.values]
            if len(own) == 1:
                return own[0]
        return self._pick_column(link)

    def _literal(self, link: Link, column: Column) -> str:
        if column in link.values:
            return _quote(link.values[column])
        lengths = {len(value) for value in column.values}
        if link.kind == "number" and lengths == {len(link.words)} and all(map(is_number, column.values)):
            return _quote(link.words)  # years that are kept as text compare as text
        if link.values and not (link.kind == "number" and column.is_number):
            raise Unclear(f"{column.name} of {column.table} has no value “{link.words}”")
        if link.kind == "number":
            return link.words if column.is_number or is_number(link.words) else _quote(link.words)
        if link.kind == "text" and not (column.complete and column.values) and not column.is_number:
            return _quote(link.words)
        raise Unclear(f"{column.name} of {column.table} has no value “{link.words}”")

    def _add(self, column: Column, operator: str, value: str) -> None:
        joint, self.joint = self.joint, "AND"
        if joint == "OR" and not self.query.conditions:
            joint = "AND"
            self.joint = "OR"  # `either … or …`
        self.query.conditions.append(Condition(column, operator, value, joint))
        self.last = column

    def _read_value(self, link: Link) -> None:
        if self.top or self.orders or self.aggregates:
            raise Unclear(f"it is not clear what “{link.words}” belongs to")
        column = self._column_of_value(link)
        operator = "="
        if self.compares:
            raise Unclear(f"it is not clear how “{link.words}” compares")
        if self.negated:
            operator, self.negated = "!=", False
            if self._is_beside(column):
                raise Unclear(f"it is not clear which rows “not {link.words}” excludes")
        self._add(column, operator, _quote(link.values[column]))

    def _column_of_value(self, link: Link) -> Column:
        found = list(link.values)
        if self.last in found:
            return self.last
        # A column that the next word names: `French nationality`, `CV type`.
        following = self.peek()
        if following and following.kind == "column":
            own = [column for column in following.columns if column in found]
            if len(own) == 1:
                self.at += 1
                return own[0]
        if len(found) > 1:
            named = {table.name for table in self.tables}
            found = [column for column in found if column.table in named] or found
        if len(found) > 1:
            nearest = [each.name for each in reversed(self.query.entities)]
            for name in nearest:
                own = [column for column in found if column.table == name]
                if own:
                    found = own
                    break
        if len(found) != 1:
            raise Unclear(f"“{link.words}” stands in {' and '.join(f'{c.table}.{c.name}' for c in found)}")
        return found[0]

    def _read_text(self, link: Link) -> None:
        if link.values:
            self._read_value(link)
        else:
            raise Unclear(f"no column that is named holds “{link.words}”")

    def _read_number(self, link: Link) -> None:
        following = self.peek()
        if self.next_is("top") and link.words.isdigit() and self.compares is None and self.last is None:
            phrase = self.take().phrase  # `the 3 largest countries`
            assert phrase is not None
            self.number = int(link.words)
            self._read_top("top", phrase.value, phrase.columns)
            return
        if self.compares is not None:
            operator, words = self.compares
            # `more than 2 concerts`, `at least 3 languages`: as many rows.
            if following and following.kind == "table" and not words and not self.query.entities:
                plain = [column for column, name in self.query.select if column and not name]
                if len(plain) != 1 or plain[0].table not in [each.name for each in following.tables]:
                    raise Unclear(f"it is not clear what has {link.words} {following.words}")
                self.compares = None
                self.at += 1
                self.query.group, self.query.having = plain[0], (operator, link.words)
                self.query.entities.append(self._pick_table(following))
                return
            if following and following.kind == "table" and not words and self.query.entities:
                self.compares = None
                self.at += 1
                table = self._pick_table(following)
                if table is self.query.entities[0]:
                    raise Unclear(f"it is not clear how {table.name} are counted")
                self.query.group = self.query.entities[0]
                self.query.entities.append(table)
                self.query.having = (operator, link.words)
                return
            self.compares = None
            if self.last is not None and not words:
                column = self.last
            elif following and following.kind == "column" and not words:
                self.at += 1
                column = self._pick_column(following)
            elif words:
                column, operator = self._implied(words, operator)
            else:
                raise Unclear(f"it is not clear what {link.words} counts")
            self._add(column, operator, self._literal(link, column))
            return
        if self.last is not None and self.joint == "OR":
            self._add(self.last, "=", self._literal(link, self.last))
            return
        if _YEAR.fullmatch(link.words) and not self.top:
            column, _ = self._implied(("year",), "=")
            operator = "!=" if self.negated else "="
            self.negated = False
            self._add(column, operator, self._literal(link, column))
            return
        raise Unclear(f"it is not clear what {link.words} is")

    def _read_between(self) -> None:
        if self.last is None:
            low = self.peek()
            if low and low.kind == "number" and _YEAR.fullmatch(low.words):
                self._between(self._implied(("year",), "=")[0])
                return
            raise Unclear("it is not clear what lies between")
        self._between(self.last)

    def _between(self, column: Column) -> None:
        low = self.take() if self.peek() else None
        if self.next_is("and"):
            self.at += 1
        high = self.take() if self.peek() else None
        if not low or not high or (low.kind, high.kind) != ("number", "number"):
            raise Unclear("it is not clear what lies between")
        self._add(column, "BETWEEN", f"{self._literal(low, column)} AND {self._literal(high, column)}")

    def _read_average(self, operator: str, words: tuple[str, ...]) -> None:
        following = self.peek()
        if words:
            column, operator = self._implied(words, operator)
        elif following and following.kind == "column":
            self.at += 1
            column = self._pick_column(following)
        elif self.last:
            column = self.last
        else:
            raise Unclear("it is not clear which average is meant")
        self._against_average(column, operator)

    def _against_average(self, column: Column, operator: str) -> None:
        # `above the average population of cities`: the same column again, and all rows.
        following = self.peek()
        if following and following.kind == "column" and column in following.columns:
            self.at += 1
        self._add(column, operator, f"AVG {column.name}")

    def _read_like(self, cue: str) -> None:
        if self.last is None and len(self.query.select) == 1 and self.query.select[0][0]:
            self.last = self.query.select[0][0]
        if self.last is None or self.query.conditions:
            raise Unclear("it is not clear where the text is looked for")
        self._like(self.last, cue)

    def _like(self, column: Column, cue: str) -> None:
        text = self.take() if self.peek() else None
        if text is None or text.kind not in ("text", "value", "number"):
            raise Unclear("it is not clear which text is looked for")
        following = self.peek()
        if following and following.kind == "column" and self.mode != "where":
            raise Unclear("it is not clear where the text is looked for")
        pattern = {"like": "%{}%", "starts": "{}%", "ends": "%{}"}[cue].format(text.words)
        self._add(column, "NOT LIKE" if self.negated else "LIKE", _quote(pattern))
        self.negated = False

    def _read_named(self) -> None:
        value = self.peek()
        if value is None or value.kind not in ("text", "value"):
            return
        table = self.query.entities[-1] if self.query.entities else None
        names = [] if table is None else [column for column in table.columns if is_name(column)]
        own = [column for column in names if column in value.values]
        chosen = own or (names if value.kind == "text" else [])
        if len(chosen) != 1:
            return
        self.at += 1
        self.mode = "where"
        self._add(chosen[0], "=", self._literal(value, chosen[0]))

    # The end

    def _finish(self) -> None:
        query = self.query
        if self.top and self.top[1] == ("*",) and len(query.select) == 1 and query.select[0][0] and not query.group:
            query.group = query.select[0][0]
            self._order(None, self.top[0], self.top[2])
            self.top = None
        self._settle()
        if self.orders and self.direction and len(query.select) == 1 and query.select[0][0] and not query.order:
            self._order(query.select[0][0], self.direction, None)
            self.orders = False
        plain = [column for column, name in query.select if column and not name]
        if self.groups and plain and query.group is None:
            self.groups = False  # `codes and the number of templates for each`
            owners = {column.table for column in plain}
            if len(plain) > 1 and len(owners) > 1:
                raise Unclear("it is not clear what is counted for each")
            query.group = plain[0] if len(plain) == 1 else self.schema.by_name[plain[0].table.lower()]
        if self.aggregates or self.orders or self.groups or self.counts:
            raise Unclear("a part of it has nothing that it is about")
        if not query.select:
            self._select_names()
        if self.is_value and not any(each.operator == "=" for each in query.conditions):
            raise Unclear("it is not clear which row's number is asked for")
        self._check_kinds()

    def _check_kinds(self) -> None:
        """Raise Unclear where values have no order or sum that could be meant."""
        query = self.query
        compared = [each.column for each in query.conditions if each.operator in (">", "<", ">=", "<=", "BETWEEN")]
        summed = [column for column, name in query.select if column and name in ("AVG", "SUM")]
        if query.order and query.order[0] and query.limit:
            compared.append(query.order[0])
        for column in (*compared, *summed):
            if not _is_measure(column):
                raise Unclear(f"{column.name} of {column.table} holds no numbers")
        counted = [column for column, name in query.select if name == "COUNT DISTINCT"]
        if any(each.column in counted for each in query.conditions):
            raise Unclear("it is not clear what is counted")

    def _select_names(self) -> None:
        if not self.query.entities:
            raise Unclear("it names nothing that is asked for")
        names = [column for column in self.query.entities[0].columns if is_name(column)]
        if len(names) != 1:
            raise Unclear(f"it does not say which columns of {self.query.entities[0].name} are asked for")
        self.query.select.append((names[0], ""))


def _is_measure(column: Column) -> bool:
    """Return whether the values of a column have an order that a question can mean: numbers, dates, years."""
    if column.is_number or column.is_time:
        return True
    return bool(column.values) and all(re.fullmatch(r"-?\d[\d.:/ -]*", value) for value in column.values)


def _quote(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
