"""Any file, database, query or standard input, opened as a source."""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Callable
from typing import Any, cast

from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.sources.duck import (
    Duck,
    DuckSource,
    EngineError,
    agreed,
    column_of,
    engine_errors,
    identifier,
    literal,
    open_parquet,
)
from separatrix.tables.sources.messages import short, shown
from separatrix.tables.sources.peeking import must_be_there, parquet_files, peek
from separatrix.tables.sources.spool import STDIN, Spool
from separatrix.tables.sources.statements import only_reading, query_problem
from separatrix.text import listed

_TABLES = ("csv", "parquet", "json", "arrow")


def open_source(
    where: str | None,
    *,
    sql: str | None = None,
    db: str | None = None,
    delimiter: str | None = None,
    frugal: bool = False,
    memory: str | None = None,
) -> TableSource | MatrixSource:
    """Open data for reading, whatever they are in.

    A file is known by its ending, else by what it holds: CSV (``.csv``, ``.tsv``, ``.psv``, ``.txt``) and JSON lines
    (``.jsonl``, ``.ndjson``, ``.json``), both also in ``.gz`` or ``.zst``; Parquet (also a folder or a pattern such as
    ``part-*.parquet``); Arrow and Feather; databases of DuckDB and SQLite; NumPy's ``.npy`` and ``.npz``; LIBSVM.

    Parameters
    ----------
    where : str or None
        A path, a pattern, a folder of Parquet files, ``"-"`` for standard input, or None where ``sql`` says it all.
    sql : str, optional
        One SELECT statement. It sees the source as ``data`` (the tables of a database by their own names too), and
        files by their names in quotes: ``select * from 'a.csv' join 'b.parquet' using (id)``.
    db : str, optional
        The address of a PostgreSQL server that answers ``sql``: ``postgresql://user:password@host/database``.
    delimiter : str, optional
        What is between the cells of a CSV file; found out by default.
    frugal : bool, default=False
        Hold as little in memory as can be: one thread, small buffers and batches of at most 8192 rows.
    memory : str, optional
        The most memory for DuckDB, as in ``"512MB"``.

    Returns
    -------
    TableSource or MatrixSource
        Close it after use, or open it in a ``with`` statement.

    Raises
    ------
    ValueError
        In one sentence, whatever is wrong.
    """
    if db is not None:
        if sql is None:
            raise ValueError("a database needs a query: give the SQL too")
        if where is not None:
            raise ValueError(f"give either a file or the address of a database; got {shown(where)} and an address")
        try:
            from separatrix.tables.sources.postgres import PostgresSource
        except ImportError as problem:
            raise ValueError(f"PostgreSQL needs {short(problem.name)}, which is not installed") from None
        return PostgresSource(db, sql, frugal=frugal)
    if where is None:
        if sql is None:
            raise ValueError("no data: give a file, or SQL")
        return _with_duck(frugal, memory, lambda duck: _query(duck, sql, None))
    if "\0" in where or not where:
        raise ValueError("the name of a file is empty or holds a zero byte")
    if where == "-":
        spool = Spool()
        try:
            return _spooled(_open([spool.path], STDIN, sql, delimiter, frugal, memory), spool)
        except BaseException:
            spool.close()
            raise
    return _open(_files(where), where, sql, delimiter, frugal, memory)


def _files(where: str) -> list[str]:
    """Return the files that a path, a folder or a pattern means."""
    if os.path.isdir(where):
        found = parquet_files(where)
        if not found:
            raise ValueError(f"{shown(where)} is a folder without Parquet files")
        return found
    if not os.path.lexists(where) and glob.has_magic(where):
        found = sorted(path for path in glob.glob(where, recursive=True) if os.path.isfile(path))
        if not found:
            raise ValueError(f"no file fits the pattern {shown(where)}")
        return found
    must_be_there(where)
    return [where]


