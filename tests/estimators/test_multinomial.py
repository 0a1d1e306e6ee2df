"""LogisticRegression of several classes together, against scikit-learn's solvers, and its gap in fifty digits."""

from __future__ import annotations

import math
import signal
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from scipy.special import kl_div, softmax
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

import separatrix as sx
import separatrix.estimators.logistic_regression
import separatrix.svm.choice
from separatrix import _core
from separatrix.geometry.rows import Rows
from separatrix.stops import TimeLimit
from separatrix.svm.multinomial import MultinomialRun
from separatrix.svm.multinomial_bounds import first_offsets, measure, point_at
from separatrix.svm.multinomial_task import MultinomialTask


def overlapping(n=150, d=5, k=3, seed=0, noise=1.0):
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((n, d))
    y = (2.0 * X @ draw.standard_normal((d, k)) + noise * draw.gumbel(size=(n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def separable():
    X, y = overlapping(90, 4, 3, 1)
    return X + 10.0 * np.eye(4)[y], y


def lone_row():
    X, y = overlapping(120, 4, 4, 2)
    keep = np.sort(np.concatenate([np.flatnonzero(y != 3), np.flatnonzero(y == 3)[:1]]))
    return X[keep], y[keep]


def sparse_text():
    draw = np.random.default_rng(3)
    X = sparse.random(150, 60, 0.1, random_state=4, format="csr")
    return X, (X @ draw.standard_normal((60, 5)) + 0.2 * draw.gumbel(size=(150, 5))).argmax(axis=1)


def wide():
    return make_classification(60, 120, n_informative=12, n_classes=4, random_state=5)


def far_off():
    X, y = overlapping(80, 3, 3, 6)
    return X * 1e3 + 5000.0, y


def constant_feature():
    X, y = overlapping(80, 3, 3, 7)
    return np.column_stack([X, np.full(80, 3.0), np.zeros(80)]), y


DATA = {
    "overlapping": overlapping, "separable": separable, "lone row": lone_row, "sparse": sparse_text, "wide": wide,
    "far off": far_off, "constant feature": constant_feature, "twenty classes": lambda: overlapping(400, 8, 20, 8),
}  # fmt: skip
BIASES = {"free": {}, "penalised": {"intercept_scaling": 2.0}, "none": {"fit_intercept": False}}


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def value_of(model, X, y, C, weights=None):
    """The objective of anyone's weights, in ordinary arithmetic."""
    scores = X @ model.coef_.T + model.intercept_
    top = scores.max(axis=1)
    losses = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(y)), y]
    return 0.5 * float((model.coef_**2).sum()) + C * float(losses @ (np.ones(len(y)) if weights is None else weights))


def precise_value(model, X, y, C, constant=0.0):
    """The objective in fifty digits, from the very numbers of the model and the data."""
    with localcontext() as context:
        context.prec = 50
        W = [[Decimal(float(value)) for value in row] for row in model.coef_]
        b = [Decimal(float(value)) for value in model.intercept_]
        total = sum(value * value for row in W for value in row) / 2
        if constant:
            total += sum((value / Decimal(constant)) ** 2 for value in b) / 2
        for row, code in zip(dense(X), y, strict=True):
            numbers = [Decimal(float(value)) for value in row]
            z = [sum(p * q for p, q in zip(w, numbers, strict=True)) + a for w, a in zip(W, b, strict=True)]
            total += Decimal(C) * (sum((value - z[code]).exp() for value in z)).ln()
        return total


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", [name for name in DATA if name != "twenty classes"])
def test_the_gap_covers_the_true_distance_from_the_optimum(name, bias):
    X, y = DATA[name]()
    constant = BIASES[bias].get("intercept_scaling", 0.0)
    for C in (0.01, 1.0, 100.0):
        best = sx.LogisticRegression(C=C, tol=1e-11, **BIASES[bias]).fit(X, y)
        optimum = precise_value(best, X, y, C, constant)
        assert best.duality_gap_ <= 1e-7 * best.objective_, (C, best.status_)
        assert abs(float(optimum) - best.objective_) <= best.duality_gap_
        for tol in (0.3, 1e-4):
            model = sx.LogisticRegression(C=C, tol=tol, **BIASES[bias]).fit(X, y)
            value = precise_value(model, X, y, C, constant)
            assert model.status_.converged
            assert model.duality_gap_ <= 1.001 * tol * model.objective_
            assert float(value - optimum) <= model.duality_gap_
            assert abs(float(value) - model.objective_) <= model.duality_gap_


@pytest.mark.parametrize("name", DATA)
def test_the_gap_of_any_weights_is_an_upper_bound(name):
    X, y = DATA[name]()
    k = int(y.max()) + 1
    draw = np.random.default_rng(0)
    for free, constant in ((True, 0.0), (False, 2.0), (False, 0.0)):
        task = MultinomialTask(Rows(X), y, k, draw.uniform(0.1, 5.0, len(y)), constant, free)
        run = MultinomialRun(task, 1e-12, np.zeros((k, X.shape[1])), first_offsets(task))
        optimum = run.go(100, lambda: False)
        assert optimum.relative_gap <= 1e-11
        for size in (0.0, 1e-3, 1.0, 50.0, 1e4):
            step = draw.standard_normal(optimum.weights.shape) / (1.0 + abs(dense(X)).max())
            for offsets in (None, size * draw.standard_normal(k) if free or constant else None):
                some = measure(task, optimum.weights + size * step, offsets)
                assert np.isfinite(some.gap)
                assert some.primal >= optimum.primal - optimum.proven_gap - 1e-14 * some.primal
                assert some.primal - optimum.primal <= some.proven_gap
                assert some.dual <= optimum.primal + optimum.rounding + some.rounding


def test_the_gap_is_the_difference_of_the_values():
    X, y = overlapping()
    task = MultinomialTask(Rows(X), y, 3, np.full(len(y), 2.0), free=True)
    draw = np.random.default_rng(1)
    run = MultinomialRun(task, 1e-9, np.zeros((3, 5)), first_offsets(task))
    optimum = run.go(100, lambda: False).weights
    for size in (1e-3, 0.01, 0.1, 3.0):
        point = point_at(task, optimum + size * draw.standard_normal((3, 5)), first_offsets(task))
        shift = np.zeros(3)
        scores = X @ point.weights.T + task.shift(point.weights, point.offsets)
        for _ in range(200):  # the best biases, a coordinate at a time: as many of each class as there are examples
            p = softmax(scores + shift, axis=1)
            shift += np.log(np.bincount(y) / p.sum(axis=0))
        assert np.allclose(p.sum(axis=0), np.bincount(y))
        away = point.weights - 2.0 * (np.eye(3)[y] - p).T @ X
        primal = 0.5 * (point.weights**2).sum() - 2.0 * np.log(p[np.arange(len(y)), y]).sum()
        dual = -0.5 * ((point.weights - away) ** 2).sum() - 2.0 * (p * np.log(p)).sum()
        assert math.isclose(primal - dual, 0.5 * (away**2).sum(), rel_tol=1e-9)
        best = measure(task, point.weights, point.offsets + shift)
        assert math.isclose(best.primal, primal, rel_tol=1e-12)
        assert math.isclose(best.gap, min(primal - dual, primal), rel_tol=1e-6)
        assert best.gap < best.primal or size == 3.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in DATA if name != "far off"])
