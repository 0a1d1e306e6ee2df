import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from independent_fits import NEAR_ZERO, SOLVERS, case, overlapping
from separatrix.insight.fold_bounds import FoldBounds
from separatrix.insight.range_cells import default_fits
from separatrix.loop.problem import encode_labels

BLOBS = overlapping(1, smallest=50)
IRIS = load_iris(return_X_y=True)


def lowest_error(model, data, folds, C):
    """Return the cross-validation error of another program's optimum; rows on the boundary count as wrong."""
    weights = np.ones(len(data.y)) if data.sample_weight is None else data.sample_weight
    parts = [
        np.average(data.margins(model(C), train, test) < NEAR_ZERO, weights=weights[test])
        for train, test in StratifiedKFold(folds).split(data.X, data.y)
    ]
    return float(np.mean(parts))


@pytest.mark.parametrize("seed", range(30))
def test_no_c_of_a_dense_grid_has_an_error_below_the_proven_bound(seed):
    name = list(SOLVERS)[seed % len(SOLVERS)]
    ours, other = SOLVERS[name]
    data = case(seed, name)
    model, folds, high = ours(), 2 + seed % 3, 2.0 if name == "hinge" else 100.0  # where LIBSVM arrives
    model.set_params(class_weight=data.class_weight)
    if isinstance(model, sx.LogisticRegression):
        model.set_params(multi_class="ovr")
    most = 60 if seed % 5 == 0 else 250
    result = sx.tune(
        model, data.X, data.y, C=(0.01, high), folds=folds, within=0.04, max_fits=most, sample_weight=data.sample_weight
    )
    for C in np.geomspace(0.01, high, 17):
        error = lowest_error(other, data, folds, C)
        here = result.bounds_[(result.bounds_[:, 0] <= C * (1 + 1e-12)) & (result.bounds_[:, 1] * (1 + 1e-12) >= C)]
        assert len(here)
        assert error >= here[:, 2].min() - 1e-12
        assert error >= result.error_ - result.distance_ - 1e-12
        if result.proved_:
            assert error >= result.error_ - 0.04 - 1e-12


def test_the_answer_is_a_sentence_with_the_proof():
    result = sx.tune(sx.LogisticRegression(), *BLOBS, C=(0.01, 10.0), within=0.05)
    assert result.proved_
    assert str(result) == (
        f"C = {result.C_:.3g} (cross-validation error {result.error_:.4g}, 5 folds); no C in [0.01, 10] has a "
        f"cross-validation error lower by more than 0.05 (proved with {result.n_fits_} fits)"
    )


def test_the_ranges_cover_everything_from_the_lowest_c_to_the_highest():
    result = sx.tune(sx.LogisticRegression(), *BLOBS, C=(0.01, 10.0), within=0.05)
    bounds = result.bounds_
    assert bounds[0, 0] == 0.01
    assert bounds[-1, 1] == 10.0
    np.testing.assert_array_equal(bounds[1:, 0], bounds[:-1, 1])
    assert result.lower_bound_ == bounds[:, 2].min()
    assert (result.Cs_[0], result.Cs_[-1]) == (0.01, 10.0)
    assert result.table == list(zip(result.Cs_.tolist(), result.errors_.tolist(), strict=True))


def test_the_error_is_that_of_cold_fits_in_the_folds_of_scikit_learn():
    X, y = BLOBS
    result = sx.tune(sx.LogisticRegression(tol=1e-10), X, y, C=(0.01, 10.0), within=0.05)
    parts = [
        np.mean(sx.LogisticRegression(C=result.C_, tol=1e-10).fit(X[train], y[train]).predict(X[test]) != y[test])
        for train, test in StratifiedKFold(5).split(X, y)
    ]
    assert result.error_ == pytest.approx(np.mean(parts), abs=1e-12)
    assert result.error_ == result.errors_.min()


def test_sample_weights_count_in_the_fits_the_error_and_the_last_fit():
    X, y = BLOBS
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y)) * (np.arange(len(y)) % 7 > 0)
    for model in (sx.LogisticRegression(tol=1e-10), make_pipeline(StandardScaler(), sx.LogisticRegression(tol=1e-10))):
        result = sx.tune(model, X, y, C=(0.01, 10.0), within=0.05, sample_weight=weights)
        parts = []
        for train, test in StratifiedKFold(5).split(X, y):
            scaler = StandardScaler(with_mean=len(getattr(model, "steps", [])) > 0, with_std=hasattr(model, "steps"))
            inside, outside = scaler.fit_transform(X[train]), scaler.transform(X[test])
            cold = sx.LogisticRegression(C=result.C_, tol=1e-10).fit(inside, y[train], sample_weight=weights[train])
            parts.append(np.average(cold.predict(outside) != y[test], weights=weights[test]))
        assert result.error_ == pytest.approx(np.mean(parts), abs=1e-12)
    again = sx.LogisticRegression(C=result.C_, tol=1e-10)
    again.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(result.best_estimator_[-1].coef_, again.coef_)


