"""The table of kinds of files, and streams that are read from a copy."""

from __future__ import annotations

import importlib
import io
import os

import numpy as np
import pytest

from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.sources.kinds import KINDS, SourceKind
from separatrix.tables.sources.opening import open_source, open_stream
from separatrix.tables.sources.peeking import peek


def test_every_kind_has_a_name_endings_and_an_opener_of_its_own():
    endings = [ending for kind in KINDS for ending in kind.endings]
    assert len(endings) == len(set(endings))
    assert all(ending == ending.lower() and ending.startswith(".") for ending in endings)
    assert len({kind.name for kind in KINDS}) == len({kind.opener for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        module, function = kind.opener.split(":")
        assert callable(getattr(importlib.import_module(f"separatrix.tables.sources.{module}"), function))


def test_a_new_kind_is_one_line_in_the_table(tmp_path, monkeypatch):
    from separatrix.tables.sources import csv_files, kinds

    monkeypatch.setattr(csv_files, "open_dots", lambda request: (request.files, request.delimiter), raising=False)
    line = SourceKind("dots", (".dots",), "csv_files:open_dots", lambda raw: raw.startswith(b"..."), delimited=True)
    monkeypatch.setattr(kinds, "KINDS", (line, *KINDS))
    monkeypatch.setattr("separatrix.tables.sources.opening.KINDS", (line, *KINDS))
    for name in ("a.dots", "unknown"):
        (tmp_path / name).write_text("...")
        assert open_source(str(tmp_path / name), delimiter=".") == ([str(tmp_path / name)], ".")


@pytest.mark.parametrize(
    ("sql", "several", "delimiter", "message"),
    [
        (None, True, None, r"matches 2 libsvm files; only these kinds can be read together: parquet, json, csv$"),
        (None, False, ";", r"is a libsvm file and has no delimiter; --delimiter is for CSV files$"),
        ("select 1", False, None, r"has no named columns; SQL needs a table$"),
    ],
)
def test_what_a_kind_cannot_do_is_refused(tmp_path, sql, several, delimiter, message):
    for name in ("a.svm", "b.svm"):
        (tmp_path / name).write_text("1 1:2\n")
    with pytest.raises(ValueError, match=message):
        open_source(str(tmp_path / ("*.svm" if several else "a.svm")), sql=sql, delimiter=delimiter)


def test_a_stream_is_read_from_a_copy_that_is_removed():
    table = open_stream(io.BytesIO(b"a;b\n1;x\n2;y\n"), "points")
    assert isinstance(table, TableSource)
    assert (table.name, table.typed, table.n_rows) == ("points", False, 2)
    folder = os.path.dirname(table.plain.path)
    table.read_as([], ["a"])
    assert [column.kind for column in table.columns] == ["text", "text"]
    assert next(table.batches(["a"])).column(0).to_pylist() == ["1", "2"]
    with (
        open_stream(io.BytesIO(b"a;b\n1;x\n2;y\n"), "points") as same,
        open_stream(io.BytesIO(b"a\n1\n"), "p") as other,
    ):
        assert table.fingerprint() == same.fingerprint() != other.fingerprint()
    assert os.path.exists(folder)
    table.close()
    assert not os.path.exists(folder)


def test_a_stream_can_be_a_matrix():
    with open_stream(io.BytesIO(b"1 1:2 3:4\n-1 2:1\n"), "rows") as source:
        assert isinstance(source, MatrixSource)
        assert (source.name, source.sparse, source.labelled) == ("rows", True, True)
        for _ in range(2):
            (X, y), *_ = source.blocks()
            np.testing.assert_array_equal(X.toarray(), [[2, 0, 4], [0, 1, 0]])
            assert y.tolist() == [1, -1]
        assert source.fraction() == 1.0
        assert source.fingerprint() is not None


def test_the_checksum_that_a_duckdb_file_begins_with_may_look_like_compressed_data(written, tmp_path):
    raw = (written / "t.duckdb").read_bytes()
    for checksum in (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"):
        path = tmp_path / "t.duckdb"
        path.write_bytes(checksum + raw[len(checksum) :])
        seen = peek(str(path), path.name)
        assert (seen.kind.name, seen.compression) == ("duckdb", "none")
