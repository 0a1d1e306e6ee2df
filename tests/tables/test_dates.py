"""Dates and times: found in every common form, read by their notation, as parts with known answers."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from separatrix.tables.date_notations import PARTS, date_parts
from small_tables import fitted, matrix, predicted, trained_on, written

N = 60
START = dt.datetime(2023, 11, 3, 5, 20, 30)
MOMENTS = [START + dt.timedelta(days=17 * k, hours=k % 7, minutes=13 * (k % 4)) for k in range(N)]
LABELS = ["pq"[(k // 3) % 2] for k in range(N)]
NAMES = [f"when {part}" for part in PARTS]


def parts_of(moments: list[dt.datetime | None]) -> np.ndarray:
    """Return the parts of moments by the standard library; NaN where one is missing."""
    rows = []
    for moment in moments:
        if moment is None:
            rows.append([np.nan] * len(PARTS))
            continue
        numbers = {"month": (moment.month - 1, 12), "day": (moment.day - 1, 31), "weekday": (moment.weekday(), 7),
                   "hour": (moment.hour, 24)}  # fmt: skip
        waves = [wave(2 * np.pi * at / cycle) for at, cycle in numbers.values() for wave in (np.sin, np.cos)]
        seconds = (moment - dt.datetime(1970, 1, 1)).total_seconds()
        rows.append([moment.year, moment.month, moment.day, moment.weekday(), moment.hour, seconds, *waves])
    return np.array(rows, dtype=float)


def day(moment: dt.datetime) -> dt.datetime:
    return dt.datetime(moment.year, moment.month, moment.day)


def minute(moment: dt.datetime) -> dt.datetime:
    return moment.replace(second=0)


FORMS = {  # how it is written: the notation that is found (none for what a CSV file has as dates), what is kept of it
    "%Y-%m-%d": ("", day),
    "%Y-%m-%d %H:%M:%S": ("", None),
    "%Y-%m-%dT%H:%M:%SZ": ("", None),
    "%Y-%m-%d %H:%M": ("", minute),
    "%Y/%m/%d": ("%Y/%m/%d", day),
    "%m/%d/%Y": ("%m/%d/%Y", day),
    "%m/%d/%Y %I:%M %p": ("%m/%d/%Y %I:%M %p", minute),
    "%m/%d/%y": ("%m/%d/%y", day),
    "%d/%m/%Y": ("%d/%m/%Y", day),
    "%d/%m/%Y %H:%M:%S": ("%d/%m/%Y %H:%M:%S", None),
    "%d.%m.%Y": ("%d.%m.%Y", day),
    "%d.%m.%y": ("%d.%m.%y", day),
    "%d.%m.%Y %H:%M": ("%d.%m.%Y %H:%M", minute),
    "%d-%m-%Y": ("%d-%m-%Y", day),
    "%d %b %Y": ("%d %b %Y", day),
    "%d-%b-%y": ("%d-%b-%y", day),
    "%b %d, %Y": ("%b %d, %Y", day),
    "%B %d, %Y": ("%b %d, %Y", day),
    "%d %B %Y": ("%d %b %Y", day),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gaps", [False, True])
def test_a_column_of_dates_becomes_the_parts_of_each(form, gaps, tmp_path):
    notation, kept = FORMS[form]
    missing = [gaps and k % 9 == 4 for k in range(N)]
    cells = [None if gone else moment.strftime(form) for gone, moment in zip(missing, MOMENTS, strict=True)]
    path = written({"when": cells, "n": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    model = fitted(path, scale="none")
    assert model.preparation.names == ["n", *NAMES, *(["when missing"] if gaps else [])]
    assert model.preparation.features[1].notation == notation
    assert model.facts.notes == ((f"Read as dates: when ({notation}).",) if notation else ())
    moments = [
        None if gone else moment if kept is None else kept(moment)
        for gone, moment in zip(missing, MOMENTS, strict=True)
    ]
    expected = parts_of(moments)
    filled = np.where(np.isnan(expected), np.nanmedian(expected, axis=0), expected)
    X = matrix(model, path)
    np.testing.assert_allclose(X[:, 1:15], filled, rtol=1e-15, atol=1e-12)
    if gaps:
        assert X[:, 15].tolist() == missing
        assert model.facts.missing == {"when": sum(missing)}
    assert np.array_equal(trained_on(model, path), X)
    assert predicted(model, path)[0] == model.estimator.predict(X).tolist()


def test_known_answers():
    moment = np.array(["2024-02-29T18:30:00", "1969-12-31T23:59:59"], dtype="M8[us]").astype(np.int64)
    parts = dict(zip(PARTS, date_parts(moment, np.array([True, True]), PARTS).T.tolist(), strict=True))
    assert parts["year"] == [2024, 1969]
    assert parts["month"] == [2, 12]
    assert parts["day"] == [29, 31]
    assert parts["weekday"] == [3, 2]  # a Thursday and a Wednesday; Monday is 0
    assert parts["hour"] == [18, 23]
    assert parts["seconds"] == [1709231400, -1]
    assert parts["hour sine"][0] == -1
    assert parts["hour cosine"][0] == 0
    assert parts["month sine"][0] == pytest.approx(0.5)  # February: a twelfth of the turn
    assert parts["weekday cosine"][0] == pytest.approx(np.cos(2 * np.pi * 3 / 7))


def test_december_is_as_near_to_january_as_january_to_february():
    months = np.array(["2023-12-05", "2024-01-05", "2024-02-05"], dtype="M8[us]").astype(np.int64)
    waves = date_parts(months, np.ones(3, dtype=bool), ("month sine", "month cosine"))
    first, second = (np.linalg.norm(waves[k] - waves[k + 1]) for k in (0, 1))
    assert first == pytest.approx(second)


@pytest.mark.parametrize("form", ["%H:%M", "%H:%M:%S", "%I:%M %p"])
@pytest.mark.parametrize("kind", ["csv", "table"])
def test_times_of_a_day_become_hours_and_seconds_since_midnight(form, kind, tmp_path):
    cells = [None if k == 7 else moment.strftime(form).lstrip("0") for k, moment in enumerate(MOMENTS)]
    cells = [None if cell is None else f"0{cell}" if cell.startswith(":") else cell for cell in cells]
    data = pd.DataFrame({"when": cells, "n": np.arange(N) % 5, "y": LABELS})
    source = written(data, tmp_path / "t.csv") if kind == "csv" else data
    model = fitted(source, scale="none")
    assert model.preparation.names == [
        "n", "when hour", "when seconds", "when hour sine", "when hour cosine", "when missing",
    ]  # fmt: skip
    kept = [moment if "%S" in form else minute(moment) for moment in MOMENTS]
    hours = np.array([moment.hour for moment in kept])
    seconds = np.array([(moment - day(moment)).total_seconds() for moment in kept])
    X = np.delete(matrix(model, source), 7, axis=0)
    assert X[:, 1].tolist() == np.delete(hours, 7).tolist()
    assert X[:, 2].tolist() == np.delete(seconds, 7).tolist()
    np.testing.assert_allclose(X[:, 3], np.sin(2 * np.pi * np.delete(hours, 7) / 24), atol=1e-12)


TYPED = {
    "date32": (pa.array([moment.date() for moment in MOMENTS]), day),
    "date64": (pa.array([moment.date() for moment in MOMENTS], type=pa.date64()), day),
    "timestamp": (pa.array(MOMENTS, type=pa.timestamp("ms")), None),
    "timestamp in nanoseconds": (pa.array(MOMENTS, type=pa.timestamp("ns")), None),
    "timestamp with a zone": (pa.array(MOMENTS, type=pa.timestamp("us", "UTC")), None),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("where", ["parquet", "memory"])
def test_typed_dates_are_read_as_they_are(kind, where, tmp_path):
    column, kept = TYPED[kind]
    column = pa.array([None if k == 5 else cell for k, cell in enumerate(column.to_pylist())], type=column.type)
    table = pa.table({"when": column, "n": np.arange(N) % 5, "y": LABELS})
    parquet.write_table(table, tmp_path / "t.parquet")
    source = tmp_path / "t.parquet" if where == "parquet" else table
    model = fitted(source, scale="none")
    assert model.preparation.names == ["n", *NAMES, "when missing"]
    expected = parts_of([moment if kept is None else kept(moment) for moment in MOMENTS])
    X = matrix(model, source)
    np.testing.assert_allclose(np.delete(X[:, 1:15], 5, axis=0), np.delete(expected, 5, axis=0), rtol=1e-15, atol=1e-12)
    assert X[:, 15].tolist() == [k == 5 for k in range(N)]


def test_frames_of_pandas_with_dates_and_zones(tmp_path):
    stamps = pd.Series(pd.to_datetime(MOMENTS))
    data = pd.DataFrame({"when": stamps, "n": np.arange(N) % 5, "y": LABELS})
    model = fitted(data, scale="none")
    assert model.predict(data).tolist() == model.estimator.predict(matrix(model, data)).tolist()
    zoned = data.assign(when=stamps.dt.tz_localize("UTC").dt.tz_convert("Europe/Oslo"))
    local = np.array(zoned["when"].dt.tz_localize(None).dt.to_pydatetime()).tolist()
    expected = with_seconds(parts_of(local), parts_of(MOMENTS))
    np.testing.assert_allclose(matrix(model, zoned)[:, 1:], expected, rtol=1e-15, atol=1e-12)


def test_a_model_of_typed_dates_reads_a_file_of_text_and_the_other_way_round(tmp_path):
    table = pa.table({"when": pa.array(MOMENTS, type=pa.timestamp("us")), "n": np.arange(N) % 5, "y": LABELS})
    path = written({**table.to_pydict(), "when": [moment.isoformat() for moment in MOMENTS]}, tmp_path / "t.csv")
    from_table, from_text = fitted(table), fitted(path)
    assert np.array_equal(matrix(from_table, path), matrix(from_text, table))
    assert from_table.estimator.coef_.tolist() == from_text.estimator.coef_.tolist()


def test_dates_without_zeros_and_zones_of_some_are_dates(tmp_path):
    short = [f"{m.year}-{m.month}-{m.day}" for m in MOMENTS]
    path = written({"when": short, "y": LABELS}, tmp_path / "t.csv")
    np.testing.assert_allclose(
        matrix(fitted(path, scale="none"), path), parts_of([day(m) for m in MOMENTS]), rtol=1e-15, atol=1e-12
    )
    mixed = [m.isoformat() + ("Z" if k % 2 else "+02:00" if k % 3 else "") for k, m in enumerate(MOMENTS)]
    path = written({"when": mixed, "y": LABELS}, tmp_path / "u.csv")
    moved = [m - dt.timedelta(hours=2) if not k % 2 and k % 3 else m for k, m in enumerate(MOMENTS)]
    expected = with_seconds(parts_of(MOMENTS), parts_of(moved))
    np.testing.assert_allclose(matrix(fitted(path, scale="none"), path), expected, rtol=1e-15, atol=1e-12)


def with_seconds(local: np.ndarray, utc: np.ndarray) -> np.ndarray:
    """Return the parts of moments by the clock that a cell shows, and the seconds of those in UTC."""
    place = PARTS.index("seconds")
    return np.hstack([local[:, :place], utc[:, place : place + 1], local[:, place + 1 :]])


NEW_YORK = pd.date_range(
    "2024-01-03 09:30", periods=400, freq="7h3min", tz="America/New_York"
)  # summer time among them
ZONED = {
    "iso": lambda stamps: [stamp.isoformat() for stamp in stamps],
    "space": lambda stamps: [str(stamp) for stamp in stamps],
    "short": lambda stamps: [f"{stamp:%Y-%m-%d %H:%M}{stamp.isoformat()[-6:-3]}" for stamp in stamps],
}


@pytest.mark.parametrize("kind", [*ZONED, "pandas", "arrow", "parquet", "feather", "half an hour"])
def test_parts_are_those_of_the_zone_of_the_cell_and_seconds_are_in_utc(kind, tmp_path, monkeypatch):
    """The hours of a shop in New York are whole numbers again, in winter and summer, whatever the machine's zone."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    stamps = NEW_YORK.tz_convert("Asia/Kolkata") if kind == "half an hour" else NEW_YORK
    own = stamps.floor("min")
    data = pd.DataFrame({"when": own, "n": np.arange(400) % 5, "y": np.where(own.hour < 12, "p", "q")})
    source = data
    if kind in ZONED:
        source = written(data.assign(when=ZONED[kind](own)), tmp_path / "t.csv")
    elif kind == "arrow":
        source = pa.Table.from_pandas(data, preserve_index=False)
    elif kind in ("parquet", "half an hour"):
        source = tmp_path / "t.parquet"
        data.to_parquet(source)
    elif kind == "feather":
        source = tmp_path / "t.feather"
        data.to_feather(source)
    model = fitted(source, scale="none")
    X = dict(zip(model.preparation.names, matrix(model, source).T.tolist(), strict=True))
    assert X["when hour"] == own.hour.tolist()
    assert X["when day"] == own.day.tolist()
    assert X["when weekday"] == [stamp.weekday() for stamp in own]
    assert X["when year"] == own.year.tolist()
    assert X["when seconds"] == [stamp.timestamp() for stamp in own]
    assert np.array_equal(matrix(model, data), matrix(model, source))
    seconds = fitted(source, scale="none", dates="seconds")
    assert matrix(seconds, source)[:, 1].tolist() == [stamp.timestamp() for stamp in own]