def test_weights_of_one_are_no_weights():
    one, none = (sx.tune(sx.LinearSVM(), *BLOBS, within=0.05, sample_weight=w) for w in (np.ones(len(BLOBS[1])), None))
    np.testing.assert_array_equal(one.bounds_, none.bounds_)


def test_the_best_estimator_is_fitted_to_all_rows():
    X, y = BLOBS
    result = sx.tune(sx.LinearSVM(C=7.0, loss="squared_hinge"), X, y, C=(0.1, 1.0), within=0.3)
    assert result.best_estimator_.C == result.C_
    again = sx.LinearSVM(C=result.C_, loss="squared_hinge").fit(X, y)
    np.testing.assert_array_equal(result.best_estimator_.coef_, again.coef_)


def test_a_budget_that_ends_first_leaves_a_proven_distance():
    result = sx.tune(sx.LinearSVM(loss="squared_hinge"), *BLOBS, folds=3, within=0.001, max_fits=30)
    assert not result.proved_
    assert result.n_fits_ <= 30
    assert result.distance_ == result.error_ - result.lower_bound_
    assert "max_fits=30 reached" in str(result)


def test_a_budget_that_does_not_reach_the_highest_c_claims_nothing_beyond():
    result = sx.tune(sx.LinearSVM(loss="squared_hinge"), *BLOBS, folds=3, within=0.001, max_fits=7)
    assert result.bounds_[-1].tolist() == [result.Cs_[-1], 1000.0, 0.0]
    assert result.lower_bound_ == 0.0


def test_a_time_limit_leaves_a_proven_distance():
    result = sx.tune(sx.LinearSVM(), *BLOBS, within=1e-6, stop="time:0.000001")
    assert not result.proved_
    assert len(result.Cs_) == 1
    assert "time limit of 1e-06 s reached" in str(result)


def test_more_fits_never_weaken_the_proof():
    few, many = (sx.tune(sx.LogisticRegression(), *BLOBS, folds=2, within=0.001, max_fits=m) for m in (40, 160))
    assert many.error_ <= few.error_
    assert many.lower_bound_ >= few.lower_bound_


def test_several_classes_are_proved_one_against_the_rest():
    X, y = IRIS
    result = sx.tune(sx.LinearSVM(loss="squared_hinge"), X, y, C=(0.1, 10.0), folds=3, within=0.05)
    assert result.proved_
    for C in np.geomspace(0.1, 10.0, 15):
        wrong = [
            np.mean(
                sx.LinearSVM(loss="squared_hinge", C=C, tol=1e-9).fit(X[train], y[train]).predict(X[test]) != y[test]
            )
            for train, test in StratifiedKFold(3).split(X, y)
        ]
        assert np.mean(wrong) >= result.error_ - 0.05


def test_a_multinomial_model_is_tuned_without_a_claim():
    result = sx.tune(sx.LogisticRegression(), *IRIS, C=(0.1, 10.0))
    assert not result.proved_
    assert result.lower_bound_ == 0.0
    assert "nothing is proved: the classes are learned together" in str(result)


def test_pipelines_scale_each_fold_on_its_own():
    X, y = BLOBS
    model = make_pipeline(StandardScaler(), sx.LogisticRegression(tol=1e-9))
    result = sx.tune(model, X * 1e3, y, C=(0.01, 1.0), folds=3, within=0.05)
    parts = []
    for train, test in StratifiedKFold(3).split(X, y):
        scaler = StandardScaler().fit(X[train] * 1e3)
        own = sx.LogisticRegression(C=result.C_, tol=1e-9).fit(scaler.transform(X[train] * 1e3), y[train])
        parts.append(np.mean(own.predict(scaler.transform(X[test] * 1e3)) != y[test]))
    assert result.error_ == pytest.approx(np.mean(parts), abs=1e-12)
    assert result.best_estimator_[-1].C == result.C_


def test_sparse_rows_and_text_labels_give_the_same_answer():
    X, y = BLOBS
    dense = sx.tune(sx.LogisticRegression(), X, y, C=(0.01, 10.0), within=0.05)
    words = sx.tune(
        sx.LogisticRegression(), sparse.csr_array(X), np.array(["no", "yes"])[y], C=(0.01, 10.0), within=0.05
    )
    assert dense.proved_
    assert words.proved_
    assert words.C_ == dense.C_
    assert words.error_ == dense.error_