def test_the_optimum_is_scikit_learns(name, weighted, solver):
    X, y = DATA[name]()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y)) if weighted else None
    for C, fit_intercept in ((0.01, True), (1.0, False), (100.0, True)):
        options = {"C": C, "fit_intercept": fit_intercept}
        theirs = LogisticRegression(solver=solver, tol=1e-10, max_iter=20_000, **options)
        theirs.fit(X, y, sample_weight=weights)
        other = value_of(theirs, X, y, C, weights)
        ours = sx.LogisticRegression(tol=1e-10, **options).fit(X, y, sample_weight=weights)
        assert abs(value_of(ours, X, y, C, weights) - ours.objective_) <= 1e-10 * ours.objective_
        assert ours.objective_ <= other + ours.duality_gap_
        assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)
        assert np.allclose(ours.coef_.sum(axis=0), 0.0, atol=1e-8 * (1.0 + abs(ours.coef_).max()))
        assert abs(ours.intercept_.sum()) <= 1e-8 * (1.0 + abs(ours.intercept_).max())
        near = sx.LogisticRegression(**options).fit(X, y, sample_weight=weights)
        assert near.status_.converged
        assert near.objective_ - other <= near.duality_gap_


def test_probabilities_are_the_softmax_and_scikit_learns():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    model = sx.LogisticRegression(tol=1e-10).fit(X, y)
    assert model.decision_function(X).shape == (len(y), 3)
    proba = model.predict_proba(X)
    assert np.allclose(proba, softmax(model.decision_function(X), axis=1))
    assert np.allclose(proba, LogisticRegression(tol=1e-10, max_iter=10_000).fit(X, y).predict_proba(X), atol=1e-5)
    assert np.array_equal(proba.argmax(axis=1), model.predict(X))
    assert np.allclose(np.log(proba), model.predict_log_proba(X))
    assert isinstance(model.duality_gap_, float)
    assert model.history_.gap[-1] <= 1e-10 * model.objective_


