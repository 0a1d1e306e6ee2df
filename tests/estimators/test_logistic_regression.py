"""LogisticRegression against scikit-learn's solvers run to the end, and its gap in fifty digits."""

from __future__ import annotations

import math
import pickle
import signal
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import separatrix as sx
import separatrix.svm.choice
import separatrix.svm.newton
from separatrix.geometry.rows import Rows
from separatrix.stops import MaxEpochs, NoMistakes, TimeLimit
from separatrix.svm.logistic import LogisticTask, best_bias, measure


def overlapping(n=80, d=5, seed=0, flip=0.2):
    return make_classification(n, d, n_informative=min(d, 4), n_redundant=0, flip_y=flip, random_state=seed)


def separable():
    X, y = overlapping(60, 4, 1, 0.0)
    return X + 10.0 * np.outer(2 * y - 1, [1.0, 0.0, 0.0, 0.0]), y


def unbalanced():
    X, y = overlapping(120, 4, 2, 0.05)
    keep = np.sort(np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:1]]))  # one row of a class
    return X[keep], y[keep]


def sparse_text():
    rng = np.random.default_rng(3)
    X = sparse.random(90, 40, 0.15, random_state=4, format="csr")
    return X, (X @ rng.standard_normal(40) + 0.3 * rng.standard_normal(90) > 0).astype(int)


def wide():
    return make_classification(40, 120, n_informative=10, random_state=5)


def large_values():
    X, y = overlapping(60, 3, 6)
    return X * 1e3 + 5000.0, y


def small_values():
    X, y = overlapping(60, 3, 6)
    return X * 1e-6, y


def constant_feature():
    X, y = overlapping(50, 3, 7)
    return np.column_stack([X, np.full(50, 3.0), np.zeros(50)]), y


DATA = {
    "overlapping": overlapping, "separable": separable, "unbalanced": unbalanced, "sparse": sparse_text, "wide": wide,
    "large values": large_values, "small values": small_values, "constant feature": constant_feature,
}  # fmt: skip
COSTS = (1e-2, 1.0, 100.0)
BIASES = {"free": {}, "penalised": {"intercept_scaling": 2.0}, "none": {"fit_intercept": False}}


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def precise_value(coef, intercept, X, signs, costs, constant=0.0):
    """The objective in fifty digits, from the very numbers of the model and the data."""
    with localcontext() as context:
        context.prec = 50
        w = [Decimal(float(value)) for value in coef]
        b = Decimal(float(intercept))
        total = sum(value * value for value in w) / 2
        if constant:
            total += (b / Decimal(constant)) ** 2 / 2
        for row, sign, cost in zip(dense(X), signs, costs, strict=True):
            m = int(sign) * (sum(p * Decimal(float(q)) for p, q in zip(w, row, strict=True)) + b)
            total += Decimal(float(cost)) * (1 + (-m).exp()).ln()
        return total


def signs_of(model, y):
    return np.where(np.asarray(y) == model.classes_[1], 1, -1)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", DATA)
def test_the_gap_covers_the_true_distance_from_the_optimum(name, bias):
    X, y = DATA[name]()
    constant = BIASES[bias].get("intercept_scaling", 0.0)
    for C in COSTS:
        costs = np.full(len(y), C)
        best = sx.LogisticRegression(C=C, tol=1e-12, **BIASES[bias]).fit(X, y)
        optimum = precise_value(best.coef_[0], best.intercept_[0], X, signs_of(best, y), costs, constant)
        assert best.duality_gap_ <= 1e-9 * best.objective_, (C, best.status_)
        assert abs(float(optimum) - best.objective_) <= best.duality_gap_ + 1e-15 * best.objective_
        for tol in (0.3, 1e-2, 1e-4):
            model = sx.LogisticRegression(C=C, tol=tol, **BIASES[bias]).fit(X, y)
            value = precise_value(model.coef_[0], model.intercept_[0], X, signs_of(model, y), costs, constant)
            assert model.status_.converged
            assert model.duality_gap_ <= 1.001 * tol * model.objective_
            assert float(value - optimum) <= model.duality_gap_
            assert abs(float(value) - model.objective_) <= model.duality_gap_


