"""AROW, SCW and NHERD: each update against the problem that it solves, and the numbers of small cases."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from separatrix.rules import AROW, NHERD, RULES, SCW1, SCW2, Spreading, Update
from separatrix.rules.scw import confidence_quantile

SPREADING = [rule for rule in RULES.values() if issubclass(rule, Spreading)]


def example(seed, d=3):
    """Return a Gaussian of weights, an example and its label."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    return rng.standard_normal(d), root @ root.T / d + 0.1 * np.eye(d), rng.standard_normal(d), rng.choice([-1.0, 1.0])


def updated(rule, mean, spread, x, y):
    gain = spread @ x
    m, v = float(y * mean @ x), float(x @ gain)
    _, tau, beta = rule.step(m, v, 0, 0, 1)
    return mean + tau * y * gain, spread - beta * np.outer(gain, gain), m, v


def divergence(new, old):
    """Return KL(new || old) of two Gaussians."""
    (a, A), (b, B) = new, old
    inverse = np.linalg.inv(B)
    sign, size = np.linalg.slogdet(A)
    assert sign > 0
    return 0.5 * (
        np.linalg.slogdet(B)[1] - size - len(a) + np.trace(inverse @ A) + (b - a) @ inverse @ (b - a)
    )  # fmt: skip


def unpack(z, d):
    lower = np.zeros((d, d))
    lower[np.tril_indices(d)] = z[d : d + d * (d + 1) // 2]
    return z[:d], lower @ lower.T


def packed(mean, spread):
    return np.concatenate([mean, np.linalg.cholesky(spread)[np.tril_indices(len(mean))]])


def solved(mean, spread, x, y, phi, cost):
    """Minimise the divergence plus the cost of the slack xi, ``y w.x >= phi sqrt(x . S x) - xi``, numerically."""
    d = len(mean)

    def value(z):
        new = unpack(z, d)
        return divergence(new, (mean, spread)) + cost(z[-1])

    def room(z):
        new_mean, new_spread = unpack(z, d)
        return y * new_mean @ x - phi * math.sqrt(x @ new_spread @ x) + z[-1]

    slack = phi * math.sqrt(x @ spread @ x) - y * mean @ x
    found = minimize(
        value, [*packed(mean, spread), max(slack, 0.0)], method="SLSQP", options={"maxiter": 500, "ftol": 1e-13},
        constraints=[{"type": "ineq", "fun": room}, {"type": "ineq", "fun": lambda z: z[-1]}],
    )  # fmt: skip
    assert found.success or "linesearch" in found.message  # which is as near as rounding lets it come
    return unpack(found.x, d)


@pytest.mark.parametrize("seed", range(12))
def test_scw1_minimises_the_divergence_plus_c_times_its_loss(seed):
    mean, spread, x, y = example(seed)
    phi, C = [0.5, 1.2815, 2.5][seed % 3], [0.05, 0.3, 5.0, math.inf][seed % 4]
    found_mean, found_spread, m, v = updated(SCW1(C=C, phi=phi), mean, spread, x, y)
    expected = solved(mean, spread, x, y, phi, lambda slack: min(C, 100.0) * slack)  # 100 is more than any slack wins
    np.testing.assert_allclose(found_mean, expected[0], atol=2e-4)
    np.testing.assert_allclose(found_spread, expected[1], atol=2e-4)
    assert (m >= phi * math.sqrt(v)) == np.array_equal(found_mean, mean)


@pytest.mark.parametrize("seed", range(12))
def test_scw2_minimises_the_divergence_plus_c_times_its_squared_loss(seed):
    mean, spread, x, y = example(seed)
    phi, C = [0.5, 1.2815, 2.5][seed % 3], [0.05, 0.3, 5.0][seed // 3 % 3]
    found = updated(SCW2(C=C, phi=phi), mean, spread, x, y)
    expected = solved(mean, spread, x, y, phi, lambda slack: C * slack**2)
    np.testing.assert_allclose(found[0], expected[0], atol=2e-4)
    np.testing.assert_allclose(found[1], expected[1], atol=2e-4)


def test_the_examples_above_are_of_every_kind():
    kinds = set()
    for seed in range(12):
        mean, spread, x, y = example(seed)
        phi, C = [0.5, 1.2815, 2.5][seed % 3], [0.05, 0.3, 5.0, math.inf][seed % 4]
        m, v = float(y * mean @ x), float(x @ spread @ x)
        tau = SCW1(C=C, phi=phi).step(m, v, 0, 0, 1).tau
        kinds |= {"none" if tau == 0 else "cut" if tau == C else "whole", "right" if m > 0 else "wrong"}
    assert kinds == {"none", "cut", "whole", "right", "wrong"}


@pytest.mark.parametrize("seed", range(12))
def test_arow_minimises_the_divergence_plus_the_squared_hinge_loss_and_the_variance(seed):
    mean, spread, x, y = example(seed)
    mean = mean if y * mean @ x < 1 else -mean
    r = [0.1, 1.0, 10.0][seed % 3]

    def value(z):
        new = unpack(z, 3)
        loss = max(0.0, 1.0 - y * new[0] @ x)
        return divergence(new, (mean, spread)) + (loss**2 + x @ new[1] @ x) / (2 * r)

    found = updated(AROW(r=r), mean, spread, x, y)
    least = minimize(value, packed(mean, spread), method="BFGS", options={"gtol": 1e-8, "maxiter": 1000})
    expected = unpack(least.x, 3)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-4)
    assert value(packed(*found[:2])) <= least.fun + 1e-12


@pytest.mark.parametrize("seed", range(8))
def test_nherd_moves_every_weight_vector_of_the_gaussian_by_one_map(seed):
    """Crammer and Lee 2010: the map A and the step of the mean minimise the cost of the move plus C / 2 times the loss.

    For ``w = mean + e`` that cost is ``|A e - e|^2 / 2 + C (x . A e)^2 / 2`` in the norm of the inverse covariance,
    whose minimum over A for all e is ``(I + C S x x^T)^-1``.
    """
    mean, spread, x, y = example(seed)
    mean, C = mean if y * mean @ x < 1 else -mean, [0.2, 1.0, 5.0][seed % 3]
    found = updated(NHERD(C=C), mean, spread, x, y)
    e = np.linalg.cholesky(spread)  # columns that span the Gaussian
    inverse = np.linalg.inv(spread)
    A = np.linalg.inv(np.eye(3) + C * np.outer(spread @ x, x))
    slope = inverse @ (A @ e - e) + C * np.outer(x, x) @ A @ e
    np.testing.assert_allclose(slope, 0, atol=1e-12)
    np.testing.assert_allclose(found[1], A @ spread @ A.T, atol=1e-12)
    slope = inverse @ (found[0] - mean) - C * (1 - y * found[0] @ x) * y * x
    np.testing.assert_allclose(slope, 0, atol=1e-10)


@given(
    m=st.floats(-1e6, 1e6), v=st.floats(1e-12, 1e12), phi=st.floats(0.01, 8.0),
    cost=st.sampled_from([1e-3, 0.1, 1.0, 1e3, math.inf]),
)  # fmt: skip
def test_the_steps_of_scw_satisfy_the_conditions_of_an_optimum(m, v, phi, cost):
    """``m + tau n = phi sqrt(u)``, with n = v or v + 1 / (2 C), and ``u + tau phi v sqrt(u) = v``."""
    for rule, n in ((SCW1(C=cost, phi=phi), v), (SCW2(C=cost, phi=phi), v + 0.5 / cost)):
        shrink, tau, beta = rule.step(m, v, 0, 0, 1)
        assert shrink == 1
        if m >= phi * math.sqrt(v):
            assert (tau, beta) == (0, 0)
            continue
        assert tau > 0
        assert 0 < beta * v < 1 + 1e-15
        new = v / (0.5 * tau * v * phi + math.sqrt(0.25 * (tau * v * phi) ** 2 + v))  # sqrt(u), the root of the second
        assert beta == pytest.approx(tau * phi / (new + v * tau * phi), rel=1e-12)
        if rule.name == "scw1" and tau == cost:
            assert m + tau * n <= phi * new * (1 + 1e-9) + 1e-9 * abs(m)
        else:
            assert m + tau * n == pytest.approx(phi * new, rel=1e-7, abs=1e-9 * abs(m) + 1e-12)


def test_scw1_is_the_formula_of_the_paper():
    rng = np.random.default_rng(0)
    for m, v, phi in zip(rng.standard_normal(200), rng.exponential(1, 200), rng.uniform(0.1, 3, 200), strict=True):
        psi, zeta, C = 1 + phi**2 / 2, 1 + phi**2, 0.5
        alpha = min(C, max(0, (-m * psi + math.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta)))
        root = (-alpha * v * phi + math.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) / 2
        beta = alpha * phi / (root + v * alpha * phi)
        assert SCW1(C=C, phi=phi).step(m, v, 0, 0, 1)[1:] == pytest.approx((alpha, beta), rel=1e-9, abs=1e-12)


def test_exact_numbers_stay_exact():
    assert AROW(r=Fraction(1, 2)).step(Fraction(1, 3), 2, 0, 0, 1) == Update(1, Fraction(4, 15), Fraction(2, 5))
    assert NHERD(C=2).step(0, Fraction(1, 2), 0, 0, 1) == Update(1, 1, Fraction(3, 2))
    assert AROW().step(1, 2, 0, 0, 1) == NHERD().step(1, 2, 0, 0, 1) == Update(1, 0, 0)


@pytest.mark.parametrize("rule", SPREADING)
def test_an_example_without_variance_moves_nothing(rule):
    assert rule().step(-3, 0, 0, 0, 1) == Update(1, 0, 0)


def test_the_quantile_is_that_of_the_normal_distribution():
    assert confidence_quantile(0.9) == NormalDist().inv_cdf(0.9) == SCW1().phi == SCW2().phi
    assert confidence_quantile(1) == NormalDist().inv_cdf(math.nextafter(1.0, 0.0))
    for eta in (0.5, 0.0, -1.0, 0.3, 1.0000001, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"^eta must be above 0.5 and at most 1, as it is a confidence; found"):
            confidence_quantile(eta)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: AROW(r=0), "r must be a positive finite number; found 0"),
        (lambda: NHERD(C=-1), "C must be a positive finite number; found -1"),
        (lambda: SCW1(C=0), "C must be a positive number; found 0"),
        (lambda: SCW2(C=math.nan), "C must be a positive number; found nan"),
        (lambda: SCW1(phi=0.0), "phi must be a positive finite number; found 0.0"),
        (lambda: AROW(covariance="round"), "covariance must be one of diagonal, full; found 'round'"),
        (lambda: SCW1(covariance=None), "covariance must be one of diagonal, full; found None"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(make, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
