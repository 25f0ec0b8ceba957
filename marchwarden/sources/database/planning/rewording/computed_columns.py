"""Columns that a table does not have but its dates tell: how many days a row took, and on which weekday it was.

A question for one is worded anew with the name of such a column, planned as any other, and the column is then written
as what it stands for. Only questions that speak of days, of how long something took, or of weekdays are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import sqlglot
from sqlglot import expressions as exp

from marchwarden.sources.database.planning.draft import holds_days, is_end
from marchwarden.sources.database.planning.everyday.word_stems import stem_of
from marchwarden.sources.database.schema import Column, Schema, Table, words_of_name

DURATION, WEEKDAY = "duration", "weekday"
DAY_NAMES = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MENTIONS = re.compile(
    r"\b(?:days|how long|took|take|lasted|longest|shortest|duration|length|time|within|"
    r"(?:after|before) (?:the|their|its))\b",
    re.IGNORECASE,
)
_WEEKDAYS = re.compile(rf"\b(?:weekdays?|days? of the week|weekends?|(?:{'|'.join(DAY_NAMES)})s?)\b", re.IGNORECASE)
# Verbs that add nothing to the day of a row.
_GETS = frozenset({"get", "have", "see", "take", "make", "do", "receive"})
_ASKS_WEEKDAY = re.compile(
    r"^on (?:which|what) weekday (?:do|did|does) (?:we|they|you) (?P<verb>\w+) the (?P<most>most|fewest|least) ", re.I
)
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_SPAN = r"(?P<number>\d+|" + "|".join(_NUMBERS) + r") (?P<unit>days?|weeks?)"
_HOW = {
    "more than": "more than", "longer than": "more than", "over": "more than", "less than": "less than",
    "shorter than": "less than", "fewer than": "less than", "under": "less than", "within": "at most",
    "up to": "at most", "at most": "at most", "at least": "at least", "exactly": "exactly",
}  # fmt: skip
_COMPARED = rf"(?P<how>{'|'.join(_HOW)}) {_SPAN}"
# "total" may be a column.
_SUM = "sum of"
_WHICH = {"average": "average", "mean": "average", "longest": "maximum", "maximum": "maximum",
          "shortest": "minimum", "minimum": "minimum", "total": _SUM}  # fmt: skip
_BEST = {"longest": "highest", "shortest": "lowest"}


@dataclass(frozen=True)
class Reworded:
    """A question in other words, and the column that it names in the table which now has it."""

    question: str
    schema: Schema
    column: Column
    sources: tuple[Column, ...]
    """The first and the last day of a duration, or the day of a weekday."""


def reworded(question: str, schema: Schema) -> Iterator[Reworded]:
    """Yield the question as it is asked of a computed column, for each table that may be meant."""
    taken = {word for table in schema.tables for column in table.columns for word in words_of_name(column.name)}
    if _WEEKDAYS.search(question) and not {"weekday", "weekdays"} & taken:
        yield from _of_weekdays(question, schema)
    if _MENTIONS.search(question) and DURATION not in taken:
        for table in schema.tables:
            for told, first, last in _of_durations(question, table):
                column = Column(table.name, DURATION, "INTEGER")
                # A repair of 2024 is one that was begun then.
                yield Reworded(told, _with_column(schema, column, last), column, (first, last))


def write_column(sql: str, told: Reworded, dialect: str) -> str:
    """Return the statement with the computed column written as what it stands for."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    for grouped in list(tree.find_all(exp.Group)):
        own = [each for each in grouped.expressions if each.name.lower() == told.column.name]
        if own and isinstance(grouped.parent, exp.Select):  # a day that is not known is on no weekday
            day = exp.column(told.sources[0].name, table=own[0].args.get("table"), quoted=True)
            grouped.parent.where(day.is_(exp.null()).not_(), copy=False, dialect=dialect)
    for node in list(tree.find_all(exp.Column)):
        if node.name.lower() == told.column.name:
            days = [exp.column(each.name, table=node.args.get("table"), quoted=True) for each in told.sources]
            is_duration = told.column.name == DURATION
            written = _duration(days[0], days[-1], dialect) if is_duration else _weekday(days[0], dialect)
            node.replace(sqlglot.parse_one(written, dialect=dialect))
    return tree.sql(dialect=dialect)


def _duration(first: exp.Expr, last: exp.Expr, dialect: str) -> str:
    """Return the days between two days of the calendar, whatever the hour."""
    begins, ends = first.sql(dialect=dialect), last.sql(dialect=dialect)
    if dialect == "sqlite":
        return f"(JULIANDAY(DATE({ends})) - JULIANDAY(DATE({begins})))"
    if dialect == "duckdb":
        return f"DATE_DIFF('day', CAST({begins} AS DATE), CAST({ends} AS DATE))"
    return f"(CAST({ends} AS DATE) - CAST({begins} AS DATE))"


