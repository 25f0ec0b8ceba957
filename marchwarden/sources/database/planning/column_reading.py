"""Read the tables and columns that a question names: what is asked for, counted, grouped or ordered by."""

from __future__ import annotations

from dataclasses import replace

from marchwarden.sources.database.planning.condition_reading import YEAR, condition_on, has_value_after
from marchwarden.sources.database.planning.draft import Unclear, flag_of, holds_days, names_of
from marchwarden.sources.database.planning.everyday.word_relations import is_count_of_things
from marchwarden.sources.database.planning.order_reading import top_by_column, top_of_table
from marchwarden.sources.database.planning.question_links import Link
from marchwarden.sources.database.planning.question_state import QuestionState
from marchwarden.sources.database.schema import Column, Table, words_of_name


def read_table(state: QuestionState, link: Link) -> None:
    table = state.pick_table(link)
    if state.query.without:
        raise Unclear("it is not clear what is excluded")
    check_owner(state, table)
    following = state.peek()
    measures = [column for column in link.columns if column.table == table.name and column.is_number]
    if measures and state.mode == "select" and not state.counts and not state.groups and state.top is None:
        read_column(state, link)  # the population of Norway, in a table of populations
        return
    if state.groups:
        state.group_by(table if not link.columns else table_or_column(state, link, table))
        return
    if state.top is not None:
        top_of_table(state, link, table)
        return
    if state.compares and state.compares[0] and following is None:
        raise Unclear("a comparison has no number")
    if state.negated and state.query.entities and table not in state.query.entities:
        state.negated = False
        state.query.without.append((table, len(state.query.conditions)))
        return
    if state.counts and state.query.counted is None and not any(name == "COUNT" for _, name in state.query.select):
        state.counts = False
        state.query.counted = table
        state.query.select.append((None, "COUNT"))
        if state.distinct_next:
            raise Unclear("it is not clear what different rows are")
    elif state.mode == "select" and state.query.select and state.comes_behind("and", "comma", "ask"):
        raise Unclear(f"it does not say which columns of {table.name} are asked for")
    elif link.columns and state.mode == "select" and not names_entity(state):
        read_column(state, link)
        return
    state.query.entities.append(table)


def check_owner(state: QuestionState, table: Table) -> None:
    """Raise Unclear for `the names of orchestras` where only conductors have names."""
    before = state.links[max(0, state.at - 3) : state.at - 1]
    is_of = len(before) == 2 and before[0].kind == "column" and before[1].words in ("of", "for")
    if (is_of or (before and before[-1].kind == "column")) and state.mode == "select" and state.query.select:
        column = state.query.select[-1][0]
        if column and column.table != table.name and not (before[-1].kind == "column" and state.query.entities):
            raise Unclear(f"{table.name} has no column {column.name}")


def names_entity(state: QuestionState) -> bool:
    """Return whether the word before, which names a table and a column, means the table."""
    return not state.aggregates and not (state.peek() is None and not state.query.select)


def table_or_column(state: QuestionState, link: Link, table: Table) -> Table | Column:
    own = [column for column in link.columns if column.table in {each.name for each in state.query.entities}]
    return own[0] if len(own) == 1 else table