def test_a_weight_of_two_is_the_row_twice_and_class_weights_multiply_c():
    X, y = overlapping(60, 3, 4, 9)
    weights = np.random.default_rng(9).integers(0, 3, 60)
    weights[:4] = 1
    once = sx.LogisticRegression(tol=1e-10).fit(X, y, sample_weight=weights)
    twice = sx.LogisticRegression(tol=1e-10).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert np.allclose(once.coef_, twice.coef_, atol=1e-5)
    balanced = sx.LogisticRegression(class_weight="balanced", tol=1e-10).fit(X, y)
    theirs = LogisticRegression(class_weight="balanced", tol=1e-10, max_iter=10_000).fit(X, y)
    assert np.allclose(balanced.coef_, theirs.coef_, atol=1e-4)


def test_auto_is_one_vs_rest_where_there_are_many_weights_or_classes(monkeypatch):
    X, y = load_iris(return_X_y=True)
    auto = sx.LogisticRegression().fit(X, y)
    assert np.array_equal(auto.coef_, sx.LogisticRegression(multi_class="multinomial").fit(X, y).coef_)
    ovr = sx.LogisticRegression(multi_class="ovr").fit(X, y)
    for name in ("_MOST_WEIGHTS", "_MOST_CLASSES"):
        with monkeypatch.context() as patch:
            patch.setattr(separatrix.estimators.logistic_regression, name, 2)
            assert np.array_equal(sx.LogisticRegression().fit(X, y).coef_, ovr.coef_)
            joint = sx.LogisticRegression(multi_class="multinomial").fit(X, y)
        assert np.array_equal(joint.coef_, auto.coef_)


@pytest.mark.parametrize("multi_class", ["auto", "multinomial", "ovr"])
def test_two_classes_are_one_task(multi_class):
    X, y = overlapping(80, 3, 2)
    model = sx.LogisticRegression(multi_class=multi_class).fit(X, y)
    assert model.coef_.shape == (1, 3)
    assert np.array_equal(model.coef_, sx.LogisticRegression().fit(X, y).coef_)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_conjugate_gradients_reach_what_the_factor_reaches(bias, layout, monkeypatch):
    X, y = sparse_text()
    X = X if layout == "sparse" else X.toarray() + 3.0  # which is far from the origin
    for C in (0.1, 100.0):
        with monkeypatch.context() as patch:
            patch.setattr(separatrix.svm.choice, "JOINT_EQUATIONS", 1)
            products = sx.LogisticRegression(C=C, tol=1e-8, **BIASES[bias]).fit(X, y)
        assert set(products.history_.method) == {"newton-cg"}
        with monkeypatch.context() as patch:
            patch.setattr(separatrix.svm.choice, "JOINT_FIRST_TRY", math.inf)
            factor = sx.LogisticRegression(C=C, tol=1e-8, **BIASES[bias]).fit(X, y)
        assert factor.history_.method[-1] == "newton"
        assert products.status_.converged
        assert factor.status_.converged
        assert abs(products.objective_ - factor.objective_) <= products.duality_gap_ + factor.duality_gap_


