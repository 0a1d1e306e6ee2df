import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import separatrix as sx
from independent_fits import NEAR_ZERO, SOLVERS, case, overlapping

IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("seed", range(30))
def test_no_verdict_contradicts_a_refit_by_another_program(seed):
    name = list(SOLVERS)[seed % len(SOLVERS)]
    ours, other = SOLVERS[name]
    data = case(100 + seed, name, largest=40)
    C = 10 ** np.random.default_rng(seed).uniform(-2, 1)
    rows = np.arange(len(data.y))
    margins = np.array([data.margins(other(C), rows != row, np.array([row]))[0] for row in rows])
    model = ours().set_params(C=C, tol=1e-6, class_weight=data.class_weight)
    if isinstance(model, sx.LogisticRegression):
        model.set_params(multi_class="ovr")
    model.fit(data.X, data.y, sample_weight=data.sample_weight)
    for most in (0, 1000):
        result = model.leave_one_out(data.X, data.y, data.sample_weight, max_refits=most)
        assert result.refits <= most
        assert (margins[result.verdicts == 1] < NEAR_ZERO).all()
        assert (margins[result.verdicts == 0] > -NEAR_ZERO).all()
        low, high = result.errors
        assert low <= (margins < NEAR_ZERO).sum()
        assert high >= (margins < -NEAR_ZERO).sum()
    assert name == "hinge" or (result.verdicts >= 0).all()  # the best intercepts of the hinge may be an interval


def test_most_rows_of_a_larger_set_are_decided_by_one_fit():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 5)) + 0.8 * y[:, None]
    models = (sx.LogisticRegression(tol=1e-8), sx.LinearSVM(tol=1e-8), sx.LinearSVM(loss="squared_hinge", tol=1e-8))
    for model, part in zip(models, (0.999, 0.7, 0.99), strict=True):
        result = model.fit(X, y).leave_one_out(X, y, max_refits=0)
        assert (result.verdicts >= 0).mean() > part
        assert result.refits == 0


def test_the_answer_is_a_sentence():
    X, y = overlapping(3)
    model = sx.LinearSVM(fit_intercept=False).fit(X, y)
    low, high = model.leave_one_out(X, y, max_refits=0).errors
    part = model.leave_one_out(X, y, max_refits=0)
    assert str(part).startswith(f"between {low} and {high} leave-one-out errors in {len(y)} rows (")
    assert str(part).endswith("undecided")
    whole = model.leave_one_out(X, y, max_refits=1000)
    assert whole.errors[0] == whole.errors[1]
    assert f"{whole.errors[0]} leave-one-out errors in {len(y)} rows" in str(whole)
    assert f"{whole.refits} by refits" in str(whole)


def test_three_classes_one_against_the_rest():
    X, y = IRIS
    model = sx.LinearSVM(loss="squared_hinge", tol=1e-8).fit(X, y)
    result = model.leave_one_out(X, y, max_refits=1000)
    wrong = []
    for row in range(len(y)):
        others = np.arange(len(y)) != row
        refit = sx.LinearSVM(loss="squared_hinge", tol=1e-10).fit(X[others], y[others])
        wrong.append(refit.predict(X[[row]])[0] != y[row])
    decided = result.verdicts >= 0
    np.testing.assert_array_equal(result.verdicts[decided], np.array(wrong)[decided])
    assert decided.mean() > 0.95


def test_sparse_rows_give_the_same_verdicts():
    X, y = overlapping(5)
    model = sx.LogisticRegression().fit(X, y)
    rows = sparse.csr_array(X)
    same = sx.LogisticRegression().fit(rows, y).leave_one_out(rows, y)
    np.testing.assert_array_equal(same.verdicts, model.leave_one_out(X, y).verdicts)


def test_a_row_of_weight_zero_is_not_counted():
    X, y = overlapping(6)
    weights = np.ones(len(y))
    weights[[2, 20]] = 0.0
    model = sx.LinearSVM(loss="squared_hinge").fit(X, y, weights)
    result = model.leave_one_out(X, y, weights, max_refits=1000)
    kept = weights > 0
    without = sx.LinearSVM(loss="squared_hinge").fit(X[kept], y[kept]).leave_one_out(X[kept], y[kept], max_refits=1000)
    assert result.errors == without.errors
    assert result.n == len(y) - 2
    assert result.decided_by[2] == "weight"


