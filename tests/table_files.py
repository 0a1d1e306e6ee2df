"""One small table, written in every format that a source can have."""

from __future__ import annotations

import csv as plain_csv
import gzip
import io
import json
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv, feather, parquet

N = 120
EVIL = ["<script>alert(1)</script>", "\"'&amp;", "$x^2$ \\frac{1}{0}", "\u05e9\u05dc\u05d5\u05dd \U0001f427"]


def table(n: int = N, seed: int = 0) -> pa.Table:
    """Return numbers, a category, a flag, some missing values, and two classes that a plane nearly separates."""
    rng = np.random.default_rng(seed)
    length, width = rng.normal(5.0, 2.0, n).round(3), rng.normal(0.0, 1.0, n).round(3)
    colour = rng.choice(["blue", "red", "sea green"], n)
    sold = rng.random(n) < 0.5
    score = length - 5.0 + 2.0 * width + (colour == "red") + 0.5 * sold
    label = np.where(score + rng.normal(0.0, 0.2, n) > 0.5, "yes", "no")
    missing = rng.random(n) < 0.05
    return pa.table(
        {
            "length": pa.array(length, mask=missing),
            "width": width,
            "colour": colour,
            "sold": sold,
            "count": rng.integers(0, 9, n),
            "label": label,
        }
    )


def as_csv(data: pa.Table, delimiter: str = ",") -> bytes:
    """Return the table as the text of a CSV file."""
    out = io.BytesIO()
    csv.write_csv(data, out, csv.WriteOptions(delimiter=delimiter))
    return out.getvalue()


def write_all(folder: Path, data: pa.Table) -> dict[str, list[str]]:
    """Write the table in every format; return the arguments that name each."""
    text = as_csv(data)
    (folder / "t.csv").write_bytes(text)
    (folder / "t.tsv").write_bytes(as_csv(data, "\t"))
    (folder / "semicolon.csv").write_bytes(as_csv(data, ";"))
    (folder / "t.csv.gz").write_bytes(gzip.compress(text))
    with pa.OSFile(str(folder / "t.csv.zst"), "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(text)
    parquet.write_table(data, folder / "t.parquet")
    (folder / "parts").mkdir()
    half = data.num_rows // 2
    parquet.write_table(data.slice(0, half), folder / "parts" / "a.parquet")
    parquet.write_table(data.slice(half), folder / "parts" / "b.parquet")
    feather.write_feather(data, folder / "t.feather")
    with pa.OSFile(str(folder / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, data.schema) as writer:
        writer.write_table(data)
    lines = "\n".join(json.dumps(row) for row in data.to_pylist()) + "\n"
    (folder / "t.jsonl").write_text(lines, encoding="utf-8")
    (folder / "t.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    _write_sqlite(folder / "t.sqlite", data)
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("given", data)
        connection.sql("create table birds as select * from given")
    where = str(folder)
    return {
        "csv": [f"{where}/t.csv"],
        "tsv": [f"{where}/t.tsv"],
        "semicolons": [f"{where}/semicolon.csv"],
        "csv.gz": [f"{where}/t.csv.gz"],
        "csv.zst": [f"{where}/t.csv.zst"],
        "parquet": [f"{where}/t.parquet"],
        "parquet folder": [f"{where}/parts"],
        "parquet pattern": [f"{where}/parts/*.parquet"],
        "feather": [f"{where}/t.feather"],
        "arrow": [f"{where}/t.arrow"],
        "json lines": [f"{where}/t.jsonl"],
        "json lines.gz": [f"{where}/t.jsonl.gz"],
        "duckdb": [f"{where}/t.duckdb"],
        "sqlite": [f"{where}/t.sqlite"],
        "sql over files": ["--sql", f"select * from '{where}/t.parquet'"],
        "sql over a source": [f"{where}/t.csv", "--sql", "select * from data"],
        "sql over duckdb": [f"{where}/t.duckdb", "--sql", "select * from birds"],
        "sql over sqlite": [f"{where}/t.sqlite", "--sql", "select * from birds"],
        "standard input": ["-"],
    }


def _write_sqlite(path: Path, data: pa.Table) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(
            "create table birds (length real, width real, colour text, sold boolean, count int, label text)"
        )
        rows = [tuple(row.values()) for row in data.to_pylist()]
        connection.executemany("insert into birds values (?, ?, ?, ?, ?, ?)", rows)
    connection.close()


def write_matrices(folder: Path, data: pa.Table) -> dict[str, list[str]]:
    """Write the numbers of the complete rows in the formats that have no column names."""
    rows = [row for row in data.to_pylist() if row["length"] is not None]
    X = np.array([[row["length"], row["width"], row["count"]] for row in rows])
    y = np.array([row["label"] == "yes" for row in rows]).astype(np.int64)
    np.save(folder / "t.npy", np.column_stack([X, y]))
    np.savez(folder / "t.npz", X=X, y=y)
    lines = [
        f"{label} " + " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(row) if value)
        for label, row in zip(y.tolist(), X.tolist(), strict=True)
    ]
    text = "\n".join(lines) + "\n"
    (folder / "t.libsvm").write_text(text)
    (folder / "t.svm.gz").write_bytes(gzip.compress(text.encode()))
    where = str(folder)
    return {
        "npy": [f"{where}/t.npy", "--target", "-1"],
        "npz": [f"{where}/t.npz"],
        "libsvm": [f"{where}/t.libsvm"],
        "libsvm.gz": [f"{where}/t.svm.gz"],
    }


def write_nasty(path: Path, n: int = 160) -> list[str]:
    """Write a table in which every name, category, label and text is markup, and return its columns."""
    rng = np.random.default_rng(5)
    head = [
        "<img src=x onerror=alert(1)>",
        'a & b "q"',
        "$\\alpha$",
        "<b>text</b>",
        "</style><script>alert(2)</script>",
    ]
    words = ["<i>hello</i>", "javascript:alert(1)", "-->", "]]>", "&lt;", "w" * 60, "\u202eabc"]
    with path.open("w", newline="", encoding="utf-8") as file:
        out = plain_csv.writer(file)
        out.writerow(head)
        for k in range(n):
            c = k % 4
            number = round(rng.normal(c, 0.8), 3) if rng.random() > 0.05 else ""
            text = " ".join(rng.choice(words, 3))
            out.writerow([number, round(rng.normal(-c, 1), 3), EVIL[rng.integers(4)], text, EVIL[c]])
    return head
