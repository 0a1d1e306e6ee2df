"""The reader of plain CSV text: equal to others, whatever the chunks and threads, and silent where it is not sure."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import _core
from separatrix.tables.sources import plain_csv
from separatrix.tables.sources.plain_csv import NotPlain, PlainCsv

CORPUS = Path(__file__).parents[3] / "fuzz" / "corpus" / "csv_core"


def read(text, kinds, n_jobs=1, delimiter=b",", quote=b'"', max_levels=10_000):
    reader = _core.CsvReader(delimiter, quote, kinds, n_jobs, max_levels)
    X, codes = reader.feed(text)
    return X, codes, [reader.levels(k) for k in range(codes.shape[1])]


def as_bits(X, codes, levels):
    return X.tobytes(), codes.tobytes(), levels


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1e6, 1e6).map(lambda v: f"{v:.6f}"),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["0", "-0", "1", "5.", ".5", "1E5", "-1e+3", "9007199254740993", "4.9e-324", ""]),
)
quoted_numbers = st.tuples(numbers, st.booleans()).map(lambda t: f'"{t[0]}"' if t[1] else t[0])
letters = st.characters(exclude_characters='"\n\r\0,', exclude_categories=["Cs"])
names = st.text(letters, max_size=12)
any_names = st.text(st.characters(exclude_characters="\n\r\0", exclude_categories=["Cs"]), max_size=12)
labels = st.one_of(st.sampled_from(["yes", "no", ""]), names)


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


@st.composite
def tables(draw):
    kinds = draw(st.lists(st.sampled_from(["number", "label", "skip"]), min_size=2, max_size=6))
    rows = draw(st.integers(1, 12))
    cells = {
        "number": quoted_numbers,
        "label": labels | any_names.map(quoted),
        "skip": labels | any_names.map(quoted) | numbers,
    }
    table = [[draw(cells[kind]) for kind in kinds] for _ in range(rows)]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return kinds, "".join(",".join(row) + end for row in table).encode()


@settings(max_examples=300, deadline=None)
@given(tables(), st.integers(1, 3))
def test_random_tables_are_read_as_python_reads_them(table, n_jobs):
    kinds, text = table
    X, codes, levels = read(text, kinds, n_jobs)
    rows = list(csv.reader(io.StringIO(text.decode(), newline=""), strict=True))
    assert len(X) == len(codes) == len(rows)
    columns = dict.fromkeys(["number", "label", "skip"], 0)
    for k, kind in enumerate(kinds):
        place, cells = columns[kind], [row[k] for row in rows]
        columns[kind] += 1
        if kind == "number":
            found = [None if math.isnan(value) else value.hex() for value in X[:, place].tolist()]
            assert found == [float(cell).hex() if cell else None for cell in cells]
        if kind == "label":
            found = codes[:, place].tolist()
            assert [levels[place][code].decode() if code >= 0 else "" for code in found] == cells
            used = [code for code in dict.fromkeys(found) if code >= 0]
            assert used == list(range(len(levels[place])))  # in the order of first appearance
    assert X.shape[1] == columns["number"]
    assert codes.shape[1] == len(levels) == columns["label"]


def test_duckdb_reads_the_same(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    cells = ["1", " 1", "1 ", "  -2.5 ", '"3"', '""', "", "+4", ".5", "5.", "1E+5", "1e-400", "-0", "9007199254740993"]
    words = ["x", " x", "x ", '"x"', '"x""y"', '""', "", "NULL", "é", '"a,b"', "1", "x'y", "\t", "#"]
    text = "".join(f"{cell},{word}\n" for cell, word in zip(cells, words, strict=True))
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + text, encoding="utf-8")
    columns = "{'a': 'DOUBLE', 'b': 'VARCHAR'}"
    rows = duckdb.sql(
        f"select * from read_csv('{path}', header=true, delim=',', quote='\"', columns={columns})"
    ).fetchall()
    X, codes, (levels,) = read(text.encode(), ["number", "label"])
    assert [None if math.isnan(value) else value.hex() for value in X[:, 0]] == [
        None if a is None else a.hex() for a, _ in rows
    ]
    assert [levels[code].decode() if code >= 0 else None for code in codes[:, 0]] == [b for _, b in rows]


def big_text(rows, seed=0, end="\n"):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((rows, 3)).round(6)
    late = np.arange(rows) // (rows // 7 + 1)
    return "".join(
        f'{a},{b},{"" if i % 11 == 0 else c},level {late[i]},"{rng.integers(50)}"{end}'
        for i, (a, b, c) in enumerate(values.tolist())
    ).encode()


KINDS = ["number", "number", "number", "label", "label"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_number_of_threads_changes_no_bit_and_no_code(end):
    text = big_text(40_000, end=end)  # some pieces of 256 KiB
    assert len(text) > 1_000_000
    one = as_bits(*read(text, KINDS))
    for n_jobs in (2, 3, 8):
        assert as_bits(*read(text, KINDS, n_jobs)) == one
    X, codes, levels = read(text, KINDS)
    assert X.shape == (40_000, 3)
    assert levels[0] == [f"level {k}".encode() for k in range(7)]
    assert sorted(levels[1], key=int) == [b"%d" % k for k in range(50)]
    assert codes.min() == 0


def test_blocks_of_lines_share_their_levels():
    text = big_text(100)
    whole = as_bits(*read(text, KINDS))
    reader = _core.CsvReader(b",", b'"', KINDS, 2)
    blocks = [reader.feed(line) for line in text.splitlines(keepends=True)]
    X, codes = (np.concatenate(part) for part in zip(*blocks, strict=True))
    assert as_bits(X, codes, [reader.levels(k) for k in range(2)]) == whole
    assert [reader.count(k) for k in range(2)] == [len(reader.levels(k)) for k in range(2)]
    X, codes = reader.feed(b"")
    assert (X.shape, codes.shape) == ((0, 3), (0, 2))


@pytest.mark.parametrize(
    ("text", "kinds", "why"),
    [
        ("1,2\n3\n", "nn", "number of cells"),
        ("1,2\n3,4,5\n", "nn", "number of cells"),
        ("1,a\n3\n", "nl", "number of cells"),
        ("1,a\n3,b,c\n", "nl", "number of cells"),
        ("1,a\n3,b,\n", "nl", "number of cells"),
        ('1,"a"\n3,"b",c\n', "nl", "number of cells"),
        ("1,a\n3\n", "ns", "number of cells"),
        ("1,2\n\n3,4\n", "nn", "a blank line"),
        ("1\n\n", "n", "a blank line"),
        ("1,2\r\n\r\n", "nn", "a blank line"),
        ("x,2\n", "nn", "not a number"),
        ("1x,2\n", "nn", "not a number"),
        ("1,2x\n", "nn", "not a number"),
        (" ,2\n", "nn", "not a number"),
        ("nan,2\n", "nn", "not a number"),
        ("-inf,2\n", "nn", "not a number"),
        ("1e400,2\n", "nn", "not a number"),
        ('"1e400",2\n', "nn", "not a number"),
        ('" 1",2\n', "nn", "not a number"),
        ('"x",2\n', "nn", "not a number"),
        ('"1"2,2\n', "nn", "follows a quoted cell"),
        ('"1,2\n', "nn", "goes on behind its line"),
        ('1,"a\nb"\n', "nl", "goes on behind its line"),
        ('1,"a\nb"\n', "ns", "goes on behind its line"),
        ('1,"a\0b"\n', "nl", "goes on behind its line"),
        ('1,"a" \n', "nl", "follows a quoted cell"),
        ('1, "a"\n', "nl", "a quote inside a cell"),
        ('1,a"b\n', "nl", "a quote inside a cell"),
        ('1,a"b\n', "ns", "a quote inside a cell"),
        ("1,a\0b\n", "nl", "NUL"),
        ("1,2\0\n", "nn", "not a number"),
        ("1,a\rb\n", "nl", "stray line end"),
        ("1,2\r\n3,4\n", "nn", "not a number"),
        ("1,2\n3,4\r\n", "nn", "not a number"),
        ("1,a\r\n3,b\n", "nl", "stray line end"),
        ("1,a\n3,b\r\n", "nl", "stray line end"),
        ("1,2\r\n3,4\r5,6\r\n", "nn", "lines end in different ways"),
        ("1_000,2\n", "nn", "not a number"),
        ("007,2\n", "nn", "a zero in front"),
        ("1, -00 \n", "nn", "a zero in front"),
        ('"+01",2\n', "nn", "not a number"),
        ("1,5;2\n", "nn", "not a number"),
        ("1,2\n3,4", "nn", "the last line has no end"),
        ("\ufeff1,2\n", "nn", "not a number"),
    ],
)
def test_what_is_not_plain_is_left_to_others(text, kinds, why):
    names = {"n": "number", "l": "label", "s": "skip"}
    reader = _core.CsvReader(b",", b'"', [names[kind] for kind in kinds], 2)
    for _ in range(2):  # and again, since the reader is lost
        with pytest.raises(NotPlain, match=why):
            reader.feed(text.encode())


def test_blank_lines_take_no_room_for_their_cells():
    with pytest.raises(NotPlain, match="a row has another number of cells"):
        read(b"\n" * 10_000_000, ["number"] * 100_000)  # 8 TB
    X, _, _ = read(b",,,\n" * 1000, ["number"] * 4)  # the shortest rows
    assert np.isnan(X).all()


def test_too_many_labels_are_left_to_others():
    text = b"".join(b"%d\n" % k for k in range(100))
    assert len(read(text, ["label"], max_levels=100)[2][0]) == 100
    with pytest.raises(NotPlain, match="too many labels"):
        read(text, ["label"], max_levels=99)
    pieces = b"a" * 300_000 + b"\n" + b"b" * 300_000 + b"\n"  # each new label in a piece of its own
    with pytest.raises(NotPlain, match="too many labels"):
        read(pieces, ["label"], n_jobs=2, max_levels=1)


def test_the_first_piece_that_is_not_plain_says_why():
    line = b"1,2\n"
    text = line * 200_000 + b"x,2\n" + line * 200_000 + b"\n" + line * 200_000
    for n_jobs in (1, 2, 3):
        with pytest.raises(NotPlain, match="not a number"):
            read(text, ["number", "number"], n_jobs)


def test_other_delimiters_and_quotes():
    assert read(b"1;'a;b'\n", ["number", "label"], delimiter=b";", quote=b"'")[2] == [[b"a;b"]]
    assert read(b'1\t"a"\n', ["number", "label"], delimiter=b"\t", quote=b"")[2] == [[b'"a"']]
    np.testing.assert_array_equal(read(b"1  2\n", ["number"] * 3, delimiter=b" ")[0], [[1, np.nan, 2]])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"delimiter": b""}, "delimiter must be one byte"),
        ({"delimiter": b"||"}, "delimiter must be one byte"),
        ({"delimiter": b"e"}, "the delimiter may be part of a number"),
        ({"delimiter": b"\0"}, "the delimiter may be part of a number"),
        ({"quote": b'""'}, "quote must be one byte or none"),
        ({"quote": b","}, "the quote may be the delimiter"),
        ({"quote": b"1"}, "the quote may be the delimiter"),
        ({"kinds": []}, "at least one column"),
        ({"kinds": ["text"]}, "a column is a number, a label or one to skip"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
        ({"max_levels": -1}, "max_levels is negative"),
    ],
)
def test_arguments_are_checked(changes, why):
    arguments = {"delimiter": b",", "quote": b'"', "kinds": ["number"], "n_jobs": 1, "max_levels": 5}
    with pytest.raises(ValueError, match=why):
        _core.CsvReader(**(arguments | changes))


def test_levels_of_no_column_are_refused():
    for ask in (_core.CsvReader(b",", b"", ["label"]).levels, _core.CsvReader(b",", b"", ["label"]).count):
        with pytest.raises(ValueError, match="there is no such column of labels"):
            ask(1)


# Files

NAMES = ["a", "b", "c", "when", "which"]


def together(file):
    X, codes = (np.concatenate(part) for part in zip(*file.blocks(), strict=True))
    return X.tobytes(), codes.tobytes(), [file.levels(name) for name in file.label_names]


@pytest.mark.parametrize("header", ["", "a,b,c,when,which\n", '\ufeff"a","b, ""c""",c,when,which\n'])
@pytest.mark.parametrize("last", ["", "\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_is_read_whatever_the_chunks(tmp_path, monkeypatch, header, last, end):
    text = big_text(40, end=end)
    path = tmp_path / "a.csv"
    path.write_bytes(
        header.encode().replace(b"\n", end.encode()) + text[: -len(end)] + last.replace("\n", end).encode()
    )
    X, codes, levels = read(text, KINDS)
    expected = X.tobytes(), codes.tobytes(), [[name.decode() for name in column] for column in levels]
    for chunk in [*range(1, 80, 3), len(path.read_bytes()), 1 << 20]:
        monkeypatch.setattr(plain_csv, "_CHUNK", chunk)
        file = PlainCsv(path, ",", '"', NAMES, KINDS, 2, header=bool(header))
        assert together(file) == expected
        assert together(file) == expected  # once more from the beginning
    assert (file.number_names, file.label_names) == (["a", "b", "c"], ["when", "which"])


def test_a_file_of_a_header_has_no_blocks(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n")
    blocks = list(PlainCsv(path, ",", '"', ["a", "b"], ["number", "label"]).blocks())
    assert sum(len(X) for X, _ in blocks) == 0
    for text in (b"", b"a,b", b"a,b\r1,2\r"):
        path.write_bytes(text)
        with pytest.raises(NotPlain):
            list(PlainCsv(path, ",", '"', ["a", "b"], ["number", "label"]).blocks())


def test_a_file_that_is_not_plain_says_so(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"

    def blocks(text, delimiter=","):
        path.write_bytes(text)
        return list(PlainCsv(path, delimiter, '"', ["a", "b"], ["number", "label"]).blocks())

    with pytest.raises(NotPlain, match="a label is not text in UTF-8"):
        blocks(b"a,b\n1,\xff\n")
    with pytest.raises(NotPlain, match="the header goes on behind its line"):
        blocks(b'a,"b\nc"\n1,x\n')
    with pytest.raises(NotPlain, match="a blank line"):
        blocks(b"a,b\n1,x\n\n")
    with pytest.raises(NotPlain, match="'§' is more than one byte"):
        blocks(b"", "§")
    monkeypatch.setattr(plain_csv, "_CHUNK", 8)
    monkeypatch.setattr(plain_csv, "_LONGEST_LINE", 64)
    with pytest.raises(NotPlain, match="a line is too long"):
        blocks(b"a,b\n1," + b"x" * 100 + b"\n")


def test_names_and_kinds_go_together(tmp_path):
    with pytest.raises(ValueError, match="2 names and 1 kinds of columns differ in number"):
        PlainCsv(tmp_path / "a.csv", ",", '"', ["a", "b"], ["number"])


# Fuzzing


def fuzzed(path):
    """The dialect, kinds and text that fuzz/csv_core.cpp takes from an input, or None."""
    data = path.read_bytes()
    if len(data) < 4:
        return None
    kinds, bits = [], data[1] | 256
    while bits > 3:
        kinds += [] if bits & 3 == 3 else [["number", "label", "skip"][bits & 3]]
        bits >>= 2
    delimiter, quote = [b",", b";", b"\t", b" "][data[0] & 3], [b'"', b"'", b"", b'"'][data[0] >> 2 & 3]
    return delimiter, quote, kinds, data[0] >> 4, data[4:] + b"\n" * (data[3] & 1)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: path.name[:8])
def test_what_fuzzing_found_is_read_the_same_in_any_blocks(path):
    made = fuzzed(path)
    if made is None or not made[2]:
        return
    delimiter, quote, kinds, max_levels, text = made
    outcomes = []
    for n_jobs, blocks in ((1, [text]), (3, [text]), (2, io.BytesIO(text).readlines() or [b""])):
        reader = _core.CsvReader(delimiter, quote, kinds, n_jobs, max_levels)
        try:
            X, codes = (np.concatenate(part) for part in zip(*map(reader.feed, blocks), strict=True))
        except NotPlain:
            outcomes.append(None)
        else:
            outcomes.append(as_bits(X, codes, [reader.levels(k) for k in range(codes.shape[1])]))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_there_is_a_corpus():
    assert any(CORPUS.glob("*"))
