"""Queries that DuckDB runs: over a source under the name of ``data``, over a database, or over files they name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from separatrix.tables.sources.child import lift_time_limit
from separatrix.tables.sources.duck import Duck, DuckSource, column_of, identifier, sql_value
from separatrix.tables.sources.query_files import files_of_query
from separatrix.tables.sources.statements import only_reading, query_problem

_OTHER_FILES = re.compile(
    r"\b(?:from|join)\s*\(?\s*['\"]|,\s*'[^']*'\s*(?:,|where|$)|\bread_|_scan\b|\bglob\s*\(", re.I
)


class QuerySource(DuckSource):
    """The rows of a query.

    Parameters
    ----------
    duck : Duck
        The connection, on which the tables of the query are already known.
    sql : str
        One SELECT statement.
    files : sequence of str
        The files of its tables, for the fingerprint; ``files`` of the source has those that the query names too.
    source : DuckSource, optional
        The source that is ``data``; its errors are its own.
    tables, columns : sequences of str
        The tables, or the columns of ``data``, for messages.
    """

    empty = "returns no rows"

    def __init__(
        self,
        duck: Duck,
        sql: str,
        *,
        files: Sequence[str] = (),
        source: DuckSource | None = None,
        tables: Sequence[str] = (),
        columns: Sequence[str] = (),
    ) -> None:
        text = only_reading(sql)
        super().__init__(duck, "the query", files, mark=text if files and not _OTHER_FILES.search(text) else None)
        self._source = source
        self._tables = tables or (("data",) if columns else ())
        self._names = columns
        self.relation = f"({text}\n) as q"
        lift_time_limit()
        with self.explained():
            self._check_statement(text)
            self.columns = tuple(column_of(*pair) for pair in duck.described(self.relation))
            names = [row[0] for row in duck.rows(f"describe {text}")]
            self.files = [*files, *(path for path in files_of_query(duck, text) if path not in files)]
        twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
        if twice is not None:
            raise ValueError(f"the query returns two columns called {twice!r}; rename one with AS")

    def _check_statement(self, text: str) -> None:
        statements = self.duck.connection.extract_statements(text)
        if len(statements) != 1:
            raise ValueError(f"the query has {len(statements)} statements; only one SELECT statement is accepted")
        kind = getattr(statements[0].type, "name", str(statements[0].type))
        if kind != "SELECT":
            raise ValueError(f"the query is a {kind} statement; only one SELECT statement is accepted")

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence."""
        source = self._source
        if source is not None and "converting column" not in message and any(p in message for p in source.files):
            return source.explain(message)
        return query_problem(message, self._tables, self._names)


def queried(source: DuckSource, sql: str | None) -> DuckSource:
    """Return the source, or a query over it."""
    if sql is None:
        return source
    source.settle()
    columns = ", ".join(
        f"{sql_value(identifier(inner), column)} as {identifier(column.name)}"
        for inner, column in zip(source.inner, source.columns, strict=True)
    )
    view = f"create temp view data as select {columns} from {source.relation}"
    with source.explained():
        source.duck.prepare(lambda connection: connection.execute(view))
    names = [column.name for column in source.columns]
    return QuerySource(source.duck, sql, files=source.files, source=source, columns=names)
