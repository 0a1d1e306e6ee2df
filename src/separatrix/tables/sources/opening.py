"""Any file, database, query or standard input, opened as a source."""

from __future__ import annotations

import glob
import os
from contextlib import suppress
from typing import BinaryIO

from separatrix.tables.sources.apart import ApartSource, NotStartedError, can_be_apart
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.sources.kinds import KINDS, Request, SourceKind
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.peeking import PEEK, Peek, files_below, is_pipe, must_exist, peek
from separatrix.tables.sources.spool import STDIN, Spool, SpooledMatrix, SpooledTable

_MANY = 20  # files of which only a little is read before they are opened


def open_source(
    where: str | None,
    *,
    sql: str | None = None,
    db: str | None = None,
    delimiter: str | None = None,
    frugal: bool = False,
) -> TableSource | MatrixSource:
    """Open data for reading, in any format.

    A file is recognised by its ending, else by its content: CSV (``.csv``, ``.tsv``, ``.psv``, ``.txt``) and JSON lines
    (``.jsonl``, ``.ndjson``, ``.json``), both also in ``.gz`` or ``.zst``; Parquet (also a folder or a pattern such as
    ``part-*.parquet``); Arrow and Feather; databases of DuckDB and SQLite; NumPy's ``.npy`` and ``.npz``; LIBSVM.

    Parameters
    ----------
    where : str or None
        A path, a pattern, a folder of Parquet files, ``"-"`` for standard input, or None if ``sql`` names its files.
    sql : str, optional
        One SELECT statement. It sees the source as ``data`` (the tables of a database by their own names too), and
        files by their names in quotes: ``select * from 'a.csv' join 'b.parquet' using (id)``.
    db : str, optional
        The address of a PostgreSQL server that runs ``sql``: ``postgresql://user:password@host/database``.
    delimiter : str, optional
        The field delimiter of a CSV file; detected by default.
    frugal : bool, default=False
        Use as little memory as possible: one thread, small buffers and batches of at most 8192 rows.

    Returns
    -------
    TableSource or MatrixSource
        Close it after use, or open it in a ``with`` statement.

    Raises
    ------
    ValueError
        One sentence with the file and what is wrong.
    """
    if db is not None:
        if sql is None:
            raise ValueError("a database needs a query: give the SQL too")
        if where is not None:
            raise ValueError(f"give either a file or the address of a database; got {path_text(where)} and an address")
        try:
            from separatrix.tables.sources.postgres import PostgresSource
        except ImportError as problem:
            raise ValueError(f"PostgreSQL needs {short(problem.name)}, which is not installed") from None
        return PostgresSource(db, sql, frugal=frugal)
    if where is None:
        if sql is None:
            raise ValueError("no data: give a file, or SQL")
        return open_files([], [], "the query", sql, delimiter, frugal)
    if "\0" in where or not where:
        raise ValueError("the name of a file is empty or has a zero byte")
    if where == "-":
        return open_stream(None, STDIN, sql=sql, delimiter=delimiter, frugal=frugal)
    if is_pipe(where):
        with open(where, "rb") as stream:  # waits for somebody who writes
            source = open_stream(stream, where, sql=sql, delimiter=delimiter, frugal=frugal)
        source.files = [where, *source.files]
        return source
    files = _files(where)
    return open_files(files, files, where, sql, delimiter, frugal)


def open_stream(
    stream: BinaryIO | None,
    name: str,
    *,
    sql: str | None = None,
    delimiter: str | None = None,
    frugal: bool = False,
) -> TableSource | MatrixSource:
    """Open a copy of a binary stream, standard input if that is None; the copy is removed with the source."""
    spool = Spool(stream, name)
    try:
        source = open_files([spool.path], [name], name, sql, delimiter, frugal)
    except BaseException:
        spool.close()
        raise
    return SpooledTable(source, spool) if isinstance(source, TableSource) else SpooledMatrix(source, spool)


def _files(where: str) -> list[str]:
    """Return the files of a path, a folder or a pattern."""
    if os.path.isdir(where):
        files = files_below(where, (".parquet", ".pq"))
        if not files:
            raise ValueError(f"{path_text(where)} is a folder without Parquet files")
        return files
    if not os.path.lexists(where) and glob.has_magic(where):
        files = sorted(path for path in glob.glob(where, recursive=True) if os.path.isfile(path))  # no pipes
        if not files:
            raise ValueError(f"no file matches the pattern {path_text(where)}")
        return files
    must_exist(where)
    return [where]


def open_files(
    files: list[str],
    names: list[str],
    name: str,
    sql: str | None,
    delimiter: str | None,
    frugal: bool,
    *,
    apart: bool = True,
) -> TableSource | MatrixSource:
    """Open files, each with its name in messages, in this process or in a child.

    Parameters
    ----------
    files, names : list of str
        The files and what messages call them; none for a query that names its files.
    name : str
        What messages call all of them together.
    sql, delimiter, frugal
        See `open_source`.
    apart : bool
        Let a child process read what may crash a library, and run queries.
    """
    apart = apart and can_be_apart()
    kind = None
    if files:
        peeks = _peeks(files, names, name)
        kind = _kind(peeks, name)
        if delimiter is not None and not kind.delimited:
            raise ValueError(
                f"{path_text(name)} is a {kind.name} file and has no delimiter; --delimiter is for CSV files"
            )
    if apart and (kind is None or (kind.sql and (kind.apart or sql is not None))):
        with suppress(NotStartedError):  # where Python is part of a program, say: then it is read here
            return ApartSource(files, names, name, sql, delimiter, frugal)
    if kind is None:
        from separatrix.tables.sources.duck import on_duck
        from separatrix.tables.sources.queries import QuerySource

        return on_duck(frugal, lambda duck: QuerySource(duck, sql or ""))
    return kind.open(Request(files, name, peeks, sql, delimiter, frugal))


def _peeks(files: list[str], names: list[str], name: str) -> list[Peek]:
    folder = files == names and os.path.isdir(name)  # of Parquet files, which their first bytes show
    size = 16 if folder else PEEK if len(files) < _MANY else PEEK // 16
    return [peek(path, label, size) for path, label in zip(files, names, strict=True)]


def _kind(peeks: list[Peek], name: str) -> SourceKind:
    """Return the kind of all the files."""
    kinds = [kind for kind in KINDS if any(each.kind is kind for each in peeks)]
    kind = kinds[0]
    if len(kinds) > 1:
        several = ", ".join(sorted(each.name for each in kinds))
        raise ValueError(f"the files of {path_text(name)} are of several kinds ({several}); read one kind at a time")
    if len(peeks) > 1 and not kind.several:
        together = ", ".join(each.name for each in KINDS if each.several)
        raise ValueError(
            f"{path_text(name)} matches {len(peeks)} {kind.name} files; only these kinds can be read together: "
            f"{together}"
        )
    return kind
