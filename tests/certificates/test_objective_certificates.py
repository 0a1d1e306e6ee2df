"""What certificates claim about objectives with smooth losses, against decimals of fifty digits and against forgers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

import separatrix as sx
from separatrix.certificates.data import binary_data, read
from separatrix.certificates.joint import JointPlanes
from separatrix.certificates.log_loss import LogLoss, joint_log_objective, log_objective
from separatrix.certificates.model import Objective
from separatrix.certificates.sparse_penalty import SparseLoss, sparse_objective
from separatrix.geometry.rows import Rows

BIASES = [{}, {"fit_intercept": False}, {"intercept_scaling": 2.0}]
NAMES = ["free", "none", "penalised"]


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(80, centers=2, n_features=3, random_state=3, cluster_std=4.0)
    return X.round(3), y


def exact_value(model, X, y, costs):
    """The objective of a model's weights in decimals; two classes are two planes, one of them zero."""
    with localcontext() as context:
        context.prec = 50
        coef = model.coef_ if len(model.coef_) > 1 else np.vstack([np.zeros(model.coef_.shape), model.coef_])
        bias = model.intercept_ if len(model.coef_) > 1 else np.append(0.0, model.intercept_)
        total = sum(Decimal(float(w)) ** 2 for w in coef.ravel()) / 2
        if model.fit_intercept and model.intercept_scaling is not None:
            total += sum((Decimal(float(b)) / Decimal(model.intercept_scaling)) ** 2 for b in bias) / 2
        for row, label, cost in zip(X.tolist(), y, costs, strict=True):
            scores = [
                sum(Decimal(float(w)) * Decimal(v) for w, v in zip(plane, row, strict=True)) + Decimal(float(b))
                for plane, b in zip(coef, bias, strict=True)
            ]
            total += Decimal(float(cost)) * sum((score - scores[label]).exp() for score in scores).ln()
        return total


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("options", BIASES, ids=NAMES)
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_the_bracket_of_two_classes_holds_the_value_and_the_optimum(blobs, options, layout, shift):
    X, y = blobs
    X = X + shift
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for C in (0.01, 10.0):
        model = sx.LogisticRegression(C=C, tol=1e-3, **options).fit(layout(X), y, sample_weight=weights)
        best = sx.LogisticRegression(C=C, tol=1e-11, **options).fit(X, y, sample_weight=weights)
        claimed = model.certificate_.objective
        value, optimum = (exact_value(each, X, y, C * weights) for each in (model, best))
        assert value <= Decimal(claimed.primal) <= value * Decimal(1 + 1e-8)
        assert Decimal(claimed.dual) <= optimum
        assert claimed.gap <= 1e-3 * claimed.primal
        assert claimed.dual >= float(optimum) * (1 - 1e-6)
        assert model.certificate_.verify(model, layout(X), y, sample_weight=weights)


@pytest.mark.parametrize("options", BIASES, ids=NAMES)
def test_the_bracket_of_classes_learned_together_holds_the_value_and_the_optimum(options):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    for C in (0.01, 10.0):
        model = sx.LogisticRegression(C=C, tol=1e-3, **options).fit(X, y, sample_weight=weights)
        best = sx.LogisticRegression(C=C, tol=1e-11, **options).fit(X, y, sample_weight=weights)
        certificate = model.certificate_
        value, optimum = (exact_value(each, X, y, C * weights) for each in (model, best))
        assert value <= Decimal(certificate.objective.primal) <= value * Decimal(1 + 1e-8)
        assert Decimal(certificate.objective.dual) <= optimum
        assert certificate.objective.dual >= float(optimum) * (1 - 1e-5)
        assert certificate.wrong == int((model.predict(X) != y).sum())
        assert certificate.verify(model, X, y, sample_weight=weights)
    assert json.loads(certificate.to_json())["objective"]["dual"] == certificate.objective.dual
    assert "optimum: between" in str(certificate)