def test_moments_of_a_file_without_its_own_zone_are_in_utc(tmp_path, monkeypatch):
    import duckdb

    monkeypatch.setenv("TZ", "America/New_York")
    with duckdb.connect() as database:
        database.execute(
            "copy (select timestamptz '2024-01-01 00:30:00+00' + interval (k) hour as when, k % 5 as n, k % 2 as y "
            f"from range(60) r(k)) to '{tmp_path}/t.parquet'"
        )
    model = fitted(tmp_path / "t.parquet", scale="none")
    hours = matrix(model, tmp_path / "t.parquet")[:, model.preparation.names.index("when hour")]
    assert hours.tolist() == [k % 24 for k in range(60)]


def test_a_report_shows_moments_of_another_zone_in_utc(tmp_path):
    from separatrix.tables.report.page import report
    from separatrix.tables.report.rows import inspect_rows
    from small_tables import opened

    source = pd.DataFrame({"when": NEW_YORK, "y": np.where(NEW_YORK.hour < 12, "p", "q")})
    with opened(source) as own:
        page = report(fitted(source), inspect_rows(fitted(source), own))
    assert any(f"{stamp:%Y-%m-%d %H:%M:%S} UTC<" in page for stamp in NEW_YORK.tz_convert("UTC"))


def test_where_day_and_month_could_change_places_the_month_is_first(tmp_path):
    cells = [f"{1 + k % 12:02}/{1 + k % 11:02}/2024" for k in range(N)]
    path = written({"when": cells, "y": LABELS}, tmp_path / "t.csv")
    X = matrix(fitted(path, scale="none"), path)
    assert X[:, 1].tolist() == [1 + k % 12 for k in range(N)]
    cells[50] = "25/12/2024"  # tells that the day is first
    path = written({"when": cells, "y": LABELS}, tmp_path / "t.csv")
    X = matrix(fitted(path, scale="none"), path)
    assert X[:3, 2].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "cells",
    [
        ["1.2.3", "1.2.4", "2.0.1"] * 20,
        ["2019", "2020", "2021"] * 20,
        ["10-20", "20-30", "30-40"] * 20,
        ["May", "June", "July"] * 20,
        ["3:2", "0:1", "1:1"] * 20,  # results of matches
        ["B 2024-01-05", "A 2024-01-06"] * 30,
        ["192.168.1.10", "10.0.0.1"] * 30,
    ],
)
def test_what_only_looks_a_little_like_dates_is_none(cells, tmp_path):
    model = fitted(written({"when": cells, "n": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv"))
    assert not model.preparation.role("date")


@pytest.mark.parametrize(
    ("method", "names"), [("seconds", ["n", "when seconds"]), ("drop", ["n"]), ("parts", ["n", *NAMES])]
)
def test_dates_as_seconds_or_not_at_all(method, names, tmp_path, run):
    data = {"when": [m.strftime("%d.%m.%Y") for m in MOMENTS], "n": np.arange(N) % 5, "y": LABELS}
    written(data, tmp_path / "t.csv")
    status, out, err = run("fit", "t.csv", "--target", "y", "--dates", method, "--certify", 0, "--test", 0)
    assert status == 0, err
    from separatrix import load

    assert load("t.sx").preparation.names == names
    assert ("Left out: when (dates)." in out) == (method == "drop")
    if method == "seconds":
        expected = [(day(m) - dt.datetime(1970, 1, 1)).total_seconds() for m in MOMENTS]
        model = fitted(tmp_path / "t.csv", dates="seconds", scale="none")
        assert matrix(model, tmp_path / "t.csv")[:, 1].tolist() == expected


def test_whole_numbers_are_dates_by_choice(tmp_path):
    cells = [int(m.strftime("%Y%m%d")) for m in MOMENTS]
    path = written({"when": cells, "n": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    assert fitted(path).preparation.names == ["when", "n"]
    model = fitted(path, date=("when",), scale="none")
    np.testing.assert_allclose(matrix(model, path)[:, 1:], parts_of([day(m) for m in MOMENTS]), rtol=1e-15, atol=1e-12)
    table = pa.table({"when": cells, "n": np.arange(N) % 5, "y": LABELS})
    assert np.array_equal(matrix(fitted(table, date=("when",), scale="none"), table), matrix(model, path))


def test_a_cell_that_is_no_date_is_named_when_rows_are_predicted(tmp_path):
    model = fitted(written({"when": [m.strftime("%d.%m.%Y") for m in MOMENTS], "y": LABELS}, tmp_path / "t.csv"))
    new = written({"when": ["05.01.2024", "?", None, "2024-01-05"]}, tmp_path / "new.csv")
    with pytest.raises(ValueError, match="is not a date") as caught:
        predicted(model, new)
    assert str(caught.value).endswith(
        "new.csv, row 4, column 'when': '2024-01-05' is not a date or time written as the others are (%d.%m.%Y): fix "
        "the "
        "cell, or leave it empty if the value is missing"
    )


@given(st.lists(st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1)), min_size=1, max_size=20))
def test_parts_are_those_of_the_standard_library(moments):
    stamps = np.array(moments, dtype="M8[us]").astype(np.int64)
    found = date_parts(stamps, np.ones(len(moments), dtype=bool), PARTS)
    np.testing.assert_allclose(found, parts_of(moments), rtol=1e-14, atol=1e-11)
