"""AROW, SCW, NHERD and the second-order perceptron as estimators.

Layouts, classes, weights, going on, what the certificate claims, bad parameters.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.certificates.data import binary_data
from separatrix.certificates.second_order import Updates, _log_determinant, arow_bound
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import AROW, NHERD, SCW1, SCW2, SecondOrderPerceptron
from separatrix.stops import EpochsInAll, MaxEpochs, NoMistakes

KINDS = [
    (sx.AROW, {}),
    (sx.AROW, {"covariance": "full", "r": 0.3}),
    (sx.SCW, {}),
    (sx.SCW, {"variant": "scw2", "C": 0.4, "eta": 0.75, "covariance": "full"}),
    (sx.NHERD, {"C": 0.5}),
    (sx.SecondOrderPerceptron, {"a": 0.5, "covariance": "full"}),
    (sx.SecondOrderPerceptron, {}),
]
IDS = ["arow", "arow full", "scw1", "scw2 full", "nherd", "sop full", "sop"]


def made(kind, **more):
    maker, options = kind
    return maker(**{"random_state": 0, "stop": MaxEpochs(3), **options, **more})


def blobs(n=120, d=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)).astype(np.float32)
    y = (X @ rng.standard_normal((d, classes)) + 0.1 * rng.standard_normal((n, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_an_estimator_is_its_rule_in_the_loop(kind):
    X, y = blobs(classes=2)
    model = made(kind, shuffle=False).fit(X, y)
    rule = {
        "AROW": lambda m: AROW(r=m.r, covariance=m.covariance),
        "NHERD": lambda m: NHERD(C=m.C, covariance=m.covariance),
        "SecondOrderPerceptron": lambda m: SecondOrderPerceptron(a=m.a, covariance=m.covariance),
        "SCW": lambda m: {"scw1": SCW1, "scw2": SCW2}[m.variant](
            C=m.C, phi={0.9: 1.2815515655446004, 0.75: 0.6744897501960817}[m.eta], covariance=m.covariance
        ),
    }[type(model).__name__](model)
    found = solve(Problem(X, y), rule, engine="reference", stop=MaxEpochs(3))
    np.testing.assert_allclose(model.coef_[0], found.weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, found.bias, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model._states[0].spread, found.state.spread, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_several_classes_layouts_and_threads_agree(kind):
    X, y = blobs()
    models = [
        made(kind, n_jobs=jobs).fit(data, y)
        for data, jobs in ((X, 1), (X, 2), (X.astype(np.float64), 1), (sparse.csr_array(X), 1))
    ]
    assert models[0].coef_.shape == (3, 6)
    assert models[0].score(X, y) > 0.8
    assert models[1].coef_.tobytes() == models[0].coef_.tobytes()
    for other in models[2:]:
        np.testing.assert_allclose(other.coef_, models[0].coef_, rtol=1e-9, atol=1e-12)
    several, one = made(kind, shuffle=False).fit(X, y), made(kind, shuffle=False).fit(X, y == 2)
    np.testing.assert_allclose(several.coef_[2], one.coef_[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_a_weight_of_2_is_the_row_twice_and_class_weights_are_weights(kind, average):
    X, y = blobs(60)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    counts[:3] = 1
    weighted = made(kind, average=average, shuffle=False).fit(X, y, sample_weight=counts)
    copied = made(kind, average=average, shuffle=False).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-9, atol=1e-12)
    by_class = made(kind, class_weight={0: 2.0, 1: 1.0, 2: 0.5}).fit(X, y)
    by_row = made(kind).fit(X, y, sample_weight=np.array([2.0, 1.0, 0.5])[y])
    assert by_class.coef_.tobytes() == by_row.coef_.tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_it_learns_online_with_new_classes_and_goes_on_from_a_file_with_its_spread(kind, tmp_path):
    X, y = blobs()
    names = np.array(["a", "b", "c"])[y]
    first = np.flatnonzero(names != "c")
    model = made(kind, average=True).partial_fit(X[first], names[first])
    assert model.classes_.tolist() == ["a", "b"]
    sx.save(model, tmp_path / "model.sx")
    again = sx.load(tmp_path / "model.sx")
    assert again._states[0].spread.tobytes() == model._states[0].spread.tobytes()
    for each in (model, again):
        each.partial_fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert again.coef_.tobytes() == model.coef_.tobytes()
    for state, other in zip(model._states, again._states, strict=True):
        assert state.spread.tobytes() == other.spread.tobytes()
    assert model._states[2].spread.max() <= 1.0


def test_two_classes_that_become_three_keep_what_was_learned():
    X, y = blobs()
    two = np.flatnonzero(y < 2)
    model = sx.AROW(random_state=0).partial_fit(X[two], y[two])
    weights, spread = model.coef_[0].copy(), model._states[0].spread.copy()
    with_third = clone(model).partial_fit(X[two], y[two]).partial_fit(X[two[:1]], y[two[:1]], classes=[0, 1, 2])
    assert with_third.coef_.shape == (3, 6)
    moved = np.abs(with_third.coef_[1] - weights).max()
    assert moved < 0.5 * np.abs(weights).max()  # one example moved it, from there
    assert np.all(with_third._states[1].spread <= spread)
    assert np.all(with_third._states[0].spread <= spread)  # the opposite task has the same spread


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_a_run_in_two_parts_is_one_and_another_covariance_starts_anew(kind):
    X, y = blobs()
    whole = made(kind, stop=EpochsInAll(5)).fit(X, y)
    parts = made(kind, stop=EpochsInAll(2), warm_start=True).fit(X, y)
    parts.set_params(stop=EpochsInAll(5)).fit(X, y)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    other = {"diagonal": "full", "full": "diagonal"}[whole.covariance]
    anew = parts.set_params(covariance=other, stop=MaxEpochs(2)).fit(X, y)
    assert anew.coef_.tobytes() == made(kind, covariance=other, stop=MaxEpochs(2)).fit(X, y).coef_.tobytes()
    parts.set_params(covariance=whole.covariance)
    with pytest.raises(ValueError, match=f"^covariance is now '{whole.covariance}', but what was learned so far has"):
        parts.partial_fit(X, y)


def checked(model):
    """Check a model as the reader of files does."""
    for state in model._states:
        state.validate()
    model.validate()


def test_states_that_lost_their_spread_are_refused():
    X, y = blobs()
    model = sx.AROW(stop=MaxEpochs(2)).fit(X, y)
    for spread in (None, np.ones(6), -np.ones(7)):
        forged = sx.AROW(stop=MaxEpochs(2)).fit(X, y)
        forged._states[1].spread = spread
        with pytest.raises(ValueError, match="spread"):
            checked(forged)
    checked(model)
    plain = sx.PassiveAggressive(stop=MaxEpochs(2)).fit(X, y)
    plain._states[0].spread = np.ones(7)
    with pytest.raises(ValueError, match="a state keeps no spread, or one that it cannot have"):
        checked(plain)


def test_they_do_well_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    for model in (sx.AROW(r=10.0), sx.AROW(r=10.0, covariance="full"), sx.SCW(), sx.SCW(variant="scw2", C=0.1)):
        model.set_params(random_state=0, stop="epochs:2")
        assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).mean() > 0.93, model


def test_rare_features_learn_faster_than_frequent_ones():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(400), rng.random(400) < 0.02]).astype(float)
    y = np.where(X[:, 1] > 0, 1, rng.random(400) < 0.4)
    for kind in (sx.AROW, sx.SCW):
        model = kind(fit_intercept=False, shuffle=False, stop=MaxEpochs(1)).fit(X, y)
        often, seldom = model._states[0].spread[:2]
        assert often < 0.1 * seldom


def test_small_features_are_no_reason_for_scw_to_give_up():
    X, y = blobs(classes=2)
    model = sx.SCW(random_state=0, fit_intercept=False).fit(1e-4 * X, y)
    assert model.status_.converged
    assert model.score(1e-4 * X, y) > 0.9


# ------------------------------------------------------------------------------------------------ the certificate


@pytest.mark.parametrize(
    ("X", "y", "r"),
    [([[-0.8], [0.1], [-1.6], [0.2]], [0, 0, 0, 1], 1.0), ([[0.3], [1.0], [-0.3], [1.4]], [1, 0, 1, 0], 10.0)],
)
def test_an_example_that_is_drawn_twice_counts_twice_in_the_bound(X, y, r):
    options = {"covariance": "full", "shuffle": "random", "stop": MaxEpochs(1), "fit_intercept": False}
    assert sx.AROW(r=r, random_state=0, **options).fit(X, y).certificate_.mistakes.holds


@pytest.mark.parametrize("scale", [1e150, 1e153, 1e154, 1e160])
def test_no_bound_is_claimed_where_values_are_too_large_for_a_step(scale):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, 60)
    claim = sx.AROW(covariance="full", stop=MaxEpochs(5), random_state=0).fit(X * scale, y).certificate_.mistakes
    assert claim.allowed >= claim.made
    assert math.isfinite(claim.allowed) or claim.why


@pytest.mark.parametrize("kind", [sx.AROW, sx.SecondOrderPerceptron, sx.PassiveAggressive])
@pytest.mark.parametrize("power", [-160, -110, -80, -65, -50, -20, 20, 50, 65, 80, 110, 150])
def test_a_bound_is_never_below_the_mistakes_whatever_the_scale(kind, power):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y, _ = random_problem(seed)
        X = X * 10.0 ** (power + rng.uniform(-3, 3, (1, X.shape[1])))
        if kind is sx.PassiveAggressive:
            options = {"C": 10.0 ** rng.uniform(-150, 150), "variant": f"pa{1 + seed % 2}"}
        else:
            name = "r" if kind is sx.AROW else "a"
            options = {name: 10.0 ** rng.uniform(-100, 100), "covariance": "full"}
        model = kind(fit_intercept=seed % 3 == 0, stop=MaxEpochs(8), random_state=seed, **options)
        try:
            claim = model.fit(X, y).certificate_.mistakes
        except ValueError:  # steps that overflow
            continue
        if claim is not None:
            assert claim.holds
            assert math.isfinite(claim.allowed) or abs(power) >= 20


def test_numbers_that_products_lose_leave_no_bound_and_a_reason():
    full = {"covariance": "full", "fit_intercept": False}
    for X, model in [
        ([[1e-80], [-1e-80]], sx.SecondOrderPerceptron(a=1.0, **full)),
        ([[1e-50], [-1e-50]], sx.AROW(r=1e142, **full)),
        ([[-1.7e101, 0.0], [2.5e101, 8e100], [-1.7e101, 8e100], [1.7e101, -8e100]], sx.AROW(r=2.7, **full)),
    ]:
        certificate = model.fit(X, [0, 1] * (len(X) // 2)).certificate_
        assert certificate.mistakes.holds
        assert "no bound: it is too large for a number, or the values are too large or too small" in str(certificate)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 15)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1)
    y = np.where(X @ rng.standard_normal(d) + rng.choice([0.0, 0.5]) * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    return X, y, float(10.0 ** rng.uniform(-2, 1))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_certificate_of_a_full_arow_allows_the_mistakes_that_were_made(intercept):
    near = 0
    for seed in range(60):
        X, y, r = random_problem(seed)
        options = {"fit_intercept": intercept, "intercept_scaling": 2.0, "random_state": seed, "average": seed % 2 > 0}
        model = sx.AROW(r=r, covariance="full", stop=MaxEpochs(1 + seed % 4), **options).fit(X, y)
        bound = model.certificate_.mistakes
        assert bound.holds
        assert bound.made == sum(epoch.mistakes for epoch in model.history_)
        assert math.isfinite(bound.allowed)
        assert f"mistakes: {bound.made:,}; bound" in str(model.certificate_)
        near += bound.made > 0.3 * bound.allowed
    assert near > 10  # so the bound says something


@pytest.mark.parametrize("intercept", [True, False])
def test_the_certificate_of_a_second_order_perceptron_allows_the_mistakes_that_were_made(intercept):
    near = 0
    for seed in range(250):
        X, y, a = random_problem(seed)
        options = {"fit_intercept": intercept, "intercept_scaling": 2.0, "random_state": seed, "average": seed % 2 > 0}
        model = sx.SecondOrderPerceptron(a=a, covariance="full", stop=MaxEpochs(1 + seed % 4), **options).fit(X, y)
        bound = model.certificate_.mistakes
        assert bound.holds
        assert bound.made == sum(epoch.mistakes for epoch in model.history_) == model.n_updates_
        assert math.isfinite(bound.allowed)
        assert f"mistakes: {bound.made:,}; bound" in str(model.certificate_)
        near += bound.made > 0.3 * bound.allowed
    assert near > 40


class Steps:
    def __init__(self):
        self.steps = []

    def on_step(self, step):
        self.steps.append(step)


def test_the_bound_is_never_below_the_theorem_for_the_updates_of_the_run():
    """The certificate knows how many updates there were, not on which rows: it allows for the worst."""
    close = 0
    for seed in range(200):
        X, y, r = random_problem(seed)
        epochs, K, seen = 1 + seed % 3, [0.0, 1.0, 3.0][seed % 3], Steps()
        problem = Problem(X, y, bias=K or None)
        found = solve(
            problem, AROW(r=r, covariance="full"), engine="reference", stop=MaxEpochs(epochs), observers=[seen]
        )
        A = np.array([[*step.x, K] for step in seen.steps if step.updated])
        signs = np.array([step.y for step in seen.steps if step.updated])
        data = binary_data(Rows(X), problem.classes, problem.codes, bool(K), 1)
        known = Updates(len(A), sum(step.mistake for step in seen.steps), epochs)
        determinant = np.linalg.slogdet(np.eye(A.shape[1]) + A.T @ A / r)[1]
        assert determinant <= _log_determinant(data, K, r, known) * (1 + 1e-12)
        u = np.append(found.weights, found.bias / K if K else 0.0)
        margins = signs * (A @ u)
        all_margins = np.where(y > 0, 1, -1) * (np.column_stack([X, np.full(len(y), K)]) @ u)
        exact = []
        for length in [1.0] + ([1.0 / all_margins.min()] if all_margins.min() > 0 else []):
            size = length**2 * (r * u @ u + (margins**2).sum())
            losses = np.maximum(0.0, 1.0 - length * margins).sum()
            rest = known.made - known.mistakes
            exact.append(math.sqrt(size * (determinant + rest)) + losses - rest)
        bound = arow_bound(data, found.weights, float(found.bias), K, r, known)
        assert min(exact) <= bound * (1 + 1e-9) + 1e-9
        close += bound < 2 * min(exact)
    assert close > 100


def test_where_no_theorem_holds_the_certificate_says_so():
    X, y = blobs(classes=2)
    for model, why in (
        (sx.AROW(stop=MaxEpochs(2)), "the theorem of AROW is about a full covariance"),
        (sx.SCW(stop=MaxEpochs(2), covariance="full"), "no theorem is known for SCW"),
        (sx.NHERD(stop=MaxEpochs(2), covariance="full"), "no theorem is known for NHERD"),
        (
            sx.SecondOrderPerceptron(stop=MaxEpochs(2)),
            "the theorem of the second-order perceptron is about a full covariance",
        ),
    ):
        certificate = model.fit(X, y).certificate_
        assert certificate.mistakes.allowed == math.inf
        assert certificate.mistakes.made == sum(epoch.mistakes for epoch in model.history_)
        assert f"no bound: {why}" in str(certificate)
        assert certificate.to_dict()["mistakes"]["allowed"] is None
    weighted = sx.AROW(covariance="full", stop=MaxEpochs(2)).fit(X, y, sample_weight=np.arange(len(y)) % 2 + 1.0)
    assert weighted.certificate_.mistakes.why


def test_a_converged_run_without_mistakes_predicts_every_row_right():
    data = sx.datasets.separable(200, 5, margin=0.1, random_state=0)
    for kind in KINDS:
        model = made(kind, stop=NoMistakes()).fit(data.X, data.y)
        wrong = int((model.predict(data.X) != data.y).sum())
        assert model.status_.converged
        assert wrong == model.certificate_.wrong
        assert (wrong == 0) == ("training rows" not in str(model.status_))


# ------------------------------------------------------------------------------------------------ bad parameters


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (sx.AROW(r=0), "r must be a positive number from 1e-150 to 1e150; found 0"),
        (sx.AROW(r=math.inf), "r must be a positive number from 1e-150 to 1e150; found inf"),
        (sx.AROW(r="large"), "r must be a number; found 'large'"),
        (sx.AROW(covariance="none"), "covariance must be one of diagonal, full; found 'none'"),
        (sx.AROW(max_iter=0), "max_iter must be a whole number of at least 1; found 0"),
        (sx.NHERD(C=0), "C must be a positive number from 1e-150 to 1e150; found 0"),
        (sx.SecondOrderPerceptron(a=-2), "a must be a positive number from 1e-150 to 1e150; found -2"),
        (sx.SecondOrderPerceptron(covariance=3), "covariance must be one of diagonal, full; found 3"),
        (sx.SCW(C=-1.0), "C must be a positive number from 1e-150 to 1e150, or infinity; found -1.0"),
        (sx.SCW(C=math.nan), "C must be a positive number from 1e-150 to 1e150, or infinity; found nan"),
        (sx.SCW(variant="1"), "variant must be one of scw1, scw2; found '1'"),
        (sx.SCW(eta=0.5), "eta must be above 0.5 and at most 1, as it is a confidence; found 0.5"),
        (sx.SCW(eta=-0.1), "eta must be above 0.5 and at most 1, as it is a confidence; found -0.1"),
        (sx.SCW(eta=1.5), "eta must be above 0.5 and at most 1, as it is a confidence; found 1.5"),
        (sx.SCW(eta="sure"), "eta must be a number; found 'sure'"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_sentence(model, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        model.fit([[0.0], [1.0]], [0, 1])


def test_a_full_covariance_of_many_features_is_refused():
    X = sparse.csr_array(np.eye(2, 5000))
    with pytest.raises(ValueError, match=r"^covariance='full' of 5,000 features takes 0.2 GiB for each class"):
        sx.AROW(covariance="full").fit(X, [0, 1])
    with pytest.raises(ValueError, match=r"^covariance='full' of 5,000 features takes 0.2 GiB for each class"):
        sx.SecondOrderPerceptron(covariance="full").fit(X, [0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sx.AROW(max_iter=3).fit(X, [0, 1]).coef_.shape == (1, 5000)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", [sx.AROW, sx.SCW, sx.NHERD, sx.SecondOrderPerceptron])
def test_sparse_rows_learn_the_same_whether_weights_stand_beside_their_variances_or_not(kind, average):
    """They do where the rows of a pass hold many values for each column."""
    rng = np.random.default_rng(4)
    X = sparse.random_array((300, 40), density=0.3, rng=rng, format="csr")
    y = (X.sum(axis=1) + 0.5 * rng.standard_normal(300) > 3.0).astype(int)
    options = {"average": average, "covariance": "diagonal", "shuffle": False}
    whole = kind(**options).partial_fit(X, y)
    parts = kind(**options)
    for begin in range(0, 300, 20):  # 240 values, fewer than 8 a column
        parts.partial_fit(X[begin : begin + 20], y[begin : begin + 20], classes=[0, 1])
    assert whole.n_updates_ > 20
    assert whole.coef_.tobytes() == parts.coef_.tobytes()
    assert whole._states[0].spread.tobytes() == parts._states[0].spread.tobytes()


def test_covariances_that_do_not_fit_into_memory_are_refused_in_one_sentence(monkeypatch):
    def no_room(shape, **_):
        raise MemoryError(f"no room for {shape}")

    monkeypatch.setattr("separatrix.loop.solve.np.empty", no_room)
    X, y = np.eye(30, 40), np.arange(30)
    sentence = (
        r"^covariance='full' of 40 features takes 0\.0 GiB for each class, 0\.0 GiB in all while 30 are learned, which "
        r"is more than there is: use covariance='diagonal'$"
    )
    with pytest.raises(MemoryError, match=sentence):
        sx.AROW(covariance="full").fit(X, y)
