"""Families of questions over one table: each is a function from a question to a plan, or None for other questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from marchwarden.sources.database.planning.draft import holds_days, quote_text
from marchwarden.sources.database.planning.single_table.table_links import Span, TableQuestion, places_in
from marchwarden.sources.database.planning.single_table.table_parts import (
    TIMES,
    Plan,
    Writer,
    best_match,
    column_of,
    column_with_number,
    conditions,
    find_free,
    head_column,
    header_words,
    is_ranked,
    measure_after,
)
from marchwarden.sources.database.planning.single_table.table_words import EXTREME, LABELS
from marchwarden.sources.database.planning.statement_writer import write_name
from marchwarden.sources.database.schema import Column

_HOW_MANY = re.compile(r"\b(?:how many|(?:the )?(?:total )?number of|how much|(?:the )?total amount of|what total)\b")
_POSITION = re.compile(r"\b(?P<first>first|top|initial)\b|\b(?P<last>last|final|bottom)\b")
# A place in a ranking, and a name: no place in the table.
_RANKED = re.compile(
    r"\b(?:placed|ranked|finish\w*|came|come|in|was|were) (?:in )?(?:first|last)(?! (?:year|season))\b|"
    r"(?:first|last) places?|"
    r"\btop (?:two|three|four|five|ten|\d+|ranked|score)|"
    r"(?:first|last) names?\b(?! (?:listed|on|in))|\bdid\b.*\blast\b|\blast$"
)
_LISTED = re.compile(r"\b(?:listed|list|chart|table|row)\b")
_NEXT = re.compile(
    r"\b(?:(?:immediately|directly|right|just|comes?|came|is listed|listed|finished|placed) )*"
    r"(?:(?P<after>after|following|below|next after|next to|behind)|"
    r"(?P<before>before|prior to|preceding|above|previous to))\b"
)
_BESIDE = re.compile(r"\b(?:next|previous|listed|immediately|directly|right|came|comes)\b")
_DIFFERENCE = re.compile(
    r"\b(?:difference|how (?:many|much) (?:\w+ )?(?:more|fewer|less|longer|taller|older|higher)|"
    r"how (?:many|much) more)\b"
)
_MORE = re.compile(
    r"\b(?:(?P<high>more|higher|greater|larger|bigger|longer|taller|older|later|better|heavier|further|faster)|"
    r"(?P<low>less|fewer|lower|smaller|shorter|younger|earlier|lighter|worse|sooner|closer|first))\b"
)
_TOTAL = re.compile(r"\b(?:total|sum|combined|altogether|all together|overall)\b")
_MEAN = re.compile(r"\b(?:average|mean)\b")


# The families


# Words before an extreme whose value is asked for: `what was the`.
_ASKS_VALUE = re.compile(r"^(?:(?:what|which) (?:is|was|are|were)|tell me|give me|find)?(?: the)?(?: \w+'s?)?$")
_AGES = {"oldest": "ASC", "earliest": "ASC", "youngest": "DESC", "latest": "DESC"}
# The first of a ranking has the lowest number, and so has the fastest.
_BEST = frozenset({"highest", "best", "top", "fastest", "most"})


_OFTEN = re.compile(r"\b(?:listed|appears?|common|frequent\w*|often|times)\b")


def extreme(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `which nation has the most gold medals`, `what is the highest attendance`."""
    if not (found := q.search(EXTREME)) or (_DIFFERENCE.search(q.text)):
        return None
    match, span = found
    direction = "DESC" if match["high"] else "ASC"
    measured = measure_after(q, span, match[0])
    head = head_column(q, span.start)
    if measured is None:
        if (
            head is None
            or (head[0] is q.name_column and not _OFTEN.search(q.text))
            or q.is_measure(head[0])
            or match[0] not in ("most", "least", "fewest")
        ):
            return None
        told = conditions(q, write, [span, *head[1]], head[0])
        if told is None:
            return None
        name = write.name(head[0])
        return Plan(
            "most rows",
            name,
            told.where,
            name,
            f"COUNT(*) {direction}",
            True,
            [span, *head[1], *told.used],
            told.doubts + 1,
            tied="COUNT(*)",
        )
    measure, more = measured
    if q.is_time(measure) or set(header_words(measure)) & {"founded", "built", "born", "birth"}:
        direction = _AGES.get(match[0], direction)
    by_rank = is_ranked(q, measure)
    if match[0] in _BEST and (
        by_rank or (q.kind_of(measure) == "time" and match[0] != "most" and match[0] != "highest")
    ):
        direction = "ASC"
    elif (match[0] in ("lowest", "worst") and by_rank) or match[0] == "slowest":
        direction = "DESC"
    if head is not None and head[0] is measure:
        head = None
    is_asked = head is None and _ASKS_VALUE.search(" ".join(q.words[: span.start]))
    told = conditions(q, write, [span, *more, *(head[1] if head else [])])
    if told is None:
        return None
    used = [span, *more, *told.used, *(head[1] if head else [])]
    where = [*told.where, *write.without_sums(), *write.with_number(measure), f"{write.name(measure)} IS NOT NULL"]
    if is_asked:
        order = f"{write.number(measure)} {direction}"
        return Plan("extreme value", write.name(measure), where, "", order, True, used, told.doubts)
    column = head[0] if head else q.name_column
    if column is None or column in told.columns:
        return None
    return Plan(
        "extreme",
        write.name(column),
        where,
        "",
        f"{write.number(measure)} {direction}",
        True,
        used,
        told.doubts + (head is None),
        tied=write.name(measure),
    )


