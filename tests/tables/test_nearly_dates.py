"""Dates as months and with weekdays; a column of dates in which some cells are not is named in a warning."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from separatrix.tables.date_notations import date_notation
from small_tables import fitted, matrix, written

N = 60
DAYS = [dt.date(2023, 11, 3) + dt.timedelta(days=17 * k) for k in range(N)]
LABELS = ["pq"[(k // 3) % 2] for k in range(N)]


@pytest.mark.parametrize(
    "form", ["%Y-%m", "%a %d %b %Y", "%a, %d %b %Y", "%A %d %B %Y", "%a %b %d %Y", "%a %d %b %Y %H:%M"]
)
def test_months_and_weekdays_are_read(form, tmp_path):
    path = written({"when": [day.strftime(form) for day in DAYS], "y": LABELS}, tmp_path / "t.csv")
    model = fitted(path, scale="none")
    kept = [day.replace(day=1) if form == "%Y-%m" else day for day in DAYS]
    X = matrix(model, path)
    assert model.preparation.names[:4] == ["when year", "when month", "when day", "when weekday"]
    assert X[:, :4].tolist() == [[day.year, day.month, day.day, day.weekday()] for day in kept]


@pytest.mark.parametrize(
    "cells", [["2024-13", "2024-01"], ["5551-12", "5551-11"], ["2019-20", "2020-21"], ["24-01", "23-12"]]
)
def test_other_pairs_of_numbers_are_no_months(cells):
    assert date_notation(cells) is None


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%a %d %b %Y"])
@pytest.mark.parametrize("different", [False, True])
def test_a_column_of_dates_with_a_slip_is_named_in_a_warning(form, different, tmp_path):
    cells = [day.strftime(form) for day in (DAYS if different else [*DAYS[:20]] * 3)]
    cells[41], cells[17] = "later", "soon"
    path = written({"when": cells, "x": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    (warning,) = [note for note in fitted(path).facts.notes if note.startswith("Warning")]
    notation = "iso" if form == "%Y-%m-%d" else form
    text = form == "%a %d %b %Y" and different  # of several words, all different
    use = "read as text" if text else "left out" if different else "a category"
    assert warning == (
        f"Warning: column 'when' is almost all dates ({notation}), but 2 of 60 values are not, the first in row 18 "
        f"('soon'), so it is {use}: fix these cells, or leave them empty if the value is missing."
    )


@pytest.mark.parametrize("cells", ["{:03}-555-{:04}", "10.0.{}.{}", "v1.{}.{}", "{}-{}", "{}:{}"])
def test_codes_get_no_warning(cells, tmp_path):
    column = [cells.format(k, 7 * k) for k in range(N - 1)] + ["other"]
    path = written({"code": column, "x": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    assert not any(note.startswith("Warning") for note in fitted(path).facts.notes)


def test_a_later_row_that_is_no_date_is_named():
    n = 70_000  # more than are read together
    cells = [f"{1 + k % 28}.{1 + k % 12}.2024" for k in range(n)]
    cells[-5] = "soon"
    data = pd.DataFrame({"when": cells, "x": np.arange(n) % 5, "y": ["pq"[k % 2] for k in range(n)]})
    notes = [note for note in fitted(data).facts.notes if note.startswith("Warning")]
    assert len(notes) == 1
    assert "row 69,996, column 'when': 'soon' is not a date or time" in notes[0]
    assert notes[0].endswith("; the column is a category.")


@pytest.mark.parametrize(
    ("form", "notation"), [("%Y-%m-%d", "iso"), ("%d.%m.%Y", "%d.%m.%Y"), ("%b %d, %Y", "%b %d, %Y")]
)
@pytest.mark.parametrize("row", [0, 7, 58])
def test_a_cell_that_is_no_date_in_a_column_named_by_date_is_named(form, notation, row, tmp_path):
    cells = [day.strftime(form) for day in DAYS]
    cells[row] = "soon"
    path = written({"when": cells, "y": LABELS}, tmp_path / "t.csv")
    with pytest.raises(ValueError, match="--date names it") as caught:
        fitted(path, date=("when",))
    assert str(caught.value).endswith(
        f"t.csv, column 'when': --date names it, but 'soon' is not a date as the others are ({notation})"
    )
