"""Read a question from left to right into the draft of a statement. What can be meant in two ways is unclear."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from marchwarden.sources.database.planning.column_reading import read_column, read_table
from marchwarden.sources.database.planning.condition_reading import (
    read_average,
    read_between,
    read_like,
    read_named,
    read_number,
    read_period,
    read_text,
    read_value,
    widen_condition,
)
from marchwarden.sources.database.planning.draft import (
    Condition,
    Draft,
    Unclear,
    holds_days,
    is_measure,
    is_name,
    names_of,
)
from marchwarden.sources.database.planning.everyday.word_relations import (
    AMOUNTS,
    amount_columns,
    is_count_of_things,
    is_of_one_row,
    is_of_people,
    is_per_piece,
    is_told_by,
    quantity_of,
)
from marchwarden.sources.database.planning.order_reading import read_aggregate, read_top
from marchwarden.sources.database.planning.question_links import Kind, Link, tokens_of
from marchwarden.sources.database.planning.question_state import QuestionState
from marchwarden.sources.database.planning.question_words import DEEDS
from marchwarden.sources.database.schema import Schema, Table, words_of_name


def read_question(links: Sequence[Link], schema: Schema) -> Draft:
    """Return the draft of a statement. Raises Unclear."""
    state = QuestionState(links, schema)
    while state.at < len(state.links):
        link = state.take()
        _READERS[link.kind](state, link)
    finish(state)
    return state.query


def check_deeds(question: str, query: Draft, schema: Schema) -> None:
    """Raise Unclear for `which products were sold`, where no more is read than products and none of it is sales."""
    used = {each.column.table for each in query.conditions} | {each.table for each, _ in query.select if each}
    used |= {each.name for each in query.entities}
    tables = [schema.by_name[name.lower()] for name in used]
    counted = [column for column, name in query.select if column and name == "SUM" and is_count_of_things(column)]
    if counted and any(token.stem in _WORTH for token in tokens_of(question)):
        raise Unclear(f"{counted[0].name} of {counted[0].table} is a number of things, and not their value")
    if any(column and name for column, name in query.select):
        return  # the average of a column of tickets that were bought
    for token in tokens_of(question):
        if token.lower in DEEDS and not any(is_told_by(token.stem, table) for table in tables):
            raise Unclear(f"it is not clear which rows were “{token.text}”")


def read_cue(state: QuestionState, link: Link) -> None:
    phrase = link.phrase
    assert phrase is not None
    cue = phrase.cue
    if link.place == 0 and link.words in ("who", "when"):
        state.asks = link.words
    if link.place == 0 and link.words == "when":
        return
    if link.place == 0 and link.words == "where":
        raise Unclear(f"it is not clear which column “{link.words}” asks for")
    if link.place == 0 and link.words in ("sort", "order"):
        state.sorts = True  # `sort the names by age`
        return
    if cue == "ask":
        state.check_settled()
        state.mode = "select"
    elif cue == "count":
        state.check_settled()
        state.counts = True
    elif cue == "amount":
        state.check_settled()
        state.amounts = True
    elif cue == "distinct":
        state.distinct_next = True
        if not state.counts:
            state.query.distinct = True
    elif cue == "aggregate":
        read_aggregate(state, phrase.value)
    elif cue in ("top", "common"):
        read_top(state, cue, phrase.value, phrase.columns)
    elif cue == "compare":
        state.compares = (phrase.value, phrase.columns)
        if phrase.value in (">=", "<=") and link.words.startswith("or "):
            widen_condition(state, phrase.value)
    elif cue == "between":
        read_between(state)
    elif cue == "average":
        read_average(state, phrase.value, phrase.columns)
    elif cue == "order":
        if link.words != "in" or state.next_is("descending", "ascending"):
            state.orders = True
        else:
            state.mode = "where"
    elif cue in ("descending", "ascending"):
        state.direction = "DESC" if cue == "descending" else "ASC"
        if state.query.order and state.query.limit is None:
            state.query.order = (state.query.order[0], state.direction)
            state.orders = False
        else:
            state.orders = True
    elif cue == "each":
        state.check_settled()
        state.groups = True
    elif cue == "not":
        state.negated = True
    elif cue == "or":
        state.joint = "OR"
    elif cue == "both":
        raise Unclear("“both” asks for two sets of rows")
    elif cue in ("and", "comma"):
        state.says_and = True
    elif cue == "where":
        is_asked = link.words in ("which", "who") and not state.query.select and not state.query.entities
        state.mode = "select" if is_asked else "where"
    elif cue == "in" and link.words == "by" and state.sorts:
        state.orders, state.sorts = True, False
    elif cue == "in":
        following = state.peek()
        is_name = following is not None and following.kind in ("table", "column")
        if link.words == "by" and is_name and any(name in ("SUM", "AVG") for _, name in state.query.select):
            raise Unclear(f"it is not clear whether “{link.words}” asks for groups")  # `total stock by supplier`
        if link.words in ("from", "at", "on", "during", "by") and state.query.select:
            state.mode = "where"
    elif cue in ("like", "starts", "ends"):
        read_like(state, cue)
    elif cue == "named":
        read_named(state)
    else:
        raise Unclear(f"“{link.words}” can't be read here")


def finish(state: QuestionState) -> None:
    query = state.query
    if state.top and state.top[1] == ("*",) and len(query.select) == 1 and query.select[0][0] and not query.group:
        query.group = query.select[0][0]
        state.order_by(None, state.top[0], state.top[2])
        state.top = None
    state.check_settled()
    settle_everyday(state)
    merge_alternatives(state)
    if state.orders and state.direction and len(query.select) == 1 and query.select[0][0] and not query.order:
        state.order_by(query.select[0][0], state.direction, None)
        state.orders = False
    plain = [column for column, name in query.select if column and not name]
    if state.groups and plain and query.group is None:
        state.groups = False  # `codes and the number of templates for each`
        owners = {column.table for column in plain}
        if len(plain) > 1 and len(owners) > 1:
            raise Unclear("it is not clear what is counted for each")
        query.group = plain[0] if len(plain) == 1 else state.schema.by_name[plain[0].table.lower()]
    if state.aggregates or state.orders or state.groups or state.counts:
        raise Unclear("it is not clear what a part of the question is about")
    if not query.select:
        select_names(state)
    if state.is_value and not any(each.operator == "=" for each in query.conditions):
        raise Unclear("it is not clear which row's number is asked for")
    check_kinds(state)


def check_kinds(state: QuestionState) -> None:
    """Raise Unclear where values have no order or sum that could be meant."""
    query = state.query
    compared = [each.column for each in query.conditions if each.operator in (">", "<", ">=", "<=", "BETWEEN")]
    summed = [column for column, name in query.select if column and name in ("AVG", "SUM")]
    if query.order and query.order[0] and query.limit:
        compared.append(query.order[0])
    for column, name in query.select:
        if (
            column
            and name == "SUM"
            and is_per_piece(column)
            and quantity_of(state.schema.by_name[column.table.lower()])
        ):
            raise Unclear(f"{column.name} of {column.table} is that of one piece")
    for column in (*compared, *summed):
        # SQLite adds up the years of days.
        if not is_measure(column) or (column in summed and column.values and holds_days(column)):
            raise Unclear(f"{column.name} of {column.table} holds no numbers")
    if query.counted is not None and state.links[-1].words in ("have", "has", "had"):
        own = [each for each in query.conditions if each.column in names_of(query.counted) and each.operator == "="]
        if own:
            # `how many albums does Iron Maiden have`: the name is not that of an album.
            raise Unclear(f"it is not clear what {own[0].value} has to do with the rows of {query.counted.name}")
    counted = [column for column, name in query.select if name == "COUNT DISTINCT"]
    if any(each.column in counted for each in query.conditions):
        raise Unclear("it is not clear what is counted")


def select_names(state: QuestionState) -> None:
    """Select what names the rows that are asked for, or their whole rows where nothing does."""
    table = state.query.entities[0] if state.query.entities else named_by_head(state)
    if table is None:
        raise Unclear("it does not say what to look up")
    names = names_of(table)
    # In a database with foreign keys a row is little more than numbers of other rows.
    is_readable = len(table.columns) <= _MOST_COLUMNS and not state.schema.keys
    if len([column for column in names if is_name(column)]) > 1 or (not names and not is_readable):
        raise Unclear(f"it does not say which columns of {table.name} are asked for")
    if names and any(each.column in names and each.operator == "=" for each in state.query.conditions):
        raise Unclear(f"it does not say which columns of {table.name} are asked for")  # `what does Lea Graf do`
    state.query.select += [(column, "") for column in names or table.columns]


def named_by_head(state: QuestionState) -> Table | None:
    """Return the table whose rows a value names, `which designers`, or the people that `who` asks for."""
    if state.head is not None:
        return state.schema.by_name[state.head.table.lower()]
    used = [each.column.table for each in state.query.conditions]
    used += [state.query.order[0].table] if state.query.order and state.query.order[0] else []
    tables = [state.schema.by_name[name.lower()] for name in dict.fromkeys(used)]
    return tables[0] if state.asks == "who" and len(tables) == 1 and is_of_people(tables[0]) else None


def settle_everyday(state: QuestionState) -> None:
    """Settle what the question left open: the number of `how much`, things that a value names, a mean told last."""
    query = state.query
    if (
        state.asks == "who"
        and state.head is not None
        and not is_of_people(state.schema.by_name[state.head.table.lower()])
    ):
        raise Unclear("it is not clear who is asked for")
    plain = [column for column, name in query.select if column and not name]
    phrase = state.links[-1].phrase if state.links else None
    is_last = phrase is not None and phrase.cue == "aggregate"
    if len(state.aggregates) == 1 and is_last and len(plain) == len(query.select) == 1 and plain[0].is_number:
        query.select = [(plain[0], state.aggregates.pop())]
        state.amounts = False
    if state.asks == "when" and not query.select:
        days = state.days_of(query.entities or state.used_tables())
        if len(days) != 1 or not query.conditions:
            raise Unclear("it is not clear which days “when” asks for")
        query.select.append((days[0], ""))
    if state.counts and state.head is not None:
        count_things(state, state.schema.by_name[state.head.table.lower()])
    if state.amounts:
        settle_amount(state)
    for link in state.claims:
        if not any(each.column in link.columns for each in query.conditions):
            raise Unclear(f"it is not clear what “{link.words}” says of the rows")


def merge_alternatives(state: QuestionState) -> None:
    """Make one condition of several values of a column: `in Bern or Basel`; of numbers of one table also `and`.

    `Which customers are from Bergen and from Oslo` may ask for two sets of rows, and is left alone.
    """
    query = state.query
    tables = {each.column.table for each in query.conditions} | {each.table for each, _ in query.select if each}
    tables |= {query.counted.name} if query.counted else set()
    is_number = len(tables) == 1 and bool(query.select) and all(name for _, name in query.select)
    merged: list[Condition] = []
    for each in query.conditions:
        before = merged[-1] if merged else None
        is_same = before is not None and before.column is each.column and before.operator in ("=", "IN")
        if before is not None and each.joint == "OR" and before.column is each.column:
            if before.operator == "!=" and each.operator == "=":
                raise Unclear("it is not clear what “not” belongs to")
            if "MONTH" in (before.operator, each.operator) and before.operator != each.operator:
                raise Unclear("it is not clear which year each month belongs to")
        joins = each.joint == "OR" or (is_number and state.says_and)
        if before is not None and is_same and each.operator == "=" and each.value != before.value and joins:
            before.operator, before.value = "IN", f"{before.value.removesuffix(')').removeprefix('(')}, {each.value}"
            before.value = f"({before.value})"
        else:
            merged.append(each)
    query.conditions = merged


def count_things(state: QuestionState, table: Table) -> None:
    """Count the rows of a value, `how many engineers`; or the things that a row counts, `how many pencils`."""
    state.counts = False
    quantity = quantity_of(table)
    is_told = any(column is quantity for column, _ in state.query.select)
    if quantity is None or state.head is None:
        if state.head in names_of(table) or (state.head and words_of_name(state.head.name)[-1] == "name"):
            # `how many operas`: a genre has that name, and is no opera.
            raise Unclear(f"it is not clear what is counted of a row of {table.name}")
        state.query.counted = table
        state.query.select.append((None, "COUNT"))
    elif not is_told:
        state.query.select.append((quantity, "" if state.head in names_of(table) else "SUM"))


def settle_amount(state: QuestionState) -> None:
    """Sum up what `how much` asks for, unless one row has it. Raises Unclear where it is not told which number."""
    query = state.query
    state.amounts = False
    tables = query.entities or state.used_tables()
    columns = [column for column, name in query.select if column and not name] or amount_columns(
        AMOUNTS, tuple(tables)
    )
    if len(columns) != 1 or len(query.select) > 1 or not columns[0].is_number or query.order:
        raise Unclear("it is not clear which number “how much” asks for")
    column = columns[0]
    names = names_of(state.schema.by_name[column.table.lower()])
    is_of_row = any(each.column in names and each.operator == "=" for each in query.conditions)
    is_summed = state.aggregates == ["SUM"]
    if is_summed:
        state.aggregates = []
    if not is_of_row and is_of_one_row(column) and not is_summed:
        raise Unclear(f"it is not clear which row’s {column.name} is asked for")
    query.select = [(column, "" if is_of_row and not is_summed else "SUM")]


_WORTH = frozenset({"valu", "worth"})
# Columns of a row that is told whole. A guess: more are no answer to read.
_MOST_COLUMNS = 12
_READERS: Mapping[Kind, Callable[[QuestionState, Link], None]] = {
    "cue": read_cue,
    "table": read_table,
    "column": read_column,
    "value": read_value,
    "number": read_number,
    "text": read_text,
    "period": read_period,
}
