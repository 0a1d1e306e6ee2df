"""Rows seen in the plane of a model's weights and the direction along the boundary in which rows spread most."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.rows import Floats, is_sparse

_NAMED = 3  # features that a direction is described by


class View(NamedTuple):
    """Points of the plane, the part of all spread that they show, and the features that the second axis is made of."""

    across: Floats
    along: Floats
    shown: float
    features: list[int]


def view(X: Any, across: Floats, weights: Floats | None) -> View:
    """Return rows in the plane of a number of their own and the first principal direction of the rest of them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The rows.
    across : array of n
        The first coordinate: the signed distance from a plane, or a score.
    weights : array of d, optional
        The plane's weights: what they measure is taken out of the rows before the second direction is found.
    """
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    products = X @ X.T
    products = np.asarray(products.toarray() if is_sparse(products) else products, dtype=np.float64)
    towards = np.asarray(X @ mean, dtype=np.float64).ravel()
    inner = products - towards[:, None] - towards[None, :] + float(mean @ mean)
    total = float(np.trace(inner))
    taken = np.zeros(n)
    unit = np.zeros(len(mean))
    if weights is not None and np.any(weights):
        unit = weights / np.linalg.norm(weights)
        taken = np.asarray(X @ unit, dtype=np.float64).ravel() - float(mean @ unit)
        inner = inner - np.outer(taken, taken)
    from scipy.linalg import eigh

    values, vectors = eigh(inner, subset_by_index=[n - 1, n - 1])
    length = float(np.sqrt(max(values[0], 0.0)))
    along = vectors[:, 0] * length
    direction = np.asarray(X.T @ along).ravel() - mean * along.sum() - unit * float(taken @ along)
    if length > 0 and direction[int(np.abs(direction).argmax())] < 0:
        along, direction = -along, -direction
    largest = np.argsort(-np.abs(direction), kind="stable")[:_NAMED]
    size = np.abs(direction).max(initial=0.0)
    features = [int(place) for place in largest if size > 0 and abs(direction[place]) > 0.3 * size]
    shown = (float(taken @ taken) + length**2) / total if total > 0 else 1.0
    return View(across, along, min(shown, 1.0), features)
