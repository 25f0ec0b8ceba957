"""Read the conditions that rows must pass: values, comparisons, ranges, parts of texts."""

from __future__ import annotations

import re

from marchwarden.sources.database.planning.draft import Unclear, holds_days, is_name, quote_text
from marchwarden.sources.database.planning.everyday.word_relations import AMOUNTS, amount_columns
from marchwarden.sources.database.planning.order_reading import read_top
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.planning.question_state import QuestionState
from marchwarden.sources.database.schema import Column

YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def widen_condition(state: QuestionState, operator: str) -> None:
    """Apply `or more`, `or after` to the condition before."""
    state.compares = None
    if not state.query.conditions or state.query.conditions[-1].operator != "=":
        raise Unclear("there is nothing that “or more” belongs to")
    state.query.conditions[-1].operator = operator


def has_value_after(state: QuestionState, link: Link) -> bool:
    following = state.peek()
    if following is None:
        return False
    if following.kind == "value" and state.mode == "select":
        # `which region is Kabul in`: a value of another column says no more of this one.
        return any(column in following.values for column in link.columns)
    if following.kind == "period":
        return any(map(holds_days, (*link.columns, *link.in_part)))
    if following.kind in ("value", "text", "number"):
        return True
    after = state.peek(1)
    if state.next_is("compare", "between") and after and (after.kind == "period" or YEAR.fullmatch(after.words)):
        # `did we spend after February`: the days are another column's.
        named = following.phrase is not None and "date" in following.phrase.columns
        if (after.kind == "period" or named) and link.is_form:
            return any(map(holds_days, (*link.columns, *link.in_part)))
    if state.next_is("compare", "between", "average", "like", "starts", "ends"):
        return True
    if state.next_is("not"):
        after = state.peek(1)
        return after is not None and after.kind in ("value", "text", "number")
    return False


def condition_on(state: QuestionState, link: Link) -> None:
    column = pick_valued(state, link)
    state.last = column
    following = state.take()
    is_asked = state.query.select or state.query.entities or state.counts or state.amounts
    if state.mode == "select" and not is_asked and state.asks != "who" and state.head is None:
        raise Unclear("nothing is asked for before the first condition")
    state.mode = "where"
    things = {each.name for each in (*state.query.entities, state.query.counted) if each}
    if (phrase := following.phrase) is not None:
        cue = phrase.cue
        if cue in ("compare", "between") and link.is_form and column.is_number and things - {column.table}:
            # Whether one order or all of a customer's are meant.
            raise Unclear(f"it is not clear what “{link.words}” is counted over")
        if cue == "not":
            state.negated = True
            following = state.take()
        elif cue == "compare":
            state.compares = (phrase.value, ())
            value = state.peek()
            if value is None or value.kind not in ("number", "text", "value", "period"):
                raise Unclear("a comparison has no number")
            following = state.take()
        elif cue == "between":
            add_between(state, column)
            return
        elif cue == "average":
            compare_with_average(state, column, phrase.value)
            return
        else:
            add_like(state, column, cue)
            return
    operator = "="
    if state.compares:
        operator, state.compares = state.compares[0], None
    if state.negated:
        if operator != "=":
            raise Unclear("a comparison is denied")
        operator, state.negated = "!=", False
        if state.is_beside(column):
            raise Unclear(f"it is not clear which rows “not” excludes by {column.name}")
    if following.period is not None:
        state.add_period(column, operator, following.period)
        return
    state.add_condition(column, operator, state.literal_of(following, column))


def pick_valued(state: QuestionState, link: Link) -> Column:
    """Return the column of a condition: the one that has the value, where the words name several."""
    following = state.peek()
    dated = following and (following.kind == "period" or YEAR.fullmatch(following.words))
    if dated and not any(map(holds_days, link.columns)):
        # `borrowed in April` means the day, `borrowed_on`, and not the borrower.
        days = [column for column in link.in_part if holds_days(column)]
        if len(days) == 1:
            return days[0]
    if following and following.kind in ("value", "text") and len(link.columns) > 1:
        own = [column for column in link.columns if column in following.values]
        if len(own) == 1:
            return own[0]
    return state.pick_column(link)


