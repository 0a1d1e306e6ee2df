"""Python, the core's readers, queries and the exact reader agree on what each cell is."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from separatrix import _core
from separatrix._core import NotPlain
from separatrix.tables.sources.cells import MISSING_CELLS, SPACES, TEXT, TYPES, cell_type, exact_number, is_number
from separatrix.tables.sources.opening import open_source

EXPECTED = {
    "": None, "NA": None, "N/A": None, "NaN": None, "nan": None, "NULL": None, "null": None,
    "0": "BIGINT", "-0": "BIGINT", "+5": "BIGINT", " 3": "BIGINT", "3\t": "BIGINT", "\v3\f": "BIGINT",
    "9223372036854775807": "BIGINT", "-9223372036854775808": "BIGINT", "9223372036854775808": "DOUBLE",
    "1e3": "DOUBLE", "1E+5": "DOUBLE", "-.5": "DOUBLE", "+.5": "DOUBLE", "5.": "DOUBLE", "1.e5": "DOUBLE",
    "00.5": "DOUBLE", "007.5": "DOUBLE", "00e1": "DOUBLE", "1e400": "DOUBLE", "1e-400": "DOUBLE", "9" * 400: "DOUBLE",
    "inf": "DOUBLE", "-Infinity": "DOUBLE", " INF": "DOUBLE", "NAN": "DOUBLE", "-nan": "DOUBLE",
    "3\u00a0": "BIGINT", "\u20033": "BIGINT", "\u202f-3.5\u2007": "DOUBLE", "\ufeff3\u200b": "BIGINT",
    "\u3000+3\u2060 ": "BIGINT", "\x85.5": "DOUBLE", "\u200e7\u202c": "BIGINT", "\u00a0inf": "DOUBLE",
    "\u00a0007": TEXT, "3\u00a0000": TEXT, "\u00a0": TEXT, "\u22123": TEXT, "\u00a0true": TEXT, "3\u2010": TEXT,
    "\u00a0-9223372036854775808\u3000": "BIGINT", "\u00a09223372036854775808": "DOUBLE",
    "007": TEXT, "00": TEXT, "-01": TEXT, " 007 ": TEXT, "1_0": TEXT, "1_000.5": TEXT, "\u0663": TEXT, "\uff13": TEXT,
    "0x10": TEXT, "0b1": TEXT, "1,5": TEXT, "1 000": TEXT, "1/3": TEXT, "--1": TEXT,
    "+-1": TEXT, "- 1": TEXT, ".": TEXT, "e5": TEXT, "1e": TEXT, "1e+": TEXT, "1d": TEXT, "1f": TEXT, "5-": TEXT,
    "infinit": TEXT, "\u0131nf": TEXT, "na": TEXT, "None": TEXT, " ": TEXT, " NA": TEXT,
    "true": "BOOLEAN", "FALSE": "BOOLEAN", "True": "BOOLEAN", " true": TEXT, "t": TEXT, "yes": TEXT, "fal\u017fe": TEXT,
    "2024-01-05": "DATE", "2024-1-5": "DATE", "2024-02-29": "DATE", "0000-02-29": "DATE", "2023-02-29": TEXT,
    "1900-02-29": TEXT, "2024-13-01": TEXT, "2024-00-01": TEXT, "2024-04-31": TEXT, "05.01.2024": TEXT,
    "2024-01-05 10:00": "TIMESTAMP", "2024-01-05T10:00:59.123456789": "TIMESTAMP", "2024-01-05 24:00": "TIMESTAMP",
    "2024-01-05 24:01": TEXT, "2024-01-05 10:60": TEXT, "2024-01-05 10": TEXT, "2023-02-29 10:00": TEXT,
    "2024-01-05T10:00Z": "TIMESTAMPTZ", "2024-01-05 10:00:00+01:00": "TIMESTAMPTZ", "2024-01-05 10:00-0530":
    "TIMESTAMPTZ", "2024-01-05 10:00+1": TEXT, "2024-01-05 10:00 Z": TEXT,
    "10:05": "TIME", "9:05:7": "TIME", "23:59:59.9": "TIME", "24:00": "TIME", "3:2": TEXT, "25:00": TEXT, "10:5": TEXT,
}  # fmt: skip

pieces = st.sampled_from(
    [
        *"0019+-.eE_ \t:TZ/,xX",
        "\u00a0",
        "\u202f",
        "\ufeff",
        "\u0663",
        "inf",
        "nan",
        "true",
        "NA",
        "2024",
        "-01",
        "-02-29",
        " 10:05",
        "00",
        "24",
    ]
)
cells = st.one_of(
    st.lists(pieces, max_size=8).map("".join),
    st.sampled_from(list(EXPECTED)),
    st.floats().map(repr),
    st.integers(-(10**21), 10**21).map(str),
    st.dates().map(str),
    st.datetimes().map(str),
    st.times().map(str),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)


def in_quotes(cell):
    return '"' + cell.replace('"', '""') + '"'


def core_column(cell):
    """What the core's scan says of a column of this cell."""
    scan = _core.CsvScan(b",", 2)
    scan.begin(1)
    scan.feed(f"x,y\n{in_quotes(cell)},1\n".encode(), True)
    return scan.columns()[0]


