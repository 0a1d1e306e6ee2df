"""The task of multinomial logistic regression: rows, classes, costs, and the products with the rows that it takes.

Scores are ``W (x - m) + step beta``, one for each class. Where the biases are free, m is the mean of the rows and the
step is 1, so that weights and offsets hardly depend on each other; penalised biases have the step K and no mean. All
tables of numbers by row have a row for each class and a column for each example, and are worked through in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse

_BLOCK = 1 << 16  # scores in a block of dense rows, which stays in the cache
_SPARSE_BLOCK = 1 << 23
_SAMPLED = 4000  # rows, and twenty for each feature, from which correlations are estimated


class Part(NamedTuple):
    """A block of the examples: which, their rows, the codes of their classes, and 0, 1, ... for each."""

    where: slice
    rows: Any
    codes: NDArray[np.intp]
    places: NDArray[np.intp]


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

    @cached_property
    def inverse_costs(self) -> Floats:
        """1 over the costs."""
        return np.asarray(1.0 / self.costs)

    @cached_property
    def parts(self) -> list[Part]:
        """The examples in blocks."""
        values = self.rows.values
        sparse = is_sparse(values)
        together = max(64, (_SPARSE_BLOCK if sparse else _BLOCK) // self.n_classes)
        parts = []
        for first in range(0, self.n, together):
            last = min(first + together, self.n)
            if sparse:
                begin, end = values.indptr[first], values.indptr[last]
                arrays = values.data[begin:end], values.indices[begin:end], values.indptr[first : last + 1] - begin
                rows = type(values)(arrays, shape=(last - first, values.shape[1]))
            else:
                rows = values[first:last]
            codes = self.codes[first:last].astype(np.intp)
            parts.append(Part(slice(first, last), rows, codes, np.arange(last - first)))
        return parts

    def stored(self) -> int:
        """Return how many numbers the rows hold."""
        values = self.rows.values
        return int(values.nnz) if is_sparse(values) else int(values.size)

    # ------------------------------------------------------------------------------------------ products

    def scores(self, weights: Floats, offsets: Floats) -> Floats:
        """Return the scores of all examples, of shape (classes, examples)."""
        scores = np.empty((self.n_classes, self.n))
        for part, block in self.scored(weights, offsets):
            scores[:, part.where] = block
        return scores

    def scored(self, weights: Floats, offsets: Floats) -> Iterator[tuple[Part, Floats]]:
        """Yield the scores block by block."""
        shift = (self.step * offsets - weights @ self.centre)[:, None]
        across = np.ascontiguousarray(weights.T) if is_sparse(self.rows.values) else weights
        for part in self.parts:
            if is_sparse(part.rows):
                block = np.ascontiguousarray((part.rows @ across).T)
            else:
                block = across @ part.rows.astype(np.float64, copy=False).T
            block += shift
            yield part, block

    def pulled(self, blocks: Iterator[tuple[Part, Floats]]) -> tuple[Floats, Floats]:
        """Return ``sum g (x - m)`` and ``sum g`` for each class, given g block by block."""
        sums, across = np.zeros(self.n_classes), np.zeros((self.n_classes, self.rows.shape[1]))
        for part, block in blocks:
            sums += block.sum(axis=1)
            if is_sparse(part.rows):
                across += (part.rows.T @ np.ascontiguousarray(block.T)).T
            else:
                across += block @ part.rows.astype(np.float64, copy=False)
        across -= np.multiply.outer(sums, self.centre)
        return across, sums

    def bent(self, counted: Floats, weights: Floats, offsets: Floats) -> tuple[Floats, Floats]:
        """Return the Hessian times a step, given ``C p`` of every class and example."""

        def blocks() -> Iterator[tuple[Part, Floats]]:
            for part, block in self.scored(weights, offsets):
                own = counted[:, part.where]
                mean = np.einsum("ki,ki->i", own, block)
                mean *= self.inverse_costs[part.where]
                block -= mean
                block *= own
                yield part, block

        across, sums = self.pulled(blocks())
        return weights + across, self.penalty * offsets + self.step * sums

    # ------------------------------------------------------------------------------------------ second moments

    @cached_property
    def spread(self) -> Floats:
        """``sum C (x - m)^2`` of every column."""
        total = np.zeros(self.rows.shape[1])
        for part in self.parts:
            costs = self.costs[part.where]
            if is_sparse(part.rows):
                squared = part.rows.copy()
                squared.data = np.square(squared.data, dtype=np.float64)
                total += squared.T @ costs
            else:
                total += costs @ np.square(part.rows - self.centre)
        if is_sparse(self.rows.values):
            total -= self.total * self.centre**2  # the costs of (x - m)^2, as m is their mean
        return np.maximum(total, 0.0)

    @cached_property
    def axes(self) -> tuple[Floats, Floats | None]:
        """``sum C (x - m)(x - m)'`` as eigenvalues and eigenvectors; its diagonal and None where that is too large.

        It serves to make equations easier to solve, so that correlations are those of some of the rows.
        """
        d = self.rows.shape[1]
        if d > 1000 or d * d > 4 * self.n * self.n_classes:
            return self.spread, None
        every = max(1, self.n // (_SAMPLED + 20 * d))
        some = self.rows.values[::every]
        some = (some.toarray() if is_sparse(some) else some) - self.centre
        some *= np.sqrt(self.costs[::every])[:, None]
        table = some.T @ some
        sampled = np.einsum("ii->i", table).copy()
        scale = np.sqrt(np.divide(self.spread, sampled, out=np.zeros(d), where=sampled > 0))
        table *= scale
        table *= scale[:, None]
        np.fill_diagonal(table, self.spread)
        if not np.isfinite(table).all():
            return self.spread, None
        values, vectors = np.linalg.eigh(table)
        return np.maximum(values, 0.0), vectors
