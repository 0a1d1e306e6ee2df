"""CSV files of any kind: equal to Python's reader and to DuckDB's, whatever the blocks, threads and line ends."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from separatrix import _core
from separatrix._core import CsvProblem
from separatrix.tables.sources import csv_rows
from separatrix.tables.sources.cells import MISSING_CELLS
from separatrix.tables.sources.opening import open_source

CORPUS = Path(__file__).parents[3] / "fuzz" / "corpus" / "csv"
KINDS = ["number", "whole", "flag", "text", "skip"]
letters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.one_of(
    st.sampled_from(["a", "", 'x"y', "x,y", "x\ny", "x\r\ny", "x\ry", " x ", "NA", "é", "\u3000"]),
    st.text(letters, max_size=6),
)
VALUES = {
    "number": st.one_of(st.floats().map(repr), st.sampled_from(["", "NA", "1", " 2.5 ", "-inf", "1e400", "3\u00a0"])),
    "whole": st.one_of(st.integers(-(2**63), 2**63 - 1).map(str), st.sampled_from(["", "null", " 7"])),
    "flag": st.sampled_from(["true", "False", "TRUE", "", "NaN"]),
    "text": texts,
    "skip": texts,
}


def written(cell, quote):
    """A cell as a file may write it."""
    if quote or any(letter in cell for letter in '",\r\n') or cell.startswith(" "):
        return '"' + cell.replace('"', '""') + '"'
    return cell


@st.composite
def tables(draw):
    """Kinds of columns, rows of cells, and a text with line ends of all kinds."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=5))
    rows = draw(st.lists(st.tuples(*(VALUES[kind] for kind in kinds)), min_size=1, max_size=8))
    ends = st.sampled_from(["\n", "\r\n", "\r"])
    quote = draw(st.booleans())
    blank = draw(st.booleans())
    text = "".join(
        ",".join(written(cell, quote) for cell in row) + draw(ends) + (draw(ends) if blank else "")
        for row in [[f"c{k}" for k in range(len(kinds))], *rows]
    )
    return kinds, rows, text.encode()


def cut(text, sizes):
    """Text in blocks of these sizes, over and over."""
    blocks, at, k = [], 0, 0
    while at < len(text):
        blocks.append(text[at : at + sizes[k % len(sizes)]])
        at, k = at + sizes[k % len(sizes)], k + 1
    return blocks


def columns(blocks, kinds, n_jobs=1, delimiter=b","):
    """The columns of a text in blocks, as lists."""
    reader = _core.CsvColumns(delimiter, kinds, n_jobs)
    reader.begin(1)
    order = [place for kind in KINDS[:4] for place, k in enumerate(kinds) if k == kind]
    out = {place: [] for place in order}
    for block in [*blocks, b""]:
        for place, array in zip(order, csv_rows._arrays(*reader.feed(block, not block)), strict=True):
            array.validate(full=True)
            out[place] += array.to_pylist()
    return out


def expected(cell, kind):
    if cell in MISSING_CELLS:
        return None
    return {"number": lambda c: float(c.strip("\u00a0")), "whole": int, "flag": lambda c: c.lower() == "true"}.get(
        kind, str
    )(cell)


@settings(max_examples=300, deadline=None)
@given(tables(), st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 3))
def test_columns_are_those_that_were_written_whatever_the_blocks_and_line_ends(table, sizes, n_jobs):
    kinds, rows, text = table
    found = columns(cut(text, sizes), kinds, n_jobs)
    for place, values in found.items():
        assert repr(values) == repr([expected(row[place], kinds[place]) for row in rows])
    scan = _core.CsvScan(b",", len(kinds), n_jobs)
    scan.begin(1)
    for block in [*cut(text, sizes), b""]:
        scan.feed(block, not block)
    assert scan.rows == len(rows)
    for column, found_column in zip(zip(*rows, strict=True), scan.columns(), strict=True):
        cells = [cell for cell in column if cell not in MISSING_CELLS]
        assert found_column[2:4] == (len(cells), max((len(cell.encode()) for cell in cells), default=0))


pieces = st.sampled_from([*'ab1.5-"",,\n\n\r ', "\r\n", '""', 'x"', "é", "NA", "true", "2024-01-05"])


def scanned(blocks, n_columns):
    """How many rows the scan finds, or why it refuses a text."""
    scan = _core.CsvScan(b",", n_columns)
    scan.begin(1)
    try:
        for block in [*blocks, b""]:
            scan.feed(block, not block)
    except CsvProblem as problem:
        return problem.args
    return scan.rows


