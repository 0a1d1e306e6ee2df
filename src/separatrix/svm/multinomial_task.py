"""The task of multinomial logistic regression: rows, classes, costs, and the products with the rows that it takes.

Scores are ``W (x - m) + step beta``, one for each class. Where the biases are free, m is the mean of the rows and the
step is 1, so that weights and offsets hardly depend on each other; penalised biases have the step K and no mean. Each
product is one pass over the rows for all classes; ``look`` is called now and then, and may raise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse

_SAMPLED = (
    4000  # rows, and twenty for each feature, from which correlations are estimated where there are many features
)
_FEW = 8  # features for each class up to which all rows are worth a look
_MOST_AXES = 1000  # features whose correlations are looked at

Look = Callable[[], None] | None


class Probabilities(NamedTuple):
    """Probabilities of the classes, a line each; and of each row the sum of those that are not its own class."""

    table: Floats  # (classes, examples)
    wrong: Floats

    def copied(self, into: Probabilities) -> Probabilities:
        """Copy these numbers into another table, and return that."""
        np.copyto(into.table, self.table)
        np.copyto(into.wrong, self.wrong)
        return into


class Losses(NamedTuple):
    """What the losses of all rows cost at some weights and offsets, the probabilities there, and the slopes."""

    value: float
    own: Probabilities
    across: Floats  # in the weights
    sums: Floats  # in the scores, added up over the rows


@dataclass(frozen=True, eq=False)
class MultinomialTask:
    """Rows, the codes of their classes (each has rows), what the loss of each row counts, and the kind of biases.

    ``bias`` is the constant K of penalised bias coordinates, 0 for none; ``free`` are biases that cost nothing.
    ``known_squares`` are the rows' squared lengths, if they have been computed already.
    """

    rows: Rows
    codes: NDArray[np.intp]
    n_classes: int
    costs: Floats
    bias: float = 0.0
    free: bool = False
    known_squares: Floats | None = None

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.codes)

    @property
    def step(self) -> float:
        """What an offset adds to the scores, 0 where there is no bias."""
        return 1.0 if self.free else self.bias

    @property
    def penalty(self) -> float:
        """What the square of an offset costs, twice."""
        return 0.0 if self.free else 1.0

    @cached_property
    def total(self) -> float:
        """What all examples count."""
        return float(self.costs.sum())

    @cached_property
    def centre(self) -> Floats:
        """The mean of the rows where the biases are free, else 0."""
        if not self.free:
            return np.zeros(self.rows.shape[1])
        return np.asarray(_core.combine(self.rows.matrix, self.costs / self.total))

    @cached_property
    def lengths(self) -> Floats:
        """A bound on ``|x - m|`` and ``|x|`` of every row."""
        squares = _core.square_norms(self.rows.matrix) if self.known_squares is None else self.known_squares
        return np.asarray(np.sqrt(squares) + float(np.sqrt(self.centre @ self.centre)))

    def stored(self) -> int:
        """Return how many numbers the rows hold."""
        values = self.rows.values
        return int(values.nnz) if is_sparse(values) else int(values.size)

    def room(self) -> Probabilities:
        """Return a table for the probabilities of all rows."""
        return Probabilities(np.empty((self.n_classes, self.n)), np.empty(self.n))

    # ------------------------------------------------------------------------------------------ products

    def shift(self, weights: Floats, offsets: Floats) -> Floats:
        """Return what the scores are for a row of zeros."""
        return self.step * offsets - weights @ self.centre

    def losses(self, weights: Floats, offsets: Floats, into: Probabilities, look: Look = None) -> Losses:
        """Return the losses with their slopes; the probabilities go into a table that is at hand."""
        shift = self.shift(weights, offsets)
        matrix = self.rows.matrix
        value, across, sums = _core.class_losses(matrix, weights, shift, self.codes, self.costs, *into, look)
        return Losses(value, into, self._moved(across, sums), sums)

    def loss(self, weights: Floats, offsets: Floats, look: Look = None) -> float:
        """Return the losses alone."""
        shift = self.shift(weights, offsets)
        return _core.class_loss(self.rows.matrix, weights, shift, self.codes, self.costs, look)

    def bent(self, own: Probabilities, weights: Floats, offsets: Floats, look: Look = None) -> tuple[Floats, Floats]:
        """Return the Hessian times a step, at these probabilities."""
        shift = self.shift(weights, offsets)
        across, sums = _core.class_bends(self.rows.matrix, weights, shift, self.codes, self.costs, own.table, look)
        return weights + self._moved(across, sums), self.penalty * offsets + self.step * sums

    def shifted(self, dual: Probabilities, weights: Floats | None, shift: Floats, look: Look = None) -> None:
        """Move probabilities by a step of the weights, or only of the scores, as if linear in it.

        What would be negative, or above 1, is cut off.
        """
        _core.class_shift(self.rows.matrix, weights, shift, self.codes, self.costs, *dual, look)

    def pulled(self, dual: Probabilities, look: Look = None) -> tuple[Floats, Floats]:
        """Return ``sum C (a - 1[y = k]) (x - m)`` and ``sum C (a - 1[y = k])`` of each class k."""
        across, sums = _core.class_pulls(self.rows.matrix, self.codes, self.costs, *dual, look)
        return self._moved(across, sums), sums

    def divergence(self, dual: Probabilities, own: Probabilities, look: Look = None) -> float:
        """Return a bound on C times how far each row's probabilities are from its own; infinity if too far to say."""
        return _core.class_divergence(self.rows.matrix, self.codes, self.costs, *dual, *own, look)

    def _moved(self, across: Floats, sums: Floats) -> Floats:
        return across - np.multiply.outer(sums, self.centre) if self.free else across

    # ------------------------------------------------------------------------------------------ second moments

    @cached_property
    def spread(self) -> Floats:
        """``sum C (x - m)^2`` of every column."""
        if not self.free:
            return _core.spread(self.rows.matrix, self.costs)
        if not is_sparse(self.rows.values):
            return _core.spread(_core.centred(self.rows.matrix, self.centre), self.costs)
        return np.maximum(_core.spread(self.rows.matrix, self.costs) - self.total * self.centre**2, 0.0)

    @cached_property
    def axes(self) -> tuple[Floats, Floats | None]:
        """``sum C (x - m)(x - m)'`` as eigenvalues and eigenvectors; its diagonal and None where that is too large.

        It serves to make equations easier to solve, so that correlations are those of some of the rows.
        """
        d = self.rows.shape[1]
        if d > _MOST_AXES or d * d > 4 * self.n * self.n_classes:
            return self.spread, None
        every = 1 if d <= _FEW * self.n_classes else max(1, self.n // (_SAMPLED + 20 * d))
        costs = self.costs
        if every > 1:
            costs = np.zeros(self.n)
            costs[::every] = self.costs[::every]
        if self.free and not is_sparse(self.rows.values):
            table = _core.gram(_core.centred(self.rows.matrix, self.centre), costs)[:-1, :-1]
        else:
            whole = _core.gram(self.rows.matrix, costs)
            table, sums = whole[:-1, :-1], whole[-1, :-1]
            if self.free:
                centre = self.centre
                table = table - np.multiply.outer(sums, centre) - np.multiply.outer(centre, sums)
                table += whole[-1, -1] * np.multiply.outer(centre, centre)
        table = np.tril(table) + np.tril(table, -1).T
        if every > 1:
            sampled = np.maximum(np.einsum("ii->i", table), 0.0)
            scale = np.sqrt(np.divide(self.spread, sampled, out=np.zeros(d), where=sampled > 0))
            table *= scale
            table *= scale[:, None]
            np.fill_diagonal(table, self.spread)
        if not np.isfinite(table).all():
            return self.spread, None
        values, vectors = np.linalg.eigh(table)
        return np.maximum(values, 0.0), vectors
