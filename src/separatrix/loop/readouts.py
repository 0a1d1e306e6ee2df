"""Readouts: which weights of a run become the model.

last      the weights after the last example;
averaged  the mean of the weights over all examples (bias with the same weight as the rest);
voted     all weights vote with the examples they survived; kept as the list of mistakes, never as K weight vectors;
pocket    the weights with the longest run of correct predictions that also made the fewest mistakes so far.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse, stacked
from separatrix.loop.kernel_votes import Vote, Voters, vote_counts
from separatrix.loop.problem import Problem
from separatrix.loop.state import Array, State
from separatrix.models.validity import is_array, is_index, is_real, require
from separatrix.rules import Number

READOUTS = ("last", "averaged", "voted", "pocket")
_BLOCK = 1 << 22  # activations held at once while votes are counted


def check_readout(readout: Any) -> str:
    """Return the name of the readout, or refuse it."""
    if not isinstance(readout, str) or readout not in READOUTS:
        raise ValueError(f"readout must be one of {', '.join(READOUTS)}; found {readout!r}")
    return str(readout)


def read(state: State, readout: str) -> tuple[Array, Number]:
    """Return the weights and bias that the readout names (for voted: the averaged ones, its linear counterpart)."""
    weights, bias = _in_units(state, readout)
    return (weights, bias) if state.unit == 1 else (state.unit * weights, state.unit * bias)


def _in_units(state: State, readout: str) -> tuple[Array, Number]:
    """Return the weights and bias of a readout in units of the state's ``unit``."""
    if readout == "pocket" and state.pocket is not None and state.pocket_loss < float("inf"):
        return state.pocket.copy(), state.pocket_bias
    if readout in ("averaged", "voted") and state.average_correction is not None and state.age > 0:
        age = state.age if state.weights.dtype != object else _exact(state.age)
        weights = state.weights * (1 - state.scale_deficit / age) if state.scale_deficit else state.weights
        return weights - state.average_correction / age, state.bias - state.average_correction_bias / age
    return state.scale * state.weights, state.bias


def _exact(number: Number) -> Number:
    from fractions import Fraction

    return Fraction(number)