def _weekday(day: exp.Expr, dialect: str) -> str:
    number = day.sql(dialect=dialect)
    number = (
        f"CAST(STRFTIME('%w', {number}) AS INTEGER)"
        if dialect == "sqlite"
        else f"EXTRACT(DOW FROM CAST({number} AS DATE))"
    )
    names = " ".join(f"WHEN {place} THEN '{name}'" for place, name in enumerate(DAY_NAMES))
    return f"CASE {number} {names} END"


def _with_column(schema: Schema, column: Column, hidden: Column | None = None) -> Schema:
    tables = [
        replace(
            each, columns=(*(own for own in each.columns if own is not hidden and not _is_bookkeeping(own)), column)
        )
        if each.name == column.table
        else each
        for each in schema.tables
    ]
    return replace(schema, tables=tuple(tables))


def _of_weekdays(question: str, schema: Schema) -> Iterator[Reworded]:
    told = re.sub(r"\b(?:day of the week|days of the week)\b", "weekday", question, flags=re.IGNORECASE)
    told = re.sub(r"\b(?:on|at) (?:the )?weekends?\b", "on Saturday or Sunday", told, flags=re.IGNORECASE)
    told = re.sub(rf"\bon an? (?={'|'.join(DAY_NAMES)})", "on ", told)
    asked = _ASKS_WEEKDAY.match(told)
    if asked:
        told = f"Which weekday has the {asked['most']} {told[asked.end() :]}"
    said = {stem_of(word) for word in words_of_name(question)}
    for table in schema.tables:
        if not _named_by(table, said):
            continue
        days = [each for each in table.columns if holds_days(each)]
        told_by = said - {*_stems(table), "on", "date", "day"}
        named = [each for each in days if told_by & {*map(stem_of, words_of_name(each.name))}]
        own = [each for each in days if {*_stems(table)} & {*map(stem_of, words_of_name(each.name))}]
        for chosen in (named, days, own) if len(named) < 2 else ():
            if len(chosen) == 1:
                # The day on which we ship is no day of an order.
                if asked and asked["verb"].lower() not in _GETS and chosen is not named:
                    break
                column = Column(table.name, WEEKDAY, "TEXT", DAY_NAMES, complete=True)
                yield Reworded(told, _with_column(schema, column), column, (chosen[0],))
                break


def _stems(table: Table) -> list[str]:
    return [stem_of(word) for word in words_of_name(table.name)]


def _named_by(table: Table, said: set[str]) -> bool:
    return set(_stems(table)) <= said


def _of_durations(question: str, table: Table) -> Iterator[tuple[str, Column, Column]]:
    """Yield the question with the name of the computed column, and the two days that the column is of."""
    days = [each for each in table.columns if holds_days(each) and not _is_bookkeeping(each)]
    plural = " ".join(words_of_name(table.name))
    forms = {plural, _singular(plural), f"{_singular(plural)}s"}
    noun = r"(?:" + "|".join(sorted(forms, key=len, reverse=True)) + r")\b"
    # The two days that the question names.
    between = r"days(?P<lie>(?: on average)?(?: lie| are| pass| does it take)?(?: on average)?) (?:between|from) "
    for first, last in permutations(days, 2):
        pair = f"(?:{'|'.join(_names(first))}) (?:and|to|until) (?:{'|'.join(_names(last))})"
        told = re.sub(
            rf"\b(?:number of |how many )?{between}(?:an? |the )?{pair}\b(?: date)?(?: (?:of|for) (?={noun}))?",
            lambda found: f"{'what is the average ' if found['lie'] else ''}{DURATION} of {plural} ",
            question, flags=re.IGNORECASE,
        )  # fmt: skip
        told = re.sub(rf"\b{plural} (?:of|for) (?={noun})", "", told, flags=re.IGNORECASE)
        if told != question:
            yield told, first, last
        late = rf"\b(?P<noun>{noun})(?: (?:were|was|got))? (?:{'|'.join(_verbs(last))}) after (?:the|their|its) "
        told = re.sub(
            rf"{late}(?:{'|'.join(_names(first))})\b",
            rf"\g<noun> with a {DURATION} more than 0",
            question,
            flags=re.IGNORECASE,
        )
        if told != question:
            yield told, first, last
    told, done = _reworded_duration(question, noun, plural, days)
    if not told:
        return
    if done:  # `took more than 20 days to ship`: the day on which that was done
        ends = [each for each in days if stem_of(done) in map(stem_of, words_of_name(each.name))]
        days = [*_firsts(days, table, ends), *ends] if len(days) > 2 else days
    ends = [each for each in days if is_end(each)]
    if len(days) == 2 and len(ends) == 1:
        first = next(each for each in days if each is not ends[0])
        yield told, first, ends[0]