def outcome(blocks, n_columns, n_jobs=1):
    try:
        return columns(blocks, ["text"] * n_columns, n_jobs)
    except CsvProblem as problem:
        return problem.args


@settings(max_examples=500, deadline=None)
@given(st.lists(pieces, max_size=40).map("".join), st.lists(st.integers(1, 7), min_size=1, max_size=3))
@example('"\r', [1])
@example('1,"a"\r\r\n"b\r\n', [2])
def test_blocks_decide_on_neither_cells_nor_problems(text, sizes):
    text = ("a,b\n" + text).encode()
    whole = outcome([text], 2)
    assert outcome(cut(text, sizes), 2) == whole
    assert scanned(cut(text, sizes), 2) == (whole if isinstance(whole, tuple) else len(whole[0]))


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*")), ids=lambda path: path.name[:8])
def test_inputs_of_the_fuzzer_are_read_the_same_in_all_blocks(path):
    text = path.read_bytes()[4:]
    whole = [outcome([text], width) for width in (1, 2, 3)]
    assert all([outcome(cut(text, [size]), width) for width in (1, 2, 3)] == whole for size in (1, 2, 7))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"1\n\xff,2\n", ("cells", 2, -1, b"1")),
        (b"1\n\0,2\n", ("cells", 2, -1, b"1")),
        (b'1\n1,"x', ("cells", 2, -1, b"1")),
        (b"\xff,2\n1\n", ("utf-8", 2, -1, b"")),
        (b"1,2\n\0,\xff\n", ("nul", 3, -1, b"")),
        (b'1,"x"y\n1\n', ("after", 2, -1, b"x")),
    ],
)
def test_the_first_problem_is_told_whatever_the_blocks(text, problem):
    for size in (1, 3, 100):
        assert outcome(cut(b"a,b\n" + text, [size]), 2) == problem


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces.filter(lambda piece: '"' not in piece), max_size=40).map("".join))
def test_text_without_quotes_is_read_as_python_reads_it(text):
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    for row in rows:
        if len(row) == 3 and row[-1] == "":  # a delimiter at the end
            row.pop()
    found = outcome([("a,b\n" + text).encode()], 2)
    if any(len(row) != 2 for row in rows):
        assert found[0] == "cells"
    else:
        assert [list(row) for row in zip(found[0], found[1], strict=True)] == [
            [None if cell in MISSING_CELLS else cell for cell in row] for row in rows
        ]


def read(path, sql=None):
    """A file as a table, or why it is refused."""
    try:
        with open_source(str(path), sql=sql, delimiter=",") as source:
            names = [column.name for column in source.columns]
            return pa.Table.from_batches(list(source.batches(names)))
    except ValueError as problem:
        return str(problem)


