"""Conditions that words set on columns of one kind: won and lost games, home and away, months and decades."""

from __future__ import annotations

import re
from collections.abc import Sequence

from marchwarden.sources.database.planning.draft import holds_days, quote_text
from marchwarden.sources.database.planning.everyday.periods import MONTHS
from marchwarden.sources.database.planning.single_table.table_links import Span, TableQuestion, header_stems
from marchwarden.sources.database.planning.statement_writer import write_name
from marchwarden.sources.database.schema import Column

# Words of an outcome, and how cells that hold it begin.
_OUTCOMES = (
    (frozenset({"win", "wins", "won", "victory", "victories"}), re.compile(r"(?:W|Win|Won)\b")),
    (frozenset({"lose", "loses", "lost", "loss", "losses", "defeat", "defeats"}), re.compile(r"(?:L|Loss|Lost)\b")),
    (frozenset({"draw", "draws", "drew", "drawn", "tie", "ties", "tied"}), re.compile(r"(?:[DT]|Drawn?|Tied?)\b")),
)  # fmt: skip
_AWAY = re.compile(r"(?:@|at\b|vs?\. at\b)", re.IGNORECASE)
_PLACES = (
    (re.compile(r"\b(?:away|road)(?: games?| match(?:es)?)\b|\bon the road\b|\b(?:played|while) away\b"), True),
    (re.compile(r"\bhome(?: games?| match(?:es)?)\b|\bat home\b"), False),
)
_MONTH = re.compile(rf"\b(?:in|during|of)(?: the month of)? (?P<month>{'|'.join(MONTHS)})\b(?! \d{{1,2}}\b)")
# "the 20s" are of two centuries, and "50s" may be seconds.
_DECADE = re.compile(
    r"\b(?:in|during|of|from) (?:(?:the )?(?P<decade>(?:1[5-9]|20)\d0)|the (?P<short>[3-9]0)) ?(?:'?s)\b"
)
# Share of a column's cells that tell an outcome at least. A guess: the others are games that were put off.
_LEAST_SHARE = 0.9


def outcome_condition(q: TableQuestion, taken: set[int]) -> tuple[str, list[Span]] | None:
    """Return the condition of `how many games did they win`, where one column alone tells how games ended.

    `not win` leaves out what was won. Where a column is named after wins, its numbers are meant.
    """
    said = [
        (place, begins)
        for place, word in enumerate(q.words)
        for words, begins in _OUTCOMES
        if word in words and place not in taken
    ]
    if len(said) != 1 or any(header_stems(each)[-1:] == (q.tokens[said[0][0]].stem,) for each in q.table.columns):
        return None
    place, begins = said[0]
    columns = [each for each in q.table.columns if _tells_outcomes(each)]
    if len(columns) != 1:
        return None
    told = [value for value in columns[0].values if begins.match(value)]
    if not told:
        return None
    is_denied = place > 0 and q.words[place - 1] in ("not", "didn't")
    condition = _is_one_of(q, columns[0], told, is_denied=is_denied)
    return condition, [Span(place - is_denied, place + 1)]


def _tells_outcomes(column: Column) -> bool:
    if column.is_number or not column.complete:
        return False
    kinds = [sum(begins.match(value) is not None for value in column.values) for _, begins in _OUTCOMES]
    return sum(map(bool, kinds)) > 1 and sum(kinds) >= _LEAST_SHARE * len(column.values)


def away_condition(q: TableQuestion, taken: set[int]) -> tuple[str, list[Span]] | None:
    """Return the condition of `home games`, where cells of one column begin with `at` or `@` for those away."""
    for pattern, is_away in _PLACES:
        found = q.search(pattern)
        if found is None or set(range(found[1].start, found[1].end)) & taken:
            continue
        for column in q.table.columns:
            away = [value for value in column.values if _AWAY.match(value)]
            if column.complete and 0.2 * len(column.values) <= len(away) <= 0.8 * len(column.values):
                return _is_one_of(q, column, away, is_denied=not is_away), [found[1]]
    return None


def month_condition(q: TableQuestion, taken: set[int]) -> tuple[str, list[Span]] | None:
    """Return the condition of `in February` on the only column of dates that are texts."""
    found = q.search(_MONTH)
    dates = [each for each in q.table.columns if q.kind_of(each) == "date" and not holds_days(each)]
    if found is None or len(dates) != 1 or set(range(found[1].start, found[1].end)) & taken:
        return None
    match, span = found
    cells = q.typed[dates[0]][1].items()
    if any(match["month"][:3] in value.lower() for value in set(dates[0].values) - q.typed[dates[0]][1].keys()):
        return None
    told = [text for text, number in cells if int(number) // 100 % 100 == MONTHS[match["month"]]]
    year = next((word for word in q.words[span.end : span.end + 1] if re.fullmatch(r"(?:1[5-9]|20)\d\d", word)), None)
    if year is not None and any(number >= 10_000_000 for _, number in cells):
        told = [text for text in told if int(q.typed[dates[0]][1][text]) // 10_000 == int(year)]
        span = Span(span.start, span.end + 1)
    return (_is_one_of(q, dates[0], told), [span]) if told else None


def decade_years(q: TableQuestion, taken: set[int]) -> tuple[int, int, Span] | None:
    """Return the first and last year of `in the 1960s` or `the 60's`, with its words."""
    found = q.search(_DECADE)
    if found is None or set(range(found[1].start, found[1].end)) & taken:
        return None
    match, span = found
    first = int(match["decade"] or f"19{match['short']}")
    return first, first + 9, span


def _is_one_of(q: TableQuestion, column: Column, values: Sequence[str], *, is_denied: bool = False) -> str:
    name, told = write_name(column.name, q.dialect), ", ".join(map(quote_text, values))
    return f"({name} IS NULL OR {name} NOT IN ({told}))" if is_denied else f"{name} IN ({told})"
