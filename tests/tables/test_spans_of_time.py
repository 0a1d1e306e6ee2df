"""Spans of time are numbers, in seconds, whatever they come from."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from small_tables import fitted, matrix, predicted

N = 60
SECONDS = [(-1) ** k * (k * 5417.25 + 0.5) for k in range(N)]
SPANS = [None if k == 7 else dt.timedelta(seconds=second) for k, second in enumerate(SECONDS)]


def table(unit="us"):
    spans = pa.array(SPANS, type=pa.duration("us")).cast(pa.duration(unit), safe=False)
    return pa.table({"span": spans, "n": np.arange(N) % 5, "y": ["pq"[k // 3 % 2] for k in range(N)]})


@pytest.mark.parametrize("kind", ["table", "pandas", "polars", "parquet", "folder", "feather"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_span_of_time_is_a_number_of_seconds(kind, unit, tmp_path):
    source = table(unit)
    if kind == "pandas":
        source = source.to_pandas()
        assert isinstance(source.span.iloc[0], pd.Timedelta)
    elif kind == "polars":
        parquet.write_table(source, tmp_path / "t.parquet")
        polars = pytest.importorskip("polars")
        polars.from_arrow(source).write_parquet(tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    elif kind in ("parquet", "folder"):
        (tmp_path / "parts").mkdir()
        parquet.write_table(source, tmp_path / "parts" / "t.parquet")
        source = tmp_path / "parts" if kind == "folder" else tmp_path / "parts" / "t.parquet"
    elif kind == "feather":
        feather.write_feather(source, tmp_path / "t.feather")
        source = tmp_path / "t.feather"
    model = fitted(source, scale="none")
    assert model.preparation.names == ["span", "n", "span missing"]
    found = np.delete(matrix(model, source)[:, 0], 7)
    expected = [np.trunc(second) if unit == "s" else second for second in np.delete(SECONDS, 7)]
    assert found.tolist() == expected
    assert predicted(model, source)[0] == predicted(fitted(table(unit), scale="none"), table(unit))[0]


def test_parquet_files_with_spans_in_different_units_are_refused(tmp_path):
    for unit in ("ms", "us"):
        parquet.write_table(table(unit), tmp_path / f"{unit}.parquet")
    with pytest.raises(ValueError, match=r"do not have the same columns: .span. is duration.* in one and duration"):
        fitted(tmp_path)
