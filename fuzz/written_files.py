"""Files of every kind that can be read, written at random: plain ones and ones that nobody would write."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import sqlite3
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from mutation import changed_tree

CELLS = (
    "",
    "0",
    "1",
    "-1",
    "2.5",
    "1e5",
    "1e309",
    "-1e-320",
    "nan",
    "inf",
    "-inf",
    "NA",
    "null",
    "None",
    "?",
    "true",
    "FALSE",
    "x",
    "y",
    "a b",
    " 3",
    "3 ",
    "3\u00a0",
    "\uff13",
    "\u0663",
    "0x10",
    "1_000",
    "1,5",
    "1.234.567",
    "9223372036854775808",
    "2020-01-01",
    "12:00",
    "2020-02-30T25:00:00Z",
    '"q"',
    '"',
    "'",
    'a"b',
    '"a\nb"',
    "\ufeff",
    "\u2028",
    "é",
    "日本",
    "\x1b[31m",
    "\x7f",
    "-",
    "+",
    ".",
    "e",
    "#",
    "=1+1",
    "1" * 400,
    "x" * 300,
    "\\",
    "\\N",
    "\t",
    ";",
    "|",
)
NAMES = (
    "a",
    "b",
    "c",
    "label",
    "y",
    "A",
    "a b",
    "",
    "1",
    "data",
    "select",
    '"',
    "é",
    "a\x1b[1m",
    "x" * 80,
    "rowid",
    "c0",
    "NaN",
)


def csv_text(chance: random.Random) -> bytes:
    """Return a CSV file, sometimes compressed."""
    delimiter = chance.choice((",", ",", ",", ";", "\t", "|", " "))
    end = chance.choice(("\n", "\n", "\n", "\r\n", "\r"))
    width = chance.choice((1, 2, 3, 3, 4, 8))
    names = [chance.choice(NAMES) if chance.random() < 0.3 else f"n{k}" for k in range(width)]
    kinds = [chance.choice(("whole", "real", "word", "odd")) for _ in range(width)]
    lines = [delimiter.join(names)] if chance.random() < 0.95 else []
    for _ in range(chance.choice((0, 1, 2, 5, 12))):
        row = [_cell(kind, chance) for kind in kinds]
        if chance.random() < 0.03:
            row.append("1")
        if chance.random() < 0.1:
            row = [f'"{cell}"' for cell in row]
        lines.append(delimiter.join(row))
    if chance.random() < 0.05:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(("", " ", "# a comment", "a" * 3000)))
    text = end.join(lines) + (end if chance.random() < 0.8 else "")
    if chance.random() < 0.05:
        text = text.replace(end, chance.choice(("\n", "\r\n")), 1)
    return _packed(text, chance)


def arff_text(chance: random.Random) -> bytes:
    """Return an ARFF file, sometimes compressed."""
    width = chance.choice((1, 2, 3, 3, 5))
    kinds = [chance.choice(("whole", "real", "word", "odd")) for _ in range(width)]
    types = {
        "whole": ("integer", "numeric", "real [0, 9]"),
        "real": ("real", "NUMERIC"),
        "word": ("{x,y,z}", "{'x', y, \"z\"}", "string", "{x,y"),
        "odd": ("string", "date", 'date "yyyy-MM-dd"', "{a, 'b c'}", "relational", ""),
    }
    names = [
        chance.choice(("'a b'", '"q\\"x"', "a", "n%", "'o")) if chance.random() < 0.2 else f"n{k}" for k in range(width)
    ]
    lines = ["% a comment", "", "@relation r"][chance.randrange(3) :]
    lines += [f"@attribute {name} {chance.choice(types[kind])}" for name, kind in zip(names, kinds, strict=True)]
    lines += ["@inputs n0", "@outputs n1"] if chance.random() < 0.1 else []
    lines.append(chance.choice(("@data", "@DATA", "@data", "@end")))
    sparse, apart = chance.random() < 0.2, chance.choice((",", ",", ", ", " ,", "\t", " "))
    for _ in range(chance.choice((0, 1, 2, 5, 12))):
        row = ["?" if chance.random() < 0.1 else _cell(kind, chance) for kind in kinds]
        quote = chance.choice(("'", '"', ""))
        row = [quote + cell + quote if chance.random() < 0.3 else cell for cell in row]
        if sparse:
            pairs = [f"{k} {cell}" for k, cell in enumerate(row) if chance.random() < 0.6]
            lines.append("{" + ", ".join(pairs) + "}")
        else:
            lines.append(apart.join(row))
        if chance.random() < 0.1:
            lines.append(chance.choice(("", "% no row", "%", " ", "{}")))
    end = chance.choice(("\n", "\n", "\n", "\r\n", "\r"))
    return _packed(end.join(lines) + end, chance)


def _packed(text: str, chance: random.Random) -> bytes:
    """Return a text in some encoding, sometimes compressed."""
    coding = chance.choice(("utf-8",) * 9 + ("latin-1", "utf-16", "utf-8-sig", "utf-16-be"))
    raw = text.encode(coding, "replace")
    pack = chance.choice((gzip.compress, bz2.compress, lzma.compress))
    return pack(raw) if chance.random() < 0.1 else raw


def _cell(kind: str, chance: random.Random) -> str:
    if kind == "odd" or chance.random() < 0.03:
        return chance.choice(CELLS)
    if kind == "whole":
        return str(chance.randrange(-5, 20))
    return f"{chance.gauss(0, 3):.3g}" if kind == "real" else chance.choice("xyz")


def libsvm_text(chance: random.Random) -> bytes:
    """Return a libsvm file, sometimes compressed."""
    lines = []
    for _ in range(chance.choice((0, 1, 3, 10))):
        at, pairs = 0, []
        for _ in range(chance.randrange(5)):
            at += (
                chance.choice((1, 1, 1, 2, 7, 1000, -1, 10**8, 2**31, 2**63))
                if chance.random() < 0.05
                else chance.randrange(1, 4)
            )
            pairs.append(f"{at}:{_cell(chance.choice(('whole', 'real', 'real', 'odd')), chance)}")
        label = (
            chance.choice(("1", "-1", "+1", "0", "2.5", "1,2", "x", "nan", "1e400", ""))
            if chance.random() < 0.1
            else "1"
        )
        middle = [f"qid:{chance.choice(('1', '-1', 'x'))}"] if chance.random() < 0.05 else []
        lines.append(" ".join([label, *middle, *pairs]) + (" # note" if chance.random() < 0.05 else ""))
    raw = (chance.choice(("\n", "\n", "\r\n")).join(lines) + "\n").encode("utf-8", "replace")
    return gzip.compress(raw, 1) if chance.random() < 0.05 else raw


def json_text(chance: random.Random) -> bytes:
    """Return JSON lines, or an array of objects."""
    width = chance.choice((1, 2, 3, 5))
    names = [chance.choice(NAMES) if chance.random() < 0.3 else f"n{k}" for k in range(width)]
    rows: list[Any] = []
    for _ in range(chance.choice((0, 1, 2, 6))):
        row = {name: chance.choice((1, 2, 0.5, "x", "y", True, None, -3)) for name in names}
        rows.append(changed_tree(row, chance) if chance.random() < 0.3 else row)
    if chance.random() < 0.1:
        return json.dumps(rows).encode()
    return ("\n".join(json.dumps(row) for row in rows) + "\n").encode()


def array_of(chance: random.Random) -> Any:
    """Return an array of some type and shape."""
    dtype = chance.choice(
        (
            "f8",
            "f8",
            "f4",
            ">f8",
            "f2",
            "i8",
            "i4",
            "u8",
            "u1",
            "?",
            "c16",
            "U3",
            "S2",
            "M8[s]",
            "m8[ns]",
            "a,f8",
            "i4,f8,U2",
            "f8,(2,2)f8",
            "g",
        )
    )
    shape = chance.choice(((3, 2), (3, 2), (6, 3), (3,), (), (0, 2), (2, 0), (2, 2, 2)))
    if "," in dtype or dtype == "a,f8":
        dtype, shape = dtype.replace("a,", "S1,"), (4,)
    size = int(np.prod(shape))
    with np.errstate(all="ignore"):
        raw = np.frombuffer(
            bytes(chance.randrange(256) for _ in range(max(1, size * np.dtype(dtype).itemsize))) + bytes(32), "u1"
        )
        if chance.random() < 0.7 and np.dtype(dtype).kind in "fiub":
            values = np.arange(size).astype(dtype)
        else:
            values = np.ndarray(size, dtype, raw.tobytes())
    return np.array(values.reshape(shape), order=chance.choice("CF"))


def npy(chance: random.Random, array: Any = None) -> bytes:
    """Return an array in NumPy's format, its header sometimes written anew with odd parts."""
    array = array_of(chance) if array is None else array
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    raw = file.getvalue()
    if chance.random() < 0.4:
        length = struct.unpack("<H", raw[8:10])[0]
        header, body = raw[10 : 10 + length].decode("latin-1"), raw[10 + length :]
        for _ in range(chance.randrange(1, 3)):
            old, new = chance.choice(
                (
                    ("(3", "(-3"),
                    ("(3", "(30000000000"),
                    ("(", "(" * 300),
                    ("False", "True"),
                    ("False", "0"),
                    ("<f8", "|O"),
                    ("<f8", "<f9"),
                    ("<f8", "<f8,<f8"),
                    ("'<f8'", "[('a','<f8')]"),
                    ("'<f8'", "[('a','<f8'),('a','<f8')]"),
                    ("'<f8'", "[('', '<i4', (9999,9999))]"),
                    ("descr", "desc"),
                    ("{", "{'x':1,"),
                    ("}", ""),
                    (")", "2,)"),
                    ("(", "(None,"),
                    ("3,", "3L,"),
                    ("'<f8'", "('<f8',(2,))"),
                    ("<f8", "<V0"),
                    ("<f8", "V9"),
                    ("<f8", "<U1000000000"),
                    ("'<f8'", "[]"),
                    ("'<f8'", "7"),
                    ("{", "["),
                    (" ", "\x00"),
                    ("3", "3e0"),
                )
            )
            header = header.replace(old, new, 1)
        raw = raw[:8] + struct.pack("<H", len(header) % 65536) + header.encode("latin-1", "replace") + body
    return raw