def _open(
    files: list[str], name: str, sql: str | None, delimiter: str | None, frugal: bool, memory: str | None
) -> TableSource | MatrixSource:
    called = [name] if len(files) == 1 and name == STDIN else files
    size = 1 << 20 if len(files) < 20 else 1 << 16
    folder = os.path.isdir(name) and name != STDIN
    if folder:
        for path, label in zip(files, called, strict=True):
            peek(path, label, 16)
        return _with_duck(frugal, memory, lambda duck: _queried(open_parquet(duck, files, name), sql))
    peeks = [peek(path, label, size) for path, label in zip(files, called, strict=True)]
    kinds = sorted({found.kind for found in peeks})
    if len(kinds) > 1:
        raise ValueError(
            f"the files of {shown(name)} are of several kinds ({', '.join(kinds)}); read one kind at a time"
        )
    kind, path = kinds[0], files[0]
    if len(files) > 1 and kind not in ("csv", "json", "parquet"):
        raise ValueError(f"{shown(name)} means {len(files)} files; only CSV, JSON and Parquet files are read together")
    if delimiter is not None and kind != "csv":
        raise ValueError(f"{shown(name)} is no CSV file; it has no delimiter")
    if kind == "sqlite":
        from separatrix.tables.sources.sqlite import SqliteSource

        return SqliteSource(path, name, sql)
    if kind == "duckdb":
        return _with_duck(frugal, memory, lambda duck: _database(duck, path, name, sql))
    if kind not in _TABLES:
        source = _matrix(kind, path, name)
        if sql is not None:
            source.close()
            raise ValueError(f"{shown(name)} has no named columns; SQL needs a table")
        return source

    def table(duck: Duck) -> TableSource:
        if kind == "csv":
            from separatrix.tables.sources.csv_files import open_csv

            return _queried(open_csv(duck, files, name, peeks, delimiter), sql)
        if kind == "json":
            from separatrix.tables.sources.json_files import open_json

            return _queried(open_json(duck, files, name, peeks), sql)
        if kind == "parquet":
            return _queried(open_parquet(duck, files, name), sql)
        from separatrix.tables.sources.arrow_files import ArrowSource

        source = ArrowSource(path, name, frugal=frugal)
        assert sql is not None
        data = source.reader()
        duck.prepare(lambda connection: connection.register("data", data))
        return _query(duck, sql, [path], [column.name for column in source.columns])

    if kind == "arrow" and sql is None:
        from separatrix.tables.sources.arrow_files import ArrowSource

        return ArrowSource(path, name, frugal=frugal)
    return _with_duck(frugal, memory, table)


def _matrix(kind: str, path: str, name: str) -> TableSource | MatrixSource:
    if kind == "libsvm":
        module = importlib.import_module("separatrix.tables.sources.libsvm")
        source: MatrixSource = module.LibsvmSource(path, name=shown(name))
        return source
    from separatrix.tables.sources.arrays import open_npy, open_npz

    return open_npy(path, name) if kind == "npy" else open_npz(path, name)


def _with_duck(frugal: bool, memory: str | None, opening: Callable[[Duck], TableSource]) -> TableSource:
    """Open a source on a connection of its own, which is closed if that fails."""
    duck = Duck(frugal=frugal, memory=memory)
    try:
        return opening(duck)
    except BaseException:
        duck.close()
        raise


def _queried(source: DuckSource, sql: str | None) -> DuckSource:
    """Return the source, or a query over it under the name of ``data``."""
    if sql is None:
        return source
    source.settle()
    columns = ", ".join(
        f"{agreed(identifier(inner), column)} as {identifier(column.name)}"
        for inner, column in zip(source.inner, source.columns, strict=True)
    )
    view = f"create temp view data as select {columns} from {source.relation}"
    with source.sentences():
        source.duck.prepare(lambda connection: connection.execute(view))
    return _query(source.duck, sql, source.files, [column.name for column in source.columns], source)