_FIRST_PLACE = re.compile(
    r"\b(?:finish(?:ed|es)?|came|come|ranked|placed|took|take|got|won|was|is)? ?(?:in )?(?:the )?"
    r"(?P<end>first|last)(?: places?| positions?)\b|"
    r"\b(?:finished|came|come|ranked|placed) (?:in )?(?P<alone>first|last)\b"
)


def placed(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `who finished in last place`, `which athlete took first place`: the end of a ranking."""
    found = q.search(_FIRST_PLACE)
    ranked = [each for each in q.table.columns if q.is_measure(each) and is_ranked(q, each)]
    if found is None or len(ranked) != 1 or q.search(_HOW_MANY) or q.search(EXTREME):
        return None
    match, span = found
    head = head_column(q, span.start)
    if head is None or head[0] is ranked[0]:
        return None
    told = conditions(q, write, [span, *head[1]], head[0])
    if told is None or head[0] in told.columns:
        return None
    is_first = (match["end"] or match["alone"]) == "first"
    name, number = write.name(ranked[0]), write.number(ranked[0])
    where = [*told.where, *write.without_sums(), *write.with_number(ranked[0]), f"{name} IS NOT NULL"]
    used = [span, *head[1], *told.used]
    if is_first:
        return Plan("extreme", write.name(head[0]), [*where, f"{number} = 1"], used=used, doubts=told.doubts)
    return Plan("extreme", write.name(head[0]), where, "", f"{number} DESC", True, used, told.doubts, tied=name)


_WHEN = re.compile(r"(?:when\b|(?:in )?(?:what|which) year\b|what (?:is|was) the (?:year|date)\b)")


def position(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `the last performer on this chart`, `the first year in which …`."""
    if not (found := q.search(_POSITION)):
        return None
    match, span = found
    direction = "DESC" if match["last"] else "ASC"
    listed = q.search(_LISTED)
    if _RANKED.search(q.text):
        return None
    behind = [
        named for named in q.named_in(span.end, min(len(q.words), span.end + 3)) if named.span.start == span.end
    ]
    head, doubts = head_column(q, span.start), 0
    when = _WHEN.match(q.text)
    if when and q.time_column:
        head, behind = (q.time_column, [q.span_of(when)]), []
    if head is not None and q.words[head[1][0].start] == "who" and behind:
        head = None
    if head is None and behind:
        head = (column_of(behind[0], q), [span, behind[0].span])
        if head[0].is_number and q.words[0] == "who":
            return None
    if head is None:
        if q.name_column is None:
            return None
        head, doubts = (q.name_column, [span]), 1
    told = conditions(q, write, [span, *head[1], *([listed[1]] if listed else [])], head[0])
    if told is None or head[0] in told.columns:
        return None
    used = [span, *head[1], *told.used, *([listed[1]] if listed else [])]
    year = q.column_by_words(("year", "season", "date"))
    doubts += told.doubts
    if not listed and head[0].is_number and head[0] is year:
        function = "MAX" if direction == "DESC" else "MIN"
        return Plan("first year", f"{function}({write.name(year)})", told.where, used=used, doubts=doubts)
    order = write.number(year) if year and q.is_time(year) and not listed else write.row
    where = [*told.where, *(write.without_sums() if order == write.row else [])]
    days = [each for each in q.table.columns if holds_days(each)]
    named = [each.span for each in q.columns if len(days) == 1 and days[0] in each.columns]
    if order == write.row and named and not listed:
        # `who started first`: the days tell it, and not the rows.
        if head[0] is days[0] and not when:
            return None
        order = write.name(days[0])
        where, used = [*told.where, f"{order} IS NOT NULL"], [*used, *named]
    by_row = order == write.row
    tied = order if days and order == write.name(days[0]) else ""
    return Plan("position", write.name(head[0]), where, "", f"{order} {direction}", True, used, doubts, by_row, tied)


def neighbour(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `who was listed after Ardent`, `the location before the stadium`: the row beside a named one."""
    if q.search(_HOW_MANY) or q.search(EXTREME):
        return None
    for match in _NEXT.finditer(q.text):
        span = q.span_of(match)
        anchors = [each for each in q.matches if 0 <= each.span.start - span.end <= 2]
        anchors = [each for each in anchors if each.is_whole or len(each.values) == 1]
        if not anchors:
            continue
        anchor = best_match(q, anchors)
        rest = [each for each in q.matches if each.span != anchor.span]
        head = head_column(q, span.start)
        if head is None and anchor.column is q.name_column:
            head = (anchor.column, [])
        if head is not None and head[1] and q.words[head[1][0].start] == "who":
            head = (anchor.column, head[1])
        named = places_in(head[1]) if head else set()
        if head is None or any(not places_in([each.span]) <= named for each in rest):
            return None
        step = "+" if match["after"] else "-"
        table = write_name(q.table.name, write.dialect)
        inner = f"(SELECT MIN({write.row}) FROM {table} WHERE {write.is_value(anchor)})"
        edge = q.search(_BESIDE)
        used = [span, anchor.span, *head[1], *([edge[1]] if edge else [])]
        doubts = (len(anchors) > 1) + (not anchor.is_whole) + (edge is None)
        return Plan(
            "neighbour",
            write.name(head[0]),
            [f"{write.row} = {inner} {step} 1"],
            used=used,
            doubts=doubts,
            by_row=True,
        )
    return None


_BETWEEN = re.compile(r"\b(?:between|of|out of)\b")


def alternatives(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `who is taller, Paul George or Greg Smith`."""
    is_between = " or " not in f" {q.text} " and _BETWEEN.search(q.text) is not None
    if not is_between and " or " not in f" {q.text} ":
        return None
    if q.search(_HOW_MANY) or q.search(_DIFFERENCE):
        return None
    pair = _pair(q, ("and",) if is_between else ("or",))
    if pair is None:
        return None
    column, values, spans = pair
    found = (
        find_free(q, _MORE, places_in(spans))
        or find_free(q, EXTREME, places_in(spans))
        or find_free(q, _POSITION, places_in(spans))
    )
    if found is None:
        return None
    match, span = found
    kinds = match.groupdict()
    is_high = bool(kinds.get("high") or kinds.get("last"))
    measured = measure_after(q, span, match[0])
    name = write.name(column)
    where = [write.is_one_of(column, values)]
    used = [*spans, span]
    head = head_column(q, min(each.start for each in spans))
    used += head[1] if head and head[0] is column else []
    used += [joint[1]] if is_between and (joint := q.search(_BETWEEN)) else []
    if measured is None:
        if match[0] in ("first", "earlier", "later", "last", "earliest", "latest", "sooner", "older", "oldest"):
            year = q.column_by_words(("year", "date", "season"))
            is_late = match[0] in ("later", "last", "latest")
            if year is not None and year.is_number:
                order = f"{write.name(year)} {'DESC' if is_late else 'ASC'}"
                return Plan("alternatives in time", name, where, "", order, True, used, 1)
            if "listed" in q.words or "list" in q.words:
                order = f"{write.row} {'DESC' if is_late else 'ASC'}"
                return Plan("alternatives in order", name, where, "", order, True, used, 1, by_row=True)
            return None
        if column is q.name_column or match[0] not in ("more", "most", "less", "fewer", "least"):
            return None
        order = f"COUNT(*) {'DESC' if is_high else 'ASC'}"
        return Plan("alternatives by rows", name, where, name, order, True, used, 1)
    measure, more = measured
    if is_ranked(q, measure) and match[0] in ("higher", "better", "lower", "worse", "highest", "lowest", "best"):
        is_high = not is_high
    direction = "DESC" if is_high else "ASC"
    return Plan("alternatives", name, where, "", f"{write.number(measure)} {direction}", True, [*used, *more])


def _pair(
    q: TableQuestion, joints: Sequence[str], most_between: int = 4
) -> tuple[Column, list[str], list[Span]] | None:
    """Return two or more single values of one column that the question joins by these words."""
    for column in q.table.columns:
        own = [match for match in q.matches if match.column is column and len(match.values) == 1]
        own = list({match.span: match for match in own}.values())
        values = list(dict.fromkeys(match.values[0] for match in own))
        others = [match for match in q.matches if match.span not in {each.span for each in own}]
        if len(values) < 2 or len(own) > 4 or others:
            continue
        between = q.words[own[-2].span.end : own[-1].span.start]
        if any(joint in between for joint in joints) and len(between) <= most_between:
            place = own[-2].span.end + next(n for n, word in enumerate(between) if word in joints)
            return column, values, [*(match.span for match in own), Span(place, place + 1)]
    return _pair_of_years(q) if "or" in joints else None


_TWO_YEARS = re.compile(r"\b(?P<one>(?:1[5-9]|20)\d\d) or (?:in )?(?:the year )?(?P<other>(?:1[5-9]|20)\d\d)\b")


def _pair_of_years(q: TableQuestion) -> tuple[Column, list[str], list[Span]] | None:
    """Return the two years of `which year had more laps, 1985 or 1988`."""
    found = q.search(_TWO_YEARS)
    years = [each for each in q.table.columns if q.is_time(each) and q.kind_of(each) != "date"]
    if found is None or len(years) != 1 or places_in(each.span for each in q.matches) - places_in([found[1]]):
        return None
    return years[0], [found[0]["one"], found[0]["other"]], [found[1]]


def difference(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `the difference in points between A and B`, `how many more medals did A win than B`."""
    if not (found := q.search(_DIFFERENCE)):
        return None
    match, span = found
    pair = _pair(q, ("and", "than", "or", "to", "compared", "over", "from"))
    if pair is None:
        return None
    column, values, spans = pair
    measured = measure_after(q, span, match[0].split()[-1])
    if measured is None or len(values) != 2:
        return None
    measure, more = measured
    name = write.number(measure)
    where = [f"{write.name(column)} IN ({', '.join(map(quote_text, values))})", *write.with_number(measure)]
    between = q.search(re.compile(r"\bbetween\b|\bthan\b"))
    used = [*spans, span, *more, *([between[1]] if between else [])]
    return Plan("difference", f"MAX({name}) - MIN({name})", where, used=used)


_OR = re.compile(r"(?:did|do|does|was|were|is|are|has|have|which|who)\b.* or ")


def total(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `how many silver medals did Turkey win`, `the total number of votes`: numbers that rows hold."""
    found = q.search(_HOW_MANY)
    mean = q.search(_MEAN)
    asked = found or q.search(_TOTAL) or mean
    if asked is None or (found and mean) or _OR.match(q.text):
        return None
    span = asked[1]
    behind = q.named_in(span.end, min(len(q.words), span.end + 4))
    measures = [
        (named.span, column_with_number(q, own))
        for named in behind
        if (own := [column for column in named.columns if q.is_measure(column) and not q.is_time(column)])
    ]
    if not behind and (implied := measure_after(q, span, "")) and implied[1]:
        measures = [(implied[1][0], implied[0])]
    if not measures:
        return None
    place, measure = measures[0]
    between = q.words[span.end : place.start]
    if (
        set(between) & _CLAUSES
        or q.search(EXTREME)
        or (header_words(measure)[-1:] and header_words(measure)[-1] in LABELS)
    ):
        return None
    told = conditions(q, write, [span, place])
    if told is None or any(where.startswith(write.number(measure)) for where in told.where):
        return None
    summed = q.search(_TOTAL)
    used = [span, place, *told.used, *([summed[1]] if summed else [])]
    name, number = write.name(measure), write.number(measure)
    if mean:
        where = [*told.where, *write.without_sums(), *write.with_number(measure)]
        return Plan("mean", f"AVG({number})", where, used=used, doubts=told.doubts)
    if told.where:
        by_name = (
            q.name_column is not None
            and len(told.where) == 1
            and told.where[0].startswith(write.name(q.name_column) + " =")
        )
        select = name if by_name else f"SUM({number})"
        return Plan("number", select, told.where, used=used, doubts=told.doubts + (not by_name))
    if summed is None or measure is q.table.columns[0]:
        return None
    where = [*write.without_sums(), *write.with_number(measure)]
    return Plan("sum", f"SUM({number})", where, used=used)


_CLAUSES = frozenset({"with", "who", "whose", "that", "have", "had", "has", "which", "in", "on", "at"})


def count(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `how many players are from Canada`, `how many nations won more than 2 medals`."""
    found = q.search(_HOW_MANY)
    if found is None or q.search(EXTREME):
        return None
    span = found[1]
    behind = q.named_in(span.end, min(len(q.words), span.end + 2))
    spans = [span, *(named.span for named in behind[:1])]
    told = conditions(q, write, spans, wide=True)
    if told is None or len(set(told.columns)) < len(told.columns):
        return None
    times = q.search(TIMES)
    spans += [times[1]] if times else []
    if set(told.columns) == {q.name_column} and all(" = " in where for where in told.where) and times is None:
        if not re.search(r"\b(?:in|at|against|from) (?:the )?$", " ".join([*q.words[: told.used[0].start], ""])):
            return None
        told.doubts += 1
    if not told.where and re.search(r"\b(?:in|at|against|from)$", q.text):
        return None  # the rows of one name are one: something of them is counted that the table does not say
    if told.where:
        summed = q.search(_TOTAL)
        used = [*spans, *told.used, *([summed[1]] if summed else [])]
        return Plan("count", "COUNT(*)", [*told.where, *write.without_sums()], used=used, doubts=told.doubts)
    listed, summed = q.search(_LISTED), q.search(_TOTAL)
    used = [*spans, *([listed[1]] if listed else []), *([summed[1]] if summed else [])]
    distinct = q.search(re.compile(r"\b(?:different|distinct|unique)\b"))
    if behind and (distinct or column_of(behind[0], q) is not q.name_column):
        column = column_of(behind[0], q)
        used += [distinct[1]] if distinct else []
        return Plan(
            "count different",
            f"COUNT(DISTINCT {write.name(column)})",
            write.without_sums(),
            used=used,
            doubts=not distinct,
        )
    noun = [] if behind else [Span(span.end, span.end + 1)]
    if re.search(r"\b(?:he|she|they|his|her|win|wins|won|did)\b", q.text):
        return None
    return Plan("count all", "COUNT(*)", write.without_sums(), used=[*used, *noun], doubts=not behind)


# Begins of questions for the names of rows.
_NAMES = re.compile(r"(?:which|name|who|list|tell me)\b")


def look_up(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `which country is Haifa in`, `who won in 1951`: a column of the rows that the values name."""
    if (
        _OR.match(q.text)
        or q.search(EXTREME)
        or q.search(_POSITION)
        or q.search(_HOW_MANY)
        or q.search(_MEAN)
        or q.search(_TOTAL)
    ):
        return None
    head = head_column(q)
    is_named = head is None and q.name_column is not None and _NAMES.match(q.text) is not None
    if is_named and q.name_column is not None:
        head = (q.name_column, [])
    if head is None:
        return None
    column, spans = head
    told = conditions(q, write, spans, column)
    if told is None or not told.where:
        return None
    told.doubts += is_named
    if any(where.startswith(f"{write.name(column)} ") for where in told.where if column.is_number):
        return None
    if column in told.columns:
        if q.name_column is None or q.name_column in told.columns:
            return None
        column, told.doubts = q.name_column, told.doubts + 1
    return Plan(
        "look-up",
        f"DISTINCT {write.name(column)}",
        [*told.where, *write.without_sums()],
        used=[*spans, *told.used],
        doubts=told.doubts,
    )


# Words that a question for yes or no begins with.
_YES_NO = re.compile(r"(?:did|does|do|was|were|is|are|has|have)\b")
_SAME = re.compile(r"\b(?:the )?same\b")
_AS = re.compile(r"\b(?:as|with|like)(?: the)?$")


def yes_or_no(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `did Turkey win more gold medals than Spain`, `was Royal Oak before Falmer`; and `more or less`."""
    if not _YES_NO.match(q.text):
        return None
    either = re.search(r"\b(more|higher|larger|greater|longer) or (?:less|fewer|lower|smaller|shorter)\b", q.text)
    which = re.search(r"\bbefore or after\b", q.text)
    if " or " in q.text and not either and not which:
        return None
    pair = _pair(q, ("than", "as", "before", "after"), most_between=8)
    if pair is None or len(pair[1]) != 2:
        return None
    column, values, spans = pair
    free = find_free(q, _MORE, places_in(spans))
    order = next((word for word in ("before", "after") if word in q.words), None)
    if free is not None:
        match, span = free
        is_high = bool(match["high"])
        measured = measure_after(q, span, match[0])
        if either is not None:
            span = q.span_of(either)
            is_high = True
            measured = measure_after(q, span, either[1])
        if measured is None:
            return None
        measure, more = measured
        if is_ranked(q, measure):
            is_high = not is_high
    elif order and q.time_column:
        measure, more, is_high = q.time_column, [], order == "after" and not which
        span = q.span_of(which) if which else spans[-1]
    else:
        return None
    name, number = write.name(column), write.number(measure)
    one, other = (f"MAX(CASE WHEN {name} = {quote_text(value)} THEN {number} END)" for value in values)
    yes, no = ("yes", "no")
    if either is not None:
        yes, no = either[1], q.text[either.start() : either.end()].split()[-1]
    elif which is not None:
        yes, no = "before", "after"
    select = f"CASE WHEN {one} {'>' if is_high else '<'} {other} THEN '{yes}' ELSE '{no}' END"
    where = [f"{name} IN ({', '.join(map(quote_text, values))})"]
    return Plan("yes or no", select, where, used=[*spans, span, *more])


def same(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `which players played the same position as Ardo Kreek`: rows that share a cell with a named one."""
    found = q.search(_SAME)
    if found is None or q.search(EXTREME):
        return None
    _, span = found
    shared = q.named_in(span.end, min(len(q.words), span.end + 3))
    anchors = [each for each in q.matches if each.span.start > span.end and len(each.values) == 1]
    if not shared or not anchors or {each.span for each in q.matches} != {anchors[0].span}:
        return None
    anchor = best_match(q, anchors)
    joint = _AS.search(" ".join(q.words[: anchor.span.start]))
    column = next((each for each in shared[0].columns if each is not anchor.column), None)
    if joint is None or column is None:
        return None
    head = head_column(q, span.start)
    is_count = q.search(_HOW_MANY)
    table, name = write_name(q.table.name, write.dialect), write.name(column)
    own = write.is_value(anchor)
    where = [f"{name} IN (SELECT {name} FROM {table} WHERE {own})", f"NOT {own}"]
    used = [span, shared[0].span, anchor.span, Span(anchor.span.start - len(joint[0].split()), anchor.span.start)]
    used += [*(head[1] if head else []), *([is_count[1]] if is_count else [])]
    if is_count:
        return Plan("same", "COUNT(*)", where, used=used)
    asked = anchor.column if head is None or head[0] is column else head[0]
    return Plan("same", f"DISTINCT {write.name(asked)}", where, used=used, doubts=asked is not anchor.column)


FAMILIES: tuple[Callable[[TableQuestion, Writer], Plan | None], ...] = (
    yes_or_no,
    same,
    difference,
    alternatives,
    neighbour,
    extreme,
    placed,
    position,
    total,
    count,
    look_up,
)