def npz(chance: random.Random) -> bytes:
    """Return a file of named arrays, or a sparse matrix."""
    file = io.BytesIO()
    if chance.random() < 0.3:
        from scipy import sparse

        matrix = sparse.csr_matrix(np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 3.0]]))
        sparse.save_npz(
            file, matrix.asformat(chance.choice(("csr", "csc", "coo", "dia", "bsr"))), compressed=chance.random() < 0.5
        )
        members = {name: zipfile.ZipFile(file).read(name) for name in zipfile.ZipFile(file).namelist()}
        if chance.random() < 0.7:
            name = chance.choice(sorted(members))
            array = np.load(io.BytesIO(members[name]))
            with np.errstate(all="ignore"):
                other = np.asarray(array).ravel().copy()
                if other.size and other.dtype.kind in "iuf":
                    other[chance.randrange(other.size)] = np.array(chance.choice((0, 1, 5, 100, 127))).astype(
                        other.dtype
                    )
            members[name] = npy(
                chance, chance.choice((other, other[:-1], array_of(chance), other.reshape(array.shape)))
            )
    else:
        members = {}
        for name in chance.choice(
            (("X", "y"), ("X", "y"), ("X",), ("a",), (), ("X", "y", "z"), ("format", "shape", "data"))
        ):
            array = np.arange(3) if name == "y" and chance.random() < 0.6 else np.arange(6.0).reshape(3, 2)
            members[f"{name}.npy"] = npy(chance, array if chance.random() < 0.7 else None)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as written:
        for name, raw in members.items():
            written.writestr(name, raw)
        if chance.random() < 0.05:
            written.writestr("../out.npy", b"x")
    return file.getvalue()


