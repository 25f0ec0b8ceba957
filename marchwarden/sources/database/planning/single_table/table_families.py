"""Families of questions over one table: each is a function from a question to a plan, or None for other questions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from marchwarden.sources.database.planning.draft import quote_text
from marchwarden.sources.database.planning.single_table.table_links import (
    Match,
    Named,
    Span,
    TableQuestion,
    places_in,
)
from marchwarden.sources.database.planning.single_table.table_words import (
    ASKED,
    COMPARED,
    EXTREME,
    LABELS,
    MEASURES,
    SPELLED,
)
from marchwarden.sources.database.planning.single_table.typed_cells import time_of
from marchwarden.sources.database.planning.statement_writer import write_name
from marchwarden.sources.database.schema import Column

_HEAD = re.compile(r"\b(?:which|what|whose|name(?: of)? the|tell me(?: the)?|list the|in what|in which)\b")
_ASKS = re.compile(r"\b(?:who|whom|where|when)\b")
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
_COMPARED = re.compile(
    r"\b(?:"
    + "|".join(sorted(COMPARED, key=len, reverse=True))
    + r") (?P<number>[\d][\d,.]*|"
    + "|".join(SPELLED)
    + r")\b"
)
_OR_MORE = re.compile(
    r"\b(?P<number>[\d][\d,.]*|" + "|".join(SPELLED) + r") or (?P<more>more|higher|less|fewer|lower)\b"
)
_TOTAL = re.compile(r"\b(?:total|sum|combined|altogether|all together|overall)\b")
_MEAN = re.compile(r"\b(?:average|mean)\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Words between an extreme and the column that it is about. A guess.
_MEASURE_WORDS = 5


Family: TypeAlias = Literal[
    "difference", "alternatives", "alternatives in time", "alternatives in order", "alternatives by rows",
    "neighbour", "extreme", "extreme value", "most rows", "position", "first year", "number", "sum", "mean",
    "yes or no", "same", "count", "count different", "count all", "look-up",
]  # fmt: skip


@dataclass
class Conditions:
    """Conditions that values and numbers of the question set."""

    where: list[str] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    """Columns of which a value is named."""
    used: list[Span] = field(default_factory=list)
    doubts: int = 0


@dataclass
class Plan:
    """A statement in parts, with the words of the question that it uses."""

    family: Family
    select: str
    where: list[str] = field(default_factory=list)
    group: str = ""
    order: str = ""
    is_limited: bool = False
    used: list[Span] = field(default_factory=list)
    doubts: int = 0
    """Number of choices that could have been made otherwise."""
    by_row: bool = False
    """True where the order of the rows decides."""


class Writer:
    """Writes names and conditions of one table in the dialect of its question."""

    def __init__(self, question: TableQuestion) -> None:
        self.question, self.dialect = question, question.dialect
        self.row = "rowid"
        """Column that tells the order of rows; PostgreSQL has none."""

    def name(self, column: Column) -> str:
        return write_name(column.name, self.dialect)

    def number(self, column: Column) -> str:
        """Return a column as a number: a text's commas are taken out, and what stands behind its number."""
        name = self.name(column)
        if column.is_number:
            return name
        if column in self.question.typed:
            cells = self.question.typed[column][1].items()
            whens = (f"WHEN {quote_text(text)} THEN {repr(number).removesuffix('.0')}" for text, number in cells)
            return f"CASE {name} {' '.join(whens)} END"
        bare = f"REPLACE({name}, ',', '')"
        return f"CAST({bare} AS REAL)" if self.dialect == "sqlite" else f"TRY_CAST({bare} AS DOUBLE)"

    def with_number(self, column: Column) -> list[str]:
        """Return the condition that a text holds a number; none where each does."""
        if column in self.question.typed:
            is_whole = len(self.question.typed[column][1]) == len(column.values)
            return [] if is_whole else [f"{self.number(column)} IS NOT NULL"]
        others = self.question.numeric_texts.get(column, ())
        return [f"{self.name(column)} NOT IN ({', '.join(map(quote_text, others))})"] if others else []

    def is_value(self, match: Match, *, wide: bool = False) -> str:
        values = match.wider if wide else match.values
        told = ", ".join(map(quote_text, values))
        return f"{self.name(match.column)} = {told}" if len(values) == 1 else f"{self.name(match.column)} IN ({told})"

    def without_sums(self) -> list[str]:
        sums = self.question.sum_rows
        if sums is None:
            return []
        column = self.name(sums[0])
        return [f"({column} IS NULL OR {column} NOT IN ({', '.join(map(quote_text, sums[1]))}))"]

    def statement(self, plan: Plan) -> str:
        table = write_name(self.question.table.name, self.dialect)
        sql = f"SELECT {plan.select} FROM {table}"
        if plan.where:
            sql += f" WHERE {' AND '.join(plan.where)}"
        sql += f" GROUP BY {plan.group}" if plan.group else ""
        sql += f" ORDER BY {plan.order}" if plan.order else ""
        return sql + (" LIMIT 1" if plan.is_limited else "")


