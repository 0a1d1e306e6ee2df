"""Columns that give the target away are warned of; good columns are not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from separatrix.tables.settings import MemoryBudget
from small_tables import fitted, written

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=N)
NOISE = RNG.normal(size=N)
LABELS = np.where(X + 0.5 * NOISE > 0, "yes", "no")
THREE = np.where(X > 0.5, "high", np.where(X < -0.5, "low", "mid"))


def warnings_of(columns, labels=LABELS, **more):
    data = pd.DataFrame({**columns, "noise": NOISE, "y": labels})
    return [note for note in fitted(data, **more).facts.notes if note.startswith("Warning")]


@pytest.mark.parametrize(
    "leak",
    [
        np.where(LABELS == "yes", 1.0, 0.0),
        np.where(LABELS == "yes", 10.0, -10.0) + NOISE,  # a quantity that separates the classes
        np.where(LABELS == "yes", "paid", "open"),
        np.where(LABELS == "yes", RNG.choice(["a", "b"], N), RNG.choice(["c", "d", "e"], N)),
    ],
)
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_column_that_gives_the_target_away_is_warned_of(leak, on_disk):
    budget = MemoryBudget(memory=1) if on_disk else None
    assert warnings_of({"status": leak, "x": X}, budget=budget) == [
        "Warning: status alone predicts 'y' for almost every row: a leak? If new rows will not have it, use --exclude "
        "status."
    ]


def test_several_leaks_are_one_warning_whose_hint_works(run, tmp_path):
    data = pd.DataFrame({"a": LABELS == "yes", "b c": np.where(LABELS == "yes", 3, 4), "x": X, "y": LABELS})
    written(data, tmp_path / "t.csv")
    status, out, _ = run("fit", "t.csv", "--target", "y", "--certify", 0)
    assert status == 0
    warning = (
        "Warning: b c, a each alone predict 'y' for almost every row: a leak? If new rows will not have them, use "
        "--exclude 'b c,a'."
    )
    assert warning in " ".join(out.split("\n"))
    status, out, _ = run("fit", "t.csv", "--target", "y", "--certify", 0, "--exclude", "b c,a")
    assert status == 0
    assert "Warning" not in out
    assert "1 column as 1 feature: x." in out


def test_of_several_classes_a_number_may_sort_all(tmp_path):
    assert len(warnings_of({"x": X}, THREE)) == 1
    assert warnings_of({"x": X + 0.3 * NOISE}, THREE) == []


@pytest.mark.parametrize(
    "column",
    [
        X,  # good, but not that good
        [f"k{k % 60}" for k in range(N)],  # many levels
        NOISE,
        np.where(RNG.random(N) < 0.97, LABELS, "no"),  # right for 98 rows of 100
        np.where(RNG.random(N) < 0.5, X, np.nan),
    ],
)
def test_good_columns_are_no_leaks(column):
    assert warnings_of({"column": column}) == []


def test_an_id_that_predicts_the_target_is_a_leak_if_it_is_used():
    """Rows sorted by their label: their number gives it away; by default such a number is left out, with a warning."""
    order = np.argsort(LABELS, kind="stable")
    data = pd.DataFrame({"id": np.arange(1, N + 1), "x": X[order], "y": LABELS[order]})
    assert fitted(data).facts.notes == (
        "Left out: id (id: it counts the rows).",
        "Warning: the rows are in the order of 'y', so id, which counts them, would predict it: it is left out; do the "
        "same with others that follow the order.",
    )
    assert fitted(data.assign(x=X, y=LABELS)).facts.notes == ("Left out: id (id: it counts the rows).",)
    (warning,) = fitted(data, number=("id",)).facts.notes
    assert warning.startswith("Warning: id alone predicts 'y' for almost every row: a leak?")


def test_few_rows_and_one_class_alone_are_no_leaks():
    data = pd.DataFrame({"a": [1.0, 0.0] * 20, "b": NOISE[:40], "y": ["p", "q"] * 20})
    assert fitted(data).facts.notes == ()
    rare = np.where(np.arange(N) == 7, "yes", "no").astype(object)
    rare[300] = "yes"
    assert warnings_of({"x": X}, rare) == []
