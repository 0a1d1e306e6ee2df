"""Files whose cells are parted by single spaces are read without --delimiter; other texts with spaces are not."""

from __future__ import annotations

import lzma

import numpy as np
import pytest

from separatrix.tables.sources.opening import open_source

rng = np.random.default_rng(0)
ROWS = [[str(label), *(f"{x:g}" for x in rng.normal(size=5).round(3))] for label in rng.integers(0, 10, 80)]


def written(path, rows, header=None, between=" "):
    lines = [between.join(row) for row in ([header] if header else []) + rows]
    raw = ("\n".join(lines) + "\n").encode()
    path.write_bytes(lzma.compress(raw) if path.suffix == ".xz" else raw)
    return str(path)


@pytest.mark.parametrize("name", ["digits.txt", "digits.txt.xz", "digits.csv", "digits"])
@pytest.mark.parametrize("header", [None, ["label", "a", "b", "c", "d", "e"]])
def test_lines_of_numbers_between_single_spaces_are_a_table(name, header, tmp_path):
    path = written(tmp_path / name, ROWS, header)
    with open_source(path, header=header is not None) as source:
        assert [column.name for column in source.columns] == (header or [f"c{k}" for k in range(1, 7)])
        rows = [row for batch in source.batches([source.columns[2].name]) for row in batch.column(0).to_pylist()]
    assert rows == [float(row[2]) for row in ROWS]


def test_a_missing_header_is_told_from_the_numbers_of_the_first_line(tmp_path):
    with pytest.raises(ValueError, match=r"the first line of .* has numbers only; give --no-header if it is data"):
        open_source(written(tmp_path / "digits.txt", ROWS))


@pytest.mark.parametrize(
    "lines",
    [
        ["the text", "good news", "bad news", "no news"] * 5,  # one column
        ["when", "2024-01-01 10:30", "2024-01-02 10:30", "2024-01-03 10:30"],
        ["size", "12 km", "13 km", "14 km"],
        ["a b", "1 2", "1 2 3", "4 5"],  # not as many in each line
    ],
)
def test_spaces_within_cells_part_nothing(lines, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    with open_source(str(path)) as source:
        assert [column.name for column in source.columns] == [lines[0]]
