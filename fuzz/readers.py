"""Fuzz the reading of data files: any bytes are read, or refused in one sentence, and twice the same."""

from __future__ import annotations

import contextlib
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import written_files
from mutation import changed_bytes
from outcomes import CaseError

_TYPES = {"number": ("double", "int64"), "flag": ("bool",), "text": ("string",)}
_QUERIES = ("select * from data", "select count(*) as n from data", "select * from data limit 2", "select a from data")


@dataclass(frozen=True)
class Reader:
    """Cases for one kind of file.

    Parameters
    ----------
    name : str
        Of the target, and of the corpus.
    ending : str
        Of the file's name.
    write : callable
        Writes a file at random.
    tokens : sequence of bytes
        That changes may put in.
    fresh : float
        The chance that a case is a new file, without further changes: high where writing is cheap.
    repair : callable
        Makes checksums right again.
    """

    name: str
    ending: str
    write: Callable[[random.Random], bytes]
    tokens: Sequence[bytes] = ()
    fresh: float = 0.05
    repair: Callable[[bytes], bytes] = bytes

    def seeds(self, chance: random.Random) -> list[bytes]:
        """Return files to change."""
        return [self.write(chance) for _ in range(30)]

    def case(self, chance: random.Random, pool: Sequence[bytes]) -> bytes:
        """Return a file."""
        if chance.random() < self.fresh:
            raw = self.write(chance)
            return raw if chance.random() < 0.5 else changed_bytes(raw, chance, pool, self.tokens)
        raw = changed_bytes(chance.choice(pool), chance, pool, self.tokens)
        return self.repair(raw) if chance.random() < 0.8 else raw

    def check(self, raw: bytes, folder: Path) -> str:
        """Read the file as its own bytes choose; a ValueError is a refusal."""
        path = Path(f"case{self.ending}")  # in the working folder
        path.write_bytes(raw)
        chance = random.Random(zlib.crc32(raw))
        frugal = chance.random() < 0.3
        sql = (
            chance.choice(_QUERIES)
            if self.ending not in (".npy", ".npz", ".libsvm") and chance.random() < 0.1
            else None
        )
        rows = chance.choice((1, 3, 65536))
        how = {}
        if self.ending == ".csv" and chance.random() < 0.2:
            how = {"header": chance.random() < 0.3, "quotes": chance.random() < 0.6}
        if self.ending in (".csv", ".arff") and chance.random() < 0.05:
            how["encoding"] = chance.choice(("latin-1", "utf-16", "utf-8", "utf-7", "shift_jis", "big5"))
        try:
            shown = _read(str(path), frugal, sql, 65536, **how)
            if chance.random() < 0.2 and shown != _read(str(path), frugal, sql, rows, **how):
                raise CaseError("property", f"other values in batches of {rows} rows")
            if chance.random() < 0.2:
                _read_for_a_proof(str(path), chance)
        finally:
            after = path.read_bytes()
            path.unlink()
        if after != raw:
            raise CaseError("property", "reading changed the file")
        return f"read {shown[0]}"


def _read(path: str, frugal: bool, sql: str | None, rows: int, **how: Any) -> tuple[str, list[Any]]:
    from separatrix.tables.sources.base import TableSource
    from separatrix.tables.sources.opening import open_source

    with open_source(path, sql=sql, frugal=frugal, **how) as source:
        if not isinstance(source, TableSource):
            values: list[Any] = []
            for X, y in source.blocks(rows):
                dense = X.toarray() if source.sparse and X.shape[1] <= 10_000 else X
                if source.width is not None and X.shape[1] > source.width:
                    raise CaseError("property", "a block is wider than the source")
                if y is not None and len(y) != X.shape[0]:
                    raise CaseError("property", "a block has labels of another number")
                shown = dense if dense is not X or not source.sparse else X.toarray() if X.shape[1] < 10**6 else None
                values += [] if shown is None else [row.tobytes().rstrip(b"\0") for row in shown]
                values += [] if y is None else [str(y.tolist())] if rows > 65535 else []
            return f"matrix {source.sparse} {source.labelled}", [v for v in values if isinstance(v, bytes)]
        names = [column.name for column in source.columns]
        columns: list[list[Any]] = [[] for _ in names]
        for batch in source.batches(names, rows=rows):
            if not batch.num_rows:
                raise CaseError("property", "a batch has no rows")
            for k, column in enumerate(source.columns):
                kind = str(batch.column(k).type)
                if column.kind in _TYPES and kind not in _TYPES[column.kind]:
                    raise CaseError("property", f"a column of kind {column.kind} comes as {kind}")
                if column.kind in _TYPES:
                    columns[k] += map(repr, batch.column(k).to_pylist())
        return " ".join(f"{c.kind}{c.whole:d}" for c in source.columns)[:60], columns


def _read_for_a_proof(path: str, chance: random.Random) -> None:
    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.sources.base import TableSource
    from separatrix.tables.sources.opening import open_source
    from separatrix.tables.whole import read_whole

    with open_source(path) as source:
        if isinstance(source, TableSource):
            names = [column.name for column in source.columns]
            options = ColumnOptions(chance.choice(names) if names else "x")
        else:
            options = ColumnOptions(None if chance.random() < 0.7 else "0")
        with contextlib.suppress(ValueError):  # of the columns; its sentence is looked at by the command line's cases
            read_whole(source, options, exact=chance.random() < 0.5)


_NUMBERS = (b"nan", b"inf", b"1e309", b"-0", b"0x10", b"1e-320", b"9223372036854775808", b"\xc2\xa0", b"\xef\xbc\x93")
READERS = (
    Reader(
        "csv",
        ".csv",
        written_files.csv_text,
        (*_NUMBERS, b",", b'"', b'""', b"\n", b"\r\n", b"\r", b'",\n', b"\xef\xbb\xbf"),
        0.6,
    ),
    Reader(
        "arff",
        ".arff",
        written_files.arff_text,
        (
            *_NUMBERS,
            b",",
            b"'",
            b'"',
            b"\\",
            b"\\'",
            b"?",
            b"{",
            b"}",
            b"%",
            b"\n",
            b"\r",
            b"@data\n",
            b"@attribute b ",
        ),
        0.5,
    ),
    Reader(
        "libsvm", ".libsvm", written_files.libsvm_text, (*_NUMBERS, b" 1:", b":", b" qid:1", b" #", b"1:1", b"\n"), 0.5
    ),
    Reader(
        "json",
        ".jsonl",
        written_files.json_text,
        (*_NUMBERS, b"{", b"}", b'"a":', b"null", b"\\u0000", b"\\ud800", b"[", b"]"),
        0.5,
    ),
    Reader("npy", ".npy", written_files.npy, (b"descr", b"'<f8'", b"(3,", b"True", b"|O", b"("), 0.5),
    Reader("npz", ".npz", written_files.npz, (b"X.npy", b"PK\x03\x04", b"PK\x01\x02", b"\x93NUMPY"), 0.3),
    Reader("arrow", ".arrow", written_files.arrow, (b"\xff\xff\xff\xff", b"ARROW1"), 0.1),
    Reader("parquet", ".parquet", written_files.parquet, (b"PAR1",), 0.1),
    Reader("sqlite", ".sqlite", written_files.sqlite, (b"create table", b"SQLite format 3\0"), 0.02),
    Reader("duckdb", ".duckdb", written_files.duckdb, (b"DUCK",), 0.0, written_files.checked_blocks),
)
