"""When a run looks at its gap: as soon as it may be small enough, and no more often than that pays."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix import _core
from separatrix.geometry.rows import Rows
from separatrix.svm.ascent import Ascent
from separatrix.svm.logistic import LogisticTask
from separatrix.svm.newton import LogisticRun
from separatrix.svm.task import MarginTask, measure


def texts(n=1_500, d=900, seed=1):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.02, format="csr", random_state=seed, data_rvs=np.ones)
    return X, np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_rough_target_ends_after_the_first_epoch(loss):
    X, y = texts()
    model = sx.LinearSVM(loss=loss, C=1e-4, tol=0.1, fit_intercept=False, random_state=0).fit(X, y)
    assert model.n_iter_ == 1
    assert model.duality_gap_ <= 0.1 * model.objective_


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_the_losses_as_they_are_give_the_value_of_the_weights(squared, bias):
    X, signs = texts()
    task = MarginTask(Rows(X), signs, np.full(len(signs), 0.3), squared, bias)
    ascent = Ascent(task, None, 0)
    for _ in range(12):
        ascent.epoch(lambda: False)
    met, now = ascent.estimate().primal, ascent.refreshed()
    exact = measure(task, ascent.alpha)
    assert now == pytest.approx(exact.primal, rel=1e-12)
    assert abs(met / exact.primal - 1.0) > 1e-6  # those of rows that were left out are old
    wrong = (ascent.alpha == 0) & (exact.slack > 0)
    assert not ascent.points["wait"][wrong].any()


def test_a_warm_start_that_is_near_enough_ends_at_once():
    X, y = texts()
    model = sx.LinearSVM(C=0.5, tol=1e-3, random_state=0, warm_start=True).fit(X, y)
    weights = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == 0
    assert str(model.status_).startswith("converged at the start: relative duality gap")
    np.testing.assert_array_equal(model.coef_, weights)


@pytest.mark.parametrize("model", [sx.LogisticRegression(max_iter=3), sx.LinearSVM(max_iter=3, random_state=0)])
def test_no_gap_is_said_to_be_above_the_objective(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(200) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(C=1e100).fit(X, y)
    assert "relative duality gap 1.0e+00, above" in str(model.status_)


def test_an_earlier_factor_is_a_preconditioner_and_a_cut_changes_no_bit():
    rng = np.random.default_rng(2)
    X = sparse.csr_matrix((rng.random((4_000, 120)) < 0.2).astype(float))
    signs = np.where(X @ rng.standard_normal(120) + rng.standard_normal(4_000) > 0, 1.0, -1.0)

    def run():
        return LogisticRun(LogisticTask(Rows(X), signs, np.full(4_000, 10.0), free=True), 1e-8, np.zeros(120))

    whole = run()
    whole.go(100, lambda: False)
    assert whole.anchor is not None
    assert whole.steps > 0
    assert whole.solution.relative_gap <= 1e-8
    cut, cuts = run(), 0
    while True:
        polls = iter([False] * (3 + 5 * (cuts % 20)))
        cut.go(100, lambda polls=polls: next(polls, True))
        if cut.ended != "halted":
            break
        task, cuts = cut.task, cuts + 1
        cut.put_down().validate()
        cut.task = task
    assert cuts > 0
    np.testing.assert_array_equal(cut.solution.weights, whole.solution.weights)


def test_a_checksum_tells_any_changed_value_and_place():
    X, _ = texts(60, 30)
    before = _core.checksum(Rows(X).matrix)
    assert before == _core.checksum(Rows(X.copy()).matrix)
    seen = {before}
    for part in ("data", "indices"):
        for k in range(0, X.nnz, 7):
            changed = X.copy()
            getattr(changed, part)[k] += 1 if part == "data" else (changed.indices[k] + 1) % 30 - changed.indices[k]
            seen.add(_core.checksum(_core.csr(changed.data, changed.indices, changed.indptr, 30)))
    assert len(seen) == 1 + 2 * len(range(0, X.nnz, 7))
