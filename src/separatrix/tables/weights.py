"""The weights of a model in the units of the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.model import TableModel


class Weights(NamedTuple):
    """Weights and biases of a linear model.

    Attributes
    ----------
    names : list of str
        The features.
    titles : list of str
        The class that a positive activation of each one-vs-rest problem means.
    own : array of shape (problems, features)
        In the units of the table: the change of the activation when the feature grows by 1.
    scaled : array of shape (problems, features)
        Those of the estimator, for features as it sees them.
    per_deviation : array of shape (problems, features)
        The change of the activation when the feature grows by one standard deviation; these can be compared.
    bias : array
        The intercepts, for the units of the table.
    """

    names: list[str]
    titles: list[str]
    own: Floats
    scaled: Floats
    per_deviation: Floats
    bias: Floats

    def strongest(self, most: int) -> list[int]:
        """Return the places of the features with the largest weights per standard deviation, largest first."""
        size = np.abs(self.per_deviation).max(axis=0)
        order = np.argsort(-size, kind="stable")[:most]
        return [int(place) for place in order if size[place] > 0]


def weights_of(model: TableModel) -> Weights | None:
    """Return the weights of a linear model; None for one that has none, or whose vote is not linear."""
    estimator = model.estimator
    if not hasattr(estimator, "coef_") or getattr(estimator, "readout", None) == "voted":
        return None
    coef: Any = estimator.coef_
    scaled = np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef, dtype=np.float64))
    factor, shift = model.preparation.number_factors()
    labels = [str(label) for label in model.classes_.tolist()]
    titles = labels[1:] if len(scaled) == 1 else labels
    bias = np.asarray(estimator.intercept_, dtype=np.float64) + scaled @ shift
    spread = model.deviations  # a file of an earlier version has none: there, numbers may be scaled to 1
    per_deviation = scaled if spread is None else scaled * spread
    return Weights(model.preparation.names, titles, scaled * factor, scaled, per_deviation, bias)