# Parts that families share


def head_column(q: TableQuestion, end: int | None = None) -> tuple[Column, list[Span]] | None:
    """Return the column that the question asks for, with the words that say so."""
    last = len(q.words) if end is None else end
    if found := q.search(_HEAD):
        _, span = found
        # The column stands behind `which` or `what`, with a few words between: `what is the name of the ship`.
        for named in q.named_in(span.end, min(last, span.end + 6)):
            asked = _of(named, q)
            # `which area has the largest population` asks for no size.
            is_size = q.words[span.start] == "which" and q.is_measure(asked) and not q.is_time(asked)
            if is_size and not named.is_whole and (name := q.name_column) is not None:
                return name, [span, named.span]
            return asked, [span, named.span]
    if found := q.search(_ASKS):
        match, span = found
        if column := q.column_by_words(ASKED[match[0]]):
            return column, [span]
        if match[0] == "who" and q.name_column:
            return q.name_column, [span]
    return None


def _of(named: Named, q: TableQuestion) -> Column:
    if q.name_column in named.columns:
        return q.name_column
    return named.columns[0]


def conditions(
    q: TableQuestion, write: Writer, used: Sequence[Span], asked: Column | None = None, *, wide: bool = False
) -> Conditions | None:
    """Return the conditions that the values and numbers of the question set; None where they can't be told."""
    found = Conditions()
    taken = places_in(used)
    if _CLOCK.search(q.question) and not _clock_condition(q, write, found, taken):
        return None
    _time_conditions(q, write, found, taken)
    before: Match | None = None
    for start in sorted({match.span.start for match in q.matches}):
        matches = [match for match in q.matches if match.span.start == start]
        if places_in([matches[0].span]) & taken:
            continue
        best = _best_match(q, [match for match in matches if match.column is not asked] or matches)
        told = write.is_value(best, wide=wide and best.column is not q.name_column)
        found.doubts += len(matches) > 1 or not best.is_whole
        joint = Span(before.span.end, best.span.start) if before else None
        excluded = _EXCLUDED.search(" ".join(q.words[: best.span.start]))
        if excluded:
            words = len(excluded[0].split())
            found.used.append(Span(best.span.start - words, best.span.start))
            name = write.name(best.column)
            told = f"({name} IS NULL OR NOT {told})"
        elif before and joint and before.column is best.column and _is_joint(q.words[joint.start : joint.end]):
            # `Norway and France`: no row is of both.
            found.where[-1] = f"({found.where[-1]} OR {told})"
            found.used += [best.span, joint]
            taken |= places_in([best.span])
            before = best
            continue
        found.where.append(told)
        if not excluded:
            found.columns.append(best.column)
        found.used.append(best.span)
        taken |= places_in([best.span])
        before = None if excluded else best
    return _number_conditions(q, write, found, taken)


