"""Databases of DuckDB: their only table, or a query over their tables.

Nothing but the database is read, whatever its views or the query name: it may come from somebody else.
"""

from __future__ import annotations

import os

from separatrix.tables.sources.base import with_log
from separatrix.tables.sources.child import lift_time_limit
from separatrix.tables.sources.duck import Duck, DuckSource, EngineError, column_of, identifier, literal, on_duck
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.queries import QuerySource
from separatrix.tables.sources.statements import other_file
from separatrix.text import listed

_LOG = ".wal"


class DatabaseSource(DuckSource):
    """The only table of a database."""

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence."""
        other = other_file(message)
        return super().explain(message) if other is None else f"{self.name} cannot be read: its view {other}"


def open_duckdb(request: Request) -> DuckSource:
    """Open a database, which is only read."""
    return on_duck(request.frugal, lambda duck: _opened(duck, request))


def _opened(duck: Duck, request: Request) -> DuckSource:
    path, name = request.files[0], path_text(request.name)
    try:
        duck.rows(f"attach {literal(os.path.abspath(path))} as opened (type duckdb, read_only)")
        duck.rows("set enable_external_access=false")  # else its views could read any file of this machine
        duck.rows("set lock_configuration=true")
        listing = (
            "select schema_name, {0}_name, '{0}' from duckdb_{0}s() where database_name = 'opened' and not internal"
        )
        rows = duck.rows(f"{listing.format('table')} union all {listing.format('view')} order by all")
        duck.prepare(lambda connection: connection.execute("use opened"))
    except EngineError as problem:
        raise ValueError(f"{name} cannot be opened as a DuckDB database: {short(problem)}") from None
    tables = [table if schema == "main" else f"{schema}.{table}" for schema, table, _ in rows]
    relations = [f"opened.{identifier(schema)}.{identifier(table)}" for schema, table, _ in rows]
    source = DatabaseSource(duck, request.name, with_log(path, _LOG), mark=", ".join(tables))
    source.log = _LOG
    if len(tables) == 1 and tables[0].lower() != "data":
        view = f"create temp view data as select * from {relations[0]}"
        with source.explained():
            duck.prepare(lambda connection: connection.execute(view))
    if request.sql is not None:
        query = QuerySource(duck, request.sql, files=source.files, tables=tables or ["none"])
        query.log = _LOG
        return query
    if len(tables) != 1:
        several = f"several tables; choose with SQL among {listed(tables)}" if tables else "no tables"
        raise ValueError(f"{name} has {several}")
    source.relation = relations[0]
    if rows[0][2] == "view":
        lift_time_limit()
    with source.explained():
        source.columns = tuple(column_of(*pair) for pair in duck.described(source.relation))
        source.n_rows = int(duck.rows(f"select count(*) from {source.relation}")[0][0])
    return source