def read_value(state: QuestionState, link: Link) -> None:
    if state.top or state.orders or state.aggregates:
        raise Unclear(f"it is not clear what “{link.words}” belongs to")
    column = column_of_value(state, link)
    operator = "="
    if state.compares:
        raise Unclear(f"it is not clear how “{link.words}” compares")
    if state.negated:
        operator, state.negated = "!=", False
        if state.is_beside(column):
            raise Unclear(f"it is not clear which rows “not {link.words}” excludes")
    if state.at == 1 or state.comes_behind("count", "ask", "where"):
        state.head = state.head or column
    state.add_condition(column, operator, quote_text(link.values[column]))


def read_period(state: QuestionState, link: Link) -> None:
    """Read a day or a month beside no column: it is of the days of the table."""
    assert link.period is not None
    operator, words = state.compares or ("=", ())
    if words and "date" not in words:
        raise Unclear(f"it is not clear how “{link.words}” compares")
    state.compares = None
    if state.negated:
        operator, state.negated = "!=", False
    check_done(state, link)
    days = state.days_of(state.near_tables() if state.query.entities or state.tables else state.used_tables())
    if len(days) != 1:
        raise Unclear(f"it is not clear which dates “{link.words}” refers to")
    state.add_period(days[0], operator, link.period)


def check_done(state: QuestionState, link: Link) -> None:
    """Raise Unclear for `shipped in May`, where the days of a table are those of the order."""
    before = state.links[max(0, state.at - 3) : state.at - 1]
    done = [each for each in before if each.kind == "value" and each.words.lower().endswith("ed")]
    if done and before[-1].words in ("in", "on", "during", "since", "before", "after") and done[0] is before[0]:
        raise Unclear(f"it is not clear whether “{link.words}” is when they were {done[0].words}")


def column_of_value(state: QuestionState, link: Link) -> Column:
    found = list(link.values)
    if state.last in found:
        return state.last
    # A column that the next word names: `French nationality`, `CV type`.
    following = state.peek()
    if following and following.kind == "column":
        own = [column for column in following.columns if column in found]
        if len(own) == 1:
            state.at += 1
            return own[0]
    if len(found) > 1:
        named = {table.name for table in state.tables}
        found = [column for column in found if column.table in named] or found
    if len(found) > 1:
        # `the phone number of Lumen`: of the table that has the column that is named.
        beside = {each.columns[0].table for each in state.links if each.kind == "column" and len(each.columns) == 1}
        own = [column for column in found if column.table in beside]
        found = own if len(own) == 1 and not state.query.entities else found
    if len(found) > 1:
        nearest = [each.name for each in reversed(state.query.entities)]
        for name in nearest:
            own = [column for column in found if column.table == name]
            if own:
                found = own
                break
    if len(found) != 1:
        raise Unclear(f"“{link.words}” stands in {' and '.join(f'{c.table}.{c.name}' for c in found)}")
    return found[0]


def read_text(state: QuestionState, link: Link) -> None:
    if link.values:
        read_value(state, link)
    else:
        raise Unclear(f"no column that is named holds “{link.words}”")