# A time, whose parts are words of their own in a question's text.
_CLOCK = re.compile(r"\d:\d\d\b")
_CLOCK_COMPARED = re.compile(
    r"\b(?P<how>" + "|".join(sorted(COMPARED, key=len, reverse=True)) + r") (?P<time>\d+(?: \d\d){1,2}(?:\.\d+)?)\b"
)


def _clock_condition(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> bool:
    """Add the condition that a time sets, `under 1:55`; return False where it is not told which times are meant."""
    columns = [each for each in q.table.columns if q.kind_of(each) == "time"]
    found = _free(q, _CLOCK_COMPARED, taken)
    seconds = time_of(found[0]["time"].replace(" ", ":")) if found else None
    if found is None or seconds is None or len(columns) != 1:
        return False
    match, span = found
    name = write.number(columns[0])
    told.where += [*write.with_number(columns[0]), f"{name} {COMPARED[match['how']]} {seconds:g}"]
    told.used.append(span)
    taken |= places_in([span])
    return True


_EXCLUDED = re.compile(
    r"\b(?:other than|besides|except(?: for)?|excluding|aside from|outside(?: of)?|not(?: from| in| the| a)?)$"
)


def _is_joint(words: Sequence[str]) -> bool:
    return bool(words) and set(words) <= {"and", "or", ",", "the"}


_BETWEEN_YEARS = re.compile(
    r"\b(?:between|from) (?P<first>1[5-9]\d\d|20\d\d) (?:and|to|through|-|–) (?P<last>1[5-9]\d\d|20\d\d)\b"
)
_YEAR_COMPARED = re.compile(
    r"\b(?P<how>after|before|since|until|prior to|later than|earlier than) (?:the )?(?:year )?"
    r"(?P<year>1[5-9]\d\d|20\d\d)\b"
)


def _time_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> None:
    """Add the conditions that years set: `between 1997 and 2000`, `after 1950`."""
    column = q.time_column
    if column is None:
        return
    days = (0, 0) if q.kind_of(column) != "date" else (101, 1231)
    scale = 1 if days == (0, 0) else 10_000
    if scale > 1 and any(number < 10_000_000 for number in q.typed[column][1].values()):
        return
    name = write.number(column)
    while found := _free(q, _BETWEEN_YEARS, taken):
        match, span = found
        first, last = int(match["first"]) * scale, int(match["last"]) * scale + days[1]
        told.where.append(f"{name} BETWEEN {first} AND {last}")
        told.used.append(span)
        taken |= places_in([span])
    while found := _free(q, _YEAR_COMPARED, taken):
        match, span = found
        year = int(match["year"]) * scale
        how = {
            "after": f"> {year + days[1]}", "later than": f"> {year + days[1]}", "since": f">= {year}",
            "until": f"<= {year + days[1]}",
        }.get(match["how"], f"< {year}")  # fmt: skip
        told.where += [*write.with_number(column), f"{name} {how}"]
        told.used.append(span)
        taken |= places_in([span])


def _best_match(q: TableQuestion, matches: list[Match]) -> Match:
    span = matches[0].span
    near = [
        named for named in q.columns if abs(named.span.end - span.start) <= 3 or abs(named.span.start - span.end) <= 3
    ]
    for named in near:
        if own := [match for match in matches if match.column in named.columns]:
            return own[0]
    if own := [match for match in matches if match.column is q.name_column]:
        return own[0]
    return min(matches, key=lambda match: len(match.values))


def _number_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> Conditions | None:
    for match in _NONE.finditer(q.text):
        span = q.span_of(match)
        named = [
            each for each in q.named_in(span.end, min(len(q.words), span.end + 2)) if each.span.start == span.end
        ]
        own = [each for each in named[0].columns if q.is_measure(each) and not q.is_time(each)] if named else []
        if own and not places_in([span, named[0].span]) & taken:
            told.where.append(f"{write.number(own[0])} = 0")
            told.used += [span, named[0].span]
            taken |= places_in([span, named[0].span])
    _row_conditions(q, write, told, taken)
    _place_conditions(q, write, told, taken)
    for pattern in (_OR_MORE, _COMPARED):
        while found := _free(q, pattern, taken):
            match, span = found
            operator = (
                (">=" if match["more"] in ("more", "higher") else "<=")
                if pattern is _OR_MORE
                else COMPARED[match[0][: match.start("number") - match.start()].strip()]
            )
            number = _number(match["number"])
            column, more = _numeric_near(q, span, number)
            if column is None:
                return None
            told.where += [*write.with_number(column), f"{write.number(column)} {operator} {number}"]
            told.used += [span, *more]
            taken |= places_in((span, *more))
    for place, token in enumerate(q.tokens):
        if place in taken or not _NUMBER.fullmatch(token.text):
            continue
        if any(re.search(rf"(?<!\d){re.escape(token.text)}(?!\d)", column.name) for column in q.table.columns):
            told.used.append(Span(place, place + 1))  # a part of the name of a column: `population in 2010`
            continue
        number, span = _number(token.text), Span(place, place + 1)
        column, more = _numeric_near(q, span, number)
        if column is None and re.fullmatch(r"1[5-9]\d\d|20\d\d", token.text) and q.time_column is None:
            told.used.append(span)  # a year that the whole table is of
            told.doubts += 1
            continue
        if column is None:
            return None
        told.where += [*write.with_number(column), f"{write.number(column)} = {number}"]
        told.used += [span, *more]
        taken |= places_in((span, *more))
    return told


_THAN_ROW = re.compile(
    r"\b(?:(?P<high>more|higher|greater|larger|bigger|longer|taller|older|better|later)|"
    r"(?P<low>less|fewer|lower|smaller|shorter|younger|worse|earlier))\b(?: \w+){0,4}? than"
    r"(?: the| that of)?(?= )"
)


def _row_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> None:
    """Add the conditions that another row sets: `more gold medals than Turkey`. They replace the row's own."""
    for match in _THAN_ROW.finditer(q.text):
        span = q.span_of(match)
        anchors = [each for each in q.matches if each.span.start == span.end and len(each.values) == 1]
        if not anchors:
            continue
        anchor = _best_match(q, anchors)
        measured = measure_after(q, Span(span.start, span.start + 1), match["high"] or match["low"])
        own = write.is_value(anchor)
        if measured is None or own not in told.where:
            continue
        measure, more = measured
        name = write.number(measure)
        if _is_ranked(q, measure):
            continue
        table = write_name(q.table.name, write.dialect)
        place = told.where.index(own)
        told.where[place] = f"{name} {'>' if match['high'] else '<'} (SELECT MAX({name}) FROM {table} WHERE {own})"
        told.columns.remove(anchor.column)
        told.used += [span, *more]
        taken |= places_in([span, *more])


_ORDINALS = {word: number for number, word in enumerate(
    ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"], start=1
)}  # fmt: skip
_PLACED = re.compile(
    r"\b(?:(?:placed?|finish(?:ed|es)?|came|come|ranked|ranks?|was|were)(?: in| at)? )?"
    r"(?:(?:the )?top (?P<top>\w+)|(?P<place>"
    + "|".join(_ORDINALS)
    + r"|\d+(?:st|nd|rd|th))(?P<noun> places?| positions?| spot)?)\b"
)


def _place_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> None:
    """Add the conditions that places in a ranking set: `finished in the top three`, `was in 2nd position`."""
    ranked = [each for each in q.table.columns if q.is_measure(each) and _is_ranked(q, each)]
    ranked = [each for named in q.columns for each in named.columns if each in ranked][:1] or ranked
    if len(ranked) != 1 or any(write.name(ranked[0]) in where for where in told.where):
        return
    name = write.number(ranked[0])
    for match in _PLACED.finditer(q.text):
        span = q.span_of(match)
        said = match["top"] or match["place"]
        number = (
            _ORDINALS.get(said) or SPELLED.get(said) or (int(re.sub(r"\D", "", said)) if said[0].isdigit() else None)
        )
        is_placed = match["top"] or match["noun"] or match[0].split()[0] not in (said, "was", "were")
        if number is None or not is_placed or places_in([span]) & taken:
            continue
        told.where += [*write.with_number(ranked[0]), f"{name} {'<=' if match['top'] else '='} {number}"]
        told.columns.append(ranked[0])
        told.used.append(span)
        taken |= places_in([span])


_NONE = re.compile(r"\b(?:no|zero|without(?: any)?|did not win (?:a|any)|didn't win (?:a|any))\b")


def _free(q: TableQuestion, pattern: re.Pattern[str], taken: set[int]) -> tuple[re.Match[str], Span] | None:
    for match in pattern.finditer(q.text):
        span = q.span_of(match)
        if not places_in([span]) & taken:
            return match, span
    return None


def _number(text: str) -> str:
    return str(SPELLED[text]) if text in SPELLED else text.replace(",", "").rstrip(".")


def _numeric_near(q: TableQuestion, span: Span, number: str) -> tuple[Column | None, list[Span]]:
    """Return the column of numbers that stands beside a number, or that of years for a year."""
    is_year = re.fullmatch(r"1[5-9]\d\d|20\d\d", q.words[span.end - 1]) is not None
    if is_year and q.time_column is not None and q.kind_of(q.time_column) != "date":
        return q.time_column, []
    near = [
        named for named in q.columns if 0 <= named.span.start - span.end <= 2 or 0 <= span.start - named.span.end <= 2
    ]
    for named in near:
        own = [column for column in named.columns if q.is_measure(column) and q.kind_of(column) != "date"]
        if own and (not is_year or span.end - span.start > 1):
            return own[0], [named.span]
    for place in range(span.end, min(len(q.words), span.end + 2)):
        column = q.column_by_words(MEASURES.get(q.words[place], ()))
        if column is not None and q.is_measure(column) and not is_year:
            return column, [Span(place, place + 1)]
    return None, []


def measure_after(q: TableQuestion, span: Span, word: str) -> tuple[Column, list[Span]] | None:
    """Return the column of numbers that an extreme or a comparison is about."""
    is_of_time = word in _OF_TIME
    for named in q.named_in(span.end, min(len(q.words), span.end + _MEASURE_WORDS)):
        own = [column for column in named.columns if q.is_measure(column) and q.is_time(column) <= is_of_time]
        if own:
            return _with_number_of(q, own), [named.span]
        break
    behind = range(span.end, min(len(q.words), span.end + 3))
    ahead = [place for place in range(max(0, span.start - 2), span.start) if q.words[place] not in ("the", "had")]
    places = [*behind, *reversed(ahead)]
    for said, more in ((word, []), *((q.words[place], [Span(place, place + 1)]) for place in places)):
        column = q.column_by_words(MEASURES.get(said, ()))
        if column is not None and q.is_measure(column):
            return column, more
    if is_of_time and q.time_column:
        return q.time_column, []
    for named in reversed(q.named_in(max(0, span.start - 3), span.start)):
        own = [column for column in named.columns if q.is_measure(column) and not q.is_time(column)]
        if (
            own
            and named.span.end >= span.start - 1
            and q.words[span.start - 1] in ("the", q.words[named.span.end - 1])
        ):
            return own[0], [named.span]
    return None


def _with_number_of(q: TableQuestion, columns: Sequence[Column]) -> Column:
    """Return the column whose name has a number of the question, `Population 2010` for `in 2010`; else the first."""
    numbers = {word for word in q.words if word.isdigit()}
    return max(columns, key=lambda each: len(numbers & set(re.findall(r"\d+", each.name))))


_OF_TIME = frozenset(
    {
        "latest",
        "earliest",
        "oldest",
        "youngest",
        "newest",
        "first",
        "last",
        "later",
        "earlier",
        "older",
        "younger",
        "sooner",
    }
)


# The families


# Words before an extreme whose value is asked for: `what was the`.
_ASKS_VALUE = re.compile(r"^(?:(?:what|which) (?:is|was|are|were)|tell me|give me|find)?(?: the)?(?: \w+'s?)?$")
_AGES = {"oldest": "ASC", "earliest": "ASC", "youngest": "DESC", "latest": "DESC"}
# The first of a ranking has the lowest number, and so has the fastest.
_RANKS = frozenset({"rank", "ranking", "ranked", "position", "pos", "place", "finish", "seed"})
_BEST = frozenset({"highest", "best", "top", "fastest", "most"})


_OFTEN = re.compile(r"\b(?:listed|appears?|common|frequent\w*|often|times)\b")


def _is_ranked(q: TableQuestion, measure: Column) -> bool:
    return bool(set(header_words(measure)) & _RANKS) or q.kind_of(measure) == "place"


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
        )
    measure, more = measured
    if q.is_time(measure) or set(header_words(measure)) & {"founded", "built", "born", "birth"}:
        direction = _AGES.get(match[0], direction)
    is_ranked = _is_ranked(q, measure)
    if match[0] in _BEST and (
        is_ranked or (q.kind_of(measure) == "time" and match[0] != "most" and match[0] != "highest")
    ):
        direction = "ASC"
    elif (match[0] in ("lowest", "worst") and is_ranked) or match[0] == "slowest":
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
    )


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
        head = (_of(behind[0], q), [span, behind[0].span])
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
    by_row = order == write.row
    return Plan("position", write.name(head[0]), where, "", f"{order} {direction}", True, used, doubts, by_row)


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
        anchor = _best_match(q, anchors)
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