@pytest.mark.parametrize("name", DATA)
def test_the_gap_of_any_weights_is_an_upper_bound(name):
    X, y = DATA[name]()
    signs = np.where(y == y.max(), 1.0, -1.0)
    rng = np.random.default_rng(0)
    for free, constant in ((True, 0.0), (False, 2.0), (False, 0.0)):
        task = LogisticTask(Rows(X), signs, rng.uniform(0.1, 5.0, len(y)), constant, free)
        run = separatrix.svm.newton.LogisticRun(task, 1e-12, np.zeros(X.shape[1]))
        optimum = run.go(100, lambda: False)
        assert optimum.relative_gap <= 1e-12
        for size in (0.0, 1e-3, 1.0, 50.0):
            some = measure(task, optimum.weights + size * rng.standard_normal(X.shape[1]) / (1.0 + abs(dense(X)).max()))
            assert some.primal >= optimum.primal - optimum.proven_gap - 1e-14 * some.primal
            assert some.primal - optimum.primal <= some.proven_gap
            assert some.dual <= optimum.primal + optimum.rounding + some.rounding


def value_of(model, X, y, C, weights=None, constant=0.0):
    """The objective of another's weights, in ordinary arithmetic."""
    margins = np.where(np.asarray(y) == model.classes_[1], 1.0, -1.0) * (X @ model.coef_[0] + model.intercept_[0])
    losses = np.logaddexp(0.0, -margins) * (1.0 if weights is None else weights)
    own = model.coef_[0] @ model.coef_[0] + (model.intercept_[0] / constant if constant else 0.0) ** 2
    return 0.5 * own + C * losses.sum()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["overlapping", "separable", "unbalanced", "sparse", "wide", "constant feature"])
def test_the_optimum_is_scikit_learns(name, weighted, solver):
    X, y = DATA[name]()
    weights = np.random.default_rng(1).uniform(0.0, 3.0, len(y)) if weighted else None
    for C, fit_intercept in ((0.05, True), (1.0, False), (20.0, True)):
        options = {"C": C, "fit_intercept": fit_intercept}
        theirs = LogisticRegression(solver=solver, tol=1e-10, max_iter=20_000, **options)
        theirs.fit(X, y, sample_weight=weights)
        ours = sx.LogisticRegression(tol=1e-10, **options).fit(X, y, sample_weight=weights)
        assert abs(value_of(ours, X, y, C, weights) - ours.objective_) <= 1e-12 * ours.objective_
        assert ours.objective_ <= value_of(theirs, X, y, C, weights) + ours.duality_gap_
        assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)
        near = sx.LogisticRegression(**options).fit(X, y, sample_weight=weights)
        assert near.objective_ - value_of(theirs, X, y, C, weights) <= near.duality_gap_


def test_the_penalised_bias_is_liblinears():
    X, y = overlapping()
    theirs = LogisticRegression(solver="liblinear", C=3.0, intercept_scaling=2.0, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = sx.LogisticRegression(C=3.0, intercept_scaling=2.0, tol=1e-10).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=1e-5)


def test_several_classes_are_one_vs_rest_with_probabilities_that_add_up_to_one():
    X, y = load_iris(return_X_y=True)
    model = sx.LogisticRegression(multi_class="ovr", tol=1e-10).fit(X, y)
    for code in range(3):
        alone = LogisticRegression(solver="newton-cholesky", tol=1e-10).fit(X, y == code)
        assert np.allclose(model.coef_[code], alone.coef_[0], atol=1e-5)
        assert model.objective_[code] <= value_of(alone, X, y == code, 1.0) + model.duality_gap_[code]
    proba = model.predict_proba(X)
    parts = expit(model.decision_function(X))
    assert np.allclose(proba, parts / parts.sum(axis=1, keepdims=True))
    assert np.array_equal(proba.argmax(axis=1), model.predict(X))
    assert np.allclose(np.log(proba), model.predict_log_proba(X))
    assert len(model.history_) == 3
    assert len(model.history_[0]) == len(model.history_[0].gap)