def arrow_table(chance: random.Random) -> Any:
    """Return an Arrow table of several types."""
    rows = chance.choice((0, 1, 5, 5, 40))
    words = [chance.choice(("x", "y", None, "é", "")) for _ in range(rows)]
    whole = [chance.choice((0, 1, -1, 100, None)) for _ in range(rows)]
    makers = {
        "int": lambda: pa.array(whole, chance.choice((pa.int8(), pa.int32(), pa.int64()))),
        "large": lambda: pa.array([abs(v) * 2**56 if v else v for v in whole], pa.uint64()),
        "real": lambda: pa.array(
            [v if v is None else v / 3 for v in whole], chance.choice((pa.float64(), pa.float32()))
        ),
        "text": lambda: pa.array(words, chance.choice((pa.string(), pa.large_string(), pa.string_view()))),
        "codes": lambda: pa.array(["x", "y", None, "x"] * 10)[:rows].dictionary_encode(),
        "flag": lambda: pa.array([None if v is None else v > 0 for v in whole]),
        "date": lambda: pa.array(whole, pa.int64()).cast(pa.timestamp(chance.choice(("s", "us")))),
        "decimal": lambda: pa.array(whole, pa.int64()).cast(pa.decimal128(25, 2)),
        "list": lambda: pa.array([[v, 1] for v in whole], pa.list_(pa.int64())),
        "struct": lambda: (
            pa.array([{"p": v, "q": w} for v, w in zip(whole, words, strict=True)]) if rows else pa.array([], pa.int8())
        ),
        "null": lambda: pa.nulls(rows),
        "bytes": lambda: pa.array([w and w.encode() for w in words], pa.binary()),
    }
    names = chance.sample(sorted(makers), chance.choice((1, 2, 3, 5)))
    return pa.table(
        [makers[name]() for name in names],
        names=[chance.choice(NAMES) if chance.random() < 0.05 else name for name in names],
    )


