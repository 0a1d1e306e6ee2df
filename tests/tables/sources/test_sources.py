"""Every kind of file gives the same table; whatever is wrong is one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.sources.opening import open_source
from source_tables import KINDS, NAMES, TABLE, WHOLE, WRITERS, N, csv_text, json_text, zstd


def read(where, names=None, **options):
    with open_source(str(where) if where is not None else None, **options) as source:
        wanted = names or [column.name for column in source.columns]
        return pa.Table.from_batches(list(source.batches(wanted)))


def refusal(where, text=None, **options):
    """Return the sentence with which a file is refused, at opening or at the first batch."""
    if text is not None:
        Path(where).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=r"\S") as caught:
        read(where, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message.replace(str(Path(where).parent) + os.sep, "") if where is not None else message


@pytest.mark.parametrize("name", list(WRITERS))
@pytest.mark.parametrize("frugal", [False, True])
def test_every_format_gives_the_same_table(written, name, frugal):
    with open_source(str(written / name), frugal=frugal) as source:
        assert isinstance(source, TableSource)
        assert source.name == str(written / name)
        assert [column.name for column in source.columns] == NAMES
        lite = name in ("t.sqlite", "u.db")  # SQLite keeps dates as text
        assert [column.kind for column in source.columns] == ([*KINDS[:4], "text"] if lite else KINDS)
        assert [column.whole for column in source.columns] == WHOLE
        assert source.n_rows in (None, N)
        if name.endswith(("parquet", "arrow", "duckdb", "sqlite")):
            assert source.n_rows == N
        found = pa.Table.from_batches(list(source.batches(NAMES)))
        assert found.schema.types[:4] == TABLE.schema.types[:4]
        assert found.column_names == NAMES
        expected = TABLE.to_pydict()
        if lite:
            expected["day"] = [None if day is None else str(day) for day in expected["day"]]
        assert found.to_pydict() == expected
        assert source.fraction() in (None, pytest.approx(1.0, abs=0.35))


@pytest.mark.parametrize("name", list(WRITERS))
def test_batches_of_any_size_and_any_columns_hold_the_same_rows(written, name):
    with open_source(str(written / name)) as source:
        names = ["count", "x", "count"]
        for rows in (1, 7, 64, 1000):
            batches = list(source.batches(names, rows=rows))
            assert all(0 < batch.num_rows <= rows for batch in batches)
            found = pa.Table.from_batches(batches)
            assert found.column_names == names
            assert found.column(0).to_pylist() == found.column(2).to_pylist() == TABLE["count"].to_pylist()
            assert found.column(1).to_pylist() == TABLE["x"].to_pylist()
        with pytest.raises(ValueError, match=r"has no column 'z'; its columns are x, count, ok, .*, day"):
            next(source.batches(["z"]))


def test_two_passes_at_once_do_not_disturb_each_other(written):
    for name in ("t.csv", "t.parquet", "t.arrow", "t.sqlite", "t.jsonl"):
        with open_source(str(written / name)) as source:
            one, two = source.batches(["count"], rows=10), source.batches(["x"], rows=10)
            pairs = list(zip(one, two, strict=True))
            assert [v for batch, _ in pairs for v in batch.column(0).to_pylist()] == TABLE["count"].to_pylist()
            assert [v for _, batch in pairs for v in batch.column(0).to_pylist()] == TABLE["x"].to_pylist()


def test_numbers_of_other_widths_come_as_floats_or_whole_numbers(tmp_path):
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "unsigned": pa.array([2**64 - 1, 1], pa.uint64()),
            "single": pa.array([1.5, None], pa.float32()),
            "money": pa.array([1, None], pa.decimal128(10, 2)),
            "name": pa.array(["a", "b"]).dictionary_encode(),
            "list": pa.array([[1], None], pa.list_(pa.int64())),
            "bytes": pa.array([b"x", None], pa.binary()),
            "when": pa.array([0, None], pa.timestamp("us")),
            "nothing": pa.array([None, None], pa.null()),
        }
    )
    to_parquet, to_arrow = tmp_path / "a.parquet", tmp_path / "a.arrow"
    pa.parquet.write_table(table, to_parquet)
    with pa.ipc.new_file(str(to_arrow), table.schema) as sink:
        sink.write_table(table)
    for path in (to_parquet, to_arrow):
        with open_source(str(path)) as source:
            kinds = {column.name: (column.kind, column.whole) for column in source.columns}
            kinds.pop("nothing")
            assert kinds == {
                "small": ("number", True),
                "unsigned": ("number", False),
                "single": ("number", False),
                "money": ("number", False),
                "name": ("text", False),
                "list": ("other", False),
                "bytes": ("other", False),
                "when": ("date", False),
            }
            names = ["small", "unsigned", "single", "money", "name"]
            found = pa.Table.from_batches(list(source.batches(names)))
            assert found.schema.types == [pa.int64(), pa.float64(), pa.float64(), pa.float64(), pa.string()]
            assert found.to_pylist()[0] == {"small": 1, "unsigned": 2.0**64, "single": 1.5, "money": 1.0, "name": "a"}
            assert found.to_pylist()[1]["money"] is None


def test_csv_cells_are_typed_by_all_their_rows(tmp_path):
    path = tmp_path / "a.csv"
    rows = 30_000
    path.write_text("a,b,c,d,e\n" + "1,1,true,2024-01-01,\n" * rows + "x,2.5,maybe,2024-01-01T10:00,7\n")
    with open_source(str(path)) as source:
        assert [(column.kind, column.whole) for column in source.columns] == [
            ("text", False), ("number", False), ("text", False), ("date", False), ("number", True),
        ]  # fmt: skip
        last = list(source.batches(["a", "b", "c", "e"]))[-1].to_pylist()[-1]
        assert last == {"a": "x", "b": 2.5, "c": "maybe", "e": 7}


def test_words_for_yes_and_no_stay_text_and_marks_for_missing_are_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("label,x,n\nyes,NA,1_000\nno,1.5,2\n,NaN,3\n")
    found = read(path)
    assert found.to_pydict() == {"label": ["yes", "no", None], "x": [None, 1.5, None], "n": ["1_000", "2", "3"]}


def test_whole_numbers_beyond_64_bits_are_floats(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n9223372036854775807,9223372036854775808\n-9223372036854775808,1\n")
    found = read(path)
    assert found.schema.types == [pa.int64(), pa.float64()]
    assert found["a"].to_pylist() == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("text", "names", "row"),
    [
        ("a\n1\n2\n", ["a"], {"a": 1}),
        ("\n\na,b\n1,2\n", ["a", "b"], {"a": 1, "b": 2}),
        ("a;b\n1,5;x\n2,5;y\n", ["a", "b"], {"a": "1,5", "b": "x"}),
        ("name,city\njo,rome\nal,oslo\n", ["name", "city"], {"name": "jo", "city": "rome"}),
        (' a , "b, c" \n1,2\n'.replace(' "', '"').replace('" ', '"'), ["a", "b, c"], {"a": 1, "b, c": 2}),
        ('a,b\r\n1,"x\r\ny"\r\n2,z\r\n', ["a", "b"], {"a": 1, "b": "x\r\ny"}),
        ("a,A\n1,2\n", ["a", "A"], {"a": 1, "A": 2}),
        ("# a,b\n1,2\n", ["# a", "b"], {"# a": 1, "b": 2}),
        ("a,b\n1,2", ["a", "b"], {"a": 1, "b": 2}),
    ],
)
def test_headers_and_delimiters_of_many_ways_are_understood(tmp_path, text, names, row):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    found = read(path)
    assert found.column_names == names
    assert found.to_pylist()[0] == row


def test_a_delimiter_can_be_given(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b\n1 2\n")
    assert read(path, delimiter=" ").to_pylist() == [{"a": 1, "b": 2}]
    path.write_text("a\tb,c\n1\t2\n")
    assert read(path, delimiter="\\t").to_pylist() == [{"a": 1, "b,c": 2}]
    assert refusal(path, delimiter="ab") == "the delimiter must be one character other than a quote; got 'ab'"


TEXTS = {
    "empty.csv": ("", "empty.csv is empty"),
    "blank.csv": ("\n\n", "blank.csv is empty: it has blank lines only"),
    "header.csv": ("a,b\n", "header.csv has a header line and no rows"),
    "bare.csv": ("a,b", "bare.csv has a header line and no rows"),
    "numbers.csv": (
        "1,2\n3,4\n",
        "the first line of numbers.csv has numbers only; give --no-header if it is data, or put a line with the names "
        "of the columns before it",
    ),
    "short.csv": ("a,b,c\n" + "1,2,3\n" * 5 + "1,2\n1,2,3\n", "short.csv, line 7: 2 cells where the header has 3"),
    "long.csv": ("a,b,c\n" + "1,2,3\n" * 5 + "1,2,3,4\n", "long.csv, line 7: 4 cells where the header has 3"),
    "noname.csv": (",,a\n1,2,3\n", "noname.csv has no name for column 1 in its header line"),
    "quote.csv": (
        'a,b\n1,"x"\n2,"y\n3,z\n',
        "quote.csv, line 3: unclosed quote; if quotes are plain text in this file, give --no-quotes",
    ),
    "half.csv": (
        "a,b\n1,2\n".encode("utf-16")[:-1],
        "half.csv: the text is not utf-16, from about line 2 on; give another --encoding",
    ),
    "binary.csv": (bytes(range(256)) * 20, "binary.csv is not text; a CSV file is needed"),
    "line.csv": (
        "a,b\n1,2\n1," + "x" * 3_000_000 + "\n",
        "line.csv, line 3: the line is longer than 2,000,000 bytes, the most that can be read; is a quote unclosed, or "
        "is the file not CSV?",
    ),
    "line.csv.gz": (
        gzip.compress(b"a,b\n1,2\n1," + b"x" * 3_000_000 + b"\n", 1),
        "line.csv.gz, line 3: the line is longer than 2,000,000 bytes, the most that can be read; is a quote unclosed, "
        "or is the file not CSV?",
    ),
    "open.csv.gz": (
        gzip.compress(b'a,b\n1,2\n1,"x' + b"x,1\n" * 1_000_000, 1),
        "open.csv.gz, line 3: the line is longer than 2,000,000 bytes, the most that can be read; is a quote unclosed, "
        "or is the file not CSV?",
    ),
    "header-line.csv": (
        "a," + "x" * 20_000_000,
        "header-line.csv: the header line is longer than 2,000,000 bytes, the most that can be read; is a quote "
        "unclosed, or is the file not CSV?",
    ),
    "nul.csv": ("a,b\n" + "1,2\n" * 300_000 + "1,\0\n", "nul.csv, line 300002: a zero byte; a CSV file is text"),
    "after.csv": (
        'a,b\n1,2\n1,"x"y\n',
        "after.csv, line 3: text follows the closing quote of 'x'; a quote inside a cell must be doubled; if quotes "
        "are plain text in this file, give --no-quotes",
    ),
    "open-header.csv": (
        'a,"b\n1,2\n',
        "open-header.csv, line 1: unclosed quote; if quotes are plain text in this file, give --no-quotes",
    ),
    "one.csv": ("a\n", "one.csv has a header line and no rows"),
    "short-crlf.csv": ("a,b\r\n1,2\r\n1\r\n", "short-crlf.csv, line 3: 1 cell where the header has 2"),
    "short-cr.csv": ("a,b\r1,2\r1\r", "short-cr.csv, line 3: 1 cell where the header has 2"),
    "short-mixed.csv": ("\na,b\r1,2\r\n3,4\n1\r", "short-mixed.csv, line 5: 1 cell where the header has 2"),
    "short-quoted.csv": ('a,b\n1,"x\ny\rz"\n1\n', "short-quoted.csv, line 5: 1 cell where the header has 2"),
    "fake.csv.gz": ("a,b\n1,2\n", "fake.csv.gz is not a .gz file"),
    "cut.csv.gz": (gzip.compress(os.urandom(50_000))[:-20_000], "cut.csv.gz is truncated: its gz data end early"),
    "fake.csv.xz": ("a,b\n1,2\n", "fake.csv.xz is not a .xz file"),
    "cut.csv.bz2": (bz2.compress(os.urandom(50_000))[:-20_000], "cut.csv.bz2 is truncated: its bz2 data end early"),
    "cut.csv.xz": (lzma.compress(os.urandom(50_000))[:-20_000], "cut.csv.xz is truncated: its xz data end early"),
    "damaged.csv.xz": (
        lzma.compress(b"a,b\n1,2\n")[:-30] + bytes(30),
        "damaged.csv.xz is damaged: the xz data cannot be unpacked (Corrupt input data)",
    ),
    "more.csv.bz2": (
        bz2.compress(b"a,b\n1,2\n") + b"more",
        "more.csv.bz2 is damaged: something other than bz2 data follows the bz2 data, or they are damaged",
    ),
    "empty.csv.xz": (lzma.compress(b""), "empty.csv.xz is empty"),
    "cut.csv.zst": (zstd(os.urandom(50_000))[:-20_000], "cut.csv.zst is truncated: its zst data end early"),
    "inner.parquet.gz": (
        gzip.compress(b"PAR1" * 9),
        "inner.parquet.gz is a parquet file compressed with gzip; decompress it first",
    ),
    "bad.jsonl": ('{"a":1}\n' * 4 + '{"a":2\n{"a":3}\n', "bad.jsonl, line 5: this is not a JSON object"),
    "word.jsonl": ('{"a":1}\n\nnonsense\n{"a":3}\n', "word.jsonl, line 3: this is not a JSON object"),
    "list.jsonl": ("1\n2\n", "list.jsonl has no JSON objects; one object per line is needed"),
    "book.xlsx": (b"PK\x03\x04" + b"x" * 300, "book.xlsx is a zip archive; save the sheet as CSV"),
    "other.db": ("hello", "other.db is neither a SQLite nor a DuckDB database"),
    "junk.npy": (b"\x93NUMPYxxxxxx", None),
    "junk.npz": (b"PK\x03\x04xxxxxx", None),
    "junk.parquet": (b"PAR1" + b"x" * 50, None),
    "junk.arrow": (b"ARROW1" + b"x" * 50, None),
    "junk.duckdb": (b"x" * 5000, None),
    "junk.sqlite": (b"SQLite format 3\x00" + b"x" * 5000, None),
}
BEGINNINGS = {
    "junk.npy": "junk.npy is not a whole file of NumPy arrays",
    "junk.npz": "junk.npz is not a whole file of NumPy arrays",
    "junk.parquet": "junk.parquet is not a whole Parquet file",
    "junk.arrow": "junk.arrow is not a whole Arrow file",
    "junk.duckdb": "junk.duckdb cannot be opened as a DuckDB database",
    "junk.sqlite": "junk.sqlite is not a whole SQLite database",
}


@pytest.mark.parametrize("name", list(TEXTS))
@pytest.mark.parametrize("frugal", [False, True])
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path, monkeypatch, name, frugal):
    for module in ("csv_rows", "csv_files"):
        monkeypatch.setattr(f"separatrix.tables.sources.{module}.LONGEST_LINE", 2_000_000)
    text, sentence = TEXTS[name]
    found = refusal(tmp_path / name, text, frugal=frugal)
    if sentence is None:
        assert found.startswith(BEGINNINGS[name])
    else:
        assert found == sentence


def test_a_packed_file_cut_far_from_its_beginning_is_cut_short(tmp_path):
    text = b"a,b\n" + b"".join(b"%d,%d\n" % (k, k * 7919 % 10007) for k in range(150_000))
    packers = {"gz": gzip.compress, "zst": zstd, "bz2": bz2.compress, "xz": lzma.compress}
    for ending, pack in packers.items():
        sentence = refusal(tmp_path / f"a.csv.{ending}", pack(text)[:-300])
        assert sentence.startswith((f"a.csv.{ending} is truncated: its {ending} data end early", "a.csv.gz, line 1"))


def test_a_parquet_file_cut_short_is_refused(written, tmp_path):
    raw = (written / "t.parquet").read_bytes()
    assert refusal(tmp_path / "a.parquet", raw[:-100]).startswith("a.parquet is not a whole Parquet file")
    assert refusal(tmp_path / "b.parquet", raw[:300] + bytes(300) + raw[600:]).startswith("b.parquet ")
    raw = (written / "t.arrow").read_bytes()
    assert refusal(tmp_path / "a.arrow", raw[:-100]).startswith("a.arrow is not a whole Arrow file")
    raw = (written / "t.ipc").read_bytes()
    assert refusal(tmp_path / "b.ipc", raw[: len(raw) // 2]).startswith("b.ipc is not a whole Arrow file")


def test_files_that_are_not_there_are_named_with_a_near_one(tmp_path):
    (tmp_path / "penguins.csv").write_text("a\n1\n")
    assert refusal(tmp_path / "pengiuns.csv") == "there is no file pengiuns.csv; did you mean penguins.csv?"
    assert refusal(tmp_path / "zzz.parquet") == "there is no file zzz.parquet"
    assert refusal(tmp_path / "none-*.csv") == "no file matches the pattern none-*.csv"
    assert refusal(tmp_path / "no" / "folder.csv") == "there is no file folder.csv"
    with pytest.raises(ValueError, match="is a URL; only local files can be read"):
        open_source("https://example.org/a.csv")
    with pytest.raises(ValueError, match="is empty or has a zero byte"):
        open_source("a\0b.csv")
    with pytest.raises(ValueError, match="no data: give a file, or SQL"):
        open_source(None)


def test_folders_are_read_only_for_their_parquet_files(tmp_path):
    folder = tmp_path / "x.csv"
    folder.mkdir()
    assert refusal(folder) == "x.csv is a folder without Parquet files"
    (folder / "a.parquet").write_bytes(b"")
    assert "a.parquet is empty" in refusal(folder)


def test_a_file_without_permission_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    if os.geteuid() == 0:  # root may read everything
        monkeypatch.setattr("builtins.open", lambda *_, **__: (_ for _ in ()).throw(PermissionError(13, "denied")))
    else:
        path.chmod(0)
    with pytest.raises(ValueError, match=r"a\.csv cannot be read: permission denied"):
        open_source(str(path))


def test_parquet_folders_with_partitions_are_one_table(tmp_path):
    for year in (2023, 2024):
        for part in range(2):
            folder = tmp_path / "data" / f"year={year}"
            folder.mkdir(parents=True, exist_ok=True)
            pa.parquet.write_table(pa.table({"x": [year + part / 2]}), folder / f"{part}.parquet")
    (tmp_path / "data" / "_hidden.parquet").write_bytes(b"no")
    for where in (tmp_path / "data", tmp_path / "data" / "*" / "*.parquet", tmp_path / "data" / "**" / "[01].parquet"):
        with open_source(str(where)) as source:
            assert [column.name for column in source.columns] == ["x", "year"]
            assert source.columns[1].kind == "number"
            assert source.n_rows == 4
            found = pa.Table.from_batches(list(source.batches(["x", "year"])))
        assert found.to_pydict() == {"x": [2023, 2023.5, 2024, 2024.5], "year": [2023, 2023, 2024, 2024]}


def test_a_pattern_of_csv_files_is_one_table_with_one_header(tmp_path):
    (tmp_path / "a1.csv").write_text("x,y\n1,a\n2,\n")
    (tmp_path / "a2.csv").write_text("x,y\n2.5,b\n")
    assert read(tmp_path / "a*.csv").to_pydict() == {"x": [1, 2, 2.5], "y": ["a", None, "b"]}
    (tmp_path / "a3.csv").write_text("y,x\nc,3\n")
    sentence = refusal(tmp_path / "a?.csv")
    assert sentence == "a3.csv has other columns than a1.csv; files read together need the same"
    (tmp_path / "a3.csv").write_text("x,y\n1,c\n1,2,3\n")
    assert refusal(tmp_path / "a?.csv") == "a3.csv, line 3: 3 cells where the header has 2"
    (tmp_path / "a3.parquet").write_bytes(b"PAR1")
    assert refusal(tmp_path / "a*").endswith("are of several kinds (csv, parquet); read one kind at a time")


def stdin_of(raw):
    return io.TextIOWrapper(io.BytesIO(raw))


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.csv.zst", "t.parquet", "t.arrow", "t.ipc", "t.jsonl", "t.duckdb"]
)
def test_standard_input_is_known_by_what_it_holds(written, name, monkeypatch):
    monkeypatch.setattr("sys.stdin", stdin_of((written / name).read_bytes()))
    source = open_source("-")
    assert source.name == "standard input"
    for _ in range(2):
        assert pa.Table.from_batches(list(source.batches(NAMES))).to_pydict() == TABLE.to_pydict()
    told = source.fingerprint()
    source.close()
    monkeypatch.setattr("sys.stdin", stdin_of((written / name).read_bytes()))
    with open_source("-") as again:
        assert again.fingerprint() == told is not None


def test_standard_input_in_a_process_of_its_own_leaves_nothing_behind(written, tmp_path):
    script = (
        "from separatrix.tables.sources.opening import open_source\n"
        "with open_source('-', sql='select sum(x) as s from data') as source: print(next(source.batches(['s'])))"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with open(written / "t.csv", "rb") as file:
        ran = subprocess.run(
            [sys.executable, "-c", script], stdin=file, capture_output=True, env=environment, check=True, timeout=120
        )
    assert b"s: double" in ran.stdout
    assert list(tmp_path.iterdir()) == []


def test_errors_of_standard_input_name_it(monkeypatch):
    for text, sentence in [
        (b"", "standard input is empty"),
        (b"a,b\n1,2\n1\n", "standard input, line 3: 1 cell where the header has 2"),
        (b'{"a":1}\n{"a"\n', "standard input, line 2: this is not a JSON object"),
    ]:
        monkeypatch.setattr("sys.stdin", stdin_of(text))
        with pytest.raises(ValueError, match=r"\S") as caught:
            open_source("-")
        assert str(caught.value) == sentence


names = (
    st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=12)
    .map(str.strip)
    .filter(bool)
)


def is_number(text):
    try:
        return float(text) is not None
    except ValueError:
        return False


@given(st.lists(names, min_size=2, max_size=4, unique=True))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_columns_may_have_any_name(tmp_path, columns):
    rows = {name: [float(k), k + 0.5] for k, name in enumerate(columns)}
    path = tmp_path / "a.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in columns)
    body = "".join(",".join(str(values[k]) for values in rows.values()) + "\n" for k in range(2))
    path.write_bytes(f"{header}\n{body}".encode())
    if not all(is_number(name) for name in columns):
        assert read(path, columns).to_pydict() == rows
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps({key: values[k] for key, values in rows.items()}) + "\n" for k in range(2)))
    if len({name.lower() for name in columns}) == len(columns) and columns != ["json"]:
        assert read(lines, columns).to_pydict() == rows


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=20))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_may_have_any_name(tmp_path, name):
    path = tmp_path / f"{name}.csv"
    other = tmp_path / "other"
    other.mkdir(exist_ok=True)
    path.write_text("a,b\n1,x\n")
    assert read(path).to_pylist() == [{"a": 1, "b": "x"}]
    assert read(path, sql="select b, a from data").to_pylist() == [{"b": "x", "a": 1}]
    path.unlink()


@pytest.mark.parametrize("name", ["st*r.csv", "q?.csv", "b[1].csv", "it's.csv", "new\nline.csv", "a') ; drop.csv"])
def test_a_file_named_like_a_pattern_is_that_file(tmp_path, name):
    for other in ("star.csv", "qq.csv", "b1.csv"):
        (tmp_path / other).write_text("a\n2\n")
    (tmp_path / name).write_text("a\n1\n")
    assert read(tmp_path / name).to_pydict() == {"a": [1]}
    assert "\n" not in refusal(tmp_path / name, "a,b\n1\n")


def test_fingerprints_change_with_the_file_and_only_then(tmp_path, written):
    for name in WRITERS:
        path = tmp_path / name
        path.write_bytes((written / name).read_bytes())
        with open_source(str(path)) as source:
            first = source.fingerprint()
            assert first == source.fingerprint() is not None
        with open_source(str(path)) as source:
            assert source.fingerprint() == first
        os.utime(path, ns=(1, 1))
        with open_source(str(path)) as source:
            assert source.fingerprint() != first


def test_arrays_are_matrices_in_blocks(tmp_path):
    X = np.arange(60, dtype=np.float32).reshape(20, 3)
    y = np.array(["a", "b"] * 10)
    np.save(tmp_path / "a.npy", np.asfortranarray(X))
    np.savez(tmp_path / "a.npz", X=X, y=y)
    np.savez_compressed(tmp_path / "b.npz", X=X.astype(">i2"))
    sparse.save_npz(tmp_path / "s.npz", sparse.csc_matrix(X))
    for name, labelled, thin in [
        ("a.npy", False, False),
        ("a.npz", True, False),
        ("b.npz", False, False),
        ("s.npz", False, True),
    ]:
        with open_source(str(tmp_path / name)) as source:
            assert isinstance(source, MatrixSource)
            assert (source.labelled, source.sparse, source.width, source.n_rows) == (labelled, thin, 3, 20)
            for rows in (1, 7, 50):
                blocks = list(source.blocks(rows))
                parts = [block.toarray() if thin else block for block, _ in blocks]
                np.testing.assert_array_equal(np.vstack(parts), X)
                assert all(part.dtype == np.float64 for part in parts)
                assert source.fraction() == 1.0
                if labelled:
                    assert [label for _, labels in blocks for label in labels] == list(y)
                else:
                    assert all(labels is None for _, labels in blocks)
            assert source.fingerprint() is not None


def test_structured_arrays_are_tables(tmp_path):
    kind = [("x", ">f8"), ("n", "i4"), ("ok", "?"), ("name", "U5")]
    np.save(tmp_path / "a.npy", np.array([(1.5, 2, True, "é"), (2.5, 3, False, "b")], dtype=kind))
    found = read(tmp_path / "a.npy")
    assert found.schema.types == [pa.float64(), pa.int64(), pa.bool_(), pa.string()]
    assert found.to_pylist()[0] == {"x": 1.5, "n": 2, "ok": True, "name": "é"}


def test_arrays_that_are_no_matrix_are_refused(tmp_path):
    for name, array, sentence in [
        ("flat.npy", np.arange(3), "flat.npy has an array of 1 dimensions; two are needed (rows and columns)"),
        ("text.npy", np.array([["a"]]), "text.npy has values of type <U1; numbers are needed"),
        ("things.npy", np.array([[None]]), "things.npy has Python objects; only arrays of numbers can be read"),
        ("none.npy", np.empty((0, 3)), "none.npy has an empty matrix of shape (0, 3)"),
    ]:
        np.save(tmp_path / name, array)
        assert refusal(tmp_path / name) == sentence
    np.savez(tmp_path / "a.npz", A=np.eye(2))
    assert refusal(tmp_path / "a.npz") == "a.npz has no array X; its arrays are A"
    np.savez(tmp_path / "b.npz", X=np.eye(2), y=np.ones(3))
    assert refusal(tmp_path / "b.npz") == "b.npz has 2 rows in X and a y of shape (3,)"
    assert refusal(tmp_path / "b.npz", sql="select 1").startswith("b.npz has 2 rows")
    np.save(tmp_path / "c.npy", np.eye(2))
    assert refusal(tmp_path / "c.npy", sql="select 1") == "c.npy has no named columns; SQL needs a table"


def test_a_late_cell_of_a_large_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.sources.csv_files.CHEAP", 1000)
    monkeypatch.setattr("separatrix.tables.sources.csv_files._PART", 1000)
    monkeypatch.setattr("separatrix.tables.sources.csv_rows._PIECE", 1 << 12)
    start = "a,b,c\n" + "1,2,2024-01-01\n" * 5000
    path = tmp_path / "a.csv"
    for line, column, found, wanted in [("1,x,", "b", "x", "a number"), ("1,2,soon", "c", "soon", "a date or time")]:
        sentence = refusal(path, f"{start}{line}\n")
        assert sentence == (
            f"a.csv, line 5002, column '{column}': '{found}' is not {wanted}; fix the cell, or leave it empty if the "
            "value is missing"
        )
    path.write_text(f"{start}2.5,2,\n")  # a number all the same
    with open_source(str(path)) as source:
        assert [value for batch in source.batches(["a"]) for value in batch.column(0).to_pylist()][-2:] == [1, 2.5]
    path.write_text(f"{start},-7,\n8,,\n")
    with open_source(str(path)) as source:
        for rows in (5, 1000, 65536):
            found = pa.Table.from_batches(list(source.batches(["a", "b"], rows=rows)))
            assert found.schema.types == [pa.float64(), pa.float64()]
            assert found.to_pydict() == {"a": [1] * 5000 + [None, 8], "b": [2] * 5000 + [-7, None]}


def test_a_late_value_of_a_large_json_file_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.sources.json_files.CHEAP", 1000)
    text = '{"a":1}\n' * 250_000 + '{"a":"z"}\n'
    sentence = refusal(tmp_path / "a.jsonl", text)
    assert sentence.startswith("a.jsonl, line 250001: a value is not of the type of its column")


def test_the_progress_of_a_csv_file_is_told_as_it_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "".join(f"{k},{k * 7}\n" for k in range(100_000)))
    for raw in (path.read_bytes(), gzip.compress(path.read_bytes())):
        packed = tmp_path / ("b.csv.gz" if raw[:2] == b"\x1f\x8b" else "b.csv")
        packed.write_bytes(raw)
        with open_source(str(packed)) as source:
            seen = [source.fraction() for _ in source.batches(["a"], rows=2048)]
        assert seen == sorted(seen)
        assert seen[len(seen) // 2] == pytest.approx(0.5, abs=0.1)
        assert seen[-1] == pytest.approx(1.0, abs=0.1)


def test_ctrl_c_surfaces_as_keyboard_interrupt():
    script = """
