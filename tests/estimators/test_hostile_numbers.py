"""Fits on hostile numbers: each ends with a finite model and a status, or with one sentence."""

import dataclasses
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ctrl_c import press_ctrl_c
from separatrix import (
    ALMA,
    AROW,
    NHERD,
    ROMMA,
    SCW,
    KernelPerceptron,
    KernelSVM,
    LinearSVM,
    LogisticRegression,
    Network,
    Neuron,
    OnlineSVM,
    Perceptron,
    SecondOrderPerceptron,
    load,
    save,
    stops,
)
from separatrix.estimators import linear_svm
from separatrix.geometry.rows import Rows
from separatrix.svm.solve import Run
from separatrix.svm.task import MarginTask

SIZES = [
    5e-324, 1e-320, 1e-310, 1e-300, 1e-160, 1e-150, 1e-16, 1e-8, 1.0, 1e8, 1e16, 1e100, 1e150, 1e160, 1e300, 1e308,
]  # fmt: skip
READOUTS = ("last", "averaged", "voted", "pocket")


@np.errstate(all="ignore")
def hostile_data(rng):
    n, d = int(rng.integers(2, 7)), int(rng.integers(1, 6))
    kind = rng.integers(5)
    if kind == 0:
        X = rng.choice(SIZES) * rng.standard_normal((n, d))
    elif kind == 1:
        X = rng.choice(SIZES, (n, d)) * rng.choice([-1.0, 0.0, 1.0], (n, d))
    elif kind == 2:
        X = rng.choice(SIZES, d) * rng.standard_normal((n, d))
    elif kind == 3:
        X = rng.choice(SIZES) + rng.choice(SIZES) * rng.standard_normal((n, d))
    else:
        X = np.repeat(rng.choice(SIZES) * rng.standard_normal((1, d)), n, axis=0)
    X = np.clip(X, -1.7e308, 1.7e308)
    if rng.random() < 0.3:
        X[rng.integers(n)] = X[rng.integers(n)]
    y = rng.integers(0, 3, n)
    y[0], y[-1] = 0, 1
    weights = rng.choice([0.0, 1e-300, 0.5, 1.0, 2.0, 1e300], n) if rng.random() < 0.2 else None
    return sparse.csr_array(X) if rng.random() < 0.2 else X, y, weights


def hostile_model(rng, kind):
    def pick(*choices):
        return choices[rng.integers(len(choices))]

    rules = (None, None, stops.LossAtMost(0), stops.HeldOutFlat(0.3), stops.NoMistakes())
    online = {"max_iter": pick(1, 5, 30), "stop": pick(*rules), "random_state": 0}
    kernel = {"kernel": pick("rbf", "linear", "poly"), "gamma": pick("scale", "auto", 1.0, 1e-300, 1e300), "degree": 2}
    biased = {"fit_intercept": pick(True, False), "intercept_scaling": pick(1.0, 1e100)}
    if kind == "perceptron":
        init, eta0, margin = pick("zeros", "uniform"), pick(1.0, 1e-300, 1e300), pick(0.0, 1e10)
        biased["intercept_scaling"] = pick(1.0, 1e100, "ball")
        return Perceptron(readout=pick(*READOUTS), init=init, eta0=eta0, margin=margin, **biased, **online)
    if kind == "neuron":
        eta0, alpha = pick(0.01, 1e10, 1e-300), pick(0.0, 0.1)
        return Neuron(loss=pick("squared", "log"), batch_size=pick(1, 2, "all"), eta0=eta0, alpha=alpha, **online)
    if kind == "online":
        step, average, project = pick("pegasos", "lecture"), pick(True, False), pick(True, False)
        C = pick(1.0, 1e-10, 1e10, 1e300, 1e-300)
        return OnlineSVM(C=C, step=step, average=average, project=project, **biased, **online)
    if kind == "spread":
        kept = {"covariance": pick("diagonal", "full"), "average": pick(True, False), **biased, **online}
        if pick(True, False):
            return AROW(r=pick(1.0, 1e-10, 1e10, 1e150, 1e-150), **kept)
        C, eta = pick(1.0, 1e-10, 1e10, 1e-150, np.inf), pick(0.9, 0.5000001, 1.0)
        return SCW(variant=pick("scw1", "scw2"), C=C, eta=eta, **kept)
    if kind == "large margin":
        kept = {"average": pick(True, False), **biased, **online}
        if pick(True, False):
            return ROMMA(aggressive=pick(True, False), **kept)
        return ALMA(alpha=pick(1.0, 0.9, 0.1, 1e-10), **kept)
    if kind == "second order":
        kept = {"covariance": pick("diagonal", "full"), "average": pick(True, False), **biased, **online}
        if pick(True, False):
            return NHERD(C=pick(1.0, 1e-10, 1e10, 1e150, 1e-150), **kept)
        return SecondOrderPerceptron(a=pick(1.0, 1e-10, 1e10, 1e150, 1e-150), **kept)
    if kind == "linear":
        loss, tol = pick("hinge", "squared_hinge"), pick(1e-3, 1e-10)
        return LinearSVM(C=pick(1.0, 1e-10, 1e10, 1e300), loss=loss, tol=tol, random_state=0, **biased)
    if kind == "hard":
        return LinearSVM(C=np.inf, tol=pick(1e-3, 1e-10), random_state=0, **biased)
    if kind == "logistic":
        return LogisticRegression(C=pick(1.0, 1e-10, 1e10, 1e300), tol=pick(1e-3, 1e-10), **biased)
    if kind == "network":
        return Network(hidden=(2,), eta0=pick(0.01, 1e10), batch_size=pick(1, "all"), alpha=pick(0.0, 0.1), **online)
    if kind == "kernel-perceptron":
        return KernelPerceptron(bias=pick("ball", None, 1.0, 1e100), readout=pick(*READOUTS), **kernel, **online)
    if kind == "budget":
        forget = pick("oldest", "random", "projected")
        readout = pick("last", "averaged") if forget == "projected" else "last"
        bias = pick("ball", None, 1.0, 1e100)
        return KernelPerceptron(budget=pick(1, 3), forget=forget, bias=bias, readout=readout, **kernel, **online)
    return KernelSVM(C=pick(1.0, 1e10, 1e-10, 1e300), tol=pick(1e-3, 1e-10), **kernel)