def test_class_weights_are_part_of_the_problem():
    X, y = BLOBS
    result = sx.tune(sx.LogisticRegression(class_weight="balanced"), X, y, C=(0.01, 10.0), folds=2, within=0.05)
    for C in np.geomspace(0.01, 10.0, 12):
        wrong = [
            np.mean(
                sx.LogisticRegression(class_weight="balanced", C=C, tol=1e-10).fit(X[a], y[a]).predict(X[b]) != y[b]
            )
            for a, b in StratifiedKFold(2).split(X, y)
        ]
        assert np.mean(wrong) >= result.error_ - 0.05


@pytest.mark.parametrize("folds", [KFold(3, shuffle=True, random_state=0), list(KFold(3).split(BLOBS[0][::-1]))])
def test_splitters_and_lists_of_folds_are_accepted(folds):
    X, y = BLOBS
    order = np.random.default_rng(0).permutation(len(y))
    result = sx.tune(sx.LogisticRegression(), X[order], y[order], C=(0.1, 1.0), folds=folds, within=0.2)
    assert result.n_folds_ == 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"C": (10.0, 0.1)}, "C must be a pair of positive, finite numbers, the lower first; found"),
        ({"C": (0.0, 1.0)}, "C must be a pair of positive, finite numbers, the lower first; found"),
        ({"C": 1.0}, "C must be a pair of positive, finite numbers, the lower first; found 1.0"),
        ({"C": (float("nan"), 1.0)}, "C must be a pair of positive, finite numbers"),
        ({"folds": 50}, "folds must be at most the number of rows of the smallest class: class"),
        ({"folds": 1}, "folds must be a whole number of at least 2, or a splitter; found 1"),
        ({"folds": [([0, 1, 2], [3])]}, "fold 0 has no training row of class 1; every fold needs one"),
        ({"folds": [([0, 999], [3])]}, "folds must be a number, a splitter or pairs of arrays of row numbers; found a"),
        ({"folds": 2.5}, "folds must be a number, a splitter or pairs of arrays of row numbers;"),
        ({"within": 0.0}, "within must be a number between 0 and 1, such as 0.005; found 0.0"),
        ({"within": -1}, "within must be a number between 0 and 1, such as 0.005; found -1"),
        ({"within": float("nan")}, "within must be a number between 0 and 1, such as 0.005; found nan"),
        ({"max_fits": 3}, "max_fits must be a whole number of at least 10, two fits in each fold; found 3"),
        ({"stop": "epochs:3"}, "stop must be a TimeLimit or None: tune ends when its proof is complete; found"),
        ({"y": np.zeros(len(BLOBS[1]))}, "tune needs examples of at least two classes; found one class: 0.0"),
        ({"y": BLOBS[1][:-1]}, "X and y differ in length"),
        ({"sample_weight": [1.0]}, "sample_weight"),
        ({"sample_weight": (BLOBS[1] == 1).astype(float)}, "every example of the class 0 has weight 0: leave its rows"),
        ({"folds": [(range(1, 50), [0]), (range(49), [49])], "sample_weight": np.r_[0.0, np.ones(len(BLOBS[1]) - 1)]},
         "fold 0 has only validation rows of weight 0; every fold needs one with weight"),
        ({"X": np.where(BLOBS[0] == BLOBS[0].max(), np.nan, BLOBS[0])}, "X contains NaN"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_gets_one_clear_sentence(changed, message):
    given = {"estimator": sx.LogisticRegression(), "X": BLOBS[0], "y": BLOBS[1], **changed}
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        sx.tune(**given)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("estimator", [sx.Perceptron(), sx.LinearSVM, StandardScaler()])
def test_other_estimators_are_refused_by_name(estimator):
    with pytest.raises(TypeError, match="tune needs a LinearSVM or a LogisticRegression"):
        sx.tune(estimator, *BLOBS)


def test_an_l1_penalty_has_no_proof_and_is_refused():
    with pytest.raises(
        ValueError, match=r"^tune needs an L2 penalty, for which its bounds are proved; found l1_ratio=1$"
    ):
        sx.tune(sx.LogisticRegression(l1_ratio=1.0), *BLOBS)
    with pytest.raises(ValueError, match=r"^tune needs an L2 penalty, .*; found l1_ratio=0.5$"):
        sx.tune(make_pipeline(StandardScaler(), sx.LinearSVM(loss="squared_hinge", penalty="elasticnet")), *BLOBS)


def test_by_default_there_are_fewer_fits_where_each_is_of_many_classes():
    def fold(k):
        y = np.arange(2 * k) % k
        X = np.eye(2 * k)
        return FoldBounds(sx.LinearSVM(), X, encode_labels(y), X, y)

    assert default_fits([fold(2)] * 5) == 1000
    assert default_fits([fold(5)] * 5) == 200
    assert default_fits([fold(50)] * 5) == 100


@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearSVM(loss="squared_hinge")])
def test_a_smooth_loss_is_proved_with_few_fits(model):
    X, y = load_breast_cancer(return_X_y=True)
    result = sx.tune(model, StandardScaler().fit_transform(X), y, C=(0.01, 100.0), folds=3, within=0.01)
    assert result.proved_
    assert result.n_fits_ <= 150