def read_number(state: QuestionState, link: Link) -> None:
    following = state.peek()
    if state.next_is("top") and link.words.isdecimal() and state.compares is None and state.last is None:
        phrase = state.take().phrase  # `the 3 largest countries`
        assert phrase is not None
        state.number = int(link.words)
        read_top(state, "top", phrase.value, phrase.columns)
        return
    if state.compares is not None:
        operator, words = state.compares
        # `more than 2 concerts`, `at least 3 languages`: as many rows.
        if following and following.kind == "table" and not words and not state.query.entities:
            plain = [column for column, name in state.query.select if column and not name]
            if len(plain) != 1 or plain[0].table not in [each.name for each in following.tables]:
                raise Unclear(f"it is not clear what has {link.words} {following.words}")
            state.compares = None
            state.at += 1
            state.query.group, state.query.having = plain[0], (operator, link.words)
            state.query.entities.append(state.pick_table(following))
            return
        if following and following.kind == "table" and not words and state.query.entities:
            state.compares = None
            state.at += 1
            table = state.pick_table(following)
            if operator in ("<", "<="):
                raise Unclear(f"those without any {following.words} have fewer, too")
            if table is state.query.entities[0]:
                raise Unclear(f"it is not clear how {table.name} are counted")
            state.query.group = state.query.entities[0]
            state.query.entities.append(table)
            state.query.having = (operator, link.words)
            return
        state.compares = None
        if state.last is not None and not words:
            column = state.last
        elif following and following.kind == "column" and not words:
            state.at += 1
            column = state.pick_column(following)
        elif words:
            column, operator = state.implied_column(words, operator)
        else:
            # `expenses over 100`: the only amount of the table.
            amounts = amount_columns(AMOUNTS, tuple(state.query.entities))
            if len(amounts) != 1 or (following and following.kind != "cue"):
                raise Unclear(f"it is not clear what {link.words} counts")
            column = amounts[0]
        state.add_condition(column, operator, state.literal_of(link, column))
        return
    if state.last is not None and state.joint == "OR":
        state.add_condition(state.last, "=", state.literal_of(link, state.last))
        return
    if YEAR.fullmatch(link.words) and not state.top:
        check_done(state, link)
        column, _ = state.implied_column(("year",), "=")
        operator = "!=" if state.negated else "="
        state.negated = False
        state.add_condition(column, operator, state.literal_of(link, column))
        return
    raise Unclear(f"it is not clear what {link.words} is")


def read_between(state: QuestionState) -> None:
    if state.last is None:
        low = state.peek()
        if low and low.kind == "number" and YEAR.fullmatch(low.words):
            add_between(state, state.implied_column(("year",), "=")[0])
            return
        raise Unclear("it is not clear what lies between")
    add_between(state, state.last)


def add_between(state: QuestionState, column: Column) -> None:
    low = state.take() if state.peek() else None
    if state.next_is("and"):
        state.at += 1
    high = state.take() if state.peek() else None
    if not low or not high or (low.kind, high.kind) != ("number", "number"):
        raise Unclear("it is not clear what lies between")
    state.add_condition(column, "BETWEEN", f"{state.literal_of(low, column)} AND {state.literal_of(high, column)}")


def read_average(state: QuestionState, operator: str, words: tuple[str, ...]) -> None:
    following = state.peek()
    if words:
        column, operator = state.implied_column(words, operator)
    elif following and following.kind == "column":
        state.at += 1
        column = state.pick_column(following)
    elif state.last:
        column = state.last
    else:
        raise Unclear("it is not clear which average is meant")
    compare_with_average(state, column, operator)


def compare_with_average(state: QuestionState, column: Column, operator: str) -> None:
    # `above the average population of cities`: the same column again, and all rows.
    following = state.peek()
    if following and following.kind == "column" and column in following.columns:
        state.at += 1
    state.add_condition(column, operator, f"AVG {column.name}")


def read_like(state: QuestionState, cue: str) -> None:
    if state.last is None and len(state.query.select) == 1 and state.query.select[0][0]:
        state.last = state.query.select[0][0]
    if state.last is None or state.query.conditions:
        raise Unclear("it is not clear where the text is looked for")
    add_like(state, state.last, cue)


def add_like(state: QuestionState, column: Column, cue: str) -> None:
    text = state.take() if state.peek() else None
    if text is None or text.kind not in ("text", "value", "number"):
        raise Unclear("it is not clear which text is looked for")
    following = state.peek()
    if following and following.kind == "column" and state.mode != "where":
        raise Unclear("it is not clear where the text is looked for")
    pattern = {"like": "%{}%", "starts": "{}%", "ends": "%{}"}[cue].format(text.words)
    state.add_condition(column, "NOT LIKE" if state.negated else "LIKE", quote_text(pattern))
    state.negated = False


def read_named(state: QuestionState) -> None:
    value = state.peek()
    if value is None or value.kind not in ("text", "value"):
        return
    table = state.query.entities[-1] if state.query.entities else None
    names = [] if table is None else [column for column in table.columns if is_name(column)]
    own = [column for column in names if column in value.values]
    chosen = own or (names if value.kind == "text" else [])
    if len(chosen) != 1:
        return
    state.at += 1
    state.mode = "where"
    state.add_condition(chosen[0], "=", state.literal_of(value, chosen[0]))