@pytest.mark.parametrize("free", [True, False])
def test_no_probabilities_however_wrong_prove_a_bound_above_the_optimum(blobs, free):
    X, y = blobs
    data = binary_data(*read(X, y), free, 1)
    task = LogLoss(np.full(len(y), 0.3), free, 0.0)
    best = sx.LogisticRegression(C=0.3, tol=1e-11, fit_intercept=free).fit(X, y)
    rng = np.random.default_rng(2)
    own = 1.0 / (1.0 + np.exp(data.signs * (X @ best.coef_[0] + best.intercept_[0])))
    shares = [
        own, own + 1e-6, own * rng.uniform(0.5, 1.5, len(y)), rng.random(len(y)), np.zeros(len(y)), np.ones(len(y)),
        np.where(y == 1, own, 0.0), np.full(len(y), math.nan), np.where(rng.random(len(y)) < 0.5, 1e-300, 1 - 1e-16),
    ]  # fmt: skip
    duals = [log_objective(data, task, best.coef_[0], best.intercept_[0], share).dual for share in shares]
    assert max(duals) <= best.objective_
    assert duals[0] >= best.objective_ * (1 - 1e-5)
    assert min(duals) == 0.0


@pytest.mark.parametrize("free", [True, False])
def test_no_probabilities_of_several_classes_prove_a_bound_above_the_optimum(free):
    X, y = load_iris(return_X_y=True)
    best = sx.LogisticRegression(C=0.3, tol=1e-11, fit_intercept=free).fit(X, y)
    task, planes = LogLoss(np.full(len(y), 0.3), free, 0.0), JointPlanes("the model", best.coef_, best.intercept_)
    own = best.predict_proba(X).T
    rng = np.random.default_rng(2)
    for layout in (np.asarray, sparse.csr_array):
        mistaken = [own * 1.001, own * rng.uniform(0.5, 1.5, own.shape), rng.random(own.shape) / 3, own[[1, 2, 0]]]
        for shares in (own, *mistaken, np.zeros(own.shape), np.ones(own.shape), np.full(own.shape, math.nan)):
            found = joint_log_objective(Rows(layout(X)), y.astype(np.intp), task, planes, shares)
            assert found.dual <= best.objective_ <= found.primal
        assert (
            joint_log_objective(Rows(layout(X)), y.astype(np.intp), task, planes, own).dual >= 0.9999 * best.objective_
        )


SPARSE = {
    "log": lambda ratio, **options: sx.LogisticRegression(l1_ratio=ratio, **options),
    "squared hinge": lambda ratio, **options: sx.LinearSVM(
        loss="squared_hinge", penalty="elasticnet", l1_ratio=ratio, **options
    ),
}


def exact_sparse_value(model, X, y, costs, ratio):
    with localcontext() as context:
        context.prec = 50
        paid = [Decimal(float(w)) for w in model.coef_[0]]
        bias = Decimal(float(model.intercept_[0]))
        if model.fit_intercept and model.intercept_scaling is not None:
            paid = [*paid, bias / Decimal(model.intercept_scaling)]
        r = Decimal(ratio)
        total = sum((1 - r) * w * w / 2 + r * abs(w) for w in paid)
        for row, label, cost in zip(X.tolist(), y, costs, strict=True):
            score = sum(Decimal(float(w)) * Decimal(v) for w, v in zip(model.coef_[0], row, strict=True)) + bias
            margin = score if label == 1 else -score
            slack = max(1 - margin, Decimal(0))
            log = isinstance(model, sx.LogisticRegression)
            total += Decimal(float(cost)) * ((1 + (-margin).exp()).ln() if log else slack * slack)
        return total


@pytest.mark.parametrize("ratio", [0.4, 1.0])
@pytest.mark.parametrize("options", BIASES, ids=NAMES)
@pytest.mark.parametrize("loss", SPARSE)
def test_the_bracket_of_an_l1_penalty_holds_the_value_and_the_optimum(blobs, loss, options, ratio):
    X, y = blobs
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    for C, layout in ((0.01, np.asarray), (3.0, sparse.csr_array)):
        model = SPARSE[loss](ratio, C=C, tol=1e-3, **options).fit(layout(X), y, sample_weight=weights)
        best = SPARSE[loss](ratio, C=C, tol=1e-11, **options).fit(X, y, sample_weight=weights)
        claimed = model.certificate_.objective
        value, optimum = (exact_sparse_value(each, X, y, C * weights, ratio) for each in (model, best))
        assert value <= Decimal(claimed.primal) <= value * Decimal(1 + 1e-8)
        assert Decimal(claimed.dual) <= optimum
        assert claimed.dual >= float(optimum) * (1 - 1e-6)
        assert model.certificate_.verify(model, layout(X), y, sample_weight=weights)
        forged = replace(model.certificate_, objective=Objective(claimed.primal, claimed.dual * 1.001))
        assert not forged.verify(model, layout(X), y, sample_weight=weights)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("ratio", [0.4, 1.0])
