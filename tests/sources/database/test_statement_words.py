"""What a statement computes has a name that people can read, which no name of the tables can be taken for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from marchwarden.observations import Failure
from marchwarden.settings import load_settings
from marchwarden.sources.database.database_names import open_name
from marchwarden.sources.database.database_search import DatabaseReader
from marchwarden.sources.database.reader_process import select
from marchwarden.sources.database.statement_words import name_columns
from tests.sources.database.databases import name_databases


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT COUNT(*) FROM orders", 'SELECT COUNT(*) AS "number of orders" FROM orders'),
        ("SELECT name, city FROM customer", "SELECT name, city FROM customer"),
        ("SELECT city, COUNT(*), AVG(age) FROM customer GROUP BY city ORDER BY COUNT(*)",
         'SELECT city, COUNT(*) AS "number of customer", AVG(age) AS "average age" FROM customer GROUP BY city ORDER BY COUNT(*)'),
        ("SELECT COUNT(DISTINCT city) FROM customer", 'SELECT COUNT(DISTINCT city) AS "number of different city" FROM customer'),
        ("SELECT MAX(a) - MIN(a) FROM t", 'SELECT MAX(a) - MIN(a) AS "maximum a minus minimum a" FROM t'),
        ("SELECT COUNT(*) FROM a JOIN b ON a.x = b.x", 'SELECT COUNT(*) AS "number" FROM a JOIN b ON a.x = b.x'),
        # Names that are there already, twice the same, too long, without words, and of a UNION.
        ('SELECT "number of t", COUNT(*) FROM t GROUP BY "number of t"', 'SELECT "number of t", COUNT(*) FROM t GROUP BY "number of t"'),
        ("SELECT SUM(a), SUM(a) FROM t", 'SELECT SUM(a) AS "sum of a", SUM(a) FROM t'),
        (f"SELECT SUM({'a' * 60}) FROM t", f"SELECT SUM({'a' * 60}) FROM t"),
        ("SELECT CASE WHEN a > 1 THEN a END FROM t", 'SELECT CASE WHEN a > 1 THEN a END AS "a if a is more than 1" FROM t'),
        ("SELECT a % 2 FROM t", "SELECT a % 2 FROM t"),
        ("SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM u", "SELECT COUNT(*) FROM t UNION SELECT COUNT(*) FROM u"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
def test_what_is_computed_has_a_name(sql: str, named: str, dialect: Literal["sqlite", "duckdb", "postgres"]) -> None:
    assert name_columns(sql, dialect) == named


@pytest.mark.anyio
async def test_a_database_returns_the_names_and_a_statement_of_an_earlier_citation_keeps_its_own(
    tmp_path: Path,
) -> None:
    pytest.importorskip("duckdb")
    (tmp_path / "riders").mkdir()
    (tmp_path / "riders" / "riders.csv").write_text("name,team,points\nAda,Red,12\nBo,Red,7\n")
    file = name_databases(tmp_path, riders=str(tmp_path / "riders"))
    reader = DatabaseReader(open_name(load_settings(databases=file).databases, "riders"), seconds=20)
    columns = []
    for is_new in (True, False):
        locator = await reader.add("SELECT team, COUNT(*), SUM(points) FROM riders GROUP BY team", is_new=is_new)
        assert isinstance(locator, str)
        schema, statement = await reader.schema(), reader.statement(locator)
        assert statement
        assert not isinstance(schema, Failure)
        found = await select(reader.database, statement.sql, schema, 20)
        assert not isinstance(found, Failure)
        columns.append(found.columns)
    assert columns == [("team", "number of riders", "sum of points"), ("team", "count_star()", "sum(points)")]
