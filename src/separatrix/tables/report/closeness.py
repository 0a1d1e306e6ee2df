"""How near rows are to a boundary: a distance where the model is made of planes, else a difference of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.model import TableModel
from separatrix.tables.weights import weights_of


@dataclass(frozen=True)
class Closeness:
    """Turns scores into distances from the boundary.

    Parameters
    ----------
    lengths : array of shape (k, k), or None
        For planes: the length of the difference of the weights of each two classes; for two classes, of the weights.
        The distance of a row from the boundary between two classes is the difference of their scores divided by it.
        None where scores are no heights over planes.
    """

    lengths: Floats | None

    @classmethod
    def of(cls, model: TableModel) -> Closeness:
        """Return the distances of this model."""
        found = weights_of(model)
        if found is None:
            return cls(None)
        weights = found.scaled
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

    def near(self, scores: Floats, answers: NDArray[np.intp]) -> Floats:
        """Return how near rows are to the boundary of their answer's region."""
        return np.abs(self.own(scores, answers))

    def own(self, scores: Floats, codes: NDArray[np.intp]) -> Floats:
        """Return how far rows are on the side of the given class; below 0 on another's."""
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
