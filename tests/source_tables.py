"""One small table with every kind of column, and how to write it in every format."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import json
import lzma
import sqlite3

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

N = 240
NASTY = ['say "hi"', "two\nlines", "naïve Ω 🙂", "a,b;c\td|e", "it's", " padded ", "\\slash", "plain"]

TABLE = pa.table(
    {
        "x": pa.array([None if k % 7 == 3 else k / 8 - 11.5 for k in range(N)], pa.float64()),
        "count": pa.array([None if k % 11 == 5 else (k - 100) * 10**12 for k in range(N)], pa.int64()),
        "ok": pa.array([None if k % 5 == 2 else k % 3 == 0 for k in range(N)], pa.bool_()),
        "größe, \"q'": pa.array([None if k % 13 == 4 else NASTY[k % len(NASTY)] for k in range(N)], pa.string()),
        "day": pa.array([None if k % 6 == 1 else dt.date(2024, 1, 1) + dt.timedelta(k) for k in range(N)], pa.date32()),
    }
)
NAMES = TABLE.column_names
KINDS = ["number", "number", "flag", "text", "date"]
WHOLE = [False, True, False, False, False]


def csv_text(table: pa.Table = TABLE, delimiter: str = ",") -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink, pyarrow.csv.WriteOptions(delimiter=delimiter))
    return sink.getvalue().to_pybytes()


def json_text() -> bytes:
    return "".join(
        json.dumps({key: value for key, value in row.items() if value is not None}, default=str) + "\n"
        for row in TABLE.to_pylist()
    ).encode()


def zstd(raw: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as file:
        file.write(raw)
    return sink.getvalue().to_pybytes()


def text_writer(make, pack=lambda raw: raw):
    return lambda path: path.write_bytes(pack(make()))


def to_ipc(path, stream=False, codec=None):
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), TABLE.schema, options=options) as sink:
        sink.write_table(TABLE, max_chunksize=50)


def to_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        connection.register("given", TABLE)
        connection.execute('create table "my table" as select * from given')


def to_sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute(
            'create table "my ""table" (x real, count integer, ok boolean, "größe, ""q\'" text, day date)'
        )
        rows = [
            [value if not isinstance(value, dt.date) else str(value) for value in row.values()]
            for row in TABLE.to_pylist()
        ]
        connection.executemany('insert into "my ""table" values (?, ?, ?, ?, ?)', rows)
    connection.close()


WRITERS = {
    "t.csv": text_writer(csv_text),
    "T.CSV": text_writer(csv_text),
    "bom.csv": text_writer(lambda: b"\xef\xbb\xbf" + csv_text()),
    "t.tsv": text_writer(lambda: csv_text(delimiter="\t")),
    "t.psv": text_writer(lambda: csv_text(delimiter="|")),
    "t.txt": text_writer(lambda: csv_text(delimiter=";")),
    "t.csv.gz": text_writer(csv_text, gzip.compress),
    "t.csv.zst": text_writer(csv_text, zstd),
    "t.csv.bz2": text_writer(csv_text, bz2.compress),
    "t.csv.xz": text_writer(csv_text, lzma.compress),
    "utf-16.csv": text_writer(lambda: csv_text().decode().encode("utf-16")),
    "utf-16-be.txt": text_writer(lambda: csv_text().decode().encode("utf-16-be")),
    "pandas.csv": lambda path: TABLE.to_pandas(types_mapper=None).convert_dtypes().to_csv(path, index=False),
    "t.parquet": lambda path: pa.parquet.write_table(TABLE, path, row_group_size=64),
    "t.arrow": to_ipc,
    "t.ipc": lambda path: to_ipc(path, stream=True),
    "z.arrow": lambda path: to_ipc(path, codec="zstd"),
    "t.feather": lambda path: pa.feather.write_feather(TABLE, str(path), compression="lz4"),
    "t.jsonl": text_writer(json_text),
    "t.ndjson": text_writer(json_text),
    "t.json": text_writer(lambda: json.dumps([json.loads(line) for line in json_text().splitlines()]).encode()),
    "t.jsonl.gz": text_writer(json_text, gzip.compress),
    "t.jsonl.zst": text_writer(json_text, zstd),
    "t.jsonl.bz2": text_writer(json_text, bz2.compress),
    "t.json.xz": text_writer(json_text, lzma.compress),
    "t.duckdb": to_duckdb,
    "t.db": to_duckdb,
    "t.sqlite": to_sqlite,
    "u.db": to_sqlite,
}