def read_column(state: QuestionState, link: Link) -> None:
    if state.groups:
        state.group_by(state.pick_column(link))
        return
    if state.top is not None:
        top_by_column(state, link)
        return
    skip_preposition(state, link)
    if has_value_after(state, link):
        condition_on(state, link)
        return
    if read_flag(state, link) or read_verb(state, link) or read_in_stock(state, link):
        return
    if state.orders:
        state.orders = False
        state.order_by(state.pick_column(link), state.direction or "ASC", None)
        state.direction = None
        return
    if state.compares is not None:
        operator, _ = state.compares
        number = state.peek()
        if number is None or number.kind != "number":
            raise Unclear("a comparison has no number")
        state.compares = None
        state.add_condition(
            state.pick_column(link), operator, state.literal_of(state.take(), state.pick_column(link))
        )
        return
    if state.negated:
        raise Unclear("it is not clear what “not” belongs to")
    if state.counts:
        count_column(state, link)
        return
    if state.mode == "where":
        # A column behind the conditions, such as `from which countries`.
        raise Unclear(f"it is not clear what “{link.words}” says of the rows")
    column = state.pick_column(link)
    if link.words == "total" and column.is_number and not state.aggregates and state.comes_behind("ask"):
        # `the total of all orders`, where each order has a total.
        behind = state.peek(1) if (following := state.peek()) and following.words == "of" else following
        state.aggregates = ["SUM"] if behind and behind.kind == "table" else []
    is_listed = state.links[0].words == "which" and bool(state.query.entities) and not state.query.select
    if is_listed and (link.is_form or not link.is_exact) and not state.aggregates and state.peek() is not None:
        state.claims.append(link)  # `which expenses were paid in May` asks for no column
        return
    is_flag = words_of_name(column.name)[0] in ("is", "has", "if", "was") and not link.is_exact
    if is_flag:
        raise Unclear(f"it is not clear which rows are “{link.words}”")
    if state.aggregates:
        state.query.select += [(column, name) for name in state.aggregates]
        # `average age and height`: the next column too, unless it says another.
        if not (state.next_is("and", "comma") and (after := state.peek(1)) and after.kind == "column"):
            state.aggregates = []
    else:
        state.query.select.append((column, ""))


def skip_preposition(state: QuestionState, link: Link) -> None:
    """Pass over a word between a column and its condition: `a salary of more than 5`, `started in 2019`."""
    following, value = state.peek(), state.peek(1)
    if following is None or value is None:
        return
    is_year = value.kind == "number" and YEAR.fullmatch(value.words) and is_when(link)
    is_period = value.kind == "period" and following.words in ("in", "on", "during", "of") and is_when(link)
    is_compared = following.words == "of" and state.next_is("compare", ahead=1)
    if is_compared or is_period or (following.words == "in" and is_year):
        state.at += 1


def is_when(link: Link) -> bool:
    """Return whether words name a column of days, or one of years by what was done in them: `published`."""
    done = link.words.endswith(("ed", "born", "year")) and all(column.is_number for column in link.columns)
    return done or any(map(holds_days, (*link.columns, *link.in_part)))


def read_flag(state: QuestionState, link: Link) -> bool:
    """Read the words of a column that says yes or no as a condition: `who has not paid the fee`."""
    if len(link.columns) != 1 or state.aggregates or state.orders or state.compares:
        return False
    column = link.columns[0]
    literal = flag_of(column, is_set=not state.negated)
    following = state.peek()
    # `discontinued products`, `discontinued beverages`
    is_adjective = following is not None and (
        following.kind == "value" or column.table in [table.name for table in following.tables]
    )
    is_said = state.query.entities or state.counts or state.asks == "who" or state.head is not None or is_adjective
    # `the names and the abandoned flags of the dogs` asks for the flags.
    is_asked = state.mode == "select" and (bool(state.query.select) or state.comes_behind("ask", "and", "comma"))
    is_asked = is_asked and not is_adjective
    if literal is None or not is_said or (is_asked and not state.negated and not state.counts):
        return False
    state.negated = False
    if not any(each.column is column for each in state.query.conditions):
        state.add_condition(column, "=", literal)
    state.mode = "where"
    return True


def read_in_stock(state: QuestionState, link: Link) -> bool:
    """Read `products in stock` as those of which there are some."""
    is_listing = bool(state.query.entities) and not (
        state.query.select or state.asks or state.counts or state.aggregates or state.orders or state.negated
    )
    own = [column for column in (*link.columns, *link.in_part) if is_count_of_things(column)]
    own = [column for column in own if is_listing and column.table == state.query.entities[0].name]
    if not link.words.lower().startswith("in ") or len(own) != 1:
        return False
    state.add_condition(own[0], ">", "0")
    state.mode = "where"
    return True