import os, signal, threading
from separatrix.tables.sources.opening import open_source
signal.signal(signal.SIGINT, signal.default_int_handler)
slow = "select sum(a.range * b.range) as s from range(1000000) a, range(1000000) b"
with open_source(None, sql=slow) as source:
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    try:
        next(source.batches(["s"]))
    except KeyboardInterrupt:
        print("stopped")
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout == "stopped\n"


def test_opening_a_source_imports_engines_only_on_use():
    script = (
        "import sys, separatrix.tables.sources.opening\n"
        "print(sorted({'duckdb', 'pyarrow', 'pandas'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.strip() == "[]"


def test_sqlite_columns_are_what_their_values_are(tmp_path):
    path = tmp_path / "a.sqlite3"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("create table t (a, b integer, c, d, e, f boolean)")
        rows = [(1, 1, 1, None, b"x", 1), (2.5, 2, "two", None, None, 0), (None, None, 3.5, None, "y", 2)]
        connection.executemany("insert into t values (?, ?, ?, ?, ?, ?)", rows)
    connection.close()
    with open_source(str(path)) as source:
        assert [(column.kind, column.whole) for column in source.columns] == [
            ("number", False), ("number", True), ("text", False), ("text", False), ("other", False), ("number", True),
        ]  # fmt: skip
        found = pa.Table.from_batches(list(source.batches(["a", "b", "c", "d", "e"])))
    assert found.to_pydict() == {
        "a": [1.0, 2.5, None], "b": [1, 2, None], "c": ["1", "two", "3.5"], "d": [None] * 3, "e": [b"x", None, b"y"],
    }  # fmt: skip


def test_text_of_the_same_kind_can_be_told_from_another(tmp_path):
    (tmp_path / "lines").write_bytes(json_text())
    (tmp_path / "cells").write_bytes(csv_text())
    assert read(tmp_path / "lines").to_pydict() == TABLE.to_pydict()
    assert read(tmp_path / "cells").to_pydict() == TABLE.to_pydict()
