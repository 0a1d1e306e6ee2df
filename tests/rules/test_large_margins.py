"""ROMMA, ALMA and the second-order perceptron: small cases by hand, plain loops of the papers, and their theorems."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import ALMA, AROW, ROMMA, AggressiveROMMA, SecondOrderPerceptron, Update
from separatrix.rules.romma import MOST
from separatrix.stops import MaxEpochs

RELAXED = [ROMMA(), AggressiveROMMA()]


class Steps:
    def __init__(self):
        self.steps = []

    def on_step(self, step):
        self.steps.append(step)


def run(problem, rule, epochs=1, **options):
    return solve(problem, rule, engine="reference", stop=MaxEpochs(epochs), **options)


def noisy(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0.2, 1, -1)
    y[:2] = 1, -1
    return X, y


def whole_problem(rng):
    """Return whole numbers that some plane separates, with the bias coordinate, and a plane with a margin of 1."""
    while True:
        d = int(rng.integers(1, 4))
        X = rng.integers(-4, 5, (int(rng.integers(3, 12)), d))
        u = rng.integers(-4, 5, d + 1)
        scores = X @ u[:d] + u[d]
        kept = scores != 0
        X, scores = X[kept], scores[kept]
        if len(set(np.sign(scores).tolist())) == 2:
            least = int(np.abs(scores).min())
            return X.tolist(), np.sign(scores).astype(int), [Fraction(int(value), least) for value in u]


# ------------------------------------------------------------------------------------------------ ROMMA


def test_two_mistakes_of_romma_by_hand():
    """K = 1, and -(1, 1) comes first: q = 2, w = -(1, 1) / 2. Then (2, 1): m = -3/2, q = 5, n = 1/2, D = 1/4.

    ``c = (5/2 + 3/2) / D = 16`` and ``d = (1/2) (5/2) / D = 5``, so w = -(8, 8) + (10, 5) = (2, -3): its margins are 1
    on the second, and ``v . w_1 = |w_1|^2``, 1/2, for the first.
    """
    found = run(Problem.from_exact([[1], [2]], [-1, 1]), ROMMA())
    assert (found.weights.tolist(), found.bias, found.n_updates) == ([2], -3, 2)
    assert 2 * 2 - 3 == 1
    assert Fraction(-1, 2) * 2 + Fraction(-1, 2) * -3 == Fraction(1, 2)


@pytest.mark.parametrize("constant", [None, 1.0, 2.5])
@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
@pytest.mark.parametrize("seed", range(5))
def test_romma_is_the_loop_of_the_paper(seed, rule, constant):
    X, y = noisy(seed, n=40)
    found = run(Problem(X, y, bias=constant), rule)
    w = np.zeros(5)
    for x, sign in zip(np.column_stack([X, np.full(len(y), constant or 0.0)]), y, strict=True):
        m, q, n = sign * (w @ x), x @ x, w @ w
        if m < 1 if rule.aggressive else m <= 0:
            if m >= q * n:
                w = sign * x / q
            else:
                D = q * n - (w @ x) ** 2
                w = (q * n - sign * (w @ x)) / D * w + n * (sign - w @ x) / D * x
    np.testing.assert_allclose([*found.weights, found.bias / (constant or 1)], w * ([1] * 4 + [constant is not None]))


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_the_new_weights_are_the_shortest_that_keep_both_conditions(rule):
    """Projections onto the two half-spaces in turn (Dykstra's) come to the same point."""
    rng = np.random.default_rng(0)
    moved = 0
    for _ in range(200):
        w, x, sign = rng.standard_normal(3), rng.standard_normal(3), rng.choice([-1.0, 1.0])
        m = sign * (w @ x)
        shrink, tau, _ = rule.step(m, x @ x, 0, w @ w, 1)
        if not rule.moves(m, x @ x, 1) or (w @ x) ** 2 > 0.9 * (w @ w) * (x @ x):
            continue
        v, lost = np.zeros(3), [np.zeros(3), np.zeros(3)]
        for _ in range(2000):
            for k, (normal, least) in enumerate(((w, w @ w), (sign * x, 1.0))):
                before = v + lost[k]
                v = before + max(0.0, (least - before @ normal) / (normal @ normal)) * normal
                lost[k] = before - v
        np.testing.assert_allclose(shrink * w + tau * sign * x, v, rtol=1e-6, atol=1e-6)
        moved += 1
    assert moved > 60


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_the_theorem_of_romma_holds_exactly_on_500_random_runs(rule):
    """Every w has ``u . w >= |w|^2``, each mistake adds 1 / R^2 to ``|w|^2``: no more than R^2 |u|^2 are made."""
    rng = np.random.default_rng(1)
    near = 0
    for _ in range(500):
        X, y, u = whole_problem(rng)
        rows = [[*x, 1] for x in X]
        widest = max(sum(v * v for v in x) for x in rows)
        w, square, mistakes, updates = [Fraction(0)] * len(u), Fraction(0), 0, 0
        for x, sign in [*zip(rows, y.tolist(), strict=True)] * 3:
            m = sign * sum(a * b for a, b in zip(w, x, strict=True))
            shrink, tau, _ = rule.step(m, sum(v * v for v in x), 0, square, 1)
            if not tau:
                continue
            w = [shrink * a + tau * sign * b for a, b in zip(w, x, strict=True)]
            before, square = square, sum(a * a for a in w)
            mistakes += m <= 0
            assert square - before >= (Fraction(1, widest) if m <= 0 else 0)
            assert sum(a * b for a, b in zip(u, w, strict=True)) >= square
            updates += 1
            if updates == 9:  # the digits double with each
                break
        bound = widest * sum(a * a for a in u)
        assert mistakes <= bound
        near += mistakes > bound / 10
    assert near > 20


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
def test_where_nothing_can_be_kept_romma_begins_with_the_example(rule):
    assert rule.step(m=-2, q=4, a=0, n=1, t=1) == Update(0, Fraction(1, 4))  # straight against the weights
    assert rule.step(m=0, q=4, a=0, n=0, t=1) == Update(0, Fraction(1, 4))
    assert rule.step(m=0, q=0, a=0, n=1, t=1) == Update(1, 0)  # a row of zeros
    assert rule.step(m=5, q=4, a=0, n=9, t=1) == Update(1, 0)
    assert AggressiveROMMA().step(Fraction(1, 2), 4, 0, Fraction(1, 16), 1) == Update(0, Fraction(1, 4))


def test_weights_without_end_count_as_shorter_and_keep_their_direction():
    m, q, n = Fraction(-3), 4, Fraction(2**40)
    share = Fraction(MOST, q * n)  # of the weights that count
    shorter = ROMMA().step(share * m, q, 0, share * share * n, 1)
    assert ROMMA().step(m, q, 0, n, 1) == Update(shorter.shrink * share, shorter.tau)


@pytest.mark.parametrize("rule", RELAXED, ids=lambda rule: rule.name)
@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_on_noisy_data_the_weights_of_romma_stay_finite(rule, engine):
    X, _ = noisy(3, n=300, d=3)
    y = np.random.default_rng(3).integers(0, 2, 300)
    found = solve(Problem(X, y), rule, engine=engine, stop=MaxEpochs(20 if engine == "compiled" else 4))
    assert not found.status.diverged
    assert found.n_updates > 400
    assert 1e3 < found.weights @ found.weights + found.bias**2 < 1e25


def test_the_aggressive_rule_comes_to_the_largest_margin():
    X, y = [[1.0, 0.0], [3.0, 1.0], [-1.0, 0.5], [-2.0, -4.0]], [1, 1, -1, -1]
    weights = solve(Problem(X, y, bias=None), AggressiveROMMA(), stop=MaxEpochs(5000)).weights
    margins = np.array(y) * (np.array(X) @ weights)
    best = max(
        (np.array(y) * (np.array(X) @ [math.cos(t), math.sin(t)])).min()
        for t in np.linspace(-math.pi, math.pi, 200_001)
    )
    assert margins.min() / np.linalg.norm(weights) > 0.999 * best


def test_exact_numbers_of_romma_that_grow_without_end_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, (60, 3)).tolist(), [1, -1] * 30
    with pytest.raises(
        ValueError, match=r"^rule 'romma' doubles the digits of exact numbers with each update, and now"
    ):
        run(Problem.from_exact(X, y), ROMMA())