def _query(
    duck: Duck,
    sql: str,
    files: list[str] | None,
    columns: list[str] | None = None,
    source: DuckSource | None = None,
    tables: tuple[str, ...] = (),
) -> DuckSource:
    """Open the rows of a query."""
    there = tables or (("data",) if columns else ())

    def telling(message: str) -> str:
        if source is not None and "converting column" not in message and any(p in message for p in source.files):
            return source.told(message)
        return query_problem(message, there, columns or ())

    text = only_reading(sql)
    relation = f"({text}\n) as q"
    try:
        with engine_errors():
            statements = duck.connection.extract_statements(text)
        if len(statements) != 1:
            raise ValueError(
                f"the query has {len(statements)} statements; only one SELECT statement that reads is taken"
            )
        kind = getattr(statements[0].type, "name", str(statements[0].type))
        if kind != "SELECT":
            raise ValueError(f"the query is of the kind {kind}; only one SELECT statement that reads is taken")
        described = duck.described(relation)
        names = [row[0] for row in duck.rows(f"describe {text}")]
    except EngineError as problem:
        raise ValueError(telling(str(problem))) from None
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ValueError(f"the query gives two columns called {twice!r}; name them apart with AS")
    other = re.search(
        r"\b(?:from|join)\s*\(?\s*['\"]|,\s*'[^']*'\s*(?:,|where|$)|\bread_|_scan\b|\bglob\s*\(", text, re.I
    )
    return DuckSource(
        duck,
        relation,
        [column_of(*pair) for pair in described],
        "the query",
        files=files or [],
        telling=telling,
        empty="gives no rows",
        mark=text if files and not other else None,
    )


def _database(duck: Duck, path: str, name: str, sql: str | None) -> DuckSource:
    """Open a table of a DuckDB database, or a query over its tables."""
    try:
        duck.rows(f"attach {literal(os.path.abspath(path))} as opened (type duckdb, read_only)")
        listing = "select schema_name, {0}_name from duckdb_{0}s() where database_name = 'opened' and not internal"
        found = duck.rows(f"{listing.format('table')} union all {listing.format('view')} order by all")
        duck.prepare(lambda connection: connection.execute("use opened"))
    except EngineError as problem:
        raise ValueError(f"{shown(name)} cannot be opened as a DuckDB database: {short(problem)}") from None
    tables = [table if schema == "main" else f"{schema}.{table}" for schema, table in found]
    relations = [f"opened.{identifier(schema)}.{identifier(table)}" for schema, table in found]
    if len(tables) == 1 and tables[0].lower() != "data":
        view = f"create temp view data as select * from {relations[0]}"
        duck.prepare(lambda connection: connection.execute(view))
    if sql is not None:
        return _query(duck, sql, [path], tables=tuple(tables) or ("none",))
    if len(tables) != 1:
        several = f"several tables; choose with SQL among {listed(tables)}" if tables else "no tables"
        raise ValueError(f"{shown(name)} has {several}")
    try:
        columns = [column_of(*pair) for pair in duck.described(relations[0])]
        count = int(duck.rows(f"select count(*) from {relations[0]}")[0][0])
    except EngineError as problem:
        raise ValueError(f"{shown(name)} cannot be read: {short(problem)}") from None
    return DuckSource(duck, relations[0], columns, name, files=[path], n_rows=count, mark=tables[0])


def _spooled(source: TableSource | MatrixSource, spool: Spool) -> TableSource | MatrixSource:
    """Let a source remove the copy of standard input when it is closed; what the copy holds is its fingerprint."""
    closing = source.close
    told = source.fingerprint() is not None
    mark = getattr(source, "_mark", None) or getattr(source, "_sql", None) or ""

    def close() -> None:
        closing()
        spool.close()

    changed = cast(Any, source)
    changed.name = STDIN if source.name == shown(spool.path) else source.name
    changed.close = close
    changed.fingerprint = lambda: f"{spool.digest} {mark}".strip() if told else None
    return source
