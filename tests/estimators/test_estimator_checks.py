"""scikit-learn's own checks, all of them, for every readout and every mode of descent."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.stops import MaxEpochs

MODELS = [
    sx.Perceptron(),
    sx.Perceptron(readout="averaged", max_iter=20),
    sx.Perceptron(readout="voted", max_iter=20),
    sx.Perceptron(readout="pocket", max_iter=20),
    sx.Perceptron(margin=0.5, intercept_scaling="ball", max_iter=50, readout="averaged"),
    sx.Perceptron(multi_class="joint"),
    sx.Perceptron(multi_class="joint", readout="averaged", max_iter=20),
    sx.Perceptron(multi_class="joint", readout="pocket", max_iter=20),
    sx.Neuron(),
    sx.Neuron(loss="log", eta0=0.1, alpha=1e-3, learning_rate="invscaling"),
    sx.Neuron(loss="log", eta0=0.5, batch_size="all", learning_rate="adaptive"),
    sx.Neuron(loss="log", eta0=0.1, batch_size=8),
    sx.Network(),
    sx.Network((5, 3), loss="squared", batch_size="all", eta0=0.5, learning_rate="adaptive"),
    # a stopping rule, because one check sets max_iter to 1000
    sx.Network(batch_size=8, stop=MaxEpochs(60), eta0=0.2, learning_rate="invscaling"),
    sx.Network(batch_size=1, stop=MaxEpochs(20), eta0=0.1),
    sx.LinearSVM(),
    sx.LinearSVM(loss="squared_hinge"),
    sx.LinearSVM(C=10.0, intercept_scaling=2.0),
    sx.LogisticRegression(),
    sx.LogisticRegression(C=10.0, intercept_scaling=2.0),
    sx.LogisticRegression(C=10.0, l1_ratio=1.0),
    sx.LogisticRegression(l1_ratio=0.5, intercept_scaling=2.0),
    sx.LinearSVM(loss="squared_hinge", penalty="l1"),
    sx.OnlineSVM(max_iter=50),
    sx.OnlineSVM(average=True, max_iter=50),
    sx.OnlineSVM(step="lecture", max_iter=50),
    sx.PassiveAggressive(max_iter=50),
    sx.PassiveAggressive(variant="pa", max_iter=50),
    sx.PassiveAggressive(variant="pa2", average=True, max_iter=50),
    sx.PassiveAggressive(multi_class="joint", C=0.1, max_iter=50),
    sx.PassiveAggressive(multi_class="joint", variant="pa2", average=True, max_iter=50),
    sx.AROW(stop=MaxEpochs(4)),
    sx.AROW(covariance="full", average=True, stop=MaxEpochs(4)),
    sx.SCW(stop=MaxEpochs(4)),
    sx.SCW(variant="scw2", eta=0.75, covariance="full", stop=MaxEpochs(4)),
    sx.NHERD(stop=MaxEpochs(4)),
    sx.ROMMA(average=True, max_iter=20),
    sx.ROMMA(aggressive=True, average=True, max_iter=20),
    sx.SecondOrderPerceptron(average=True, max_iter=20),
    sx.SecondOrderPerceptron(a=10.0, covariance="full", max_iter=20),
    sx.ALMA(average=True, max_iter=20),
    sx.KernelPerceptron(),
    sx.KernelPerceptron(readout="averaged", max_iter=20),
    sx.KernelPerceptron(readout="voted", max_iter=20, kernel="poly", degree=2, coef0=1.0),
    sx.KernelPerceptron(readout="pocket", max_iter=20, kernel="linear", bias=2.0),
    sx.KernelPerceptron(budget=200, max_iter=20),
    sx.KernelPerceptron(budget=200, forget="random", max_iter=20),
    sx.KernelPerceptron(budget=200, forget="projected", readout="averaged", max_iter=20),
    sx.KernelSVM(),
    sx.KernelSVM(kernel="linear", C=0.1),
    sx.KernelSVM(kernel="precomputed"),
    sx.KernelSVM(kernel="poly", degree=2, coef0=1.0, tol=1e-6),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(MODELS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