def test_no_alpha_however_wrong_proves_a_bound_above_the_optimum_of_an_l1_penalty(blobs, ratio, squared):
    X, y = blobs
    model = SPARSE["squared hinge" if squared else "log"](ratio, C=0.05, tol=1e-11).fit(X, y)
    data, n = binary_data(*read(X + 1e4, y), True, 1), len(y)
    bias = float(model.intercept_[0] - 1e4 * model.coef_[0].sum())  # which is free, and makes up for that
    task = SparseLoss(np.full(n, 0.05), squared, ratio, True, 0.0)
    rng = np.random.default_rng(2)
    margins = data.signs * (X @ model.coef_[0] + model.intercept_[0])
    own = 0.05 * (2.0 * np.maximum(0.0, 1.0 - margins) if squared else 1.0 / (1.0 + np.exp(margins)))
    for alpha in (own, own * rng.uniform(0.5, 1.5, n), rng.random(n), np.zeros(n), np.full(n, 1e9), -own,
                  np.full(n, math.nan), np.where(y == 1, own, 0.0), np.full(n, math.inf)):  # fmt: skip
        found = sparse_objective(data, task, model.coef_[0], bias, alpha)
        assert found.dual <= model.objective_ <= found.primal
    assert sparse_objective(data, task, model.coef_[0], bias, own).dual > 0.99 * model.objective_


def test_forged_claims_about_two_classes_are_rejected(blobs):
    X, y = blobs
    model = sx.LogisticRegression(C=0.1).fit(X, y)
    true = model.certificate_
    primal, dual = true.objective.primal, true.objective.dual
    assert str(true.verify(model, X, y)) == "verified: every claim holds"
    forged = {
        "objective.primal": replace(true, objective=Objective(primal * (1 - 1e-6), dual)),
        "objective.dual": replace(true, objective=Objective(primal, dual * (1 + 1e-4))),
        "wrong": replace(true, wrong=true.wrong - 1),
        "margin": replace(true, margin=1.0),
        "distances": replace(true, distances=-true.distances),
        "model": replace(true, model="LinearSVM"),
    }
    for name, each in forged.items():
        check = each.verify(model, X, y)
        assert not check
        assert name in str(check)
    assert not true.verify(model, X, 1 - y)
    assert not true.verify(model, X[::-1], y)
    assert not true.verify(model, X, y, sample_weight=np.full(len(y), 2.0))
    assert "the labels are" in str(true.verify(model, X, y + 1))
    weaker = replace(true, objective=Objective(primal * 1.01, dual * 0.99))
    assert weaker.verify(model, X, y)  # less is claimed than is true
    worse = sx.LogisticRegression(C=0.1).fit(X, y)
    worse.coef_ = worse.coef_ * 1.01
    assert "objective.primal" in str(true.verify(worse, X, y))


def test_forged_claims_about_several_classes_are_rejected():
    X, y = load_iris(return_X_y=True)
    joint = sx.LogisticRegression().fit(X, y)
    true = joint.certificate_
    assert true.verify(joint, X, y)
    for each in (
        replace(true, objective=Objective(true.objective.primal * 0.999, true.objective.dual)),
        replace(true, objective=Objective(true.objective.primal, true.objective.primal)),
        replace(true, wrong=0, margin=0.1),
        replace(true, rows=10),
    ):
        assert not each.verify(joint, X, y)
    rest = sx.LogisticRegression(multi_class="ovr").fit(X, y)
    assert all(each.verify(rest, X, y) for each in rest.certificate_.values())
    assert not rest.certificate_[0].verify(joint, X, y)
    assert not replace(rest.certificate_[0], positive=1).verify(rest, X, y)


def test_an_svms_certificate_is_verified_as_well(blobs):
    X, y = blobs
    model = sx.LinearSVM().fit(X, y)
    true = model.certificate_
    assert true.verify(model, X, y)
    forged = Objective(true.objective.primal, true.objective.dual * 1.001)
    assert not replace(true, objective=forged).verify(model, X, y)


def test_without_a_penalty_the_certificate_says_why_there_is_no_optimum():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.warns(UserWarning, match="no maximum likelihood estimate exists"):
        model = sx.LogisticRegression(C=math.inf).fit(X, y)
    assert model.certificate_.data is model.separation_
    assert model.certificate_.objective is None
    assert model.certificate_.verify(model, X, y)
