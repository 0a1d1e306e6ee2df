import numpy as np
import pytest

import separatrix as sx
from independent_fits import overlapping
from separatrix import plots


@pytest.fixture(scope="module")
def data():
    return overlapping(2, smallest=40)


def test_a_line_for_each_weight_against_c(data):
    path = sx.path(sx.LogisticRegression(), *data, [0.1, 1.0, 10.0])
    ax = plots.coefficient_path(path, most=2)
    lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert len(lines) == min(2, data[0].shape[1])
    np.testing.assert_array_equal(lines[0].get_xdata(), [0.1, 1.0, 10.0])
    assert ax.get_xscale() == "log"
    with pytest.raises(ValueError, match="plane must be a number from 0 to 0; found 1"):
        plots.coefficient_path(path, plane=1)
    with pytest.raises(ValueError, match=r"names must be one for each of the"):
        plots.coefficient_path(path, names=["a"] * 99)
    with pytest.raises(TypeError, match=r"coefficient_path draws what sx.path returns; found list"):
        plots.coefficient_path([])


def test_the_error_of_the_fits_and_the_bound_that_is_proved(data):
    result = sx.tune(sx.LogisticRegression(), *data, C=(0.01, 10.0), folds=3, within=0.1)
    ax = plots.tuning(result)
    labels = ax.get_legend_handles_labels()[1]
    assert set(labels) == {
        "lower bound (proved)", "least error minus 0.1", "error of the fits", f"C = {result.C_:.3g}",
    }  # fmt: skip
    assert ax.get_xlim() == (0.01, 10.0)
    with pytest.raises(TypeError, match=r"tuning draws what sx.tune returns; found dict"):
        plots.tuning({})


def test_a_tuning_without_a_proof_shows_no_bound(data):
    X, y = data
    y = np.where(X[:, 0] > np.median(X[:, 0]), 2, y)
    result = sx.tune(sx.LogisticRegression(), X, y, C=(0.1, 1.0), folds=2)
    assert "lower bound (proved)" not in plots.tuning(result).get_legend_handles_labels()[1]
