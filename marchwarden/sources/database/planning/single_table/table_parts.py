"""Parts of statements over one table: the columns that a question asks for, conditions, and the writer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from marchwarden.sources.database.planning.draft import holds_days, quote_text
from marchwarden.sources.database.planning.single_table.row_kinds import (
    away_condition,
    decade_years,
    month_condition,
    outcome_condition,
)
from marchwarden.sources.database.planning.single_table.table_links import (
    Match,
    Named,
    Span,
    TableQuestion,
    places_in,
)
from marchwarden.sources.database.planning.single_table.table_words import ASKED, COMPARED, MEASURES, SPELLED
from marchwarden.sources.database.planning.single_table.typed_cells import time_of
from marchwarden.sources.database.planning.statement_writer import MOST_TIES, write_name
from marchwarden.sources.database.schema import Column

_HEAD = re.compile(r"\b(?:which|what|whose|name(?: of)? the|tell me(?: the)?|list the|in what|in which)\b")
_ASKS = re.compile(r"\b(?:who|whom|where|when)\b")
# What stands between `who` and the column that it asks for: `who was the lead vocalist`, `who had pole position`.
_WHO_WAS = re.compile(r"\bwho (?:is|was|were|are|had|has|got|took|did) (?:the )?$")
# Ends of the names of columns that tell who did something: `Directed by`, `Producer`.
_DOERS = (" by", "er", "or", "er s", "or s")
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
TIMES = re.compile(r"\b(?:how many|number of) times\b")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
# Words between an extreme and the column that it is about. A guess.
_MEASURE_WORDS = 5
# Words of columns that hold places in a ranking.
_RANKS = frozenset({"rank", "ranking", "ranked", "position", "pos", "place", "finish", "seed"})


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
    tied: str = ""
    """Column or number that all rows with the highest or lowest value share."""


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

    def is_one_of(self, column: Column, values: Sequence[str]) -> str:
        """Return the condition that a column has one of some values, or of some years."""
        if self.question.is_time(column) and all(map(str.isdecimal, values)):
            return f"{self.number(column)} IN ({', '.join(values)})"
        return f"{self.name(column)} IN ({', '.join(map(quote_text, values))})"

    def without_sums(self) -> list[str]:
        sums = self.question.sum_rows
        if sums is None:
            return []
        column = self.name(sums[0])
        return [f"({column} IS NULL OR {column} NOT IN ({', '.join(map(quote_text, sums[1]))}))"]

    def statement(self, plan: Plan) -> str:
        table = write_name(self.question.table.name, self.dialect)
        where = f" WHERE {' AND '.join(plan.where)}" if plan.where else ""
        rows = f" FROM {table}{where}" + (f" GROUP BY {plan.group}" if plan.group else "")
        order = f" ORDER BY {plan.order}" if plan.order else ""
        if plan.tied:
            joint = " HAVING" if plan.group else " AND" if where else " WHERE"
            best = f"(SELECT {plan.tied}{rows}{order} LIMIT 1)"
            return f"SELECT {plan.select}{rows}{joint} {plan.tied} = {best} LIMIT {MOST_TIES}"
        return f"SELECT {plan.select}{rows}{order}" + (" LIMIT 1" if plan.is_limited else "")


def head_column(q: TableQuestion, end: int | None = None) -> tuple[Column, list[Span]] | None:
    """Return the column that the question asks for, with the words that say so."""
    last = len(q.words) if end is None else end
    if found := q.search(_HEAD):
        _, span = found
        # The column stands behind `which` or `what`, with a few words between: `what is the name of the ship`.
        for named in q.named_in(span.end, min(last, span.end + 6)):
            asked = column_of(named, q)
            # `which area has the largest population` asks for no size.
            is_size = q.words[span.start] == "which" and q.is_measure(asked) and not q.is_time(asked)
            if is_size and not named.is_whole and (name := q.name_column) is not None:
                return name, [span, named.span]
            return asked, [span, named.span]
    if found := q.search(_ASKS):
        match, span = found
        for named in q.named_in(span.end, last) if match[0] == "who" else ():
            asked = column_of(named, q)
            is_next = _WHO_WAS.search(" ".join([*q.words[: named.span.start], ""])) is not None
            is_done = named.span.start == span.end and asked.name.lower().endswith(_DOERS)
            if (is_next or is_done) and not q.is_measure(asked):
                return asked, [Span(span.start, named.span.start), named.span]
            break
        if column := q.column_by_words(ASKED[match[0]]):
            return column, [span]
        if match[0] == "who" and q.name_column:
            return q.name_column, [span]
    return None


def column_of(named: Named, q: TableQuestion) -> Column:
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
    _kind_conditions(q, write, found, taken)
    _compared_conditions(q, write, found, taken)
    before: Match | None = None
    for start in sorted({match.span.start for match in q.matches}):
        matches = [match for match in q.matches if match.span.start == start]
        if places_in([matches[0].span]) & taken:
            continue
        best = best_match(q, [match for match in matches if match.column is not asked] or matches)
        told = write.is_value(best, wide=wide and (best.column is not q.name_column or q.search(TIMES) is not None))
        found.doubts += len(matches) > 1 or not best.is_whole
        joint = Span(before.span.end, best.span.start) if before else Span(0, 0)
        between = set(q.words[joint.start : joint.end])
        excluded = _EXCLUDED.search(" ".join(q.words[: best.span.start]))
        if excluded:
            words = len(excluded[0].split())
            found.used.append(Span(best.span.start - words, best.span.start))
            name = write.name(best.column)
            told = f"({name} IS NULL OR NOT {told})"
        elif before and between and between <= {"and", "or", ",", "the"} and before.column is best.column:
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
    found = find_free(q, _CLOCK_COMPARED, taken)
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


_BETWEEN_YEARS = re.compile(
    r"\b(?:between|from) (?P<first>1[5-9]\d\d|20\d\d) (?:and|to|through|-|–) (?P<last>1[5-9]\d\d|20\d\d)\b"
)
_YEAR_COMPARED = re.compile(
    r"\b(?P<how>after|before|since|until|prior to|later than|earlier than) (?:the )?(?:year )?"
    r"(?P<year>1[5-9]\d\d|20\d\d)\b"
)


def _kind_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> None:
    """Add the conditions of won games, home games, months and decades."""
    for read in (outcome_condition, away_condition, month_condition):
        if found := read(q, taken):
            condition, spans = found
            told.where.append(condition)
            told.used += spans
            taken |= places_in(spans)
    column = q.time_column
    decade = decade_years(q, taken) if column is not None else None
    if column is None or decade is None:
        return
    first, last, span = decade
    if q.kind_of(column) == "date":
        if any(number < 10_000_000 for number in q.typed[column][1].values()):
            return
        first, last = first * 10_000, last * 10_000 + 1231
    told.where.append(f"{write.number(column)} BETWEEN {first} AND {last}")
    told.used.append(span)
    taken |= places_in([span])


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
    while found := find_free(q, _BETWEEN_YEARS, taken):
        match, span = found
        first, last = int(match["first"]) * scale, int(match["last"]) * scale + days[1]
        told.where.append(f"{name} BETWEEN {first} AND {last}")
        told.used.append(span)
        taken |= places_in([span])
    while found := find_free(q, _YEAR_COMPARED, taken):
        match, span = found
        year = int(match["year"]) * scale
        how = {
            "after": f"> {year + days[1]}", "later than": f"> {year + days[1]}", "since": f">= {year}",
            "until": f"<= {year + days[1]}",
        }.get(match["how"], f"< {year}")  # fmt: skip
        told.where += [*write.with_number(column), f"{name} {how}"]
        told.used.append(span)
        taken |= places_in([span])


def best_match(q: TableQuestion, matches: list[Match]) -> Match:
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
    if not _compared_conditions(q, write, told, taken):
        return None
    _spelled_conditions(q, write, told, taken)
    for place, token in enumerate(q.tokens):
        if place in taken or not _NUMBER.fullmatch(token.text):
            continue
        if any(re.search(rf"(?<!\d){re.escape(token.text)}(?!\d)", column.name) for column in q.table.columns):
            told.used.append(Span(place, place + 1))  # a part of the name of a column: `population in 2010`
            continue
        number, span = _number(token.text), Span(place, place + 1)
        column, more = _numeric_near(q, span, number)
        is_year = re.fullmatch(r"1[5-9]\d\d|20\d\d", token.text) is not None
        has_times = q.time_column is not None or any(map(holds_days, q.table.columns))
        if column is None and is_year and not has_times:
            told.used.append(span)  # a year that the whole table is of
            told.doubts += 1
            continue
        if column is None:
            return None
        told.where += [*write.with_number(column), f"{write.number(column)} = {number}"]
        told.used += [span, *more]
        taken |= places_in((span, *more))
    return told


def _compared_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> bool:
    """Add the conditions that compared numbers set, `at least 10 points`; return False where a column is missing."""
    is_told = True
    passed: set[int] = set()
    for pattern in (_OR_MORE, _COMPARED):
        while found := find_free(q, pattern, taken | passed):
            match, span = found
            operator = (
                (">=" if match["more"] in ("more", "higher") else "<=")
                if pattern is _OR_MORE
                else COMPARED[match[0][: match.start("number") - match.start()].strip()]
            )
            number = _number(match["number"])
            if scale := _SCALES.get(" ".join(q.words[span.end : span.end + 1])):
                number, span = f"{float(number) * scale:.15g}", Span(span.start, span.end + 1)
            column, more = _numeric_near(q, span, number)
            if column is None:
                is_told = False
                passed |= places_in([span])
                continue
            told.where += [*write.with_number(column), f"{write.number(column)} {operator} {number}"]
            told.used += [span, *more]
            taken |= places_in((span, *more))
    return is_told


def _spelled_conditions(q: TableQuestion, write: Writer, told: Conditions, taken: set[int]) -> None:
    """Add the conditions that small numbers in words set before their column: `won one silver medal`."""
    for named in q.columns:
        place = named.span.start - 1
        number = SPELLED.get(q.words[place]) if place >= 0 else None
        own = [each for each in named.columns if q.is_measure(each) and not q.is_time(each)]
        if number is None or not own or places_in([Span(place, named.span.end)]) & taken:
            continue
        told.where += [*write.with_number(own[0]), f"{write.number(own[0])} = {number}"]
        told.used += [Span(place, place + 1), named.span]
        taken |= places_in([Span(place, named.span.end)])


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
        anchor = best_match(q, anchors)
        measured = measure_after(q, Span(span.start, span.start + 1), match["high"] or match["low"])
        own = write.is_value(anchor)
        if measured is None or own not in told.where:
            continue
        measure, more = measured
        name = write.number(measure)
        if is_ranked(q, measure):
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
    ranked = [each for each in q.table.columns if q.is_measure(each) and is_ranked(q, each)]
    ranked = [each for named in q.columns for each in named.columns if each in ranked][:1] or ranked
    if len(ranked) != 1 or any(write.name(ranked[0]) in where for where in told.where):
        return
    name = write.number(ranked[0])
    for match in _PLACED.finditer(q.text):
        span = q.span_of(match)
        said = match["top"] or match["place"]
        number = (
            _ORDINALS.get(said)
            or SPELLED.get(said)
            or (int(re.sub(r"\D", "", said)) if said[0].isdecimal() else None)
        )
        is_placed = match["top"] or match["noun"] or match[0].split()[0] not in (said, "was", "were")
        if number is None or not is_placed or places_in([span]) & taken:
            continue
        told.where += [*write.with_number(ranked[0]), f"{name} {'<=' if match['top'] else '='} {number}"]
        told.columns.append(ranked[0])
        told.used.append(span)
        taken |= places_in([span])


_NONE = re.compile(r"\b(?:no|zero|without(?: any)?|did not win (?:a|any)|didn't win (?:a|any))\b")


def find_free(q: TableQuestion, pattern: re.Pattern[str], taken: set[int]) -> tuple[re.Match[str], Span] | None:
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
    # What stands right behind a number is what it counts: `years with more than 150 contestants`.
    for named in sorted(near, key=lambda each: each.span.start != span.end):
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
            return column_with_number(q, own), [named.span]
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


def column_with_number(q: TableQuestion, columns: Sequence[Column]) -> Column:
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


def is_ranked(q: TableQuestion, measure: Column) -> bool:
    return bool(set(header_words(measure)) & _RANKS) or q.kind_of(measure) == "place"


def header_words(column: Column) -> list[str]:
    return re.findall(r"[a-z]+", column.name.lower())