KINDS = (
    "perceptron",
    "neuron",
    "online",
    "linear",
    "hard",
    "network",
    "kernel-perceptron",
    "kernel-svm",
    "logistic",
    "spread",
    "large margin",
    "second order",
    "budget",
)
LEARNED = ("coef_", "intercept_", "coefs_", "intercepts_", "dual_coef_", "alpha_", "support_vectors_")


@pytest.mark.filterwarnings("error", f"ignore::{ConvergenceWarning.__module__}.{ConvergenceWarning.__name__}")
@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_ends_with_a_finite_model_or_with_one_sentence(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    fitted = refused = 0
    for _ in range(40):
        X, y, weights = hostile_data(rng)
        model = hostile_model(rng, kind)
        began = time.perf_counter()
        try:
            model.fit(X, y, sample_weight=weights)
        except ValueError as problem:
            text = str(problem)
            assert "\n" not in text, text
            assert "linprog" not in text, text
            refused += 1
        else:
            for name in LEARNED:
                parts = getattr(model, name, [])
                parts = [parts.data] if sparse.issparse(parts) else parts
                assert all(np.isfinite(part).all() for part in parts), (name, model.status_)
            assert str(model.status_)
            assert set(model.predict(X)) <= set(model.classes_)
            fitted += 1
        assert time.perf_counter() - began < 5.0  # a tenth of a second at most, where the machine is free
    assert fitted > 5
    own = ("spread", "large margin", "second order")  # whose steps are the shorter, the larger the numbers are
    assert refused > 3 or kind in own


def scattered(size, n=6):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return rng.standard_normal((n, 2)) * size, y


@pytest.mark.parametrize("n", [6, 40])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("size", [1e8, 1e16, 1e20])
def test_a_kernel_machine_that_gets_no_further_stops_and_says_so(size, kernel, n):
    began = time.perf_counter()
    model = KernelSVM(kernel=kernel, gamma=1.0, degree=2)
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap .*, above tol=0.001; "):
        model.fit(*scattered(size, n))
    assert not model.status_.converged
    assert model.n_iter_ < 2000
    assert time.perf_counter() - began < 20.0


def test_a_slow_kernel_machine_that_will_converge_is_left_to_it():
    model = KernelSVM(kernel="linear").fit(*scattered(500.0, 40))
    assert model.n_iter_ > 300
    assert model.status_.converged


def test_a_gap_of_which_rounding_could_hide_everything_is_not_called_converged():
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):  # what is reached depends on the LAPACK
        model = LinearSVM(loss="squared_hinge").fit([[0.0], [1e100]], [0, 1])
    assert not model.status_.converged
    run = Run(MarginTask(Rows(np.array([[0.0], [1.0]])), np.array([-1.0, 1.0]), np.ones(2)), 1e-4, 0)
    run.go(100, lambda: False)
    assert linear_svm._sentence(run, run.solution, interrupted=False, limit=None).converged
    run.best = dataclasses.replace(run.best, rounding=np.inf)
    told = linear_svm._sentence(run, run.solution, interrupted=False, limit=None)
    assert "but rounding could hide any other" in str(told)
    assert not told.converged
    run.best = dataclasses.replace(run.best, rounding=1.5 * run.best.primal)
    told = linear_svm._sentence(run, run.solution, interrupted=False, limit=None)
    assert str(told).endswith("but rounding could hide one of 2")
    assert not told.converged