def test_the_only_row_of_a_class_is_an_error():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    y = [0, 0, 0, 0, 1]
    result = sx.LinearSVM().fit(X, y).leave_one_out(X, y)
    assert result.decided_by[4] == "alone"
    assert result.errors == (1, 1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), exponent=st.floats(-2.0, 2.0), tol=st.floats(1e-9, 1e-2))
def test_refits_only_narrow_what_one_fit_proves(seed, exponent, tol):
    X, y = overlapping(seed, largest=32)
    model = sx.LinearSVM(loss="squared_hinge", C=10**exponent, tol=tol, max_iter=100_000).fit(X, y)
    first, then = (model.leave_one_out(X, y, max_refits=most) for most in (0, 1000))
    decided = first.verdicts >= 0
    np.testing.assert_array_equal(first.verdicts[decided], then.verdicts[decided])
    assert first.errors[0] <= then.errors[0] <= then.errors[1] <= first.errors[1]


def test_a_time_limit_leaves_an_interval():
    X, y = overlapping(3)
    result = sx.LogisticRegression().fit(X, y).leave_one_out(X, y, stop="time:0.000001")
    assert result.refits == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_refits": -1}, "max_refits must be a whole number of at least 0; found -1"),
        ({"stop": "epochs:2"}, "stop must be a TimeLimit or None; found 'epochs:2'"),
        ({"y": "flipped"}, "leave_one_out needs the rows, labels and weights that the model was fitted to"),
        ({"X": "shorter"}, "X and y differ in length"),
    ],
)
def test_what_cannot_be_meant_gets_one_clear_sentence(change, message):
    X, y = overlapping(4)
    model = sx.LinearSVM().fit(X, y)
    given = {"X": X, "y": y, **change}
    given["y"] = 1 - y if isinstance(given["y"], str) else given["y"]
    given["X"] = X[:-1] if isinstance(given["X"], str) else given["X"]
    with pytest.raises(ValueError, match="^" + message):
        model.leave_one_out(**given)


def test_other_rows_than_those_of_the_fit_are_refused():
    X, y = overlapping(4)
    model = sx.LinearSVM().fit(X, y)
    with pytest.raises(ValueError, match=r"^leave_one_out needs the rows, labels and weights"):
        model.leave_one_out(X[:-1], y[:-1])


BIASES = {"free": {}, "none": {"fit_intercept": False}, "penalised": {"intercept_scaling": 2.0}}


@pytest.mark.parametrize("bias", BIASES)
def test_no_verdict_about_classes_learned_together_contradicts_a_refit_by_another_program(bias):
    decided = refits = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.integers(18, 34)), int(rng.integers(1, 5)), 3 + seed % 2
        y = np.concatenate([np.arange(k), np.arange(k), rng.integers(0, k, n - 2 * k)])
        near = rng.normal(size=(n, d)) + rng.normal(size=(k, d))[y] * rng.uniform(0.5, 1.5)
        X = near + (1e4 if bias == "free" and seed % 3 == 0 else 0.0)
        weights = rng.uniform(0.2, 2.0, n) if seed % 2 else None
        by_class = dict(enumerate([2.0, 0.5, 1.0, 1.0][:k])) if seed % 4 > 1 else None
        C = 10 ** rng.uniform(-1.5, 1)
        counted = (np.ones(n) if weights is None else weights) * (
            np.array([2.0, 0.5, 1.0, 1.0])[y] if by_class else 1.0
        )
        seen = np.hstack([near, np.full((n, 1), 2.0)]) if bias == "penalised" else near
        other = LogisticRegression(C=C, tol=1e-8, solver="newton-cholesky", fit_intercept=bias == "free")
        margins = np.empty(n)
        for row in range(n):
            others = np.arange(n) != row
            scores = other.fit(seen[others], y[others], sample_weight=counted[others]).decision_function(seen[[row]])[0]
            margins[row] = scores[y[row]] - np.delete(scores, y[row]).max()
        model = sx.LogisticRegression(C=C, tol=1e-6, class_weight=by_class, **BIASES[bias])
        model.fit(X, y, sample_weight=weights)
        for most in (0, 1000):
            result = model.leave_one_out(X, y, weights, max_refits=most)
            assert result.refits <= most
            assert (margins[result.verdicts == 1] < NEAR_ZERO).all()
            assert (margins[result.verdicts == 0] > -NEAR_ZERO).all()
            decided += int((result.decided_by == "bound").sum())
        assert (result.verdicts >= 0).all()
        refits += result.refits
    assert decided > refits > 0