def core_type(cell):
    """The type of a cell by the core's scan."""
    types, _, count, *_ = core_column(cell)
    return next((name for bit, name in enumerate(TYPES) if types >> bit & 1), TEXT) if count else None


def core_value(cell, kind):
    """The value of a cell by the core's reader of any file, None if it refuses it."""
    reader = _core.CsvColumns(b",", [kind, "skip"])
    reader.begin(1)
    try:
        numbers, wholes, *_ = reader.feed(f"x,y\n{in_quotes(cell)},1\n".encode(), True)
    except _core.CsvProblem:
        return None
    return (numbers if kind == "number" else wholes)[0, 0].item()


def plain_number(cell):
    """The number that the core reads in plain files, None if it leaves the cell to its other reader."""
    text = in_quotes(cell) if any(letter in cell for letter in ',"\r\n') else cell
    try:
        X, _ = _core.CsvReader(b",", b'"', ["number", "skip"]).feed(f"{text},\n".encode())
    except NotPlain:
        return None
    return float(X[0, 0])


@pytest.mark.parametrize("cell", EXPECTED, ids=repr)
def test_odd_cells_have_these_types(cell):
    assert cell_type(cell) == core_type(cell) == EXPECTED[cell]
    assert is_number(cell) == (EXPECTED[cell] in ("BIGINT", "DOUBLE") or cell in ("NaN", "nan"))


@pytest.mark.parametrize("cell", EXPECTED, ids=repr)
def test_a_file_of_one_odd_cell_has_a_column_of_that_type(tmp_path, cell):
    file = tmp_path / "a.csv"
    file.write_text(f'x,y\n"{cell}",1\n', encoding="utf-8", newline="")
    with open_source(str(file)) as source:
        assert source.columns[0].type == EXPECTED[cell] or (EXPECTED[cell] is None and source.columns[0].type == TEXT)
        column = next(iter(source.batches(["x"]))).column(0)
    if EXPECTED[cell] in (TEXT, None):
        assert column.to_pylist() == [None if EXPECTED[cell] is None else cell]
    elif EXPECTED[cell] == "BIGINT":
        assert column.to_pylist() == [int(cell.strip(SPACES))]
    elif EXPECTED[cell] == "DOUBLE":
        assert column.to_pylist() == pytest.approx([float(cell.strip(SPACES))], rel=0, abs=0, nan_ok=True)
    with open_source(str(file), sql="select x from data") as source:
        asked = next(iter(source.batches(["x"]))).column(0)
    assert (asked.type, str(asked)) == (column.type, str(column))


@settings(max_examples=500, deadline=None)
@given(cells)
@example("2024-02-30T10:05Z")
@example("-9223372036854775809")
@example("\u00a0-9223372036854775809")
def test_python_and_the_core_agree_on_every_cell(cell):
    assert cell_type(cell) == core_type(cell)
    types, spaces, count, longest, row, text = core_column(cell)
    if count:
        assert [name for bit, name in enumerate(TYPES) if types >> bit & 1] == [
            name for name, kind in TYPES.items() if kind.accepts(cell)
        ]
        assert longest == len(cell.encode())
        assert spaces == (is_number(cell) and not cell.isascii())
        assert (row, text) == ((-1, b"") if is_number(cell) else (0, cell.encode()))


@settings(max_examples=500, deadline=None)
@given(cells)
@example("1" * 20_000)
@example("0." + "1" * 20_000 + "e5")
@example("-NaN")
@example("\u00a0-INF")
def test_the_core_reads_the_value_of_every_number_and_of_nothing_else(cell):
    number, whole = core_value(cell, "number"), core_value(cell, "whole")
    if cell in MISSING_CELLS:
        assert math.isnan(number)
        return
    if is_number(cell):
        assert repr(number) == repr(float(cell.strip(SPACES)))
    else:
        assert number is None
    assert whole == (int(cell.strip(SPACES)) if cell_type(cell) == "BIGINT" else None)


@settings(max_examples=500, deadline=None)
@given(cells)
@example("007")
@example(" 00 ")
def test_the_core_reads_of_plain_files_numbers_only_and_the_same_values(cell):
    value = plain_number(cell)
    if value is None:
        return  # the other reader decides
    if math.isnan(value):
        assert cell == ""
        return
    assert cell_type(cell) in ("BIGINT", "DOUBLE")
    assert value.hex() == float(cell).hex()


@settings(max_examples=300, deadline=None)
@given(cells.filter(lambda cell: len(cell) < 40))
def test_exact_numbers_are_the_finite_numbers_and_ratios(cell):
    value = exact_number(cell)
    finite = is_number(cell) and "n" not in cell.lower()
    if "/" not in cell:
        assert (value is not None) == finite
    if finite:
        assert value == Fraction(cell.strip(SPACES))
    if value is not None and not finite:
        assert value == Fraction(*map(int, cell.strip(SPACES).split("/")))
