"""Python, DuckDB, the core's reader and the exact reader agree on what each cell is."""

from __future__ import annotations

import math
from fractions import Fraction

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from separatrix import _core
from separatrix._core import NotPlain
from separatrix.tables.sources.cells import MISSING_CELLS, TEXT, TYPES, cell_type, exact_number, is_number
from separatrix.tables.sources.opening import open_source

EXPECTED = {
    "": None, "NA": None, "N/A": None, "NaN": None, "nan": None, "NULL": None, "null": None,
    "0": "BIGINT", "-0": "BIGINT", "+5": "BIGINT", " 3": "BIGINT", "3\t": "BIGINT", "\v3\f": "BIGINT",
    "9223372036854775807": "BIGINT", "-9223372036854775808": "BIGINT", "9223372036854775808": "DOUBLE",
    "1e3": "DOUBLE", "1E+5": "DOUBLE", "-.5": "DOUBLE", "+.5": "DOUBLE", "5.": "DOUBLE", "1.e5": "DOUBLE",
    "00.5": "DOUBLE", "007.5": "DOUBLE", "00e1": "DOUBLE", "1e400": "DOUBLE", "1e-400": "DOUBLE", "9" * 400: "DOUBLE",
    "inf": "DOUBLE", "-Infinity": "DOUBLE", " INF": "DOUBLE", "NAN": "DOUBLE", "-nan": "DOUBLE",
    "007": TEXT, "00": TEXT, "-01": TEXT, " 007 ": TEXT, "1_0": TEXT, "1_000.5": TEXT, "\u0663": TEXT, "\uff13": TEXT,
    "3\u00a0": TEXT, "\u20033": TEXT, "0x10": TEXT, "0b1": TEXT, "1,5": TEXT, "1 000": TEXT, "1/3": TEXT, "--1": TEXT,
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


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as made:
        yield made


def sql_type(connection, cell):
    """The type of a cell by the conditions that CSV files are read with."""
    if cell in MISSING_CELLS:
        return None
    tests = ", ".join(f"({kind.sql('c')})" for kind in TYPES.values())
    row = connection.execute(f"select {tests} from (select ? as c)", [cell])
    return next((name for name, passed in zip(TYPES, row.fetchone(), strict=True) if passed), TEXT)


def core_number(cell):
    """The number that the core reads, None if it leaves the cell to DuckDB."""
    text = '"' + cell.replace('"', '""') + '"' if any(letter in cell for letter in ',"\r\n') else cell
    try:
        X, _ = _core.CsvReader(b",", b'"', ["number", "skip"]).feed(f"{text},\n".encode())
    except NotPlain:
        return None
    return float(X[0, 0])


@pytest.mark.parametrize("cell", EXPECTED, ids=repr)
def test_odd_cells_have_these_types(connection, cell):
    assert cell_type(cell) == sql_type(connection, cell) == EXPECTED[cell]
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
        assert column.to_pylist() == [int(cell)]
    elif EXPECTED[cell] == "DOUBLE":
        assert column.to_pylist() == pytest.approx([float(cell)], rel=0, abs=0, nan_ok=True)


@settings(max_examples=500, deadline=None)
@given(cells)
@example("2024-02-30T10:05Z")
@example("-9223372036854775809")
def test_python_and_sql_agree_on_every_cell(connection, cell):
    assert cell_type(cell) == sql_type(connection, cell)


@settings(max_examples=500, deadline=None)
@given(cells)
@example("007")
@example(" 00 ")
def test_the_core_reads_numbers_only_and_the_same_values(connection, cell):
    value = core_number(cell)
    if value is None:
        return  # DuckDB decides
    if math.isnan(value):
        assert cell == ""
        return
    assert cell_type(cell) in ("BIGINT", "DOUBLE")
    (expected,) = connection.execute("select cast(? as double)", [cell]).fetchone()
    assert value.hex() == expected.hex() == float(cell).hex()


@settings(max_examples=300, deadline=None)
@given(cells.filter(lambda cell: len(cell) < 40))
def test_exact_numbers_are_the_finite_numbers_and_ratios(cell):
    value = exact_number(cell)
    finite = is_number(cell) and "n" not in cell.lower()
    if "/" not in cell:
        assert (value is not None) == finite
    if finite:
        assert value == Fraction(cell.strip())
    if value is not None and not finite:
        assert value == Fraction(*map(int, cell.split("/")))