def test_classes_learned_together_are_decided_on_sparse_rows_too_and_the_only_row_of_a_class_is_wrong():
    X, y = IRIS
    model = sx.LogisticRegression(tol=1e-8).fit(X, y)
    result = model.leave_one_out(X, y)
    assert result.errors == (5, 5)  # as refits by scikit-learn have it
    again = sx.LogisticRegression(tol=1e-8).fit(sparse.csr_array(X), y).leave_one_out(sparse.csr_array(X), y)
    np.testing.assert_array_equal(again.verdicts, result.verdicts)
    alone = np.append(y, 3)
    rows = np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]])
    found = sx.LogisticRegression().fit(rows, alone).leave_one_out(rows, alone, max_refits=0)
    assert (found.verdicts[-1], found.decided_by[-1]) == (1, "alone")
    with pytest.raises(ValueError, match=r"^leave_one_out needs the rows, labels and weights"):
        model.leave_one_out(X * 100.0, y)
    wide = np.random.default_rng(0).normal(size=(30, 600))
    with pytest.raises(ValueError, match=r"at most 1,500 weights and intercepts; found 1,803: fit with multi_class"):
        sx.LogisticRegression().fit(wide, np.arange(30) % 3).leave_one_out(wide, np.arange(30) % 3)


def test_the_hard_margin_and_no_penalty_are_refused():
    X, y = IRIS
    with pytest.raises(ValueError, match="leave_one_out needs a finite C"):
        sx.LogisticRegression(C=float("inf")).fit(X[50:], y[50:]).leave_one_out(X[50:], y[50:])
    model = sx.LinearSVM(C=float("inf")).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match="leave_one_out needs a finite C"):
        model.leave_one_out(X[:100], y[:100])


def test_an_l1_penalty_has_no_bounds_and_is_refused():
    X, y = IRIS
    model = sx.LogisticRegression(l1_ratio=0.5).fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"^leave_one_out needs an L2 penalty, .*; found l1_ratio=0.5$"):
        model.leave_one_out(X[:100], y[:100])


@pytest.mark.parametrize(
    "model", [sx.LogisticRegression(tol=1e-8), sx.LinearSVM(tol=1e-8), sx.LinearSVM(loss="squared_hinge", tol=1e-8)]
)
def test_rows_far_from_the_origin_are_decided_as_they_are_near_it(model):
    X, y = overlapping(7, smallest=59)
    offset = 1.7e9 * (np.arange(X.shape[1]) < 2)
    far = X + offset
    near = far - offset  # exact
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    there = model.fit(far, y, weights).leave_one_out(far, y, weights, max_refits=0)
    here = model.fit(near, y, weights).leave_one_out(near, y, weights, max_refits=0)
    np.testing.assert_array_equal(there.verdicts, here.verdicts)
    assert (there.verdicts >= 0).mean() > 0.4
    rows = sparse.csr_array(far)
    with_refits = model.fit(rows, y, weights).leave_one_out(rows, y, weights, max_refits=1000)
    decided = there.verdicts >= 0
    np.testing.assert_array_equal(with_refits.verdicts[decided], there.verdicts[decided])
    assert (with_refits.verdicts >= 0).all()


def test_a_feature_of_very_different_size_is_no_reason_to_refuse_the_model():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([rng.normal(size=200) * 1e5 + 5e4 * y, rng.normal(size=200) + y])
    result = sx.LogisticRegression(tol=1e-6).fit(X, y).leave_one_out(X, y, max_refits=0)
    assert (result.verdicts >= 0).mean() > 0.9