def test_ctrl_c_ends_a_kernel_machine_after_its_round():
    model = KernelSVM(kernel="linear", max_iter=10**9)  # so slow that it would go on for minutes
    press_ctrl_c()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.fit(*scattered(1e6, 300))
    assert time.perf_counter() - began < 10.0
    assert str(model.status_).startswith("interrupted after ")
    assert np.isfinite(model.dual_coef_).all()


def test_subnormal_rows_have_no_message_of_another_package():
    X, y = [[-5e-324], [1e-323], [1e-323]], [0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVM(C=np.inf, fit_intercept=False).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert KernelPerceptron(kernel="linear").fit([[-2e-160], [1e-160]], [0, 1]).predict([[1e-160]]).tolist() == [1]
    assert KernelSVM().fit([[-2e-160], [1e-160]], [0, 1]).predict([[-2e-160]]).tolist() == [0]


@pytest.mark.parametrize(
    ("model", "X", "weights", "message"),
    [
        (Perceptron(intercept_scaling="ball"), [[0.0], [1e160]], None, r"smallest ball .* radius 5e\+159, too large"),
        (KernelSVM(C=1e300), [[0.0], [1.0]], None, r"C times the weights must lie between 1e-150 and 1e150"),
        (OnlineSVM(C=1e10), [[0.0], [1.0]], [1e300, 1e300], r"C times the total weight .* found inf"),
        (Network(), [[0.0, 1e300], [0.0, 1.0]], None, r"X holds a value of size 1e\+300, so large that sums overflow"),
        (KernelPerceptron(), [[1e155], [1.1e155]], None, r"values so large that the kernel overflows"),
        (
            KernelPerceptron(bias=1e100, readout="averaged", random_state=0),
            [[0.0], [1.0]],
            [1e3, 1e300],
            r"_ would not be finite numb",
        ),
    ],
)
def test_numbers_that_are_too_large_are_refused_by_name(model, X, weights, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, [0, 1], sample_weight=weights)
    assert not hasattr(model, "classes_")


def test_a_row_whose_activation_is_not_a_number_has_no_prediction():
    model = Perceptron(init=([[1e300, 1e300]], [0.0]), max_iter=1).fit([[1.0, 1.0], [-1.0, -1.0]], [1, 0])
    assert model.predict([[1e300, 1.0]]).tolist() == [1]
    with pytest.raises(ValueError, match="the activation of row 1 is not a number"):
        model.predict([[1.0, 1.0], [1e300, -1e300]])


@pytest.mark.parametrize("boundary", ["positive", "negative"])
@pytest.mark.parametrize("readout", READOUTS)
def test_a_kernel_perceptron_without_updates_predicts_by_the_rule_of_ties(readout, boundary, tmp_path):
    X, y = [[0.0, 1.0], [2.0, 1.0]], ["no", "yes"]
    models = [
        KernelPerceptron(
            readout=readout, boundary=boundary, max_iter=1, stop=stops.HeldOutFlat(0.5), random_state=seed
        ).fit(X, y)
        for seed in range(20)
    ]
    model = next(each for each in models if not len(each.support_))
    expected = ["yes" if boundary == "positive" else "no"] * 2
    share = {"positive": 1.0, "negative": -1.0}[boundary] if readout == "voted" else 0.0
    assert model.predict(X).tolist() == expected
    assert model.decision_function(X).tolist() == [share, share]
    assert str(model.status_).endswith(f"; {readout} weights: 1 of 2 training rows wrong")
    save(model, tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").predict(X).tolist() == expected


@pytest.mark.parametrize("readout", READOUTS)
def test_a_perceptron_without_updates_keeps_its_start(readout, tmp_path):
    X, y = [[0.0, 1.0], [2.0, 1.0]], ["no", "yes"]
    model = Perceptron(readout=readout, init=([[1.0, 0.0]], [-1.0])).fit(X, y)
    assert model.n_updates_ == 0
    assert model.predict(X).tolist() == y
    save(model, tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").predict(X).tolist() == y