def read_verb(state: QuestionState, link: Link) -> bool:
    """Read a column that `who`, `when` or `how much` asks for, or that a verb names beside a value of it."""
    if state.aggregates or state.orders or state.compares or state.negated:
        return False
    columns = [column for column in link.columns if column.is_number]
    if state.asks == "who" and state.next_is("top") and not state.query.select and not state.query.order:
        days = [column for column in (*link.columns, *link.in_part) if holds_days(column)]
        phrase = state.peek()
        if len(days) == 1 and phrase and phrase.phrase and "date" in phrase.phrase.columns:
            state.at += 1  # `who was hired first`
            state.order_by(days[0], phrase.phrase.value, 1)
            state.mode = "where"
            return True
    if state.next_is("top") and columns and not state.query.order:
        phrase, behind = state.peek(), state.peek(1)
        assert phrase is not None
        assert phrase.phrase is not None
        if not phrase.phrase.columns and (behind is None or behind.kind in ("cue", "period")):
            # `which category did we spend the most on` asks for a sum of rows, `who earns the most` for a row.
            table = state.schema.by_name[state.pick_column(link).table.lower()]
            is_of_others = any(column not in names_of(table) for column, _ in state.query.select)
            if is_of_others or any(each is not table for each in state.query.entities):
                # The most that a customer spent in all is more than the largest order.
                raise Unclear(f"it is not clear what “the {phrase.words}” is counted over")
            state.at += 1
            state.order_by(state.pick_column(link), phrase.phrase.value, 1)
            state.mode = "where"
            return True
    if columns and link.is_form and state.counts and state.head is not None:
        return True  # `how many meals did we pay for`
    is_listed = state.links[0].words == "which" and bool(state.query.entities) and not state.query.select
    if columns and link.is_form and is_listed and state.mode == "select":
        return True  # `which expenses did Mia pay`
    has_condition = any(each.column in link.columns for each in state.query.conditions)
    is_part = link.is_form or not link.is_exact
    if is_part and has_condition and state.asks != "when":
        return True
    if state.asks == "when" and not state.query.select:
        days = [column for column in (*link.columns, *link.in_part) if holds_days(column)]
        years = [column for column in link.columns if is_when(link) and column.is_number]
        state.query.select.append((pick_of(state, link, days or years), ""))
        return True
    if state.amounts:
        if not columns and is_part:
            state.claims.append(link)
        elif not state.query.select:
            state.query.select.append((pick_of(state, link, columns), ""))
            state.mode = "where"
        elif is_part and state.query.select[0][0] in columns:
            pass
        else:
            return False
        return True
    if state.asks == "who" and not state.query.select and not state.query.entities and not columns:
        texts = [column for column in link.columns if not column.is_time]
        state.query.select.append((pick_of(state, link, texts), ""))
        state.mode = "where"
        return True
    is_which = state.links[0].words in ("which", "who") and bool(state.query.entities)
    if is_part and link.is_form and (is_which or state.query.counted is not None):
        state.claims.append(link)
        return True
    return False


def pick_of(state: QuestionState, link: Link, columns: list[Column]) -> Column:
    if not columns:
        raise Unclear(f"it is not clear what “{link.words}” asks for")
    return state.pick_column(replace(link, columns=tuple(columns))) if len(columns) > 1 else columns[0]


def count_column(state: QuestionState, link: Link) -> None:
    column = state.pick_column(link)
    if state.distinct_next:
        state.query.select.append((column, "COUNT DISTINCT"))
    elif column.is_number:
        # `how many points does Rita have`: the number is a value of her row.
        state.query.select.append((column, ""))
        state.is_value = True
    else:
        raise Unclear(f"it is not clear whether each {link.words} counts once")
    state.counts = state.distinct_next = False
