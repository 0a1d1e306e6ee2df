"""Columns of every role in the rows of a report: each cell as it is in the table, the most important columns first."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from page_tree import read_page
from separatrix.tables.facts import Facts
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.page import report
from separatrix.tables.report.predictions import _columns
from separatrix.tables.report.rows import inspect_rows
from small_tables import fitted, opened, written

N = 120
START = dt.datetime(2023, 11, 3, 5, 20, 30)
MOMENTS = [START + dt.timedelta(hours=31 * k) for k in range(N)]
X = np.array([(7 * k) % 40 - 19.5 for k in range(N)])
LABELS = np.where(X + np.array([(3 * k) % 11 - 5 for k in range(N)]) > 0, "yes", "no").tolist()
GONE = {5, 17, 40}


def gaps(cells):
    return [None if k in GONE else cell for k, cell in enumerate(cells)]


CODES = [f"code {k % 60}" for k in range(N)]
WORDS = [f"the {('good', 'bad', 'old')[k % 3]} product number {k} came {'late' if k % 2 else 'soon'}" for k in range(N)]
# a column's cells, the options, and what a report shows of them
ROLES = {
    "number": (X.tolist(), {}, [f"{x:.10g}" for x in X]),
    "imputed number": (gaps(X.tolist()), {}, gaps([f"{x:.10g}" for x in X])),
    "number in a notation": ([f"{1000 * x:,.2f}" for x in X], {}, [f"{1000 * x:.10g}" for x in X]),
    "number with a unit": ([f"{x} km" for x in X], {}, [f"{x:.10g}" for x in X]),
    "category": (gaps(["red", "green", "blue"] * 40), {}, gaps(["red", "green", "blue"] * 40)),
    "pooled": (CODES, {"max_levels": 59}, [code if code in CODES else "(other)" for code in CODES]),
    "target encoded": (CODES, {"target_encode": ("c",)}, CODES),
    "date": ([f"{m:%d.%m.%Y}" for m in MOMENTS], {}, [f"{m:%Y-%m-%d}" for m in MOMENTS]),
    "date and time": (MOMENTS, {}, [str(m) for m in MOMENTS]),
    "imputed date": (gaps(MOMENTS), {}, gaps([str(m) for m in MOMENTS])),
    "date in seconds": (MOMENTS, {"dates": "seconds"}, [str(m) for m in MOMENTS]),
    "text date in seconds": ([f"{m:%d.%m.%Y}" for m in MOMENTS], {"dates": "seconds"}, [f"{m:%F}" for m in MOMENTS]),
    "time": ([f"{m:%H:%M}" for m in MOMENTS], {}, [f"{m:%H:%M}:00" for m in MOMENTS]),
    "time in seconds": ([f"{m:%I:%M %p}" for m in MOMENTS], {"dates": "seconds"}, [f"{m:%H:%M}:00" for m in MOMENTS]),
    "words": (WORDS, {}, WORDS),
    "hashed words": (WORDS, {"text": ("c",), "text_method": "hashed"}, WORDS),
    "flag": ([k % 2 == 0 for k in range(N)], {}, [str(k % 2 == 0) for k in range(N)]),
}  # fmt: skip


def shown(model, source):
    """Return the cells of a column of the lists of rows, by the number of the row."""
    with opened(source) as own:
        page = read_page(report(model, inspect_rows(model, own)))
    cells = {}
    for table in page.all("table"):
        rows = [[cell.text() for cell in row.children] for row in table.all("tr")]
        if rows and rows[0][0] == "row":
            cells |= {int(row[0]): row[rows[0].index("c")] for row in rows[1:]}
    return cells


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_a_report_shows_the_cells_of_every_role(role, kind, tmp_path):
    cells, options, expected = ROLES[role]
    data = pd.DataFrame({"x": X + 0.5 * np.arange(N) % 3, "c": cells, "y": LABELS})
    source = written(data, tmp_path / "t.csv") if kind == "csv" else data
    model = fitted(source, **options)
    found = shown(model, source)
    assert len(found) >= 10
    if role == "pooled":
        kept = model.preparation.role("category")[0].levels
        expected = [code if code in kept else "(other)" for code in CODES]
    if role == "words" or role == "hashed words":
        assert model.preparation.role("text")
    assert found == {row: expected[row - 1] or "\u2013" for row in found}


def test_the_command_writes_a_report_of_dates(tmp_path, run):
    data = {"when": MOMENTS, "x": X, "y": LABELS}
    written(data, tmp_path / "t.csv")
    for more in ([], ["--dates", "seconds"]):
        status, _, err = run("fit", "t.csv", "--target", "y", "--report", "fit.html", "--certify", 0, *more)
        assert status == 0, err
        status, _, err = run("report", "t.sx", "t.csv", "-o", "own.html")
        assert status == 0, err
        assert any(str(moment) in (tmp_path / "own.html").read_text() for moment in MOMENTS)


def test_of_many_columns_those_with_the_largest_weights_are_shown_whatever_has_gaps(tmp_path):
    rng = np.random.default_rng(0)
    data = {f"a{k}": rng.normal(size=N) for k in range(5)} | {f"t{k}": rng.choice(["p", "q"], N) for k in range(5)}
    for k in range(5):
        data[f"a{k}"][rng.random(N) < 0.1] = np.nan
    source = written({**data, "y": np.where(data["t4"] == "p", "yes", "no")}, tmp_path / "t.csv")
    model = fitted(source)
    names = model.preparation.names
    strength = np.abs(np.asarray(model.estimator.coef_) * model.deviations).max(axis=0)
    own = {
        column: max(size for name, size in zip(names, strength, strict=True) if name.split("=")[0].split()[0] == column)
        for column in data
    }
    expected = sorted(own, key=lambda column: -own[column])[:8]
    assert {name for _, name in _columns(ReportContext(model, None, None))} == set(expected)


def test_a_model_without_a_record_of_its_fit_has_no_report(tmp_path):
    model = fitted(written({"x": X, "y": LABELS}, tmp_path / "t.csv"))
    with pytest.raises(ValueError, match="the model has no record of its fit; fit it again"):
        report(replace(model, facts=Facts()))
