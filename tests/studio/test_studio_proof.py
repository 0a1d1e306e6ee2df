"""What the studio's core says about separability is what certificates say, and what fractions say."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import separatrix as sx
from separatrix.studio.page import CORE

SCRIPT = Path(__file__).with_name("proofs.mjs")
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not found")


def small_sets() -> list[tuple[Any, Any]]:
    """Points of a small grid, so that many coincide or lie on one line; some moved far away, where rounding decides."""
    rng = np.random.default_rng(7)
    sets = []
    for k in range(300):
        n = int(rng.integers(2, 9))
        X = rng.integers(0, 4, (n, 2)).astype(float)
        codes = rng.integers(0, 2, n)
        codes[:2] = [0, 1]
        if k % 3 == 1:
            X = X * 0.1 + 1000.0  # no longer on a grid
        if k % 3 == 2:
            X[:, 1] = X[:, 0] / 3.0 + 1e-17 * X[:, 1]  # nearly on one line
        sets.append((X, codes))
    return sets


def verdicts(sets: list[tuple[Any, Any]]) -> list[dict[str, Any]]:
    given = json.dumps([{"x": X.ravel().tolist(), "codes": codes.tolist()} for X, codes in sets])
    done = subprocess.run(
        ["node", str(SCRIPT), str(CORE)], input=given, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def hulls_meet(X: Any, codes: Any) -> bool:
    """Whether a point lies in both hulls, with fractions: in a triangle of the other class, or segments cross."""
    points = [[(Fraction(x), Fraction(y)) for x, y in X[codes == own].tolist()] for own in (0, 1)]

    def turn(a: Any, b: Any, c: Any) -> Fraction:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    def between(a: Any, b: Any, p: Any) -> bool:
        inside = all(min(a[j], b[j]) <= p[j] <= max(a[j], b[j]) for j in (0, 1))
        return turn(a, b, p) == 0 and inside

    def in_triangle(a: Any, b: Any, c: Any, p: Any) -> bool:
        turns = [turn(a, b, p), turn(b, c, p), turn(c, a, p)]
        return turn(a, b, c) != 0 and (min(turns) >= 0 or max(turns) <= 0)

    def cross(a: Any, b: Any, c: Any, d: Any) -> bool:
        return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0

    for own in (0, 1):
        mine, other = points[own], points[1 - own]
        for p in mine:
            if any(between(a, b, p) for a in other for b in other):
                return True
            if any(in_triangle(a, b, c, p) for a in other for b in other for c in other):
                return True
    return any(cross(a, b, c, d) for a in points[0] for b in points[0] for c in points[1] for d in points[1])


def test_verdicts_are_those_of_exact_fractions_where_points_coincide_or_lie_on_lines() -> None:
    sets = small_sets()
    kinds = set()
    for (X, codes), seen in zip(sets, verdicts(sets), strict=True):
        kinds.add(seen["verdict"])
        assert (seen["verdict"] == "inseparable") == hulls_meet(X, codes), (X.tolist(), codes.tolist())
        if seen["verdict"] == "inseparable":
            sums = np.zeros((2, 3))
            for each in seen["witness"]:
                row = each["row"]
                sums[codes[row]] += each["share"] * np.array([*X[row], 1.0])
                assert -1e-9 <= each["share"] <= 1 + 1e-9
            assert np.allclose(sums[0], sums[1], rtol=1e-9)
            assert np.allclose(sums[:, 2], 1.0)
    assert kinds == {"separable", "inseparable"}


def test_the_street_and_the_mistake_bound_are_those_of_certificates() -> None:
    sets = [
        (data.X, (data.y > 0).astype(int)) for data in (sx.datasets.separable(40, random_state=k) for k in range(6))
    ]
    for (X, codes), seen in zip(sets, verdicts(sets), strict=True):
        y = np.where(codes == 1, 1, -1)
        assert seen["verdict"] == "separable"
        assert seen["exact"]
        hard = sx.LinearSVM(C=np.inf, tol=1e-9).fit(X, y)
        assert seen["upper"] == pytest.approx(1 / np.linalg.norm(hard.coef_), rel=1e-6)
        assert seen["lower"] == pytest.approx(seen["upper"], rel=1e-9)
        bound = seen["bound"]
        certificate = sx.certify(X, y)
        assert bound["lower"] <= bound["upper"]
        assert bound["lower"] == pytest.approx(bound["upper"], rel=2e-3)
        assert certificate.separable == "strict"
        model = sx.Perceptron(shuffle=False).fit(X, y)
        assert model.n_updates_ <= bound["bound"]