def test_probabilities_of_two_classes_are_those_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    ours = sx.LogisticRegression(tol=1e-10).fit(X, y).predict_proba(X)
    theirs = LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y).predict_proba(X)
    assert np.allclose(ours, theirs, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(list(BIASES)))
def test_a_weight_of_two_is_the_row_twice(seed, bias):
    X, y = overlapping(30, 3, seed)
    weights = np.random.default_rng(seed).integers(0, 3, 30)
    weights[[np.argmax(y == 0), np.argmax(y == 1)]] = 1
    once = sx.LogisticRegression(tol=1e-10, **BIASES[bias]).fit(X, y, sample_weight=weights)
    again = np.repeat(np.arange(30), weights)
    twice = sx.LogisticRegression(tol=1e-10, **BIASES[bias]).fit(X[again], y[again])
    assert np.allclose(once.coef_, twice.coef_, atol=1e-5)
    assert math.isclose(once.objective_, twice.objective_, rel_tol=1e-9)


def test_class_weights_multiply_c():
    X, y = unbalanced()
    balanced = sx.LogisticRegression(class_weight="balanced", tol=1e-10).fit(X, y)
    theirs = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.allclose(balanced.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize(
    "model",
    [sx.LogisticRegression(), sx.LogisticRegression(multi_class="ovr"), sx.LinearSVM()],
    ids=["multinomial", "one-vs-rest", "svm"],
)
def test_a_class_whose_rows_all_have_weight_0_is_refused_before_any_fit(model):
    X, y = load_iris(return_X_y=True)
    weights = (y != 2).astype(float)
    message = "every example of the class 2 has weight 0: leave its rows out, or give them weight"
    for candidate, sample_weight in ((model, weights), (model.__class__(class_weight={0: 1.0, 1: 1.0, 2: 0.0}), None)):
        with pytest.raises(ValueError, match=message):
            candidate.fit(X, y, sample_weight=sample_weight)
        with pytest.raises(ValueError, match=message):
            sx.path(candidate, X, y, [0.1, 1.0], sample_weight=sample_weight)
    with pytest.raises(ValueError, match=message):
        sx.tune(type(model)(class_weight={0: 1.0, 1: 1.0, 2: 0.0}), X, y)


def sparse_problem(n=400, d=600, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.02, random_state=seed, format="csr")
    return X, (X @ rng.standard_normal(d) + rng.standard_normal(n) > 0).astype(int)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_conjugate_gradients_reach_what_the_factor_reaches(bias, layout, monkeypatch):
    X, y = sparse_problem()
    X = X if layout == "sparse" else X.toarray() + 3.0  # which is far from the origin
    monkeypatch.setattr(separatrix.svm.choice, "MOST_EQUATIONS", 1)
    for C in (0.1, 100.0):
        products = sx.LogisticRegression(C=C, tol=1e-8, **BIASES[bias]).fit(X, y)
        assert set(products.history_.method) == {"newton-cg"}
        with monkeypatch.context() as patch:
            patch.setattr(separatrix.svm.choice, "MOST_EQUATIONS", 10**6)
            patch.setattr(separatrix.svm.choice, "FIRST_TRY", math.inf)
            factor = sx.LogisticRegression(C=C, tol=1e-8, **BIASES[bias]).fit(X, y)
        assert factor.history_.method[-1] == "newton"
        assert products.status_.converged
        assert factor.status_.converged
        assert abs(products.objective_ - factor.objective_) <= products.duality_gap_ + factor.duality_gap_


def test_the_factor_takes_over_where_conjugate_gradients_take_long(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) @ np.diag(10.0 ** rng.uniform(-3, 3, 40)) @ rng.standard_normal((40, 40))
    y = (X[:, 0] + X[:, 1] * rng.standard_normal(300) > 0).astype(int)
    monkeypatch.setattr(separatrix.svm.choice, "FIRST_TRY", 1)
    monkeypatch.setattr(separatrix.svm.choice, "FLOPS_PER_TOUCH", 2.0)
    model = sx.LogisticRegression(tol=1e-6).fit(X, y)
    assert model.history_.method[0] == "newton-cg"
    assert model.history_.method[-1] == "newton"
    assert model.status_.converged


def test_the_bias_that_costs_nothing_is_found_for_any_scores():
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-3, 1.0, 1e3, 1e8):
        scores = size * rng.standard_normal(50)
        signs = np.where(rng.random(50) < 0.2, 1.0, -1.0)
        costs = rng.uniform(1e-3, 10.0, 50)
        task = LogisticTask(Rows(np.zeros((50, 1))), signs, costs, free=True)
        bias = best_bias(task, scores)
        alpha = costs * expit(-signs * (scores + bias))
        assert abs(signs @ alpha) <= 1e-9 * alpha.sum() or size > 1e6


