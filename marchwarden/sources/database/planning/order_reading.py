"""Read what orders or sums up the rows: `the highest`, `most common`, `average`."""

from __future__ import annotations

from marchwarden.sources.database.planning.draft import Unclear
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.planning.question_state import QuestionState
from marchwarden.sources.database.schema import Table


def read_aggregate(state: QuestionState, name: str) -> None:
    is_last = state.at == len(state.links) and bool(state.query.select)  # `in total`, `on average`
    if state.mode == "select" or is_last or (name in ("AVG", "SUM") and state.groups):
        state.aggregates.append(name)
    elif name in ("MAX", "MIN"):
        read_top(state, "top", "DESC" if name == "MAX" else "ASC", ())
    else:
        raise Unclear("a mean or a sum is used as a condition")


def read_top(state: QuestionState, cue: str, direction: str, columns: tuple[str, ...]) -> None:
    number, state.number = state.number, 1
    following = state.peek()
    if following and following.kind == "number" and following.words.isdecimal() and int(following.words) <= 100:
        number = int(state.take().words)
        if state.next_is("top", "common"):
            again = state.take().phrase
            assert again is not None
            direction, columns = again.value, again.columns or columns
    if state.next_is("count") and not columns:
        state.at += 1  # `the largest number of concerts`
        columns = ("#",)
    if cue == "common":
        state.top = (direction, ("*",), number)
    else:
        state.top = (direction, columns, number)
    if columns and cue == "top" and columns != ("#",):
        state.top = None
        column = state.implied_column(columns, direction)
        state.order_by(column[0], column[1], number)
        if state.query.select:
            state.mode = "where"


def top_of_table(state: QuestionState, link: Link, table: Table) -> None:
    assert state.top is not None
    direction, columns, number = state.top
    state.top = None
    if columns == ("*",):
        raise Unclear("it is not clear what is most common")
    if not state.query.entities:
        plain = [column for column, name in state.query.select if column and not name]
        if len(plain) != 1 or plain[0].table != table.name or len(state.query.select) > 1:
            raise Unclear(f"it is not clear which {link.words} are meant")
        state.query.group = plain[0]  # `the year with the most concerts`
        state.query.entities.append(table)
        state.order_by(None, direction, number)
        return
    # `the stadium with the most concerts`: as many rows as belong to each.
    state.query.group = state.query.entities[0]
    state.query.entities.append(table)
    state.order_by(None, direction, number)


def top_by_column(state: QuestionState, link: Link) -> None:
    assert state.top is not None
    direction, columns, number = state.top
    state.top = None
    column = state.pick_column(link)
    if columns == ("#",):
        raise Unclear(f"it is not clear what {link.words} are counted for")
    if columns == ("*",):
        state.query.select.append((column, ""))
        state.query.group = column
        state.order_by(None, direction, number)
        return
    was_select, is_first = state.mode == "select", not state.query.select and not state.query.entities
    if not is_first:
        state.mode = "where"
    is_asked = was_select and is_first and number == 1
    if is_asked and column.is_number and state.asks != "who":
        state.query.select.append((column, "MAX" if direction == "DESC" else "MIN"))
    elif state.query.select or state.query.entities or state.asks == "who":
        state.order_by(column, direction, number)
    else:
        raise Unclear(f"it is not clear whether the highest {link.words} or its row is asked for")
