"""Rows projected on a model's weights and on the direction of largest variance along the boundary."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.rows import Floats, is_sparse

_NAMED = 3  # features that a direction is described by
_NARROW = 400  # numbers in a row, up to which all directions are found
_NOTHING = 1e-12  # the fraction of all squares below which variance is rounding


class Projection(NamedTuple):
    """Coordinates, the fraction of variance that they explain, and the main features of the second axis."""

    across: Floats
    along: Floats
    shown: float
    features: list[int]


def project(X: Any, across: Floats, weights: Floats | None) -> Projection:
    """Return rows by a given coordinate and the first principal component of the rest.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The rows.
    across : array of n
        The first coordinate: the signed distance from a plane, or a score.
    weights : array of d, optional
        The plane's weights: their direction is removed from the rows before the principal component.
    """
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    unit = np.zeros(len(mean))
    if weights is not None and np.any(weights):
        unit = weights / np.linalg.norm(weights)
    taken = np.asarray(X @ unit, dtype=np.float64).ravel() - float(mean @ unit)
    squares = X.multiply(X).sum() if is_sparse(X) else np.einsum("ij,ij->", X, X)
    total = max(float(squares) - X.shape[0] * float(mean @ mean), 0.0)
    left = total - float(taken @ taken)
    direction = np.zeros(len(mean))
    if left > _NOTHING * max(total, float(squares)):
        direction = _principal(X, mean, unit, taken)
    along = np.asarray(X @ direction, dtype=np.float64).ravel() - float(mean @ direction)
    size = float(np.abs(direction).max(initial=0.0))
    largest = np.argsort(-np.abs(direction), kind="stable")[:_NAMED]
    features = [int(place) for place in largest if size > 0 and abs(direction[place]) > 0.3 * size]
    shown = (float(taken @ taken) + float(along @ along)) / total if total > 0 else 1.0
    return Projection(across, along, min(shown, 1.0), features)


def _principal(X: Any, mean: Floats, unit: Floats, taken: Floats) -> Floats:
    """Return the direction of largest variance orthogonal to ``unit``, its largest component positive."""
    n, d = X.shape
    if d <= _NARROW:
        rows = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64) - mean
        rows -= np.outer(taken, unit)
        direction = np.linalg.eigh(rows.T @ rows)[1][:, -1]
    else:
        from scipy.sparse.linalg import LinearOperator, eigsh

        def back(v: Floats) -> Floats:
            return np.asarray(X.T @ v - mean * v.sum() - unit * float(taken @ v))

        def product(v: Floats) -> Floats:
            v = np.ravel(v)
            there = back(v)
            return np.asarray(X @ there - float(mean @ there))  # at right angles to unit already

        start = np.random.default_rng(0).normal(size=n)
        direction = back(eigsh(LinearOperator((n, n), product, dtype=np.float64), k=1, v0=start)[1][:, 0])
        direction /= np.linalg.norm(direction)
    return np.asarray(direction * np.sign(direction[int(np.abs(direction).argmax())]))