def tables(k, layout, n=83, d=13):
    """Rows in a layout, weights and a shift of each class, codes, costs, and room for probabilities."""
    draw = np.random.default_rng(k)
    X = draw.standard_normal((n, d)) * (draw.random((n, d)) < 0.6)
    X = X.astype(np.float32) if layout.endswith("32") else X
    rows = Rows(sparse.csr_matrix(X) if layout.startswith("sparse") else X)
    codes = draw.integers(0, k, n).astype(np.int64)
    return (
        X.astype(np.float64), rows.matrix, draw.standard_normal((k, d)), draw.standard_normal(k), codes,
        draw.uniform(0.1, 3.0, n), np.empty((k, n)), np.empty(n),
    )  # fmt: skip


@pytest.mark.parametrize("layout", ["dense", "dense32", "sparse", "sparse32"])
@pytest.mark.parametrize("k", [2, 3, 8, 17, 100])
def test_a_pass_over_the_rows_is_the_softmax_with_its_slopes_and_its_hessian(k, layout):
    X, matrix, weights, shift, codes, costs, p, wrong = tables(k, layout)
    each, scores = np.arange(len(X)), X @ weights.T + shift
    exact = softmax(scores, axis=1)
    loss, across, sums = _core.class_losses(matrix, weights, shift, codes, costs, p, wrong)
    assert math.isclose(loss, float(costs @ -np.log(exact[each, codes])), rel_tol=1e-13)
    assert np.allclose(p.T, exact, rtol=1e-12, atol=0.0)
    assert np.allclose(wrong, 1.0 - exact[each, codes], rtol=1e-9)
    off = costs[:, None] * (exact - np.eye(k)[codes])
    assert np.allclose(across, off.T @ X, atol=1e-11)
    assert np.allclose(sums, off.sum(axis=0), atol=1e-11)
    assert math.isclose(_core.class_loss(matrix, weights, shift, codes, costs), loss, rel_tol=1e-13)
    assert all(map(np.allclose, _core.class_pulls(matrix, codes, costs, p, wrong), (across, sums)))
    bent = costs[:, None] * exact * (scores - (exact * scores).sum(axis=1, keepdims=True))
    across, sums = _core.class_bends(matrix, weights, shift, codes, costs, p)
    assert np.allclose(across, bent.T @ X, atol=1e-11)
    assert np.allclose(sums, bent.sum(axis=0), atol=1e-11)
    moved, moved_wrong = p.copy(), wrong.copy()
    _core.class_shift(matrix, 0.01 * weights, 0.01 * shift, codes, costs, moved, moved_wrong)
    linear = exact * (1.0 + 0.01 * (scores - (exact * scores).sum(axis=1, keepdims=True)))
    assert np.allclose(moved.T, linear, rtol=1e-9)
    apart = float(costs @ (linear * np.log(linear / exact)).sum(axis=1))
    bound = _core.class_divergence(matrix, codes, costs, moved, moved_wrong, p, wrong)
    assert apart <= bound <= 1.05 * apart
    _core.class_shift(matrix, 2.0 * weights, 2.0 * shift, codes, costs, moved, moved_wrong)
    assert np.allclose(moved.sum(axis=0), 1.0)
    assert moved.min() >= 0.0
    far = float(costs @ kl_div(moved.T, exact).sum(axis=1))
    assert far <= _core.class_divergence(matrix, codes, costs, moved, moved_wrong, p, wrong) <= 1.5 * far


def test_probabilities_that_are_nearly_certain_keep_their_digits():
    matrix, codes, one = Rows(np.array([[1.0]])).matrix, np.zeros(1, dtype=np.int64), np.ones(1)
    for gap in (1e-20, 1.0, 40.0, 300.0, 700.0):
        p, wrong = np.empty((3, 1)), np.empty(1)
        weights = np.array([[gap], [0.0], [-1.0]])
        loss = _core.class_losses(matrix, weights, np.zeros(3), codes, one, p, wrong)[0]
        with localcontext() as context:
            context.prec = 400
            terms = [(Decimal(w) - Decimal(gap)).exp() for w in (0.0, -1.0)]
            exact = 1 + sum(terms)
            assert math.isclose(loss, float(exact.ln()), rel_tol=1e-14)
            assert math.isclose(wrong[0], float(sum(terms) / exact), rel_tol=1e-14)
            assert math.isclose(p[2, 0], float(terms[1] / exact), rel_tol=1e-14)


