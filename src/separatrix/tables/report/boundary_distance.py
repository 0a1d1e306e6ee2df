"""How far rows are from the decision boundary: a distance for linear models, else a difference of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.model import TableModel
from separatrix.tables.weights import weights_of


@dataclass(frozen=True)
class BoundaryDistance:
    """Turns scores into distances from the boundary.

    Parameters
    ----------
    lengths : array of shape (k, k), or None
        For planes: the length of the difference of the weights of each two classes; for two classes, of the weights.
        The distance of a row from the boundary between two classes is the difference of their scores divided by it.
        None for models that are not linear.
    """

    lengths: Floats | None

    @classmethod
    def of(cls, model: TableModel) -> BoundaryDistance:
        """Return the distances of this model."""
        planes = weights_of(model)
        if planes is None:
            return cls(None)
        weights = planes.scaled
        if len(weights) == 1:
            length = float(np.linalg.norm(weights))
            return cls(np.full((2, 2), length) if length > 0 else None)
        squares = (weights**2).sum(axis=1)
        lengths = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2.0 * weights @ weights.T, 0.0))
        return cls(lengths if (lengths + np.eye(len(lengths)) > 0).all() else None)

    @property
    def what(self) -> str:
        """What is measured, for an axis."""
        return "distance from the boundary" if self.lengths is not None else "difference of scores"

    def to_prediction(self, scores: Floats, predictions: NDArray[np.intp]) -> Floats:
        """Return the distance of rows from the boundary of their predicted class."""
        return np.abs(self.signed(scores, predictions))

    def signed(self, scores: Floats, codes: NDArray[np.intp]) -> Floats:
        """Return the signed distance of rows from the boundary of the given classes; negative on the wrong side."""
        if scores.ndim == 1:
            signed = np.where(codes == 1, scores, -scores)
            return np.asarray(signed if self.lengths is None else signed / self.lengths[0, 1])
        rows = np.arange(len(scores))
        ahead = scores[rows, codes][:, None] - scores
        if self.lengths is not None:
            with np.errstate(invalid="ignore", divide="ignore"):
                ahead = ahead / self.lengths[codes]
        ahead[rows, codes] = np.inf
        return np.asarray(ahead.min(axis=1))
