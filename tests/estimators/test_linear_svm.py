"""LinearSVM against scikit-learn's LIBLINEAR and LIBSVM, and its gap against exact arithmetic."""

from __future__ import annotations

import itertools
import pickle
import signal
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC

import separatrix as sx
import separatrix.svm.solve
from separatrix.stops import MaxEpochs, NoMistakes, TimeLimit


def overlapping(n=80, d=5, seed=0, flip=0.2):
    return make_classification(n, d, n_informative=min(d, 4), n_redundant=0, flip_y=flip, random_state=seed)


def tiny():
    return np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.25]]), np.array([0, 1, 1, 0])


def doubled():
    X, y = overlapping(40, 4, 1)
    return np.vstack([X, X, X[:10]]), np.concatenate([y, y, 1 - y[:10]])


def unbalanced():
    X, y = overlapping(120, 4, 2, 0.05)
    few = np.flatnonzero(y == 1)[:6]
    keep = np.sort(np.concatenate([np.flatnonzero(y == 0), few]))
    return X[keep], y[keep]


def sparse_text():
    rng = np.random.default_rng(3)
    X = sparse.random(90, 40, 0.15, random_state=4, format="csr")
    return X, (X @ rng.standard_normal(40) + 0.3 * rng.standard_normal(90) > 0).astype(int)


def wide():
    return make_classification(40, 120, n_informative=10, random_state=5)


def huge_values():
    X, y = overlapping(60, 3, 6)
    return X * 1e3 + 50.0, y


def constant_feature():
    X, y = overlapping(50, 3, 7)
    return np.column_stack([X, np.full(50, 3.0), np.zeros(50)]), y


DATA = {
    "overlapping": overlapping, "tiny": tiny, "doubled": doubled, "unbalanced": unbalanced, "sparse": sparse_text,
    "wide": wide, "huge values": huge_values, "constant feature": constant_feature,
}  # fmt: skip
COSTS = (1e-3, 0.1, 1.0, 30.0, 1e3)
BIASES = {"free": {}, "penalised": {"intercept_scaling": 1.0}, "none": {"fit_intercept": False}}


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def exact_values(model, X, y, C, bias):
    """Primal and dual value in exact arithmetic, from the model's own numbers."""
    X = [[Fraction(float(value)) for value in row] for row in dense(X)]
    signs = [1 if label == model.classes_[1] else -1 for label in y]
    C = Fraction(float(C))
    w = [Fraction(float(value)) for value in model.coef_[0]]
    b = Fraction(float(model.intercept_[0]))
    squared = model.loss == "squared_hinge"
    slacks = [max(Fraction(0), 1 - s * (sum(p * q for p, q in zip(w, row, strict=True)) + b))
              for s, row in zip(signs, X, strict=True)]  # fmt: skip
    primal = sum(value * value for value in w) / 2 + C * sum(s * s if squared else s for s in slacks)
    if bias == "penalised":
        primal += b * b / 2
    signed = [Fraction(0)] * len(y)
    for row, value in zip(model.support_, model.dual_coef_[0], strict=True):
        signed[row] = Fraction(float(value))
    alpha = [abs(value) for value in signed]
    combined = [sum(a * row[j] for a, row in zip(signed, X, strict=True) if a) for j in range(len(w))]
    balance = sum(signed)
    dual = sum(alpha) - sum(value * value for value in combined) / 2
    if squared:
        dual -= sum(a * a for a in alpha) / (4 * C)
    if bias == "penalised":
        dual -= balance * balance / 2
    return primal, dual, balance, max(alpha)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", DATA)
