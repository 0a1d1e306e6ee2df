"""scikit-learn's own checks, all of them, for every readout."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx

MODELS = [
    sx.Perceptron(),
    sx.Perceptron(readout="averaged", max_iter=20),
    sx.Perceptron(readout="voted", max_iter=20),
    sx.Perceptron(readout="pocket", max_iter=20),
    sx.Perceptron(margin=0.5, intercept_scaling="ball", max_iter=50, readout="averaged"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(MODELS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