@settings(max_examples=60, deadline=None)
@given(st.lists(pieces, max_size=30).map("".join), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
@example("1,2,\n", "\n", False)
@example('1, "x" \n', "\n", False)
@example('a"b,"c""d"\n', "\n", False)
def test_a_query_reads_the_same_rows_as_the_core(tmp_path_factory, text, end, packed):
    """Where DuckDB reads a file at all, which it does not where a quote is followed by text or line ends differ."""
    text = ("a,b\n" + text).replace("\r", "").replace("\n", end).encode()
    path = tmp_path_factory.mktemp("csv") / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    core, duck = read(path), read(path, "select * from data")
    if isinstance(core, str):
        assert isinstance(duck, str)
    elif not isinstance(duck, str):
        assert str(core.combine_chunks()) == str(duck.combine_chunks())


@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("inside", ["\r\n", "\n", "\r"])
def test_a_header_and_cells_may_hold_line_ends_of_any_kind(tmp_path, end, inside):
    path = tmp_path / "a.csv"
    path.write_bytes(f'a,"b{inside}c"{end}1,"x{inside}y"{end}2,z{end}'.encode())
    for sql in (None, "select * from data"):
        assert read(path, sql).to_pydict() == {"a": [1, 2], f"b{inside}c": [f"x{inside}y", "z"]}


def test_mixed_line_ends_are_read_and_refused_in_a_query_with_a_sentence(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\r\n1,2\n3,4\r5,6\r\n")
    assert read(path).to_pydict() == {"a": [1, 3, 5], "b": [2, 4, 6]}
    assert read(path, "select * from data") == (
        f"{path}: rows end in different ways (LF, CRLF, CR), which a query cannot read; save the file with one of them"
    )


def test_a_single_column_has_a_missing_value_where_a_line_is_blank(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a\n1\n\n3\r\n\r\n")
    assert read(tmp_path / "a.csv").to_pydict() == {"a": [1, None, 3, None]}


def test_a_delimiter_may_be_any_character(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a§b\n1§x\n2§'\n", encoding="utf-8")
    with open_source(str(path), delimiter="§") as source:
        assert pa.Table.from_batches(list(source.batches(["a", "b"]))).to_pydict() == {"a": [1, 2], "b": ["x", "'"]}
    text = "a€b\n1€x¤\n2€y\u20ad\n".encode()  # characters that share their first bytes with the delimiter
    assert columns(cut(text, [1]), ["number", "text"], delimiter="€".encode()) == {0: [1, 2], 1: ["x¤", "y\u20ad"]}


def test_a_header_longer_than_the_first_look_is_read(tmp_path):
    names = [f"a long name of a column {k}" for k in range(60_000)]
    path = tmp_path / "a.csv"
    path.write_text(",".join(names) + "\n" + ",".join(str(k) for k in range(60_000)) + "\n")
    with open_source(str(path)) as source:
        assert [column.name for column in source.columns] == names
        (batch,) = source.batches(names[-2:])
        assert batch.to_pylist() == [{names[-2]: 59_998, names[-1]: 59_999}]


def test_short_rows_of_many_columns_take_no_room_for_their_cells():
    reader = _core.CsvColumns(b",", ["number"] * 100_000)
    reader.begin(1)
    with pytest.raises(CsvProblem) as caught:
        reader.feed(b"x\n" + b"1\n" * 3_000_000, False)  # 2 TB
    assert caught.value.args == ("cells", 2, -1, b"1")
    with pytest.raises(ValueError, match="the reader has met a problem"):
        reader.feed(b"1\n", True)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"delimiter": b""}, "delimiter must be one character"),
        ({"delimiter": b'"'}, "the delimiter may be a quote or a line end"),
        ({"kinds": []}, "at least one column"),
        ({"kinds": ["label"]}, "a column is a number, whole, a flag, text or one to skip"),
        ({"n_jobs": 0}, "n_jobs must be at least 1"),
        ({"longest_line": 0}, "longest_line must be at least 1"),
    ],
)
def test_arguments_are_checked(changes, why):
    with pytest.raises(ValueError, match=why):
        _core.CsvColumns(**({"delimiter": b",", "kinds": ["number"], "n_jobs": 1, "longest_line": 9} | changes))


def test_the_number_of_threads_changes_nothing():
    rows = "".join(f'{k / 7!r},{k},"{"x" * (k % 90)}\n",{k % 3 == 0}\n' for k in range(20_000)).encode()
    kinds = ["number", "whole", "text", "flag"]
    one = columns([b"a,b,c,d\n" + rows], kinds)
    assert len(rows) > 5 * 2**18  # some pieces
    assert one[0][-1] == 19_999 / 7
    assert all(columns([b"a,b,c,d\n" + rows], kinds, n_jobs) == one for n_jobs in (2, 3))
    bad = rows.replace(b",12345,", b",oops,").replace(b",15000,", b",never,")
    found = {outcome_of_kinds(bad, kinds, n_jobs) for n_jobs in (1, 2, 3)}
    assert found == {("value", 2 * 12345 + 2, 1, b"oops")}


def outcome_of_kinds(rows, kinds, n_jobs):
    with pytest.raises(CsvProblem) as caught:
        columns([b"a,b,c,d\n" + rows], kinds, n_jobs)
    return caught.value.args


def test_a_column_is_a_type_if_all_its_cells_are():
    cells = ["1", "2.5", "true", "2024-01-05", "2024-01-05 10:00", "10:05", "x", "NA"]
    for one in cells:
        for other in cells:
            scan = _core.CsvScan(b",", 1)
            scan.begin(1)
            scan.feed(f"a\n{one}\n{other}\n".encode(), True)
            ((types, *_),) = scan.columns()
            found = {name for bit, name in enumerate(csv_rows.TYPES) if types >> bit & 1}
            both = [cell for cell in (one, other) if cell != "NA"]
            assert found == {name for name, kind in csv_rows.TYPES.items() if all(map(kind.accepts, both))}