def test_the_gap_is_a_proof_and_tiny(name, bias, loss):
    X, y = DATA[name]()
    for C in COSTS if len(y) < 100 and X.shape[1] < 50 else (0.1, 30.0):
        model = sx.LinearSVM(C=C, loss=loss, tol=1e-9, **BIASES[bias]).fit(X, y)
        primal, dual, balance, largest = exact_values(model, X, y, C, bias)
        assert abs(float(primal) - model.objective_) <= 1e-9 * float(primal)
        # The true optimum lies between the two exact values (weak duality), up to what balance is off by rounding.
        slip = Fraction(0)
        if bias == "free":
            assert abs(float(balance)) <= 1e-12 * max(1.0, float(largest)) * len(y)
            slip = abs(balance) * (abs(Fraction(float(model.intercept_[0]))) + 1)
        assert model.duality_gap_ >= float(primal - dual) - float(slip)
        assert model.duality_gap_ <= 1e-6 * model.objective_, (C, model.status_)
        if loss == "hinge":
            assert float(largest) <= C


@pytest.mark.parametrize("name", DATA)
def test_objectives_agree_with_libsvm(name):
    X, y = DATA[name]()
    signs = np.where(y == 1, 1.0, -1.0)
    for C in (1e-9, 1e-6) if name == "huge values" else (1e-3, 0.1, 1.0, 1e3):
        ours = sx.LinearSVM(C=C, tol=1e-9).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = SVC(C=C, kernel="linear", tol=1e-10, max_iter=2_000_000).fit(dense(X), y)
        w, b = peer.coef_[0], peer.intercept_[0]
        above = 0.5 * w @ w + C * np.maximum(0.0, 1.0 - signs * (dense(X) @ w + b)).sum()
        below = np.abs(peer.dual_coef_).sum() - 0.5 * w @ w
        assert below * (1 - 1e-9) <= ours.objective_ <= above * (1 + 1e-9)
        if C <= 1.0:  # beyond, LIBSVM does not always get so far
            assert ours.objective_ <= below * (1 + 1e-6), C


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [None, 1.0, 3.0])
@pytest.mark.parametrize("name", DATA)
def test_objectives_agree_with_liblinear(name, bias, loss):
    X, y = DATA[name]()
    signs = np.where(y == 1, 1.0, -1.0)
    for C in (1e-9, 1e-6) if name == "huge values" else (1e-3, 0.1, 1.0, 1e3):
        intercept = {"fit_intercept": False} if bias is None else {"intercept_scaling": bias}
        ours = sx.LinearSVM(C=C, loss=loss, tol=1e-9, **intercept).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer = LinearSVC(C=C, loss=loss, tol=1e-9, max_iter=300_000, random_state=0, **intercept).fit(X, y)
        w, b = peer.coef_[0], float(np.ravel(peer.intercept_)[0])
        slack = np.maximum(0.0, 1.0 - signs * (dense(X) @ w + b))
        theirs = 0.5 * w @ w + C * (slack if loss == "hinge" else slack**2).sum()
        if bias is not None:
            theirs += 0.5 * (b / bias) ** 2
        assert ours.objective_ <= theirs * (1 + 1e-9)
        if peer.n_iter_ < 300_000:  # for a large C LIBLINEAR does not always get so far
            # Its rule stops at margins that are off by 1e-9, each of which costs C.
            assert theirs <= ours.objective_ * (1 + 1e-6) + 1e-9 * C * len(y), C


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", DATA)
def test_every_point_meets_its_condition(name, bias, loss):
    X, y = DATA[name]()
    for C in (0.1, 30.0):
        model = sx.LinearSVM(C=C, loss=loss, tol=1e-10, **BIASES[bias]).fit(X, y)
        found = sx.kkt(model, X, y)
        scale_ = 1.0 + np.abs(found.margin).max()
        assert found.worst <= 1e-5 * scale_, (C, str(found))
        assert found.stationarity <= 1e-5 * (1.0 + np.linalg.norm(model.coef_))
        np.testing.assert_allclose(found.slack, model.slack_, atol=1e-9 * scale_)
        np.testing.assert_array_equal(np.flatnonzero(found.alpha), model.support_)
        assert model.n_support_.sum() == len(model.support_)
        assert (found.alpha[found.place == "outside"] == 0).all()
        if loss == "hinge":
            inside = found.place == "inside"
            np.testing.assert_allclose(found.alpha[inside], C, rtol=1e-9)
        assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(model.coef_))


