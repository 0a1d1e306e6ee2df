"""ROMMA and ALMA as estimators: layouts, classes, weights, going on, what the certificate claims, bad parameters."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.certificates.data import binary_data
from separatrix.certificates.margin_updates import update_bound
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import ALMA, ROMMA, AggressiveROMMA
from separatrix.stops import EpochsInAll, MaxEpochs

KINDS = [(sx.ROMMA, {}), (sx.ROMMA, {"aggressive": True}), (sx.ALMA, {}), (sx.ALMA, {"alpha": 0.3})]
IDS = ["romma", "aggressive", "alma", "alma 0.3"]
LINE = [[-0.5], [0.5], [1.0], [2.0]], ["no", "no", "yes", "yes"]


def made(kind, **more):
    maker, options = kind
    return maker(**{"random_state": 0, "stop": MaxEpochs(3), **options, **more})


def blobs(n=120, d=6, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)).astype(np.float32)
    y = (X @ rng.standard_normal((d, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_an_estimator_is_its_rule_in_the_loop(kind, average):
    X, y = blobs(classes=2)
    model = made(kind, shuffle=False, average=average).fit(X, y)
    rule = ALMA(model.alpha) if isinstance(model, sx.ALMA) else [ROMMA(), AggressiveROMMA()][model.aggressive]
    readout = "averaged" if average else "last"
    found = solve(Problem(X, y), rule, engine="reference", stop=MaxEpochs(3), readout=readout)
    np.testing.assert_allclose(model.coef_[0], found.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, found.bias, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_several_classes_layouts_and_threads_agree(kind):
    X, y = blobs()
    models = [
        made(kind, average=True, n_jobs=jobs).fit(data, y)
        for data, jobs in ((X, 1), (X, 2), (X.astype(np.float64), 1), (sparse.csr_array(X), 1))
    ]
    assert models[0].coef_.shape == (3, 6)
    assert models[0].score(X, y) > 0.8
    assert models[1].coef_.tobytes() == models[0].coef_.tobytes()
    for other in models[2:]:
        np.testing.assert_allclose(other.coef_, models[0].coef_, rtol=1e-6, atol=1e-8)
    several, one = made(kind, shuffle=False).fit(X, y), made(kind, shuffle=False).fit(X, y == 2)
    np.testing.assert_allclose(several.coef_[2], one.coef_[0], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_a_weight_of_2_is_the_row_twice_and_class_weights_are_weights(kind):
    X, y = blobs(40)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    counts[:3] = 1
    weighted = made(kind, shuffle=False).fit(X, y, sample_weight=counts)
    copied = made(kind, shuffle=False).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-6, atol=1e-8)
    by_class = made(kind, class_weight={0: 2.0, 1: 1.0, 2: 0.5}).fit(X, y)
    by_row = made(kind).fit(X, y, sample_weight=np.array([2.0, 1.0, 0.5])[y])
    assert by_class.coef_.tobytes() == by_row.coef_.tobytes()


def test_a_weight_below_1_goes_that_part_of_the_way():
    X, y = [[1.0], [2.0]], [0, 1]
    half = sx.ROMMA(shuffle=False, stop=MaxEpochs(1)).fit(X, y, sample_weight=[1.0, 0.25])
    # From -(1, 1) / 2 towards (2, -3), see test_large_margins.py.
    np.testing.assert_allclose([half.coef_[0, 0], half.intercept_[0]], [-0.5 + 0.25 * 2.5, -0.5 - 0.25 * 2.5])


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_it_learns_online_with_new_classes_and_goes_on_from_a_file(kind, tmp_path):
    X, y = blobs()
    names = np.array(["a", "b", "c"])[y]
    first = np.flatnonzero(names != "c")
    model = made(kind, average=True).partial_fit(X[first], names[first])
    sx.save(model, tmp_path / "model.sx")
    again = sx.load(tmp_path / "model.sx")
    for each in (model, again):
        each.partial_fit(X, names)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert again.coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_a_run_in_two_parts_is_one(kind):
    X, y = blobs()
    whole = made(kind, stop=EpochsInAll(5)).fit(X, y)
    parts = made(kind, stop=EpochsInAll(2), warm_start=True).fit(X, y)
    parts.set_params(stop=EpochsInAll(5)).fit(X, y)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()


def test_the_weights_of_alma_stay_in_the_ball_of_radius_1():
    X, y = blobs(classes=2)
    for epochs in (1, 2, 7):
        model = sx.ALMA(stop=MaxEpochs(epochs), intercept_scaling=2.0).fit(100 * X, y)
        assert np.linalg.norm([*model.coef_[0], model.intercept_[0] / 2.0]) <= 1 + 1e-12


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_the_scale_of_the_data_has_no_meaning(kind, factor):
    X, y = blobs(classes=2)
    X = X.astype(float)
    plain, scaled = (made(kind, fit_intercept=False, shuffle=False).fit(data, y) for data in (X, factor * X))
    assert plain.predict(X).tolist() == scaled.predict(factor * X).tolist()
    assert plain.n_updates_ == scaled.n_updates_


def test_on_data_that_a_plane_separates_they_come_to_wide_margins():
    data = sx.datasets.separable(200, 3, margin=0.1, random_state=0)
    most = sx.certify(data.X, data.y).margin.upper
    margins = {}
    for name, model in (
        ("romma", sx.ROMMA()), ("aggressive", sx.ROMMA(aggressive=True)), ("alma", sx.ALMA(alpha=0.5))
    ):  # fmt: skip
        model.set_params(random_state=0, stop=None if name == "romma" else MaxEpochs(300))
        margins[name] = model.fit(data.X, data.y).certificate_.margin / most
    assert 0 < margins["romma"] < margins["aggressive"]
    assert margins["aggressive"] > 0.9
    assert margins["alma"] > 0.5  # of the largest, though that of examples of length 1 is another


def test_romma_has_converged_with_no_mistakes():
    data = sx.datasets.separable(200, 5, margin=0.1, random_state=0)
    for order in (True, False, "random"):
        model = sx.ROMMA(random_state=0, shuffle=order).fit(data.X, data.y)
        assert str(model.status_).startswith("converged: no mistakes")
        assert model.certificate_.wrong == 0


def test_they_do_well_on_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    for model in (sx.ROMMA(average=True), sx.ROMMA(aggressive=True, average=True), sx.ALMA(), sx.ALMA(average=True)):
        model.set_params(random_state=0, stop="epochs:10")
        assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).mean() > 0.93, model


# ------------------------------------------------------------------------------------------------ the certificate


def separated_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 15)), int(rng.integers(1, 4))
    X = rng.integers(-9, 10, (n, d)) * float(10.0 ** rng.integers(-3, 4))
    scores = X @ rng.standard_normal(d) + rng.standard_normal()
    y = np.where(scores > np.median(scores), 1, -1)
    y[:2] = 1, -1
    return X, y


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", KINDS, ids=IDS)
def test_the_certificate_allows_what_was_made(kind, intercept):
    known = 0
    for seed in range(125):
        X, y = separated_problem(seed)
        options = {"fit_intercept": intercept, "intercept_scaling": 2.0, "random_state": seed, "average": seed % 2 > 0}
        model = made(kind, stop=MaxEpochs(1 + seed % 4), **options).fit(X, y)
        bound = model.certificate_.mistakes
        if bound is None:
            continue
        counted = model.n_updates_ if isinstance(model, sx.ALMA) else sum(epoch.mistakes for epoch in model.history_)
        assert bound.made == counted
        assert bound.holds
        if math.isfinite(bound.allowed):
            known += 1
            assert f"{'updates' if isinstance(model, sx.ALMA) else 'mistakes'}: {bound.made:,}; bound" in str(
                model.certificate_
            )
    assert known > 30


def test_the_bound_of_alma_is_never_below_the_theorem():
    """Exactly, for the plane of the model: ``1 / g^2`` is the largest ``|u|^2 |x|^2 / m^2``."""
    close = 0
    for seed in range(100):
        X, y = separated_problem(seed)
        model = sx.ALMA(alpha=0.5, random_state=0, stop=MaxEpochs(200)).fit(X, y)
        u = [Fraction(float(value)) for value in (*model.coef_[0], *model.intercept_)]
        rows = [[*map(Fraction, row), Fraction(1)] for row in X.tolist()]
        margins = [int(s) * sum(a * b for a, b in zip(u, row, strict=True)) for s, row in zip(y, rows, strict=True)]
        data = binary_data(Rows(X), np.array([-1, 1]), (y > 0).astype(np.int32), True, 1)
        bound = update_bound(data, model.coef_[0], float(model.intercept_[0]), 1.0, 0.5).allowed
        if min(margins) <= 0:
            continue
        square = sum(a * a for a in u)
        exact = 18 * max(square * sum(v * v for v in row) / m**2 for row, m in zip(rows, margins, strict=True))
        assert bound <= exact * Fraction(1.001)
        assert model.certificate_.mistakes.allowed == bound
        close += bound >= exact
    assert close > 10  # where no other plane gives a smaller one


def test_no_bound_is_claimed_where_there_is_none():
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    for kind in KINDS:
        certificate = made(kind).fit(X, y).certificate_
        assert certificate.mistakes.allowed == math.inf
        assert "no bound: not strictly separable" in str(certificate)
    assert made(KINDS[0]).fit(X, y, sample_weight=[1.0, 2.0, 1.0]).certificate_.mistakes.why
    narrow = np.array([[1.0, 0.0], [1.0, 1e-6]])  # (R / gamma)^2 is above 2^30
    claim = sx.ROMMA(fit_intercept=False, shuffle=False).fit(narrow, [0, 1]).certificate_.mistakes
    assert claim.allowed == math.inf
    assert claim.why == "the margin is so small that the rule need not keep what it has learned"


# ------------------------------------------------------------------------------------------------ bad parameters


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (sx.ALMA(alpha=0), "alpha must be a number from 1e-150 to 1; found 0"),
        (sx.ALMA(alpha=1.5), "alpha must be a number from 1e-150 to 1; found 1.5"),
        (sx.ALMA(alpha=math.nan), "alpha must be a number from 1e-150 to 1; found nan"),
        (sx.ALMA(alpha="all"), "alpha must be a number; found 'all'"),
        (sx.ROMMA(aggressive="yes"), "aggressive must be True or False; found 'yes'"),
        (sx.ROMMA(max_iter=0), "max_iter must be a whole number of at least 1; found 0"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_sentence(model, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        model.fit(*LINE)