def test_scores_that_are_no_numbers_have_no_loss():
    matrix, codes, one = Rows(np.array([[1.0]])).matrix, np.zeros(1, dtype=np.int64), np.ones(1)
    for bad in (math.inf, -math.inf, math.nan):
        for place in range(3):
            shift = np.zeros(3)
            shift[place] = bad
            assert not math.isfinite(_core.class_loss(matrix, np.zeros((3, 1)), shift, codes, one))


def test_a_pass_refuses_what_does_not_fit():
    _, matrix, weights, shift, codes, costs, p, wrong = tables(3, "dense")
    with pytest.raises(ValueError, match="a code names a class that is not there"):
        _core.class_losses(matrix, weights, shift, codes + 1, costs, p, wrong)
    with pytest.raises(ValueError, match="codes, costs and rows differ in number"):
        _core.class_loss(matrix, weights, shift, codes[1:], costs)
    with pytest.raises(ValueError, match="weights differ in shape"):
        _core.class_bends(matrix, weights[:, 1:].copy(), shift, codes, costs, p)
    with pytest.raises(ValueError, match="the shift needs a number for each class"):
        _core.class_loss(matrix, weights, shift[1:], codes, costs)
    with pytest.raises(ValueError, match="there must be a probability for each class and row"):
        _core.class_pulls(matrix, codes, costs, np.ascontiguousarray(p[:, 1:]), wrong)
    with pytest.raises(ValueError, match="probabilities and their sums differ in number"):
        _core.class_divergence(matrix, codes, costs, p, wrong[1:], p, wrong)


@pytest.mark.parametrize("layout", ["dense", "dense32", "sparse", "sparse32"])
def test_passes_over_the_rows_have_the_same_bits_in_every_build(layout):
    used = _core.build()
    seen = []
    try:
        for build in _core.builds():
            _core.use_build(build)
            bits = []
            for k in (3, 17):
                _, matrix, weights, shift, codes, costs, p, wrong = tables(k, layout)
                bits += [*_core.class_losses(matrix, weights, shift, codes, costs, p, wrong), p.copy(), wrong.copy()]
                bits += _core.class_bends(matrix, weights, shift, codes, costs, p)
                moved, moved_wrong = p.copy(), wrong.copy()
                _core.class_shift(matrix, weights, shift, codes, costs, moved, moved_wrong)
                bits += [moved, moved_wrong, *_core.class_pulls(matrix, codes, costs, moved, moved_wrong)]
                bits.append(_core.class_divergence(matrix, codes, costs, moved, moved_wrong, p, wrong))
            seen.append([np.asarray(each).tobytes() for each in bits])
    finally:
        _core.use_build(used)
    assert all(bits == seen[0] for bits in seen)


def test_a_pass_over_many_rows_can_be_stopped_and_leaves_a_true_gap():
    draw = np.random.default_rng(0)
    X, y = draw.standard_normal((25_000, 40)), draw.integers(0, 60, 25_000)
    for free in (True, False):
        task = MultinomialTask(Rows(X), y, 60, np.ones(len(y)), free=free)
        run = MultinomialRun(task, 1e-6, np.zeros((60, 40)), first_offsets(task))
        solution = run.go(100, lambda: True)
        assert run.ended == "halted"
        assert run.iterations == 0
        exact = point_at(task, np.zeros((60, 40)), first_offsets(task)).solution
        assert math.isclose(solution.primal, exact.primal, rel_tol=1e-12)
        assert solution.gap == solution.primal  # no loss is below 0


def test_features_far_from_the_origin_and_of_any_size_converge():
    X, y = overlapping(500, 4, 3, 3)
    for shift, size in ((1.6e9, 1e7), (0.0, 1e6), (0.0, 1e-8), (1e4, 1.0)):
        model = sx.LogisticRegression().fit(shift + size * X, y)
        assert model.status_.converged, (shift, size, model.status_)