# ---------------------------------------------------------------------------------------------- large questions


def text_like(n, d, per_row, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    columns = (d * rng.random((n, per_row)) ** 3).astype(np.int32)
    X = sparse.csr_matrix((np.ones(columns.size), (np.repeat(np.arange(n), per_row), columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1)))).astype(dtype)
    scores = X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n)
    return X, (scores > np.median(scores)).astype(int)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_coordinate_ascent_and_newton_on_sparse_rows(loss, bias):
    X, y = text_like(6_000, 5_000, 20)
    rough = sx.LinearSVM(loss=loss, tol=1e-2, **BIASES[bias]).fit(X, y)
    fine = sx.LinearSVM(loss=loss, tol=1e-6, **BIASES[bias]).fit(X, y)
    assert fine.status_.converged
    assert fine.duality_gap_ <= 1.1e-6 * fine.objective_
    assert rough.objective_ - rough.duality_gap_ <= fine.objective_ <= rough.objective_
    assert rough.duality_gap_ <= 1.1e-2 * rough.objective_
    history = fine.history_
    assert len(history.primal) == len(history.dual) == len(history.gap) == len(history.seconds)
    assert history.exact[-1]
    assert history.seconds == sorted(history.seconds)


@pytest.mark.parametrize("bias", BIASES)
def test_the_interior_point_method_finishes_dense_rows(bias):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20)).astype(np.float32)
    y = (X @ rng.standard_normal(20) + 2.0 * rng.standard_normal(20_000) > 0).astype(int)
    model = sx.LinearSVM(tol=1e-6, **BIASES[bias]).fit(X, y)
    assert model.duality_gap_ <= 1.1e-6 * model.objective_
    assert "interior" in model.history_.method
    assert model.n_iter_ < 500


