"""Any file, database, query or standard input, opened as a source."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import BinaryIO

from separatrix.tables.sources.apart import ApartSource, NotStartedError, can_be_apart
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.sources.kinds import KINDS, Request, SourceKind
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.peeking import PEEK, Peek, files_below, is_pipe, must_exist, peek
from separatrix.tables.sources.spool import STDIN, Spool, with_copies
from separatrix.tables.sources.text_encoding import FALLBACK, UTF_8, NotUtf8Error, check_encoding

_MANY = 20  # files of which only a little is read before they are opened


@dataclass(frozen=True)
class TextOptions:
    """How text files are written, where that is not detected.

    Parameters
    ----------
    delimiter : str, optional
        Of a CSV file.
    header : bool
        Whether the first line of a CSV file has the names of its columns; else they are c1, c2 and so on.
    quotes : bool
        Whether cells of a CSV file may be in double quotes.
    encoding : str, optional
        Of any text file.
    """

    delimiter: str | None = None
    header: bool = True
    quotes: bool = True
    encoding: str | None = None

    def options(self) -> dict[str, str]:
        """Return the options of the command line that are given, each with what it is about."""
        given = {
            "--delimiter": ("delimiter", self.delimiter is not None),
            "--no-header": ("header line", not self.header),
            "--no-quotes": ("quotes", not self.quotes),
            "--encoding": ("encoding", self.encoding is not None),
        }
        return {option: what for option, (what, there) in given.items() if there}

    def check(self, kind: SourceKind, name: str) -> None:
        """Refuse what is not for this kind of file."""
        file = f"{path_text(name)} is {'an' if kind.name[0] in 'aeiou' else 'a'} {kind.name} file"
        for option, what in self.options().items():
            if option == "--encoding" and not kind.text:
                raise ValueError(f"{file}, not text; {option} is for text files")
            if option != "--encoding" and not kind.delimited:
                raise ValueError(f"{file} and has no {what}; {option} is for CSV files")


def open_source(
    where: str | None,
    *,
    sql: str | None = None,
    db: str | None = None,
    delimiter: str | None = None,
    header: bool = True,
    quotes: bool = True,
    encoding: str | None = None,
    frugal: bool = False,
    watch: Callable[[float], None] | None = None,
) -> TableSource | MatrixSource:
    """Open data for reading, in any format.

    A file is recognised by its ending, else by its content: CSV (``.csv``, ``.tsv``, ``.psv``, ``.txt``), JSON lines
    (``.jsonl``, ``.ndjson``, ``.json``), ARFF and KEEL (``.arff``, ``.dat``) and LIBSVM, all of them also in ``.gz``,
    ``.zst``, ``.bz2`` or ``.xz``; Parquet (also a folder or a pattern such as ``part-*.parquet``); Arrow and Feather;
    databases of DuckDB and SQLite; NumPy's ``.npy`` and ``.npz``.

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
    header : bool, default=True
        Whether the first line of a CSV file has the names of its columns; else they are c1, c2 and so on.
    quotes : bool, default=True
        Whether cells of a CSV file may be in double quotes; else quotes are plain text.
    encoding : str, optional
        The encoding of a text file. By default UTF-8 and UTF-16 are detected, and what is neither is windows-1252.
    frugal : bool, default=False
        Use as little memory as possible: one thread, small buffers and batches of at most 8192 rows.
    watch : callable, optional
        Is told which part of a large file has been read, while it is opened.

    Returns
    -------
    TableSource or MatrixSource
        Close it after use, or open it in a ``with`` statement.

    Raises
    ------
    ValueError
        One sentence with the file and what is wrong.
    """
    how = TextOptions(delimiter, header, quotes, None if encoding is None else check_encoding(encoding))
    if where is None or db is not None:
        for option in how.options():
            if option != "--delimiter":
                raise ValueError(f"{option} needs a file; a query reads its files in its own way")
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
        return open_files([], [], "the query", sql, frugal, how)
    if "\0" in where or not where:
        raise ValueError("the name of a file is empty or has a zero byte")
    if where == "-":
        return _open_stream(None, STDIN, sql, frugal, how, watch)
    if is_pipe(where):
        with open(where, "rb") as stream:  # waits for somebody who writes
            source = _open_stream(stream, where, sql, frugal, how, watch)
        source.files = [where, *source.files]
        return source
    files = _files(where)
    return open_files(files, files, where, sql, frugal, how, watch=watch)


def open_stream(
    stream: BinaryIO, name: str, *, sql: str | None = None, frugal: bool = False
) -> TableSource | MatrixSource:
    """Open a copy of a binary stream; the copy is removed with the source."""
    return _open_stream(stream, name, sql, frugal, TextOptions())


def _open_stream(
    stream: BinaryIO | None,
    name: str,
    sql: str | None,
    frugal: bool,
    how: TextOptions,
    watch: Callable[[float], None] | None = None,
) -> TableSource | MatrixSource:
    spool = Spool(stream, name)
    try:
        source = open_files([spool.path], [name], name, sql, frugal, how, watch=watch)
    except BaseException:
        spool.close()
        raise
    return with_copies(source, spool)


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
    frugal: bool,
    how: TextOptions,
    *,
    apart: bool = True,
    watch: Callable[[float], None] | None = None,
) -> TableSource | MatrixSource:
    """Open files, each with its name in messages, in this process or in a child.

    Parameters
    ----------
    files, names : list of str
        The files and what messages call them; none for a query that names its files.
    name : str
        What messages call all of them together.
    sql, frugal
        See `open_source`.
    how : TextOptions
        How text files are written.
    apart : bool
        Let a child process read what may crash a library, and run queries.
    watch : callable, optional
        See `open_source`; a child process tells nothing.
    """
    apart = apart and can_be_apart()
    kind = None
    if files:
        peeks = _peeks(files, names, name, how.encoding)
        kind = _kind(peeks, name)
        how.check(kind, name)
    if apart and (kind is None or (kind.sql and (kind.apart or sql is not None))):
        with suppress(NotStartedError):  # where Python is part of a program, say: then it is read here
            return ApartSource(files, names, name, sql, frugal, asdict(how))
    if kind is None:
        from separatrix.tables.sources.duck import on_duck
        from separatrix.tables.sources.queries import QuerySource

        return on_duck(frugal, lambda duck: QuerySource(duck, sql or ""))
    request = Request(files, name, peeks, sql, how.delimiter, frugal, how.header, how.quotes, names, watch)
    return _open_text(kind, request, how.encoding) if kind.text else kind.open(request)


def _open_text(kind: SourceKind, request: Request, encoding: str | None) -> TableSource | MatrixSource:
    """Open text files, or copies of them in UTF-8; one that turns out not to be UTF-8 is opened again."""
    while True:
        try:
            source = _open_once(kind, request)
        except NotUtf8Error as problem:
            place = request.files.index(problem.path) if problem.path in request.files else 0
            peeks = list(request.peeks)
            if encoding is not None or peeks[place].encoding != UTF_8:
                raise
            peeks[place] = replace(peeks[place], encoding=FALLBACK)
            request = replace(request, peeks=peeks)
            continue
        if encoding is None:
            source.notes = [
                *(
                    f"{path_text(name)}: read as {FALLBACK}; give --encoding if that is wrong"
                    for name, each in zip(request.labels, request.peeks, strict=True)
                    if each.encoding == FALLBACK
                ),
                *source.notes,
            ]
        return source


def _open_once(kind: SourceKind, request: Request) -> TableSource | MatrixSource:
    if kind.copies or all(each.encoding == UTF_8 and each.compression in kind.unpacks for each in request.peeks):
        return kind.open(request)
    from separatrix.tables.sources.copies import Copies, copied

    copies = Copies(request.files)
    try:
        return with_copies(kind.open(copied(request, copies)), copies)
    except BaseException:
        copies.close()
        raise


def _peeks(files: list[str], names: list[str], name: str, encoding: str | None) -> list[Peek]:
    folder = files == names and os.path.isdir(name)  # of Parquet files, which their first bytes show
    size = 16 if folder else PEEK if len(files) < _MANY else PEEK // 16
    return [peek(path, label, size, encoding) for path, label in zip(files, names, strict=True)]


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
