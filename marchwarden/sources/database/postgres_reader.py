"""PostgreSQL: a connection of a role that can only read, in a read-only transaction with a time limit.

An owner, a superuser, or a role that may write or reach the server's files is refused: a read-only transaction stops
none of pg_read_file, lo_import or pg_terminate_backend.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from marchwarden.sources.database.schema import Refused, is_secret, unique_names
from marchwarden.sources.database.text_values import quoted, span_of, text_values

# The planner's units, in which reading one page of 8 kB is 1: about a minute of one core. A guess.
_MAX_COST = 5_000_000.0
_CONNECT_S = 5

_TOO_MUCH = """
SELECT CASE
  WHEN rolsuper THEN 'it is a superuser'
  WHEN rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls
    THEN 'it may make roles or databases, replicate, or pass row security'
  WHEN EXISTS (SELECT 1 FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid
               AND g.rolname NOT IN ('pg_read_all_data') AND (g.rolname LIKE 'pg\\_%%' OR g.rolsuper))
    THEN 'it is a member of a role with more rights: pg_read_all_data is the only one that is allowed'
  WHEN EXISTS (SELECT 1 FROM pg_class c WHERE pg_has_role(r.oid, c.relowner, 'USAGE')
               AND c.relkind IN ('r','p','v','m','f'))
    THEN 'it owns tables'
  WHEN EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
               AND (has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')
                    OR has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE')))
    THEN 'it may change tables'
  WHEN has_database_privilege(r.oid, current_database(), 'CREATE')
    OR EXISTS (SELECT 1 FROM pg_namespace n WHERE n.nspname !~ '^pg_'
               AND has_schema_privilege(r.oid, n.oid, 'CREATE'))
    THEN 'it may create tables or schemas'
END
FROM pg_roles r WHERE rolname = session_user
"""

# Tables of all schemas. Those of extensions, such as PostGIS's, are no data of the user where they have a schema of
# their own.
_TABLES = """
SELECT c.oid, n.nspname, c.relname, pg_table_is_visible(c.oid), obj_description(c.oid),
       has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND c.relkind IN ('r','p','v','m','f')
  AND (pg_table_is_visible(c.oid) OR NOT EXISTS (
    SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))
ORDER BY c.oid
"""


class PostgresReader:
    def __init__(self, job: Mapping[str, Any]) -> None:
        milliseconds = int(1000 * job["seconds"])
        options = (
            f"-c default_transaction_read_only=on -c statement_timeout={milliseconds} -c lock_timeout=1000 "
            f"-c idle_in_transaction_session_timeout={milliseconds} -c work_mem=64MB -c temp_file_limit=0"
        )
        # temp_file_limit needs a superuser on some versions; without it the clock is the limit.
        try:
            self._connection = psycopg.connect(job["target"], options=options, connect_timeout=_CONNECT_S)
        except psycopg.OperationalError as error:
            if "temp_file_limit" not in str(error):
                raise
            options = options.replace(" -c temp_file_limit=0", "")
            self._connection = psycopg.connect(job["target"], options=options, connect_timeout=_CONNECT_S)
        self._connection.read_only = True
        found = self._connection.execute(_TOO_MUCH).fetchone()
        if found is None or found[0]:
            self.close()
            why = found[0] if found else "its rights can't be read"
            raise Refused(
                f"the role of this database is refused, since {why}. Name one that can only read: "
                "CREATE ROLE reader LOGIN PASSWORD '…'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; "
                "and for each other schema GRANT USAGE ON SCHEMA … TO reader, too"
            )

    def close(self) -> None:
        self._connection.close()

    def select(self, statement: str, most_rows: int) -> tuple[Sequence[str], Sequence[str], Iterable[Sequence[Any]]]:
        plan = self._connection.execute("EXPLAIN (FORMAT JSON) " + statement.replace("%", "%%"), ()).fetchone()
        told = plan[0] if plan else []
        told = json.loads(told) if isinstance(told, str) else told
        cost = float(told[0]["Plan"]["Total Cost"])
        if cost > _MAX_COST:
            raise Refused(f"the statement is too expensive: {cost:,.0f} of {_MAX_COST:,.0f} units of the planner")
        # DECLARE takes a SELECT and nothing else, and sends no more rows than are fetched.
        with self._connection.cursor(name="rows") as cursor:
            cursor.execute(statement.replace("%", "%%"), ())
            rows = cursor.fetchmany(most_rows + 1)
            described = cursor.description or []
        types = [psycopg.adapters.types.get(each.type_code) for each in described]
        return [each.name for each in described], [found.name if found else "" for found in types], rows

    def describe(self, most_values: int) -> dict[str, Any]:
        there = self._connection.execute(_TABLES).fetchall()
        found = [each[:-1] for each in there if each[-1]]
        names = unique_names([(schema, name, is_visible) for _, schema, name, is_visible, _ in found])
        tables = []
        for unique, (number, schema, name, is_visible, comment) in zip(names, found, strict=True):
            place = quoted(schema, name)
            columns = []
            for column, kind, told in self._connection.execute(
                "SELECT attname, format_type(atttypid, atttypmod), col_description(attrelid, attnum) "
                "FROM pg_attribute WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                (number,),
            ).fetchall():
                each: dict[str, Any] = {"name": column, "type": kind, "comment": told or ""}
                if kind.startswith(("text", "character")) and not is_secret(column):
                    each.update(text_values(self._connection.execute, place, column, most_values))
                elif not is_secret(column):
                    each.update(span_of(self._connection.execute, place, column))
                columns.append(each)
            tables.append(
                {
                    "name": unique,
                    "schema": schema,
                    "is_on_path": is_visible,
                    "columns": columns,
                    "key": self._key(number),
                    "comment": comment or "",
                }
            )
        closed = {schema for _, schema, *_ in there} - {schema for _, schema, *_ in found}
        numbers = {number: unique for unique, (number, *_) in zip(names, found, strict=True)}
        return {"tables": tables, "keys": self._foreign_keys(numbers), "closed": sorted(closed)}

    def _key(self, table: int) -> list[str]:
        return [
            name
            for (name,) in self._connection.execute(
                "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
                "AND a.attnum = ANY (i.indkey) WHERE i.indrelid = %s AND i.indisprimary",
                (table,),
            ).fetchall()
        ]

    def _foreign_keys(self, names: Mapping[int, str]) -> list[list[str]]:
        found = self._connection.execute(
            "SELECT k.conrelid, a.attname, k.confrelid, b.attname FROM pg_constraint k "
            "JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] "
            "JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1] "
            "WHERE k.contype = 'f' AND cardinality(k.conkey) = 1"
        ).fetchall()
        return [
            [names[table], column, names[other], other_column]
            for table, column, other, other_column in found
            if table in names and other in names
        ]
