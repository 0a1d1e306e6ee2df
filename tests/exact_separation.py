"""Sums of points and activations of a plane, in exact numbers."""

from __future__ import annotations

from fractions import Fraction


def exact_sum(points, X, signs):
    """The signed, weighted sum of the points with a coordinate for the bias, in exact numbers."""
    total = [Fraction(0)] * (X.shape[1] + 1)
    for row, weight in zip(points.rows, points.weights, strict=True):
        for j, value in enumerate([*X[row].tolist(), 1.0]):
            total[j] += Fraction(weight) * int(signs[row]) * Fraction(value)
    return total


def exact_sides(plane, X, signs):
    """The exact activations on each row's own side."""
    values = [Fraction(w) for w in plane.weights]
    return [
        int(sign) * (sum(w * Fraction(v) for w, v in zip(values, row, strict=True)) + Fraction(plane.bias))
        for row, sign in zip(X.tolist(), signs, strict=True)
    ]