# ------------------------------------------------------------------------------------------------ second order


def test_two_mistakes_of_the_second_order_perceptron_by_hand():
    """a = 2, no bias. (1, 1) first: V = (1, 1), ``2 I + X = [[3, 1], [1, 3]]``, w = (1, 1) / 4.

    Then -(2, 0), a mistake: V = (-1, 1), ``2 I + X = [[7, 1], [1, 3]]`` with determinant 20: w = (-4, 8) / 20.
    """
    found = run(Problem.from_exact([[1, 1], [2, 0]], [1, -1], bias=None), SecondOrderPerceptron(2, "full"))
    assert found.weights.tolist() == [Fraction(-1, 5), Fraction(2, 5)]
    assert (found.state.spread / 2).tolist() == [
        [Fraction(3, 20), Fraction(-1, 20), 0], [Fraction(-1, 20), Fraction(7, 20), 0], [0, 0, Fraction(1, 2)]
    ]  # fmt: skip


@pytest.mark.parametrize("constant", [None, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_loop_of_the_paper_which_looks_ahead(seed, constant):
    """The paper predicts with the example in the matrix already; mistakes and weights are the same."""
    X, y = noisy(seed)
    seen, a = Steps(), 0.7
    found = run(Problem(X, y, bias=constant), SecondOrderPerceptron(a, "full"), observers=[seen])
    A, V, mistakes = a * np.eye(5), np.zeros(5), []
    for x, sign in zip(np.column_stack([X, np.full(len(y), constant or 0.0)]), y, strict=True):
        ahead = A + np.outer(x, x)
        mistakes.append(bool(sign * (V @ np.linalg.solve(ahead, x)) <= 0))
        if mistakes[-1]:
            A, V = ahead, V + sign * x
    assert [step.mistake for step in seen.steps] == mistakes
    assert sum(mistakes) > 5
    w = np.linalg.solve(A, V)
    np.testing.assert_allclose([*found.weights, found.bias], w * ([1] * 4 + [constant or 0]), rtol=1e-9, atol=1e-12)


def test_the_theorem_of_the_second_order_perceptron_holds_on_500_random_runs():
    rng = np.random.default_rng(2)
    near = 0
    for seed in range(500):
        X, y = noisy(seed, n=int(rng.integers(4, 30)), d=int(rng.integers(1, 5)))
        a, seen = float(10.0 ** rng.uniform(-2, 1)), Steps()
        found = run(Problem(X, y), SecondOrderPerceptron(a, "full"), int(rng.integers(1, 4)), observers=[seen])
        missed = [step for step in seen.steps if step.updated]
        A = np.array([[*step.x, 1.0] for step in missed])
        signs = np.array([step.y for step in missed])
        bounds = []
        for u in (np.append(found.weights, found.bias), *rng.standard_normal((3, A.shape[1]))):
            room = (a * u @ u + ((A @ u) ** 2).sum()) * np.log1p(np.linalg.eigvalsh(A.T @ A).clip(0) / a).sum()
            bounds.append(np.maximum(0, 1 - signs * (A @ u)).sum() + math.sqrt(room))
            assert len(missed) <= bounds[-1] * (1 + 1e-9)
        near += len(missed) > 0.5 * min(bounds)
    assert near > 100


def test_it_is_arow_on_mistakes_only():
    rule, other = SecondOrderPerceptron(Fraction(3, 2)), AROW(Fraction(3, 2))
    assert rule.step(-1, 2, 0, 0, 1) == other.step(-1, 2, 0, 0, 1)
    assert rule.step(Fraction(1, 2), 2, 0, 0, 1) == Update(1, 0)
    assert rule.moves(0, 0, 1)  # a row of zeros is a mistake, though it teaches nothing


# ------------------------------------------------------------------------------------------------ ALMA


def test_three_steps_of_alma_by_hand():
    """alpha = 1/2, no bias: update k where ``m / |x| <= sqrt(8 / k)``, always here, by ``sqrt(2 / k) y x / |x|``.

    (2, 0): sqrt(2) (1, 0), back to (1, 0). Then -(0, 5): (1, -1), back to (1, -1) / sqrt(2). Then -(1, 0), for the
    third update is one of sqrt(2 / 3): (1 / sqrt(2) - sqrt(2 / 3), -1 / sqrt(2)), which is no longer than 1.
    """
    found = run(Problem([[2.0, 0.0], [0.0, 5.0], [1.0, 0.0]], [1, -1, -1], bias=None), ALMA(0.5))
    np.testing.assert_allclose(found.weights, [0.5**0.5 - (2 / 3) ** 0.5, -(0.5**0.5)], rtol=1e-14)


@pytest.mark.parametrize("alpha", [0.3, 0.9, 1.0])
@pytest.mark.parametrize("constant", [None, 1.0, 2.5])
@pytest.mark.parametrize("seed", range(3))
def test_alma_is_the_loop_of_the_paper(seed, constant, alpha):
    X, y = noisy(seed)
    found = run(Problem(X, y, bias=constant), ALMA(alpha), 2)
    w, k = np.zeros(5), 1
    for x, sign in [*zip(np.column_stack([X, np.full(len(y), constant or 0.0)]), y, strict=True)] * 2:
        x = x / np.linalg.norm(x)
        if sign * (w @ x) <= (1 - alpha) * (math.sqrt(8) / alpha) / math.sqrt(k):
            w = w + math.sqrt(2) / math.sqrt(k) * sign * x
            w /= max(1.0, np.linalg.norm(w))
            k += 1
    assert found.n_updates == k - 1 > 10
    np.testing.assert_allclose([*found.weights, found.bias], w * ([1] * 4 + [constant or 0]), rtol=1e-9, atol=1e-12)


def test_the_theorem_of_alma_holds_on_500_random_runs():
    """No more updates than (2 / g^2) (2 / alpha - 1)^2, and after the last one a margin of at least (1 - alpha) g."""
    rng = np.random.default_rng(3)
    near = ended = 0
    for _ in range(500):
        d, alpha = int(rng.integers(1, 4)), float(rng.uniform(0.2, 1.0))
        X = rng.standard_normal((int(rng.integers(2, 9)), d + 1))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        u = rng.standard_normal(d + 1)
        u /= np.linalg.norm(u)
        X = X[np.abs(X @ u) > 0.1]
        y = np.where(X @ u > 0, 1, -1)
        if len(set(y.tolist())) < 2:
            continue
        g = float((y * (X @ u)).min())
        bound = 2 / g**2 * (2 / alpha - 1) ** 2
        found = solve(Problem(X, y, bias=None), ALMA(alpha), stop=MaxEpochs(400))
        assert found.n_updates <= bound
        near += found.n_updates > 0.25 * bound
        margins = y * (X @ found.weights)
        if (margins > (1 - alpha) / alpha * math.sqrt(8 / (found.n_updates + 1))).all():
            ended += 1
            assert margins.min() / np.linalg.norm(found.weights) >= (1 - alpha) * g
    assert near > 20
    assert ended > 200


def test_alma_answers_nothing_to_a_row_of_zeros_and_refuses_a_part_that_is_none():
    assert ALMA().step(0.0, 0.0, 0, 1.0, 1) == Update(1, 0)
    for part in (0, 1.5, -1, math.nan):
        with pytest.raises(ValueError, match=rf"^alpha must be above 0 and at most 1; found {part}$"):
            ALMA(part)
    with pytest.raises(ValueError, match=r"^a must be a positive finite number; found 0$"):
        SecondOrderPerceptron(0)