def arrow(chance: random.Random) -> bytes:
    """Return an Arrow file, an Arrow stream or a Feather file."""
    table, out = arrow_table(chance), io.BytesIO()
    how = chance.choice(("file", "file", "stream", "feather"))
    if how == "feather":
        from pyarrow import feather

        feather.write_feather(table, out, compression=chance.choice(("lz4", "zstd", "uncompressed")))
        return out.getvalue()
    options = pa.ipc.IpcWriteOptions(compression=chance.choice((None, None, "lz4", "zstd")))
    with (pa.ipc.new_file if how == "file" else pa.ipc.new_stream)(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=chance.choice((2, 100)))
    return out.getvalue()


def parquet(chance: random.Random) -> bytes:
    """Return a Parquet file."""
    import pyarrow.parquet as pq

    table, out = arrow_table(chance), io.BytesIO()
    pq.write_table(
        table,
        out,
        compression=chance.choice(("none", "none", "snappy", "gzip", "zstd", "brotli", "lz4")),
        use_dictionary=chance.random() < 0.5,
        version=chance.choice(("1.0", "2.6")),
        row_group_size=chance.choice((2, 100)),
        data_page_version=chance.choice(("1.0", "2.0")),
        store_schema=chance.random() < 0.5,
    )
    return out.getvalue()


def sqlite(chance: random.Random) -> bytes:
    """Return a SQLite database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.sqlite"
        made = sqlite3.connect(path)
        made.execute(f"pragma page_size={chance.choice((512, 512, 1024, 4096))}")
        for table in range(chance.choice((0, 1, 1, 1, 1, 2))):
            width = chance.choice((1, 2, 4))
            types = [chance.choice(("", "integer", "real", "text", "blob", "boolean", "numeric")) for _ in range(width)]
            made.execute(f"create table t{table} ({', '.join(f'c{k} {kind}' for k, kind in enumerate(types))})")
            for _ in range(chance.choice((0, 1, 5, 40))):
                row = [chance.choice((0, 1, 2.5, "x", "y", None, b"z", 2**60, "3", 1e300)) for _ in types]
                made.execute(f"insert into t{table} values ({', '.join('?' * width)})", row)
        if chance.random() < 0.2:
            made.execute("create view v as select 1 as a, 'x' as b")
        made.commit()
        made.close()
        return path.read_bytes()


def duckdb(chance: random.Random) -> bytes:
    """Return a DuckDB database of small blocks."""
    import duckdb as engine

    with tempfile.TemporaryDirectory() as folder:
        made = engine.connect()
        made.execute(f"attach '{folder}/made' as made (block_size 16384)")
        for table in range(chance.choice((0, 1, 1, 1, 1, 2))):
            parts = chance.sample(
                (
                    "i as a",
                    "i / 3.0 as b",
                    "chr(97 + i::int % 3) as c",
                    "i % 2 = 0 as d",
                    "[i, i] as e",
                    "date '2020-01-01' + i::int as f",
                    "{'p': i} as g",
                    "null as h",
                    "i::decimal(20, 3) as k",
                    "repeat('x', i::int % 20) as l",
                ),
                chance.choice((1, 2, 4)),
            )
            rows = chance.choice((0, 1, 9, 300))
            made.execute(f"create table made.t{table} as select {', '.join(parts)} from range({rows}) r(i)")
        if chance.random() < 0.2:
            made.execute("create view made.v as select 1 as a, 'x' as b")
        made.close()
        return (Path(folder) / "made").read_bytes()


def checked_blocks(raw: bytes) -> bytes:
    """Return a DuckDB file with right checksums: of its three headers, and of its blocks."""
    data = bytearray(raw)
    size = 16384
    starts = [0, 4096, 8192, *range(12288, len(data), size)]
    for k, start in enumerate(starts):
        length = 4096 if k < 3 else size
        if start + length <= len(data):
            data[start : start + 8] = _checksum(bytes(data[start + 8 : start + length])).to_bytes(8, "little")
    return bytes(data)


def _checksum(block: bytes) -> int:
    """Return DuckDB's checksum of a block whose length is a multiple of eight."""
    words = np.frombuffer(block, "<u8")
    with np.errstate(over="ignore"):
        return 5381 ^ int(np.bitwise_xor.reduce(words * np.uint64(0xBF58476D1CE4E5B9)))