def test_float32_rows_and_all_index_types_reach_a_gap_of_a_millionth():
    X, y = text_like(2_000, 300, 12, dtype=np.float32)
    wide_index = X.copy()
    wide_index.indices, wide_index.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    models = [
        sx.LinearSVM(tol=1e-6, random_state=0).fit(each, y)
        for each in (X, wide_index, X.astype(np.float64), X.toarray(), X.toarray().astype(np.float64))
    ]
    for model in models:
        assert model.duality_gap_ <= 1.1e-6 * model.objective_
        assert model.objective_ == pytest.approx(models[0].objective_, rel=1e-6)
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_a_float32_csr_matrix_is_not_copied_to_double(monkeypatch):
    import tracemalloc

    X, y = text_like(20_000, 2_000, 60)
    sx.LinearSVM(tol=0.1).fit(X[:1000], y[:1000])
    tracemalloc.start()
    sx.LinearSVM(tol=1e-2, intercept_scaling=1.0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nnz  # what the values alone would take


@pytest.mark.parametrize("build", sx._core.builds())
def test_every_build_gives_the_same_bits(build):
    X, y = text_like(3_000, 4_000, 15)
    rng = np.random.default_rng(1)
    D = rng.standard_normal((4_000, 17)).astype(np.float32)
    z = (D[:, 0] + rng.standard_normal(4_000) > 0).astype(int)
    usual = sx._core.build()
    try:
        expected = [sx.LinearSVM(tol=1e-5, random_state=0).fit(*data).coef_ for data in ((X, y), (D, z))]
        sx._core.use_build(build)
        found = [sx.LinearSVM(tol=1e-5, random_state=0).fit(*data).coef_ for data in ((X, y), (D, z))]
    finally:
        sx._core.use_build(usual)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(one, other)


def test_threads_never_change_a_result():
    X, y = load_digits(return_X_y=True)
    for loss in ("hinge", "squared_hinge"):
        one, many = (sx.LinearSVM(C=1e-3, loss=loss, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 3))
        np.testing.assert_array_equal(one.coef_, many.coef_)
        np.testing.assert_array_equal(one.dual_coef_, many.dual_coef_)


def test_many_classes_ask_one_question_each():
    X, y = load_iris(return_X_y=True)
    model = sx.LinearSVM().fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.slack_.shape == (150, 3)
    assert len(model.history_) == len(model.margin_) == len(model.objective_) == 3
    for k in range(3):
        alone = sx.LinearSVM().fit(X, (y == k).astype(int))
        assert alone.objective_ == pytest.approx(model.objective_[k], rel=1e-9)
        np.testing.assert_allclose(alone.coef_[0], model.coef_[k], rtol=1e-5, atol=1e-7)
    assert sx.kkt(model, X, y).worst < 1e-5
    assert model.score(X, y) > 0.9


# ---------------------------------------------------------------------------------------------- weights


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), loss=st.sampled_from(["hinge", "squared_hinge"]), bias=st.sampled_from(list(BIASES)))
def test_a_weight_of_two_is_the_row_twice(seed, loss, bias):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    y[:2] = 0, 1
    weights = rng.integers(0, 4, 30)
    weights[:2] = 1
    often = np.repeat(np.arange(30), weights)
    one = sx.LinearSVM(loss=loss, tol=1e-10, **BIASES[bias]).fit(X, y, sample_weight=weights)
    other = sx.LinearSVM(loss=loss, tol=1e-10, **BIASES[bias]).fit(X[often], y[often])
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-8)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-4, atol=1e-5)
    assert set(one.support_) <= set(np.flatnonzero(weights))
    assert len(one.slack_) == 30
    assert sx.kkt(one, X, y, sample_weight=weights).worst < 1e-4


def test_class_weights_multiply_c():
    X, y = unbalanced()
    given_, weighted = (
        sx.LinearSVM(class_weight={0: 1.0, 1: 5.0}).fit(X, y),
        sx.LinearSVM().fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0)),
    )
    np.testing.assert_array_equal(given_.coef_, weighted.coef_)
    assert sx.kkt(given_, X, y).worst < 1e-4
    assert sx.LinearSVM(class_weight="balanced").fit(X, y).predict(X).sum() > sx.LinearSVM().fit(X, y).predict(X).sum()


# ---------------------------------------------------------------------------------------------- the hard margin


def separable(n, d, seed, gap=0.1):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    scores = X @ w + 0.3
    X += np.outer(np.sign(scores) * gap, w / np.linalg.norm(w))
    return X, np.where(scores > 0, 1, 0)


@pytest.mark.parametrize(("n", "d"), [(8, 2), (100, 3), (1500, 20), (60, 200)])
@pytest.mark.parametrize("bias", BIASES)
def test_the_hard_margin_is_the_limit_of_soft_ones(n, d, bias):
    X, y = separable(n, d, n)
    if bias == "none":
        X = X * np.where(y == 1, 1, -1)[:, None] + 0.0  # all on one side of a plane through the origin
        X = np.abs(X) * np.where(y == 1, 1, -1)[:, None]
    hard = sx.LinearSVM(C=np.inf, tol=1e-8, **BIASES[bias]).fit(X, y)
    assert hard.status_.converged, str(hard.status_)
    largest = np.abs(hard.dual_coef_).max()
    soft = sx.LinearSVM(C=2.0 * largest, tol=1e-8, **BIASES[bias]).fit(X, y)  # no alpha is at this bound
    assert hard.objective_ == pytest.approx(soft.objective_, rel=1e-6)
    low, high = hard.margin_bracket_
    assert low <= high * (1 + 1e-12)
    assert high - low <= 1e-7 * high
    signs = np.where(y == 1, 1.0, -1.0)
    assert (signs * hard.decision_function(X)).min() >= 1 - 1e-9
    assert hard.witness_ is None
    assert (hard.slack_ <= 1e-9).all()