def test_features_far_from_the_origin_and_of_any_size_converge():
    X, y = overlapping(500, 4, 3)
    for shift, size in ((1.6e9, 1e7), (0.0, 1e6), (0.0, 1e-8), (1e4, 1.0)):
        model = sx.LogisticRegression().fit(shift + size * X, y)
        assert model.status_.converged, (shift, size, model.status_)


def test_float32_rows_and_all_index_types_have_one_optimum():
    X, y = sparse_problem(200, 60)
    X = X.astype(np.float32)
    models = [sx.LogisticRegression(tol=1e-9).fit(rows, y) for rows in (X, X.toarray(), X.astype(np.float64))]
    wide_index = sparse.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape)
    models.append(sx.LogisticRegression(tol=1e-9).fit(wide_index, y))
    values = [model.objective_ for model in models]
    assert max(values) - min(values) <= 2e-9 * max(values)


def test_a_time_limit_leaves_a_model_with_its_true_gap():
    X, y = overlapping(300, 6)
    model = sx.LogisticRegression(stop=TimeLimit(1e-9)).fit(X, y)
    assert str(model.status_).startswith("stopped by the time limit of 1e-09 s in iteration 1: relative duality gap")
    best = sx.LogisticRegression(tol=1e-10).fit(X, y)
    assert model.objective_ - best.objective_ <= model.duality_gap_
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("problem", ["dense", "sparse"])
def test_a_run_cut_short_goes_on_to_the_same_bits(problem, tmp_path):
    X, y = overlapping(300, 6) if problem == "dense" else sparse_problem(200, 2000)
    whole = sx.LogisticRegression(tol=1e-9, warm_start=True).fit(X, y)
    model = sx.LogisticRegression(tol=1e-9, warm_start=True, stop=TimeLimit(1e-9)).fit(X, y)
    assert model._cut_short
    sx.save(model, tmp_path / "m.sx")
    model = sx.load(tmp_path / "m.sx").set_params(stop=None).fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.intercept_.tobytes() == whole.intercept_.tobytes()
    assert model.duality_gap_ == whole.duality_gap_
    assert model.history_.primal == whole.history_.primal


def test_a_run_goes_on_from_the_middle_to_the_same_bits(monkeypatch):
    X, y = overlapping(300, 6)
    whole = sx.LogisticRegression(tol=1e-9).fit(X, y)
    model = sx.LogisticRegression(tol=1e-9, warm_start=True, stop=TimeLimit(1e6))
    step = separatrix.svm.newton.LogisticRun._step

    def cut(self, point, halted):
        if self.iterations == 2:
            self.ended = "halted"
        else:
            step(self, point, halted)

    with monkeypatch.context() as patch:
        patch.setattr(separatrix.svm.newton.LogisticRun, "_step", cut)
        model.fit(X, y)
    assert model._cut_short
    model.fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.history_.primal == whole.history_.primal


def test_a_warm_start_begins_with_the_weights_there_are():
    X, y = overlapping(400, 6)
    model = sx.LogisticRegression(C=1.0, warm_start=True, tol=1e-8).fit(X, y)
    cold = sx.LogisticRegression(C=1.1, tol=1e-8).fit(X, y)
    model.set_params(C=1.1).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert abs(model.objective_ - cold.objective_) <= model.duality_gap_ + cold.duality_gap_