def alternatives(q: TableQuestion, write: Writer) -> Plan | None:
    """Read `who is taller, Paul George or Greg Smith`."""
    is_between = " or " not in f" {q.text} " and re.search(r"\b(?:between|of|out of)\b", q.text) is not None
    if not is_between and " or " not in f" {q.text} ":
        return None
    if q.search(_HOW_MANY) or q.search(_DIFFERENCE):
        return None
    pair = _pair(q, ("and",) if is_between else ("or",))
    if pair is None:
        return None
    column, values, spans = pair
    found = (
        _free(q, _MORE, places_in(spans))
        or _free(q, EXTREME, places_in(spans))
        or _free(q, _POSITION, places_in(spans))
    )
    if found is None:
        return None
    match, span = found
    kinds = match.groupdict()
    is_high = bool(kinds.get("high") or kinds.get("last"))
    measured = measure_after(q, span, match[0])
    name = write.name(column)
    where = [f"{name} IN ({', '.join(map(quote_text, values))})"]
    used = [*spans, span]
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
    if _is_ranked(q, measure) and match[0] in ("higher", "better", "lower", "worse", "highest", "lowest", "best"):
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
    return None


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
        (named.span, _with_number_of(q, own))
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


def header_words(column: Column) -> list[str]:
    return re.findall(r"[a-z]+", column.name.lower())


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
    if set(told.columns) == {q.name_column} and all(" = " in where for where in told.where):
        if not re.search(r"\b(?:in|at|against|from) (?:the )?$", " ".join([*q.words[: told.used[0].start], ""])):
            return None
        told.doubts += 1
    if not told.where and re.search(r"\b(?:in|at|against|from)$", q.text):
        return None  # the rows of one name are one: something of them is counted that the table does not say
    if told.where:
        summed = q.search(_TOTAL)
        used = [*spans, *told.used, *([summed[1]] if summed else [])]
        return Plan("count", "COUNT(*)", [*told.where, *write.without_sums()], used=used, doubts=told.doubts)
    listed = q.search(_LISTED)
    used = [*spans, *([listed[1]] if listed else [])]
    distinct = q.search(re.compile(r"\b(?:different|distinct|unique)\b"))
    if behind and (distinct or _of(behind[0], q) is not q.name_column):
        column = _of(behind[0], q)
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
    free = _free(q, _MORE, places_in(spans))
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
        if _is_ranked(q, measure):
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
    anchor = _best_match(q, anchors)
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
    position,
    total,
    count,
    look_up,
)