@pytest.mark.parametrize("bias", BIASES)
def test_inseparable_classes_end_with_a_witness(bias):
    X, y = overlapping(150, 4, 3, 0.3)
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        model = sx.LinearSVM(C=np.inf, **BIASES[bias]).fit(X, y)
    assert not model.status_.converged
    signs = np.where(y == 1, 1.0, -1.0)
    weights = model.witness_
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0)
    assert np.abs(X.T @ (weights * signs)).max() < 1e-9
    if bias != "none":
        assert abs(weights @ signs) < 1e-9
    low, high = model.margin_bracket_
    assert low == 0.0
    assert high < 1e-12


def test_the_hard_margin_of_xor_and_of_contradictions():
    for X, y in (([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), ([[1.0], [1.0], [2.0]], [0, 1, 1])):
        with pytest.warns(ConvergenceWarning, match="no plane separates"):
            sx.LinearSVM(C=np.inf).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        sx.LinearSVM(C=np.inf, fit_intercept=False).fit([[0.0], [1.0]], [0, 1])  # a row of zeros is on every plane


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_hard_margin_never_loops_and_never_lies(data):
    n, d = data.draw(st.integers(2, 12)), data.draw(st.integers(1, 3))
    X = np.array(
        data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n)), float
    )
    y = np.array([0, 1, *data.draw(st.lists(st.integers(0, 1), min_size=n - 2, max_size=n - 2))])
    signs = np.where(y == 1, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.LinearSVM(C=np.inf, max_iter=200).fit(X, y)
    if model.status_.converged:
        assert (signs * model.decision_function(X)).min() >= 1 - 1e-6
    else:
        assert model.witness_ is not None, str(model.status_)
        assert np.abs(X.T @ (model.witness_ * signs)).max() < 1e-9
        assert abs(model.witness_ @ signs) < 1e-9


# ---------------------------------------------------------------------------------------------- stopping, going on


def slow_data():
    return text_like(30_000, 20_000, 40, seed=5)


def test_a_time_limit_leaves_a_model_with_its_true_gap():
    X, y = slow_data()
    model = sx.LinearSVM(tol=1e-9, stop=TimeLimit(0.005)).fit(X, y)
    assert "time limit" in str(model.status_)
    assert not model.status_.converged
    signs = np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    value = 0.5 * (model.coef_**2).sum() + slack.sum()
    assert model.objective_ == pytest.approx(value, rel=1e-9)
    best = sx.LinearSVM(tol=1e-6).fit(X, y)
    assert model.objective_ - model.duality_gap_ <= best.objective_


def test_a_run_cut_short_goes_on_to_the_same_bits():
    X, y = text_like(8_000, 6_000, 30, seed=6)
    whole = sx.LinearSVM(tol=1e-4, random_state=0).fit(X, y)
    model = sx.LinearSVM(tol=1e-4, random_state=0, warm_start=True)
    for _ in itertools.count():
        model.set_params(stop=TimeLimit(0.02)).fit(X, y)
        model = pickle.loads(pickle.dumps(model))
        if model.status_.converged:
            break
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    np.testing.assert_array_equal(model.dual_coef_, whole.dual_coef_)


def test_a_warm_start_begins_with_the_alphas_there_are():
    X, y = text_like(4_000, 6_000, 20, seed=7)
    model = sx.LinearSVM(tol=1e-3, warm_start=True, random_state=0).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ <= first
    model.set_params(C=0.5).fit(X, y)
    cold = sx.LinearSVM(C=0.5, tol=1e-3).fit(X, y)
    assert model.duality_gap_ <= 1.1e-3 * model.objective_
    assert abs(model.objective_ - cold.objective_) <= 2e-3 * cold.objective_


def test_ctrl_c_leaves_a_usable_model(monkeypatch):
    X, y = slow_data()
    usual = sx.svm.solve.Ascent.epoch

    def pressed(ascent, halted):
        if ascent.epochs == 5:
            signal.raise_signal(signal.SIGINT)
        return usual(ascent, halted)

    monkeypatch.setattr(sx.svm.solve.Ascent, "epoch", pressed)
    model = sx.LinearSVM(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert str(model.status_).startswith("interrupted in epoch 6: relative duality gap")
    assert model.n_iter_ == 5
    assert model.score(X, y) > 0.8
    assert model.objective_ > model.duality_gap_ > 0


def test_too_few_epochs_warn_with_the_gap_that_was_reached():
    X, y = text_like(4_000, 6_000, 20, seed=8)
    with pytest.warns(ConvergenceWarning, match="stopped after 2 epochs: relative duality gap"):
        model = sx.LinearSVM(tol=1e-9, max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert sx.LinearSVM(tol=1e-9, stop=MaxEpochs(3)).fit(X, y).n_iter_ == 3


def test_verbose_says_how_far_it_is(capsys, monkeypatch):
    X, y = text_like(4_000, 6_000, 20, seed=8)
    clock = itertools.count()
    monkeypatch.setattr("separatrix.estimators.solved.time.perf_counter", lambda: float(next(clock)))
    sx.LinearSVM(verbose=1).fit(X, y)
    assert "epoch" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------- online


def test_online_steps_come_near_the_optimum():
    X, y = load_breast_cancer(return_X_y=True)
    X, signs = scale(X), np.where(y == 1, 1.0, -1.0)
    best = sx.LinearSVM(C=0.1).fit(X, y)

    def value(model):
        return 0.5 * (model.coef_**2).sum() + 0.1 * np.maximum(0.0, 1.0 - signs * model.decision_function(X)).sum()

    assert value(best) == pytest.approx(best.objective_)
    assert value(sx.OnlineSVM(C=0.1, random_state=0).fit(X, y)) < 1.02 * best.objective_
    averaged = sx.OnlineSVM(C=0.1, average=True, random_state=0, max_iter=300, stop=MaxEpochs(300))
    assert value(averaged.fit(X, y)) < 1.02 * best.objective_
    # The lecture's step hovers around the optimum for C = 2 gamma.
    lecture = sx.OnlineSVM(C=0.05, step="lecture", average=True, random_state=0, max_iter=100)
    assert value(lecture.set_params(stop=MaxEpochs(100)).fit(X, y)) < 1.1 * best.objective_


def test_the_online_machine_alone_has_partial_fit():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model = sx.OnlineSVM(random_state=0)
    for part in np.array_split(np.arange(len(y)), 6):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    assert model.score(X, y) > 0.95
    assert not hasattr(sx.LinearSVM(), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        sx.LinearSVM().partial_fit(X, y)


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a positive number"),
        ({"C": -1.0}, "C must be a positive number"),
        ({"C": float("nan")}, "C must be a positive number"),
        ({"C": "1"}, "C must be a number"),
        ({"loss": "log"}, "loss must be one of hinge, squared_hinge"),
        ({"tol": -1.0}, "tol must be at least 0"),
        ({"tol": float("nan")}, "tol must be at least 0"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be None"),
        ({"stop": NoMistakes()}, "accepts TimeLimit and MaxEpochs"),
        ({"C": float("inf"), "loss": "squared_hinge"}, "leave loss at 'hinge'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
    ],
)
def test_parameters_that_cannot_be_meant(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sx.LinearSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a positive number"),
        ({"C": "1"}, "C must be a number"),
        ({"C": float("inf")}, r"the hard margin \(C=inf\) needs sx.LinearSVM"),
        ({"step": "adam"}, "step must be one of pegasos, lecture"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be None"),
    ],
)
def test_parameters_that_the_online_machine_cannot_mean(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        sx.OnlineSVM(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_there_is_no_solver_to_choose():
    with pytest.raises(TypeError, match="solver"):
        sx.LinearSVM(solver="online")


def test_data_that_cannot_be_meant():
    with pytest.raises(ValueError, match="row 1"):
        sx.LinearSVM().fit([[0.0], [np.nan], [1.0]], [0, 1, 1])
    with pytest.raises(ValueError, match="at least two classes"):
        sx.LinearSVM().fit([[0.0], [1.0]], [1, 1])
    model = sx.LinearSVM().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ValueError, match="the classes"):
        sx.kkt(model, [[0.0], [1.0]], ["a", "c"])
    longer = sx.LinearSVM().fit([[0.0], [0.0], [1.0]], ["a", "a", "b"])
    with pytest.raises(ValueError, match="support vectors go up to row 2"):
        sx.kkt(longer, [[0.0], [1.0]], ["a", "b"])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="row 0"):
        model.fit([[np.inf], [1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.coef_, before)


def test_rows_of_zeros_and_of_huge_numbers():
    X = np.zeros((6, 2))
    X[3:, 0] = 1.0
    y = np.array([0, 0, 1, 1, 1, 0])
    for bias in BIASES.values():
        model = sx.LinearSVM(tol=1e-8, **bias).fit(X, y)
        assert model.duality_gap_ <= 1e-6 * model.objective_
    model = sx.LinearSVM(C=1e-12).fit(X * 1e6, y)
    assert np.isfinite(model.coef_).all()


def test_kkt_prints_and_tabulates():
    X, y = overlapping(40, 3, 9)
    found = sx.kkt(sx.LinearSVM().fit(X, y), X, y)
    assert "inside the margin; the largest residual is" in str(found)
    assert found.to_markdown(5).count("\n") == 6
    assert sum(found.counts.values()) == 40
    assert sx.kkt(SVC(kernel="linear", tol=1e-8).fit(X, y), X, y).worst < 1e-5


# ---------------------------------------------------------------------------------------------- hard cases


def test_points_that_all_rest_do_not_stop_a_run():
    rng = np.random.default_rng(0)
    X = sparse.random(6000, 400, 0.05, format="csr", random_state=0, data_rvs=rng.standard_normal)
    y = (X @ rng.normal(size=400) + rng.normal(size=6000) > 0).astype(int)
    for C, intercept in ((1e-4, True), (1e-2, False), (1e-9, False)):
        model = sx.LinearSVM(C=C, fit_intercept=intercept, random_state=0).fit(X, y)
        assert model.status_.converged
        assert model.n_iter_ < 500


def test_far_off_features_are_not_called_inseparable():
    far = [[1e8, 1e8], [1e8 + 100, 1e8 + 100], [1e8, 1e8 + 1], [1e8 + 100, 1e8 + 101]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.LinearSVM(C=np.inf, random_state=0).fit(far, [0, 0, 1, 1])
    assert model.witness_ is None
    assert model.margin_bracket_[0] > 0


def test_the_gap_allows_for_rounding_on_the_margin():
    far = 1e6 + 0.1
    X = [[-far]] * 200 + [[far]] * 200 + [[-3 * far], [2.9 * far]]
    y = [0] * 200 + [1] * 200 + [0, 1]
    for C in (1.0, 1e6):
        with pytest.warns(ConvergenceWarning, match="but rounding could hide"):
            model = sx.LinearSVM(C=C, random_state=0).fit(X, y)
        primal, dual, _, _ = exact_values(model, np.array(X), y, C, "free")
        assert model.duality_gap_ >= float(primal - dual)


@pytest.mark.parametrize("light", [0, 1])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kind", [{}, {"intercept_scaling": 1.0}, {"fit_intercept": False}])
def test_a_class_that_weighs_a_trillion_times_as_much_is_solved(kind, C, light):
    X, y = overlapping(200, 5, 6, 0.3)
    model = sx.LinearSVM(C=C, class_weight={light: 1e-6, 1 - light: 1e6}, random_state=0, **kind).fit(X, y)
    assert model.status_.converged
    assert model.duality_gap_ <= 0.01 * model.objective_
    if kind.get("fit_intercept", True):  # the class that counts is on its side of the margin
        penalty = 0.5 if kind else 0.0
        assert model.objective_ <= (penalty + 2e-6 * C * np.sum(y == light)) * (1 + 1e-9)


def test_no_answer_is_worse_than_none():
    rng = np.random.default_rng(0)
    start = 1.7e9 + rng.uniform(0, 1e6, 60)
    X = np.column_stack([start, start + rng.uniform(0, 60, 60)])
    y = (X[:, 1] - X[:, 0] > 30).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert sx.LinearSVM(max_iter=50).fit(X, y).objective_ <= 2.0 * min(y.sum(), 60 - y.sum())


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_the_hard_margin_of_sparse_rows(kind):
    X, y = overlapping(80, 3, 0, 0.3)
    with pytest.warns(ConvergenceWarning, match="no plane separates"):
        sx.LinearSVM(C=np.inf).fit(kind(X), y)
    X, y = separable(80, 3, 0)
    assert sx.LinearSVM(C=np.inf).fit(kind(X), y).margin_bracket_[0] > 0


def test_one_heavy_example_does_not_hide_the_others():
    X, y = overlapping(50, 3, 0, 0.0)
    weights = np.ones(50)
    weights[3] = 1e12
    model = sx.LinearSVM().fit(X, y, sample_weight=weights)
    assert model.status_.converged


def test_each_machine_has_what_its_method_gives():
    X, y = overlapping()
    online = sx.OnlineSVM(max_iter=20, stop=MaxEpochs(20)).fit(X, y)
    assert not hasattr(online, "duality_gap_")
    with pytest.raises(ValueError, match="no dual weights: use LinearSVM, KernelSVM or LogisticRegression"):
        sx.kkt(online, X, y)
    assert not hasattr(sx.LinearSVM().fit(X, y), "n_updates_")
    hard = sx.LinearSVM(C=np.inf).fit([[0.0], [1.0]], [0, 1])
    assert hasattr(hard, "margin_bracket_")
    assert not hasattr(hard.set_params(C=1.0).fit([[0.0], [1.0]], [0, 1]), "margin_bracket_")


def test_kkt_sees_what_is_out_of_bounds():
    X, y = overlapping()
    model = sx.LinearSVM().fit(X, y)
    assert sx.kkt(model.set_params(C=0.5), X, y).worst > 0.4
    model.set_params(C=1.0).dual_coef_ *= -1
    assert sx.kkt(model, X, y).worst > 0.1
    iris = load_iris(return_X_y=True)
    pairs = SVC(kernel="linear").fit(*iris)
    with pytest.raises(ValueError, match="each pair of classes"):
        sx.kkt(pairs, *iris)


def test_a_stop_that_is_none_and_costs_that_cannot_be():
    with pytest.raises(TypeError, match="stop must be a stop rule"):
        sx.LinearSVM(stop=5).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="between 1e-150 and 1e150"):
        sx.LinearSVM(C=1e-200).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="row 1 of X is so long"):
        sx.LinearSVM().fit([[0.0], [1e200]], [0, 1])


def test_ctrl_c_is_never_lost(monkeypatch):
    X, y = overlapping()
    monkeypatch.setattr(
        "separatrix.svm.solve.interior.follow",
        lambda *given, follow=sx.svm.solve.interior.follow, **named: (
            signal.raise_signal(signal.SIGINT),
            follow(*given, **named),
        )[1],
    )
    model = sx.LinearSVM()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert model.score(X, y) > 0.5