def test_ctrl_c_leaves_a_usable_model(monkeypatch):
    X, y = overlapping(300, 6)
    model = sx.LogisticRegression(tol=1e-12)
    step = separatrix.svm.newton.LogisticRun._step

    def press(self, point, halted):
        if self.iterations == 1:
            signal.raise_signal(signal.SIGINT)
        step(self, point, halted)

    monkeypatch.setattr(separatrix.svm.newton.LogisticRun, "_step", press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert str(model.status_).startswith("interrupted in iteration 3: relative duality gap")
    assert model.score(X, y) > 0.5
    monkeypatch.undo()
    best = sx.LogisticRegression(tol=1e-10).fit(X, y)
    assert 0 < model.objective_ - best.objective_ <= model.duality_gap_


def test_too_few_iterations_warn_with_the_gap_that_was_reached():
    X, y = overlapping(300, 6)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iteration: relative duality gap .* above tol=1e-10"):
        model = sx.LogisticRegression(max_iter=1, tol=1e-10).fit(X, y)
    assert model.n_iter_ == 1


def test_no_smaller_gap_than_rounding_allows_ends_the_run():
    X, y = overlapping(200, 4)
    with pytest.warns(ConvergenceWarning, match="and rounding allows no smaller one"):
        model = sx.LogisticRegression(tol=0.0).fit(X, y)
    assert model.duality_gap_ <= 1e-10 * model.objective_
    assert model.n_iter_ < 40


def test_verbose_says_how_far_it_is(capsys, monkeypatch):
    X, y = overlapping()
    import time

    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    sx.LogisticRegression(verbose=1).fit(X, y)
    assert "class 1: iteration " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C must be a positive number, or infinity for no penalty; found 0.0"),
        ({"C": -math.inf}, "C must be a positive number, or infinity for no penalty; found -inf"),
        ({"C": math.nan}, "C must be a positive number, or infinity for no penalty; found nan"),
        ({"C": math.inf, "intercept_scaling": 2.0}, "C=inf means no penalty, so intercept_scaling=2.0 has no meaning"),
        ({"tol": 1.0}, "tol must be at least 0 and below 1; found 1.0"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be None, for a bias that costs nothing"),
        ({"stop": NoMistakes()}, "LogisticRegression stops when its gap is small enough"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"multi_class": "softmax"}, "multi_class must be 'auto', 'multinomial' or 'ovr'; found 'softmax'"),
    ],
)
def test_parameters_that_cannot_be_meant(parameters, message):
    X, y = overlapping()
    with pytest.raises(ValueError, match=message):
        sx.LogisticRegression(**parameters).fit(X, y)


def test_epochs_are_iterations_in_a_stop_rule():
    X, y = overlapping()
    assert sx.LogisticRegression(stop=MaxEpochs(2), tol=1e-12).fit(X, y).n_iter_ == 2


@pytest.mark.parametrize("multi_class", ["multinomial", "ovr"])
def test_it_goes_through_a_model_file_a_pickle_and_original_units(tmp_path, multi_class):
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), sx.LogisticRegression(multi_class=multi_class)).fit(X, y)
    sx.save(pipeline, tmp_path / "m.sx")
    for again in (sx.load(tmp_path / "m.sx"), pickle.loads(pickle.dumps(pipeline))):
        assert np.array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    raw = sx.original_units(pipeline)
    assert np.allclose(raw.predict_proba(X), pipeline.predict_proba(X))


def test_its_certificate_counts_the_rows_on_the_wrong_side():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    assert model.certificate_.wrong == int((model.predict(X) != y).sum())


def test_every_build_gives_the_same_bits():
    from separatrix import _core

    X, y = sparse_problem(300, 50)
    before, seen = _core.build(), set()
    try:
        for build in _core.builds():
            _core.use_build(build)
            for rows in (X, X.toarray()):
                seen.add((sparse.issparse(rows), sx.LogisticRegression(tol=1e-8).fit(rows, y).coef_.tobytes()))
    finally:
        _core.use_build(before)
    assert len(seen) == 2