def test_the_hinge_is_proved_to_the_last_row_along_the_path_from_one_fit_of_each_fold():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    result = sx.tune(sx.LinearSVM(), X, y, C=(1e-3, 1e3), folds=3, within=1e-6)
    assert result.proved_
    assert (result.n_fits_, result.n_paths_) == (3, 3)
    assert str(result).endswith("(proved with 3 fits and 3 paths)")
    assert result.error_ == result.lower_bound_
    for C in np.geomspace(1e-3, 10.0, 7):
        parts = [
            np.mean(sx.LinearSVM(C=C, tol=1e-9).fit(X[train], y[train]).predict(X[test]) != y[test])
            for train, test in StratifiedKFold(3).split(X, y)
        ]
        here = result.bounds_[(result.bounds_[:, 0] <= C) & (result.bounds_[:, 1] >= C)]
        assert np.mean(parts) >= here[:, 2].min() >= result.error_


def test_a_path_that_ends_on_the_way_leaves_the_rest_to_fits(monkeypatch):
    follow = FoldBounds.follow

    def not_far(fold, point, end, halted):
        return point.C if 0.3 < point.C < 20.0 else follow(fold, point, min(end, 4.0 * point.C), halted)

    monkeypatch.setattr(FoldBounds, "follow", not_far)
    halting = sx.tune(sx.LinearSVM(), *BLOBS, C=(0.01, 100.0), folds=3, within=0.02)
    monkeypatch.undo()
    whole = sx.tune(sx.LinearSVM(), *BLOBS, C=(0.01, 100.0), folds=3, within=0.02)
    assert halting.n_fits_ > whole.n_fits_
    assert halting.lower_bound_ <= whole.error_ <= halting.error_
    bounds = halting.bounds_
    np.testing.assert_array_equal(bounds[1:, 0], bounds[:-1, 1])
    assert (bounds[0, 0], bounds[-1, 1]) == (0.01, 100.0)


@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearSVM(), sx.LinearSVM(loss="squared_hinge")])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array])
def test_rows_far_from_the_origin_are_proved_as_they_are_near_it(model, rows):
    X, y = BLOBS
    offset = 1.7e9 * (np.arange(X.shape[1]) < 2)
    far = X + offset
    near = far - offset  # exact
    asked = {"C": (0.03, 10.0), "folds": 3, "within": 0.03}
    there, here = sx.tune(model, rows(far), y, **asked), sx.tune(model, rows(near), y, **asked)
    assert there.proved_
    assert here.proved_
    assert (there.error_, there.lower_bound_) == pytest.approx((here.error_, here.lower_bound_))
    bounds = there.bounds_
    for C in np.geomspace(0.03, 10.0, 5):
        parts = [
            np.mean(clone(model).set_params(C=C, tol=1e-9).fit(near[a], y[a]).predict(near[b]) != y[b])
            for a, b in StratifiedKFold(3).split(near, y)
        ]
        assert np.mean(parts) >= bounds[(bounds[:, 0] <= C) & (bounds[:, 1] >= C)][:, 2].min() - 1e-12


def test_validation_rows_may_lack_a_value_where_the_training_rows_have_none_near_0():
    X, y = BLOBS
    far = X + 1e4
    far[0, 0] = 0.0
    folds = [(np.arange(1, len(y)), np.arange(0, len(y), 2))]
    sparse_rows, dense = (
        sx.tune(sx.LogisticRegression(), rows(far), y, C=(0.01, 1.0), folds=folds, within=0.05)
        for rows in (sparse.csr_array, np.asarray)
    )
    assert sparse_rows.lower_bound_ <= dense.error_
    assert dense.lower_bound_ <= sparse_rows.error_