def test_float32_rows_and_layouts_have_one_optimum():
    X, y = sparse_text()
    X = X.astype(np.float32)
    wide_index = sparse.csr_matrix((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), X.shape)
    values = [
        sx.LogisticRegression(tol=1e-9).fit(rows, y).objective_
        for rows in (X, X.toarray(), X.astype(np.float64), wide_index)
    ]
    assert max(values) - min(values) <= 2e-9 * max(values)


def test_a_time_limit_leaves_a_model_with_its_true_gap():
    X, y = overlapping(300, 6, 4)
    model = sx.LogisticRegression(stop=TimeLimit(1e-9)).fit(X, y)
    assert str(model.status_).startswith("stopped by the time limit of 1e-09 s in iteration 1: relative duality gap")
    best = sx.LogisticRegression(tol=1e-10).fit(X, y)
    assert model.objective_ - best.objective_ <= model.duality_gap_
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("problem", ["dense", "sparse"])
def test_a_run_cut_short_goes_on_to_the_same_bits(problem, tmp_path, monkeypatch):
    X, y = overlapping(300, 6) if problem == "dense" else sparse_text()
    whole = sx.LogisticRegression(tol=1e-9, warm_start=True).fit(X, y)
    step = MultinomialRun._step

    def cut(self, point, halted):
        if self.iterations == 2:
            self.ended = "halted"
            return None
        return step(self, point, halted)

    model = sx.LogisticRegression(tol=1e-9, warm_start=True, stop=TimeLimit(1e6))
    with monkeypatch.context() as patch:
        patch.setattr(MultinomialRun, "_step", cut)
        model.fit(X, y)
    assert model._cut_short
    sx.save(model, tmp_path / "m.sx")
    model = sx.load(tmp_path / "m.sx").set_params(stop=None).fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.intercept_.tobytes() == whole.intercept_.tobytes()
    assert model.duality_gap_ == whole.duality_gap_
    assert model.history_.primal == whole.history_.primal


def test_a_warm_start_begins_with_the_weights_there_are():
    X, y = overlapping(400, 6, 4)
    model = sx.LogisticRegression(C=1.0, warm_start=True, tol=1e-8).fit(X, y)
    cold = sx.LogisticRegression(C=1.1, tol=1e-8).fit(X, y)
    model.set_params(C=1.1).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert abs(model.objective_ - cold.objective_) <= model.duality_gap_ + cold.duality_gap_
    model.set_params(multi_class="ovr").fit(X, y)
    assert np.array_equal(model.coef_, sx.LogisticRegression(C=1.1, multi_class="ovr", tol=1e-8).fit(X, y).coef_)


def test_ctrl_c_leaves_a_usable_model(monkeypatch):
    X, y = overlapping(300, 6, 4)
    model = sx.LogisticRegression(tol=1e-12)
    step = MultinomialRun._step

    def press(self, point, halted):
        if self.iterations == 1:
            signal.raise_signal(signal.SIGINT)
        return step(self, point, halted)

    monkeypatch.setattr(MultinomialRun, "_step", press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert str(model.status_).startswith("interrupted in iteration ")
    assert model.score(X, y) > 0.5
    monkeypatch.undo()
    best = sx.LogisticRegression(tol=1e-10).fit(X, y)
    assert 0 < model.objective_ - best.objective_ <= model.duality_gap_


def test_too_few_iterations_and_too_small_a_tolerance_warn():
    X, y = overlapping(300, 6, 4)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iteration: relative duality gap .* above tol=1e-10"):
        model = sx.LogisticRegression(max_iter=1, tol=1e-10).fit(X, y)
    assert model.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="and rounding allows no smaller one"):
        model = sx.LogisticRegression(tol=0.0).fit(X, y)
    assert model.duality_gap_ <= 1e-10 * model.objective_
    assert model.n_iter_ < 40


def test_verbose_says_how_far_it_is(capsys, monkeypatch):
    import time

    X, y = overlapping()
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    sx.LogisticRegression(verbose=1).fit(X, y)
    assert capsys.readouterr().err.startswith("iteration ")


def test_its_certificate_counts_the_training_errors_of_all_classes_together():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    assert model.certificate_.wrong == int((model.predict(X) != y).sum())
    assert set(sx.LogisticRegression(multi_class="ovr").fit(X, y).certificate_) == {0, 1, 2}