def _reworded_duration(question: str, noun: str, plural: str, days: Sequence[Column]) -> tuple[str, str]:
    """Return the question with `duration`, and what was done on its last day where it says that; else nothing."""
    done = re.search(r"(?<= )(?:days?|weeks?|longest|shortest)(?P<to> to (?P<done>\w+))\b", question)
    said = question[: done.start("to")] + question[done.end("to") :] if done else question
    article = r"(?:an? |the |our |one )?"
    ends = {stem_of(word) for each in days if is_end(each) for word in words_of_name(each.name)}

    def is_over(verb: str | None) -> bool:
        return verb is None or stem_of(verb.strip()) in ends  # who booked within three days stayed no three days

    def compared(found: re.Match[str]) -> str:
        return f"{_HOW[found['how'].lower()]} {_days(found)}"

    rules: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
        # What the rows of Ann took may be told of each, of all, or on average.
        (rf"^how (?:many days|long) (?:(?P<did>did)|do|does) (?:it take )?{article}{noun}(?P<of>(?: \w+)*?)"
         r" (?:take|last)(?P<sum> in total)?(?P<mean> on average)?",
         lambda f: f[0] if f["did"] and not (f["sum"] or f["mean"])
         else f"what is the {_SUM if f['sum'] else 'average'} {DURATION} of {plural}{f['of']}"),
        (rf"^how (?:many days|long) (?:on average )?(?:is|are|was|were) {article}\w+ (?P<done>\w+ed)"
         r"(?: on average)?(?=\?|$)",
         lambda f: f"what is the average {DURATION} of {plural}" if _is_deed(f["done"], plural) else f[0]),
        (rf"\b(?P<which>{'|'.join(_WHICH)}) {noun} (?:time|length|duration|period)s?\b",
         lambda f: f"{_WHICH[f['which'].lower()]} {DURATION} of {plural}"),
        (rf"^(?:how long|what) (?:was|is) the (?P<which>longest|shortest) {noun}(?: in days)?",
         lambda f: f"what is the {_WHICH[f['which'].lower()]} {DURATION} of {plural}"),
        (rf"\b(?P<which>average|mean) (?:length|duration|time|period)s? (?:of|for) {article}{noun}",
         lambda f: f"average {DURATION} of {plural}"),
        (rf"\b(?P<noun>{noun})(?: that| which)?(?: (?:took|take|lasted|last|were|was|are|had))?(?P<done> \w+ed)?"
         rf"(?: open| a duration of)? {_COMPARED}",
         lambda f: f"{f['noun']} with a {DURATION} {compared(f)}" if is_over(f["done"]) else f[0]),
        (rf"^which (?P<noun>\w+) (?:took|lasted|had|has|made) the (?P<which>longest|shortest)(?: {noun})?"
         r"(?=\?|$| in\b)",
         lambda f: f"which {f['noun']} has the {_BEST[f['which'].lower()]} {DURATION}"),
    )  # fmt: skip
    for pattern, written in rules:
        found = re.search(pattern, said, re.IGNORECASE)
        if found and (told := written(found)) != found[0]:
            return said[: found.start()] + told + said[found.end() :], done["done"] if done else ""
    if re.search(rf"\b{DURATION} of {plural}\b", said, re.IGNORECASE):
        return re.sub(rf"\btotal (?={DURATION})", f"{_SUM} ", said, flags=re.IGNORECASE), ""
    return "", ""


def _days(found: re.Match[str]) -> int:
    said = found["number"].lower()
    return (int(said) if said.isdecimal() else _NUMBERS[said]) * (7 if found["unit"].startswith("week") else 1)


def _is_deed(verb: str, plural: str) -> bool:
    """Return whether a verb tells of the rows of a table: `rented` of rentals."""
    stem, own = stem_of(verb), stem_of(plural.split()[-1])
    return stem == own or (min(len(stem), len(own)) >= 4 and stem[:4] == own[:4])


def _singular(plural: str) -> str:
    return plural[:-3] + "y" if plural.endswith("ies") else plural.removesuffix("s")


def _firsts(days: Sequence[Column], table: Table, ends: Sequence[Column]) -> list[Column]:
    """Return the day that has the name of the table: `OrderDate` of orders."""
    own = [each for each in days if {*_stems(table)} & {*map(stem_of, words_of_name(each.name))}]
    return [each for each in own if each not in ends]


def _is_bookkeeping(column: Column) -> bool:
    return not {"update", "updated", "modified"}.isdisjoint(words_of_name(column.name))


def _names(column: Column) -> list[str]:
    """Return how a question may name a day: `order date`, `order`, `shipping`."""
    words = words_of_name(column.name)
    bare = [word for word in words if word not in ("date", "day", "on", "at", "time")]
    forms = {" ".join(words), " ".join(bare), *(_verbs(column) if len(bare) == 1 else ())}
    return [re.escape(each) for each in sorted(filter(None, forms), key=len, reverse=True)]


def _verbs(column: Column) -> list[str]:
    bare = [word for word in words_of_name(column.name) if word not in ("date", "day", "on", "at", "time")]
    stem = stem_of(bare[0]) if len(bare) == 1 else ""
    return [stem, stem + "ed", stem + "ing", stem + stem[-1] + "ed", stem + stem[-1] + "ing"] if stem else ["(?!)"]