class VotedWeights:
    """The voters of one task: the rows of the mistakes, in the order they were made.

    After update j the activation of x has grown by ``s_j (x_j . x + K^2)``, so all votes on x follow from the products
    of x with the rows of the mistakes; each vote is weighted by the time until the next mistake. Steps are in units of
    the state's ``unit``, which changes no vote.
    """

    def __init__(self, start: tuple[Array, Number], bias: float) -> None:
        self._start = (np.asarray(start[0], dtype=np.float64), float(start[1]))
        self._bias_square = bias * bias
        self._rows: Any = None
        self._index = np.empty(0, dtype=np.intp)
        self._signed = np.empty(0)
        self._times = np.empty(0)
        self._age = 0.0

    def extend(self, problem: Problem, state: State) -> None:
        """Add the mistakes that the state has recorded on this problem, and forget them there."""
        taken = state.votes or []
        state.votes = []
        self._age = float(state.age)
        if not taken:
            return
        rows, signed, times = (np.concatenate(parts) for parts in zip(*taken, strict=True))
        mistaken = np.zeros(problem.n, dtype=bool)
        mistaken[rows] = True
        index = (np.cumsum(mistaken, dtype=np.intp) - 1)[rows]
        kept = problem.rows.values[np.flatnonzero(mistaken)]
        if self._rows is None:
            self._rows, self._index, self._signed, self._times = kept, index, signed, times
            return
        index += self._rows.shape[0]
        self._rows = stacked(self._rows, kept)
        self._index = np.concatenate([self._index, index])
        self._signed = np.concatenate([self._signed, signed])
        self._times = np.concatenate([self._times, times])

    def __deepcopy__(self, memo: Any) -> VotedWeights:
        return copy.copy(self)  # its arrays are replaced, never changed

    def mirrored(self) -> VotedWeights:
        """Return the voters of the opposite task."""
        twin = VotedWeights((-self._start[0], -self._start[1]), 0.0)
        twin.__dict__.update({**self.__dict__, "_start": twin._start, "_signed": -self._signed})
        return twin

    def scaled(self, unit: float) -> VotedWeights:
        """Return these voters, each times the unit in which they are."""
        twin = copy.copy(self)
        twin._signed = unit * self._signed
        return twin

    @property
    def n_voters(self) -> int:
        """The number of weight vectors that vote."""
        return len(self._signed) + 1

    @property
    def start(self) -> tuple[Floats, float]:
        """Weights and bias of the first voter."""
        return self._start

    @property
    def rows(self) -> Any:
        """The rows of the mistakes, dense or CSR; None if there are none."""
        return self._rows

    def voters(self) -> Voters:
        """Return how each voter follows from the one before it, and the weight of its vote."""
        return Voters(self._index, self._signed, vote_counts(self._times, self._age), self._bias_square)

    def votes(self, unit: float) -> tuple[Vote, ...]:
        """Return every weight vector with its bias and its count, the start first, given the unit of the state."""
        weights, bias = self._start
        rows, signed, counts, square = self.voters()
        votes = [Vote(unit * weights, unit * bias, float(counts[0]))]
        for row, step, count in zip(rows.tolist(), signed.tolist(), counts[1:].tolist(), strict=True):
            x = self._rows[[row]]
            weights = weights + step * np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)[0]
            bias += step * square
            votes.append(Vote(unit * weights, unit * bias, count))
        return tuple(votes)

    def decide(self, rows: Rows, *, tie_is_positive: bool) -> Floats:
        """Return, for each row, the share of votes for the class minus the share against it."""
        n = rows.shape[0]
        w, b = self._start
        activation = _core.decide(rows.matrix, w[None, :], np.array([b]), 1)[:, 0]
        counts = vote_counts(self._times, self._age)
        out = np.empty(n)
        block = max(1, _BLOCK // max(1, self.n_voters))
        for begin in range(0, n, block):
            part = slice(begin, min(n, begin + block))
            scores = np.empty((part.stop - begin, self.n_voters))
            scores[:, 0] = activation[part]
            if self._rows is not None:
                steps = self._signed * (self._products(rows, part)[:, self._index] + self._bias_square)
                np.cumsum(steps, axis=1, out=scores[:, 1:])
                scores[:, 1:] += activation[part, None]
            votes = np.where(scores > 0, 1.0, np.where(scores < 0, -1.0, 1.0 if tie_is_positive else -1.0))
            out[part] = votes @ counts
        total = counts.sum()
        return out / total if total > 0 else out

    def validate(self) -> None:
        """Refuse voters that no run leaves."""
        start, rows, index = self._start, self._rows, self._index
        fits = type(start) is tuple and len(start) == 2 and is_array(start[0], "f8", (None,)) and is_real(start[1])
        require(fits and is_real(self._bias_square) and is_real(self._age), "the voted weights are damaged")
        require(is_index(index), "the voted weights are damaged")
        n = len(index)
        require(
            is_array(self._signed, "f8", (n,)) and is_array(self._times, "f8", (n,)), "the voted weights are damaged"
        )
        if rows is None:
            require(n == 0, "the voted weights name rows that are not there")
            return
        numbers = (is_sparse(rows) or isinstance(rows, np.ndarray)) and rows.dtype.name in ("float32", "float64")
        require(numbers and rows.ndim == 2, "the rows of the voted weights are damaged")
        require(
            n == 0 or (index.min() >= 0 and index.max() < rows.shape[0]),
            "the voted weights name rows that are not there",
        )

    def _products(self, rows: Rows, part: slice) -> Floats:
        """Return the products of these rows with the row of every mistake."""
        values = rows.values[part].astype(np.float64)
        if is_sparse(values) or is_sparse(self._rows):
            product = values @ self._rows.astype(np.float64).T
            return np.asarray(product.toarray() if is_sparse(product) else product)
        return np.asarray(
            _core.decide(_core.dense(self._rows), np.ascontiguousarray(values), np.zeros(len(values)), 1).T
        )
